"""The serving side of games that are played tick by tick: RESET and ACTIONS become calls of a ``VectorMDP``."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from engine.errors import Cancelled, ConfigError, SimulatorError
from engine.mdp.vector import VectorMDP, VectorStep
from engine.simulators import protocol
from engine.simulators.protocol import Actions, Arrays, Decoded, Error, Reset, States
from engine.simulators.states import to_arrays
from engine.starting import StartSetting, as_declared, value_problems

Again = Callable[[dict[str, float]], VectorMDP]


class GamePlayer:
    """Answers with STATES; any exception from the game becomes an ERROR message. ``again``: makes the game with other
    values of its ``starts``."""

    requests: tuple[type[protocol.Message], ...] = (Reset, Actions)

    def __init__(self, game: VectorMDP, starts: Sequence[StartSetting] = (), again: Again | None = None) -> None:
        self.game, self._starts, self._again = game, starts, again
        self._start: dict[str, float] = {}
        self._begun = False

    @property
    def introduction(self) -> protocol.Game:
        """What is said of the game first."""
        spec = self.game.spec
        return protocol.Game(spec=msgspec.structs.replace(spec, starts=tuple(self._starts)) if self._starts else spec)

    def cancel(self) -> None:
        """Break off what the game plays, where it can."""
        getattr(self.game, "cancel", int)()

    def _begin_with(self, start: dict[str, float]) -> None:
        """Make the game anew where its episodes shall begin elsewhere. Raises ConfigError, ValueError, and whatever its
        factory raises; then it is as before."""
        if start == self._start:
            return
        if wrong := [*value_problems(self._starts, start)]:
            raise ConfigError(wrong)
        assert self._again is not None
        made = self._again(as_declared(self._starts, start))
        if made.spec != self.game.spec:
            made.close()
            raise ValueError("with these settings what agents see, do or are told is something else")
        self.game.close()
        self.game, self._start = made, start

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
            self._begin_with(decoded.message.start)
            self._begun = True
            return self.game.reset(seeds)
        if not self._begun:
            raise ValueError("ACTIONS came before RESET")
        names = [f"seat{i}.action" for i in range(len(self.game.spec.seats))]
        missing = [name for name in names if name not in arrays]
        if missing:
            raise ValueError(f"array {missing[0]!r} is missing")
        return self.game.step([arrays[name] for name in names])
