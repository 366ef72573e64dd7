"""Trainings that evaluate their policies on fresh episodes at the end of some rounds, in the loop of
``engine.study.learning``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from engine.events import AnyEvent, Counters, Finished, Logged, Paused, Progressed, Stopped
from engine.rl.learner import Metrics
from engine.store import Store
from engine.study.control import Command, Control
from engine.study.learning import Learning


class EvaluatedRounds(Learning):
    """``pending``: the metrics of a round whose evaluation a command interrupted; ``reported``: the last round of which
    an event told; ``warned``: it was said that rounds are too short for an episode."""

    def __init__(self, store: Store, control: Control, *, waiting: bool) -> None:
        super().__init__(store, control, waiting=waiting)
        self.pending: Metrics = {}
        self.reported = 0
        self.warned = False

    @abstractmethod
    def examine(self) -> bool:
        """Evaluate the policies; False when a command interrupted it."""

    @abstractmethod
    def artifacts(self) -> dict[str, str]:
        """What a round leaves, stored, beside its checkpoint."""

    @abstractmethod
    def results(self) -> dict[str, str]:
        """What the study leaves, stored."""

    def short(self, message: str) -> Iterator[AnyEvent]:
        """Say once that no episode ended in a round of a synchronous training."""
        if self.waiting and not (self.curve.ended or self.warned):
            self.warned = True
            yield self.say(Logged, message=message)

    def examines(self, every: int, before: int) -> bool:
        """Whether an evaluation is due, as one is ``every`` so many rounds; ``before``: the round before this one."""
        return self.over or (every > 0 and self.tick // every > before // every)

    def interrupted(self) -> Iterator[AnyEvent]:
        if self.pending:
            yield from self.close_round(self.pending, due=True)

    @property
    def finishing(self) -> bool:
        return bool(self.pending)

    def close_round(self, metrics: Metrics, due: bool) -> Iterator[AnyEvent]:
        """Report the round, after an evaluation where one is ``due``. If a command ends the evaluation early, the
        checkpoint holds the pending metrics, and the attempt that continues from it evaluates again."""
        self.pending = metrics if due else {}
        if due and not self.examine():
            self.saved = self.checkpoint()
            return
        metrics, self.pending = metrics | (self.curve.evaluations() if due else {}), {}
        self.reported = self.tick
        artifacts = self.artifacts()
        self.saved = artifacts["checkpoint"] = self.checkpoint()
        yield self.say(Progressed, metrics=metrics, artifacts=artifacts)
        self.throttle.restart()

    def closing(self) -> dict[str, Any]:
        """What a checkpoint holds of a round that was not reported yet."""
        return {"pending": self.pending, **({"reported": self.reported} if self.pending else {})}

    def load_closing(self, meta: Mapping[str, Any]) -> None:
        """Continue from ``closing``."""
        self.pending, self.reported = meta["pending"], meta.get("reported", self.tick)

    def ended(self, command: Command) -> Iterator[AnyEvent]:
        """The last events. A pause within an evaluation also names what its round leaves: the checkpoint's snapshots
        are among it, and stores keep only what an event names."""
        if command:
            yield from self.keep(command)
        if command == "pause":
            left = self.artifacts() if self.finishing else {}
            yield self.say(Paused, artifacts=left | {"checkpoint": self.saved})
            return
        more: dict[str, Any] = {"reason": "Stopped by request."} if command else {}
        kind = Stopped if command else Finished
        yield self.say(kind, artifacts=self.results(), summary=self.curve.summary(self.steps), **more)

    def reached(self) -> tuple[int, Counters]:
        return self.reported, self.curve.counters(self.steps)
