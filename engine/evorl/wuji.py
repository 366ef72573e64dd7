"""Wuji (Zheng, Xie, Su, Ma, Hao, Meng, Liu, Shen, Chen, Fan, ASE 2019, "Wuji: Automatic Online Combat Game Testing
Using Evolutionary Deep Reinforcement Learning"): a population of policies that explores a game while it learns to win
it.

P, the population of N policies, is bred by crossover and mutation. Each child is trained by reinforcement learning
towards accomplishment, and what it learned is written back (``PlayerEvaluator``, ``PlayerSpace``). Then it is measured
by two objectives, which count alike: f1, how much it accomplishes, and f2, how many states of the game it covers. From
P and its children Q the next P is taken by non-dominated sorting (NSGA-II). Oracles look at every decision of training
and measuring alike (``engine.evorl.watched``): crash, stuck, logical (a broken assertion) and gaming balance (an
imbalance). What they see is no objective; it is collected over the whole hunt. From the paper's description:

1. f2 is the mean number of different places of an episode (``engine.mdp.places``); the paper counts the states of all
   episodes that measure a policy.
2. Measured policies draw their moves by their odds, as in training, so that one policy covers more than one way.
3. The learner is any of this project's actor-critics, PPO by default. The paper's is advantage actor-critic (A2C).
4. The first population is trained, too, before it is measured.
5. The network crosses at one point between layers, and noise is added to it. Weights of rewards and other settings that
   are given as ranges cross by SBX and mutate polynomially (``EMOGI``'s genes).
6. An oracle's word is not enough: a bug is reported once its seed and moves show it again, and being stuck once random
   moves do not lead away. The decisions that takes are counted.
7. Bugs are the same where oracle, sentence and place are; the paper's testers judged by hand.
8. Tournaments, duplicates and ties are as in ``NSGA2``.
9. The form and the benchmark also pay for new ground where a game does so, and how much that counts is a gene (its
   authors evolve that of a valid move). So a comparison with learning that is paid for the goal alone is one of two
   rewards, too; the benchmark's ``curious`` and the form's learning alone are paid for new ground, with a fixed weight.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.config.algorithms import SearchAlgorithm
from engine.config.hunt import WujiConfig
from engine.evolution.algorithm import Population
from engine.evolution.nsga2 import NSGA2
from engine.problem import TRAINED, Genome, Request, TrainingContext


class WUJI(NSGA2):
    """P the policies, Q their children, R both."""

    Settings: ClassVar[type[SearchAlgorithm]] = WujiConfig
    stream = "wuji"
    gathers = True


class Unguided(WUJI):
    """The controls without evolution, random play and learning alone: policy i of a round goes on as policy i of the
    next, from where its training ended."""

    stream = "wuji without evolution"

    def _offspring(self, n: int) -> Genome:
        assert self.P is not None
        return self.P.genomes[:n]

    def _survivors(self, R: Population, n: int) -> NDArray[np.int64]:
        R.rank[:] = 0
        return np.arange(len(R) - n, len(R))

    def _request(self, i: int) -> Request:
        if self.P is None:
            return super()._request(i)
        before = self.P.individuals[i % self.N].evaluation.context.artifacts.get(TRAINED, "")
        return super()._request(i)._replace(context=TrainingContext(start=before))
