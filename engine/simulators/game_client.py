"""A game in another process as a ``VectorMDP``: any program that speaks ``equipoise-sim/1``.

The process starts at the first use. Any failure (it hangs, ends, answers nonsense) ends it with everything it started
and raises one SimulatorError with a sentence; the next ``reset`` starts a new process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError, SimulatorError
from engine.mdp.checks import check_batch
from engine.mdp.episodes import Episodes
from engine.mdp.interface import Array, MDPSpec, action_problem
from engine.mdp.vector import VectorStep
from engine.simulators import protocol
from engine.simulators.connection import Connection
from engine.simulators.program import Program
from engine.simulators.protocol import Actions, Arrays, Reset
from engine.simulators.states import from_arrays
from engine.starting import value_problems

NONE = "takes no settings; put them into the program's arguments"


class ExternalGame(Program[MDPSpec]):
    """``VectorMDP`` over ``equipoise-sim/1``. Python entry points may make a ``VectorMDP`` or an ``MDP``."""

    what = "game"
    begins: Mapping[str, Any] = {}
    """Where its episodes begin: values of its ``starts``."""
    _episodes: Episodes | None = None

    @property
    def spec(self) -> MDPSpec:
        """The game; starts the process the first time. Raises SimulatorError, and ConfigError (at "settings.NAME") for
        values of ``begins`` that it does not take."""
        return self._described()

    def _introduced(self, connection: Connection) -> MDPSpec:
        spec = connection.handshake_game(self._stopped)
        if wrong := [*value_problems(spec.starts, self.begins)]:
            connection.kill()
            raise ConfigError(
                (f"settings.{name}", why if spec.starts else f"{self.label} {NONE}") for name, why in wrong
            )
        return spec

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        self._stop.clear()
        self._episodes = Episodes(self.spec, seeds)
        self._connection()
        message = Reset(id=self._next_id(), deadline_ms=self._deadline_ms(), start=dict(self.begins))
        return self._ask(message, {"seeds": np.ascontiguousarray(seeds, np.uint64)}, len(seeds))

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``. After a SimulatorError that ended the program, call ``reset`` first."""
        if self._episodes is None or not self.pid:
            raise SimulatorError(f"{self.label} does not run; reset it before its next step")
        n, arrays = len(self._episodes.seeds), {}
        for i, (seat, given) in enumerate(zip(self.spec.seats, actions, strict=True)):
            problem = action_problem(seat.action, given, n)
            if problem:
                raise ConfigError([(f"seat {i}", f"the actions {problem}")])
            arrays[f"seat{i}.action"] = given
        step = self._ask(Actions(id=self._next_id(), deadline_ms=self._deadline_ms()), arrays, n)
        self._episodes.add(step.rewards)
        if step.ended is None:
            return step
        return step._replace(ended=step.ended._replace(**self._episodes.end(step.ended.battles)._asdict()))

    def _ask(self, message: Reset | Actions, arrays: Arrays, n: int) -> VectorStep:
        connection = self._connection()
        answer = connection.request(message, arrays, self._stopped)
        if not isinstance(answer.message, protocol.States):
            asked = protocol.type_name(message)
            connection.reject(f"answered {asked} with {protocol.type_name(answer.message)}")
        try:
            step = from_arrays(self.spec, n, answer.arrays)
            check_batch("STATES", self.spec, n, step)
        except SimulatorError as error:
            connection.reject(f"answered with states that cannot be used: {error}")
        return step
