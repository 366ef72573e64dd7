"""How strong the players of a course are, by the tournament at its end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engine.arrays import Bundle
from engine.config import roster
from engine.standings import Standing, everybody_met, standings, surely_first
from webapp.lib.figures import share_with_ends
from webapp.lib.words import NBSP, number, percent
from webapp.studies.kinds import AgentRecord
from webapp.studies.models import Job
from webapp.studies.table_rows import latest as latest_table

SHOWN = 5
"""Players, or pairs of them, that the page names."""


class PlayerStanding(NamedTuple):
    """How strong a player of a tournament is (``engine.standings.Standing``), as pages write it: ``rating`` in Elo
    points with its ``points_range``, empty where it has none; ``share_range``: of its share of wins, empty where nobody
    knows that; ``won``: both in one."""

    name: str
    share: float
    share_range: str
    won: str
    rating: str
    points_range: str
    picked: float
    picked_low: float
    picked_high: float

    @property
    def words(self) -> str:
        """ "120 Elo points (80 to 160)", or what it won."""
        return f"{self.rating} Elo points ({self.points_range})" if self.rating else f"won {self.won} of its battles"


def in_words(table: Bundle) -> Bundle:
    """A tournament's table with its players as people call them: "main after lesson 1"."""
    teams = [{**team, "name": roster.in_words(team["name"])} for team in table.meta["teams"]]
    return table._replace(meta={**table.meta, "teams": teams})


def in_figures(found: Iterable[Standing]) -> list[PlayerStanding]:
    """Standings as pages write them."""
    return [
        PlayerStanding(
            one.name, one.share, *_share(one), _points(one.rating),
            f"{_points(one.rating_low)} to {_points(one.rating_high)}", one.picked, one.picked_low, one.picked_high,
        )
        for one in found
    ]  # fmt: skip


def _share(one: Standing) -> tuple[str, str]:
    """The range of a share of wins, and the share with it."""
    if not math.isfinite(one.high - one.low):
        return "", percent(one.share)
    low, high = percent(one.low, 1), percent(one.high, 1)
    return f"{low.removesuffix(f'{NBSP}%')} to {high}", share_with_ends(one.share, one.low, one.high)


def agent_records(job: Job) -> dict[str, AgentRecord]:
    """Every agent that a course left, as it is ("" where only one learns) and as it was after each lesson (NAME@3)."""
    learned: dict[str, float] = {}
    for metrics in job.events.filter(kind="progressed").order_by("tick").values_list("body__metrics", flat=True):
        for name, value in metrics.items():
            policy, _, what = name.partition("/")
            if what == "learned":
                learned |= {policy: value, f"{policy}@{metrics['lesson']:.0f}": value}
    alone = {name for name in learned if "@" not in name}
    table = latest_table(job)
    strengths = {each.name: f"{each.words} in the tournament" for each in in_figures(standings(table))} if table else {}
    return {
        "" if {name} == alone else name: AgentRecord(int(value), strengths.get(name, ""))
        for name, value in learned.items()
    }


def against_points(table: Bundle) -> list[str]:
    """Who surely beats somebody with more Elo points, as one number for each player cannot say."""
    names, ratings = [team["name"] for team in table.meta["teams"]], table.arrays["rating"]
    pairs = [(a, b) for a, b in table.arrays["counter"].tolist() if ratings[a] < ratings[b]]
    texts = [f"{names[a]} surely beats {names[b]}, which has more Elo points." for a, b in pairs[:SHOWN]]
    return [*texts, *([f"So do {len(pairs) - SHOWN} more pairs."] if len(pairs) > SHOWN else [])]


def first_in_words(table: Bundle) -> str:
    """Who came first, with the range of that, and whether it surely is the strongest."""
    found, met = standings(table), everybody_met(table)
    first, *others = in_figures(found)
    how = f"won {first.won}" if met else first.words
    sure = "" if surely_first(found, met) else ", and is not surely the strongest"
    return f"{first.name[:1].upper()}{first.name[1:]} came first of {1 + len(others)} in the tournament: {how}{sure}"


def unrated(table: Sequence[PlayerStanding], met: bool) -> str:
    """Why some have no Elo points, in a sentence; empty where all have them. ``met``: whether all pairs have."""
    above = "Shares of wins tell who is above whom." if met else "The order of the rows counts all results together."
    names = [each.name for each in table if not each.rating]
    if not names:
        return ""
    if len(names) == len(table):
        return (
            "Nobody has Elo points: who won between two of them always was the same one, so nothing says how far apart "
            f"they are. {above}"
        )
    shown = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    shown, have = f"{shown[:1].upper()}{shown[1:]}", "has" if len(names) == 1 else "have"
    return (
        f"{shown} {have} no Elo points: between {'it' if have == 'has' else 'them'} and those who have them nobody won "
        f"both ways, so nothing says how far apart they are. {above}"
    )


def _points(value: float) -> str:
    return number(round(value)) if math.isfinite(value) else ""
