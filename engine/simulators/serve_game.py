"""The serving side of games that are played tick by tick: RESET and ACTIONS become calls of a ``VectorMDP``."""

from __future__ import annotations

import traceback

import numpy as np

from engine.errors import Cancelled, ConfigError, SimulatorError
from engine.mdp.vector import VectorMDP, VectorStep
from engine.simulators import protocol
from engine.simulators.protocol import Actions, Arrays, Decoded, Error, Reset, States
from engine.simulators.states import to_arrays


class GamePlayer:
    """Answers with STATES; any exception from the game becomes an ERROR message."""

    requests: tuple[type[protocol.Message], ...] = (Reset, Actions)

    def __init__(self, game: VectorMDP) -> None:
        self._game, self._begun = game, False

    def answer(self, decoded: Decoded) -> tuple[protocol.AnyMessage, Arrays]:
        """The answer to one request."""
        message = decoded.message
        assert isinstance(message, Reset | Actions)
        try:
            return States(id=message.id), to_arrays(self._step(decoded))
        except Cancelled:
            return Error(id=message.id, code="cancelled", message="the step was cancelled"), {}
        except SimulatorError as error:
            return Error(id=message.id, code="failed", message=str(error), permanent=error.permanent), {}
        except (ConfigError, ValueError) as error:
            return Error(id=message.id, code="bad-request", message=str(error), permanent=True), {}
        except Exception as error:  # the subprocess entry: a designer's game may raise anything
            traceback.print_exc()
            return Error(id=message.id, code="failed", message=f"{type(error).__name__}: {error}"), {}

    def _step(self, decoded: Decoded) -> VectorStep:
        arrays = decoded.arrays
        if isinstance(decoded.message, Reset):
            seeds = arrays.get("seeds")
            if seeds is None or seeds.dtype != np.uint64 or seeds.ndim != 1:
                raise ValueError("array 'seeds' of type uint64[n] is missing")
            self._begun = True
            return self._game.reset(seeds)
        if not self._begun:
            raise ValueError("ACTIONS came before RESET")
        names = [f"seat{i}.action" for i in range(len(self._game.spec.seats))]
        missing = [name for name in names if name not in arrays]
        if missing:
            raise ValueError(f"array {missing[0]!r} is missing")
        return self._game.step([arrays[name] for name in names])
