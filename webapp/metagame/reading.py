"""What a table of match-ups says, in words and rows for pages."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, NamedTuple

from engine.arrays import Bundle
from webapp.lib.figures import share_text
from webapp.lib.words import NBSP, number, plural

STEPS = 10
"""Shades of the map, from never to always."""
LADDER, MIXED, RINGS = 0.05, 0.3, 0.7
"""Shares of what goes in rings from which the words change."""
UNSURE = 0.5
"""A range wider than this says nothing."""
SHOWN = 8
LISTED = 300
"""Pairs that the page lists; of more, the CSV has the others."""
STEADY = 0.0005
"""A share whose range is narrower than this reads the same at both ends."""


class MatchupCell(NamedTuple):
    """How often the row's team won against the column's: ``low`` to ``high`` by this pair alone, ``least`` to ``most``
    with all pairs at once, by which alone somebody is ``sure`` to win; and its shade on the map."""

    share: float
    low: float
    high: float
    least: float
    most: float
    sure: str
    shade: int

    @property
    def shown(self) -> int:
        """In per cent."""
        return round(100 * self.share)


class Team(NamedTuple):
    """A team of the table, and what it did against all others."""

    number: int
    name: str
    parts: str
    cost: float
    share: float | None
    low: float
    high: float
    tier: int
    picked: float
    picked_low: float
    picked_high: float
    beats: int
    beaten: int
    answer: str
    cells: list[MatchupCell | None]

    @property
    def steady(self) -> str:
        """In how many re-drawn tables its share when everybody picks well is the same; empty where it moves."""
        if self.picked_high - self.picked_low >= STEADY:
            return ""
        return f"the same in at least 95{NBSP}% of re-drawn round robins"


class RoundRobinResult:
    """``teams`` in the order of the map; ``tiers``: the teams of each, the best first."""

    def __init__(self, bundle: Bundle) -> None:
        self.meta, self.columns = bundle
        self.names = [team["name"] for team in self.meta["teams"]]
        self.order = self.columns["order"].tolist()
        self.called = [f"Team {self.order.index(i) + 1} ({name})" for i, name in enumerate(self.names)]
        many = Counter(self.names)
        self.labels = [called if many[name] > 1 else name for name, called in zip(self.names, self.called, strict=True)]
        self.pairs = [tuple(pair) for pair in self.columns["counter"].tolist()]
        self.teams = [self._team(i) for i in self.order]

    @property
    def sentence(self) -> str:
        """What it comes to."""
        cyclic, many = self.meta["cyclic"], len(self.names)
        if cyclic["share"] is None:
            return "Nothing is told from even yet: no team is known to be stronger than another."
        if many < 3:
            return "Two teams can only be one above the other: rock-paper-scissors needs three."
        rings, ends = share_text(cyclic["share"], cyclic["low"], cyclic["high"])
        if cyclic["high"] - cyclic["low"] > UNSURE:
            return f"Too early to tell a ladder from rock-paper-scissors, which may be {ends} of what decides."
        return (
            f"{_called(cyclic['share'])}: {_rest_of(rings)}{NBSP}% of what decides is strength, {_some(rings)}{NBSP}% "
            f"({ends}) is rock-paper-scissors."
        )

    @property
    def unfinished(self) -> str:
        """How many meetings the game did not finish, and what that may do to all findings; empty where it finished all.
        A table from before they were counted says nothing."""
        many, pairs = int(self.meta.get("unfinished", 0)), len(self.names) * (len(self.names) - 1) // 2
        if not many:
            return ""
        asked = plural(pairs * int(self.meta["battles"]) // 2, "meeting")
        return (
            f"The game did not finish {number(many)} of {asked} (two battles each), which are left out: where it "
            "depends on who plays or wins which these are, no finding can be relied on."
        )

    @property
    def tiers(self) -> list[list[Team]]:
        """The teams of each tier, by how often they win."""
        count = int(self.columns["tier"].max()) + 1
        found = [[team for team in self.teams if team.tier == tier] for tier in range(count)]
        return [sorted(each, key=lambda team: -(team.share or 0.0)) for each in found]

    @property
    def apart(self) -> list[str]:
        """The teams that met nobody, and so have no tier."""
        return [f"Team {team.number} ({team.name})" for team in self.teams if team.tier < 0]

    @property
    def picked(self) -> list[Team]:
        """Who would be seen at all, the most seen first."""
        seen = [team for team in self.teams if team.picked >= 0.0005 or team.picked_high >= 0.005]
        return sorted(seen, key=lambda team: (-team.picked, -team.picked_high))

    @property
    def upsets(self) -> list[str]:
        """Who beats a team that is stronger on the whole, and how many cycles of three sure wins that closes: the most
        first."""
        closing = {pair: self._closed(*pair) for pair in self._upset}
        return [
            f"{self.called[i]} beats {self.called[j]} ({self._share(i, j)}), which is stronger on the whole"
            + (f"; this closes {plural(cycles, 'cycle')} of three." if cycles else ".")
            for (i, j), cycles in sorted(closing.items(), key=lambda each: -each[1])
        ]

    @property
    def rings(self) -> list[str]:
        """ "A beats B, B beats C, and C beats A": of those in which each is as strong as the next."""
        upset = set(self._upset)
        found = [
            [self.called[i] for i in (a, b, c)]
            for a, b, c in self.columns["ring"].tolist()
            if not upset & {(a, b), (b, c), (c, a)}
        ]
        return [f"{a} beats {b}, {b} beats {c}, and {c} beats {a}." for a, b, c in found[:SHOWN]]

    @property
    def _upset(self) -> list[tuple[int, int]]:
        return [pair for pair, upset in zip(self.pairs, self.columns["upset"].tolist(), strict=True) if upset]

    def _closed(self, i: int, j: int) -> int:
        """How many teams the second surely beats that surely beat the first."""
        return len({b for a, b in self.pairs if a == j} & {a for a, b in self.pairs if b == i})

    @property
    def dominant(self) -> list[str]:
        """Who has no match."""
        return [f"{self.called[i]} surely beats every other team." for i in self._true("dominant")]

    @property
    def pointless(self) -> list[str]:
        """Who is dominated, and by whom: the strongest that does so."""
        found = []
        share, better = self.columns["standing"], self.columns["dominates"]
        for j in self.order:
            by = [i for i in self.order if better[i, j]]
            if by:
                best = max(by, key=lambda i: share[i])
                found.append(f"{self.called[j]} is never needed: {self.called[best]} does as well against everybody, "
                             "and better against somebody.")  # fmt: skip
        return found

    @property
    def furthest(self) -> list[dict[str, Any]]:
        """The pairs of ``rows`` for a page, the one that is furthest from even first."""
        return sorted(self.rows(), key=lambda pair: -pair["share"])[:LISTED]

    @property
    def met(self) -> int:
        """How many pairs met."""
        return len(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """A row for each pair that met, the one that won more first. Teams of one name have their number, too."""
        found = []
        for i in range(len(self.names)):
            for j in range(i + 1, len(self.names)):
                a, b = (i, j) if not self.columns["share"][i, j] < 0.5 else (j, i)
                if (cell := self._cell(a, b)) is not None:
                    found.append({
                        "first": self.labels[a], "second": self.labels[b],
                        "verdict": "beats" if cell.sure else "may be as good as",
                        "share": cell.share, "low": cell.low, "high": cell.high,
                        "battles": 2 * int(self.columns["meetings"][a, b]),
                    })  # fmt: skip
        return found

    def _team(self, i: int) -> Team:
        team, columns = self.meta["teams"][i], self.columns
        share, low, high, picked, least, most = (
            float(columns[name][i])
            for name in ("standing", "standing_low", "standing_high", "picked", "picked_low", "picked_high")
        )
        answers = [a for a, b in self.pairs if b == i]
        best = max(answers, key=lambda a: (columns["share"][a, i], columns["standing"][a]), default=None)
        return Team(
            self.order.index(i) + 1, team["name"], ", ".join(team["parts"]), team["cost"],
            None if math.isnan(share) else share, low, high, int(columns["tier"][i]), picked, least, most,
            sum(a == i for a, _ in self.pairs), len(answers),
            "" if best is None else f"{self.called[best]}: {self._share(best, i)}",
            [self._cell(i, j) for j in self.order],
        )  # fmt: skip

    def _cell(self, i: int, j: int) -> MatchupCell | None:
        share, low, high, least, most = (
            float(self.columns[n][i, j]) for n in ("share", "low", "high", "least", "most")
        )
        if math.isnan(share):
            return None
        sure = "beats" if least > 0.5 else "loses" if most < 0.5 else ""
        return MatchupCell(share, low, high, least, most, sure, round(STEPS * share))

    def _share(self, i: int, j: int) -> str:
        cell = self._cell(i, j)
        assert cell is not None
        share = share_text(cell.share, cell.low, cell.high)
        return f"wins {share.value}, {share.range}"

    def _true(self, name: str) -> list[int]:
        return [i for i in self.order if self.columns[name][i]]


def _called(share: float) -> str:
    if share < LADDER:
        return "A ladder"
    if share < MIXED:
        return "Mostly a ladder"
    return "Part ladder, part rock-paper-scissors" if share < RINGS else "Mostly rock-paper-scissors"


def _some(share: str) -> str:
    """ "13.0" of "13.0 %"; "less than 1" of none that can be seen."""
    figure = share.removesuffix(f"{NBSP}%")
    return figure if float(figure) else "less than 1"


def _rest_of(share: str) -> str:
    """What is left of all, in as many digits."""
    figure = share.removesuffix(f"{NBSP}%")
    return f"{100 - float(figure):.{len(figure.partition('.')[2])}f}" if float(figure) else "over 99"
