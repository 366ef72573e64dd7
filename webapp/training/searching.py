"""The menu of ways to search training settings, in words about players; the first is the usual one."""

from __future__ import annotations

from typing import NamedTuple

from engine.catalog import ALGORITHMS
from webapp.studies.methods import METHODS

_OWN = {
    "pbt": "Players train side by side; those that lag go on from a better one’s network and settings, a little "
    "changed. The usual choice: it ends with a trained player, and settings may change on the way.",
    "cmaes": "Learns which settings go together. Good in the last stretch towards one goal; a slow starter.",
    "map-elites": "Keeps the best player of every kind of play on a map. For variety, not for the very best.",
    "random": "Only draws settings from their ranges. Shows what searching adds: the control.",
    "openai-es": "Follows the slope that many small changes show. Made for hundreds of players and settings.",
    "cso": "Players meet in pairs and the loser’s settings move towards the winner’s. For many settings at once.",
}
FIRST, FURTHER = ("pbt", "ga", "nsga2", "cmaes", "map-elites", "random"), ("nsga3", "agemoea", "cem", "pso", "cso")
"""What the menu shows, and what it shows when more is asked for."""
ALL = (*FIRST, *FURTHER, "openai-es")


class Method(NamedTuple):
    """An algorithm on the menu."""

    kind: str
    title: str
    text: str


def _method(kind: str) -> Method:
    text = _OWN.get(kind) or METHODS[kind].text.replace("lineup", "player").replace("battles", "episodes").replace(
        "objective", "goal"
    )
    return Method(kind, ALGORITHMS[kind].label, text)


MENU = {kind: _method(kind) for kind in ALL}
