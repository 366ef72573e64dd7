"""The evaluator of evolution with a shared critic: plays individuals, lets them learn, and teaches the critic.

A request's genome is the weights θ of a policy; its context's role says what is done:

=========  ========================================================================================  ==========
role       what                                                                                      artifacts
=========  ========================================================================================  ==========
start      plays an episode by chance                                                                played
es         plays an episode of θ, with noise where the method has it                                 played
rl         moves θ along the critic's gradient, with a fresh Adam, then plays it, with noise         learnt,
                                                                                                     played
centre     plays an episode of θ without noise                                                       played
measure    plays episodes of θ without noise, of which nothing is kept
examine    the same, on seeds that nothing else is played with
critic     lets the critics learn, θ being the policy of their targets                               critic
agent      lets an agent learn by TD3: its policy, targets and critics                               critic,
                                                                                                     learnt
=========  ========================================================================================  ==========

Minibatches come from the study's replay, which all workers of its machine map into memory. Where nobody waits, workers
write into it what they played, and no artifact ``played`` is made; where one waits for all, only the study writes, in
the order of its requests. An answer depends on the request, the study's seed and what the replay held.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from msgspec.structs import replace
from numpy.typing import NDArray

from engine.arrays import pack, unpack
from engine.config.aesrl import AESRLConfig
from engine.errors import Cancelled, ConfigError, below
from engine.evorl.rollout import Rollout, rollout
from engine.mdp.interface import Continuous, SeatSpec
from engine.problem import (
    Capabilities,
    Evaluation,
    Genome,
    IndividualContext,
    Objective,
    Problem,
    Request,
    ShouldStop,
    of_kind,
)
from engine.rl.devices import on_threads
from engine.rl.examine import examination_seeds
from engine.rl.learner import Metrics, averaged
from engine.rl.learner import below as named_below
from engine.rl.optimisers import Adam
from engine.rl.policy import Actor
from engine.rl.shared_replay import SharedReplay
from engine.rl.td3 import TD3
from engine.rng import battle_seeds, generator
from engine.simulators import references
from engine.simulators.conversation import never
from engine.store import Artifacts, Lease
from engine.stores import leased
from engine.studies import load

F32 = NDArray[np.float32]
PLAYED, LEARNT, CRITIC = "played", "learnt", "critic"
"""Roles among an answer's artifacts: transitions as columns of the replay; a policy's weights; critics."""
METRICS = ("began", "busy", "learning", "critic_loss", "q")
"""When work on a request began (Unix time), its seconds in all, those of learning; of the critic, means over its
minibatches (NaN otherwise)."""
_MATCH = 0xAE5
"""The match key of individuals' episodes."""
_KEPT = ("start", "es", "rl", "centre")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_LOOK = 16
"""Minibatches between two looks whether to stop."""


class SharedTD3(TD3):
    """TD3 whose critics serve the policies of many."""

    def minibatch(self) -> Metrics:
        """Learn from one minibatch, as TD3 does."""
        return self._minibatch()

    def critics_state(self) -> dict[str, NDArray[Any]]:
        """φ and φ', and the critics' optimiser."""
        own = {f"optimiser.{name}": value for name, value in self.critic_optimiser.state().items()}
        return {"phi": self.critic_weights(), **own}

    def take_critics_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        """The inverse of ``critics_state``."""
        self.take_critics(arrays["phi"])
        self.critic_optimiser.load(named_below("optimiser", arrays))

    def agent_state(self) -> dict[str, NDArray[Any]]:
        """All of TD3 that learns."""
        own = {f"actor.{name}": value for name, value in self.optimiser.state().items()}
        theta = torch.stack([self.theta.detach(), self.theta_target]).cpu().numpy()
        return {**self.critics_state(), **own, "theta": theta, "learned": np.array(self.learned)}

    def take_agent_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        """The inverse of ``agent_state``."""
        self.take_critics_state(arrays)
        self.optimiser.load(named_below("actor", arrays))
        theta = torch.from_numpy(np.array(arrays["theta"])).to(self.device)
        with torch.no_grad():
            self.theta.copy_(theta[0])
            self.theta_target.copy_(theta[1])
        self.learned = int(arrays["learned"])


def made(config: AESRLConfig, seat: SeatSpec) -> SharedTD3:
    """The learner of a study, in its first state. Raises ConfigError where it does not suit the game."""
    if not isinstance(seat.action, Continuous):
        why = "one chooses among actions in this game, and here every action is made of numbers; train in it instead"
        raise ConfigError([("game.name", why)])
    with below("learner"):
        return SharedTD3(seat, config.learner, config.seed, config.steps)


class Weights:
    """The space of an evaluator that is asked for weights only."""

    def __init__(self, learner: SharedTD3) -> None:
        self.learner, self.can = learner, Capabilities()

    def sample(self, rng: np.random.Generator, n: int) -> Genome:
        """First weights of policies."""
        return np.stack([self.learner.model.network.initial(rng) for _ in range(n)])

    def keys(self, genomes: Genome) -> NDArray[np.uint64]:
        """Hashes of their bytes."""
        return np.array([hash(genome.tobytes()) & 0xFFFFFFFFFFFFFFFF for genome in genomes], np.uint64)


class IndividualEvaluator:
    """``store``: where artifacts are put and found; ``replay``: the file of the replay; ``writes``: whether what is
    played goes into it at once."""

    def __init__(
        self, config: AESRLConfig, store: Artifacts, replay: Path, writes: bool, should_stop: ShouldStop = never
    ) -> None:  # fmt: skip
        self.config, self.store, self.writes = config, store, writes
        self.game = references.make_for_one(config.game, 1, should_stop)
        self.learner = made(config, self.game.spec.seats[0])
        self.replay = SharedReplay(replay, config.learner.capacity, np.random.default_rng())
        self.learner.replay = self.replay
        self.first = {"critic": self.learner.critics_state(), "agent": self.learner.agent_state()}
        self.problem = Problem(
            Weights(self.learner), (Objective("return", "Return", "max"),), METRICS, noun="individual"
        )

    def describe(self) -> Problem:
        return self.problem

    def initialize(self, rng: np.random.Generator) -> Genome:
        return np.asarray(self.problem.space.sample(rng, 1)[0])

    def close(self) -> None:
        """Close the game and let go of the replay."""
        self.game.close()
        self.replay.close()

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation]:
        """Each by itself, on one thread."""
        for request in requests:
            with on_threads(1):
                try:
                    answer = self._answer(request, should_stop)
                except Cancelled:
                    return
            yield answer

    def _answer(self, request: Request, should_stop: ShouldStop) -> Evaluation:
        context, began, at = of_kind(request.context, IndividualContext), time.time(), time.perf_counter()
        self.learner.rng = self.replay.rng = generator(self.config.seed, "individual", request.id)
        artifacts, theta, found = dict[str, str](), np.asarray(request.genome, np.float32), Metrics()
        if context.minibatches:
            theta, found = self._learned(theta, request.id, context, artifacts, should_stop)
        learning = time.perf_counter() - at
        played = [] if context.role in ("critic", "agent") else self._played(theta, request, context.role, should_stop)
        if context.role in _KEPT:
            self._keep(request.id, played, artifacts)
        returns = np.array([float(each.rewards @ self.learner.terms.weight) for each in played])
        times = (began, time.perf_counter() - at, learning)
        losses = (found.get("critic_loss", np.nan), found.get("q", np.nan))
        return Evaluation(
            request.id, np.array([returns.mean() if played else 0.0]), np.zeros((1, 1)), len(played),
            np.array([*times, *losses]), cost=sum(each.length for each in played),
            context=replace(context, artifacts=artifacts), values=returns[:, None],
        )  # fmt: skip

    def _played(self, theta: F32, request: Request, role: str, should_stop: ShouldStop) -> list[Rollout]:
        """The request's episodes."""
        noise = 1.0 if role == "start" else self.config.learner.explore if role in self.config.method.noisy else 0.0
        actor = Actor(self.learner.model)
        actor.load(np.concatenate([theta, [np.float32(noise)]]).astype(np.float32), 0)
        seeds = self._seeds(request, role)
        return [rollout(self.game, actor, int(seed), self.config.longest, should_stop) for seed in seeds]

    def _seeds(self, request: Request, role: str) -> NDArray[np.uint64]:
        count = request.last - request.first
        if role == "examine":
            return examination_seeds(self.config.seed, request.first, count)
        match = np.array([_MATCH + request.id], np.uint64)
        return np.asarray(battle_seeds(self.config.seed, match, 0, count)[0])

    def _keep(self, request: int, played: Sequence[Rollout], artifacts: dict[str, str]) -> None:
        """Put the transitions into the replay, or among the artifacts. Who reads those removes them, so of two who
        played alike each leaves its own."""
        each = [self.learner.transitions(rollout.trajectory) for rollout in played]
        columns = {name: np.concatenate([one[name] for one in each]) for name in each[0]}
        if self.writes:
            self.replay.add(columns)
        else:
            artifacts[PLAYED] = self.store.put(pack({"request": request}, columns))

    def _learned(
        self, theta: F32, request: int, context: IndividualContext, artifacts: dict[str, str], should_stop: ShouldStop
    ) -> tuple[F32, Metrics]:
        """The policy after learning; puts what was learned among the artifacts."""
        agent = context.role == "agent"
        if context.critic:
            before = unpack(self.store.get(context.critic)).arrays
        else:  # an agent begins with the policy that it is asked with, which may be a saved one
            before = {**self.first["agent"], "theta": np.stack([theta, theta])} if agent else self.first["critic"]
        self.learner.take_agent_state(before) if agent else self.learner.take_critics_state(before)
        moving = torch.from_numpy(np.array(theta)).to(self.learner.device)
        steps = {"rl": self._climb, "critic": self._teach, "agent": self._train}[context.role](moving)
        gathered = []
        for k in range(context.minibatches):
            if k % _LOOK == 0 and should_stop():
                raise Cancelled("Learning was asked to stop")
            gathered.append(next(steps))
        if context.role == "rl":
            theta = moving.cpu().numpy()
        if agent:
            theta = self.learner.theta.detach().cpu().numpy().copy()
        if context.role != "rl":
            after = self.learner.agent_state() if agent else self.learner.critics_state()
            artifacts[CRITIC] = self.store.put(pack({}, after))
        if context.role != "critic":
            artifacts[LEARNT] = self.store.put(pack({"request": request}, {"theta": theta}))
        return theta, averaged(gathered)

    def _climb(self, theta: torch.Tensor) -> Iterator[Metrics]:
        """Steps of an individual along the critic's gradient, which stays as it is."""
        optimiser = Adam(theta, epsilon=1e-8)
        while True:
            g, _ = self.learner.actor_gradient(self.learner.draw(), theta)
            self.learner.clip(g)
            optimiser.step(g, self.config.learner.rate)
            yield {}

    def _teach(self, theta: torch.Tensor) -> Iterator[Metrics]:
        """Steps of the critics, each followed by their targets."""
        while True:
            metrics = self.learner.critic_step(self.learner.draw(), theta)
            self.learner.follow_critics()
            yield metrics

    def _train(self, theta: torch.Tensor) -> Iterator[Metrics]:
        """Steps of TD3."""
        while True:
            yield self.learner.minibatch()


class Setup(msgspec.Struct, frozen=True):
    """Everything from which a worker builds its evaluator: the study as JSON, the address of its lease, the key of its
    replay there, whether the worker ``writes`` into that, and the machine in whose memory it is."""

    study: dict[str, object]
    lease: str
    replay: str
    writes: bool
    machine: str


def build(payload: bytes, should_stop: ShouldStop = never) -> IndividualEvaluator:
    """The evaluator of an encoded ``Setup``. Raises ConfigError, SimulatorError, Cancelled."""
    setup = msgspec.json.decode(payload, type=Setup)
    if setup.machine != machine():
        why = "its workers share a replay in memory: let them run on the machine of the study"
        raise ConfigError([("pool.address", why)])
    config, lease = load(setup.study), leased(setup.lease)
    assert isinstance(config, AESRLConfig)
    return IndividualEvaluator(config, lease, lease.shared(setup.replay), setup.writes, should_stop)


def as_json(config: AESRLConfig, lease: Lease, replay: str, writes: bool) -> bytes:
    """The payload that ``build`` takes, made on the machine of the study."""
    return msgspec.json.encode(Setup(config.model_dump(mode="json"), lease.address, replay, writes, machine()))


def machine() -> str:
    """What tells this machine, since it was started, from all others: of a folder that several share, each would map a
    memory of its own."""
    return _BOOT.read_text().strip() if _BOOT.exists() else platform.node()
