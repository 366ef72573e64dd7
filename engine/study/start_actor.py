"""One actor of a study of tasks, in the learner's process or in one of its own: what it plays, and where to."""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from engine.catalog import SAMPLERS
from engine.channel import Frame, Subscriber
from engine.config.base import parse
from engine.config.policies import AGENT
from engine.config.starts import StartsConfig
from engine.errors import ConfigError
from engine.experience import NO_EPISODES, ActorEnd, Columns, Floats, Network, Numbering, Parcel, encode
from engine.mdp.vector import in_turns
from engine.problem import ShouldStop
from engine.rl.devices import on_threads
from engine.rl.factory import make_learner
from engine.rl.replayed import Replayed
from engine.rl.task_actor import TaskActor
from engine.simulators import references
from engine.store import Store
from engine.stores import open_store
from engine.study import pools
from engine.study.sampler_factory import at_once, seated
from engine.study.sampler_pool import BOUND, LIVES

if TYPE_CHECKING:
    from engine.runtime.cluster import Cluster, Host
    from engine.runtime.redis_experience import RedisActor
    from engine.runtime.supervisor import Supervisor

WAIT_S = 0.02
"""How long one rests that has nothing to play."""
CUT_OFF_S = 60.0
"""Seconds without a network, or without an answer from its Redis, after which an actor says so."""


class ActorOrder(msgspec.Struct, frozen=True):
    """The payload for an actor: the study, its store's address, the actor's number, how its battles begin, and where
    its experience goes: Redis' address, and the job's and the attempt's part of its keys; empty: to the learner's
    process. ``counts``: the file in which it counts (``engine.actor_counts``)."""

    config: dict[str, object]
    store: str
    number: int
    beginning: int = 0
    redis: str = ""
    job: str = ""
    attempt: str = ""
    counts: str = ""


def make_actor(
    config: StartsConfig, store: Store, number: int, end: ActorEnd, beginning: int = 0,
    should_stop: ShouldStop = lambda: False,
) -> TaskActor:  # fmt: skip
    """Actor ``number`` with the game of its task. Raises ConfigError, SimulatorError, and Cancelled once
    ``should_stop`` returns True."""
    task = config.task_of(number)
    training = config.training(task)
    game = seated(training, references.make(training.game, config.environments, should_stop))
    if in_turns(game):
        game.close()
        raise ConfigError([("game.name", "its seats take turns, and here one agent plays alone: choose another game")])
    sampler = at_once(training, game, store, number)
    learner = cast(Replayed, make_learner(config.learner, game.spec.seats[0], config.seed, config.steps))
    waits = config.sampling == "synchronous"
    return TaskActor(task, sampler, learner, end, waits=waits, ahead=config.ahead, beginning=beginning)


class StreamedEnd:
    """An actor's end whose parcels its worker streams, and whose networks come as weights are published."""

    def __init__(self, task: int, counts: str = "") -> None:
        self._numbering = Numbering(task, counts)
        self.parcels: deque[Parcel] = deque()
        self.subscriber: Subscriber | None = None
        self._seen = 0

    def add(
        self, columns: Columns, returns: Sequence[float] = (), version: int = 0, episodes: Floats = NO_EPISODES
    ) -> bool:
        """Keep transitions until they are streamed."""
        parcel = self._numbering.parcel(columns, returns, version, episodes)
        self.parcels.append(parcel)
        self._numbering.delivered(parcel)
        return True

    def newest(self, *, ask: bool = False) -> Network | None:
        """The newest network, unless it was returned before."""
        frame = None if self.subscriber is None else self.subscriber.newest(0.0)
        if frame is None:
            return None
        self._seen += 1
        return Network(self._seen, frame)

    def close(self) -> None:
        """Nothing to close."""


class Acting:
    """Runs one actor until its process ends. Its experience is ``streamed``, or goes over a Redis (``end``)."""

    def __init__(self, actor: TaskActor, streamed: StreamedEnd | None, end: RedisActor | None = None) -> None:
        self.actor, self.streamed, self.end = actor, streamed, end
        self._cut_off, self._since = False, math.inf

    def stream(self, subscriber: Subscriber, beat: Callable[[bool], None]) -> Iterator[list[Frame]]:
        """Play for ever, with one thread of torch."""
        actor, streamed = self.actor, self.streamed
        if streamed is not None:
            streamed.subscriber = subscriber
        with on_threads(1):
            while True:
                actor.look()
                yield from self._changes()
                if not actor.busy:
                    beat(streamed is not None)
                    time.sleep(WAIT_S)
                    yield []
                    continue
                actor.play(lambda: beat(False))
                yield from self._sent() if streamed is not None else ([],)

    def _changes(self) -> Iterator[list[Frame]]:
        """Whether it is cut off from its Redis, once it is and once it is no longer: true or false as JSON. Nobody else
        knows, for it beats all the same."""
        if self.end is None:
            return
        now, reached = time.monotonic(), self.actor.weights is not None and not self.end.silent
        self._since = math.inf if reached else min(self._since, now)
        if (now - self._since > CUT_OFF_S) != self._cut_off:
            self._cut_off = not self._cut_off
            yield [json.dumps(self._cut_off).encode()]

    def _sent(self) -> Iterator[list[Frame]]:
        assert self.streamed is not None
        assert self.actor.weights is not None
        while self.streamed.parcels:
            head = json.dumps([self.actor.weights.epoch]).encode()
            yield [head, encode(self.streamed.parcels.popleft())]

    def close(self) -> None:
        """Close its actor."""
        self.actor.close()


def build(payload: bytes) -> Acting:
    """The actor of a worker."""
    order = msgspec.json.decode(payload, type=ActorOrder)
    config, store = parse(StartsConfig, order.config), open_store(order.store)
    task = config.task_of(order.number)
    if not order.redis:
        streamed = StreamedEnd(task, order.counts)
        return Acting(make_actor(config, store, order.number, streamed, order.beginning), streamed)
    from engine.runtime.redis_experience import Place, RedisActor

    end = RedisActor(Place(order.redis, order.job, order.attempt), task, counts=order.counts)
    return Acting(make_actor(config, store, order.number, end, order.beginning), None, end)


def workers(
    config: StartsConfig, store: Store, tick: int, begins: Callable[[int], str], should_stop: ShouldStop,
    redis: tuple[str, str, str] = ("", "", ""), hosts: Callable[[Cluster], Sequence[Host]] = pools.every_host,
) -> Supervisor:  # fmt: skip
    """All actors in processes of their own, from round ``tick`` on; ``begins``: gives the file in which an actor
    counts whose process begins; ``redis``: as in ``ActorOrder``; ``hosts``: the machines that they run on. Raises
    ActorLost, Cancelled, and what ``hosts`` raises."""
    settled = config.model_dump(mode="json")

    def payload(number: int, life: int) -> bytes:
        beginning = tick * LIVES + life
        return msgspec.json.encode(ActorOrder(settled, store.address, number, beginning, *redis, counts=begins(number)))

    return pools.workers(
        config.pool, SAMPLERS["starts"], payload, config.samplers, title="Actor", policies=(AGENT,), bound=BOUND,
        together=True, should_stop=should_stop, hosts=hosts,
    )  # fmt: skip
