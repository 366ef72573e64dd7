"""A game in another process, seen as a ``VectorMDP``: any program that speaks ``equipoise-sim/1``.

The process starts at the first use. Whatever goes wrong with it (it hangs, ends, answers nonsense) ends it with
everything it started and is one SimulatorError with a sentence; the next ``reset`` starts a fresh process.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError, SimulatorError
from engine.mdp.checks import check_batch
from engine.mdp.episodes import Episodes
from engine.mdp.interface import Array, MDPSpec, action_problem
from engine.mdp.vector import VectorStep
from engine.simulators import protocol
from engine.simulators.connection import Connection, Limits
from engine.simulators.contract import content_hash
from engine.simulators.protocol import Actions, Arrays, Reset
from engine.simulators.states import from_arrays


class ExternalGame:
    """``VectorMDP`` over ``equipoise-sim/1``. One process, one call at a time.

    ``command`` is the program's argument list (``{endpoint}`` in it is replaced; the endpoint and the key are also in
    its environment). Use it as a context manager or call ``close()``; a forgotten one ends with this process.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        label: str = "",
        limits: Limits | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.command = list(command)
        self.label = label or f"The game “{self.command[0] if self.command else ''}”"
        self.limits = limits or Limits()
        self.starts = 0
        self._variables = dict(variables or {})
        self._held: list[Connection] = []
        self._spec: MDPSpec | None = None
        self._episodes: Episodes | None = None
        self._last_id = 0
        self._stop = threading.Event()
        self._finalizer = weakref.finalize(self, _kill_all, self._held)

    @classmethod
    def from_entry_point(
        cls,
        entry_point: str,
        *,
        label: str = "",
        limits: Limits | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> ExternalGame:
        """Python's ``module:factory`` (a ``VectorMDP`` or an ``MDP``), served in a process of its own."""
        command = [sys.executable, "-m", "engine.simulators.serve", entry_point]
        return cls(command, label=label or f"The game “{entry_point}”", limits=limits, variables=variables)

    @property
    def spec(self) -> MDPSpec:
        """The game; starts the process the first time. Raises SimulatorError."""
        if self._spec is None:
            self._connection()
        assert self._spec is not None
        return self._spec

    @property
    def pid(self) -> int:
        """The pid the running program gave (0 when none runs)."""
        return self._held[0].pid if self._held and self._held[0].alive else 0

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        self._stop.clear()
        self._episodes = Episodes(self.spec, seeds)
        self._connection()
        message = Reset(id=self._next_id(), deadline_ms=self._deadline_ms())
        return self._ask(message, {"seeds": np.ascontiguousarray(seeds, np.uint64)}, len(seeds))

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``. After a SimulatorError that ended the program, ``reset`` comes first."""
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
        answer = connection.request(message, arrays, self._stop.is_set)
        if not isinstance(answer.message, protocol.States):
            asked = protocol.type_name(message)
            connection.reject(f"answered {asked} with {protocol.type_name(answer.message)}")
        try:
            step = from_arrays(self.spec, n, answer.arrays)
            check_batch("STATES", self.spec, n, step)
        except SimulatorError as error:
            connection.reject(f"answered with states that cannot be used: {error}")
        return step

    def cancel(self) -> None:
        """Make the call that another thread has in progress raise Cancelled."""
        self._stop.set()

    def close(self) -> None:
        """End the process; nothing it started is left running. A later ``reset`` starts a new one."""
        for connection in self._held:
            connection.close()
        self._held.clear()

    def __enter__(self) -> ExternalGame:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connection(self) -> Connection:
        if self._held and self._held[0].alive:
            return self._held[0]
        self._held.clear()
        connection = Connection(self.label, self.command, self.limits, self._variables)
        self._held.append(connection)
        self.starts += 1
        spec = connection.handshake_game()
        if self._spec is not None and content_hash(spec) != content_hash(self._spec):
            connection.kill()
            raise SimulatorError(
                f"{self.label} describes another game than before its restart; register the new version", permanent=True
            )
        self._spec = spec
        return connection

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _deadline_ms(self) -> int:
        return max(1, int(self.limits.request_s * 1000))


def _kill_all(connections: list[Connection]) -> None:
    for connection in connections:
        connection.kill()
