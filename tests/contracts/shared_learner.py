"""Evolved players whose evaluations stream what they did to one learner, in small."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence

import numpy as np

from engine.arrays import Bundle
from engine.channel import Streamed, Weights
from engine.config.rl import DQNConfig, NetworkConfig
from engine.evolution.nsga2 import NSGA2
from engine.evolution.operators import RealSpace
from engine.mdp.trajectory import Trajectory
from engine.problem import Evaluation, Genome, Objective, Problem, Request, ShouldStop
from engine.rl.devices import on_threads
from engine.rl.factory import make_learner, policy_spec
from engine.rl.sampler import Sampler
from engine.runtime.pool import Pool
from engine.store import Store
from engine.study import checkpoint
from tests.engine.counting import CountConfig
from tests.engine.rl_game import Signals

LEARNER = DQNConfig(
    network=NetworkConfig(policy=(8,), critic=(8,)), fragment=8, warmup=100, minibatch=32, updates=0.1, discount=0.5,
    rewards={"still": {"weight": 0.0}},
)  # fmt: skip
POPULATION, ROUNDS, FRAGMENTS, BATTLES = 6, 4, 5, 4
EXPLORATION = 0.1


class Players:
    """The genome is a Q-network's weights; what counts is how often it does what the signal says."""

    def __init__(self, pause_s: float = 0.0) -> None:
        self.pause_s = pause_s
        self.model = policy_spec(LEARNER, Signals().spec.seats[0]).model()
        bound = np.ones(self.model.network.size)
        self.space = RealSpace(-bound, bound)

    def describe(self) -> Problem:
        return Problem(self.space, (Objective("hits", "Hits"),))

    def initialize(self, rng: np.random.Generator) -> Genome:
        return self.space.sample(rng, 1)[0]

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation | Streamed]:
        for request in requests:
            hits = 0.0
            for fragment in self.played(request):
                yield Streamed(fragment.encode(), request.id)
                hits += float(fragment.rewards[:, :, 0].mean()) / FRAGMENTS
                time.sleep(self.pause_s)
                if should_stop():
                    return
            yield Evaluation(request.id, np.array([hits]), np.zeros((1, 1)), FRAGMENTS, np.empty(0))

    def played(self, request: Request) -> Iterator[Trajectory]:
        """What a candidate does depends on its genome, its id and the seed."""
        sampler = Sampler(Signals(), {"agent": self.model}, BATTLES, LEARNER.fragment, request.seed)
        vector = np.append(request.genome, EXPLORATION).astype(np.float32)
        sampler.load(Weights("agent", 0, 0, 0, {"actor": vector}))
        sampler.begin(request.id)
        return (sampler.sample()["agent"] for _ in range(FRAGMENTS))


def build(payload: bytes) -> Players:
    """What an actor runs."""
    return Players(json.loads(payload)["pause_s"])


class Study:
    """Breeds players, and after each round learns from what they did, in the order in which they were proposed."""

    def __init__(self) -> None:
        self.search = NSGA2(Players().describe(), POPULATION, ROUNDS, seed=1)
        steps = POPULATION * ROUNDS * FRAGMENTS * BATTLES * LEARNER.fragment
        self.learner = make_learner(LEARNER, Signals().spec.seats[0], 1, steps)
        self.heard: dict[int, list[Trajectory]] = {}
        self.tick = 0

    def listen(self, pool: Pool) -> bool:
        """Take what has come; whether that completed the round."""
        if asked := self.search.ask(pool.room):
            pool.submit(asked)
        over = [self.search.tell(evaluation) for evaluation in pool.finished(0.1)]
        for one in pool.gather(0.0, 1000):
            self.heard.setdefault(one.request, []).append(Trajectory.decode(one.frames)[0])
        return any(over)

    def round(self, pool: Pool) -> None:
        """One generation, and the learner's lesson from it."""
        while not self.listen(pool):
            pass
        assert [len(fragments) for fragments in self.heard.values()] == POPULATION * [FRAGMENTS]
        with on_threads(1):
            for _, fragments in sorted(self.heard.items()):
                for fragment in fragments:
                    self.learner.update(fragment)
        self.heard, self.tick = {}, self.tick + 1

    def save(self, store: Store) -> str:
        """A checkpoint."""
        parts: dict[str, Bundle] = checkpoint.named("search", self.search.state())
        return checkpoint.write(CountConfig(), self.tick, parts | checkpoint.named("dqn", self.learner.state()), store)

    @classmethod
    def load(cls, digest: str, store: Store) -> Study:
        """A study that goes on from a checkpoint."""
        saved, study = checkpoint.read(CountConfig(), digest, store), cls()
        study.search.load(saved.below("search"))
        study.learner.load(saved.below("dqn"))
        study.tick = saved.tick
        return study
