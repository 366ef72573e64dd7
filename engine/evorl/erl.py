"""ERL (Khadka & Tumer, NeurIPS 2018, algorithms 1 to 3): a genetic algorithm beside one agent that learns from what all
individuals play, and now and then takes the place of a child.

A generation: the N individuals of the population play an episode each without noise, the agent one with noise; then the
agent learns from as many minibatches as decisions were played. The best e individuals stay; tournaments of three choose
the others' parents; the slots of who was not chosen are filled by crossover of an elite and a parent; all but the
elites may mutate: in each matrix of weights a tenth of them, each by a normal number times a share of itself, one in
twenty by a hundred times that, one in twenty anew.

Departures:

1. The agent learns by TD3 (the paper: DDPG; its later code: SAC).
2. Which matrices mutate is drawn with a chance of a half for each (the released code draws each one's chance anew).
3. The agent learns after a generation, not while it plays, so that the end does not depend on who was faster.
4. The paper lets the agent take the place of the weakest; here it is that of a child, as in the released code, where
   the weakest's slot holds a child by then.
5. Crossover exchanges rows of matrices between two copies, once for every other row, as the released code does on
   average, and keeps one of the copies.
6. The result is whoever scored best in the last generation, the agent included, though it played with noise: the paper
   reports the best of the population, into which the agent comes once in ``every`` generations only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.arrays import Bundle
from engine.config.aesrl import AESRLConfig, ERLMethod
from engine.evolution.algorithm import Parts
from engine.evorl.shared_critic import F32, SharedCritic
from engine.problem import Evaluation, Request
from engine.rl.networks import Network
from engine.rl.replay import ReplayBuffer
from engine.rng import generator
from engine.store import Artifacts

_TOURNAMENT, _SHARE, _SUPER, _RESET = 3, 0.1, 0.05, 0.05
_MORE, _LARGEST = 100.0, 1e6


class ERL(SharedCritic):
    """``shapes``: those of θ's layers in order; ``theta`` float32[N, d]: the population; ``agent``: the agent's policy
    float32[d]; ``best``: that of who scored best in the last generation; ``generation``: how many there were;
    ``scores``: what individuals returned, by their index, and the agent last."""

    def __init__(self, *given: Any, shapes: list[tuple[int, ...]], population: F32) -> None:
        super().__init__(*given)
        method = self.config.method
        assert isinstance(method, ERLMethod)
        self.method, self.N, self.shapes = method, method.population, shapes
        self.theta, self.agent, self.best = np.array(population), self.first.copy(), self.first.copy()
        self.generation = self.fresh = 0
        self.scores: dict[int, float] = {}
        self.visited = 0

    @classmethod
    def of(
        cls, config: AESRLConfig, theta: F32, workers: int, store: Artifacts, replay: ReplayBuffer, network: Network
    ) -> ERL:  # fmt: skip
        """With a population of first weights, each its own; the first has the agent's, which may be a saved policy."""
        rng = generator(config.seed, "erl")
        population = np.stack([theta, *(network.initial(rng) for _ in range(config.method.population - 1))])
        return cls(config, theta, workers, store, replay, shapes=list(network.shapes.values()), population=population)

    @property
    def waiting(self) -> bool:
        return True

    @property
    def centre(self) -> F32:
        return self.best

    def _next(self) -> Iterator[Request]:
        if self.fresh:
            yield self._request("agent", self.agent, minibatches=max(1, int(self.config.learner.updates * self.fresh)))
            self.fresh = 0
            return
        self.scores = {}
        self.base, self.next_id = self.next_id, self.next_id + self.N + 1
        for k in range(self.N):
            yield self._request("es", self.theta[k], self.base + k)
        yield self._request("rl", self.agent, self.base + self.N)

    def _gone(self, request: Request) -> None:
        if self.role(request) in ("es", "rl"):
            self._come(request.id - self.base, -np.inf)

    def _take(self, request: Request, answer: Evaluation) -> None:
        if self.role(request) == "agent":
            self.agent = self._learnt(request, answer)
            return
        self.fresh += answer.cost
        self._come(request.id - self.base, float(answer.objectives[0]))

    def _come(self, k: int, score: float) -> None:
        self.scores[k] = score
        if len(self.scores) == self.N + 1:
            scores = [self.scores[i] for i in range(self.N + 1)]
            winner = int(np.argmax(scores))
            self.best = (self.agent if winner == self.N else self.theta[winner]).copy()
            self._breed(scores[: self.N])

    def _breed(self, scores: list[float]) -> None:
        """The next population."""
        order = np.array(sorted(range(self.N), key=lambda i: (-scores[i], i)))
        e = max(1, round(self.method.elites * self.N))
        parents = [int(order[self.rng.integers(self.N, size=_TOURNAMENT).min()]) for _ in range(self.N - e)]
        chosen = set(parents) - set(order[:e].tolist())
        children = [self.theta[i].copy() for i in sorted(chosen)]
        while len(children) < self.N - e:
            elite, parent = order[self.rng.integers(e)], parents[self.rng.integers(len(parents))]
            children.append(self._crossed(self.theta[elite], self.theta[parent]))
        for k, child in enumerate(children):
            if self.rng.random() < self.method.crossover:
                children[k] = self._crossed(child, children[self.rng.integers(len(children))])
        grown = [self._mutated(child) if self.rng.random() < self.method.mutation else child for child in children]
        self.theta = np.stack([*self.theta[order[:e]], *grown]).astype(np.float32)
        self.generation += 1
        if self.generation % self.method.every == 0:
            self.theta[-1] = self.agent
            self.visited += 1

    def _layers(self, theta: F32) -> Iterator[F32]:
        """Views of the layers of weights."""
        end = 0
        for shape in self.shapes:
            begin, end = end, end + int(np.prod(shape))
            yield theta[begin:end].reshape(shape)

    def _crossed(self, one: F32, other: F32) -> F32:
        """Rows of two parents, each drawn with even odds."""
        child = one.copy()
        for mine, theirs in zip(self._layers(child), self._layers(other), strict=True):
            rows = self.rng.random(len(mine)) < 0.5
            mine[rows] = theirs[rows]
        return child

    def _mutated(self, theta: F32) -> F32:
        child = theta.copy()
        for W in self._layers(child):
            if W.ndim < 2 or self.rng.random() < 0.5:
                continue
            flat = W.reshape(-1)
            at = self.rng.integers(flat.size, size=int(np.ceil(_SHARE * flat.size)))
            kind, normal = self.rng.random(len(at)), self.rng.standard_normal(len(at))
            strength = self.method.strength * np.where(kind < _SUPER, _MORE, 1.0)
            anew = (kind >= _SUPER) & (kind < _SUPER + _RESET)
            flat[at] = np.clip(np.where(anew, normal, flat[at] * (1 + strength * normal)), -_LARGEST, _LARGEST)
        return child

    def metrics(self) -> dict[str, float]:
        return super().metrics() | {"generation": float(self.generation), "visits": float(self.visited)}

    def _own(self) -> Parts:
        meta = {"generation": self.generation, "fresh": self.fresh, "visited": self.visited}
        arrays = {"theta": self.theta.copy(), "agent": self.agent.copy(), "best": self.best.copy()}
        return {"population": Bundle(meta, arrays)}

    def _take_own(self, parts: Parts) -> None:
        meta, arrays = parts["population"]
        self.generation, self.fresh, self.visited = meta["generation"], meta["fresh"], meta["visited"]
        self.theta, self.agent, self.best = (np.array(arrays[name]) for name in ("theta", "agent", "best"))
