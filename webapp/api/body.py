"""Reading what a script sends: JSON of a bounded size and depth, whose text any database can keep."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest

from webapp.lib.words import number

MOST_BYTES = 512 * 1024
DEEPEST = 40


class BadBody(Exception):
    """The body cannot be read; the message says why in a sentence."""

    def __init__(self, message: str, status: int = 400) -> None:
        self.status = status
        super().__init__(message)


def table(request: HttpRequest) -> dict[str, Any]:
    """The body as a table; an empty body is an empty one. Raises BadBody."""
    data = _read(request)
    if not data:
        return {}
    if request.content_type != "application/json":
        raise BadBody("Send JSON, and say so: the header “Content-Type: application/json”.", 415)
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
        return json.loads(data.decode(), parse_constant=_no_number)
    except UnicodeDecodeError:
        raise BadBody("The body is no text in UTF-8.") from None
    except json.JSONDecodeError as error:
        raise BadBody(f"The body is not JSON: line {error.lineno}, column {error.colno}. {error.msg}.") from None
    except RecursionError:
        raise BadBody(f"The body has more than {DEEPEST} tables inside each other.") from None
    except ValueError:  # a whole number of thousands of digits
        raise BadBody("The body holds a number that nobody can read.") from None


def _no_number(name: str) -> Any:
    raise BadBody(f"The body holds {name}, which is no number in JSON.")


def _check(found: Any) -> None:
    """Refuse depths that nothing of ours has, and text that no database keeps."""
    waiting = [(found, 1)]
    while waiting:
        value, depth = waiting.pop()
        if depth > DEEPEST:
            raise BadBody(f"The body has more than {DEEPEST} tables inside each other.")
        if isinstance(value, dict):
            waiting += [(each, depth + 1) for pair in value.items() for each in pair]
        elif isinstance(value, list):
            waiting += [(each, depth + 1) for each in value]
        elif isinstance(value, str) and ("\0" in value or not _writable(value)):
            raise BadBody("The body holds a character that no text may have (NUL, or half of a pair).")


def _writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
