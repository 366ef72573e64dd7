"""The tables of everything that can be chosen by name: each kind's label, configuration model and dotted path, which is
imported on first use. Importing this package loads neither torch nor ray nor numba.
"""

from __future__ import annotations

from engine.catalog.agent_game import AgentGame, Signal
from engine.catalog.algorithms import ALGORITHMS
from engine.catalog.entry import imported
from engine.catalog.games import GAMES, MOMENTS_A_SECOND, built_in, declared_ends, of_two, pace_of
from engine.catalog.learners import LEARNERS, METHODS
from engine.catalog.players import PLAYERS
from engine.catalog.returns import ends_of_returns, reach_of, weighted_ends
from engine.catalog.studies import STUDIES, StudyKind
from engine.catalog.workers import EVALUATORS, SAMPLERS

__all__ = [
    "ALGORITHMS",
    "EVALUATORS",
    "GAMES",
    "LEARNERS",
    "METHODS",
    "MOMENTS_A_SECOND",
    "PLAYERS",
    "SAMPLERS",
    "STUDIES",
    "AgentGame",
    "Signal",
    "StudyKind",
    "built_in",
    "declared_ends",
    "ends_of_returns",
    "imported",
    "of_two",
    "pace_of",
    "reach_of",
    "weighted_ends",
]
