"""Text that every database keeps and every spreadsheet opens. PostgreSQL takes no NUL, Excel no control character."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponseBase, QueryDict

from engine.text import invisible, is_seen
from webapp.lib.trouble import API, trouble

V = TypeVar("V", bound=Callable[..., Any])

NUL = "\0"
REFUSED = "What was sent holds a character that no text may have (NUL). Take it out, and send it again."
UNSEEN = (
    "What was sent holds {}, a character that nobody sees: it has no width, or it turns the text behind it. "
    "Take it out, and send it again."
)
NOTHING_TO_SEE = "Write something that one can see."
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Controls but for tab and line breaks, halves of pairs, and what is no character: no XML file may hold them."""
_BREAKS = str.maketrans({"\x0b": "\n", "\x0c": "\n", "\x85": "\n"})
"""What breaks a line or a page; Word puts the first one between the lines of a paragraph."""
_BROKEN = re.compile(r"[\t\n\r\u2028\u2029]+")
"""Tabs, and what breaks a line."""
_ONE_LINE = re.compile(
    r"(.*[-.])?(name|title|label|set_name|release|unit|toward|username|first_name|last_name|email|person|tags)"
    r"|behaviour-\d+|goal-\d+-called"
)
"""Fields whose text is kept, and stands on one line wherever it is shown: names of what people make, and of people."""
_NAMES = re.compile(r"(lesson_)?(name|title)\d*|set_name|o\d+-title|goal-\d+-called")
"""Of these, fields that forms judge where their view is ``judges_names``."""
_MARK, _JUDGES = "keeps_cells_of", "judges_names"


def plain(text: str) -> str:
    """``text`` without control characters; those that break a line become a line break."""
    return _CONTROLS.sub("", text.translate(_BREAKS)) if _CONTROLS.search(text) else text


def is_plain(text: str) -> bool:
    """Whether ``plain`` leaves it as it is."""
    return not _CONTROLS.search(text)


def is_one_line(name: str) -> bool:
    """Whether a form's field of this name takes one line."""
    return _ONE_LINE.fullmatch(name) is not None


def as_one_line(text: str) -> str:
    """``text`` without line breaks, as browsers send what is typed into a field of one line."""
    return _BROKEN.sub(" ", text)


def writable(value: Any) -> Any:
    """``value`` (text, or plain data of tables and lists) with every text in it ``plain``."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Mapping):
        return {writable(key): writable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [writable(each) for each in value]
    return value


def wrong_with(text: str) -> str:
    """What is wrong with the characters of a name, in a sentence; empty for nothing."""
    control = _CONTROLS.search(text)
    if found := invisible(text) or (f"U+{ord(control[0]):04X}" if control else ""):
        return f"This holds {found}, a character that nobody sees. Take it out."
    return "" if is_seen(text) else NOTHING_TO_SEE


def seen(text: str) -> None:
    """A validator of the names that people choose. Raises ValidationError with what is wrong with their characters."""
    if why := wrong_with(text):
        raise ValidationError(why)


def keeps_cells(field: str) -> Callable[[V], V]:
    """A view one of whose fields takes a pasted table, which it reads as it reads a file: a new line break in a cell
    would be a new row. The outermost decorator of the view but for ``may_take``."""

    def mark(view: V) -> V:
        setattr(view, _MARK, field)
        return view

    return mark


def judges_names(view: V) -> V:
    """A view whose form says at its fields of names which characters nobody may use: nothing else that was typed is
    lost. The outermost decorator of the view."""
    setattr(view, _JUDGES, True)
    return view


class PlainText:
    """Middleware: a form, a query or a file's name with a NUL, which no browser sends, is refused, and so is a
    character that nobody sees; other control characters, which come with a paste, are taken out, and line breaks from
    what stands on one line. The API looks itself, forms that are ``judges_names`` look at names, and passwords and
    pasted tables stay as they are."""

    sync_capable, async_capable = True, False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponseBase], args: Any, kwargs: Any
    ) -> HttpResponseBase | None:
        """The refusal in the view's place, if there is one."""
        if request.path_info.startswith(API):
            return None
        as_sent = _as_sent(getattr(view, _MARK, ""), judged=getattr(view, _JUDGES, False))
        if any(NUL in text for text in _texts(request)):
            return trouble(request, "This cannot be read", REFUSED, status=400)
        if unseen := next(filter(None, map(invisible, _texts(request, as_sent))), ""):
            return trouble(request, "This cannot be read", UNSEEN.format(unseen), status=400)
        if all(map(is_plain, _texts(request))) and not any(map(_BROKEN.search, _names(request.POST))):
            return None
        request.GET = _cleaned(request.GET, as_sent)
        request.POST = _cleaned(request.POST, as_sent)
        for _, files in request.FILES.lists():
            for file in files:
                file.name = plain(file.name or "")
        return None


def _texts(request: HttpRequest, but: Callable[[str], bool] = lambda name: False) -> Iterator[str]:
    """Every text that came with a request but for its body's files, and ``but`` fields of these names."""
    for found in (request.GET, request.POST):
        for name, values in found.lists():
            yield name
            yield from () if but(name) else values
    for _, files in request.FILES.lists():
        yield from (file.name or "" for file in files)


def _names(fields: QueryDict) -> Iterator[str]:
    """What a form's fields of one line say."""
    for name, values in fields.lists():
        yield from values if is_one_line(name) else ()


def _as_sent(cells: str, *, judged: bool) -> Callable[[str], bool]:
    """Whether a field of a name keeps all its characters."""
    return lambda name: name == cells or "password" in name or (judged and _NAMES.fullmatch(name) is not None)


def _cleaned(fields: QueryDict, as_sent: Callable[[str], bool]) -> Any:
    clean = QueryDict(mutable=True, encoding=fields.encoding)
    for name, values in fields.lists():
        values = values if as_sent(name) else [plain(value) for value in values]
        values = [as_one_line(value) for value in values] if is_one_line(name) else values
        clean.setlist(plain(name), values)
    clean._mutable = False  # as Django's own are
    return clean
