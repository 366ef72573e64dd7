"""The loop of a sampler: weights arrive on one channel, trajectories or gradients leave on another.

A synchronous sampler makes as many fragments as a batch needs with each version of the weights and waits for the next,
so its trajectories equal those of the loop in one process, bit for bit. An asynchronous one plays on, and loads newer
weights between two decisions; only a full channel makes it wait.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch

from engine.channel import Frame, Subscriber, Weights, decode_weights
from engine.experience import Parcel
from engine.mdp.trajectory import Trajectory
from engine.rl.gradient import Gradient
from engine.rl.sampler import Episode

_HUNGRY_S = 1.0

Moment = tuple[int, int, int]
"""(epoch, beginning, version) of weights."""
Beat = Callable[[bool], None]
"""Called often; with True while waiting for weights."""


Work = Trajectory | Gradient | Parcel


class Producer(Protocol):
    """A sampler, or a worker that gives gradients; methods as in ``engine.rl.sampler.Sampler``."""

    @property
    def policies(self) -> tuple[str, ...]: ...

    def load(self, weights: Weights) -> None: ...

    def begin(self, beginning: int = 0) -> None: ...

    def sample(self, before: Callable[[], None] | None = None) -> Mapping[str, Work]: ...

    def finished(self) -> list[Episode]: ...

    def close(self) -> None: ...


class Arrival(NamedTuple):
    """A fragment, gradient or parcel of one ``policy`` and its origin: sampler ``number``, the ``epoch`` and version of
    the weights at its beginning, its ``place`` among those of that version, the policy's episodes that ended in it, and
    its cost in processor seconds."""

    number: int
    policy: str
    epoch: int
    version: int
    place: int
    work: Work
    episodes: list[Episode]
    seconds: float


def arrivals(
    sampler: Producer, number: int, held: Mapping[str, Weights], place: int, before: Callable[[], None] | None = None
) -> list[Arrival]:
    """The sampler's next arrivals, for each policy. ``held``: the weights at their beginning, by policy."""
    began, weights = time.process_time(), dict(held)
    work = sampler.sample(before)
    seconds, episodes = (time.process_time() - began) / len(work), sampler.finished()
    return [
        Arrival(
            number, policy, weights[policy].epoch, weights[policy].version, place, one,
            [episode for episode in episodes if episode.policy == policy], seconds,
        )
        for policy, one in work.items()
    ]  # fmt: skip


def pack(arrival: Arrival) -> list[Frame]:
    """The frames of an arrival; its arrays are not copied."""
    episodes = [
        (e.seat, e.length, _plain(e.returns), _plain([e.win, e.score]), _plain(e.signals), e.others)
        for e in arrival.episodes
    ]
    meta = {"policy": arrival.policy, "epoch": arrival.epoch, "version": arrival.version, "place": arrival.place,
            "seconds": arrival.seconds, "seeds": [e.seed for e in arrival.episodes], "episodes": episodes}  # fmt: skip
    return arrival.work.encode(meta)


def unpack(number: int, frames: Sequence[Frame]) -> Arrival:
    """The arrival from sampler ``number`` in these frames. Raises EngineError for malformed ones."""
    kind: type[Trajectory | Gradient] = Gradient if len(frames) == 1 else Trajectory
    work, meta = kind.decode(frames)
    policy = meta["policy"]
    episodes = [
        Episode(seat, seed, length, _array(r), _number(win), _number(score), _array(signals), policy, tuple(others))
        for seed, (seat, length, r, (win, score), signals, others) in zip(meta["seeds"], meta["episodes"], strict=True)
    ]
    return Arrival(number, policy, meta["epoch"], meta["version"], meta["place"], work, episodes, meta["seconds"])


def _plain(values: Any) -> list[float | None]:
    """Numbers for JSON, which has no NaN: None instead."""
    return [None if math.isnan(value) else float(value) for value in values]


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _array(values: Sequence[float | None]) -> Any:
    return np.array([_number(value) for value in values], np.float64)


class Collector:
    """Runs one sampler until its process ends. ``fragments``: number per version, after which it waits; 0: never wait.
    ``beginning``: that of its battles if it never waits (a synchronous one gets it with the weights)."""

    def __init__(self, sampler: Producer, *, fragments: int = 0, beginning: int = 0) -> None:
        self.sampler, self.fragments, self.beginning = sampler, fragments, beginning
        self._held: dict[str, Weights] = {}

    def stream(self, subscriber: Subscriber, beat: Beat) -> Iterator[list[Frame]]:
        """Collect for ever, with one thread of torch."""
        torch.set_num_threads(1)
        self._subscriber, self._beat = subscriber, beat
        yield from self._in_step() if self.fragments else self._play_on()

    def _wait(self, last: Mapping[str, Moment]) -> Generator[list[Frame], None, dict[str, Moment]]:
        """Wait for weights of every policy; in synchronous sampling, until all are newer than the ``last``, of one
        epoch and beginning. Returns their moments."""
        hungry_at = time.monotonic() + (_HUNGRY_S if last else 0.0)
        while True:
            self._beat(time.monotonic() >= hungry_at)
            if (frame := self._subscriber.newest(0.2)) is None:
                yield []
                continue
            weights = decode_weights(frame)
            self._held[weights.policy] = weights
            moments = {name: held.moment for name, held in self._held.items()}
            newer = all(moment != last.get(name) for name, moment in moments.items())
            together = newer and len({moment[:2] for moment in moments.values()}) == 1
            if (together or not self.fragments) and moments.keys() == set(self.sampler.policies):
                return moments

    def _in_step(self) -> Iterator[list[Frame]]:
        begun: tuple[int, int] | None = None
        moments = yield from self._wait({})
        while True:
            for weights in self._held.values():
                self.sampler.load(weights)
            beginning = next(iter(moments.values()))[:2]
            if begun != beginning:
                begun = beginning
                self.sampler.finished()
                self.sampler.begin(begun[1])
            for place in range(self.fragments):
                yield from self._made(place, lambda: self._beat(False))
            moments = yield from self._wait(moments)

    def _play_on(self) -> Iterator[list[Frame]]:
        yield from self._wait({})
        for weights in self._held.values():
            self.sampler.load(weights)
        self.sampler.begin(self.beginning)
        for place in itertools.count():
            yield from self._made(place, self._refresh)

    def _refresh(self) -> None:
        self._beat(False)
        frame = self._subscriber.newest(0.0)
        if frame is not None and (weights := decode_weights(frame)).version != self._held[weights.policy].version:
            self._held[weights.policy] = weights
            self.sampler.load(weights)

    def _made(self, place: int, before: Callable[[], None]) -> Iterator[list[Frame]]:
        return map(pack, arrivals(self.sampler, -1, self._held, place, before))
