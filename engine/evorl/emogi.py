"""EMOGI (Shen, Zheng, Hao, Meng, Chen, Fan, Liu, IJCAI 2020, "Generating Behavior-Diverse Game AIs with Evolutionary
Multi-Objective Deep Reinforcement Learning"), as Lamarckian (Bai, Shen, Lin, Xu, Cheng) releases it: its ``ec.Async``
with ``nsga_ii.yml`` and ``behavior.yml``.

A candidate is a network, and settings such as the weights of its rewards. A child is made by crossover, then mutation;
then it is trained by reinforcement learning and measured, and what it learned is written back into its genome
(``PlayerEvaluator``, ``PlayerSpace``). Population 30, binary tournament by rank and crowding, simulated binary
crossover and polynomial mutation of settings. The network is that of the parent that dominates the other; where neither
does, it is that of either. NSGA-II survival of parents and children once N children have returned. Where the algorithm
is ``steady``, workers do not wait for one another, and children in flight belong to the next round. Each child's
optimiser is new. All objectives count alike; only the weights of rewards are genes. Departures:

1. The first population is trained, too; the released code measures it as it was drawn.
2. Tournaments draw with replacement; the code pairs a permutation.
3. The code's ``Best`` compares the sum of objectives to say which network is handed on. Here it is dominance, as the
   paper has it, so that no objective counts more because its numbers are larger.
4. The spread of crossover is 15, in the code 20. A child's real settings mutate with chance 0.9, and then each of
   these d with chance min(0.5, 1/d); its whole ones likewise, by themselves. So a single setting changes in 45 of 100
   children. In the code each setting changes with chance 0.01, with which two would hardly ever change. Where two
   cross, each of their settings does with chance 0.5, as in Deb's code: a single one in half of the children.
5. Whole numbers cross and mutate as rounded real numbers; the code exchanges bits.
6. The code keeps the best weights of a training (``stopper``); here its last weights are measured and handed on.
7. A duplicate of a member of the population is not proposed where a few tries find something else, and ties in crowding
   are broken by age; a ``steady`` search begins with up to 2 N random candidates (``NSGA2``).
8. The style is one formula whose weight may be below 0, which pays for the opposite; the code adds one reward for each
   end of the scale.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.config.algorithms import SearchAlgorithm
from engine.config.styles import EmogiConfig
from engine.evolution.algorithm import Parts, Population
from engine.evolution.nsga2 import NSGA2
from engine.evolution.search import View
from engine.problem import Genome


class EMOGI(NSGA2):
    """P the parents, Q the children, R both. ``parents``: [child, mother, father] by their ids. Where
    ``networks`` is ``best``, the network is the mother's; with ``single_point`` it is part of each one's, and with
    ``fresh`` of neither."""

    Settings: ClassVar[type[SearchAlgorithm]] = EmogiConfig
    stream = "emogi"
    gathers = True
    kept: ClassVar[tuple[str, ...]] = ("parents",)

    def _begin(self) -> None:
        self.parents: list[list[int]] = []

    def _born(self, child: int, mother: int, father: int) -> None:
        assert self.P is not None
        self.parents.append([child, *(self.P.individuals[i].evaluation.id for i in (mother, father))])

    def load(self, parts: Parts) -> None:
        """As everywhere; a checkpoint of an earlier version names no parents."""
        super().load(parts)
        self.parents = self.parents or []

    def views(self, genes: Callable[[Genome], Genome]) -> list[View]:
        """Who was bred from whom: int64 columns ``child``, ``mother`` and ``father``."""
        rows = np.array(self.parents, dtype=np.int64).reshape(-1, 3)
        return [View({}, "parents", {}, dict(zip(("child", "mother", "father"), rows.T, strict=True)))]


class Unselected(EMOGI):
    """The control: the same loop, but parents and survivors are drawn uniformly, and nobody's network is preferred."""

    stream = "emogi without selection"

    def _parents(self, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        assert self.P is not None
        mothers, fathers = self.rng.integers(0, len(self.P), size=(2, n))
        return mothers, fathers

    def _survivors(self, R: Population, n: int) -> NDArray[np.int64]:
        R.rank[:] = 0
        able = np.flatnonzero(R.violation <= 0)
        failed = np.flatnonzero(R.violation > 0)
        drawn = self.rng.permutation(able)[:n]
        return np.concatenate([drawn, failed[: n - len(drawn)]])
