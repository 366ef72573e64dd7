"""Pong with pictures as input: the last frames, 84 × 84, as if every seat defended the left."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.config.agent_games import ImagePongSettings
from engine.config.base import parse
from engine.games.pong.drawing import PLACES, draw_rows
from engine.games.pong.game import Pong
from engine.mdp.interface import Array, ArraySpec

SIZE = 84


class ImagePong(Pong):
    """Pong whose input is the last ``frames`` pictures, one per decision, oldest first; by default four moments per
    decision (``frame_skip``)."""

    def __init__(self, *, frames: int = 4, frame_skip: int = 4, max_ticks: int = 1500, **settings: Any) -> None:
        parse(ImagePongSettings, {"frames": frames})
        self._frames = frames
        self._history = np.zeros((0, frames, len(PLACES)))
        super().__init__(frame_skip=frame_skip, max_ticks=max_ticks, **settings)

    def _name(self) -> str:
        return "image-pong"

    def _input(self) -> ArraySpec:
        return ArraySpec("frames", (self._frames, SIZE, SIZE), "uint8", 0, 255)

    def _moved(self) -> None:
        self._history[:, :-1] = self._history[:, 1:]
        self._history[:, -1] = self._states[:, PLACES]

    def _begun(self, battles: NDArray[np.int64]) -> None:
        if len(self._history) != len(self._states):
            self._history = np.zeros((len(self._states), self._frames, len(PLACES)))
        self._history[battles] = self._states[battles][:, None, PLACES]

    def _look(self, seat: int, battles: NDArray[np.int64], out: Array) -> None:
        draw_rows(seat, self._history, battles, out)
