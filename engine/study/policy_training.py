"""A policy in training: its learner, the fragments that wait for it, and its learning curve."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from engine.arrays import Bundle
from engine.config.train import TrainConfig
from engine.errors import ConfigError
from engine.mdp.trajectory import join
from engine.rl.collector import Arrival
from engine.rl.factory import gives_gradients
from engine.rl.learner import Learner, Metrics, State
from engine.study.curve import PolicyCurve


class Portion(NamedTuple):
    """What a policy learns from at a time. ``need``: fragments in a batch, and no more are held; ``waiting``: samplers
    wait for each update; ``gradients``: what arrives are gradients, each a batch of its own; ``most``: updates after
    which data is too old to learn from (0: never, as where it is replayed)."""

    need: int
    waiting: bool
    gradients: bool
    most: int


def portion(config: TrainConfig, name: str) -> Portion:
    """That of one policy: equally many fragments from each sampler in synchronous training, otherwise the first to
    arrive."""
    learner, waiting = config.learners[name], config.sampling == "synchronous"
    gradients = gives_gradients(learner, config.sampling)
    if waiting:
        need = config.samplers * config.fragments
    else:
        need = 1 if gradients else max(1, -(-learner.least_batch // config.fragment_of(name)))
    return Portion(need, waiting, gradients, 0 if learner.replays else config.max_staleness)


class PolicyTraining:
    """``kept``: others play against what it was at the ends of earlier rounds; ``snapshots``: store hashes of the
    descriptions of these."""

    def __init__(
        self, name: str, portion: Portion, learner: Learner, curve: PolicyCurve, *, kept: bool = False
    ) -> None:
        self.name, self.portion, self.learner, self.curve, self.kept = name, portion, learner, curve, kept
        self.snapshots: list[str] = []
        self.held: list[Arrival] = []

    @property
    def need(self) -> int:
        """Fragments in a batch."""
        return self.portion.need

    def hold(self, arrival: Arrival, epoch: int) -> None:
        """Keep a fragment for a batch; synchronous training accepts only those made with the current weights."""
        if not self.portion.waiting or (arrival.epoch, arrival.version) == (epoch, self.learner.version):
            self.held.append(arrival)

    def batch(self) -> list[Arrival]:
        """The fragments of the next update, or none until they are complete."""
        if most := 0 if self.portion.waiting else self.portion.most:
            oldest = self.learner.version + 1 - most
            fresh = [arrival for arrival in self.held if arrival.work.oldest >= oldest]
            self.curve.totals["dropped"] += len(self.held) - len(fresh)
            self.held = fresh
        if len(self.held) < self.need:
            return []
        batch, self.held = self.held[: self.need], self.held[self.need :]
        return sorted(batch, key=lambda arrival: (arrival.number, arrival.place)) if self.portion.waiting else batch

    def learn(self, batch: list[Arrival]) -> None:
        """One update."""
        steps, began = self.learner.steps, time.process_time()
        metrics = self._learned([arrival.work for arrival in batch])
        self.curve.learned(batch, metrics, self.learner.steps - steps, time.process_time() - began)

    def _learned(self, batch: list[Any]) -> Metrics:
        """Update from stacked trajectories, or by the one gradient of a sampler."""
        return self.learner.apply(batch[0]) if self.portion.gradients else self.learner.update(join(batch))

    def parts(self) -> State:
        """Its complete state, in parts named ``learner/NAME``, ``normaliser/NAME`` and so on."""
        own = {"curve": Bundle(self.curve.state() | {"snapshots": self.snapshots}, {})}
        return {f"{part}/{self.name}": bundle for part, bundle in {**self.learner.state(), **own}.items()}

    def load(self, parts: State) -> None:
        """Continue from the parts in a checkpoint. Raises ConfigError when they are not those of this version."""
        found = {key.rpartition("/")[0]: part for key, part in parts.items()}
        if found.keys() != (known := {*self.learner.state(), "curve"}):
            unknown, missing = sorted(found.keys() - known), sorted(known - found.keys())
            said = [f"has a part {part}/{self.name} that this learner does not know" for part in unknown]
            said += [f"lacks the part {part}/{self.name}" for part in missing]
            raise ConfigError([("resume", f"this checkpoint {why}: start the study anew") for why in said])
        curve = found.pop("curve").meta
        self.curve.load(curve)
        self.snapshots, self.held = list(curve["snapshots"]), []
        self.learner.load(found)
