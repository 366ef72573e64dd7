"""What a hunt found by now: its bugs, and the map of where its agents were."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.config.hunt import BUG_FORMAT, LONGEST, lost_crashes, place_words
from engine.errors import StoreError
from webapp.games.called import called
from webapp.lib.storage import store
from webapp.lib.words import number
from webapp.studies.models import Job
from webapp.studies.table_rows import newest

FOUND = "found"
KINDS = {"crash": "Crash", "stuck": "Stuck", "assertion": "Broken rule", "imbalance": "Imbalance"}
SHADES = 5
"""Shades of a map."""


class Shown(NamedTuple):
    """A bug on the page; ``number`` counts from 1. ``shown_again``: whether it was, with its seed and its decisions."""

    number: int
    kind: str
    what: str
    where: str
    seen: int
    moves: int
    shown_again: bool = True

    @property
    def watchable(self) -> bool:
        """Whether it is short enough to be watched."""
        return self.moves <= LONGEST


class MapCell(NamedTuple):
    """A cell of the map: its column and row from 0, and what it looks like."""

    x: int
    y: int
    look: str


class BugMark(NamedTuple):
    """A bug on the map: its number and the middle of its cell."""

    number: int
    x: float
    y: float


class Place(NamedTuple):
    """A row of the map as a table: a cell that can be entered, how many decisions ended there, and the numbers of the
    bugs that show there."""

    row: int
    column: int
    visits: int
    bugs: list[int]


class Map(NamedTuple):
    """Where agents were. ``cells``: walls, and open cells by how often somebody was there; ``places``: the same as a
    table, what was entered most often first."""

    columns: int
    rows: int
    cells: list[MapCell]
    marks: list[BugMark]
    places: list[Place]


class Kept(NamedTuple):
    """The findings of a job."""

    job: Job
    bundle: Bundle

    @property
    def bugs(self) -> list[dict[str, Any]]:
        """As the engine has them, in the order in which they were found."""
        bugs: list[dict[str, Any]] = self.bundle.meta["bugs"]
        return bugs

    @property
    def shown(self) -> list[Shown]:
        """As the page lists them."""
        return [_shown(self, i, bug) for i, bug in enumerate(self.bugs, 1)]

    @property
    def untried(self) -> list[Shown]:
        """What was seen when no decisions were left to show it again; numbered after the bugs."""
        late = enumerate(self.bundle.meta.get("untried", ()), len(self.bugs) + 1)
        return [_shown(self, i, bug)._replace(shown_again=False) for i, bug in late]

    @property
    def unshown(self) -> int:
        """Bugs that did not show again."""
        return int(self.bundle.meta["unshown"])

    @property
    def note(self) -> str:
        """What the number of bugs does not say."""
        parts = ["each showed again in its replay"] if self.bugs else []
        if late := len(self.untried):
            parts.append(f"{number(late)} more {_were(late)} seen when no decisions were left for a replay")
        if gone := self.unshown:
            parts.append(f"{number(gone)} more did not show again, and {_were(gone)} left out")
        return "; ".join(parts) or "none has shown"

    @property
    def lost(self) -> list[str]:
        """Sentences on crashes that no replay showed."""
        return lost_crashes(self.bundle.meta.get("lost", {}), self.bundle.meta.get("partial", {}))

    @property
    def places(self) -> int:
        """Different places that were entered; of a map, those of its cells that are no walls."""
        return len(self.bundle.arrays["place"]) - self.inside

    @property
    def inside(self) -> int:
        """Cells inside walls that somebody got into."""
        walls = self.bundle.arrays.get("walls")
        return 0 if walls is None else int((walls.ravel()[self.bundle.arrays["place"]] != 0).sum())

    @property
    def open(self) -> int:
        """Cells of the map that are no walls; 0: there is no map."""
        walls = self.bundle.arrays.get("walls")
        return 0 if walls is None else int((walls == 0).sum())

    def where(self, place: int) -> str:
        """A place as people read it."""
        walls = self.bundle.arrays.get("walls")
        return place_words(place, 0 if walls is None else walls.shape[1])

    @property
    def listed(self) -> int:
        """How many bugs there are, and what was not shown again."""
        return len(self.bugs) + len(self.bundle.meta.get("untried", ()))

    def bug(self, number: int) -> dict[str, Any]:
        """A bug as the engine has it, by the number that the page gives it."""
        found: dict[str, Any] = [*self.bugs, *self.bundle.meta.get("untried", ())][number - 1]
        return found

    def line(self, number: int) -> Shown:
        """The same as the page lists it."""
        return [*self.shown, *self.untried][number - 1]

    def file(self, number: int) -> dict[str, Any]:
        """A bug as a file that the command line plays again."""
        bug, game = self.bug(number), dict(self.bundle.meta["game"])
        game["name"] = called(game["name"], self.job.project)
        beside = {"where": self.where(bug["place"]), "game": game, "oracles": self.bundle.meta["oracles"]}
        return {"format": BUG_FORMAT, **bug, "seed": str(bug["seed"]), **beside}

    @property
    def map(self) -> Map | None:
        """The map; None for a game without one."""
        walls = self.bundle.arrays.get("walls")
        if walls is None:
            return None
        rows, columns = walls.shape
        visits = np.zeros(walls.size)
        visits[self.bundle.arrays["place"]] = self.bundle.arrays["visits"]
        shades = np.ceil(SHADES * np.log1p(visits) / max(np.log1p(visits.max()), 1e-9)).astype(int).tolist()
        cells = [
            MapCell(i % columns, i // columns, "wall" if wall else f"shade-{shades[i]}")
            for i, wall in enumerate(walls.ravel().tolist())
            if wall or shades[i]
        ]
        at = [(i, divmod(bug["place"], columns)) for i, bug in enumerate(self.bugs, 1)]
        marks = [BugMark(i, column + 0.5, row + 0.5) for i, (row, column) in at]
        return Map(columns, rows, cells, marks, self._places(walls, visits))

    def _places(self, walls: NDArray[np.uint8], visits: NDArray[np.float64]) -> list[Place]:
        """Cells that were entered or have a bug, and then those that nobody entered."""
        bugs: dict[int, list[int]] = {}
        columns = walls.shape[1]
        for i, bug in enumerate(self.bugs, 1):
            bugs.setdefault(bug["place"], []).append(i)
        known = [i for i in range(walls.size) if not walls.flat[i] or visits[i] or i in bugs]
        known.sort(key=lambda i: -visits[i])  # equals stay row by row
        return [Place(i // columns, i % columns, int(visits[i]), bugs.get(i, [])) for i in known]


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _shown(kept: Kept, number: int, bug: dict[str, Any]) -> Shown:
    where = kept.where(bug["place"])
    return Shown(number, KINDS[bug["kind"]], bug["what"], where, bug["seen"], len(bug["moves"]))


def of(job: Job) -> Kept | None:
    """The findings of a job as far as it is; None before there are any, and where they were lost."""
    last = job.artifacts.get(FOUND, "")
    digest = last if last and not job.active else newest(job, FOUND) or last
    try:
        return Kept(job, unpack(store().get(digest))) if digest else None
    except StoreError:
        return None
