"""The one loop that drives every study that evaluates candidates, synchronous or steady-state. It reports as events.

A study supplies the evaluator, the algorithm, and the record of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from engine.arrays import Bundle
from engine.catalog import ALGORITHMS
from engine.config.algorithms import SearchAlgorithm
from engine.config.evolve import EvolveConfig
from engine.config.noise import NoiseConfig
from engine.config.study import FURTHER, BalanceStudy
from engine.events import AnyEvent, Counters, Finished, Logged, Paused, Progressed, Stopped
from engine.evolution.algorithm import Algorithm, Individual, Parts, Progress
from engine.evolution.fair import FairQueue
from engine.evolution.noise import Resampling
from engine.evolution.record import Record
from engine.problem import AnyContext, Evaluation, Problem, Request
from engine.runtime.pool import Pool
from engine.store import Store
from engine.study import checkpoint
from engine.study.algorithm_views import off_the_edge, remapped
from engine.study.checkpoint import Checkpoint, named
from engine.study.control import Command, Control
from engine.study.session import PoolSession

FRESH = 1_000_000
"""Searches never use replicates from here on, so a re-evaluation has fresh seeds."""


class Drive(PoolSession):
    """One execution of such a study. ``prepare`` sets ``record`` and ``algorithm``."""

    study: BalanceStudy | EvolveConfig
    role: str = "archive"
    """Role of the artifact that holds everything evaluated."""
    name: str = "list"
    """The algorithm's name in checkpoints."""
    fresh: int = 0
    """Replicates of the final front on seeds that the search never saw; 0: it is not measured again."""
    record: Record
    algorithm: Algorithm

    def __init__(self, config: BalanceStudy | EvolveConfig, store: Store, control: Control) -> None:
        super().__init__(config, config.pool, store, control)
        self.requests: dict[int, Request] = {}
        self.tick = 0
        self.settled: dict[str, float] = {}

    def learn(self, evaluation: Evaluation) -> list[Progress]:
        """Tell the algorithm an evaluation."""
        return self.algorithm.tell(evaluation)

    def halfway(self) -> Iterator[AnyEvent]:
        """Progress within a long round: an event with counters and no message."""
        yield self.say(Logged, message="")

    def put_aside(self) -> Iterator[AnyEvent]:
        """Called before the study is paused or stopped in the middle of a tick."""
        yield from ()

    def cut_off(self, command: Command) -> dict[str, str]:
        """Artifacts of the round under way, which this command cuts off."""
        return {}

    def asked(self, room: int) -> list[Request]:
        """Requests to hand out next."""
        return self.algorithm.ask(room)

    def cost(self, requests: Sequence[Request]) -> int:
        """Battles that so many requests take at most; 0: not known."""
        return 0

    def extras(self, front: Sequence[Individual]) -> tuple[dict[str, float], dict[str, str]]:
        """Metrics and artifacts of a tick beyond those of every study."""
        return {}, {}

    def results(self) -> dict[str, str]:
        """Final artifacts beyond those of every study."""
        return {}

    def load(self, saved: Checkpoint) -> None:
        self.algorithm.load(saved.below(f"algorithm/{self.name}"))
        self.record.load(saved.parts["record"].meta)
        self.record.load_under_way(saved.below("round"))
        self.tick, self.succeeded = saved.tick, self.record.succeeded

    def end(self, pool: Pool, command: Command) -> Iterator[AnyEvent]:
        if command == "pause":
            left = self.cut_off(command)  # before the summary, which counts it
            yield self.say(Paused, artifacts=left | {"checkpoint": self.saved}, summary=self._summary())
            return
        if command == "stop":
            left = self.cut_off(command)  # before the results, which count what waits among them
            results, summary = left | self._results(), self._summary()
            yield self.say(Stopped, reason="Stopped by request.", artifacts=results, summary=summary)
            return
        if reason := self.record.termination.reason:
            yield self.say(Logged, message=f"It ends here. {reason}")
        fresh = yield from self._fresh(pool)
        yield self.say(Finished, artifacts=self._results() | fresh, summary=self._summary())

    def drive(self, pool: Pool) -> Generator[AnyEvent, None, Command]:
        """The one loop. Returns the command that ended it, or nothing when the algorithm is done."""
        while not self.algorithm.done and not self._ended():
            if command := self.control():
                yield from self.put_aside()
                return command
            self._hand_out(pool)
            finished = self.finished(pool)
            for evaluation in finished:
                self.record.add(self.requests.pop(evaluation.id), evaluation, self.tick + 1)
                for progress in self.learn(evaluation):
                    self.tick = progress.tick
                    if not self._over():
                        self._hand_out(pool)  # workers continue while this round is written
                    yield self.progressed()
                    self.throttle.restart()
                if self._ended():
                    break  # evaluations after the last tick do not belong to the search
            if finished and self.throttle.due():
                yield from self.halfway()
            yield from self.troubles(pool)
        return ""

    def _ended(self) -> bool:
        """Whether a rule has ended the search."""
        return bool(self.record.termination.reason)

    def _over(self) -> bool:
        """Whether a rule ends the search with this tick."""
        record = self.record
        return bool(record.termination.look(record.counters(), self.algorithm.front(), record.hypervolume))

    def _hand_out(self, pool: Pool) -> None:
        requests = self.asked(pool.room)
        self.requests.update((r.id, r) for r in requests)
        if requests:
            self.submit(pool, requests)

    def progressed(self) -> AnyEvent:
        """A tick is complete: write the chunk and the checkpoint."""
        front = self.algorithm.front()
        artifacts = {"chunk": self.record.close_chunk(), "front": self.record.put(front)}
        metrics, more = self.extras(front)
        self.save()
        artifacts |= {**more, "checkpoint": self.saved}
        return self.say(Progressed, metrics=self.record.metrics(front) | metrics, artifacts=artifacts)

    def save(self) -> None:
        """Write a checkpoint."""
        self.saved = checkpoint.write(self.study, self.tick, self.parts(), self.store)

    def parts(self) -> Parts:
        """The parts of a checkpoint."""
        record = {"record": Bundle(self.record.state(), {}), **named("round", self.record.under_way())}
        return record | named(f"algorithm/{self.name}", self.algorithm.state())

    def _fresh(self, pool: Pool) -> Generator[AnyEvent, None, dict[str, str]]:
        """Evaluate the final front, and the whole map of MAP-Elites, again on seeds that the search never saw. The
        selection itself is not revised."""
        front, fresh = self.algorithm.front(), self.fresh
        if not front or not fresh:
            return {}
        others, share = off_the_edge(self.algorithm, front, fresh)
        asked = [*self._again(front, fresh), *self._again(others, share)]
        noun, played = self.record.problem.noun, "battles" if self.record.unit == "battles" else "episodes"
        rest = f" and the other {len(others)} of the map" if others else ""
        which = "of the edge" if self.record.unit == "battles" else "that no other of the last round beats"
        what = f"Measuring again, on fresh {played}: the {_many(len(front), noun)} {which}{rest}."
        found = yield from self._measured(pool, asked, what, last=not self.record.goes_on)
        if found and (open_ := self.record.undecided(found, FURTHER)):
            what = f"Playing {FURTHER} times as many {played} for {_many(len(open_), noun)} that they may well settle."
            further = self._again([(front + others)[i] for i in open_], fresh * FURTHER)
            longer = yield from self._measured(pool, further, what, last=True)
            found = [dict(zip(open_, longer, strict=True)).get(i, one) for i, one in enumerate(found)] if longer else []
        if not found:
            return {}
        self.record.settle(found)
        self.settled, artifacts = remapped(self.algorithm, found, self.record.meta(), self.store)
        artifacts |= {"fresh_elites": self.record.put_fresh(found[len(front) :])} if others else {}
        return {"fresh": self.record.put_fresh(found[: len(front)]), **artifacts}

    def _again(self, chosen: Sequence[Individual], replicates: int) -> list[Request]:
        """Requests that measure candidates on so many fresh seeds, in the contexts of their evaluations (same
        anchors)."""
        last, seed = FRESH + replicates, self.study.seed
        return [Request(i.evaluation.id, i.genome, FRESH, last, seed, i.evaluation.context) for i in chosen]

    def _measured(
        self, pool: Pool, requests: Sequence[Request], what: str, last: bool
    ) -> Generator[AnyEvent, None, list[Individual]]:
        """Log ``what`` is played, and play it; if it is the ``last``, how much is played in all is known. Returns the
        answers in the order of the requests, or none if a command comes."""
        asked = {request.id: request for request in requests}
        cost = self.cost(requests)
        self.record.planned = self.record.totals[self.record.unit] + cost if cost and last else 0
        yield self.say(Logged, message=what)
        self.submit(pool, requests)
        self.throttle.restart()
        found: dict[int, Individual] = {}
        while len(found) < len(asked):
            if self.control():
                return []
            finished = self.finished(pool)
            for e in finished:
                if e.id not in asked:
                    continue  # was still in flight when a rule ended the search
                found[e.id] = Individual(asked[e.id].genome, e, self.tick)
                self.record.totals[self.record.unit] += e.cost
                self.record.totals["cached"] += e.cached
            if finished and self.throttle.due():
                yield self.say(Logged, message="")
            yield from self.troubles(pool)
        return [found[i] for i in asked]

    def _results(self) -> dict[str, str]:
        found = {self.role: self.record.archive(), "front": self.record.put(self.algorithm.front())}
        return found | self.results() | ({"checkpoint": self.saved} if self.saved else {})

    def _summary(self) -> dict[str, Any]:
        counters, unit = self.record.counters(), self.record.unit
        speed = getattr(counters, unit) / counters.seconds if counters.seconds else 0.0
        front = self.algorithm.front()
        lost = {"given_up": self.record.given_up} if self.record.given_up else {}
        found = {**self.record.metrics(front), **self.extras(front)[0], **self.settled}
        return {f"{unit}_per_second": speed, **found, **lost}

    def reached(self) -> tuple[int, Counters]:
        return self.tick, self.record.counters()


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}s" if count > 1 else f"one {noun}"


def searching(
    chosen: SearchAlgorithm, problem: Problem, ticks: int, seed: int, replicates: int, noise: NoiseConfig,
    context: AnyContext, make: Callable[..., Any] | None = None,
) -> Algorithm:  # fmt: skip
    """The ``chosen`` algorithm in its wrappers for noise and for unequal evaluation times. ``make``: its class, where
    it is not the one of its kind. Raises ConfigError."""
    settings = chosen.model_dump(exclude={"population"})
    make = make or ALGORITHMS[settings["kind"]].load()
    search = make(problem, chosen.population, ticks, seed, replicates, context, **settings)
    noisy = Resampling(search, **noise.model_dump()) if noise.used else search
    return FairQueue(noisy) if chosen.queued and chosen.without_rounds else noisy
