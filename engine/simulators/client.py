"""A simulator in another process as a ``LineupSimulator``: splits calls into messages, checks answers, restarts it.

The process starts at the first use. Any failure (it hangs, ends, answers nonsense, floods) ends it with everything it
started and raises one SimulatorError with a sentence; the next call starts a new process.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from engine.errors import SimulatorError
from engine.simulators import checks, protocol
from engine.simulators.connection import Connection
from engine.simulators.contract import Battles, Frame, GameSpec, Patch
from engine.simulators.program import Program
from engine.simulators.protocol import Arrays, Decoded, PlayBattles, Replay

FIRST_BATCH = 8
MESSAGE_S = 2.0
GROWTH = 8


class ExternalSimulator(Program[GameSpec]):
    """``LineupSimulator`` over ``equipoise-sim/1``; calls from several threads queue up. Messages of battles are sized
    to take about two seconds each."""

    what = "simulator"

    @cached_property
    def _pace(self) -> dict[str, int]:
        """Battles per message, by fidelity, where measured."""
        return {}

    def _introduced(self, connection: Connection) -> GameSpec:
        return connection.handshake(self._stopped)

    def describe(self) -> GameSpec:
        """The game; starts the process the first time. Raises SimulatorError, or Cancelled after ``cancel()``."""
        with self._lock:
            self._stop.clear()
            return self._described()

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
            spec = self._described()
            arguments = _arguments(spec, left, right, seeds)
            out = _empty(spec, len(seeds))
            done = 0
            while done < len(seeds):
                rows = slice(done, done + self._batch(spec, fidelity, len(seeds) - done))
                part = self._play(spec, {name: a[rows] for name, a in arguments.items()}, patch, fidelity)
                out.side[rows], out.battle[rows], out.status[rows] = part
                done = min(rows.stop, len(seeds))
            return out

    def look_for_more(self, seconds: float) -> None:
        """Wait so long for another answer to the last request. Raises SimulatorError where one comes."""
        with self._lock:
            self._connection().look_for_more(seconds)

    def replay(self, left: NDArray[np.int32], right: NDArray[np.int32], seed: int, patch: Patch) -> Sequence[Frame]:
        """As ``LineupSimulator.replay``; empty if the program does not offer it."""
        with self._lock:
            self._stop.clear()
            if "replay" not in self._connection().capabilities:
                return ()
            left, right = np.reshape(left, (1, -1)), np.reshape(right, (1, -1))
            arguments = _arguments(self._described(), left, right, np.array([seed], np.uint64))
            message = Replay(id=self._next_id(), deadline_ms=self._deadline_ms(), patch=dict(patch))
            answer = self._request(message, arguments)
            if not isinstance(answer.message, protocol.Frames):
                self._reject(f"answered REPLAY with {protocol.type_name(answer.message)}")
            return answer.message.frames

    def _request(self, message: PlayBattles | Replay, arguments: Arrays) -> Decoded:
        return self._connection().request(message, arguments, self._stopped)

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
        """Size the next message by the time of this one, growing by a factor of at most ``GROWTH``."""
        if n >= self._pace.get(fidelity, FIRST_BATCH):
            self._pace[fidelity] = max(1, min(int(n * MESSAGE_S / max(seconds, 1e-6)), n * GROWTH))

    def _batch(self, spec: GameSpec, fidelity: str, wanted: int) -> int:
        row_bytes = 8 * max(2 * len(spec.side_metrics), len(spec.battle_metrics), len(spec.slots), 1)
        most = [wanted, self._pace.get(fidelity, FIRST_BATCH), protocol.MAX_FRAME_BYTES // row_bytes]
        limit = self._connection().max_batch
        return min([*most, limit] if limit else most)

    def _reject(self, what: str) -> NoReturn:
        self._connection().reject(what)


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
