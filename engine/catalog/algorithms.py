"""The search algorithms."""

from __future__ import annotations

from engine.catalog.entry import Entry
from engine.config.algorithms import (
    AGEMOEAConfig,
    CEMConfig,
    CMAESConfig,
    CSOConfig,
    GAConfig,
    MAPElitesConfig,
    NSGA2Config,
    NSGA3Config,
    OpenAIESConfig,
    PBTConfig,
    PSOConfig,
    RandomConfig,
)

ALGORITHMS: dict[str, Entry] = {
    "nsga2": Entry(
        "NSGA-II",
        "Finds the whole edge between two or three objectives and seldom disappoints. Not the first choice for four "
        "objectives or more.",
        NSGA2Config,
        "engine.evolution.nsga2:NSGA2",
    ),
    "nsga3": Entry(
        "NSGA-III",
        "Spreads lineups evenly along many directions: for four objectives and more. With two or three, NSGA-II gives "
        "as much.",
        NSGA3Config,
        "engine.evolution.nsga3:NSGA3",
    ),
    "agemoea": Entry(
        "AGE-MOEA",
        "Learns the shape of the edge while it searches and spreads lineups evenly over it. Of little use where the "
        "edge has only a few points.",
        AGEMOEAConfig,
        "engine.evolution.agemoea:AGEMOEA",
    ),
    "ga": Entry(
        "Genetic algorithm",
        "The simplest: the best become parents. Good when one number says it all; it shows no trade-offs.",
        GAConfig,
        "engine.evolution.ga:GA",
    ),
    "cmaes": Entry(
        "CMA-ES",
        "Learns which changes go together. Good in the last stretch towards one goal; slow to start where pieces have "
        "nothing to do with each other.",
        CMAESConfig,
        "engine.evolution.cma:CMAES",
    ),
    "cem": Entry(
        "Cross-entropy method",
        "Draws around the best of the last round, ever more narrowly. Quick and sturdy; it settles on one kind of "
        "lineup and does not look back.",
        CEMConfig,
        "engine.evolution.cem:CEM",
    ),
    "openai-es": Entry(
        "OpenAI evolution strategy",
        "Follows the slope that many small changes show. Made for thousands of smooth settings; lineups jump from "
        "piece to piece, so expect little.",
        OpenAIESConfig,
        "engine.evolution.es:OpenAIES",
    ),
    "pso": Entry(
        "Particle swarm",
        "A swarm drawn to the best place it has seen. Good with few lineups in a round; weak when battles are very "
        "noisy.",
        PSOConfig,
        "engine.evolution.pso:PSO",
    ),
    "cso": Entry(
        "Competitive swarm",
        "Lineups meet in pairs and the loser moves towards the winner. Good for large teams with many slots; slow "
        "when there are few.",
        CSOConfig,
        "engine.evolution.cso:CSO",
    ),
    "map-elites": Entry(
        "MAP-Elites",
        "Keeps the best of every kind on a map. Good for seeing how differently a game can break; not for the "
        "sharpest edge, and it needs two objectives.",
        MAPElitesConfig,
        "engine.evolution.map_elites:MAPElites",
    ),
    "random": Entry(
        "Random search",
        "Only draws valid lineups. Shows what searching adds; never the way to find the worst.",
        RandomConfig,
        "engine.evolution.random_search:RandomSearch",
    ),
    "pbt": Entry(
        "Population based training",
        "Players train side by side; those that lag go on from a better one’s network and settings, a little changed. "
        "The usual choice: it ends with a trained player, and settings may change on the way.",
        PBTConfig,
        "engine.evolution.pbt:PBT",
    ),
}
"""In menu order; an explanation says what the algorithm is good for, and when it is not."""
