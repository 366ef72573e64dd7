"""Reading what a script sends: JSON of a bounded size and depth, whose text any database can keep."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.http import HttpRequest

from engine.text import invisible
from webapp.lib.text import is_plain, plain
from webapp.lib.words import number

MOST_BYTES = 512 * 1024
MOST_WITH_DATA = MOST_BYTES + 5 * 2**20
"""The same with the numbers of a build."""
WITH_DATA = r"/api/v1/projects/[^/]+/gates$"
"""Addresses that take those."""
DEEPEST = 40
LONGEST_NAME = 80
"""Characters of a place's name that a message repeats."""
IN_A_TEXT = (
    "This text holds a character that no text may have: a control character other than a tab or a line break, or half "
    "of a pair. Take it out"
)
IN_A_NAME = "The name of this place, or of something in it, holds a control character, or half of a pair. Take it out"

IN_SIGHT = (
    "This text holds {}, a character that nobody sees: it has no width, or it turns the text behind it. Take it out"
)
NO_NUMBER = "{} is no number in JSON. Write a number, or leave this out"


class NoNumber(NamedTuple):
    """NaN, Infinity or -Infinity, which JSON does not have, as it stood in a text."""

    name: str


class BadBody(Exception):
    """The body cannot be read; the message says why in a sentence, ``problems`` at which places."""

    def __init__(self, message: str, status: int = 400, problems: Sequence[tuple[str, str]] = ()) -> None:
        self.status, self.problems = status, problems
        super().__init__(message)


def table(request: HttpRequest) -> dict[str, Any]:
    """The body as a table; an empty body is an empty one. Raises BadBody."""
    data = _read(request)
    if data and request.content_type != "application/json":
        raise BadBody("Send JSON, and say so: the header “Content-Type: application/json”.", 415)
    return read_table(data)


def read_table(data: bytes) -> dict[str, Any]:
    """The table in a text of JSON, which may be empty. Raises BadBody."""
    if not data:
        return {}
    found = _parsed(data)
    if not isinstance(found, dict):
        raise BadBody("The body is JSON, but no table: it begins with { and ends with }.")
    _check(found)
    return found


def _read(request: HttpRequest) -> bytes:
    data: bytes = request.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise BadBody(
            f"A body may have {number(MOST_BYTES // 1024)} kB at most. A study's settings are far smaller.", 413
        )
    return data


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.decode(), parse_constant=NoNumber, object_pairs_hook=_once_each)
    except UnicodeDecodeError:
        raise BadBody("The body is no text in UTF-8.") from None
    except json.JSONDecodeError as error:
        raise BadBody(f"The body is not JSON: line {error.lineno}, column {error.colno}. {error.msg}.") from None
    except RecursionError:
        raise BadBody(f"The body has more than {DEEPEST} tables inside each other.") from None
    except ValueError:  # a whole number of thousands of digits
        raise BadBody("The body holds a number that nobody can read.") from None


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table. Of a name that stands in it twice only one value would count, and nobody could tell which was meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise BadBody(f"The body has “{plain(name)[:LONGEST_NAME]}” twice in one table. Leave one of the two out.")
    return found


def _check(found: Any) -> None:
    """Refuse depths that nothing of ours has, text that some database or spreadsheet does not take, and what is no
    number in JSON."""
    waiting: list[tuple[Any, tuple[str, ...]]] = [(found, ())]
    problems = []
    whole = "The body holds a character that no text may have."
    while waiting:
        value, at = waiting.pop()
        if len(at) >= DEEPEST:
            raise BadBody(f"The body has more than {DEEPEST} tables inside each other.")
        if isinstance(value, dict):
            waiting += [(each, (*at, plain(key))) for key, each in reversed(value.items())]
            problems += [(".".join(filter(None, (*at, plain(key)))), IN_A_NAME) for key in value if not is_plain(key)]
        elif isinstance(value, list):
            waiting += [(each, (*at, str(i))) for i, each in reversed(list(enumerate(value)))]
        elif isinstance(value, NoNumber):
            whole = f"The body holds {value.name}, which is no number in JSON."
            problems.append((".".join(at), NO_NUMBER.format(value.name)))
        elif isinstance(value, str) and (why := _unfit(value)):
            problems.append((".".join(at), why))
    if problems:
        raise BadBody(whole, problems=problems)


def _unfit(text: str) -> str:
    """Why a text cannot be taken; empty where it can."""
    if not is_plain(text):
        return IN_A_TEXT
    unseen = invisible(text)
    return IN_SIGHT.format(unseen) if unseen else ""
