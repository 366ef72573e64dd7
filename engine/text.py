"""Text for people: invisible characters, which make one name look like another, what programs say, and numbers written
in full."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from decimal import Decimal

TURNING = "\u202a-\u202e\u2066-\u2069"
"""Characters that change the direction of text, for a character class of a regular expression."""
WIDTHLESS = "\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
"""Characters of zero width other than joiners, which emoji and Arabic letters need."""
_INVISIBLE = re.compile(f"[{TURNING}{WIDTHLESS}]")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
"""What a terminal obeys instead of showing it."""
_UNPRINTABLE = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff{TURNING}{WIDTHLESS}]")
_MARKS = re.compile(r"[\\`*_~\[\]<>|&#$]")
LARGEST = 1e21
"""From here on numbers are not written in full."""
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and patterns that render as blanks."""
_JOINED = frozenset("\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f").union(map(chr, range(0xFE00, 0xFE10)))
"""What shows nothing of its own beside other letters."""


def invisible(text: str) -> str:
    """The first invisible character in ``text``, such as ``U+200B``; "" where there is none."""
    found = _INVISIBLE.search(text)
    return f"U+{ord(found[0]):04X}" if found else ""


def is_seen(text: str) -> bool:
    """Whether ``text`` has a visible character."""
    return any(unicodedata.category(each)[0] not in "CMZ" and each not in _BLANK for each in text)


def folded(name: str) -> str:
    """``name`` folded for comparison: without case, width, invisible characters and doubled spaces; with one kind of
    hyphen."""
    once = unicodedata.normalize("NFKC", name).casefold().replace("\u2010", "-")
    unseen = _BLANK | _JOINED
    seen = "".join(each for each in once if unicodedata.category(each) != "Cf" and each not in unseen)
    return " ".join(unicodedata.normalize("NFKC", seen).split())


def shown(text: str) -> str:
    """``text`` unchanged. Raises ValueError where it holds an invisible character, a line break, or nothing but
    blanks."""
    if found := invisible(text):
        raise ValueError(f"holds the invisible character {found}; take it out")
    if len(text.splitlines()) > 1 or text.endswith(("\n", "\r")):
        raise ValueError("must be one line; take the line break out")
    if text and not is_seen(text):
        raise ValueError("must have something that one can see")
    return text


def clear(text: str) -> str:
    """``text`` without escape sequences, and with "�" for characters that cannot be seen or that turn text."""
    return _UNPRINTABLE.sub("�", _ESCAPE.sub("", text))


def in_markdown(text: str) -> str:
    """``text`` as Markdown shows it: nothing in it is a mark, an end of a table's cell, or HTML."""
    return _MARKS.sub(r"\\\g<0>", text)


def printable(text: str, most: int, *, lines: bool = False, last: bool = False) -> str:
    """What a program said, as a terminal, a log and a page can show it: without escape sequences, with "�"
    for characters that cannot be seen or that turn text, on one line (``lines``: on its own lines).

    Of a text longer than ``most`` characters only whole words stay, the first or the ``last`` ones, with "…" for the
    rest: readers hide secrets by whole words.
    """
    begins, ends = (-2 * most, None) if last else (None, 2 * most)
    clean = clear(text[begins:ends])
    parts = clean.splitlines() if lines else [" ".join(clean.split())]
    clean = "\n".join(part.rstrip() for part in parts).strip()
    if len(text) <= 2 * most and len(clean) <= most:
        return clean
    if last:
        kept = "".join(clean[-most:].split(maxsplit=1)[1:])
        return f"… {kept}" if kept else f"(a word of {len(text):,} characters)"
    kept = "".join(clean[:most].rsplit(maxsplit=1)[:-1])
    return f"{kept} …" if kept else f"(a word of {len(text):,} characters)"


def apart(names: Iterable[str]) -> list[str]:
    """Names of which no two are the same: "Twin", "Twin (2)"."""
    found = list[str]()
    for plain in names:
        name, again = plain, 1
        while name in found:
            again += 1
            name = f"{plain} ({again})"
        found.append(name)
    return found


def figures(value: float) -> str:
    """A number as people write it, with all its digits: 1000000.0 → "1,000,000", 1e-08 → "0.00000001"."""
    if isinstance(value, int):
        return written(value, ",")
    return written(Decimal(f"{value:.15g}").normalize(), ",f") if 0 < abs(value) < LARGEST else written(value, ",g")


def written(value: object, form: str) -> str:
    """A number in a Python format, with the minus sign that people write: (-4.25, "+.1f") → "−4.2". What programs read
    has a hyphen instead."""
    return format(value, form).replace("-", "\u2212")


def ranged(metrics: Mapping[str, float], name: str) -> str:
    """A metric for a console, with its range where it has one: "-150 (-170 to -130)"."""
    low, high = metrics.get(f"{name}_low"), metrics.get(f"{name}_high")
    ends = "" if low is None or high is None else f" ({low:.4g} to {high:.4g})"
    return f"{metrics[name]:.4g}{ends}"
