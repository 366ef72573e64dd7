"""A module that speaks the API of LARG/HFO's ``hfo``: one battle of our own half-field offence, with HFO's features of
uniform numbers and of the last action behind ours, and its manner of ending an episode: the call that ends one idles
for three cycles of the next."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from engine.games.half_field import HalfField, HalfFieldGoalkeeper

LOW_LEVEL_FEATURE_SET, HIGH_LEVEL_FEATURE_SET = range(2)
DASH, TURN, TACKLE, KICK = range(4)
NOOP, QUIT = 13, 14
IN_GAME, GOAL, CAPTURED_BY_DEFENSE, OUT_OF_BOUNDS, OUT_OF_TIME, SERVER_DOWN = range(6)
_NUMBERS = {DASH: 2, TURN: 1, KICK: 2, TACKLE: 1, NOOP: 0, QUIT: 0}
_PLACES = {DASH: 1, TURN: 3, KICK: 4, TACKLE: 6}


class HFOEnvironment:
    """``made``: all of them; ``keepers``: of those made next; ``falls``: cycles after which the server goes down."""

    made: ClassVar[list[HFOEnvironment]] = []
    goalkeepers: ClassVar[int] = 0
    falls: ClassVar[int] = 0

    def __init__(self) -> None:
        self.connected: tuple[Any, ...] = ()
        self.given: list[tuple[int, tuple[float, ...]]] = []
        self.game = (HalfFieldGoalkeeper if self.goalkeepers else HalfField)(ball_x_max=0.9, max_ticks=60, tackle=True)
        self.now = self.game.reset(np.array([9], np.uint64))
        self.made.append(self)

    def connectToServer(self, *told: Any) -> None:
        self.connected = told

    def getStateSize(self) -> int:
        return len(self.getState())

    def getState(self) -> np.ndarray:
        return np.concatenate([self.now.observations[0]["view"][0], [0.01] * self.goalkeepers, [1.0]]).astype(
            np.float32
        )

    def act(self, kind: int, *numbers: float) -> None:
        assert len(numbers) == _NUMBERS[kind], "HFO refuses another number of parameters"
        self.given.append((kind, numbers))

    def step(self) -> int:
        status = self._once()
        if status not in (IN_GAME, SERVER_DOWN):
            for _ in range(3):
                self.act(NOOP)
                self._once()
        return status

    def _once(self) -> int:
        if self.falls and len(self.given) >= self.falls:
            return SERVER_DOWN
        kind, numbers = self.given[-1]
        row = np.zeros((1, 7), np.float32)
        if kind in _PLACES:
            row[0, 0] = (DASH, TURN, KICK, TACKLE).index(kind)
            row[0, _PLACES[kind] : _PLACES[kind] + len(numbers)] = numbers
        self.now = self.game.step([row])
        if self.now.ended is None:
            return IN_GAME
        told = dict(zip(self.game.spec.seats[0].signals, self.now.ended.signals[0][0], strict=True))
        if self.now.ended.win[0, 0]:
            return GOAL
        return OUT_OF_BOUNDS if told["out"] else CAPTURED_BY_DEFENSE if told.get("caught") else OUT_OF_TIME
