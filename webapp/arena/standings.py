"""How strong the players of a course are, by the tournament at its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from engine.arrays import Bundle
from webapp.lib.words import number, percent
from webapp.studies.kinds import AgentRecord
from webapp.studies.models import Job
from webapp.studies.table_rows import latest as latest_table

SHOWN = 5
"""Players, or pairs of them, that the page names."""


class PlayerStanding(NamedTuple):
    """How strong a player of a tournament is, and how often it would be seen if everybody picked well. ``share`` of
    wins against all others, or, where not everybody met, of the battles that it played, without a range; ``rating`` in
    Elo points, empty where it has none."""

    name: str
    share: float
    share_low: float
    share_high: float
    rating: str
    range: str
    picked: float
    low: float
    high: float


def standings(table: Bundle) -> list[PlayerStanding]:
    """All players, the strongest first: by their shares of wins where everybody met everybody, otherwise, as some met
    stronger ones than others, by what all results together say."""
    names = [team["name"] for team in table.meta["teams"]]
    columns = {name: table.arrays[name].tolist() for name in
            ("standing", "standing_low", "standing_high", "rating", "rating_low", "rating_high", "picked", "picked_low",
             "picked_high")}  # fmt: skip
    met = not table.meta["missing"]
    if not met:
        columns["standing"] = _own_shares(table)
    strength = table.arrays.get("strength") if not met else None  # tables of earlier versions have none
    by = columns["standing"] if strength is None else strength.tolist()
    order = sorted(range(len(names)), key=lambda i: -_known(by[i]))
    return [
        PlayerStanding(
            names[i], columns["standing"][i], columns["standing_low"][i], columns["standing_high"][i],
            _points(columns["rating"][i]),
            f"{_points(columns['rating_low'][i])} to {_points(columns['rating_high'][i])}",
            columns["picked"][i], columns["picked_low"][i], columns["picked_high"][i],
        )
        for i in order
    ]  # fmt: skip


def _own_shares(table: Bundle) -> list[float]:
    """Each player's share of wins in the battles that it played. Pairs that never met would count as half a win each
    in the share against all others."""
    shares, meetings = table.arrays["share"], table.arrays["meetings"]
    won = np.where(meetings > 0, np.nan_to_num(shares) * meetings, 0.0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        own: list[float] = (won / meetings.sum(axis=1)).tolist()
    return own


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
    strengths = {each.name: _in_words(each) for each in standings(table)} if table else {}
    return {
        "" if {name} == alone else name: AgentRecord(int(value), strengths.get(name, ""))
        for name, value in learned.items()
    }


def _in_words(each: PlayerStanding) -> str:
    """Of a player, in words."""
    if each.rating:
        return f"{each.rating} Elo points in the tournament"
    return f"won {percent(each.share)} of its battles in the tournament"


def against_points(table: Bundle) -> list[str]:
    """Who surely beats somebody with more Elo points, as one number for each player cannot say."""
    names, ratings = [team["name"] for team in table.meta["teams"]], table.arrays["rating"]
    pairs = [(a, b) for a, b in table.arrays["counter"].tolist() if ratings[a] < ratings[b]]
    texts = [f"{names[a]} surely beats {names[b]}, which has more Elo points." for a, b in pairs[:SHOWN]]
    return [*texts, *([f"So do {len(pairs) - SHOWN} more pairs."] if len(pairs) > SHOWN else [])]


def strongest(table: Bundle) -> tuple[str, int]:
    """Who won most against all others, and of how many."""
    first, *others = standings(table)
    return first.name, 1 + len(others)


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
    have = "has" if len(names) == 1 else "have"
    return (
        f"{shown} {have} no Elo points: between {'it' if have == 'has' else 'them'} and those who have them nobody won "
        f"both ways, so nothing says how far apart they are. {above}"
    )


def _known(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def _points(value: float) -> str:
    return number(round(value)) if math.isfinite(value) else ""
