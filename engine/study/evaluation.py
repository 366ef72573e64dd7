"""The evaluations of a training study: whole fresh episodes, played in a thread beside the one that reads commands.

A game in the learner's own process may hang and cannot be killed there. So a thread of its own plays it, and the study
waits for that thread only as long as the game answers (a game that also holds Python's lock cannot be abandoned).
"""

from __future__ import annotations

import contextlib
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from typing import NamedTuple

from engine.config.train import TrainConfig
from engine.errors import Cancelled, SimulatorError
from engine.mdp.vector import Game
from engine.rl.cast import Snapshots
from engine.rl.examine import Examination, examine
from engine.rl.policy import Policy
from engine.simulators import references
from engine.simulators.game_client import ExternalGame
from engine.store import Store
from engine.study.casting import cast_of, facing, players_of
from engine.study.control import Control
from engine.study.sampler_factory import seated

LAST = 1_000_000
"""The first seed of a study's last evaluation; those during training never reach it."""
SILENT_S = 120.0
"""Seconds without an answer after which the game is given up: longer than the time limit of a game in a process of its
own, whose error says more."""
PATIENT_S = 5.0
"""The same after the study was commanded to end."""
_POLL_S = 0.2


class MeasuredPolicies(NamedTuple):
    """The policies to measure: all learning ones in their ``present`` state; and their snapshots."""

    config: TrainConfig
    store: Store
    present: Mapping[str, Policy]
    snapshots: Snapshots

    @property
    def battles(self) -> list[tuple[tuple[str, ...], str]]:
        """The evaluations to play, as (policies measured, opponent). Where the seats are fixed and no other opponents
        are named, all policies would have identical battles, so these are played once for all."""
        if cast_of(self.config).fixed and all(self.config.against(name) == ("",) for name in self.present):
            return [(tuple(self.present), "")]
        return [((name,), opponent) for name in self.present for opponent in self.config.against(name)]


Found = dict[str, dict[str, Examination]]
"""Results by policy and opponent ("": opponents drawn as in training)."""


def evaluate(
    measured: MeasuredPolicies, first: int, control: Control, beside: Callable[[], None] = lambda: None
) -> Found | None:
    """Fresh episodes of every policy, with seeds numbered from ``first``; None when a command interrupted them;
    ``beside``, which raises nothing, is called several times a second meanwhile. Raises SimulatorError when the game
    stops answering, and whatever the game raises."""
    try:
        return _Evaluation(measured, first, control).examination(beside)
    except Cancelled:
        return None


class _Evaluation:
    """``examination`` waits in the study's thread; ``_play`` and ``_stopped`` run in another one."""

    def __init__(self, measured: MeasuredPolicies, first: int, control: Control) -> None:
        self._measured, self._first, self._control = measured, first, control
        self._answers = 0
        self._program: ExternalGame | None = None
        self._found: Future[Found] = Future()
        self._thread = threading.Thread(target=self._play, name="evaluation", daemon=True)

    def examination(self, beside: Callable[[], None]) -> Found:
        """Raises Cancelled, SimulatorError, and what the game raises."""
        self._thread.start()
        silent_s, heard = 0.0, 0
        while not wait([self._found], _POLL_S).done:
            # Waits are counted, not timed, so that a process that was suspended does not blame the game.
            silent_s = silent_s + _POLL_S if heard == self._answers else 0.0
            heard = self._answers
            self._look(silent_s)
            beside()
        return self._found.result()

    def _look(self, silent_s: float) -> None:
        if silent_s < PATIENT_S:
            return
        if self._control():
            if self._program is None:
                raise Cancelled("The evaluation was asked to stop, and its game does not answer")
            self._program.cancel()  # it has deadlines of its own
        if silent_s > SILENT_S:
            raise SimulatorError(
                f"The game has not answered for {SILENT_S:g} s during an evaluation; it is in {self._where()}. As a "
                "program of its own (python:module:factory or command:program) it would be ended and started again."
            )

    def _where(self) -> str:
        """The thread's call stack, the innermost call first."""
        calls = traceback.extract_stack(sys._current_frames().get(self._thread.ident or 0))[-3:]
        return ", called by ".join(f"{c.name} ({c.filename.rpartition('/')[2]}, line {c.lineno})" for c in calls[::-1])

    def _play(self) -> None:
        config = self._measured.config
        try:
            with contextlib.closing(
                references.make(config.game, config.episodes, lambda: bool(self._control()))
            ) as game:
                self._program, game = references.program_of(game), seated(config, game)
                found: Found = {name: {} for name in self._measured.present}
                for names, opponent in self._measured.battles:
                    for name, one in self._examined(names, opponent, game).items():
                        found[name][opponent] = one
        except BaseException as error:  # raised again in the waiting thread
            self._found.set_exception(error)
        else:
            self._found.set_result(found)

    def _examined(self, names: Sequence[str], opponent: str, game: Game) -> dict[str, Examination]:
        config, store, present, snapshots = self._measured
        seats = {name: cast_of(config).places(name)[0] for name in names}
        found = examine(
            {seat: present[name] for name, seat in seats.items()}, game, config.episodes, config.seed,
            cast=facing(config, opponent), players=players_of(config, game.spec.seats, store, present, explore=False),
            snapshots=snapshots, first=self._first, stopped=self._stopped,
        )  # fmt: skip
        return {name: found[seat] for name, seat in seats.items()}

    def _stopped(self) -> bool:
        """Called at every decision, which also shows that the game has just answered."""
        self._answers += 1
        return self._control() != ""
