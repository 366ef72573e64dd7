"""How hard a search looks: rounds and lineups for three efforts, what they cost in battles and in time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp
from typing import NamedTuple

from django.conf import settings

from engine.config import LineupConfig
from engine.lineups.schema import battles_of_lineup
from webapp.lib.words import NBSP, duration, number

SLOW = 2000.0
"""Battles a second of one worker below which the efforts are measured in time instead of in lineups."""


SHARED = 0.7
"""What is left of one worker's pace, as a rule, where all of a machine's processors play."""


@dataclass(frozen=True)
class Plan:
    """``population`` lineups in each of ``rounds`` rounds, each pairing played ``replicates`` times from both seats.
    ``most``: how many lineups there are, where the rules leave so few that they were counted: then it ends."""

    population: int
    rounds: int
    replicates: int
    most: int | None = None

    @property
    def lineups(self) -> int:
        asked = self.population * self.rounds
        return asked if self.most is None else min(asked, self.most)

    @property
    def whole(self) -> bool:
        """Whether every lineup there is gets played."""
        return self.lineups == self.most

    @property
    def numbers(self) -> dict[str, int]:
        """What can be typed of it, by the names of the fields."""
        return {name: getattr(self, name) for name in PLAN}


FRESH = 16
"""Fresh replicates of the final edge, unless somebody typed another number."""


class Edge(NamedTuple):
    """How many lineups the final edge has, as a rule: so many ``lineups`` of any round, and a ``share`` of its. With a
    map of so many ``cells``, what it holds beside the edge is played again too."""

    lineups: int = 0
    share: float = 0.0
    cells: int = 0

    def of(self, population: int) -> int:
        return max(1, min(population, self.lineups + round(self.share * population)))


EDGES = {
    "unfair": Edge(share=0.5),
    "fielded": Edge(share=0.35),
    "price": Edge(14),  # of three objectives, but price and strength for it nearly make one
    "useless": Edge(6),
    "first": Edge(13),
}
"""By the question that is asked; measured on the built-in game."""
FILLS = 0.6
"""How much of an empty cell of a map one lineup fills, as a rule; measured on the built-in game."""
POINT, CURVE, SURFACE = Edge(1), Edge(12), Edge(share=0.5)
"""The same of any other question with one objective, with two, and with more."""
PLAN = ("population", "rounds", "replicates")
"""The numbers of a plan, by the names that their fields have in the form."""


@dataclass(frozen=True)
class Effort:
    """A choice of "How hard should we look?": its plan, the minutes it may take where battles are slow, and how many
    times as often each lineup is played where all of them can be."""

    key: str
    title: str
    plan: Plan
    minutes: float
    again: int


EFFORTS = {
    effort.key: effort
    for effort in (
        Effort("quick", "Quick look", Plan(200, 30, 4), 4, 1),
        Effort("usual", "Usual", Plan(200, 100, 4), 15, 4),
        Effort("deep", "Deep look", Plan(200, 1000, 4), 120, 16),
    )
}


OWN = "own"
"""The effort of somebody who typed the numbers."""
LARGEST = 10_000
"""Lineups that a round can have."""
LONG = 3600.0
"""Seconds from which on a search is worth a warning before it starts."""


def effort_of(plan: Plan) -> str:
    """The effort that has this plan where battles are fast; ``OWN`` for any other."""
    return next((effort.key for effort in EFFORTS.values() if effort.plan == plan), OWN)


def edge_of(question: str, objectives: int, bins: int = 0) -> Edge:
    """The edge of a search for so many objectives that asks ``question``; ``bins``: of a map in each direction, which
    are all objectives but one (0: it keeps no map)."""
    if objectives == 1:  # one lineup, but for those that are as good
        return POINT
    edge = EDGES.get(question, CURVE if objectives == 2 else SURFACE)
    return edge._replace(cells=bins ** (objectives - 1)) if bins else edge


def edge_battles(plan: Plan, rules: LineupConfig, fresh: int, edge: Edge) -> int:
    """Battles that a final edge takes on fresh seeds, as a rule; what it leaves open not counted. What a map holds
    beside the edge takes no more in all than the search did."""
    if not fresh:
        return 0
    there = edge.of(min(plan.population, plan.lineups))
    others = max(0, _filled(plan, edge) - there)
    share = min(fresh, plan.lineups * plan.replicates // max(1, others))
    return battles_of_lineup(rules, there * fresh + others * share)


def _filled(plan: Plan, edge: Edge) -> int:
    """Cells of the map that hold a lineup at the end, as a rule."""
    return round(edge.cells * (1 - exp(-FILLS * plan.lineups / edge.cells))) if edge.cells else 0


def most_edge_battles(plan: Plan, rules: LineupConfig, fresh: int, edge: Edge) -> int:
    """The most that it can be: all of the last round, or of a map each cell."""
    return battles_of_lineup(rules, fresh) * min(edge.cells or plan.population, plan.lineups)


def plan(
    effort: Effort, rules: LineupConfig, pace: float | None, most: int | None = None, edge: Edge = SURFACE
) -> Plan:
    """The plan of an effort for a game of which one worker plays ``pace`` battles a second (None: not known), and whose
    rules leave ``most`` lineups (None: too many to be counted). ``edge``: see ``edge_of``."""
    found = _paced(effort, rules, pace, edge)
    if most is None or found.lineups < most:
        return replace(found, most=most)
    # Everything is played, in one round where that can be; what is left of the battles makes ranges narrower.
    population = min(max(4, most), LARGEST)
    affordable = found.replicates * found.lineups // max(1, most)
    replicates = max(found.replicates, min(found.replicates * effort.again, affordable))
    return Plan(population, -(-most // population) or 1, replicates, most)


def _paced(effort: Effort, rules: LineupConfig, pace: float | None, edge: Edge) -> Plan:
    if pace is None or pace >= SLOW:
        return effort.plan
    battles = SHARED * pace * settings.CPUS * 60 * effort.minutes
    # The edge of a population of sqrt(n) lineups is played FRESH / 2 times as often: n + 2 c sqrt(n) is what there is.
    c = edge.share * FRESH / 4
    there_is = max(0.0, battles / battles_of_lineup(rules, 2) - edge.lineups * FRESH / 2)
    affordable = ((c * c + there_is) ** 0.5 - c) ** 2
    lineups = min(float(effort.plan.lineups), max(32.0, affordable))
    population = int(min(100, max(8, 2 * round((lineups / 4) ** 0.5))))
    return Plan(population, max(4, int(lineups / population)), 2)


def about(low: float, high: float) -> str:
    """ "about 40 s", from a range."""
    return f"about {duration(_round((low + high) / 2))}"


def span(low: float, high: float) -> str:
    """ "35 to 50 s", "1 min 50 s to 2 min 20 s"."""
    first, last = duration(_round(low)), duration(_round(high))
    if first == last:
        return first
    unit = first.partition(NBSP)[2]
    if f"{NBSP}{unit}" == last[len(last.partition(NBSP)[0]) :]:
        first = first.partition(NBSP)[0]
    return f"{first} to {last}"


def _round(value: float) -> float:
    """To what people say: 5 s steps under two minutes, minutes under an hour, quarters of one under ten, then hours."""
    step = 1 if value < 10 else 5 if value < 120 else 60 if value < 3600 else 900 if value < 36_000 else 3600
    return max(step, step * round(value / step))


def words(plan: Plan, rules: LineupConfig) -> str:
    """ "6,000 lineups, 576,000 battles"; "all 165 lineups there are, 15,840 battles"."""
    lineups = f"all {number(plan.lineups)} lineups there are" if plan.whole else f"{number(plan.lineups)} lineups"
    return f"{lineups}, {number(plan.lineups * battles_of_lineup(rules, plan.replicates))} battles"
