"""Learners on a GPU: do they compute what they compute on the processor, and when does it pay?

Needs a GPU that torch can use. ``agrees``: each kind of learner learns from the same decisions on both, from the same
weights on. The row says how far apart the weights are then, as a share of how far they moved; how far apart they are
on the processor alone where the first weights differ by their last bit, since replays and Adam let some learners
diverge from a rounding; whether the GPU gives the same bits again; and whether the processor goes on from a checkpoint
of the GPU. ``speed``: seconds of an update on the
processor, with one thread and with one a core, and on the GPU.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch

from engine.bench.row import row
from engine.catalog import LEARNERS
from engine.channel import Weights
from engine.config import TrainConfig
from engine.config.rl import AnyLearner
from engine.errors import EngineError
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Trajectory, join
from engine.rl.devices import device, on_threads
from engine.rl.learner import BaseLearner, Learner
from engine.rl.sampler import Sampler
from engine.simulators import references
from engine.store import FolderStore
from engine.studies import load
from engine.study.sampler_factory import at_once, seated

NAME = "gpu"
CASES = ("agrees", "speed")
APART, MORE = 0.02, 3.0
"""Most that is allowed: a share of how far the weights moved, or as many times what a rounding does."""
_CPU = torch.device("cpu")
_FEW = {"batch": 1024, "fragment": 32, "minibatch": 256}
_REPLAY = {"warmup": 256, "capacity": 100_000, "updates": 0.05}
_LAYERS = {"policy": [400, 300], "critic": [400, 300]}


class LearnerOfGame(NamedTuple):
    """A game and a learner for it; ``steps``: decisions that it learns from at once."""

    game: str
    learner: dict[str, Any]
    steps: int


AGREES = {
    "ppo": LearnerOfGame("pong", {"preset": "pong-ppo", **_FEW}, 1024),
    "ppo, pictures": LearnerOfGame("image-pong", {"preset": "table3-image-pong", **_FEW}, 1024),
    "ppo, memory": LearnerOfGame("pong", {"preset": "pong-ppo", **_FEW, "network": {"lstm": 32}}, 1024),
    "ppo, numbers": LearnerOfGame("gym:Pendulum-v1", {"preset": "pendulum-ppo", "batch": 1024, "fragment": 32}, 1024),
    "a3c": LearnerOfGame("pong", {"preset": "pong-a3c"}, 512),
    "impala": LearnerOfGame("pong", {"preset": "pong-impala"}, 512),
    "dqn": LearnerOfGame("pong", {"kind": "dqn", **_REPLAY}, 1024),
    "td3": LearnerOfGame("gym:Pendulum-v1", {"preset": "pendulum-td3", **_REPLAY}, 1024),
    "sac": LearnerOfGame("gym:Pendulum-v1", {"preset": "pendulum-sac", **_REPLAY}, 1024),
    "masac": LearnerOfGame("navigation", {"preset": "navigation-masac", **_REPLAY}, 1024),
    "maddpg": LearnerOfGame("navigation", {"preset": "navigation-maddpg", **_REPLAY}, 1024),
    "pdqn": LearnerOfGame("platform", {"preset": "platform-pdqn", **_REPLAY}, 1024),
    "mpdqn": LearnerOfGame("platform", {"preset": "platform-mpdqn", **_REPLAY}, 1024),
    "paddpg": LearnerOfGame("platform", {"preset": "platform-paddpg", **_REPLAY}, 1024),
}
SPEED = {
    "PPO, vector Pong": LearnerOfGame("pong", {"preset": "pong-ppo", "batch": 8192}, 8192),
    "PPO, Table III's football network, vector Pong": LearnerOfGame(
        "pong", {"preset": "table3-gfootball", "minibatch": 8192}, 32768
    ),
    "PPO, image Pong": LearnerOfGame(
        "image-pong", {"preset": "table3-image-pong", "minibatch": 1024, "reuse": 4}, 8192
    ),
    "DQN, vector Pong": LearnerOfGame("pong", {"kind": "dqn", **_REPLAY}, 1024),
    "TD3, layers of 400 and 300": LearnerOfGame(
        "gym:Pendulum-v1", {"preset": "pendulum-td3", **_REPLAY, "network": _LAYERS}, 256
    ),
    "SAC, layers of 400 and 300": LearnerOfGame(
        "gym:Pendulum-v1", {"preset": "pendulum-sac", **_REPLAY, "network": _LAYERS}, 256
    ),
}


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case. Raises EngineError where there is no GPU."""
    on = device()
    if on == _CPU:
        raise EngineError("torch finds no GPU here")
    yield from {"agrees": _agrees, "speed": _speed}[case](on, quick)


def _agrees(on: torch.device, quick: bool) -> Iterator[dict[str, Any]]:
    for name, task in AGREES.items():
        played = decisions(task, 1 if quick else 3)
        here, there, again = (learned(played, each) for each in (_CPU, on, on))
        first = played.learner(_CPU)
        moved = float(np.linalg.norm(here.weights() - first.weights()))
        apart = float(np.linalg.norm(here.weights() - there.weights())) / moved
        rounded = float(np.linalg.norm(learned(played, _CPU, nudged=True).weights() - here.weights())) / moved
        most = max(APART, MORE * rounded)
        same = np.array_equal(there.weights(), again.weights())
        resumed = goes_on(played, there)
        yield row(
            NAME, f"agrees, {name}", apart, "of how far the weights moved", goal=f"<= {most:.2g}",
            meets=apart <= most and same and resumed, seeds=(1,),
            detail=f"{len(played.each)} updates of {task.steps:,} decisions; where first weights differ by a rounding "
            f"{rounded:.2g}; the GPU again: "
            f"{'the same bits' if same else 'OTHER BITS'}; the processor {'goes' if resumed else 'DOES NOT GO'} on "
            "from its checkpoint",
        )  # fmt: skip


class LearnerAndDecisions(NamedTuple):
    """What a learner is made of, and the decisions that it learns from, update by update."""

    seat: SeatSpec
    config: AnyLearner
    each: list[Trajectory]

    def learner(self, on: torch.device) -> Learner:
        """A fresh learner."""
        made: Learner = LEARNERS[self.config.kind].load()(self.seat, self.config, 1, 10**9, on)
        return made


def decisions(task: LearnerOfGame, updates: int) -> LearnerAndDecisions:
    """Decisions of a fresh policy, for so many updates."""
    config = load({"kind": "train", "game": task.game, "learner": task.learner, "steps": 10**9, "environments": 16})
    assert isinstance(config, TrainConfig)
    with tempfile.TemporaryDirectory() as folder:
        game: Any = seated(config, references.make(config.game, 16))
        sampler = at_once(config, game, FolderStore(Path(folder)), 0)
        (policy,) = sampler.policies
        (chosen,) = config.learners.values()
        played = LearnerAndDecisions(sampler.mdp.spec.seats[0], chosen, [])
        _begin(sampler, policy, played.learner(_CPU))
        fragments = -(-task.steps // (16 * sampler.length))
        played.each.extend(join([sampler.sample()[policy] for _ in range(fragments)]) for _ in range(updates))
        sampler.mdp.close()
    return played


def _begin(sampler: Sampler, policy: str, learner: Learner) -> None:
    sampler.load(Weights(policy, 0, 0, 0, learner.publish()))
    sampler.begin()


def learned(played: LearnerAndDecisions, on: torch.device, *, nudged: bool = False) -> Learner:
    """A learner after all updates; ``nudged``: from weights that differ in their last bit."""
    learner = played.learner(on)
    if nudged:
        assert isinstance(learner, BaseLearner)
        with torch.no_grad():
            learner.theta.mul_(1 + 2**-23)
    with on_threads(1):
        for trajectory in played.each:
            learner.update(trajectory)
    return learner


def goes_on(played: LearnerAndDecisions, before: Learner) -> bool:
    """Whether a learner on the processor takes over, and learns."""
    after = played.learner(_CPU)
    after.load(before.state())
    if not np.array_equal(after.weights(), before.weights()):
        return False
    with on_threads(1):
        metrics = after.update(played.each[0])
    return bool(np.isfinite(list(metrics.values())).all() and np.isfinite(after.weights()).all())


def _speed(on: torch.device, quick: bool) -> Iterator[dict[str, Any]]:
    cores = len(os.sched_getaffinity(0))
    for name, task in SPEED.items():
        played = decisions(task, 1)
        turns = 1 if quick else 5
        gpu = seconds(played, on, 1, 5)
        one, all_cores = (seconds(played, _CPU, threads, turns) for threads in (1, cores))
        yield row(
            NAME, f"speed, {name}", 1000 * gpu, "ms an update on the GPU", peer=f"processor, {cores} threads",
            peer_value=1000 * all_cores, seeds=(1,),
            detail=f"{played.each[0].steps:,} decisions; one thread {1000 * one:.1f} ms, {one / gpu:.1f} times as long "
            f"as the GPU, all {all_cores / gpu:.1f} times; {torch.cuda.get_device_name(on)}",
        )  # fmt: skip


def seconds(played: LearnerAndDecisions, on: torch.device, threads: int, turns: int) -> float:
    """Median seconds of an update."""
    learner, found = played.learner(on), []
    with on_threads(threads):
        for _ in range(turns + 1):
            began = time.perf_counter()
            learner.update(played.each[0])
            learner.weights()  # comes from the GPU, so all work is done
            found.append(time.perf_counter() - began)
    return median(found[1:])
