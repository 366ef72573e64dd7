"""Lessons as a timeline that one edits: buttons that add, copy, move and remove them, and what each row says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from django.forms.boundfield import BoundField

from webapp.arena.entities import EntityTable, entity_table
from webapp.arena.lesson_fields import BEST, FIELDS, HELD, KEEP, POOL, filled, measure, name_of, rows_sent
from webapp.games import numbers
from webapp.lib.digits import whole
from webapp.lib.words import number
from webapp.training.games import Offer

OPEN, FOCUS = "open", "focus"
"""Which rows are unfolded, as the page's script sends it; and where the keyboard goes on, once rows have changed."""
REMOVED, RESTORE = "removed", "restore"
"""The lesson that was removed last, as JSON, and the button that brings it back."""
HEAD = "head"
"""Where the keyboard goes on in a row that was added: what unfolds it."""
LONGEST = 160
"""Characters of who plays whom that a row shows."""
ENDS = {
    KEEP: "", POOL: "all who learn join the earlier selves", BEST: "the best goes on in place of the others",
}  # fmt: skip
BUTTONS = {
    "up": ("arrow-up", "Move lesson {} up"), "down": ("arrow-down", "Move lesson {} down"),
    "insert": ("plus", "Insert a lesson after lesson {}"), "copy": ("copy", "Copy lesson {}"),
    "remove": ("trash", "Remove lesson {}"),
}  # fmt: skip
"""What can be done with a lesson: icons and words."""


class LessonRow(NamedTuple):
    """A lesson as the page shows it. ``says``: what is in it, in sentences; ``buttons``: (what it does, its icon, its
    words, whether the keyboard goes on there) of each; ``focus``: its part at which the keyboard goes on; ``table``:
    who plays whom by entity, where sides have several."""

    number: int
    open: bool
    title: str
    says: list[str]
    fields: list[BoundField]
    table: EntityTable | None
    buttons: list[tuple[str, str, str, bool]]
    focus: str


class _Row(NamedTuple):
    """A lesson as it was sent."""

    texts: dict[str, str]
    open: bool


def redrawn(sent: Mapping[str, str], action: str) -> dict[str, Any]:
    """What the form shows after a button of its timeline was pressed."""
    opened = sent.get(OPEN, "").split()
    rows = [
        _Row({field: sent.get(name_of(field, i), "") for field in FIELDS}, str(i) in opened)
        for i in range(1, rows_sent(sent) + 1)
    ]
    old = {name_of(field, i) for field in FIELDS for i in range(1, len(rows) + 1)}.union([REMOVED])
    before = [row.texts for row in rows]
    focus = _restored(rows, sent.get(REMOVED, "")) if action == RESTORE else _acted(rows, action)
    gone = _gone(before, action)
    lessons = {name_of(field, i): text for i, row in enumerate(rows, 1) for field, text in row.texts.items()}
    shown = {i for i, row in enumerate(rows, 1) if row.open}
    rest = {name: text for name, text in sent.items() if name not in old}
    return {**rest, **lessons, **gone, OPEN: shown, FOCUS: focus}


def _gone(before: list[dict[str, str]], action: str) -> dict[str, str]:
    """The lesson that a button has just removed, if anything was in it."""
    kind, _, which = action.partition(":")
    at = whole(which, HELD) or 0
    if kind != "remove" or not 1 <= at <= len(before) or not filled(before[at - 1]):
        return {}
    return {REMOVED: json.dumps([at, before[at - 1]])}


def removed(text: Any) -> tuple[int, dict[str, str]] | None:
    """The number and the texts of a lesson that was removed; None where the text tells of none."""
    try:
        at, texts = json.loads(str(text or ""))
    except (ValueError, TypeError, RecursionError):
        return None
    if not isinstance(at, int) or not 1 <= at <= HELD or not isinstance(texts, dict):
        return None
    return at, {field: str(texts.get(field, "")) for field in FIELDS}


def _restored(rows: list[_Row], text: str) -> tuple[int, str]:
    """Put the lesson back that was removed last."""
    found = removed(text)
    if found is None:
        return 0, ""
    at, texts = found
    if len(rows) == 1 and not filled(rows[0].texts):
        rows.clear()
    return _inserted(rows, min(at - 1, len(rows)), texts)


def _acted(rows: list[_Row], action: str) -> tuple[int, str]:
    """Do what a button says; the row in which the keyboard goes on, and at which of its parts."""
    kind, _, which = action.partition(":")
    at = len(rows) if kind == "add" else whole(which, HELD) or 0
    able = kind in _ACTIONS and 1 <= at <= len(rows)
    return _ACTIONS[kind](rows, at) if able else (0, "")


def _inserted(rows: list[_Row], at: int, texts: Mapping[str, str]) -> tuple[int, str]:
    if len(rows) >= HELD:
        return 0, ""
    rows.insert(at, _Row(dict(texts), True))
    return at + 1, HEAD


def _moved(rows: list[_Row], at: int, to: int, button: str) -> tuple[int, str]:
    if not 1 <= to <= len(rows):
        return 0, ""
    rows[at - 1], rows[to - 1] = rows[to - 1], rows[at - 1]
    ends = {1: "down", len(rows): "up"}  # where it has no button of this name
    return to, ends.get(to, button)


def _removed(rows: list[_Row], at: int) -> tuple[int, str]:
    del rows[at - 1]
    if not rows:
        rows.append(_Row(dict.fromkeys(FIELDS, ""), True))
    return min(at, len(rows)), HEAD


_ACTIONS: dict[str, Callable[[list[_Row], int], tuple[int, str]]] = {
    "add": lambda rows, at: _inserted(rows, at, dict.fromkeys(FIELDS, "")),
    "insert": lambda rows, at: _inserted(rows, at, dict.fromkeys(FIELDS, "")),
    "copy": lambda rows, at: _inserted(rows, at, rows[at - 1].texts),
    "up": lambda rows, at: _moved(rows, at, at - 1, "up"),
    "down": lambda rows, at: _moved(rows, at, at + 1, "down"),
    "remove": _removed,
}


def lines(form: Any, many: int, offer: Offer | None) -> Iterator[LessonRow]:
    """The lessons as the page shows them. One is unfolded where something is wrong in it, where it was, or where it is
    the only one and empty. ``offer``: the game, where one is chosen."""
    opened, (at, part) = form.initial.get(OPEN, ()), form.initial.get(FOCUS, (0, ""))
    for i in range(1, many + 1):
        bound = {field: form[name_of(field, i)] for field in FIELDS}
        texts = {field: str(one.value() or "").strip() for field, one in bound.items()}
        wrong = any(one.errors for one in bound.values())
        unfolded = wrong or i in opened or (many == 1 and not filled(texts))
        title = f"Lesson {i}{': ' if texts['title'] else ''}{texts['title']}"
        focus = part if i == at else ""
        table = entity_table(texts["who"], offer) if offer and offer.squad > 1 else None
        buttons = [*_buttons(i, many, focus)]
        yield LessonRow(i, unfolded, title, [*_says(texts, offer)], [*bound.values()], table, buttons, focus)


def _buttons(i: int, many: int, focus: str) -> Iterator[tuple[str, str, str, bool]]:
    """What can be done with a row: an end of the timeline has no button that leads beyond it."""
    for kind, (sign, words) in BUTTONS.items():
        beyond = (kind == "up" and i == 1) or (kind == "down" and i == many)
        if not beyond and not (many >= HELD and kind in ("insert", "copy")):
            yield f"{kind}:{i}", sign, words.format(i), kind == focus


def _says(texts: Mapping[str, str], offer: Offer | None) -> Iterator[str]:
    """What is in a lesson, as far as it is typed."""
    who = texts["who"]
    yield (f"{who[:LONGEST]} …" if len(who) > LONGEST else who) or "Nobody plays yet"
    if texts["steps"]:
        steps = f"{_number(texts['steps'])} decisions"
        wins = f"wins {_number(texts['until'])}\N{NO-BREAK SPACE}%"
        reached = wins if measure(offer) == "win" else f"scores {texts['until']}"
        yield f"At most {steps}, until the first who learns {reached}" if texts["until"] else steps
    if texts["times"] not in ("", "1"):
        yield f"Held {_number(texts['times'])} times"
    ends = [ENDS.get(texts["then"] or POOL, ""), texts["copies"]]
    if filled(texts) and any(ends):
        yield f"Then {'; '.join(filter(None, ends))}"


def _number(text: str) -> str:
    """A number as pages write it; what is none as it was typed."""
    value = numbers.whole_of(text, "")
    return text if value is None else number(value)
