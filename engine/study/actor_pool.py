"""The actors of a study of tasks as its driver has them: in this process, or in processes of their own; and the way
from them to the learner, which is memory or a Redis."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from engine.catalog import SAMPLERS
from engine.channel import Frame, Weights, encode_weights
from engine.config.policies import AGENT
from engine.config.starts import StartsConfig
from engine.experience import ActorEnd, Arrivals, ExperienceHere, LearnerEnd, Lost, Parcel, decode
from engine.problem import ShouldStop
from engine.rl.collector import Arrival
from engine.rl.task_actor import TaskActor, episodes_of
from engine.runtime.outcomes import Closed, Trouble
from engine.store import Store
from engine.study.sampler_pool import BOUND, LIVES, PATIENCE
from engine.study.start_actors import WAIT_S, Order, make_actor

if TYPE_CHECKING:
    from engine.runtime.redis_experience import RedisLearner
    from engine.runtime.supervisor import Supervisor


class _Received(Closed):
    """What arrives at the learner from all actors: ``number``: that of an actor, by the name in its parcels."""

    def __init__(self, end: LearnerEnd) -> None:
        self.end = end
        self.epoch = 0

    def arrivals(self, parcels: Sequence[Parcel], number: int = 0) -> list[Arrival]:
        """Parcels as what a training learns from."""
        return [
            Arrival(number, AGENT, self.epoch, parcel.version, parcel.first, parcel, episodes_of(parcel.told), 0.0)
            for parcel in parcels
        ]

    @property
    def missing(self) -> Lost:
        """Decisions that were made and never arrived."""
        return self.end.lost


class ActorsHere(_Received):
    """Actors that take turns in this process, one fragment each. The order of turns is fixed, so where nothing is lost
    on the way the same study gives the same numbers."""

    def __init__(
        self, config: StartsConfig, store: Store, end: LearnerEnd, ends: Callable[[int], ActorEnd], beginning: int,
        should_stop: ShouldStop,
    ) -> None:  # fmt: skip
        """``ends``: makes an actor's end for a task."""
        super().__init__(end)
        self._actors: list[TaskActor] = []
        self._turn = 0
        for number in range(config.samplers):
            way = ends(config.task_of(number))
            self._actors.append(make_actor(config, store, number, way, beginning, should_stop))

    def publish(self, weights: Weights) -> None:
        """As ``SamplerPool``."""
        self.epoch = weights.epoch
        self.end.publish(encode_weights(weights), weights.version)

    def gather(self, timeout_s: float, most: int) -> list[Arrival]:
        """What has arrived after the next actor's fragment. Not interrupted by ``timeout_s``, but by a stop if an
        external program plays. Raises Cancelled."""
        for _ in self._actors:
            actor, self._turn = self._actors[self._turn], (self._turn + 1) % len(self._actors)
            actor.look()
            if actor.busy:
                actor.play()
                break
        else:
            time.sleep(min(timeout_s, WAIT_S))  # all wait for a network that is on its way
        return self.arrivals(self.end.take())

    def lost(self) -> str:
        """Never."""
        return ""

    def incidents(self) -> list[Trouble]:
        """None."""
        return []

    def close(self) -> None:
        """Close the games and both ends."""
        for actor in self._actors:
            actor.close()
        self._actors = []
        self.end.close()


class _Counted:
    """The learner's end of what its own process receives: counts it."""

    def __init__(self, before: Lost) -> None:
        self._arrivals = Arrivals(before)

    def take(self) -> list[Parcel]:
        """Nothing waits here."""
        return []

    def publish(self, frame: Frame, version: int) -> None:
        """Networks go another way."""

    def admit(self, parcel: Parcel) -> bool:
        """Whether it is new."""
        return self._arrivals.admit(parcel)

    @property
    def lost(self) -> Lost:
        """What is missing by now."""
        return self._arrivals.lost

    def close(self) -> None:
        """Nothing to close."""


class ActorsApart(_Received):
    """Actors in processes of their own that stream parcels to the learner's."""

    def __init__(self, workers: Supervisor, before: Lost) -> None:
        self._counted = _Counted(before)
        super().__init__(self._counted)
        self._workers = workers

    def publish(self, weights: Weights) -> None:
        """As ``SamplerPool``."""
        self.epoch = weights.epoch
        self._workers.publish(encode_weights(weights))

    def gather(self, timeout_s: float, most: int) -> list[Arrival]:
        """As ``SamplerPool``."""
        found = []
        for one in self._workers.gather(timeout_s, most):
            (epoch,), parcel = json.loads(bytes(one.frames[0])), decode(bytes(one.frames[1]))
            if self._counted.admit(parcel):
                found += [arrival._replace(epoch=epoch) for arrival in self.arrivals([parcel], one.worker)]
        return found

    def lost(self) -> str:
        """As ``SamplerPool``."""
        return self._workers.lost()

    def incidents(self) -> list[Trouble]:
        """As ``SamplerPool``."""
        return self._workers.incidents()

    def close(self) -> None:
        """As ``SamplerPool``."""
        self._workers.close()


class OverRedis(_Received):
    """Actors whose experience goes over Redis. ``here``: those in this process; ``workers``: those in others."""

    def __init__(
        self, end: RedisLearner, redis: _Redis, *, here: ActorsHere | None = None, workers: Supervisor | None = None
    ) -> None:
        super().__init__(end)
        self._line, self._redis, self._here, self._workers = end, redis, here, workers
        self._state, self._restarts = "", 0

    def publish(self, weights: Weights) -> None:
        """As ``SamplerPool``."""
        self.end.publish(encode_weights(weights), weights.version)

    def gather(self, timeout_s: float, most: int) -> list[Arrival]:
        """As ``SamplerPool``."""
        if self._here is not None:
            return self._here.gather(timeout_s, most)
        assert self._workers is not None
        until = time.monotonic() + timeout_s
        while True:
            found = self.arrivals(self.end.take())
            self._workers.gather(0.0 if found else WAIT_S, 1)  # nothing streams; the supervisor looks after them
            if found or time.monotonic() >= until:
                return found

    def lost(self) -> str:
        """As ``SamplerPool``."""
        return self._workers.lost() if self._workers is not None else ""

    def incidents(self) -> list[Trouble]:
        """Also when Redis stops answering or is full, and when that is over."""
        found = self._workers.incidents() if self._workers is not None else []
        if self._redis.restarts > self._restarts:
            self._restarts = self._redis.restarts
            found.append(Trouble("redis", "The Redis of this study had ended. It was started again, empty."))
        state = _SILENT if self._line.silent else _FULL if self._line.full else ""
        if state != self._state:
            self._state = state
            found.append(Trouble("redis", state or "Redis answers again, and has room."))
        return found

    def close(self) -> None:
        """As ``SamplerPool``; its own Redis is ended."""
        if self._here is not None:
            self._here.close()
        if self._workers is not None:
            self._workers.close()
        self.end.close()
        self._redis.close()


_GOES_ON = "The learner goes on with what it has; what actors play meanwhile is lost, and counted."
_SILENT = f"Redis does not answer. {_GOES_ON}"
_FULL = f"Redis has no room for the newest network. {_GOES_ON}"


def open_actors(
    config: StartsConfig, store: Store, tick: int, before: Lost, should_stop: ShouldStop = lambda: False
) -> ActorsHere | ActorsApart | OverRedis:
    """The actors of a study, from round ``tick`` on; ``before``: what was lost earlier. Raises ConfigError,
    SimulatorError when a game cannot be made here, Cancelled, ActorLost when there is no Ray at the address."""
    if config.replay.where == "redis":
        return _over_redis(config, store, tick, before, should_stop)
    if config.pool.kind == "local":
        here = ExperienceHere(len(config.tasks), before=before)
        return ActorsHere(config, store, here, here.actor, tick * LIVES, should_stop)
    return ActorsApart(_workers(config, store, tick), before)


class _Redis:
    """The Redis of a study: its own, or the one at an address. ``restarts``: how often its own was started again."""

    def __init__(self, config: StartsConfig) -> None:
        from engine.runtime.redis_server import RedisServer  # other studies do not load it

        self.server = None if config.replay.address else RedisServer(config.replay.megabytes)
        self.url = config.replay.address if self.server is None else self.server.url
        self.restarts = 0

    def mend(self) -> bool:
        """Start its own again if it has ended; whether it is there again."""
        mended = self.server is not None and self.server.mend()
        self.restarts += mended
        return mended

    def close(self) -> None:
        """End its own."""
        if self.server is not None:
            self.server.close()


def _over_redis(config: StartsConfig, store: Store, tick: int, before: Lost, should_stop: ShouldStop) -> OverRedis:
    from engine.runtime.redis_experience import Place, RedisActor, RedisLearner, reachable

    redis = _Redis(config)
    try:
        reachable(redis.url, "replay.address")
        place = Place(redis.url, secrets.token_hex(8), 1)
        end = RedisLearner(place, len(config.tasks), redis.mend, before)
        if config.pool.kind == "local":
            here = ActorsHere(config, store, end, lambda task: RedisActor(place, task), tick * LIVES, should_stop)
            return OverRedis(end, redis, here=here)
        return OverRedis(end, redis, workers=_workers(config, store, tick, redis.url, place.job))
    except BaseException:
        redis.close()
        raise


def _workers(config: StartsConfig, store: Store, tick: int, redis: str = "", attempt: str = "") -> Supervisor:
    from engine.runtime.members import WorkerLimits
    from engine.runtime.ray_workers import RayWorkers  # a local study loads neither Ray nor ZeroMQ

    settled = config.model_dump(mode="json")

    def payload(number: int, life: int) -> bytes:
        return msgspec.json.encode(Order(settled, store.address, number, tick * LIVES + life, redis, attempt))

    return RayWorkers(
        SAMPLERS["starts"], payload, config.samplers, policies=(AGENT,), address=config.pool.address, bound=BOUND,
        flat=config.pool.layout == "flat", title="Actor", together=config.sampling == "synchronous",
        limits=WorkerLimits(**PATIENCE),
    )  # fmt: skip
