"""What a hunt found: where it was, and the bugs, each with the seed and the moves that show it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.arrays import pack, unpack

Kind = Literal["crash", "stuck", "assertion", "imbalance"]
Key = tuple[Kind, str, int]
"""What tells bugs apart: the oracle, what it says, and the place."""
MOST = 200_000
"""Places that are told apart; further ones are not counted."""


class Bug(msgspec.Struct, kw_only=True):
    """A bug: ``place`` is where it shows. An episode with this ``seed`` and these ``moves`` (rows of the seat's action)
    ends with it. ``seen``: how often."""

    kind: Kind
    what: str
    place: int
    seed: int
    moves: list[Any]
    seen: int = 1

    @property
    def key(self) -> Key:
        """Bugs with the same key are the same."""
        return self.kind, self.what, self.place


class Findings:
    """``visits``: how many decisions ended at each place; ``bugs`` by their keys, in the order in which they were
    found; ``untried``: likewise what was seen when no decisions were left to show it again; ``checked``: decisions
    spent on showing bugs again; ``unshown``: bugs that did not show again, and are not reported; ``refused``: keys of
    what an oracle saw and was found to be no bug, or not tried; ``lost``: how many crashes of a program no replay
    showed, by what it said; ``partial``: after how many of these some battles were not tried; ``vain``: how many of
    them had battles at a place that were tried, or were not because it was not due, by what it said and the place."""

    def __init__(self) -> None:
        self.visits: dict[int, int] = {}
        self.bugs: dict[Key, Bug] = {}
        self.untried: dict[Key, Bug] = {}
        self.refused: set[Key] = set()
        self.checked = self.unshown = 0
        self.lost, self.partial, self.vain = Counter[str](), Counter[str](), Counter[tuple[str, int]]()

    def visit(self, places: Iterable[int]) -> None:
        """Count a decision that ended at each of these places."""
        for place in places:
            self._visited(place, 1)

    def _visited(self, place: int, times: int) -> None:
        if place in self.visits or len(self.visits) < MOST:
            self.visits[place] = self.visits.get(place, 0) + times

    def add(self, other: Findings) -> None:
        """Also what another part of the hunt found. Of a bug that both found the first one's moves stay."""
        for place, times in other.visits.items():
            self._visited(place, times)
        for key, bug in other.bugs.items():
            known = self.bugs.get(key)
            if known is None:
                self.bugs[key] = msgspec.structs.replace(bug)
            else:
                known.seen += bug.seen
            self.untried.pop(key, None)
        for key, bug in other.untried.items():
            if key not in self.bugs:
                self.untried.setdefault(key, msgspec.structs.replace(bug))
        self.checked += other.checked
        self.unshown += other.unshown
        self.lost += other.lost
        self.partial += other.partial

    def arrays(self) -> dict[str, NDArray[np.int64]]:
        """``place`` and ``visits`` int64[places]."""
        return {
            "place": np.fromiter(self.visits, np.int64, len(self.visits)),
            "visits": np.fromiter(self.visits.values(), np.int64, len(self.visits)),
        }

    def meta(self) -> dict[str, Any]:
        """The rest, as JSON."""
        bugs = [msgspec.to_builtins(bug) for bug in self.bugs.values()]
        fields = {"bugs": bugs, "checked": self.checked, "unshown": self.unshown, "refused": sorted(self.refused)}
        untried = [msgspec.to_builtins(bug) for bug in self.untried.values()]
        vain = sorted([what, place, count] for (what, place), count in self.vain.items())
        rare = {"untried": untried, "lost": dict(self.lost), "partial": dict(+self.partial), "vain": vain}
        return fields | {name: part for name, part in rare.items() if part}

    def pack(self) -> bytes:
        """As an artifact."""
        return pack(self.meta(), self.arrays())

    @classmethod
    def unpacked(cls, data: bytes) -> Findings:
        """The inverse of ``pack``. Raises StoreError."""
        meta, arrays = unpack(data)
        return cls.restored(meta, arrays)

    @classmethod
    def restored(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Findings:
        """From ``meta`` and ``arrays``."""
        found = cls()
        found.visits = dict(zip(arrays["place"].tolist(), arrays["visits"].tolist(), strict=True))
        bugs = [msgspec.convert(bug, Bug) for bug in meta["bugs"]]
        found.bugs = {bug.key: bug for bug in bugs}
        untried = [msgspec.convert(bug, Bug) for bug in meta.get("untried", ())]
        found.untried = {bug.key: bug for bug in untried}
        found.refused = {(kind, what, place) for kind, what, place in meta["refused"]}
        found.checked, found.unshown = meta["checked"], meta["unshown"]
        found.lost = Counter(meta.get("lost", {}))
        found.partial = Counter(meta.get("partial", {}))
        found.vain = Counter({(what, place): count for what, place, count in meta.get("vain", ())})
        return found
