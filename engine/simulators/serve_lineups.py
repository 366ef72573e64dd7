"""The serving side of lineup simulators: BATTLES and REPLAY become calls of a ``LineupSimulator``."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import Cancelled, SimulatorError
from engine.simulators import checks, protocol
from engine.simulators.contract import Battles, GameSpec, LineupSimulator
from engine.simulators.protocol import Arrays, Decoded, Error, PlayBattles, Replay

Answer = tuple[protocol.AnyMessage, Arrays]


class LineupPlayer:
    """Answers with RESULTS and FRAMES; any exception from the simulator becomes an ERROR message."""

    requests: tuple[type[protocol.Message], ...] = (PlayBattles, Replay)

    def __init__(self, simulator: LineupSimulator, spec: GameSpec) -> None:
        self._simulator, self._spec = simulator, spec
        self._patch_ok: dict[str, float] = {}

    def answer(self, decoded: Decoded) -> Answer:
        """The answer to one request."""
        message = decoded.message
        assert isinstance(message, PlayBattles | Replay)
        try:
            left, right, seeds = self._arguments(decoded.arrays)
            self._check(left, right, message.patch)
            if isinstance(message, Replay):
                return self._replay(message, left, right, seeds)
            results = self._simulator.battles(left, right, seeds, message.patch, message.fidelity)
            return protocol.Results(id=message.id), _result_arrays(results)
        except Cancelled:
            return Error(id=message.id, code="cancelled", message="the battles were cancelled"), {}
        except SimulatorError as error:
            return Error(id=message.id, code="failed", message=str(error), permanent=error.permanent), {}
        except ValueError as error:
            return Error(id=message.id, code="bad-request", message=str(error), permanent=True), {}
        except Exception as error:  # the subprocess entry: a designer's simulator may raise anything
            traceback.print_exc()
            return Error(id=message.id, code="failed", message=f"{type(error).__name__}: {error}"), {}

    def _replay(self, message: Replay, left: NDArray[np.int32], right: NDArray[np.int32], seeds: Any) -> Answer:
        if len(seeds) != 1:
            raise ValueError(f"a replay shows one battle, {len(seeds)} were asked for")
        frames = self._simulator.replay(left, right, int(seeds[0]), message.patch)
        return protocol.Frames(id=message.id, frames=tuple(frames)), {}

    def _arguments(self, arrays: Arrays) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64]]:
        found = []
        for name, dtype in (("left", np.int32), ("right", np.int32), ("seeds", np.uint64)):
            array = arrays.get(name)
            if array is None or array.dtype != dtype:
                raise ValueError(f"array {name!r} of type {np.dtype(dtype)} is missing")
            found.append(array)
        left, right, seeds = found
        if not len(left) == len(right) == len(seeds) or seeds.ndim != 1:
            raise ValueError(f"left, right and seeds have {len(left)}, {len(right)} and {len(seeds)} rows")
        return left, right, seeds

    def _check(self, left: NDArray[np.int32], right: NDArray[np.int32], patch: dict[str, float]) -> None:
        game = self._spec.extended(patch)
        problems = checks.row_problems(game, left, "left") + checks.row_problems(game, right, "right")
        if patch != self._patch_ok:
            problems += checks.patch_problems(self._spec, patch)
        if problems:
            raise ValueError("; ".join(problems[:5]))
        self._patch_ok = patch


def _result_arrays(results: Battles) -> Arrays:
    return {name: np.asarray(getattr(results, name)) for name in ("side", "battle", "status")}
