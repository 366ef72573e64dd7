"""Which lineups an address of the explorer asks for, and in which order. ``static/js/explore/address.js`` reads the
same words in the browser, so that what is taken away is exactly what was on the screen.

``min-NAME``, ``max-NAME`` (an objective's short name), ``show`` (strong, unsure, under), ``family`` (numbers),
``piece`` (piece ids, all of them in the lineup), ``best``, ``listed``, ``rows`` (ids chosen by hand; when given,
nothing else narrows), ``sort`` (``how`` sure, among equals the worst first; an objective's short name or ``name``;
``-`` in front: largest first), ``line-NAME`` (the line of an objective, where it was moved).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from django.http import QueryDict
from numpy.typing import NDArray

from engine.indicators import STRONG, UNDER
from webapp.games.numbers import sensible
from webapp.lib.digits import fraction, whole
from webapp.lib.first import first
from webapp.studies.explore_build import Explored

SHOWN = ("under", "unsure", "strong")
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


class AddressError(ValueError):
    """A part of the address cannot be read; the message says which."""


def defaults(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What an address without words means: everything over the line, or everything where no line was drawn."""
    lined = any(o["threshold"] is not None for o in meta["objectives"])
    return {"show": ["unsure", "strong"] if lined else list(SHOWN), "sort": "-how" if lined else _first(meta)}


def everything(explored: Explored) -> str:
    """ "everything that is or may be over the line": what is listed where nothing narrows, as ``claim`` says it on
    the page (``static/js/explore/store.js``)."""
    if not explored.lined:
        return "everything"
    return f"everything that {_verb(explored)} {explored.meta['words']['over']}"


def _verb(explored: Explored) -> str:
    """ "may be" where neither a range nor fresh battles say it of any, "is" where they say it of all."""
    if not explored.core:
        return "is"
    value, half, verdict = (explored.core[name] for name in ("value", "half", "verdict"))
    wholly = np.zeros(len(verdict), dtype=bool)
    for j, o in enumerate(explored.meta["objectives"]):
        if o["threshold"] is not None:
            sign = 1 if o["direction"] == "max" else -1
            wholly |= sign * (value[j] - np.float32(o["threshold"])) >= half[j]
    marked = verdict != UNDER
    sure = max(int((wholly & marked).sum()), int((verdict == STRONG).sum()))
    return "is" if sure >= marked.sum() else "is or may be" if sure else "may be"


def _first(meta: Mapping[str, Any]) -> str:
    objective = meta["objectives"][0]
    return f"-{objective['name']}" if objective["direction"] == "max" else str(objective["name"])


def chosen(query: QueryDict, explored: Explored, listed: Collection[int]) -> Rows:
    """Row numbers in the order of the table. Raises AddressError."""
    if not explored.core:
        return np.zeros(0, dtype=np.int64)
    keep = _picked(query, explored) if query.get("rows") else _filtered(query, explored, listed)
    order = _order(query.get("sort") or defaults(explored.meta)["sort"], explored)
    return order[keep[order]]


def _picked(query: QueryDict, explored: Explored) -> Mask:
    return np.isin(explored.core["id"], _numbers(query, "rows", "lineup numbers, such as rows=12,40"))


def _filtered(query: QueryDict, explored: Explored, listed: Collection[int]) -> Mask:
    core, meta = explored.core, explored.meta
    keep = np.isin(core["verdict"], [SHOWN.index(word) for word in _shown(query, meta)])
    for j, objective in enumerate(meta["objectives"]):
        low, high = (_bound(query, f"{end}-{objective['name']}") for end in ("min", "max"))
        if low is not None:
            keep &= core["value"][j] >= low
        if high is not None:
            keep &= core["value"][j] <= high
    if query.get("family"):
        keep &= np.isin(core["family"], _numbers(query, "family", "numbers of families, such as family=1,2"))
    for piece in query.getlist("piece"):
        keep &= _contains(explored, piece)
    if _ticked(query, "best"):
        keep &= core["best"] > 0
    if _ticked(query, "listed"):
        keep &= np.isin(core["id"], list(listed))
    return keep


def _words(query: QueryDict, name: str) -> list[str]:
    return [word for word in str(query.get(name, "")).split(",") if word]


def _shown(query: QueryDict, meta: Mapping[str, Any]) -> list[str]:
    show = _words(query, "show") if "show" in query else defaults(meta)["show"]
    if strange := [word for word in show if word not in SHOWN]:
        raise AddressError(f"show has {strange[0]!r}, which is none of {', '.join(SHOWN)}")
    return list(show)


def _numbers(query: QueryDict, name: str, what: str) -> list[int]:
    words = _words(query, name)
    found = [number for word in words if (number := whole(word)) is not None]
    if len(found) < len(words):
        raise AddressError(f"{name} is a list of {what}")
    return found


def _ticked(query: QueryDict, name: str) -> bool:
    text = query.get(name, "")
    if text not in ("", "1"):
        raise AddressError(f"{name} is {text!r}; it can be 1, or left out")
    return text == "1"


def _bound(query: QueryDict, word: str) -> np.float32 | None:
    """A bound as the browser compares it: rounded to the 32 bits that values have there."""
    text = str(query.get(word, "")).strip()
    if not text:
        return None
    number = fraction(text)
    if number is None or not sensible(number):
        raise AddressError(f"{word} is {text!r}, which is not a number that a lineup can have")
    return np.float32(number)


def _contains(explored: Explored, piece_id: str) -> Mask:
    index = next((i for i, p in enumerate(explored.meta["pieces"]) if p["id"] == piece_id), None)
    if index is None:
        raise AddressError(f"the game has no piece {piece_id!r}")
    slots = [s for s, slot in enumerate(explored.meta["slots"]) if slot["kind"] == "piece"]
    found: Mask = (explored.lineups["genome"][:, :, slots] == index + 1).any(axis=(1, 2))
    return found


def _order(sort: str, explored: Explored) -> Rows:
    """All rows, sorted; equal ones by rising id (rows already are)."""
    down, word = sort.startswith("-"), sort.removeprefix("-")
    meta, core = explored.meta, explored.core
    names = [o["name"] for o in meta["objectives"]]
    if word == "how":
        keys = [_sort_key(core["value"][_lined(meta)], meta, _lined(meta)), -core["sure"].astype(np.float32)]
        return np.lexsort(keys) if down else np.lexsort([keys[0], -keys[1]])
    if word == "name":
        name = _name_rank(explored)
        return np.lexsort([-name if down else name])
    if word not in names:
        raise AddressError(f"the table cannot be sorted by {word!r}")
    value = core["value"][names.index(word)]
    return np.lexsort([-value if down else value])


def _lined(meta: Mapping[str, Any]) -> int:
    """The objective the line is drawn on; the first one when there is no line."""
    return next((j for j, o in enumerate(meta["objectives"]) if o["threshold"] is not None), 0)


def _sort_key(value: NDArray[np.float32], meta: Mapping[str, Any], j: int) -> NDArray[np.float32]:
    return -value if meta["objectives"][j]["direction"] == "max" else value


def _name_rank(explored: Explored) -> NDArray[np.float64]:
    """A number that orders lineups as their teams' first pieces are spelt; the first three teams count."""
    pieces = explored.meta["pieces"]
    spelt = sorted(range(len(pieces)), key=lambda i: pieces[i]["name"])
    rank = np.zeros(len(pieces) + 1)
    rank[np.array(spelt) + 1] = np.arange(1, len(pieces) + 1)
    first = rank[explored.lineups["genome"][:, :3, _lead(explored.meta)]]
    key = np.zeros(len(first))
    for team in range(first.shape[1]):
        key = key * (len(pieces) + 1) + first[:, team]
    return key


def _lead(meta: Mapping[str, Any]) -> int:
    return first(s for s, slot in enumerate(meta["slots"]) if slot["kind"] == "piece")
