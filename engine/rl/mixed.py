"""What learners of choices with numbers of their own share: mixed returns, exploration, first numbers, kept actions.

y = (1 − β) (r + γ V'(s')) + β R, where R = Σ_{k<m} γ^k r_{t+k} + γ^m V'(s_{t+m}) is the return of what was played from
decision t on (Hausknecht & Stone 2016b, "On-Policy vs. Off-Policy Updates for Deep Reinforcement Learning", section 4)
and V' is by the targets' networks. β = 0: off-policy targets alone.

Departures: 1. R ends with the fragment where the episode goes on, and has V' there; the paper's goes to the episode's
end, which a fragment that is longer than an episode reaches. R is right from the first decision on (in the released
code that of an episode's first decision stays 0). After truncation V' follows, too; 2. ε falls linearly over a share of
the decisions (the code: over episodes), and a random choice has uniform numbers (Hausknecht & Stone 2016; the code
for small games keeps the policy's, with noise of spread 1e-4); 3. named rewards are added with their weights before
anything is learned; 4. initial weights are orthogonal as everywhere here (``engine.rl.networks``); 5. decisions come in
fragments of several battles, and as many updates follow as are due for them; 6. numbers are kept as they were played,
within their bounds.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.config.rl import NetworkConfig, NumberedConfig
from engine.errors import ConfigError
from engine.mdp.interface import Array, SeatSpec
from engine.mdp.trajectory import Trajectory
from engine.rl.learner import Metrics
from engine.rl.networks import Seen
from engine.rl.numbered import NumbersNetwork
from engine.rl.policy import PolicySpec
from engine.rl.replayed import Replayed

F32 = NDArray[np.float32]
RETURN, LAST = "return", "last."


class MixedReturns(Replayed):
    """``theta``: the policy θ; ``target``: its target θ'."""

    kept: ClassVar[tuple[str, ...]] = ("target",)
    config: NumberedConfig

    def __init__(self, seat: SeatSpec, config: Any, seed: int, steps: int, on: torch.device | None = None) -> None:
        super().__init__(seat, config, seed, steps, on)
        low, high = seat.action.bounds
        self._centre, self._half = (low + high) / 2, np.maximum((high - low) / 2, 1e-6)
        if config.start or config.slopes:
            b_0 = self._unit(np.array(config.start, np.float32)) if config.start else np.zeros(len(low), np.float32)
            self.pass_through(self._slopes(config.slopes, len(low)), b_0)
        self.target = self.theta.detach().clone()

    @property
    @abstractmethod
    def layer(self) -> NumbersNetwork:
        """The network with the frozen layer, at the beginning of θ."""

    @abstractmethod
    def value(self, s: Seen, mask: Tensor | None) -> Tensor:
        """V'(s) [n] by the targets' networks; ``mask`` bool[n, K]: what is legal there."""

    @classmethod
    def policy_spec(cls, seat: SeatSpec, config: Any) -> PolicySpec:
        """A policy with the head that the settings name."""
        return super().policy_spec(seat, config)._replace(network=NetworkConfig(**config.network.model_dump()))

    def pass_through(self, weight: F32, bias: F32) -> None:
        """Begin with the numbers W_0 s + b_0 for what is seen as numbers s, as the game gives them; W_0 [D, flat] and
        b_0 [D] in units in which the bounds are ±1. Raises ConfigError where they do not fit."""
        end = torch.from_numpy(self.layer.through(weight, bias))
        with torch.no_grad():
            self.theta[self.layer.size - len(end) : self.layer.size] = end.to(self.device)
            self.layer.rescale(self.theta[: self.layer.size], {}, self.scales())
        self.target = self.theta.detach().clone()

    def observe(self, trajectory: Trajectory) -> None:
        """As ``BaseLearner.observe``; the frozen layers go on adding what they add to what is seen unscaled."""
        before = {name: (mean.clone(), spread.clone()) for name, (mean, spread) in self.scales().items()}
        super().observe(trajectory)
        with torch.no_grad():
            for theta in (self.theta, self.target):
                self.layer.rescale(theta[: self.layer.size], before, self.scales())

    def _slopes(self, slopes: Sequence[Sequence[float]], D: int) -> F32:
        """W_0 [D, flat]."""
        if not slopes:
            return np.zeros((D, self.layer.flat), np.float32)
        if len(slopes) != D or any(len(row) != self.layer.flat for row in slopes):
            why = f"the action has {D} numbers, and {self.layer.flat} are seen: give as many rows of as many slopes"
            raise ConfigError([("slopes", why)])
        return np.array(slopes, np.float32)

    def _unit(self, numbers: F32) -> F32:
        if len(numbers) != len(self._centre):
            raise ConfigError([("start", f"the action has {len(self._centre)} numbers, and here are {len(numbers)}")])
        unit = (numbers - self._centre) / self._half
        if (np.abs(unit) > 1 + 1e-6).any():
            raise ConfigError([("start", "some of these numbers are outside the bounds of the action")])
        return np.asarray(unit, np.float32)

    @property
    def epsilon(self) -> float:
        """Current probability of a random action."""
        gone = min(1.0, (1.0 - self.left) / self.config.explore)
        return 1.0 + gone * (self.config.epsilon - 1.0)

    def warm_start(self, weights: F32) -> None:
        """θ' ← θ, too."""
        super().warm_start(weights)
        self.target.copy_(self.theta.detach())

    def transitions(self, trajectory: Trajectory) -> dict[str, NDArray[Any]]:
        """As ``Replayed.transitions``, with R where it is mixed in: ``return``, ``return.factor`` (of V' there, 0 after
        termination) and ``last.NAME`` of each observation and ``last.mask``, where V' stands."""
        columns = super().transitions(trajectory)
        if not self.config.beta:
            return columns
        whole = self.stepped(trajectory, trajectory.length)
        ends = {name.replace("next.", LAST, 1): column for name, column in whole.items() if name.startswith("next.")}
        if "mask" in whole:
            ends[f"{LAST}mask"] = whole["mask"]
        return columns | {RETURN: whole["reward"], f"{RETURN}.factor": whole["factor"]} | ends

    def _played(self, actions: Array) -> Array:
        """Numbers in units in which the bounds are ±1, as they were played."""
        unit = np.clip((actions[..., 1:] - self._centre) / self._half, -1, 1)
        return np.concatenate([actions[..., :1], unit], axis=-1).astype(np.float32)

    def y(self, c: dict[str, Tensor]) -> Tensor:
        """The targets [n] of a minibatch's columns."""
        beta = self.config.beta
        with torch.no_grad():
            if not beta:
                return c["reward"] + c["factor"] * self.value(self._at("next.", c), c.get("mask"))
            names = [spec.name for spec in self.spec.seat.observations]
            both = {f"next.{name}": torch.cat([c[f"next.{name}"], c[f"{LAST}{name}"]]) for name in names}
            mask = torch.cat([c["mask"], c[f"{LAST}mask"]]) if "mask" in c else None
            after, last = self.value(self._at("next.", both), mask).chunk(2)
            y = c["reward"] + c["factor"] * after
            return (1 - beta) * y + beta * (c[RETURN] + c[f"{RETURN}.factor"] * last)

    def _at(self, ahead: str, c: dict[str, Tensor]) -> dict[str, Tensor]:
        """Observations of a minibatch's columns, scaled for the network."""
        seen = {spec.name: c[ahead + spec.name] for spec in self.spec.seat.observations}
        return self.model.scaling(self.scales(), seen)

    @property
    def numbers_eta(self) -> float:
        """The current learning rate of the numbers."""
        rate = self.config.numbers_rate
        return rate * self.left if self.config.schedule == "linear" else rate

    def _now(self) -> Metrics:
        return {"epsilon": self.epsilon, **super()._now()}
