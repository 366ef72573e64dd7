"""The evaluations of a training study: whole fresh episodes, played beside the thread that hears wishes.

A game in the learner's own process may hang, and nothing can end it there. So it is played in a thread of its own, and
the study waits for that thread only as long as the game answers (one that also keeps Python's lock cannot be left).
"""

from __future__ import annotations

import contextlib
import sys
import threading
import traceback
from concurrent.futures import Future, wait

from engine.config.train import TrainConfig
from engine.errors import Cancelled, SimulatorError
from engine.rl.examine import Examination, examine
from engine.rl.policy import Policy
from engine.simulators.game_client import ExternalGame
from engine.study import games
from engine.study.control import Control

SILENT_S = 120.0
"""Without an answer of the game before it is given up: more than a program of its own has, which says more about it."""
PATIENT_S = 5.0
"""The same after somebody wished the study to end."""
_POLL_S = 0.2


def evaluate(config: TrainConfig, policy: Policy, first: int, control: Control) -> Examination | None:
    """Fresh episodes whose seeds are numbered from ``first``; None when somebody wished otherwise before they were
    over. Raises SimulatorError when the game does not answer any more, and whatever the game raises."""
    try:
        return _Evaluation(config, policy, first, control).examination()
    except Cancelled:
        return None


class _Evaluation:
    """``examination`` waits in the thread of the study, ``_play`` and ``_stopped`` run in one beside it."""

    def __init__(self, config: TrainConfig, policy: Policy, first: int, control: Control) -> None:
        self._config, self._policy, self._first, self._control = config, policy, first, control
        self._answers = 0
        self._program: ExternalGame | None = None
        self._found: Future[Examination] = Future()
        self._thread = threading.Thread(target=self._play, name="evaluation", daemon=True)

    def examination(self) -> Examination:
        """Raises Cancelled, SimulatorError, and what the game raises."""
        self._thread.start()
        silent_s, heard = 0.0, 0
        while not wait([self._found], _POLL_S).done:
            # Counted and not measured: a process that was frozen for a while blames no game for that.
            silent_s = silent_s + _POLL_S if heard == self._answers else 0.0
            heard = self._answers
            self._look(silent_s)
        return self._found.result()

    def _look(self, silent_s: float) -> None:
        if silent_s < PATIENT_S:
            return
        if self._control():
            if self._program is None:
                raise Cancelled("The evaluation was asked to stop, and its game does not answer")
            self._program.cancel()  # and has deadlines of its own
        if silent_s > SILENT_S:
            raise SimulatorError(
                f"The game has not answered for {SILENT_S:g} s during an evaluation; it is in {self._where()}. As a "
                "program of its own (python:module:factory or command:program) it would be ended and started again."
            )

    def _where(self) -> str:
        """What the thread does, the innermost call first."""
        calls = traceback.extract_stack(sys._current_frames().get(self._thread.ident or 0))[-3:]
        return ", called by ".join(f"{c.name} ({c.filename.rpartition('/')[2]}, line {c.lineno})" for c in calls[::-1])

    def _play(self) -> None:
        config = self._config
        try:
            with contextlib.closing(games.make(config.game, config.episodes)) as game:
                self._program = game if isinstance(game, ExternalGame) else None
                found = examine(
                    self._policy, game, config.episodes, config.seed, first=self._first, stopped=self._stopped
                )
        except BaseException as error:  # raised where it is waited for
            self._found.set_exception(error)
        else:
            self._found.set_result(found)

    def _stopped(self) -> bool:
        """Asked at every decision: the game has just answered."""
        self._answers += 1
        return self._control() != ""
