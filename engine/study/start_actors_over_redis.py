"""The actors of a study of tasks whose experience goes to the learner over a Redis: its own, or one at an address."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from engine.channel import Weights, encode_weights
from engine.config.starts import ReplayConfig, StartsConfig
from engine.errors import ConfigError
from engine.experience import Fits, Lost
from engine.problem import ShouldStop
from engine.rl.collector import Arrival
from engine.runtime.outcomes import Closed, Trouble
from engine.store import Store
from engine.study.ended_actors import EndedActors
from engine.study.sampler_pool import LIVES
from engine.study.start_actor import CUT_OFF_S, WAIT_S, workers
from engine.study.start_actors_here import LocalActors, arrivals

if TYPE_CHECKING:
    from engine.runtime.cluster import Cluster, Host
    from engine.runtime.redis_experience import RedisLearner
    from engine.runtime.supervisor import Supervisor

ADDRESS = "EQUIPOISE_REPLAY_REDIS"
"""The variable with which an operator names a Redis for all studies that name none."""
_GOES_ON = "The learner goes on with what it has; what actors play meanwhile is lost, and counted."
_SILENT = f"Redis does not answer. {_GOES_ON}"
_OVER = "Redis answers again, has room, and refuses nothing."
_FULL = (
    "Redis has no room for the newest network. Actors play with the last one that they got, or wait for their first. "
    f"{_GOES_ON}"
)


class NamedRedis(NamedTuple):
    """The ``address`` of a Redis, and the setting ``field`` in which it stands; both empty: a study has its own."""

    address: str
    field: str


def named_redis(replay: ReplayConfig) -> NamedRedis:
    """The Redis that a study names or, where it names none, its operator."""
    if replay.address:
        return NamedRedis(replay.address, "replay.address")
    return NamedRedis(address, ADDRESS) if (address := os.environ.get(ADDRESS, "")) else NamedRedis("", "")


class _Redis:
    """The Redis of a study: its own, or the one at an address. ``restarts``: how often its own was started again."""

    def __init__(self, config: StartsConfig) -> None:
        """Raises ConfigError where nobody answers at the address, EngineError where its own does not start."""
        from engine.runtime.redis_check import reachable
        from engine.runtime.redis_server import RedisServer  # other studies load neither

        address, field = named_redis(config.replay)
        if address:
            reachable(address, field)
        self.server = None if address else RedisServer(config.replay.megabytes)
        self.url = address if self.server is None else self.server.url
        self.restarts, self._field = 0, field

    def hosts(self, cluster: Cluster) -> Sequence[Host]:
        """The machines of actors. Raises ConfigError where there are others than this one, which cannot reach a path of
        this machine."""
        if (several := len(cluster.hosts)) > 1 and self.url.startswith("unix:"):
            here = f"Ray has {several} machines, and from the others nobody reaches a Redis at a path of this one"
            advice = f"give the address of one that all of them reach (replay.address or {ADDRESS}), or choose memory"
            raise ConfigError([(self._field or "replay.where", f"{here}: {advice}")])
        return cluster.hosts

    def mend(self, failed: int) -> bool:
        """Start its own again if it has ended or hangs; whether it is there again."""
        mended = self.server is not None and self.server.mend(failed)
        self.restarts += mended
        return mended

    def close(self) -> None:
        """End its own."""
        if self.server is not None:
            self.server.close()


class OverRedis(Closed):
    """Actors whose experience goes over Redis. ``here``: those in this process; ``workers``: those in others, and
    ``ended`` those of them that were killed."""

    def __init__(
        self, config: StartsConfig, end: RedisLearner, redis: _Redis, *, here: LocalActors | None = None,
        workers: Supervisor | None = None, ended: EndedActors | None = None,
    ) -> None:  # fmt: skip
        self.end, self._redis, self._here, self._workers = end, redis, here, workers
        self._config, self._ended = config, ended
        self._state, self._restarts = "", 0
        self._cut_off, self._reported = set[int](), set[int]()
        self._well_since = time.monotonic()

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
            found = arrivals(self.end.take())
            for said in self._workers.gather(0.0 if found else WAIT_S, 1):  # the supervisor looks after them, too
                self._reaches(said.worker, cut_off=json.loads(bytes(said.frames[0])))
            self._count_ended()
            if found or time.monotonic() >= until:
                return found

    def _count_ended(self) -> None:
        for number, counts in self._ended.take() if self._ended is not None else ():
            self.end.ended(self._config.task_of(number), counts)
            self._reaches(number, cut_off=False)

    def _reaches(self, number: int, *, cut_off: bool) -> None:
        self._cut_off = self._cut_off | {number} if cut_off else self._cut_off - {number}

    @property
    def blocked(self) -> bool:
        """Whether Redis lets nothing through, or some actors get no network from it."""
        return bool(self._state or self._cut_off)

    @property
    def missing(self) -> Lost:
        """Decisions that were made and never arrived."""
        return self.end.lost

    def lost(self) -> str:
        """As ``SamplerPool``."""
        return self._workers.lost() if self._workers is not None else ""

    def incidents(self) -> list[Trouble]:
        """Also when Redis stops answering, is full or refuses something, and when that is over."""
        found = self._workers.incidents() if self._workers is not None else []
        if self._redis.restarts > self._restarts:
            self._restarts = self._redis.restarts
            found.append(
                Trouble("redis-restarted", "The Redis of this study had ended or hung. It was started again, empty.")
            )
        refuses = f"Redis refuses what the study needs: {self.end.refusal}. {_GOES_ON}" if self.end.refusal else ""
        state = _SILENT if self.end.silent else _FULL if self.end.full else refuses
        if state != self._state:
            self._state = state
            waits = f" Parcels of decisions that wait there so far: {self.end.untaken:,}." if self.end.untaken else ""
            found.append(Trouble("redis", f"{state}{waits}") if state else Trouble("redis-well", _OVER))
        now = time.monotonic()
        self._well_since = now if state else self._well_since
        return [*found, *self._newly_cut_off()] if now - self._well_since > CUT_OFF_S else found

    def _newly_cut_off(self) -> list[Trouble]:
        """What is said of actors whose Redis does not reach them, though it has answered the learner for long."""
        new, before = self._cut_off - self._reported, self._reported
        self._reported = self._cut_off
        if new:
            tasks = sorted({self._config.task_of(number) for number in self._cut_off})
            names = ", ".join(f"“{self._config.ordered[task].name}”" for task in tasks)
            who = f"{len(self._cut_off)} actors" if len(self._cut_off) > 1 else "An actor"
            why = f"{who} of {names} got no network from Redis for {CUT_OFF_S:g} s, though it answers the learner"
            return [Trouble("redis-cut-off", f"{why}. See that it can be reached from every machine of Ray.")]
        well = "All actors get networks from Redis again."
        return [Trouble("redis-well", well)] if before and not self._cut_off else []

    def close(self) -> None:
        """As ``SamplerPool``; its own Redis is ended."""
        if self._here is not None:
            self._here.close()
        if self._workers is not None:
            self._workers.close()
        self._count_ended()
        self.end.close()
        if self._ended is not None:
            self._ended.close()
        self._redis.close()


def over_redis(
    config: StartsConfig, store: Store, tick: int, before: Lost, should_stop: ShouldStop, job: str, fits: Fits
) -> OverRedis:
    """As ``engine.study.start_actors.open_actors``. Keys are the job's, and in it this attempt's."""
    from engine.runtime.redis_experience import Place, RedisActor, RedisLearner

    redis = _Redis(config)
    try:
        place = Place(redis.url, job, secrets.token_hex(4))
        end = RedisLearner(place, len(config.tasks), redis.mend, before, fits)
        if config.pool.kind == "local":
            here = LocalActors(config, store, end, lambda task: RedisActor(place, task), tick * LIVES, should_stop)
            return OverRedis(config, end, redis, here=here)
        ended = EndedActors()
        try:
            playing = workers(config, store, tick, ended.begins, should_stop, place, redis.hosts)
        except BaseException:
            ended.close()
            raise
        return OverRedis(config, end, redis, workers=playing, ended=ended)
    except BaseException:
        redis.close()
        raise
