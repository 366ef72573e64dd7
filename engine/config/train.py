"""Training studies as data: the game, the learner, the samplers, the length of training and its evaluations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from engine.config import agent_games
from engine.config.base import Config, Shown, Study, refuse
from engine.config.genes import OpenSetting, express, genes
from engine.config.learners import Learner
from engine.config.limits import LimitsConfig
from engine.config.policies import (
    AGENT,
    ONE_NUMBER,
    LearningConfig,
    PolicyConfig,
    PolicyName,
    StoredPolicy,
    expected_seats,
    misnamed,
)
from engine.config.rl import AnyLearner, PPOConfig
from engine.errors import ConfigError

Setting = Annotated[bool | int | float | str | tuple[str, ...], OpenSetting(-1e15, 1e15)]


_CARTPOLES = ("cartpole", *(f"{kind}:CartPole-v{v}" for kind in ("gym", "gymnasium") for v in (0, 1)))


class TrainGame(Config):
    """Which game: one of ``engine.catalog.GAMES``, ``cartpole``, ``pendulum``, or any reference: ``gym:ID``,
    ``ale:NAME``, ``python:module:factory``, ``command:program …``."""

    name: str = Field(min_length=1, max_length=500, title="Game", description="Such as pong or gym:Pendulum-v1.")
    settings: dict[str, Setting] = Field(default_factory=dict, title="Settings of the game")
    limits: LimitsConfig | None = Field(
        None, title="Limits of players", description="reaction delay and pace of everybody who learns in it",
        exclude_if=lambda limits: limits is None,  # keeps the hash of studies without them
    )  # fmt: skip

    @property
    def least_return(self) -> float:
        """Lower bound of an episode's return; minus infinity where unknown. CartPole, unmodified, gives 1 for each
        move; other games declare no bound."""
        return 0.0 if self.name in _CARTPOLES and not self.settings else -math.inf

    @model_validator(mode="after")
    def _known(self) -> Self:
        refuse(dict(self._misfits()).items())
        return self

    def _misfits(self) -> Iterator[tuple[str, str]]:
        """Invalid settings of a built-in game; of a range both ends are checked."""
        if ranges := genes(self):
            for ends in ({g.place: g.low for g in ranges}, {g.place: g.high for g in ranges}):
                try:
                    express(self, ends)
                except ConfigError as error:
                    yield from ((p.place, p.message) for p in error.problems)
            return
        for name, why in agent_games.problems(self.name, self.settings):
            yield f"settings.{name}", why


def _named(given: Any) -> Any:
    """Expands a game that is given by its name alone."""
    return {"name": given} if isinstance(given, str) else given


Game = Annotated[TrainGame, BeforeValidator(_named)]


class TrainPool(Config):
    """Where samplers run."""

    kind: Literal["ray", "local"] = Field("ray", title="Samplers", description="ray: Ray actors; local: this process.")
    address: str = Field(
        "", max_length=200, title="Ray address", description="Empty: EQUIPOISE_RAY_ADDRESS, or a Ray of its own."
    )
    layout: Literal["tree", "flat"] = Field(
        "tree", title="How weights travel between hosts", description="flat: the learner sends to every host itself."
    )

    def processes(self, workers: int) -> int:
        """How many so many workers have; in this process they take turns."""
        return workers if self.kind == "ray" else 1


Beginning = Annotated[
    StoredPolicy,
    Field(
        title="Trained policy to begin with",
        description="store hash of its description, or on the command line a folder with its two files; the network "
        "may be larger, and the game may show and allow more; empty: a new network",
        exclude_if=lambda start: not start,  # keeps the hash of studies without one
    ),
]
Minutes = Annotated[
    float,
    Field(
        ge=0,
        le=525_600,
        title="Minutes",
        description="of training, whichever is over first; 0: no limit; where the clock ends it is not reproducible",
    ),
]
RarelyMinutes = Annotated[Minutes, Field(exclude_if=lambda minutes: not minutes)]
"""The same, of studies whose hash was without it at first."""


class OneTraining(Study):
    """A training, none of whose settings is a range; ``_misfits`` says which of them do not go together."""

    no_ranges = "this is one training; a study of kind evolve searches the settings of its task"
    game: Game
    start: Beginning = ""

    @field_validator("game", "learner", check_fields=False)
    @classmethod
    def _settled(cls, given: Config) -> Config:
        refuse((gene.place, ONE_NUMBER) for gene in genes(given))
        return given

    @model_validator(mode="after")
    def _fits(self) -> Self:
        refuse(self._misfits())
        return self

    def _misfits(self) -> Iterator[tuple[str, str]]:
        yield from ()

    @property
    def starts(self) -> dict[str, tuple[str, str]]:
        """(place, store hash) of the policies that begin with a trained one, by name."""
        return {AGENT: ("start", self.start)} if self.start else {}


class TrainConfig(OneTraining):
    """Train one policy on the game's only seat, or those of ``policies`` that learn."""

    kind: Literal["train"] = "train"
    name: Shown = Field("training", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    learner: Learner = Field(default_factory=PPOConfig, title="Learner")
    policies: dict[PolicyName, PolicyConfig] = Field(
        default_factory=dict,
        max_length=200,
        title="Policies",
        description="by name; none: one that learns, for the only seat",
    )
    steps: int = Field(1_000_000, ge=1, le=10**12, title="Decisions", description="to learn from")
    minutes: Minutes = 0
    samplers: int = Field(2, ge=1, le=4096, title="Samplers", description="each plays on a processor of its own")
    environments: int = Field(16, ge=1, le=100_000, title="Battles that each sampler plays together")
    sampling: Literal["synchronous", "asynchronous"] = Field(
        "synchronous",
        title="Sampling",
        description="synchronous: samplers wait for each update, reproducible; asynchronous: nobody waits, faster.",
    )
    max_staleness: int = Field(
        8, ge=0, le=10**6, title="Oldest data learned from", description="updates behind; 0: any; synchronous: 1"
    )
    checkpoint_every: int = Field(
        0,
        ge=0,
        le=10**12,
        title="Decisions in a round",
        description="0: a fortieth of all, longer if need be; in step all battles begin afresh at its end, and "
        "episodes under way are cut off, uncounted: make it several episodes of every battle",
    )
    evaluate_every: int = Field(
        10, ge=0, le=10**6, title="Rounds between evaluations", description="0: at the end only"
    )
    episodes: int = Field(100, ge=2, le=100_000, title="Fresh episodes of an evaluation")
    threads: int = Field(1, ge=1, le=256, title="Processor threads of the learner")
    pool: TrainPool = Field(default_factory=TrainPool)

    def _misfits(self) -> Iterator[tuple[str, str]]:
        if wrong := list(self._ill_cast()) if self.policies else []:
            yield from wrong
            return
        if self.policies and self.start:
            yield "start", "there are several policies: say it at the one that begins so, such as policies.red.start"
        if self.each > 2 * 10**9:
            yield (
                "environments",
                "samplers × environments × fragment is more than two thousand million decisions an update",
            )
        synchronous = self.sampling == "synchronous"
        for policy, learner in self.learners.items():
            together = self.fragment_of(policy) * (self.samplers if synchronous else 1)
            found = learner.misfits(self.steps, together, synchronous=synchronous)
            yield from ((f"{self.place_of(policy)}.{place}", why) for place, why in found)

    def _ill_cast(self) -> Iterator[tuple[str, str]]:
        """Problems of the table of policies."""
        yield from misnamed(self.policies)
        for name, policy in self.policies.items():
            yield from ((f"policies.{name}.{place}", why) for place, why in policy.misfits(self.policies))
        if not self.learners:
            yield "policies", "none of them learns"
        yield from self._ill_grouped()
        for seat in range(self.seats):
            if not any(seat in policy.seats and policy.share for policy in self.policies.values()):
                yield "policies", f"nobody sits on seat {seat}: name a policy for it"
        if len({learner.fragment for learner in self.learners.values()}) > 1:
            yield "policies", "they play the same battles: give their learners fragments of the same length"

    def _ill_grouped(self) -> Iterator[tuple[str, str]]:
        """Policies that share some of a group's seats."""
        for group in (group for group in self.groups if len(group) > 1):
            for name, policy in self.policies.items():
                if set(policy.seats) & set(group) and set(policy.seats) != set(group):
                    seats = ", ".join(map(str, group))
                    yield f"policies.{name}.seats", f"seats {seats} are steered together: name all of them, or none"

    def steers(self, policy: str) -> bool:
        """Whether a policy steers its seats as one group."""
        return getattr(self.policies[policy], "together", False) or (
            policy in self.learners and self.learners[policy].together
        )

    @property
    def repeats(self) -> bool:
        """As for every study, if samplers wait for each update."""
        return super().repeats and self.sampling == "synchronous"

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The seats that are steered as one, in the order of their first ones; most often each seat for itself."""
        together = dict.fromkeys(self.policies[name].seats for name in self.policies if self.steers(name))
        taken = {seat for group in together for seat in group}
        return tuple(sorted([*together, *((s,) for s in range(self.seats) if s not in taken)], key=min))

    def places(self, policy: str) -> tuple[int, ...]:
        """Which of ``groups`` a policy may sit on."""
        seats = set(self.policies[policy].seats)
        return tuple(i for i, group in enumerate(self.groups) if seats.intersection(group))

    @property
    def learners(self) -> dict[str, AnyLearner]:
        """The learner of each policy that learns, by the policy's name."""
        if not self.policies:
            return {AGENT: self.learner}
        learning = {name: p for name, p in self.policies.items() if isinstance(p, LearningConfig)}
        return {name: policy.learner or self.learner for name, policy in learning.items()}

    def place_of(self, policy: str) -> str:
        """The place of a policy's learner."""
        own = getattr(self.policies.get(policy), "learner", None)
        return "learner" if own is None else f"policies.{policy}.learner"

    @property
    def starts(self) -> dict[str, tuple[str, str]]:
        if not self.policies:
            return super().starts
        given = {name: getattr(policy, "start", "") for name, policy in self.policies.items()}
        return {name: (f"policies.{name}.start", start) for name, start in given.items() if start}

    def against(self, policy: str) -> tuple[str, ...]:
        """The opponents of a policy's evaluations; "": drawn as in training."""
        return getattr(self.policies.get(policy), "against", ()) or ("",)

    @property
    def seats(self) -> int:
        """Number of seats for policies."""
        return 1 + max((seat for policy in self.policies.values() for seat in policy.seats), default=0)

    def fragment_of(self, policy: str) -> int:
        """Decisions of a policy in one fragment of one sampler's battles, on average; a group's are one decision."""
        seats = 1.0
        if self.policies:
            firsts = [group[0] for group in self.groups]
            named = self.policies.items()
            drawn = [[(n, p.share, p.learns) for n, p in named if seat in p.seats and p.share] for seat in firsts]
            seats = expected_seats(drawn, policy)
        return max(1, round(self.environments * self.learners[policy].fragment * seats))

    def steps_of(self, policy: str) -> int:
        """Approximate number of steps that a policy learns from."""
        return max(1, self.steps * self.samplers * self.fragment_of(policy) // self.each)

    @property
    def each(self) -> int:
        """Decisions to learn from in one fragment from every battle of every sampler."""
        return self.samplers * sum(self.fragment_of(policy) for policy in self.learners)

    @property
    def learning_seats(self) -> int:
        """Seats of a battle whose decisions are learned from, on average; a group's are one."""
        fragment = max(learner.fragment for learner in self.learners.values())
        return max(1, round(self.each / (self.samplers * self.environments * fragment)))

    @property
    def update(self) -> int:
        """Decisions in the batches of one update, when samplers wait for each other."""
        return self.fragments * self.each

    @property
    def fragments(self) -> int:
        """Fragments of each sampler in a batch; the maximum over several learners, because all learn at the same
        time."""
        return max(
            max(1, -(-learner.least_batch // (self.samplers * self.fragment_of(policy))))
            for policy, learner in self.learners.items()
        )

    @property
    def every(self) -> int:
        """Steps in a round; at least one update."""
        return max(self.checkpoint_every or self.steps // 40, self.update)

    @property
    def ticks(self) -> int:
        """Rounds of the whole training."""
        return -(-self.steps // self.every)
