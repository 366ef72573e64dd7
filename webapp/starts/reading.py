"""What the page of an agent with easier starts tells: the success of each start, what is practised now, what is
forgotten, and how hard each start is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from engine.arrays import Bundle
from engine.config import parse
from engine.config.starts import LARGEST, LEAST, MASTERED, StartsConfig, StartTask, name_of
from engine.means import range_of
from webapp.lib.figures import share_with_ends
from webapp.lib.words import NBSP, number, percent, plural
from webapp.starts.picture import PICTURES, Picture, StartMark, mark_of
from webapp.starts.rows import where
from webapp.studies.lines import Column, Frame, LineRange, Lines, ends, known, marks, path
from webapp.studies.models import Job
from webapp.studies.rounds import Columns
from webapp.training import games

ALONG = "Learning steps → later"
ROUNDS = 300
"""Rounds of a chart, about."""


class Band(NamedTuple):
    """A start in the drawing of what is practised; ``number``: its colour."""

    name: str
    number: int
    path: str


class Practised:
    """The share of each start in what was learned from, round by round, stacked. ``levels`` and ``places``: texts of
    the axes and where they stand; ``heads`` and ``rows``: all as a table."""

    def __init__(self, names: Sequence[str], x: Sequence[float], shares: Sequence[Column]) -> None:
        rounds = [i for i in range(len(x)) if all(known(column[i]) for column in shares)]
        at = [x[i] for i in rounds]
        frame = Frame(ends([0.0, *at]), (0.0, 1.0))
        self.along, self.bands = ALONG, []
        low = [0.0] * len(rounds)
        for i, (name, column) in enumerate(zip(names, shares, strict=True)):
            high = [a + (column[k] or 0.0) for a, k in zip(low, rounds, strict=True)]
            self.bands.append(Band(name, mark_of(i, len(names)), _band(frame, at, low, high)))
            low = high
        self.known = bool(rounds)
        self.levels = [(percent(value), frame.y(value)) for value in (0.0, 0.5, 1.0)]
        self.places = [(number(round(value)), frame.x(value)) for value in marks(*frame.across)]
        self.heads = ["Learning steps", *names]
        self.rows = [[number(round(x[k])), *(percent(column[k] or 0.0) for column in shares)] for k in rounds]


def _band(frame: Frame, x: Sequence[float], low: Sequence[float], high: Sequence[float]) -> str:
    """A band as SVG has it: steps, for a share is that of a whole round."""
    before = [0.0, *x][: len(x)]
    upper = [(at, up) for first, last, up in zip(before, x, high, strict=True) for at in (first, last)]
    lower = [(at, up) for first, last, up in zip(before, x, low, strict=True) for at in (first, last)]
    return path([(frame.x(at), frame.y(up)) for at, up in [*upper, *reversed(lower)]]) + " Z" if x else ""


SHARES = dict.fromkeys(("success", "chance"), percent)
"""How values of a column are told that are shares."""


class StartRow(NamedTuple):
    """A start in the ranking. ``rank``: such as "1" or "2 to 3"; ``reached``: after how many minibatches it was
    mastered, in words; ``forgotten`` now, and ``once`` the most of it that is learned again; ``share``: of what is
    practised now, in words; ``where`` episodes begin."""

    name: str
    number: int
    hard: bool
    rank: str
    success: float | None
    low: float | None
    high: float | None
    reached: str
    forgotten: str
    once: str
    share: str
    where: str


LARGE = 200
"""Episodes of an evaluation from which on nobody is told how many must succeed."""
_IN_TURN = "No places: each start was practised in its turn, so when it was mastered says little about how hard it is."
UNRANKED = {"dbc": _IN_TURN, "drc": _IN_TURN, "db": "No places: only the hard start was practised."}
"""Why starts have none, by the way in which the next is chosen."""


class SuccessWords(NamedTuple):
    """What success is on the page of a job: the ``title`` of its chart, of what it is a ``share``, what the caption
    says of it (``meaning``), and when a start is ``mastered``."""

    title: str
    share: str
    meaning: str
    mastered: str

    @property
    def up(self) -> str:
        """What stands up the axis."""
        return f"{self.share}, higher → better"


@cache
def needed(episodes: int) -> int | None:
    """Of so many, the fewest that must succeed for a start to be mastered; None where not even all are enough."""
    least = None
    for k in range(episodes, -1, -1):
        if range_of((np.arange(episodes) < k).astype(np.float64), 0.0, 1.0).low < MASTERED:
            break
        least = k
    return least


def by_wins(episodes: int) -> SuccessWords:
    """Of a game that tells who wins, with evaluations of so many episodes."""
    least = needed(min(episodes, LARGE))
    if episodes > LARGE:
        shown = ""
    elif least is None:
        shown = f", which {plural(episodes, 'episode')} are too few to show"
    else:
        shown = f": {number(least)} of {plural(episodes, 'episode')} must succeed"
    return SuccessWords(
        "How often it succeeds", "Share of episodes that succeed", "",
        f"A start is mastered once its whole range is at 90{NBSP}% or above{shown}",
    )  # fmt: skip


def by_scores(least: float, largest: float) -> SuccessWords:
    """Of a game without wins whose scores lie between these."""
    goal = number(least + MASTERED * (largest - least))
    between = f"from {number(least)} to {number(largest)}"
    return SuccessWords(
        "How well it does", f"Share of the way {between}",
        f"The game does not tell who wins, so success is how far the average score is on the way {between}.",
        f"A start is mastered once the whole range of its average score is 90{NBSP}% of the way {between}, at {goal}, "
        "or further",
    )  # fmt: skip


def score_ends(metrics: Mapping[str, Any]) -> tuple[float, float] | None:
    """Between what scores lie, where success is told from scores."""
    least, largest = metrics.get(LEAST), metrics.get(LARGEST)
    return None if least is None or largest is None else (float(least), float(largest))


def _together(names: Sequence[str]) -> str:
    """Starts that share a colour."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def whole(steps: float) -> str:
    """A place along the axis."""
    return number(round(steps))


class StartsResult:
    """A job's starts, the easiest first, as ``StartsConfig.ordered`` has them."""

    def __init__(self, job: Job, columns: Columns, table: Bundle | None) -> None:
        self.config = parse(StartsConfig, job.config)
        self.names = [task.name for task in self.config.ordered]
        self.columns, self.metrics, self._tick = columns, job.metrics, job.tick
        own = games.starts_of(self.config.game.name, job.project)
        self._heads = {one.name: one.title or one.name for one in own}
        self._x = [value or 0.0 for value in columns.get("iterations", [])]
        self._table: Mapping[str, list[Any]] = (
            {} if table is None else {name: column.tolist() for name, column in table.arrays.items()}
        )

    @property
    def words(self) -> SuccessWords:
        """What success is here, as far as evaluations have told."""
        last = {name: next(filter(known, reversed(self.columns.get(name, []))), None) for name in (LEAST, LARGEST)}
        ends = score_ends(last)
        return by_wins(self.config.episodes) if ends is None else by_scores(*ends)

    @property
    def success(self) -> Lines:
        """How well it does from each start, by evaluations on fresh episodes, with their ranges."""
        of = plural(self.config.episodes, "episode")
        each = enumerate(self.names)
        ranges = {
            name: LineRange(self.column(i, "success_low"), self.column(i, "success_high"), share_with_ends, of)
            for i, name in each
        }
        chart = self.lines("success", (0.0, 1.0), ranges)
        chart.heads.insert(1, "Episodes of each")
        for row in chart.rows:
            row.insert(1, number(self.config.episodes) if any(row[1:]) else "")
        return chart

    @property
    def playing(self) -> Lines:
        """How well it does while it learns."""
        return self.lines("score")

    @property
    def rounds(self) -> int:
        """Rounds that are drawn."""
        return len(self._x)

    def round_at(self, place: int) -> int:
        """The number of the round that is drawn at this place, from 0."""
        ticks = self.columns.get("tick", [])
        return int(ticks[place] or 0) if place < len(ticks) else place + 1

    @property
    def thinned(self) -> str:
        """How many of many rounds are drawn, in a sentence; empty where all are."""
        if self._tick <= ROUNDS or self.rounds >= self._tick:
            return ""
        return f"Of {number(self._tick)} rounds, {number(self.rounds)} are drawn."

    @property
    def unranked(self) -> str:
        """Why starts have no places, in a sentence; empty where they have."""
        return UNRANKED.get(self.config.scheduler.kind, "")

    @property
    def together(self) -> str:
        """That several rounds were told together, in a sentence; empty where each was told by itself."""
        if self.config.sampling != "synchronous" or not self.rounds < self._tick <= ROUNDS:
            return ""
        return (
            "Players and learner wait for each other, so a round goes on until enough episodes have ended: "
            f"{plural(self.rounds, 'longer round')} took the place of {number(self._tick)}."
        )

    def lines(
        self, what: str, up: tuple[float, float] | None = None, ranges: Mapping[str, LineRange] | None = None,
        first: int | None = None,
    ) -> Lines:  # fmt: skip
        """A line for each start of what rounds tell of it; ``first``: of the first rounds alone."""
        many = len(self.names)
        lines = [(f"start-{mark_of(i, many)}", name, self.column(i, what)[:first]) for i, name in enumerate(self.names)]
        drawn = [(mark, name) for mark, name, column in lines if any(map(known, column))]
        called = {mark: _together([name for own, name in drawn if own == mark]) for mark, _ in drawn}
        x = self._x[:first]
        return Lines(ALONG, x, lines, whole, called, up, across=ends([0.0, *x]), ranges=ranges, says=SHARES.get(what))

    def column(self, task: int, what: str) -> Column:
        """What rounds tell of a start."""
        return self.columns.get(f"{name_of(task)}/{what}", [None] * len(self._x))

    @property
    def practised(self) -> Practised:
        """What is learned from, round by round."""
        return Practised(self.names, self._x, [self.column(i, "practised") for i in range(len(self.names))])

    @property
    def rows(self) -> list[StartRow]:
        """The starts, the hardest first; where they have no places, from the hard one to the easiest."""
        order = sorted(range(len(self.names)), key=None if self.unranked else self._hardness, reverse=True)
        return [self.row(i) for i in order]

    def _hardness(self, i: int) -> tuple[float, float, int]:
        """What was mastered late is hard, and so is what fails most."""
        low, high = self._span(i)
        success = self._value("success", i)
        return (low + high) / 2, -(success if success is not None else 0.0), i

    def _span(self, i: int) -> tuple[float, float]:
        """The fewest and the most minibatches after which it was mastered; both endless where it is not."""
        first, last = self._value("perhaps", i), self._value("surely", i)
        endless = float("inf")
        return (endless if first in (None, -1) else float(first), endless if last in (None, -1) else float(last))

    def _value(self, name: str, i: int) -> float | None:
        column = self._table.get(name)
        value = None if column is None else column[i]
        return value if known(value) else None

    def row(self, i: int) -> StartRow:
        """A start, by its place among ``names``."""
        share = self.metrics.get(f"{name_of(i)}/practised")
        lost = self._value("forgotten", i)
        task = self.config.ordered[i]
        return StartRow(
            task.name, mark_of(i, len(self.names)), task.hard, self._rank(i), self._value("success", i),
            self._value("low", i), self._value("high", i), self._reached(i),
            f"at least {percent(lost)}" if lost else "", self._once(i, lost or 0.0),
            "" if share is None else percent(share),
            where(task.settings, self._heads),
        )  # fmt: skip

    def _once(self, i: int, now: float) -> str:
        """The most that was ever forgotten of a start, where that is more than ``now``."""
        most, at = max(
            ((lost or 0.0, at) for lost, at in zip(self.column(i, "forgotten"), self._x, strict=True)),
            default=(0.0, 0.0),
        )
        return f"{percent(most)} after {whole(at)}" if most > now else ""

    def where(self, task: StartTask) -> str:
        """Where a start's episodes begin, in words."""
        return where(task.settings, self._heads) or "as the game says"

    def _rank(self, i: int) -> str:
        """Its places in the ranking that the ranges allow, 1 the hardest; empty while nothing is known."""
        if self.unranked or self._value("success", i) is None:
            return ""
        others = [k for k in range(len(self.names)) if k != i]
        harder = sum(self._surely_harder(k, i) for k in others)
        easier = sum(self._surely_harder(i, k) for k in others)
        first, last = 1 + harder, len(self.names) - easier
        return str(first) if first == last else f"{first} to {last}"

    def _surely_harder(self, one: int, other: int) -> bool:
        """Whether the ranges of two starts do not meet: of minibatches or, where neither was mastered, of success."""
        (low, _), (_, high) = self._span(one), self._span(other)
        if low == high == float("inf"):
            mine, theirs = self._value("high", one), self._value("low", other)
            return mine is not None and theirs is not None and mine < theirs
        return low >= high  # the evaluation that one still failed surely, the other surely passed

    def _reached(self, i: int) -> str:
        low, high = self._span(i)
        if low == float("inf"):
            return ""
        if high == float("inf"):
            return f"more than {number(low)}" if low else "not sure yet"
        return number(high) if low == high else f"{number(low)} to {number(high)}"

    @property
    def picture(self) -> Picture | None:
        """The game's picture."""
        return PICTURES.get(self.config.game.name.removeprefix("builtin:"))

    @property
    def marks(self) -> list[StartMark]:
        """The starts on it."""
        drawn = self.picture
        starts = [(task.name, {**self.config.game.settings, **task.settings}) for task in self.config.ordered]
        return drawn.marks(starts) if drawn else []

    @property
    def missing(self) -> str:
        """What was lost on the way to the learner, in a sentence."""
        each = [self.metrics.get(f"missing_{name}", 0) or 0 for name in ("unsent", "refused", "gone")]
        found = []
        if sum(each):
            # Earlier jobs did not count what ended players had sent.
            sure = self.metrics.get("missing_uncounted", 1) == 0
            found.append(
                f"{'' if sure else 'At least '}{number(sum(each))} decisions were lost on their way to the learner, "
                "which learns without them."
            )
            if not sure:
                found.append("What a player had sent before it ended itself is not counted.")
        if strange := self.metrics.get("missing_strange", 0):
            found.append(f"{number(strange)} of the messages that arrived are no experience of this study: left out.")
        return " ".join(found)
