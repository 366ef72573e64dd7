"""The menu of ways to search training settings: the search methods in words about players, and one for players only."""

from __future__ import annotations

import re
from dataclasses import replace

from engine.catalog import ALGORITHMS
from engine.config.algorithms import LINEUP_OPERATORS
from engine.config.noise import EvaluationsRule, MinutesRule, PlateauRule, StepsRule
from webapp.studies.methods import GROUPS, METHODS, OTHER, SINGLE, TOGETHER, Menu, Method

LEARNING, NETWORK, BEHAVIOUR = "trained", "network", "behaviour"
_WORDS = {
    "lineup": "player", "battle": "episode", "replicate": "episode", "objective": "goal", "candidate": "player",
    "question": "search",
}  # fmt: skip
_WORD = re.compile(rf"\b({'|'.join(_WORDS)})(?=s?\b)", re.IGNORECASE)
_TEXTS = {
    "cmaes": "Learns which settings go together. Good in the last stretch towards one goal; a slow starter.",
    "cem": "Draws around the best of the last round, ever more narrowly. Quick and sturdy; it settles on one set of "
    "settings and does not look back.",
    "map-elites": "Keeps the best player of every kind of play on a map. For variety, not for the very best.",
    "random": "Only draws settings from their ranges. Shows what searching adds: the control.",
    "openai-es": "Follows the slope that many small changes show. Made for hundreds of players and settings.",
    "cso": "Players meet in pairs and the loser’s settings move towards the winner’s. For many settings at once.",
}
_INSTEAD = {
    "crossover": (
        "Chance that two players are combined",
        "A child’s settings come from both parents; else it begins as a copy of the first. From 0 to 1.",
    ),
    "mutation": (
        "Chance that a player is changed",
        "Some of its settings take other numbers of their ranges. From 0 to 1.",
    ),
    "settings_crossover": (
        "How their settings are combined",
        "Between: the child’s numbers lie near or between those of both parents, which refines. From either: each "
        "number is one parent’s as it is, which keeps numbers that work.",
    ),
    "settings_mutation": (
        "How a setting is changed",
        "A small step looks around a good number, and seldom leaps. Drawn anew from its whole range, it finds what "
        "lies far away but keeps less of what works.",
    ),
    "steady": (
        "No rounds",
        "A player goes on, or a new one begins, as soon as one is done. Faster when players take unequal time; not "
        "reproducible on several workers.",
    ),
    "pbt-ready": (
        "Rounds between comparisons",
        "After so many a player that lags may copy a better one (ready interval). At least 1.",
    ),
    "pbt-exploit": (
        "When a player copies another (exploit)",
        "It takes the other’s network and settings, and the settings then change a little. By test: when it is shown "
        "to be worse.",
    ),
    "pbt-share": (
        "Share of the worst that copy, and of the best that are copied (truncation)",
        "Of all players; where the worst copy the best. More than 0, at most 0.5.",
    ),
    "pbt-level": (
        "How likely a mistaken copy may be (p)",
        "The smaller, the surer that the other is better (Welch’s t-test). More than 0, less than 1.",
    ),
    "pbt-resample": (
        "Chance that a copied setting is drawn anew (explore)",
        "From its whole range (resample); else it moves up or down by a fifth (perturb). From 0 to 1.",
    ),
    "stop-evaluations-most": ("Players trained and measured, at most", "At least 1."),
    "stop-steps-most": ("Decisions of all players, at most", "Those that measure them included. At least 1."),
    "map-elites-low": (
        "Lower bounds of the kinds of play",
        "Empty: found by the first round. Several numbers: put spaces between them.",
    ),
    "map-elites-high": ("Upper bounds of the kinds of play", "Several numbers: put spaces between them."),
}


def in_players(text: str) -> str:
    """A text about lineups and battles as one about players and episodes."""

    def instead(found: re.Match[str]) -> str:
        word = _WORDS[found[0].lower()]
        return word.capitalize() if found[0][0].isupper() else word

    return _WORD.sub(instead, text)


def _method(method: Method) -> Method:
    words = _TEXTS.get(method.kind) or in_players(method.text)
    also = (NETWORK, BEHAVIOUR) if method.leaves == "grid" else (NETWORK,)
    return replace(method, words=words, also=also)


PBT = Method("pbt")
PLAYERS = Menu(
    "method",
    PBT.kind,
    {k: _method(METHODS[k]) if k in METHODS else Method(k) for k in sorted(ALGORITHMS, key=METHODS.__contains__)},
    {
        LEARNING: "Settings that change while players learn",
        SINGLE: "One best set of settings",
        TOGETHER: in_players(GROUPS[TOGETHER]),
        OTHER: in_players(GROUPS[OTHER]),
    },
    (PlateauRule, EvaluationsRule, StepsRule, MinutesRule),
    worded=in_players,
    instead=_INSTEAD,
    leave=frozenset(LINEUP_OPERATORS),
)
