"""A third-party program behind a line: started at its first use, described once, restarted after it has ended. Base of
lineup simulators and games for agents in other processes."""

from __future__ import annotations

import sys
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Generic, Self, TypeVar

from engine.errors import SimulatorError
from engine.mdp.interface import MDPSpec
from engine.problem import ShouldStop
from engine.simulators.connection import Connection
from engine.simulators.contract import GameSpec, content_hash
from engine.simulators.conversation import SimulatorLimits, Watch, never
from engine.simulators.line import Transport

S = TypeVar("S", GameSpec, MDPSpec)


class Program(ABC, Generic[S]):
    """One process, one call at a time.

    ``command``: the program's argument list (``{endpoint}`` in it is replaced; the endpoint and the key are also in its
    environment); ``transport``: the one it dials. ``watch``, if set, is called for every long wait. ``should_stop``, if
    set, is called about 20 times a second during a call, which raises Cancelled once it returns True. Use the program
    as a context manager or call ``close()``; a forgotten one ends with this process, however that ends.
    """

    what: ClassVar[str]
    """The word for such a program in messages."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        label: str = "",
        limits: SimulatorLimits | None = None,
        variables: Mapping[str, str] | None = None,
        transport: Transport = "ipc",
    ) -> None:
        self.command = list(command)
        self.transport: Transport = transport
        self.watch: Watch | None = None
        self.should_stop: ShouldStop = never
        self.label = label or f"The {self.what} “{Path(self.command[0]).name if self.command else ''}”"
        self.limits = limits or SimulatorLimits()
        self.starts = 0
        self._variables = dict(variables or {})
        self._held: list[Connection] = []
        self._spec: S | None = None
        self._last_id = 0
        self._lock = threading.RLock()
        self._stop = threading.Event()
        weakref.finalize(self, _kill_all, self._held)

    @classmethod
    def from_entry_point(
        cls,
        entry_point: str,
        *,
        label: str = "",
        limits: SimulatorLimits | None = None,
        variables: Mapping[str, str] | None = None,
        transport: Transport = "ipc",
    ) -> Self:
        """A Python ``module:factory``, served in a process of its own by ``engine.simulators.serve``."""
        command = [sys.executable, "-m", "engine.simulators.serve", entry_point]
        label = label or f"The {cls.what} “{entry_point}”"
        return cls(command, label=label, limits=limits, variables=variables, transport=transport)

    @abstractmethod
    def _introduced(self, connection: Connection) -> S:
        """The description of a newly started program. Raises SimulatorError."""

    @property
    def pid(self) -> int:
        """The pid that the running program reported (0 if none runs)."""
        return self._held[0].pid if self._held and self._held[0].alive else 0

    @property
    def capabilities(self) -> frozenset[str]:
        """The program's declared capabilities: replay, cancel, heartbeat. Starts it if necessary."""
        with self._lock:
            self._stop.clear()
            return self._connection().capabilities

    @property
    def interrupted(self) -> bool:
        """Whether the running program broke off what it played at the last CANCEL, and did not play it to its end."""
        return bool(self._held) and self._held[0].interrupted

    def start(self) -> None:
        """Start the program if it is not running. Raises SimulatorError, Cancelled."""
        with self._lock:
            self._stop.clear()
            self._connection()

    def cancel(self) -> None:
        """Make a call that is in progress in another thread raise Cancelled."""
        self._stop.set()

    def _stopped(self) -> bool:
        return self._stop.is_set() or self.should_stop()

    def close(self) -> None:
        """End the process; nothing it started is left running. A later call starts a new one."""
        with self._lock:
            for connection in self._held:
                connection.close()
            self._held.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _described(self) -> S:
        """The program's description; starts it the first time. Raises SimulatorError."""
        if self._spec is None:
            self._connection()
        assert self._spec is not None
        return self._spec

    def _connection(self) -> Connection:
        """The connection to the running program; starts it if none runs."""
        if self._held and self._held[0].alive:
            return self._held[0]
        self._held.clear()
        connection = Connection(
            self.label, self.command, self.limits, self._variables, transport=self.transport, watch=self.watch
        )
        self._held.append(connection)
        self.starts += 1
        spec = self._introduced(connection)
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
