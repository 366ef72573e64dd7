"""The actors of a study of tasks: in this process, or in processes of their own; and the way from them to the learner,
which is memory or a Redis."""

from __future__ import annotations

import json

from engine.channel import Weights, encode_weights
from engine.config.starts import StartsConfig
from engine.experience import Arrivals, ExperienceHere, Fits, Lost, anything, decode
from engine.problem import ShouldStop
from engine.rl.collector import Arrival
from engine.store import Store
from engine.study.ended_actors import EndedActors
from engine.study.pools import RemoteWorkers
from engine.study.sampler_pool import LIVES
from engine.study.start_actor import workers
from engine.study.start_actors_here import LocalActors, arrivals
from engine.study.start_actors_over_redis import OverRedis, over_redis


class RemoteActors(RemoteWorkers):
    """Actors in processes of their own that stream parcels to the learner's. Where the learner waits for them, one that
    takes the place of another plays the same again, so nothing is lost with that."""

    def __init__(self, config: StartsConfig, store: Store, tick: int, before: Lost, should_stop: ShouldStop) -> None:
        """Raises ActorLost, Cancelled."""
        self._config, self._arrivals, self._ended = config, Arrivals(before), EndedActors()
        try:
            super().__init__(workers(config, store, tick, self._ended.begins, should_stop))
        except BaseException:
            self._ended.close()
            raise

    @property
    def blocked(self) -> bool:
        """Never: what does not come was not played yet."""
        return False

    @property
    def missing(self) -> Lost:
        """Decisions that were made and never arrived."""
        return self._arrivals.lost

    def publish(self, weights: Weights) -> None:
        """As ``SamplerPool``."""
        self._workers.publish(encode_weights(weights))

    def gather(self, timeout_s: float, most: int) -> list[Arrival]:
        """As ``SamplerPool``."""
        found, ended = [], self._ended.take() if self._config.sampling == "asynchronous" else ()
        for number, counts in ended:
            self._arrivals.ended(self._config.task_of(number), counts)
        items = self._workers.gather(timeout_s, most)
        for one in items:
            (epoch,), parcel = json.loads(bytes(one.frames[0])), decode(bytes(one.frames[1]))
            if self._arrivals.admit(parcel):
                found += arrivals([parcel], epoch, one.worker)
        if len(items) < most:
            self._arrivals.taken(range(len(self._config.tasks)))
        return found

    def close(self) -> None:
        """As ``RemoteWorkers``; also removes the files in which actors count."""
        super().close()
        self._ended.close()


Actors = LocalActors | RemoteActors | OverRedis


def open_actors(
    config: StartsConfig, store: Store, tick: int, before: Lost, should_stop: ShouldStop = lambda: False, job: str = "",
    fits: Fits = anything,
) -> Actors:  # fmt: skip
    """The actors of a study, from round ``tick`` on. ``before``: what was lost earlier; ``job``: the same in all
    attempts at it, and another in every other job; ``fits``: of what comes over a Redis, what can be learned from.
    Raises ConfigError, SimulatorError when a game cannot be made here,
    Cancelled, ActorLost when there is no Ray at the address."""
    if config.replay.where == "redis":
        return over_redis(config, store, tick, before, should_stop, job, fits)
    if config.pool.kind == "local":
        here = ExperienceHere(len(config.tasks), before=before)
        return LocalActors(config, store, here, here.actor, tick * LIVES, should_stop)
    return RemoteActors(config, store, tick, before, should_stop)
