"""The samplers of a training study: in this process, or in actors at the far end of streams."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple, Protocol

import msgspec

from engine.catalog import SAMPLERS
from engine.channel import Weights, encode_weights
from engine.config.rl import AnyLearner
from engine.config.train import TrainConfig, TrainPool
from engine.problem import ShouldStop
from engine.rl.collector import Arrival, Producer, arrivals, unpack
from engine.runtime.outcomes import Trouble
from engine.store import Store
from engine.study.pools import LocalWorkers, RemoteWorkers, workers
from engine.study.sampler_factory import SamplerOrder, sampler

LIVES = 1_000
"""Numbers reserved per round for restarts: each replacement of a sampler plays battles of its own."""
BOUND = 32
"""Largest number of one sampler's fragments that wait for the learner."""


class SamplerPool(AbstractContextManager["SamplerPool"], Protocol):
    """Samplers of one study. Use it as a context manager, or call ``close``."""

    def publish(self, weights: Weights) -> None:
        """Send the newest weights to the samplers, without waiting for their arrival."""
        ...

    def gather(self, timeout_s: float, most: int) -> list[Arrival]:
        """Up to ``most`` fragments that have arrived; waits up to ``timeout_s`` for the first. Raises SimulatorError,
        ConfigError or EngineError when sampling cannot continue, ActorLost when the cluster is gone (a new attempt can
        continue)."""
        ...

    def lost(self) -> str:
        """Why a sampler was lost since the last call, empty when none was; another one takes its place."""
        ...

    def incidents(self) -> list[Trouble]:
        """The incidents since the last call."""
        ...

    def close(self) -> None:
        """End all samplers and leave nothing behind. Safe to call twice."""
        ...


class Sampled(Protocol):
    """What is sampled, as far as its samplers need to know."""

    @property
    def sampling(self) -> Literal["synchronous", "asynchronous"]: ...

    @property
    def samplers(self) -> int: ...

    @property
    def fragments(self) -> int: ...

    @property
    def max_staleness(self) -> int: ...

    @property
    def learners(self) -> Mapping[str, AnyLearner]: ...

    @property
    def pool(self) -> TrainPool: ...


class _Member(NamedTuple):
    sampler: Producer
    under_way: deque[list[Arrival]]


class LocalSamplers(LocalWorkers):
    """Samplers that take turns in this process.

    Asynchronous ones are always one fragment ahead, made before the newest weights were published, as if they played in
    parallel; the order of turns is fixed, so the same study gives the same numbers.
    """

    def __init__(
        self, config: Sampled, store: Store, beginning: int, should_stop: ShouldStop = lambda: False,
        made: Callable[..., Producer] = sampler,
    ) -> None:  # fmt: skip
        """``made``: makes one, as ``engine.study.sampler_factory.sampler``."""
        self._waiting = config.sampling == "synchronous"
        self._fragments, self._beginning = config.fragments, beginning
        self._members = [_Member(made(config, store, i, should_stop), deque()) for i in range(config.samplers)]
        self._newest: dict[str, Weights] = {}
        self._begun: tuple[int, int] | None = None
        self._due: deque[tuple[int, int]] = deque()
        self._turn = 0

    def publish(self, weights: Weights) -> None:
        """As ``SamplerPool``."""
        self._newest[weights.policy] = weights
        if self._waiting:
            self._due = deque((i, k) for i in range(len(self._members)) for k in range(self._fragments))

    def gather(self, timeout_s: float, most: int) -> list[Arrival]:
        """One fragment of each policy. Not interrupted by ``timeout_s``, but by a stop if an external program plays.
        Raises Cancelled."""
        if not self._newest:
            return []
        return self._in_step() if self._waiting else self._play_on()

    def _in_step(self) -> list[Arrival]:
        if not self._due:
            return []
        number, place = self._due.popleft()
        moment = next(iter(self._newest.values())).moment
        if (number, place) == (0, 0):
            for member, _ in self._members:
                self._load(member)
                if self._begun != moment[:2]:
                    member.finished()
                    member.begin(moment[1])
            self._begun = moment[:2]
        return arrivals(self._members[number].sampler, number, self._newest, place)

    def _play_on(self) -> list[Arrival]:
        number, self._turn = self._turn, (self._turn + 1) % len(self._members)
        member, under_way = self._members[number]
        self._load(member)
        if not under_way:
            member.begin(self._beginning)
            under_way.append(arrivals(member, number, self._newest, 0))
        under_way.append(arrivals(member, number, self._newest, under_way[-1][0].place + 1))
        return under_way.popleft()

    def _load(self, member: Producer) -> None:
        for weights in self._newest.values():
            member.load(weights)

    def close(self) -> None:
        """Close the games."""
        for member, _ in self._members:
            member.close()
        self._members = []


class RemoteSamplers(RemoteWorkers):
    """Samplers in actors."""

    def publish(self, weights: Weights) -> None:
        """As ``SamplerPool``."""
        self._workers.publish(encode_weights(weights))

    def gather(self, timeout_s: float, most: int) -> list[Arrival]:
        """As ``SamplerPool``."""
        return [unpack(one.worker, one.frames) for one in self._workers.gather(timeout_s, most)]


def open_samplers(
    config: TrainConfig, store: Store, tick: int, allowed: Sequence[str] = ("engine.",),
    should_stop: ShouldStop = lambda: False,
) -> SamplerPool:  # fmt: skip
    """The samplers that a study needs, from round ``tick`` on. Raises ConfigError, SimulatorError when a game cannot be
    made here, Cancelled, ActorLost when there is no Ray at the address."""
    if config.pool.kind == "local":
        return LocalSamplers(config, store, tick * LIVES, should_stop)

    def payload(number: int, life: int) -> bytes:
        return msgspec.json.encode(
            SamplerOrder(config.model_dump(mode="json"), store.address, number, tick * LIVES + life)
        )

    return remote(config, SAMPLERS["train"], payload, should_stop, allowed)


def remote(
    config: Sampled, factory: str, payload: Callable[[int, int], bytes], should_stop: ShouldStop,
    allowed: Sequence[str] = ("engine.",), *, together: bool = False,
) -> RemoteSamplers:  # fmt: skip
    """Samplers in actors, each made by ``factory`` from ``payload(number, life)``. Raises ActorLost when there is no
    Ray at the address, and Cancelled."""
    ahead = 1 if config.sampling == "synchronous" else max(1, config.max_staleness - 1)
    bound = max(2, min(config.fragments * ahead * len(config.learners), BOUND) - 1)  # the sampler holds one more
    return RemoteSamplers(
        workers(
            config.pool, factory, payload, config.samplers, title="Sampler", policies=list(config.learners),
            bound=bound, together=together, should_stop=should_stop, allowed=allowed,
        )
    )  # fmt: skip
