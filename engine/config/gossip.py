"""Training by several agents that mix what they learn with their neighbours' (``engine.rl.gossip``), as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, field_validator

from engine.config.base import Shown
from engine.config.learners import A3CLearner
from engine.config.rl import A3CConfig
from engine.config.train import OneTraining, RarelyMinutes, TrainConfig, TrainPool

Topology = Literal["ring", "exponential", "bipartite", "full", "tree"]
MOST = 64
"""Agents of one study: each tells all others how to reach it."""


class GossipConfig(OneTraining):
    """Train one policy by several agents, each with battles of its own."""

    kind: Literal["gossip"] = "gossip"
    name: Shown = Field("training side by side", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    learner: A3CLearner = Field(default_factory=A3CConfig, title="Learner", description="of each agent")
    agents: int = Field(
        4, le=MOST, title="Agents", description="learners, each with battles and a processor of its own"
    )
    topology: Topology = Field(
        "ring",
        title="Who mixes with whom",
        description="ring: each takes from the one before; exponential: from those 1, 2, 4, … before; bipartite: two "
        "groups that exchange with each other; full: everybody with everybody; tree: with the one above and below",
    )
    staleness: int | None = Field(
        0,
        ge=0,
        le=10**6,
        title="Updates that an agent may go on without its neighbours",
        description="0: it waits for them at each update, reproducible (PALA); empty: it never waits (GALA)",
    )
    ordered: bool = Field(
        True,
        title="Each message is read once",
        description="false: agents mix at each update with whatever they were sent last, read or not; for comparisons",
    )
    steps: int = Field(1_000_000, ge=1, le=10**12, title="Decisions", description="to learn from, of all agents")
    minutes: RarelyMinutes = 0
    environments: int = Field(16, ge=1, le=100_000, title="Battles that each agent plays together")
    checkpoint_every: int = Field(
        0, ge=0, le=10**12, title="Decisions in a round", description="of all agents; 0: a fortieth of all"
    )
    evaluate_every: int = Field(
        10, ge=0, le=10**6, title="Rounds between evaluations", description="0: at the end only"
    )
    episodes: int = Field(100, ge=2, le=100_000, title="Fresh episodes of an evaluation")
    pool: TrainPool = Field(default_factory=TrainPool)

    @field_validator("agents")
    @classmethod
    def _several(cls, agents: int) -> int:
        if agents < 2:
            raise ValueError("one agent has nobody to mix with: give 2 or more, or start a training of kind train")
        return agents

    def _misfits(self) -> Iterator[tuple[str, str]]:
        if self.learner.normalise_observations:
            why = "each agent would scale observations in its own way, and what they learned could not be mixed"
            yield "learner.normalise_observations", f"{why}: switch this off"
        if self.learner.scale_rewards:
            why = "each agent would learn in units of its own, and what they learned could not be mixed"
            yield "learner.scale_rewards", f"{why}: switch this off"
        if not self.ordered and self.staleness is not None:
            yield "staleness", "agents that read without order never wait: leave this empty, or set ordered to true"
        if self.steps < self.together:
            why = f"the agents learn from {self.together:,} decisions in their first update: give as many at least"
            yield "steps", why
        yield from self.learner.misfits(self.steps, self.update, synchronous=True)

    @property
    def repeats(self) -> bool:
        """As for every study, if agents wait for their neighbours."""
        return super().repeats and self.waits

    @property
    def waits(self) -> bool:
        """Whether agents wait for their neighbours at each update, so that the study is reproducible."""
        return self.staleness == 0

    @property
    def fragments(self) -> int:
        """Fragments of its battles that an agent learns from in an update."""
        return max(1, -(-self.learner.least_batch // (self.environments * self.learner.fragment)))

    @property
    def update(self) -> int:
        """Decisions in an agent's update."""
        return self.fragments * self.environments * self.learner.fragment

    @property
    def together(self) -> int:
        """Decisions of one update of every agent."""
        return self.agents * self.update

    @property
    def updates(self) -> int:
        """Updates of each agent in all."""
        return -(-self.steps // self.together)

    @property
    def every(self) -> int:
        """Updates of each agent in a round."""
        asked = self.checkpoint_every
        return -(-asked // self.together) if asked else max(1, round(self.steps / 40 / self.together))

    @property
    def of_a_battle(self) -> int:
        """Decisions of each battle in a round."""
        return self.every * self.fragments * self.learner.fragment

    @property
    def ticks(self) -> int:
        """Rounds. The last one has what is left over, too: alone that would be too short for episodes to end, and for
        its numbers to say anything."""
        return max(1, self.updates // self.every)

    def updates_after(self, tick: int) -> int:
        """Updates of each agent at the end of a round, the first one's number being 1."""
        return self.updates if tick >= self.ticks else tick * self.every

    @property
    def training(self) -> TrainConfig:
        """The training that a single learner with all these battles would be: its game, learner and evaluations."""
        return TrainConfig(
            name=self.name, seed=self.seed, game=self.game, learner=self.learner, start=self.start, steps=self.steps,
            samplers=self.agents, environments=self.environments, evaluate_every=self.evaluate_every,
            episodes=self.episodes, pool=self.pool,
        )  # fmt: skip
