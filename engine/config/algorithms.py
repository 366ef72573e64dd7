"""Every search algorithm's settings: one model per ``kind``, in the order in which the algorithms were built.

To add one: a model here (and in ``AlgorithmConfig``), a row in ``engine.catalog.ALGORITHMS``, a file in
``engine/evolution`` whose class names the model as its ``Settings``, and a row in ``engine/bench/ec.py``.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from engine.config.base import Config, refuse
from engine.text import figures

Need = Literal["breed", "numbers", "perturb"]
LINEUP_OPERATORS = ("grouping", "swapping")
SETTING_OPERATORS = ("settings_crossover", "settings_mutation")
OPERATORS = ("crossover", "mutation", *LINEUP_OPERATORS, *SETTING_OPERATORS)
"""Operators of ``Breeding`` algorithms: for all genomes, for lineups only, and for numeric settings only."""


class SearchAlgorithm(Config):
    """Settings of every algorithm; a tick is ``population`` evaluations.

    ``finds``: the front of several objectives, the best in one, many different candidates, or ones that are trained
    while it searches. ``needs``: capabilities of the space (``engine.problem.Capabilities``). ``remeasures``: members
    do not change, so the best ones can be measured again. ``races``: the best by front, then crowding, survive, so a
    race can predict survivors. ``leaves``: the role of what it keeps beside its members, which pages draw: the grid of
    the best of each kind, or the lineage of who went on from whom. The engine, the forms and the API read these from
    here."""

    finds: ClassVar[Literal["front", "best", "variety", "trained"]] = "front"
    needs: ClassVar[tuple[Need, ...]] = ()
    remeasures: ClassVar[bool] = True
    races: ClassVar[bool] = False
    leaves: ClassVar[Literal["", "grid", "lineage"]] = ""

    population: int = Field(200, ge=2, le=10_000, title="Lineups in a round")

    @property
    def without_rounds(self) -> bool:
        """Whether it learns from each evaluation as it arrives."""
        return False

    @property
    def queued(self) -> bool:
        """Whether it learns from evaluations in the order of their requests."""
        return False


class Steady(SearchAlgorithm):
    """Algorithms that can run without rounds."""

    steady: bool = Field(
        False,
        title="Steady state",
        description="No rounds: a new lineup as soon as one is done. "
        "Faster when battles take unequal time; not reproducible on several workers.",
    )
    fair: bool = Field(
        False,
        title="Fair queue",
        description="With steady state: learns in the order in which evaluations began, so that slow candidates are at "
        "no disadvantage.",
    )

    @property
    def without_rounds(self) -> bool:
        return self.steady

    @property
    def queued(self) -> bool:
        return self.fair

    @field_validator("fair")
    @classmethod
    def _means_something(cls, fair: bool, info: ValidationInfo) -> bool:
        if fair and not info.data.get("steady", True):
            raise ValueError("means something without rounds only: set steady to true as well, or leave this out")
        return fair


class Breeding(Steady):
    """Algorithms whose children come from the space's own crossover and mutation."""

    needs: ClassVar[tuple[Need, ...]] = ("breed",)

    crossover: float = Field(
        0.9,
        ge=0,
        le=1,
        title="Chance that two lineups are combined",
        description="A child takes parts of both parents; else it begins as a copy of the first.",
    )
    grouping: float = Field(
        0.5,
        ge=0,
        le=1,
        title="Share of them combined by whole teams",
        description="Whole teams of one parent replace the likest of the other, which keeps teams that work; the rest "
        "are combined slot by slot, which mixes pieces inside teams.",
    )
    mutation: float = Field(
        0.9,
        ge=0,
        le=1,
        title="Chance that a lineup is changed",
        description="A few pieces are replaced or emptied, counts moved, or a slot swapped between two teams.",
    )
    swapping: float = Field(
        0.2,
        ge=0,
        le=1,
        title="Share of changes that swap between teams",
        description="A slot of one team changes places with that of another, which regroups the same pieces; the rest "
        "replace or empty a piece or move a count, which brings in others.",
    )
    settings_crossover: Literal["simulated_binary", "uniform"] = Field(
        "simulated_binary",
        title="How settings are combined",
        description="simulated_binary: near or between both parents' numbers; uniform: each number is one parent's.",
    )
    settings_mutation: Literal["polynomial", "uniform"] = Field(
        "polynomial",
        title="How a setting is changed",
        description="polynomial: by a small step, seldom a large one; uniform: drawn anew from its whole range.",
    )


class NSGA2Config(Breeding):
    """NSGA-II (Deb et al. 2002) with pymoo's survival."""

    kind: Literal["nsga2"] = "nsga2"
    races: ClassVar[bool] = True
    population: int = Field(200, ge=4, le=10_000, title="Lineups in a round")


class RandomConfig(SearchAlgorithm):
    """Random search: the control for every claim."""

    kind: Literal["random"] = "random"
    finds = "variety"
    races: ClassVar[bool] = True


class GAConfig(Breeding):
    """The genetic algorithm: tournaments, crossover, mutation, elitism."""

    kind: Literal["ga"] = "ga"
    finds = "best"
    races: ClassVar[bool] = True
    elites: float = Field(
        1.0,
        ge=0,
        le=1,
        title="Share of a round that may stay",
        description="1: the best of old and new stay; 0: only the best of all does.",
    )
    tournament: int = Field(2, ge=1, le=100, title="Rivals for becoming a parent")


class NSGA3Config(Breeding):
    """NSGA-III (Deb & Jain 2014): for four objectives and more."""

    kind: Literal["nsga3"] = "nsga3"
    population: int = Field(200, ge=4, le=10_000, title="Lineups in a round")
    partitions: int = Field(
        0,
        ge=0,
        le=1000,
        title="Divisions of each objective",
        description="They make the directions along which lineups are kept. 0: as many as a round has room for.",
    )


class AGEMOEAConfig(Breeding):
    """AGE-MOEA (Panichella 2019): finds out the shape of the front while it searches."""

    kind: Literal["agemoea"] = "agemoea"
    population: int = Field(200, ge=4, le=10_000, title="Lineups in a round")


class PSOConfig(Steady):
    """Particle swarm optimisation (Kennedy & Eberhart 1995; coefficients: Clerc & Kennedy 2002)."""

    kind: Literal["pso"] = "pso"
    finds = "best"
    needs: ClassVar[tuple[Need, ...]] = ("numbers",)
    remeasures: ClassVar[bool] = False
    inertia: float = Field(0.7298, ge=0, le=1, title="Inertia", description="Share of the speed that is kept.")
    cognitive: float = Field(1.49618, ge=0, le=4, title="Pull of a particle's own best")
    social: float = Field(1.49618, ge=0, le=4, title="Pull of the swarm's best")


class CSOConfig(Steady):
    """The competitive swarm optimiser (Cheng & Jin 2015)."""

    kind: Literal["cso"] = "cso"
    finds = "best"
    needs: ClassVar[tuple[Need, ...]] = ("numbers",)
    remeasures: ClassVar[bool] = False
    population: int = Field(200, ge=2, le=10_000, multiple_of=2, title="Lineups in a round")
    phi: float = Field(0.1, ge=0, le=1, title="Pull of the swarm's middle")


class CMAESConfig(Steady):
    """CMA-ES (Hansen's tutorial): learns which changes go together. For real numbers."""

    kind: Literal["cmaes"] = "cmaes"
    finds = "best"
    needs: ClassVar[tuple[Need, ...]] = ("numbers",)
    population: int = Field(16, ge=4, le=10_000, title="Candidates in a round")
    sigma: float = Field(0.3, gt=0, le=10, title="First step size", description="As a share of each number's range.")


class CEMConfig(Steady):
    """The cross-entropy method as CEM-RL uses it (Pourchot & Sigaud 2019). For real numbers."""

    kind: Literal["cem"] = "cem"
    finds = "best"
    needs: ClassVar[tuple[Need, ...]] = ("numbers",)
    population: int = Field(20, ge=2, le=10_000, title="Candidates in a round")
    sigma: float = Field(0.3, gt=0, le=10, title="First spread", description="As a share of each number's range.")
    elites: float = Field(0.5, gt=0, le=1, title="Share that is learnt from")
    noise: float = Field(
        1e-2, ge=0, le=1, title="Added variance, first", description="As a share of each range, squared."
    )
    noise_end: float = Field(1e-5, ge=0, le=1, title="Added variance, in the end")
    tau: float = Field(0.95, ge=0, lt=1, title="How slowly the added variance falls")


class OpenAIESConfig(Steady):
    """OpenAI's evolution strategy (Salimans et al. 2017). For many real numbers, such as network weights."""

    kind: Literal["openai-es"] = "openai-es"
    finds = "best"
    needs: ClassVar[tuple[Need, ...]] = ("numbers",)
    population: int = Field(40, ge=2, le=10_000, multiple_of=2, title="Candidates in a round")
    sigma: float = Field(0.05, gt=0, le=10, title="Spread", description="As a share of each number's range.")
    rate: float = Field(0.02, gt=0, le=10, title="Learning rate", description="As a share of each number's range.")
    optimiser: Literal["adam", "sgd"] = Field("adam", title="How the gradient is followed")
    decay: float = Field(0.0, ge=0, le=1, title="Weight decay")


class PBTConfig(Steady):
    """Population based training (Jaderberg et al. 2017). For evaluations that train."""

    kind: Literal["pbt"] = "pbt"
    finds = "trained"
    leaves = "lineage"
    needs: ClassVar[tuple[Need, ...]] = ("perturb",)
    remeasures: ClassVar[bool] = False
    population: int = Field(20, ge=2, le=10_000, title="Members")
    steady: bool = Field(
        False,
        title="Each member by itself",
        description="No rounds: a member goes on as soon as its step is done. "
        "Faster when steps take unequal time; not reproducible on several workers.",
    )
    ready: int = Field(1, ge=1, le=1_000_000, title="Steps between comparisons")
    exploit: Literal["truncation", "welch", "both"] = Field(
        "both",
        title="When to copy another",
        description="truncation: the lowest copy the highest; welch: a rival that a t-test finds better; "
        "both: one, then the other.",
    )
    share: float = Field(0.2, gt=0, le=0.5, title="Lowest and highest share", description="For truncation.")
    level: float = Field(0.05, gt=0, lt=1, title="p below which a rival is better", description="For Welch's t-test.")
    resample: float = Field(
        0.25,
        ge=0,
        le=1,
        title="Chance that a setting is drawn anew",
        description="The others are multiplied by 0.8 or 1.2.",
    )


class MAPElitesConfig(Breeding):
    """MAP-Elites (Mouret & Clune 2015): quality diversity."""

    kind: Literal["map-elites"] = "map-elites"
    finds = "variety"
    leaves = "grid"
    bins: int = Field(16, ge=1, le=1000, title="Cells in each direction")
    low: tuple[float, ...] = Field(
        (), max_length=6, title="Lower bounds of behaviour", description="Empty: found by the first round."
    )
    high: tuple[float, ...] = Field((), max_length=6, title="Upper bounds of behaviour")
    quality: str = Field(
        "", max_length=40, title="Objective that makes the best of a cell", description="Empty: the first."
    )

    @field_validator("high")
    @classmethod
    def _bounded(cls, high: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        # How many there must be depends on the goals and on behaviour (``engine.config.compatibility``).
        why = "each must be below its upper bound, and {} is not below {}"
        ends = zip(info.data.get("low", ()), high, strict=False)
        refuse([("low", why.format(figures(a), figures(b))) for a, b in ends if a >= b][:1], beside=True)
        return high


AlgorithmConfig = Annotated[
    NSGA2Config
    | RandomConfig
    | GAConfig
    | NSGA3Config
    | AGEMOEAConfig
    | PSOConfig
    | CSOConfig
    | CMAESConfig
    | CEMConfig
    | OpenAIESConfig
    | PBTConfig
    | MAPElitesConfig,
    Field(discriminator="kind"),
]
