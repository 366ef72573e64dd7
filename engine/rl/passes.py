"""The passes of a network that values each choice by its own numbers alone (MP-DQN, Bester et al. 2019, eq. 8–10).

Q_k is the k-th output for (s, x e_k) = (s, 0, …, x_k, …, 0). All passes share what the first layer makes of s,

W_1 (s, x e_k) + b_1 = (W_1 (s, 0) + b_1) + W_x x e_k,

where W_x are the columns of W_1 that see numbers. So s is multiplied once, not K times.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from engine.rl import dense


class Passes(NamedTuple):
    """``own`` bool[K, D]: which numbers are whose; ``at``: the first column of W_x; ``activation``: between layers."""

    own: Tensor
    at: int
    activation: dense.Activation

    def values(self, parts: dense.Parts, entry: Tensor, x: Tensor) -> Tensor:
        """Q [n, K] for (s, 0) in ``entry`` [n, i] and numbers x [n, D]; differentiable once in x, not in ``parts``,
        which are those of the network's layers."""
        passes = self._replace(own=self.own.to(x.device))
        if torch.is_grad_enabled() and x.requires_grad:
            found: Tensor = _Node.apply(x, parts, entry, passes)  # type: ignore[no-untyped-call]
            return found
        return passes.run(parts, entry, x)[0]

    def run(self, parts: dense.Parts, entry: Tensor, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Q, and what each layer but the first was given."""
        (W, b), *above = parts
        K, D = self.own.shape
        alone = torch.where(self.own, x[:, None], 0.0).view(-1, D)  # x e_1, …, x e_K of each row
        h = dense.product(alone, W[:, self.at : self.at + D])
        h.view(len(x), K, -1).add_(dense.product(entry, W, b)[:, None])
        h, inputs = dense.run(above, dense.IN_PLACE[self.activation](h) if above else h, self.activation)
        return h.view(len(x), K, K).diagonal(dim1=1, dim2=2), inputs

    def back(self, parts: dense.Parts, inputs: list[Tensor], delta: Tensor) -> Tensor:
        """∂L/∂x [n, D] from ∂L/∂Q [n, K]."""
        (W, _), *above = parts
        K, D = self.own.shape
        passed = torch.diag_embed(delta).view(-1, K)
        if above:
            passed = dense.of_x(above, inputs, passed, self.activation)
            passed = dense.BACK[self.activation](passed, inputs[0])
        alone = dense.product(passed, W[:, self.at : self.at + D].t()).view(-1, K, D)
        return torch.where(self.own, alone, 0.0).sum(dim=1)


class _Node(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, parts: dense.Parts, entry: Tensor, passes: Passes) -> Tensor:
        Q, inputs = passes.run(parts, entry, x)
        ctx.save_for_backward(*inputs)
        ctx.parts, ctx.passes = parts, passes
        return Q

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, delta: Tensor) -> tuple[Tensor, None, None, None]:
        return ctx.passes.back(ctx.parts, ctx.saved_tensors, delta), None, None, None
