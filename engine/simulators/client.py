"""A simulator in another process, seen as a ``LineupSimulator``: split into messages, checked, restarted.

The process starts at the first use. Whatever goes wrong with it (it hangs, ends, answers nonsense, floods) ends it
with everything it started and is one SimulatorError with a sentence; the next call starts a fresh process.
"""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from engine.errors import SimulatorError
from engine.simulators import checks, protocol
from engine.simulators.connection import Connection, Limits
from engine.simulators.contract import Battles, Frame, GameSpec, Patch, content_hash
from engine.simulators.protocol import Arrays, Decoded, PlayBattles, Replay

FIRST_BATCH = 8
MESSAGE_S = 2.0
GROWTH = 8


class ExternalSimulator:
    """``LineupSimulator`` over ``equipoise-sim/1``. One process, one call at a time (calls from threads queue up).

    ``command`` is the program's argument list (``{endpoint}`` in it is replaced; the endpoint and the key are also
    in its environment). Messages of battles are sized to take about two seconds each. Use it as a context manager or
    call ``close()``; a forgotten one ends with this process, however that ends.
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
        self.label = label or f"The simulator “{self.command[0] if self.command else ''}”"
        self.limits = limits or Limits()
        self.starts = 0
        self._variables = dict(variables or {})
        self._held: list[Connection] = []
        self._spec: GameSpec | None = None
        self._last_id = 0
        self._pace: dict[str, int] = {}
        self._lock = threading.RLock()
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
    ) -> ExternalSimulator:
        """Python's ``module:factory``, served in a process of its own by ``engine.simulators.serve``."""
        command = [sys.executable, "-m", "engine.simulators.serve", entry_point]
        return cls(command, label=label or f"The simulator “{entry_point}”", limits=limits, variables=variables)

    @property
    def pid(self) -> int:
        """The pid the running program gave (0 when none runs)."""
        return self._held[0].pid if self._held and self._held[0].alive else 0

    @property
    def capabilities(self) -> frozenset[str]:
        """What the program says it can do: replay, cancel, heartbeat. Starts it if need be."""
        with self._lock:
            return self._connection().capabilities

    def describe(self) -> GameSpec:
        """The game; starts the process the first time. Raises SimulatorError."""
        with self._lock:
            if self._spec is None:
                self._connection()
            assert self._spec is not None
            return self._spec

    def battles(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        seeds: NDArray[np.uint64],
        patch: Patch,
        fidelity: str = "full",
    ) -> Battles:
        """As ``LineupSimulator.battles``. Raises SimulatorError, or Cancelled after ``cancel()``."""
        with self._lock:
            self._stop.clear()
            spec = self.describe()
            arguments = _arguments(spec, left, right, seeds)
            out = _empty(spec, len(seeds))
            done = 0
            while done < len(seeds):
                rows = slice(done, done + self._batch(spec, fidelity, len(seeds) - done))
                part = self._play(spec, {name: a[rows] for name, a in arguments.items()}, patch, fidelity)
                out.side[rows], out.battle[rows], out.status[rows] = part
                done = min(rows.stop, len(seeds))
            return out

    def replay(self, left: NDArray[np.int32], right: NDArray[np.int32], seed: int, patch: Patch) -> Sequence[Frame]:
        """As ``LineupSimulator.replay``; empty where the program does not offer it."""
        with self._lock:
            self._stop.clear()
            if "replay" not in self.capabilities:
                return ()
            left, right = np.reshape(left, (1, -1)), np.reshape(right, (1, -1))
            arguments = _arguments(self.describe(), left, right, np.array([seed], np.uint64))
            message = Replay(id=self._next_id(), deadline_ms=self._deadline_ms(), patch=dict(patch))
            answer = self._request(message, arguments)
            if not isinstance(answer.message, protocol.Frames):
                self._reject(f"answered REPLAY with {protocol.type_name(answer.message)}")
            return answer.message.frames

    def cancel(self) -> None:
        """Make the call that another thread has in progress raise Cancelled."""
        self._stop.set()

    def close(self) -> None:
        """End the process; nothing it started is left running. A later call starts a new one."""
        with self._lock:
            for connection in self._held:
                connection.close()
            self._held.clear()

    def __enter__(self) -> ExternalSimulator:
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
        spec = connection.handshake()
        if self._spec is not None and content_hash(spec) != content_hash(self._spec):
            connection.kill()
            raise SimulatorError(
                f"{self.label} describes another game than before its restart; register the new version", permanent=True
            )
        self._spec = spec
        return connection

    def _request(self, message: PlayBattles | Replay, arguments: Arrays) -> Decoded:
        return self._connection().request(message, arguments, self._stop.is_set)

    def _play(self, spec: GameSpec, arguments: Arrays, patch: Patch, fidelity: str) -> Battles:
        """Play as many battles as fit one message."""
        n, begun = len(arguments["seeds"]), time.monotonic()
        message = PlayBattles(id=self._next_id(), deadline_ms=self._deadline_ms(), patch=dict(patch), fidelity=fidelity)
        answer = self._request(message, arguments)
        if not isinstance(answer.message, protocol.Results):
            self._reject(f"answered BATTLES with {protocol.type_name(answer.message)}")
        missing = [name for name in Battles._fields if name not in answer.arrays]
        if missing:
            self._reject(f"answered BATTLES without the array {missing[0]!r}")
        results = Battles(**{name: answer.arrays[name] for name in Battles._fields})
        problems = checks.result_problems(spec, n, results)
        if problems:
            self._reject("answered with results that cannot be used: " + "; ".join(problems[:3]))
        self._measure(fidelity, n, time.monotonic() - begun)
        return results

    def _measure(self, fidelity: str, n: int, seconds: float) -> None:
        """Size the next message by how long this one took, never growing more than ``GROWTH`` times at once."""
        if n >= self._pace.get(fidelity, FIRST_BATCH):
            self._pace[fidelity] = max(1, min(int(n * MESSAGE_S / max(seconds, 1e-6)), n * GROWTH))

    def _batch(self, spec: GameSpec, fidelity: str, wanted: int) -> int:
        row_bytes = 8 * max(2 * len(spec.side_metrics), len(spec.battle_metrics), len(spec.slots), 1)
        most = [wanted, self._pace.get(fidelity, FIRST_BATCH), protocol.MAX_FRAME_BYTES // row_bytes]
        wish = self._connection().max_batch
        return min([*most, wish] if wish else most)

    def _reject(self, what: str) -> NoReturn:
        self._connection().reject(what)

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _deadline_ms(self) -> int:
        return max(1, int(self.limits.request_s * 1000))


def _arguments(spec: GameSpec, left: NDArray[np.int32], right: NDArray[np.int32], seeds: NDArray[np.uint64]) -> Arrays:
    need = (len(seeds), len(spec.slots))
    for name, rows in (("left", left), ("right", right)):
        if rows.shape != need or rows.dtype != np.int32:
            raise SimulatorError(
                f"{name} is {rows.dtype}{list(rows.shape)}; {spec.name} needs int32{list(need)}", permanent=True
            )
    if seeds.dtype != np.uint64 or seeds.ndim != 1:
        raise SimulatorError(
            f"seeds are {seeds.dtype}{list(seeds.shape)}; each battle needs one uint64", permanent=True
        )
    return {"left": left, "right": right, "seeds": seeds}


def _empty(spec: GameSpec, n: int) -> Battles:
    return Battles(
        np.empty((n, 2, len(spec.side_metrics))), np.empty((n, len(spec.battle_metrics))), np.empty(n, np.uint8)
    )


def _kill_all(connections: list[Connection]) -> None:
    for connection in connections:
        connection.kill()
