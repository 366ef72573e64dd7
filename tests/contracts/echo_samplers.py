"""Samplers without a game: they tell which weights they got."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

from engine.channel import Frame, Subscriber, decode_weights
from engine.errors import SimulatorError
from tests.contracts.evaluators import Dangerous

HUNGRY_S = 1.0


class Echo:
    """Streams each version that it has got of both policies. ``trouble``: what it does when version 2 comes to its
    first life."""

    def __init__(self, number: int, life: int, trouble: str) -> None:
        self.number, self.life, self.trouble = number, life, trouble

    def stream(self, subscriber: Subscriber, beat: Callable[[bool], None]) -> Iterator[list[Frame]]:
        last, versions, heard_at = -1, {"left": -1, "right": -1}, time.monotonic()
        while True:
            # ZeroMQ may keep the newest frame back until the next one comes: what waits asks again, as samplers do.
            beat(last < 0 or time.monotonic() - heard_at > HUNGRY_S)
            if (frame := subscriber.newest(0.05)) is None:
                yield []
                continue
            heard_at = time.monotonic()
            weights = decode_weights(frame)
            versions[weights.policy] = weights.version
            if min(versions.values()) == last:
                continue
            last = min(versions.values())
            if last == 2 and self.number == 0 and self.life == 0:
                self.fail()
            yield [b"echo", json.dumps([self.number, self.life, last]).encode(), b""]

    def fail(self) -> None:
        if self.trouble == "hang":
            time.sleep(3600)
        if self.trouble:
            raise SimulatorError("the referee has left", permanent=self.trouble == "permanent")


class AnsweringEcho(Echo, Dangerous):
    """One that is also asked for evaluations."""

    def __init__(self, number: int, life: int, trouble: str) -> None:
        Echo.__init__(self, number, life, trouble)
        Dangerous.__init__(self)


def build_answering(payload: bytes) -> AnsweringEcho:
    """What an actor runs that does both."""
    order = json.loads(payload)
    return AnsweringEcho(order["number"], order["life"], order["trouble"])


def build(payload: bytes) -> Echo:
    """What an actor runs."""
    order = json.loads(payload)
    if order["trouble"] == "unbuildable":
        raise SimulatorError("there is no pitch")
    return Echo(order["number"], order["life"], order["trouble"])
