"""Small evaluators for the tests of the pools: deterministic functions of the genome, some of them dangerous.

A genome is int64[3]: (value, what it does to its worker, an argument). Payload: ``{"marks": folder}``; every evaluation
that is dangerous leaves a mark there first, so that a test can count what really happened.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from engine.channel import Streamed
from engine.errors import ConfigError, SimulatorError
from engine.problem import (
    Capabilities,
    Context,
    Evaluation,
    Genome,
    LineupContext,
    Objective,
    Problem,
    Request,
    ShouldStop,
    TrainingContext,
)
from engine.simulators.conversation import never

PLAIN, POISON, DIES_AT_FIRST, RAISES, HANGS, SLOW, SIMULATOR_DIES, SIMULATOR_BROKEN, NO_ANSWER, FREEZES = range(10)
STREAMS, STREAM_BREAKS = 10, 11


class Line:
    """The space of the test genomes."""

    can = Capabilities()

    def sample(self, rng: np.random.Generator, n: int) -> Genome:
        """n plain genomes."""
        return np.stack([rng.integers(0, 1000, n), np.zeros(n, np.int64), np.zeros(n, np.int64)], axis=1)

    def keys(self, genomes: Genome) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        """The value itself."""
        return genomes[:, 0].astype(np.uint64)


def answer(request: Request) -> Evaluation:
    """The true answer: depends on every field of the request."""
    rng = np.random.default_rng([request.seed, int(request.genome[0]), request.first, request.last])
    sample = rng.normal(size=(4, 2))
    given = request.context
    lineup = given if isinstance(given, LineupContext) else LineupContext()
    training = given if isinstance(given, TrainingContext) else TrainingContext()
    return Evaluation(
        request.id,
        sample.mean(axis=0),
        np.cov(sample.T),
        request.last - request.first,
        np.array([len(lineup.fidelity), len(lineup.patch + training.start), float(sum(lineup.anchors))]),
        violation=float(request.genome[0] % 2),
        cost=request.last - request.first,
        cached=int(request.genome[0] % 3),
        context=LineupContext(lineup.fidelity, anchors=(*lineup.anchors, int(request.genome[0]))),
        descriptor=sample[0] if request.genome[0] % 2 else None,
    )


class Dangerous:
    """Answers as ``answer`` does, after doing what the genome says to its worker."""

    def __init__(self, marks: str = "", pause_s: float = 0.0) -> None:
        self._marks, self._pause_s = marks, pause_s

    def describe(self) -> Problem:
        """Two objectives, three metrics."""
        return Problem(Line(), (Objective("a", "A"), Objective("b", "B")), ("x", "y", "z"))

    def initialize(self, rng: np.random.Generator) -> Genome:
        """One plain genome."""
        return Line().sample(rng, 1)[0]

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation | Streamed]:
        """Answers backwards, to show that the order does not matter."""
        for request in reversed(requests):
            if should_stop():
                return
            if self._pause_s:
                time.sleep(self._pause_s)
            yield from self._streams(request)
            if self._does(int(request.genome[1]), request, should_stop):
                yield answer(request)

    def _streams(self, request: Request) -> Iterator[Streamed]:
        """As many messages as its argument; the first time it may break in the middle."""
        _, what, n = request.genome.tolist()
        breaks = what == STREAM_BREAKS and not self._mark(request)
        for place in range(n if what in (STREAMS, STREAM_BREAKS) else 0):
            if breaks and place == n // 2:
                raise SimulatorError("The simulator ended by itself with exit code 3.")
            yield Streamed([b"%d" % place, bytes(1000)], request.id)

    def _does(self, what: int, request: Request, should_stop: ShouldStop) -> bool:
        before = self._mark(request) if what else 0
        if what == POISON or (what == DIES_AT_FIRST and before < request.genome[2]):
            os._exit(13)
        if what == RAISES:
            raise ValueError(f"genome {request.genome[0]} is odd")
        if what == HANGS and before < request.genome[2]:
            threading.Event().wait()
        if what == FREEZES and before < request.genome[2]:
            os.kill(os.getpid(), 19)
        if what == SLOW:
            time.sleep(request.genome[2] / 1000)
        if what == SIMULATOR_DIES and before < request.genome[2]:
            raise SimulatorError("The simulator ended by itself with exit code 3.")
        if what == SIMULATOR_BROKEN:
            raise SimulatorError("The simulator has no such hero; register it again.", permanent=True)
        return what != NO_ANSWER

    def _mark(self, request: Request) -> int:
        """How often this request was begun before."""
        if not self._marks:
            return 0
        marks = Path(self._marks) / str(request.id)
        with marks.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return len(marks.read_text().splitlines()) - 1


def build(payload: bytes, should_stop: ShouldStop = never) -> Dangerous:
    """The factory the pools are given."""
    return Dangerous(**json.loads(payload))


def build_refused(payload: bytes, should_stop: ShouldStop = never) -> Dangerous:
    """A factory whose configuration is wrong."""
    raise ConfigError([("game.patch", "There is no hero 99.")])


def build_dying(payload: bytes) -> Dangerous:
    """A factory that ends its process."""
    os._exit(14)


def requests(n: int, seed: int = 1, first_id: int = 0, replicates: int = 4) -> list[Request]:
    """n plain requests that differ in every field."""
    rng = np.random.default_rng(seed)
    genomes = Line().sample(rng, n)
    contexts = (
        LineupContext("full", "p" * 3, (0, 1)), LineupContext("quick", anchors=(2,)), TrainingContext("w"), Context(),
        TrainingContext(artifacts={"trained": "t"}),
    )  # fmt: skip
    return [
        Request(first_id + i, genomes[i], i % 3, i % 3 + replicates, 2**63 - 1 - i, contexts[i % len(contexts)])
        for i in range(n)
    ]


def dangerous(request: Request, what: int, argument: int = 0) -> Request:
    """The same request, with a genome that does something to its worker."""
    return request._replace(genome=np.array([request.genome[0], what, argument]))
