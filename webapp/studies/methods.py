"""The menu of search methods: every algorithm that can search lineups, and what a designer is told about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.catalog import ALGORITHMS
from engine.config import Config
from engine.config.algorithms import Breeding, Steady
from engine.config.noise import BattlesRule, EvaluationsRule, MinutesRule, NoiseConfig, PlateauRule
from webapp.lib.words import number
from webapp.studies.setting_fields import Setting, settings_of

TOGETHER, SINGLE, OTHER = "together", "single", "other"
GROUPS = {
    TOGETHER: "Best trade-offs between several objectives",
    SINGLE: "The best in one objective",
    OTHER: "Many different lineups, and the control",
}
USUAL = "nsga2"
_STEADY, _BREEDING = ("steady", "fair"), ("crossover", "grouping", "mutation")


@dataclass(frozen=True)
class Method:
    """An algorithm on the menu. ``text``: what it is good for, and when not. ``numbers``: it moves through numbers that
    stand for lineups. ``remeasures``: its best can be measured again. ``races``: it can foresee who stays."""

    kind: str
    group: str
    text: str
    numbers: bool = False
    remeasures: bool = True
    races: bool = False

    @property
    def title(self) -> str:
        return ALGORITHMS[self.kind].label

    @property
    def model(self) -> type[Config]:
        return ALGORITHMS[self.kind].config

    @property
    def single(self) -> bool:
        """Whether it looks for one best lineup, so that somebody must say what is best."""
        return self.group == SINGLE

    @property
    def own(self) -> tuple[Setting, ...]:
        """Settings that no other method has."""
        return settings_of(self.model, f"{self.kind}-", leave=("population", *_STEADY, *_BREEDING))

    @property
    def parts(self) -> str:
        """The parts of the form that belong to it, as the page's script reads them."""
        steady, breeds = issubclass(self.model, Steady), issubclass(self.model, Breeding)
        found = {
            "aim": self.single,
            "steady": steady,
            "breeding": breeds,
            "numbers": self.numbers,
            f"own-{self.kind}": bool(self.own),
            "noise": self.remeasures,
            "racing": self.races,
            "no-noise": not self.remeasures,
        }
        return " ".join(name for name, has in found.items() if has)


METHODS = {
    method.kind: method
    for method in (
        Method(
            "nsga2",
            TOGETHER,
            "Finds the whole edge between two or three objectives and seldom disappoints. "
            "Not the first choice for four objectives or more.",
            races=True,
        ),
        Method(
            "nsga3",
            TOGETHER,
            "Spreads lineups evenly along many directions: for four objectives and more. "
            "With two or three, NSGA-II gives as much.",
        ),
        Method(
            "agemoea",
            TOGETHER,
            "Learns the shape of the edge while it searches and spreads lineups evenly over it. "
            "Of little use where the edge has only a few points.",
        ),
        Method(
            "ga",
            SINGLE,
            "The simplest: the best become parents. Good when one number says it all; it shows no trade-offs.",
            races=True,
        ),
        Method(
            "cmaes",
            SINGLE,
            "Learns which changes go together. Good in the last stretch towards one goal; "
            "slow to start where pieces have nothing to do with each other.",
            numbers=True,
        ),
        Method(
            "cem",
            SINGLE,
            "Draws around the best of the last round, ever more narrowly. Quick and sturdy; "
            "it settles on one kind of lineup and does not look back.",
            numbers=True,
        ),
        Method(
            "openai-es",
            SINGLE,
            "Follows the slope that many small changes show. Made for thousands of smooth settings; "
            "lineups jump from piece to piece, so expect little.",
            numbers=True,
        ),
        Method(
            "pso",
            SINGLE,
            "A swarm drawn to the best place it has seen. Good with few lineups in a round; "
            "weak when battles are very noisy.",
            numbers=True,
            remeasures=False,
        ),
        Method(
            "cso",
            SINGLE,
            "Lineups meet in pairs and the loser moves towards the winner. Good for large teams with many slots; "
            "slow when there are few.",
            numbers=True,
            remeasures=False,
        ),
        Method(
            "map-elites",
            OTHER,
            "Keeps the best of every kind on a map. Good for seeing how differently a game can break; "
            "not for the sharpest edge, and it needs two objectives.",
        ),
        Method(
            "random",
            OTHER,
            "Only draws valid lineups. Shows what searching adds; never the way to find the worst.",
            races=True,
        ),
    )
}
"""By kind, in the menu's order. Population based training is not here: it needs evaluations that train."""

STEADY = settings_of(Steady, leave=("population",))
BREEDING = settings_of(Breeding, leave=("population", *_STEADY))
RACING_ONLY = ("racing", "most", "error")
NOISE = settings_of(NoiseConfig, "noise-", leave=RACING_ONLY)
RACING = settings_of(NoiseConfig, "noise-", leave=("reevaluate", "again"))
STOPS = {
    model.model_fields["kind"].default: (model, settings_of(model, f"stop-{model.model_fields['kind'].default}-"))
    for model in (PlateauRule, EvaluationsRule, BattlesRule, MinutesRule)
}
"""Rules that end a search early, by kind. A rule holds when its first setting is typed."""


def ends_when(rule: Mapping[str, Any]) -> str:
    """A rule that ends a search, in words."""
    if rule["kind"] == "plateau":
        return f"no growth for {number(rule['window'])} rounds"
    if rule["kind"] == "minutes":
        return f"after {rule['most']:g} min, not reproducible"
    return f"after {number(rule['most'])} {rule['kind']}"


def every_setting() -> list[Setting]:
    """All settings of the menu, each once."""
    own = [setting for method in METHODS.values() for setting in method.own]
    stops = [setting for _, settings in STOPS.values() for setting in settings]
    return [*STEADY, *BREEDING, *own, *NOISE, *RACING, *stops]
