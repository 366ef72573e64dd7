"""Optimisers on one flat vector, in paper symbols; their state is arrays, so a checkpoint needs no pickle.

Adam: Kingma & Ba 2015, algorithm 1. RMSprop: Tieleman & Hinton 2012 as A3C shares it (Mnih et al. 2016, eq S2–S3):
g ← α g + (1 − α) Δθ² and θ ← θ − η Δθ / √(g + ε), one g for every asynchronous worker. Departure: ĝ = g / (1 − α^t)
stands for g, as in Adam: from zeros the first steps would be ten times too long, from ones a hundred times too short.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Arrays = dict[str, NDArray[Any]]
_adam: Any = torch._fused_adam_


class Optimiser(Protocol):
    """Steps of gradient descent on one vector."""

    def step(self, g: Tensor, eta: float) -> None:
        """One step of learning rate η, in place."""
        ...

    def state(self) -> Arrays:
        """Its averages and the steps taken: copies."""
        ...

    def load(self, arrays: Arrays) -> None:
        """Continue from ``state``."""
        ...


def clip_norm(gradient: Tensor, largest: float) -> float:
    """Clip the whole gradient to this norm, in place; 0: do not clip. Returns its original norm, which is not finite
    (and the gradient unchanged) where the gradient is not, or where its squares, which optimisers average, overflow
    float32 without clipping."""
    norm = float(torch.linalg.vector_norm(gradient))
    if largest and math.isinf(norm):
        norm = float(torch.linalg.vector_norm(gradient.double()))
    if largest and largest < norm < math.inf:
        gradient.mul_(largest / norm)
    return norm


class Adam:
    """Adam with ε = 1e-5, as PPO is usually run; ``m`` and ``v`` are the moments, ``t`` the steps."""

    def __init__(self, theta: Tensor, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-5) -> None:
        self.theta, self.beta1, self.beta2, self.epsilon = theta, beta1, beta2, epsilon
        self.m, self.v, self.t = torch.zeros_like(theta), torch.zeros_like(theta), 0
        self._steps = torch.zeros((), device=theta.device)

    def step(self, g: Tensor, eta: float) -> None:
        """θ ← θ − η m̂ / (√v̂ + ε), in one pass over memory: step by step takes three times as long."""
        self.t += 1
        _adam(
            [self.theta], [g], [self.m], [self.v], [], [self._steps.fill_(self.t)], lr=eta, beta1=self.beta1,
            beta2=self.beta2, weight_decay=0.0, eps=self.epsilon, amsgrad=False, maximize=False,
        )  # fmt: skip

    def state(self) -> Arrays:
        """The moments and the steps taken."""
        return {"m": self.m.cpu().numpy().copy(), "v": self.v.cpu().numpy().copy(), "t": np.array(self.t)}

    def load(self, arrays: Arrays) -> None:
        """Continue from ``state``."""
        self.m.copy_(torch.from_numpy(np.array(arrays["m"])))
        self.v.copy_(torch.from_numpy(np.array(arrays["v"])))
        self.t = int(arrays["t"])


class RMSprop:
    """RMSprop without momentum, ε under the root."""

    def __init__(self, theta: Tensor, alpha: float, epsilon: float) -> None:
        self.theta, self.alpha, self.epsilon = theta, alpha, epsilon
        self.g, self.t = torch.zeros_like(theta), 0

    def step(self, g: Tensor, eta: float) -> None:
        """θ ← θ − η Δθ / √(ĝ + ε), where ``g`` is Δθ."""
        self.t += 1
        self.g.mul_(self.alpha).addcmul_(g, g, value=1 - self.alpha)
        root = self.g.div(1 - self.alpha**self.t).add_(self.epsilon).sqrt_()
        self.theta.addcdiv_(g, root, value=-eta)

    def state(self) -> Arrays:
        """The shared average of squared gradients, and the steps taken."""
        return {"g": self.g.cpu().numpy().copy(), "t": np.array(self.t)}

    def load(self, arrays: Arrays) -> None:
        """Continue from ``state``."""
        self.g.copy_(torch.from_numpy(np.array(arrays["g"])))
        self.t = int(arrays["t"])
