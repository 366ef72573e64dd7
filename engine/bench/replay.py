"""Experience that arrives while a learner learns: over Redis, over ZeroMQ, and from within the process.

10,000 transitions a second in the shape of half-field offence (59 numbers seen, 3 choices with 5 numbers) arrive in
episodes of 100 of four tasks, in four replays. Meanwhile a Q-network (256, 128, 64) learns from minibatches of 32, each
of a task chosen by EXP3, and its weights are published every 100 iterations. Value: the learner's iterations a second
over Redis, from a process that sends; peer: the same from within the process, without one; beside: over ZeroMQ. In
turns, medians.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch

from engine.bench.row import row
from engine.channel import Frame
from engine.experience import Arrivals, Columns, ExperienceHere, LearnerEnd, Lost, Numbering, Parcel, decode, encode
from engine.rl.dpcer import Exp3
from engine.rl.task_replays import rings
from engine.rng import generator
from engine.runtime.channels import Ticket
from engine.runtime.redis_experience import Place, RedisActor, RedisLearner
from engine.runtime.redis_server import RedisServer
from engine.runtime.zmq_channels import ZmqHub, ZmqSpoke

NAME = "replay"
CASES = ("arriving",)
RATE, EPISODE, TASKS = 10_000, 100, 4
SEEN, CHOICES, NUMBERS = 59, 3, 5
BATCH, PUBLISH_EVERY, CAPACITY = 32, 100, 100_000
TURNS, QUICK_TURNS, SECONDS, QUICK_SECONDS = 9, 3, 5.0, 2.0
GOAL = 0.95
_WAIT_S = 30.0
Send = Callable[[int, Columns], object]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure the one case."""
    torch.set_num_threads(1)
    turns, seconds = (QUICK_TURNS, QUICK_SECONDS) if quick else (TURNS, SECONDS)
    found = [[measured(way, seconds) for way in (over_redis, within, over_zmq)] for _ in range(turns)]
    redis, here, zmq = (median(turn[way].iterations for turn in found) for way in range(3))
    arrivals = [median(turn[way].arrived for turn in found) for way in range(3)]
    work = "/".join(f"{median(turn[way].work_ms for turn in found):.3f}" for way in range(3))
    spread = ", ".join(f"{turn[0].iterations / turn[1].iterations:.3f}" for turn in found)
    lost = sum(turn[0].lost.all for turn in found)
    meets = redis / here >= GOAL and arrivals[0] >= 0.99 * RATE and not lost
    yield row(
        NAME, case, redis, "iterations/s", peer="in-process", peer_value=here,
        goal=f"≥ {GOAL} of the in-process twin's, all arriving", meets=meets,
        detail=f"ZeroMQ {zmq:.0f} (ratio {zmq / here:.3f}); arrived a second: Redis {arrivals[0]:.0f}, "
        f"in-process {arrivals[1]:.0f}, ZeroMQ {arrivals[2]:.0f}; lost over Redis {lost}; "
        f"processor time an iteration {work} ms; {turns} turns of {seconds:g} s, ratios {spread}",
    )  # fmt: skip


class Rates(NamedTuple):
    """A turn: iterations and transitions arrived a second, milliseconds of the learner's processor time an iteration,
    and what was lost."""

    iterations: float
    arrived: float
    work_ms: float
    lost: Lost


class SendingWay(NamedTuple):
    """A learner's end, and what it does between iterations, if it sends by itself."""

    end: LearnerEnd
    meanwhile: Callable[[], None]


def measured(way: Callable[[], Any], seconds: float) -> Rates:
    """A turn of a way, from when every task's replay has some of its experience."""
    with way() as (end, meanwhile):
        learner = Learner(end)
        until = time.monotonic() + _WAIT_S
        while learner.replays.sizes.min() < EPISODE:
            meanwhile()
            learner.replays.fill(end.take())
            if time.monotonic() > until:
                raise TimeoutError("nothing arrived")
        for _ in range(100):
            learner.iteration()
        began, worked, before, count = time.perf_counter(), time.thread_time(), learner.replays.written.sum(), 0
        while (spent := time.perf_counter() - began) < seconds:
            meanwhile()
            learner.replays.fill(end.take())
            learner.iteration()
            count += 1
        work_ms = 1000 * (time.thread_time() - worked) / count
        return Rates(count / spent, float(learner.replays.written.sum() - before) / spent, work_ms, end.lost)


class Learner:
    """A Q-network that learns from the replays of an end."""

    def __init__(self, end: LearnerEnd) -> None:
        self.end, self.count = end, 0
        self.replays = rings(TASKS, CAPACITY, generator(1, "replays"))
        self.scheduler = Exp3(TASKS, generator(1, "scheduler"), signal="td")
        sizes = (SEEN, 256, 128, 64, CHOICES)
        layers = [part for a, b in pairwise(sizes) for part in (torch.nn.Linear(a, b), torch.nn.ReLU())]
        self.q = torch.nn.Sequential(*layers[:-1])
        self.adam = torch.optim.Adam(self.q.parameters(), lr=1e-3)

    def iteration(self) -> None:
        """One minibatch of a chosen task."""
        task = self.scheduler.choose()
        batch = {name: torch.from_numpy(column) for name, column in self.replays.of(task).sample(BATCH).columns.items()}
        with torch.no_grad():
            y = batch["reward"] + 0.99 * ~batch["ended"] * self.q(batch["next"]).max(1).values
        delta = y - self.q(batch["seen"]).gather(1, batch["choice"][:, None])[:, 0]
        self.adam.zero_grad()
        delta.square().mean().backward()
        self.adam.step()
        self.scheduler.learned(task, float(delta.detach().abs().mean()))
        self.count += 1
        if self.count % PUBLISH_EVERY == 0:
            parts = [parameter.detach().numpy().ravel() for parameter in self.q.parameters()]
            self.end.publish(np.concatenate(parts).tobytes(), self.count)


def episode(rng: np.random.Generator) -> Columns:
    """One that might be of half-field offence."""
    numbers: dict[str, Any] = {
        name: rng.uniform(-1, 1, (EPISODE, SEEN)).astype(np.float32) for name in ("seen", "next")
    }
    ended = np.arange(EPISODE) == EPISODE - 1
    return numbers | {
        "choice": rng.integers(0, CHOICES, EPISODE),
        "numbers": rng.uniform(-1, 1, (EPISODE, NUMBERS)).astype(np.float32),
        "reward": np.where(ended, 5, 0).astype(np.float32), "ended": ended,
    }  # fmt: skip


class SteadySender:
    """Sends episodes of the tasks in turn, at ``RATE`` transitions a second."""

    def __init__(self, send: Send) -> None:
        rng = np.random.default_rng(0)
        self._send, self._episodes = send, [episode(rng) for _ in range(20)]
        self._began, self._sent = time.perf_counter(), 0

    @property
    def due(self) -> bool:
        """Whether the next episode's time has come."""
        return time.perf_counter() - self._began >= self._sent * EPISODE / RATE

    def __call__(self) -> None:
        """Send what is due."""
        while self.due:
            self._send(self._sent % TASKS, self._episodes[self._sent % len(self._episodes)])
            self._sent += 1

    def forever(self) -> None:
        """Send until the parent is gone, as politely as workers do."""
        os.nice(10)
        parent = os.getppid()
        while os.getppid() == parent:
            self()
            time.sleep(0.002)


@contextmanager
def within() -> Iterator[SendingWay]:
    """Within the process: sending costs the learner no more than a place in a queue."""
    experience = ExperienceHere(TASKS)
    actors = [experience.actor(task) for task in range(TASKS)]
    yield SendingWay(experience, SteadySender(lambda task, columns: actors[task].add(columns, [5.0])))


@contextmanager
def over_redis() -> Iterator[SendingWay]:
    """Over a Redis of its own, from another process."""
    with ExitStack() as ends:
        server = RedisServer()
        ends.callback(server.close)
        place = Place(server.url, "bench", "1")
        learner = RedisLearner(place, TASKS, server.mend)
        ends.callback(learner.close)
        ends.enter_context(_process(_send_over_redis, place))
        yield SendingWay(learner, _nothing)


@contextmanager
def over_zmq() -> Iterator[SendingWay]:
    """Over ZeroMQ, as samplers stream; weights are not published."""
    with ExitStack() as ends:
        hub = ZmqHub()
        ends.callback(hub.close)
        ends.enter_context(_process(_send_over_zmq, hub.expect()))
        yield SendingWay(ZmqLearner(hub), _nothing)


class ZmqLearner:
    """The learner's end over ZeroMQ."""

    def __init__(self, hub: ZmqHub) -> None:
        self._hub, self._arrivals = hub, Arrivals()

    def take(self) -> list[Parcel]:
        """What has arrived."""
        found = [decode(bytes(message.frames[0])) for message in self._hub.receive(0.0) if message.frames]
        return [parcel for parcel in found if self._arrivals.admit(parcel)]

    def publish(self, frame: Frame, version: int) -> None:
        """Nobody subscribes."""

    @property
    def lost(self) -> Lost:
        """What is missing by now."""
        return self._arrivals.lost

    def close(self) -> None:
        """The hub is closed by its owner."""


@contextmanager
def _process(work: Callable[..., None], arguments: Sequence[Any]) -> Iterator[None]:
    process = multiprocessing.get_context("spawn").Process(target=work, args=(tuple(arguments),), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def _send_over_redis(fields: tuple[Any, ...]) -> None:
    actors = [RedisActor(Place(*fields), task) for task in range(TASKS)]

    def send(task: int, columns: Columns) -> None:
        actors[task].add(columns, [5.0])
        actors[task].newest()

    SteadySender(send).forever()


def _send_over_zmq(fields: tuple[Any, ...]) -> None:
    spoke, numberings = ZmqSpoke(Ticket(*fields)), [Numbering(task) for task in range(TASKS)]
    SteadySender(
        lambda task, columns: spoke.send([encode(numberings[task].parcel(columns, [5.0], 0))], _WAIT_S)
    ).forever()


def _nothing() -> None:
    pass
