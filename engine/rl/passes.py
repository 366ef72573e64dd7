"""The passes of a network that values each choice by its own numbers alone (MP-DQN, Bester et al. 2019, eq. 8–10).

Q_k is the k-th output for (s, x e_k) = (s, 0, …, x_k, …, 0). All passes share what the first layer makes of s,

W_1 (s, x e_k) + b_1 = (W_1 (s, 0) + b_1) + W_x x e_k,

where W_x are the columns of W_1 that see numbers. So s is multiplied once, not K times.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from engine.rl import dense


class Passes(NamedTuple):
    """``own`` bool[K, D]: which numbers are whose; ``at``: the first column of W_x; ``activation``: between layers."""

    own: Tensor
    at: int
    activation: dense.Activation

    def pulled(self, parts: dense.Parts, entry: Tensor, x: Tensor) -> tuple[Tensor, dense.Pull]:
        """Q [n, K] for (s, 0) in ``entry`` [n, i], numbers x [n, D] and the ``parts`` of the network's layers; and
        ∂L/∂x from ∂L/∂Q."""
        passes = self._replace(own=self.own.to(x.device))
        Q, inputs = passes._run(parts, entry, x)
        return Q, lambda delta: passes._back(parts, inputs, delta)

    def _run(self, parts: dense.Parts, entry: Tensor, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Q, and what each layer but the first was given."""
        (W, b), *above = parts
        K, D = self.own.shape
        alone = torch.where(self.own, x[:, None], 0.0).view(-1, D)  # x e_1, …, x e_K of each row
        h = dense.product(alone, W[:, self.at : self.at + D])
        h.view(len(x), K, -1).add_(dense.product(entry, W, b)[:, None])
        h, inputs = dense.run(above, dense.IN_PLACE[self.activation](h) if above else h, self.activation)
        return h.view(len(x), K, K).diagonal(dim1=1, dim2=2), inputs

    def _back(self, parts: dense.Parts, inputs: list[Tensor], delta: Tensor) -> Tensor:
        """∂L/∂x [n, D] from ∂L/∂Q [n, K]."""
        (W, _), *above = parts
        K, D = self.own.shape
        passed = torch.diag_embed(delta).view(-1, K)
        if above:
            passed = dense.of_x(above, inputs, passed, self.activation)
            passed = dense.BACK[self.activation](passed, inputs[0])
        alone = dense.product(passed, W[:, self.at : self.at + D].t()).view(-1, K, D)
        return torch.where(self.own, alone, 0.0).sum(dim=1)
