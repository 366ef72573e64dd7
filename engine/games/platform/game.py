"""Platform as a ``VectorMDP``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.config.agent_games import PlatformSettings
from engine.config.base import parse
from engine.games.one_seat import Battles, OneSeat, Results
from engine.games.platform import kernel
from engine.mdp.interface import Parameterised

VERSION = "1"
SIGNALS = ("run", "hop", "leap", "fell", "hit")
ACTION = Parameterised((1, 1, 1), kernel.LOW, kernel.HIGH)
"""Run with a push, hop a distance, leap a distance."""


class Platform(OneSeat):
    """Somebody on three platforms with two enemies (``engine.games.platform.kernel``).

    ``first``: the platform on whose left edge an episode begins, 1 to 3; an episode is truncated after ``max_ticks``
    decisions. The reward "score" is the way gained as a share of the whole, so that an episode from the first platform
    returns 1 at most; its sum is the result's score, and who reaches the right edge wins. Signals: the shares of
    decisions to run, to hop and to leap, and whether the episode ended by a fall or by an enemy. Raises ConfigError for
    invalid settings.
    """

    drawing = "platform"
    numbers = 4 * kernel.PATH

    def __init__(self, *, first: int = 1, max_ticks: int = 200) -> None:
        parse(PlatformSettings, {"first": first, "max_ticks": max_ticks})
        self._first = first - 1
        super().__init__("platform", VERSION, ACTION, kernel.SEEN, signals=SIGNALS, max_ticks=max_ticks)

    def _room(self, n: int) -> None:
        self._states, self._paths = np.zeros((n, kernel.STATE)), np.zeros((n, kernel.PATH, 4))
        self._ends, self._tallies = np.zeros(n, np.int64), np.zeros((n, 3))

    def _restart(self, battles: Battles) -> None:
        kernel.restart(battles, self._first, self._states, self._paths, self._ends, self._tallies)

    def _play(self, actions: NDArray[np.float32]) -> None:
        kernel.play(
            self._seeds, self._ticks, actions, self._states, self._paths, self._ends, self._tallies, self._paid,
            self._terminated,
        )  # fmt: skip

    def _look(self, battles: Battles, out: NDArray[np.float32]) -> None:
        kernel.observe(battles, self._states, out)

    def _results(self, battles: Battles) -> Results:
        ends = self._ends[battles]
        shares = self._tallies[battles] / self._ticks[battles, None]
        signals = np.column_stack([shares, ends == kernel.FELL, ends == kernel.HIT])
        return Results(self._returns[battles, 0, 0], (ends == kernel.ARRIVED).astype(np.float64), signals)

    def _drawn(self, battles: Battles) -> NDArray[np.float64]:
        """Of ``PATH`` moments of the last decision: x and y of the player, x of both enemies."""
        return self._paths[battles].reshape(len(battles), self.numbers)
