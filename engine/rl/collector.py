"""A sampler at work: weights come down one channel, trajectories or their gradients go up another.

Told to wait, it makes as many fragments as a batch needs with each version of the weights and waits for the next, so
its trajectories are those of the loop in one process, bit for bit. Not told to wait, it plays on, and takes up newer
weights between two decisions; only a channel that is full makes it wait.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from engine import arrays
from engine.channel import Frame, Pusher, Subscriber, Weights, decode_weights
from engine.mdp.trajectory import Trajectory, decode, encode
from engine.mdp.vector import VectorMDP
from engine.rl.a3c import Gradient
from engine.rl.sampler import Episode

PATIENCE_S = 600.0
"""How long a full channel is waited for: a learner that examines a policy may not read for minutes."""
_HUNGRY_S = 1.0

Beat = Callable[[bool], None]
"""Called often; True when weights are waited for."""


Work = Trajectory | Gradient


class Producer(Protocol):
    """What makes work: a sampler, or one that learns on the spot. As ``engine.rl.sampler.Sampler``."""

    @property
    def mdp(self) -> VectorMDP: ...

    def load(self, weights: NDArray[np.float32], version: int) -> None: ...

    def begin(self, beginning: int = 0) -> None: ...

    def sample(self, before: Callable[[], None] | None = None) -> Work: ...

    def finished(self) -> list[Episode]: ...


class Arrival(NamedTuple):
    """Work and where it comes from: sampler ``number``, the ``epoch`` and version of the weights it began with,
    its ``place`` among that version's, the episodes that ended in it, and the processor
    seconds it took to make."""

    number: int
    epoch: int
    version: int
    place: int
    work: Work
    episodes: list[Episode]
    seconds: float

    @property
    def oldest(self) -> int:
        """The version of the oldest weights in it."""
        return self.work.version if isinstance(self.work, Gradient) else int(self.work.versions.min())


def pack(arrival: Arrival) -> list[Frame]:
    """The frames of an arrival; its arrays are not copied."""
    episodes = [
        (e.seat, e.length, _plain(e.returns), _plain([e.win, e.score]), _plain(e.signals)) for e in arrival.episodes
    ]
    meta = {"epoch": arrival.epoch, "version": arrival.version, "place": arrival.place, "seconds": arrival.seconds,
            "seeds": [e.seed for e in arrival.episodes], "episodes": episodes}  # fmt: skip
    if isinstance(arrival.work, Gradient):
        _, version, steps, losses = arrival.work
        told = {"of": version, "steps": steps, "losses": losses}
        return [arrays.pack(meta | told, {"gradient": arrival.work.numbers})]
    return encode(arrival.work, meta)


def unpack(number: int, frames: Sequence[Frame]) -> Arrival:
    """The arrival from sampler ``number`` in these frames. Raises EngineError for junk."""
    work: Work
    if len(frames) == 1:
        bundle = arrays.unpack(frames[0])
        meta = bundle.meta
        work = Gradient(bundle.arrays["gradient"], meta["of"], meta["steps"], meta["losses"])
    else:
        work, meta = decode(frames)
    episodes = [
        Episode(seat, seed, length, _array(returns), _number(win), _number(score), _array(signals))
        for seed, (seat, length, returns, (win, score), signals) in zip(meta["seeds"], meta["episodes"], strict=True)
    ]
    return Arrival(number, meta["epoch"], meta["version"], meta["place"], work, episodes, meta["seconds"])


def _plain(values: Any) -> list[float | None]:
    """JSON knows no NaN."""
    return [None if math.isnan(value) else float(value) for value in values]


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _array(values: Sequence[float | None]) -> Any:
    return np.array([_number(value) for value in values], np.float64)


class Collector:
    """Runs one sampler until its process ends. ``fragments``: how many a version, then wait; 0: never wait.
    ``beginning``: of its battles, when it does not wait (a waiting one is told with the weights)."""

    def __init__(self, sampler: Producer, *, fragments: int = 0, beginning: int = 0) -> None:
        self.sampler, self.fragments, self.beginning = sampler, fragments, beginning

    def run(self, pusher: Pusher, subscriber: Subscriber, beat: Beat) -> None:
        """Collect for ever, on one thread of torch. Raises ActorLost when the learner does not read any more."""
        torch.set_num_threads(1)
        self._pusher, self._subscriber, self._beat = pusher, subscriber, beat
        weights = self._next(None)
        if self.fragments:
            self._in_step(weights)
        self._play_on(weights)

    def _next(self, last: tuple[int, int, int] | None) -> Weights:
        """Wait for weights other than the last."""
        hungry_at = time.monotonic() + (_HUNGRY_S if last else 0.0)
        while True:
            self._beat(time.monotonic() >= hungry_at)
            frame = self._subscriber.newest(0.2)
            if frame is not None and (weights := decode_weights(frame))[:3] != last:
                return weights

    def _in_step(self, weights: Weights) -> None:
        begun: tuple[int, int] | None = None
        while True:
            if begun != weights[:2]:
                begun = weights[:2]
                self.sampler.finished()
                self.sampler.begin(weights.beginning)
            self.sampler.load(weights.numbers, weights.version)
            for index in range(self.fragments):
                self._send(weights, index, lambda: self._beat(False))
            weights = self._next(weights[:3])

    def _play_on(self, weights: Weights) -> None:
        self.sampler.begin(self.beginning)
        self._load(weights)
        index = 0
        while True:
            self._send(self._held, index, self._refresh)
            index += 1

    def _load(self, weights: Weights) -> None:
        self._held = weights
        self.sampler.load(weights.numbers, weights.version)

    def _refresh(self) -> None:
        self._beat(False)
        frame = self._subscriber.newest(0.0)
        if frame is not None and (weights := decode_weights(frame)).version != self._held.version:
            self._load(weights)

    def _send(self, weights: Weights, index: int, before: Callable[[], None]) -> None:
        began = time.process_time()
        fragment = self.sampler.sample(before)
        seconds = time.process_time() - began
        arrival = Arrival(-1, *weights[:3:2], index, fragment, self.sampler.finished(), seconds)
        self._pusher.push(pack(arrival), PATIENCE_S)
