"""What the paper draws of a training (Li and Ji 2021, figures 3 to 8), of one job: a small chart each, a line for each
start."""

from __future__ import annotations

from typing import NamedTuple

from engine.config.starts import LARGEST_VALUE
from webapp.lib.words import number
from webapp.starts.reading import StartsResult
from webapp.studies.lines import Lines

FEWEST = 8
"""Rounds from which on the beginning is drawn by itself."""
EARLY = 4
"""The beginning is this part of all rounds: a quarter."""
DRAWN = (
    ("return", "Reward of an episode", "While it learns, the mean of the episodes that ended in a round."),
    ("length", "Decisions of an episode", "Of the same episodes. Those that fail early are short, too."),
    (
        LARGEST_VALUE,
        "Largest reward that it expects",
        "Forecast for its best action, the mean over decisions that it remembers; a fall may show forgetting.",
    ),
    ("chance", "Chance to be practised next", "As it stood at the end of each round."),
)
"""Column of a start in a round, the title of its chart, and what it is."""


class SmallChart(NamedTuple):
    """A chart without a legend of its own."""

    title: str
    text: str
    chart: Lines


def figures(result: StartsResult) -> list[SmallChart]:
    """Those of which a round has told something."""
    found = [SmallChart(title, text, result.lines(what)) for what, title, text in DRAWN]
    early = result.rounds // EARLY
    if result.rounds >= FEWEST:
        text = f"The same reward in the first {number(result.round_at(early - 1))} rounds."
        found.insert(1, SmallChart("Reward of an episode at first", text, result.lines("return", first=early)))
    return [each for each in found if each.chart.lines]
