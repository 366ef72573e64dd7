"""The far end of a training study: sampler actors, and relays that hand weights on to the hosts below them."""

from __future__ import annotations

import importlib
import json
import logging
import os
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import msgspec

from engine.channel import Frame
from engine.channel import Pusher as Push
from engine.channel import Subscriber as Subscribe
from engine.errors import ActorLost, EngineError, SimulatorError
from engine.runtime import codec
from engine.runtime.actors import not_orphaned
from engine.runtime.answering import check_factory
from engine.runtime.channels import Ticket
from engine.runtime.streams import Publisher, Pusher, Source, Subscriber
from engine.runtime.zmq_streams import ZmqPublisher, ZmqPusher, ZmqSubscriber

logger = logging.getLogger(__name__)
TOLD = b"TOLD"
"""The first frame of a message about the actor itself; all others are what it collected."""


class Alive(msgspec.Struct, frozen=True, tag="alive"):
    """An actor lives as process ``pid``; it is ``ready`` once it has built what it needs, and ``hungry`` while it waits
    for weights. ``sources``: where those below a relay get them, on its host and beyond."""

    pid: int
    ready: bool = False
    hungry: bool = False
    sources: tuple[Source, ...] = ()


class Failing(msgspec.Struct, frozen=True, tag="failing"):
    """An actor ends because of ``broken``; another one in its place may fare better unless it is ``permanent``."""

    broken: codec.Broken
    permanent: bool


About = Alive | Failing
_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[About] = msgspec.json.Decoder(About)


def about(frames: Sequence[Frame]) -> About | None:
    """What an actor says about itself; None when these frames are something it collected. Raises EngineError."""
    if len(frames) != 2 or bytes(frames[0]) != TOLD:
        return None
    try:
        return _decoder.decode(frames[1])
    except msgspec.DecodeError as error:
        raise EngineError(f"A sampler sent a message that cannot be read: {error}.") from error


class Role(Protocol):
    """What a sampler actor runs."""

    def run(self, pusher: Push, subscriber: Subscribe, beat: Callable[[bool], None]) -> None:
        """Collect until the process ends; ``beat`` is called often, with True while weights are waited for."""
        ...


class Pulse:
    """Tells the learner every ``beat_s`` seconds that this actor lives, and asks ``check`` whether it should."""

    def __init__(self, pusher: Push, beat_s: float, check: Callable[[], None]) -> None:
        self._pusher, self._beat_s, self._check = pusher, beat_s, check
        self._at = 0.0

    def __call__(self, hungry: bool = False, *, sources: tuple[Source, ...] = ()) -> None:
        """Once in a while; a learner that is busy misses it."""
        now = time.monotonic()
        if now - self._at < (0.2 * self._beat_s if hungry else self._beat_s):
            return
        self._at = now
        self._check()
        try:
            self._pusher.push([TOLD, _encoder.encode(Alive(os.getpid(), True, hungry, sources))], 0.0)
        except ActorLost:
            logger.debug("The learner is busy; it misses one heartbeat.")


def serve(pusher: Push, subscriber: Subscribe, build: Callable[[], Role], pulse: Pulse) -> None:
    """Build a role and run it. What it cannot do is told to the learner before this ends."""
    pusher.push([TOLD, _encoder.encode(Alive(os.getpid()))], 60.0)
    try:
        build().run(pusher, subscriber, pulse)
    except ActorLost as error:
        logger.warning("%s This sampler ends.", error)
    except EngineError as error:
        permanent = not isinstance(error, SimulatorError) or error.permanent
        pusher.push([TOLD, _encoder.encode(Failing(codec.broken(error), permanent))], 60.0)
    except Exception as error:  # the remote-actor boundary
        logger.error("A sampler failed:\n%s", traceback.format_exc())
        reason = EngineError(f"A sampler failed: {type(error).__name__}: {error}")
        pusher.push([TOLD, _encoder.encode(Failing(codec.broken(reason), True))], 60.0)


def build_role(factory: str, payload: bytes, allowed: Sequence[str]) -> Role:
    """The role that ``module:function`` makes of a JSON payload. Raises EngineError for a path outside ``allowed``."""
    module, _, name = check_factory(factory, allowed).partition(":")
    make = cast("Callable[[bytes], Role]", getattr(importlib.import_module(module), name))
    json.loads(payload)
    return make(payload)


class SamplerActor:
    """What Ray places: one sampler in a process of its own."""

    def run(
        self, ticket: Sequence[Any], source: Sequence[Any], factory: str, payload: bytes, allowed: Sequence[str],
        beat_s: float,
    ) -> None:  # fmt: skip
        """Sample for the learner. One actor is one processor's worth of work, also for what games compile."""
        os.environ.setdefault("NUMBA_NUM_THREADS", "1")
        pusher, subscriber = ZmqPusher(Ticket(*ticket)), ZmqSubscriber(Source(*source))
        try:
            pulse = Pulse(pusher, beat_s, not_orphaned)
            serve(pusher, subscriber, lambda: build_role(factory, payload, allowed), pulse)
        finally:
            subscriber.close()
            pusher.close()


class Relay:
    """Hands every newest frame on: to its own host's samplers, and to the hosts below."""

    def __init__(self, subscriber: Subscriber, publishers: Sequence[Publisher]) -> None:
        self._subscriber, self._publishers = subscriber, publishers

    def step(self, timeout_s: float) -> bool:
        """Hand on one frame; whether there was one within ``timeout_s``."""
        frame = self._subscriber.newest(timeout_s)
        if frame is None:
            return False
        for publisher in self._publishers:
            publisher.publish(frame)
        return True


class RelayActor:
    """What Ray places once on every host but the learner's."""

    def run(self, ticket: Sequence[Any], source: Sequence[Any], host: str, beat_s: float) -> None:
        """Relay until the process ends; ``host``: this host's address."""
        pusher: Pusher = ZmqPusher(Ticket(*ticket))
        above = Source(*source)
        publishers = (ZmqPublisher(above.policies), ZmqPublisher(above.policies, host))
        relay = Relay(ZmqSubscriber(above), publishers)
        sources = tuple(publisher.source() for publisher in publishers)
        pulse = Pulse(pusher, beat_s, not_orphaned)
        while True:
            relay.step(beat_s / 4)
            pulse(sources=sources)
