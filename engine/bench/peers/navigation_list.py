"""One battle of cooperative navigation with the engine's compiled rules, as lists of three: for peers, whose
environments have neither the engine's packages nor its batches."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3]))
from engine.games.navigation import kernel

ENTITIES, LONGEST, SEEN = 3, 300, 13
"""Entities, decisions of an episode, and numbers that an entity sees."""


class NavigationList:
    """``reset`` and ``step`` give what each entity sees, float32[13]; a step also the reward of each of them, the share
    of targets that were covered, and whether the episode is over. Actions are float32[3, 2]."""

    def __init__(self) -> None:
        self.at, self.targets = np.zeros((1, ENTITIES, 2)), np.zeros((1, ENTITIES, 2))
        self.order, self.covered = np.zeros((1, ENTITIES, ENTITIES), np.int64), np.zeros((1, ENTITIES), np.bool_)
        self.tallies, self.totals = np.zeros((1, ENTITIES, kernel.TALLIES)), np.zeros(1, np.int64)
        self.paid, self.kinds = np.zeros((1, ENTITIES, 1), np.float32), np.array([kernel.SCORE_REWARD])
        self.all, self.ticks = np.arange(1), 0

    def reset(self, seed: int) -> list[Any]:
        """Begin an episode."""
        seeds = np.array([seed], np.uint64)
        kernel.restart(
            self.all, seeds, False, self.at, self.targets, self.order, self.covered, self.tallies, self.totals
        )  # fmt: skip
        self.ticks = 0
        return self._seen()

    def step(self, actions: Any) -> tuple[list[Any], list[float], bool]:
        """A decision of all entities."""
        ways = np.asarray(actions, np.float32).reshape(1, ENTITIES, 2)
        kernel.play(
            ways, self.kinds, self.at, self.targets, self.covered, self.tallies, self.totals, self.paid
        )  # fmt: skip
        self.ticks += 1
        return self._seen(), self.paid[0, :, 0].tolist(), self.ticks >= LONGEST

    def _seen(self) -> list[Any]:
        found = np.empty((ENTITIES, 1, SEEN), np.float32)
        for entity in range(ENTITIES):
            kernel.observe(entity, self.at, self.targets, self.order, self.covered, self.all, found[entity])
        return list(found[:, 0])
