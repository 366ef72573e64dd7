"""A program that crashes while it is played, and is started again."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import SimulatorError
from engine.mdp.interface import Array, MDPSpec
from engine.mdp.places import Fault
from engine.mdp.vector import Ended, VectorMDP, VectorStep, episode_seeds

_SAID = 200
_BATTLES = re.compile(r" of [\d,]+ battles?\b|,? \bbattle \d+\b")
"""What a message says of the batch, which is another one when a bug is shown again."""
_VARIES = re.compile(r"0x[0-9a-fA-F]+|\[\d+(?:, ?\d+)+\]|\d{5,}")
"""What else differs between two crashes that are one: addresses, indices in a batch, times and process numbers."""
_NAMED = re.compile(r"\bbattle (\d{1,9})\b")


class Revived:
    """A game for one seat whose errors are faults (``engine.mdp.places.Faulty``). After one it begins anew, and all its
    battles are cut off where they were, without a result; ``anew``: their seeds from there on. ``named``:
    the battle that the last error names, if it names one; it is the program's word, and nobody has checked it. A game
    that cannot even begin raises SimulatorError as ever."""

    def __init__(self, game: VectorMDP) -> None:
        self.game = game
        self.spec: MDPSpec = game.spec
        self.faults: tuple[Fault, ...] = ()
        self.anew: NDArray[np.uint64] | None = None
        self.named: int | None = None

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        n = len(seeds)
        self._base, self._episodes = seeds.copy(), np.zeros(n, np.int64)
        self._lengths = np.zeros(n, np.int64)
        self._broken, self.anew = np.full(n, -1), None
        return self._kept(self.game.reset(seeds))

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        self._lengths += 1
        self._broken[:], self.anew = -1, None
        try:
            step = self.game.step(actions)
        except SimulatorError as error:
            return self._revive(str(error))
        self._returns += step.rewards
        if step.ended is not None:
            over = step.ended.battles
            self._episodes[over] += 1
            self._lengths[over], self._returns[over] = 0, 0.0
        return self._kept(step, self._returns)

    def _kept(self, step: VectorStep, returns: NDArray[np.float64] | None = None) -> VectorStep:
        """The step; what is seen is copied, because a game that crashes shows nothing any more."""
        self._seen = {name: array.copy() for name, array in step.observations[0].items()}
        self._mask = None if step.masks[0] is None else step.masks[0].copy()
        self._returns = np.zeros(step.rewards.shape) if returns is None else returns
        return step

    def _revive(self, message: str) -> VectorStep:
        """Note the fault, and begin the next episodes, which starts the program again."""
        line, n = message.partition("\n")[0], len(self._base)
        named = _NAMED.search(line)
        self.named = int(named[1]) if named and int(named[1]) < n else None
        said = _VARIES.sub("…", _BATTLES.sub("", line))[:_SAID]
        fault = Fault("crash", said or "The game ended by itself.")
        if fault not in self.faults:
            self.faults = (*self.faults, fault)
        self._broken[:] = self.faults.index(fault)
        score = np.zeros((n, 1))
        signals = np.zeros((n, len(self.spec.seats[0].signals)))
        ended = Ended(
            np.arange(n), episode_seeds(self._base, self._episodes), self._lengths.copy(), self._returns, score, score,
            (signals,), (self._seen,), (self._mask,),
        )  # fmt: skip
        self.anew = self._base = episode_seeds(self._base, self._episodes + 1)
        self._episodes[:], self._lengths[:] = 0, 0
        step = self._kept(self.game.reset(self._base))
        return step._replace(truncated=np.ones(n, np.bool_), ended=ended)

    def broken(self) -> NDArray[np.int64]:
        """As ``Faulty.broken``: after a crash, of every battle."""
        return self._broken

    def close(self) -> None:
        """Release the game's resources."""
        self.game.close()
