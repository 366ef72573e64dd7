"""The passes of a network that values each choice by its own numbers alone (MP-DQN, Bester et al. 2019, eq. 8–10).

Q_k is the k-th output for (s, x e_k) = (s, 0, …, x_k, …, 0). All passes share what the first layer makes of s,

W_1 (s, x e_k) + b_1 = (W_1 (s, 0) + b_1) + W_x x e_k,

where W_x are the columns of W_1 that see numbers. So s is multiplied once, not K times. Small ones are compiled
(``engine.rl.small_passes``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.rl import dense, small_layers, small_passes


class Passes(NamedTuple):
    """``owner`` int64[D]: whose each number is, and ``own`` bool[K, D] the same; ``at``: the first column of W_x;
    ``activation``: between layers."""

    owner: NDArray[np.int64]
    own: Tensor
    at: int
    activation: dense.Activation

    def __call__(self, parts: dense.Parts, entry: Tensor, x: Tensor) -> Tensor:
        """Q [n, K] for (s, 0) in ``entry`` [n, i], numbers x [n, D] and the ``parts`` of the network's layers."""
        (W, b), *above = parts
        h = self._first(W, b, entry, x)
        return self._of(dense.run(above, dense.IN_PLACE[self.activation](h), self.activation)[0] if above else h)

    def pulled(self, theta: Tensor, layers: dense.Layers, entry: Tensor, x: Tensor) -> tuple[Tensor, dense.Pull]:
        """The same for the θ of ``layers``; and ∂L/∂x from ∂L/∂Q, outside the graph."""
        small = dense.small_of(layers)
        if small.takes(len(x) * len(self.own), x):
            return self._pulled_small(theta, small, entry, x)
        if len(layers.widths) > 2:
            (W, b), above = layers.first(theta)
            h = dense.IN_PLACE[self.activation](self._first(W, b, entry, x))
            y, pull = dense.sloped(above, h, layers.above)
        else:
            ((W, b),) = layers.parts(theta)
            y, pull = self._first(W, b, entry, x), None
        own = self.own.to(x.device)
        K, D = own.shape

        def back(delta: Tensor) -> Tensor:
            passed = torch.diag_embed(delta).view(-1, K)
            if pull is not None:
                passed = dense.BACK[self.activation](pull(passed), h)
            alone = dense.product(passed, W[:, self.at : self.at + D].t()).view(-1, K, D)
            return torch.where(own, alone, 0.0).sum(dim=1)

        return self._of(y), back

    def _pulled_small(self, theta: Tensor, small: dense.Small, entry: Tensor, x: Tensor) -> tuple[Tensor, dense.Pull]:
        small_layers.on_one_thread()
        weights, seen, numbers = (each.detach().contiguous().numpy() for each in (theta, entry, x))
        (K, D), n, at, owner = self.own.shape, len(x), self.at, self.owner
        hidden, Q = np.empty(n * K * small.between, np.float32), np.empty((n, K), np.float32)
        small_passes.ahead(weights, seen, numbers, owner, at, small.widths, small.slope, hidden, Q)

        def back(delta: Tensor) -> Tensor:
            gx = np.empty((n, D), np.float32)
            given = delta.detach().contiguous().numpy()
            small_passes.back(weights, owner, at, small.widths, small.slope, hidden, given, gx)
            return torch.from_numpy(gx)

        return torch.from_numpy(Q), back

    def _first(self, W: Tensor, b: Tensor, entry: Tensor, x: Tensor) -> Tensor:
        """What the first layer makes of all passes, [n K, o]."""
        K, D = self.own.shape
        alone = torch.where(self.own.to(x.device), x[:, None], 0.0).view(-1, D)  # x e_1, …, x e_K of each row
        h = dense.product(alone, W[:, self.at : self.at + D])
        h.view(len(x), K, -1).add_(dense.product(entry, W, b)[:, None])
        return h

    def _of(self, y: Tensor) -> Tensor:
        """The k-th output of the k-th pass, [n, K], of y [n K, K]."""
        K = len(self.own)
        return y.view(-1, K, K).diagonal(dim1=1, dim2=2)
