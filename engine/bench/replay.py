"""Experience that arrives while a learner learns: over Redis, over ZeroMQ, and from within the process.

10,000 transitions a second arrive as an actor of half-field offence makes them (``half-field-starts``: 58 numbers seen
now, next and where the return ends, 3 choices with 5 numbers, the return, factors): of four tasks in turn, in parcels
of 50 decisions of each of 8 battles, into four replays. Over Redis each parcel is checked as in a study. Meanwhile a
Q-network (256, 128, 64) learns from minibatches of 32, each of a task chosen by EXP3, and its weights are published
every 100 iterations. It is lighter than any learner of such choices, so what arrives weighs more beside it. Value: the
learner's iterations a second over Redis, from a process that sends; peer: the same from within the process, without
one; beside: over ZeroMQ. In turns, medians.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import cycle, pairwise
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, cast

import numpy as np
import torch

from engine.bench import half_field_starts
from engine.bench.row import row
from engine.catalog import GAMES
from engine.channel import Frame, Weights, encode_weights
from engine.config.policies import AGENT
from engine.config.starts import StartsConfig
from engine.experience import (
    Arrivals,
    Columns,
    ExperienceHere,
    Floats,
    LearnerEnd,
    Lost,
    Numbering,
    Parcel,
    decode,
    encode,
)
from engine.mdp.interface import SeatSpec
from engine.rl.dpcer import Exp3
from engine.rl.factory import make_learner
from engine.rl.learnable_parcels import LearnableParcels
from engine.rl.replayed import Replayed
from engine.rl.task_actor import ACTIVE
from engine.rl.task_replays import rings
from engine.rng import generator
from engine.runtime.channels import Ticket
from engine.runtime.redis_experience import Place, RedisActor, RedisLearner
from engine.runtime.redis_server import RedisServer
from engine.runtime.zmq_channels import ZmqHub, ZmqSpoke
from engine.store import FolderStore
from engine.study.start_actor import make_actor

NAME = "replay"
CASES = ("arriving",)
RATE, TASKS, DIFFERENT = 10_000, 4, 20
"""Transitions a second, tasks, and parcels that are sent again and again."""
BATCH, PUBLISH_EVERY, CAPACITY = 32, 100, 100_000
TURNS, QUICK_TURNS, SECONDS, QUICK_SECONDS = 9, 3, 5.0, 2.0
GOAL = 0.95
_WAIT_S = 30.0
Send = Callable[[int, Parcel], object]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure the one case."""
    torch.set_num_threads(1)
    turns, seconds = (QUICK_TURNS, QUICK_SECONDS) if quick else (TURNS, SECONDS)
    found = [[measured(way, seconds) for way in (over_redis, within, over_zmq)] for _ in range(turns)]
    redis, here, zmq = (median(turn[way].iterations for turn in found) for way in range(3))
    arrivals = [median(turn[way].arrived for turn in found) for way in range(3)]
    work = "/".join(f"{median(turn[way].work_ms for turn in found):.3f}" for way in range(3))
    spread = ", ".join(f"{turn[0].iterations / turn[1].iterations:.3f}" for turn in found)
    lost = sum(turn[0].lost.all + turn[0].lost.strange for turn in found)
    meets = redis / here >= GOAL and arrivals[0] >= 0.99 * RATE and not lost
    yield row(
        NAME, case, redis, "iterations/s", peer="in-process", peer_value=here,
        goal=f"≥ {GOAL} of the in-process twin's, all arriving", meets=meets,
        detail=f"ZeroMQ {zmq:.0f} (ratio {zmq / here:.3f}); arrived a second: Redis {arrivals[0]:.0f}, "
        f"in-process {arrivals[1]:.0f}, ZeroMQ {arrivals[2]:.0f}; lost over Redis {lost}; "
        f"processor time an iteration {work} ms; {bytes_of(played()[0]):.0f} bytes a transition; "
        f"{turns} turns of {seconds:g} s, ratios {spread}",
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
        while not learner.replays.sizes.all():
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
        seat = seat_of_study()
        sizes = (*seat.observations[0].shape, 256, 128, 64, *seat.action.choices)
        layers = [part for a, b in pairwise(sizes) for part in (torch.nn.Linear(a, b), torch.nn.ReLU())]
        self.q = torch.nn.Sequential(*layers[:-1])
        self.adam = torch.optim.Adam(self.q.parameters(), lr=1e-3)

    def iteration(self) -> None:
        """One minibatch of a chosen task."""
        task = self.scheduler.choose()
        batch = {name: torch.from_numpy(column) for name, column in self.replays.of(task).sample(BATCH).columns.items()}
        with torch.no_grad():
            y = batch["reward"] + batch["factor"] * self.q(batch["next.view"]).max(1).values
        delta = y - self.q(batch["s.view"]).gather(1, batch["action"][:, :1].long())[:, 0]
        self.adam.zero_grad()
        delta.square().mean().backward()
        self.adam.step()
        self.scheduler.learned(task, float(delta.detach().abs().mean()))
        self.count += 1
        if self.count % PUBLISH_EVERY == 0:
            parts = [parameter.detach().numpy().ravel() for parameter in self.q.parameters()]
            self.end.publish(np.concatenate(parts).tobytes(), self.count)


def study() -> StartsConfig:
    """The study whose actors' experience it is."""
    return half_field_starts.config("alone", "exp3", 1, quick=False)


def seat_of_study() -> SeatSpec:
    """What its agent sees and does."""
    game = study().game
    seat: SeatSpec = GAMES[game.name].load()(**game.settings).spec.seats[0]
    return seat


@cache
def played() -> list[Parcel]:
    """What an actor of the study sends first."""
    here, made = ExperienceHere(TASKS), study()
    with TemporaryDirectory() as folder:
        actor = make_actor(made, FolderStore(folder), 0, here.actor(0))
        vectors = actor.learner.publish() | {ACTIVE: np.ones(TASKS, np.float32)}
        here.publish(encode_weights(Weights(AGENT, 0, 0, 0, vectors)), 0)
        actor.look()
        for _ in range(DIFFERENT):
            actor.play()
        actor.close()
    return here.take()


def bytes_of(parcel: Parcel) -> float:
    """Those of a transition on its way."""
    return len(encode(parcel)) / parcel.size


@cache
def check() -> LearnableParcels:
    """Whether the study's learner can learn from a parcel."""
    made = study()
    return LearnableParcels(cast(Replayed, make_learner(made.learner, seat_of_study(), made.seed, made.steps)))


class SteadySender:
    """Sends parcels of the tasks in turn, at ``RATE`` transitions a second."""

    def __init__(self, send: Send, parcels: Sequence[Parcel]) -> None:
        self._send, self._next = send, cycle(zip(cycle(range(TASKS)), parcels, strict=False))
        self._began, self._sent = time.perf_counter(), 0

    @property
    def due(self) -> bool:
        """Whether the next parcel's time has come."""
        return time.perf_counter() - self._began >= self._sent / RATE

    def __call__(self) -> None:
        """Send what is due."""
        while self.due:
            task, parcel = next(self._next)
            self._send(task, parcel)
            self._sent += parcel.size

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
    yield SendingWay(experience, SteadySender(lambda task, parcel: actors[task].add(*_content(parcel)), played()))


@contextmanager
def over_redis() -> Iterator[SendingWay]:
    """Over a Redis of its own, from another process."""
    with ExitStack() as ends:
        server = RedisServer()
        ends.callback(server.close)
        place = Place(server.url, "bench", "1")
        learner = RedisLearner(place, TASKS, server.mend, fits=check())
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
    frames = [encode(parcel) for parcel in played()]
    process = multiprocessing.get_context("spawn").Process(target=work, args=(tuple(arguments), frames), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def _send_over_redis(fields: tuple[Any, ...], frames: Sequence[bytes]) -> None:
    actors = [RedisActor(Place(*fields), task) for task in range(TASKS)]

    def send(task: int, parcel: Parcel) -> None:
        actors[task].add(*_content(parcel))
        actors[task].newest()

    SteadySender(send, [decode(frame) for frame in frames]).forever()


def _send_over_zmq(fields: tuple[Any, ...], frames: Sequence[bytes]) -> None:
    spoke, numberings = ZmqSpoke(Ticket(*fields)), [Numbering(task) for task in range(TASKS)]
    SteadySender(
        lambda task, parcel: spoke.send([encode(numberings[task].parcel(*_content(parcel)))], _WAIT_S),
        [decode(frame) for frame in frames],
    ).forever()


def _content(parcel: Parcel) -> tuple[Columns, Sequence[float], int, Floats]:
    return parcel.columns, parcel.returns.tolist(), parcel.version, parcel.episodes


def _nothing() -> None:
    pass
