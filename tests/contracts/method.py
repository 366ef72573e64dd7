"""What every method around a shared critic promises; each method's test class inherits these tests.

Individuals are played in a world of numbers: the return of weights is how near they are to a target, learning moves
them to it, and critics count their minibatches. So no test needs a network, a game or a process.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from engine.arrays import pack, unpack
from engine.catalog import METHODS
from engine.config.aesrl import AESRLConfig
from engine.errors import EvaluationError
from engine.evolution.algorithm import Parts
from engine.evorl.individuals import CRITIC, LEARNT, PLAYED
from engine.evorl.shared_critic import INDIVIDUALS, SharedCritic
from engine.problem import Evaluation, IndividualContext, Request, failed, of_kind
from engine.rl.replay import ReplayBuffer
from engine.studies import load
from tests.contracts.algorithm import packed, stored

F32 = NDArray[np.float32]
SHAPES = {"hidden": (3, 4), "bias": (4,), "out": (4, 1)}
TARGET = np.linspace(-1, 1, 20, dtype=np.float32)
STEPS, PACE = 1500, 0.01
"""Decisions of a study; the share of the way to the target that a minibatch covers."""
WORKERS = 3


class Network:
    """What a method asks of its policies' network."""

    shapes: ClassVar = SHAPES

    def initial(self, rng: np.random.Generator) -> F32:
        """First weights."""
        return rng.normal(0, 0.5, len(TARGET)).astype(np.float32)


class Memory:
    """Artifacts in a dictionary."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        self.held[digest] = bytes(data)
        return digest

    def get(self, digest: str) -> bytes:
        return self.held[digest]

    def has(self, digest: str) -> bool:
        return digest in self.held

    use = has

    def discard(self, digests: Iterable[str], since: float = 0.0) -> int:
        return sum(self.held.pop(digest, None) is not None for digest in list(digests))


def returned(theta: F32) -> float:
    """The return of weights: 0 at best."""
    return -float(((theta.astype(np.float64) - TARGET) ** 2).sum())


class World:
    """Answers requests, and counts what it plays. ``played``: decisions by role; ``kept``: transitions handed on."""

    def __init__(self, store: Memory) -> None:
        self.store, self.played, self.kept, self.answered = store, Counter[str](), 0, Counter[str]()

    def answer(self, request: Request) -> Evaluation:
        """A function of the request alone."""
        context = of_kind(request.context, IndividualContext)
        role, theta, artifacts = context.role, np.asarray(request.genome, np.float32), dict[str, str]()
        self.answered[role] += 1
        if context.minibatches:
            theta = self._learned(theta, context, artifacts)
        episodes = 0 if role in ("critic", "agent") else request.last - request.first
        cost = episodes * (15 + request.id % 7)
        self.played[role] += cost
        if role in ("start", "es", "rl", "centre"):
            self.kept += cost
            artifacts[PLAYED] = self.store.put(pack({}, {"id": np.full(cost, request.id, np.float32)}))
        values = np.full((episodes, 1), returned(theta))
        numbers = np.array([0.0, 1.0, 0.0, 0.5, 0.25])
        objective = np.array([returned(theta) if episodes else 0.0])
        made = replace(context, artifacts=artifacts)
        return Evaluation(
            request.id, objective, np.zeros((1, 1)), episodes, numbers, cost=cost, context=made, values=values
        )  # fmt: skip

    def _learned(self, theta: F32, context: IndividualContext, artifacts: dict[str, str]) -> F32:
        if context.role != "rl":
            before = unpack(self.store.get(context.critic)).arrays["phi"] if context.critic else np.zeros(2)
            artifacts[CRITIC] = self.store.put(pack({}, {"phi": before + context.minibatches}))
        if context.role == "critic":
            return theta
        theta = (theta + (1 - (1 - PACE) ** context.minibatches) * (TARGET - theta)).astype(np.float32)
        artifacts[LEARNT] = self.store.put(pack({}, {"theta": theta}))
        return theta


def study(method: dict[str, Any], seed: int = 1) -> AESRLConfig:
    """A study with this method, in rounds of a tenth of its decisions."""
    learner = {"warmup": 60, "minibatch": 8, "capacity": 4000}
    rounds = {"steps": STEPS, "checkpoint_every": STEPS // 10, "evaluate_every": 3, "episodes": 2, "chunk": 40}
    usual = {"kind": "aes-rl", "name": "small", "game": "pendulum", "spread": 60.0, "learner": learner}
    config = load({**usual, **rounds, "seed": seed, "method": method})
    assert isinstance(config, AESRLConfig)
    return config


def started(method: dict[str, Any], seed: int = 1) -> SharedCritic:
    """A fresh method on a replay and artifacts of its own."""
    config = study(method, seed)
    replay = ReplayBuffer(config.learner.capacity, np.random.default_rng(0))
    first = Network().initial(np.random.default_rng(seed))
    make: Any = METHODS[config.method.kind].load()
    made: SharedCritic = make.of(config, first, WORKERS, Memory(), replay, Network())
    return made


class Drive:
    """A method and its world. ``waiting``: what is asked and not answered yet; ``asked``: ids and first
    replicates of what was answered."""

    def __init__(self, method: SharedCritic, order: random.Random | None = None) -> None:
        assert isinstance(method.store, Memory)
        self.method, self.world, self.order = method, World(method.store), order
        self.waiting: list[Request] = []
        self.asked: list[tuple[int, int]] = []
        self.ticks: list[int] = []

    def step(self, fails: bool = False) -> Request:
        """One answer, or a failure where an individual plays; which request it is for. In any order of answers, several
        may come before the method is asked again."""
        if not (self.order and self.waiting and self.order.random() < 0.5):
            self.waiting += self.method.ask(7)
        assert self.waiting, "nothing is outstanding, and nothing is asked"
        request = self.waiting.pop(self.order.randrange(len(self.waiting)) if self.order else 0)
        self.asked.append((request.id, request.first))
        fails = fails and SharedCritic.role(request) in INDIVIDUALS
        answer = failed(request, "the game said no", 1, 5) if fails else self.world.answer(request)
        self.ticks += [progress.tick for progress in self.method.tell(answer)]
        return request

    def run(self, answers: int = 10**6, fails: bool = False) -> Drive:
        """To the end, or so many answers."""
        while not self.method.done and answers:
            self.step(fails)
            answers -= 1
        return self


def fingerprint(method: SharedCritic) -> bytes:
    """State and result as bytes: equal only when everything is equal."""
    return packed(method.state()) + method.centre.tobytes()


class MethodContract(ABC):
    """Inherit, say how the method is configured, and what of it must always hold."""

    method: ClassVar[dict[str, Any]]
    parts: ClassVar[set[str]]
    """Names of the parts of its state that are its own."""

    @abstractmethod
    def check(self, method: Any) -> None:
        """Fails where its numbers cannot be: called after each answer."""

    def make(self, seed: int = 1) -> SharedCritic:
        return started(self.method, seed)

    def resumed(self, method: SharedCritic) -> SharedCritic:
        """A fresh method that goes on from another's state, as it comes back from a store."""
        parts: Parts = stored(method.state())
        again = self.make()
        again.load(parts)
        return again

    def test_every_decision_is_counted_once_and_examinations_apart(self) -> None:
        drive = Drive(self.make(), random.Random(1)).run()
        method, world = drive.method, drive.world
        assert method.steps == {role: world.played[role] for role in INDIVIDUALS}
        assert method.examined == world.played["examine"] > 0
        assert method.played >= STEPS
        assert method.replay.written == world.kept
        assert method.exams[-1][0] == method.played, "the last examination is of the end"

    def test_each_request_is_asked_once_and_rounds_come_in_order(self) -> None:
        drive = Drive(self.make(), random.Random(2)).run()
        assert len(drive.asked) == len(set(drive.asked))
        assert not drive.waiting
        assert drive.ticks == sorted(set(drive.ticks))
        assert drive.ticks[-1] == drive.method.config.ticks
        assert drive.method.ask(7) == []

    def test_its_numbers_always_make_sense(self) -> None:
        drive = Drive(self.make(), random.Random(3))
        while not drive.method.done:
            drive.step()
            method = drive.method
            assert method.centre.dtype == np.float32
            assert method.centre.shape == TARGET.shape
            assert np.isfinite(method.centre).all()
            updates = method.config.learner.updates
            assert method.learned <= max(updates * method.played, 0), "no more minibatches than decisions"
            self.check(method)

    def test_critics_learn_where_the_method_says_that_they_do(self) -> None:
        drive = Drive(self.make()).run()
        assert (drive.method.learned > 0) == drive.method.config.method.learns
        if drive.method.learned:
            learned = unpack(drive.world.store.get(drive.method.critic)).arrays["phi"]
            assert learned.tolist() == [drive.method.learned] * 2, "each minibatch in one line of critics"

    def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(self) -> None:
        one, two, other = (Drive(self.make(seed)).run().method for seed in (5, 5, 6))
        assert fingerprint(one) == fingerprint(two)
        assert not np.array_equal(one.centre, other.centre)

    def test_who_waits_ends_alike_in_whatever_order_answers_come(self) -> None:
        ends = {fingerprint(Drive(self.make(), order).run().method) for order in (None, *map(random.Random, (1, 2)))}
        assert (len(ends) == 1) == self.make().waiting

    @pytest.mark.parametrize("answers", [3, 30, 61])
    def test_a_state_in_named_parts_comes_back_bit_for_bit_and_goes_on(self, answers: int) -> None:
        whole = Drive(self.make()).run()
        half = Drive(self.make()).run(answers).method
        assert set(half.state()) == {"course", "replay", "critic", *self.parts}
        again = self.resumed(half)
        assert packed(stored(again.state())) == packed(stored(half.state()))
        end = Drive(again).run().method
        assert end.played >= STEPS
        if end.waiting:
            assert fingerprint(end) == fingerprint(whole.method)

    def test_what_fails_is_survived_and_a_row_of_failures_is_said(self) -> None:
        drive, count = Drive(self.make(), random.Random(4)), 0
        while not drive.method.done:
            count += 1
            drive.step(fails=count % 5 == 0)
            self.check(drive.method)
        assert np.isfinite(drive.method.centre).all()
        hopeless = Drive(self.make())
        with pytest.raises(EvaluationError, match="the game said no"):
            hopeless.run(fails=True)

    def test_it_leaves_only_the_newest_critics_of_what_was_made(self) -> None:
        drive = Drive(self.make(), random.Random(5)).run()
        critic = drive.method.critic
        assert set(drive.world.store.held) == ({critic} if critic else set())

    def test_when_the_time_is_up_it_ends_with_an_examination(self) -> None:
        """Of everything that was outstanding, whatever else was due at that moment."""
        drive = Drive(self.make(), random.Random(6)).run(40)
        drive.method.late = drive.method.due = True
        drive.run()
        assert not drive.waiting
        assert drive.method.played < STEPS
        assert drive.method.exams[-1][0] == drive.method.played

    def test_the_centre_comes_nearer_to_what_is_best(self) -> None:
        drive = Drive(self.make())
        before = returned(drive.method.centre)
        assert returned(drive.run().method.centre) > 0.9 * before
