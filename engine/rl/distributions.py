"""Action distributions from a network's outputs, for every kind of action; compiled for acting, and in torch for
learning (a test compares the two).

Outputs are the logits of every discrete part, then the means of every continuous parameter. Choices are categorical
over the legal alternatives: the logit of an illegal one counts as −∞, so its probability and its gradient are exactly
0. Parameters are Gaussian with a state-independent log standard deviation, in units in which the bounds are ±1:

    log π(a|s) = Σ_parts log softmax(z)_choice + Σ_j [−½ ((u_j − μ_j) / σ_j)² − log σ_j − ½ log 2π].

Drawn values are kept unclipped, in the bounds' own units; the game clips them to the bounds (37 details of PPO,
continuous 5). Of a parameterised action only the parameters of the chosen alternative count, and its entropy is
H(choice) + Σ_i P(i) H(parameters of i).

Departures: 1. ratios of several parts multiply, as their joint probability does (Lamarckian's code averages them);
2. the constant of the change of units is left out of log π, as it cancels in every ratio; 3. a row without any legal
choice (an eliminated seat) is treated as if everything were legal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.mdp.choosing import choose, uniform
from engine.mdp.interface import ActionSpec, Array, Parameterised
from engine.rl.compiled import compiled

F32 = NDArray[np.float32]
Mask = NDArray[np.bool_] | None
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class SampledActions(NamedTuple):
    """Actions as the spec lays them out, unclipped, and their log-probabilities float32[n]."""

    actions: Array
    log_probs: F32


class Acting(NamedTuple):
    """Data of the compiled loop: choices of each discrete part, centres and half-widths of the bounds, and, for a
    parameterised action, the choice to which each parameter belongs (otherwise empty)."""

    choices: NDArray[np.int64]
    centre: F32
    half: F32
    owner: NDArray[np.int64]


class Distribution:
    """Sampling and log-probabilities for one action spec. K logits and D parameters: outputs are [N, K + D]."""

    def __init__(self, spec: ActionSpec) -> None:
        self.spec = spec
        low, high = spec.bounds
        self.K, self.D = sum(spec.choices), len(low)
        self.outputs = self.K + self.D
        sizes = spec.sizes if isinstance(spec, Parameterised) else ()
        owner = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        half = np.maximum((high - low) / 2, 1e-6).astype(np.float32)
        centre = ((low + high) / 2).astype(np.float32)
        self.acting = Acting(np.array(spec.choices, np.int64), centre, half, owner)
        self._columns = np.cumsum([0, *spec.choices]).tolist()
        self._units: dict[torch.device, tuple[Tensor, Tensor, Tensor]] = {}

    def draw(self, outputs: F32, log_std: F32, mask: Mask, keys: NDArray[np.uint64]) -> SampledActions:
        """One action per row; its noise is a hash of its key uint64[n] alone. ``mask`` bool[n, K] or None."""
        return self._decide(outputs, log_std, mask, keys)

    def best(self, outputs: F32, mask: Mask) -> Array:
        """The likeliest choices and the mean parameters."""
        return self._decide(outputs, np.zeros(self.D, np.float32), mask, np.empty(0, np.uint64)).actions

    def _decide(self, outputs: F32, log_std: F32, mask: Mask, keys: NDArray[np.uint64]) -> SampledActions:
        legal = np.empty((0, 0), np.bool_) if mask is None else mask
        rows = np.empty((len(outputs), len(self.acting.choices) + self.D), np.float32)
        log_probs = np.empty(len(outputs), np.float32)
        _decide(outputs, log_std, legal, keys, *self.acting, rows, log_probs)
        actions = rows if self.spec.row else rows[:, 0].astype(self.spec.dtype)
        return SampledActions(actions, log_probs)

    def log_prob(self, outputs: Tensor, log_std: Tensor | None, actions: Tensor, mask: Tensor | None) -> Tensor:
        """log π [N] of ``actions`` [N, …]; differentiable."""
        columns = actions.reshape(len(outputs), -1)
        total = outputs.new_zeros(len(outputs))
        for i, logits in enumerate(self._parts(outputs, mask)):
            chosen = columns[:, i].to(torch.int64)
            total = total + torch.log_softmax(logits, dim=1).gather(1, chosen[:, None])[:, 0]
        if self.D and log_std is not None:
            centre, half, owner = self._units_on(outputs.device)
            k = len(self.acting.choices)
            u = (columns[:, k:] - centre) / half
            each = -0.5 * ((u - outputs[:, self.K :]) * torch.exp(-log_std)) ** 2 - log_std - _HALF_LOG_2PI
            if len(owner):
                each = torch.where(owner == columns[:, :1].to(torch.int64), each, 0.0)
            total = total + each.sum(dim=1)
        return total

    def entropy(self, outputs: Tensor, log_std: Tensor | None, mask: Tensor | None) -> Tensor:
        """H(π(·|s)) [N]; differentiable. That of parameters is in units in which their bounds are −1 and 1."""
        total = outputs.new_zeros(len(outputs))
        first = None
        for logits in self._parts(outputs, mask):
            log_p = torch.log_softmax(logits, dim=1)
            p = log_p.exp()
            total = total - (p * log_p.masked_fill(torch.isneginf(log_p), 0.0)).sum(dim=1)
            first = p if first is None else first
        if self.D and log_std is not None:
            each = log_std + 0.5 + _HALF_LOG_2PI
            owner = self._units_on(outputs.device)[2]
            if len(owner) and first is not None:
                total = total + first[:, owner] @ each
            else:
                total = total + each.sum()
        return total

    def _units_on(self, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
        """Centres, half-widths and owners of parameters on a device, moved there once."""
        if device not in self._units:
            _, centre, half, owner = (torch.from_numpy(array).to(device) for array in self.acting)
            self._units[device] = centre, half, owner
        return self._units[device]

    def _parts(self, outputs: Tensor, mask: Tensor | None) -> list[Tensor]:
        """Logits of each discrete part, −∞ where a choice is illegal."""
        found = []
        for a, b in zip(self._columns, self._columns[1:], strict=False):
            logits = outputs[:, a:b]
            if mask is not None:
                legal = mask[:, a:b]
                legal = legal | ~legal.any(dim=1, keepdim=True)
                logits = torch.where(legal, logits, -torch.inf)
            found.append(logits)
        return found


@compiled
def _normal(key: np.uint64, i: int) -> float:
    """A standard normal number from two uniform ones (Box & Muller 1958)."""
    return math.sqrt(-2 * math.log(1 - uniform(key, i))) * math.cos(2 * math.pi * uniform(key, i + 1))


@compiled
def normals(keys: NDArray[np.uint64], numbers: int) -> F32:
    """Standard normal numbers float32[n, ``numbers``] from each key's stream, as parameters without choices get."""
    found = np.empty((len(keys), numbers), np.float32)
    for n in range(len(keys)):
        for d in range(numbers):
            found[n, d] = _normal(keys[n], 2 * d)
    return found


@compiled
def _decide(
    outputs: F32, log_std: F32, mask: NDArray[np.bool_], keys: NDArray[np.uint64], choices: NDArray[np.int64],
    centre: F32, half: F32, owner: NDArray[np.int64], rows: F32, log_probs: F32,
) -> None:  # fmt: skip
    parts, greedy = len(choices), len(keys) == 0
    for n in range(len(outputs)):
        total, at = 0.0, 0
        for i in range(parts):
            mark = -1.0 if greedy else uniform(keys[n], i)
            chosen, log_p = choose(outputs, mask, n, at, choices[i], mark)
            rows[n, i] = chosen
            total += log_p
            at += choices[i]
        for d in range(len(centre)):
            noise = 0.0 if greedy else _normal(keys[n], parts + 2 * d)
            rows[n, parts + d] = centre[d] + half[d] * (outputs[n, at + d] + math.exp(log_std[d]) * noise)
            if len(owner) == 0 or owner[d] == rows[n, 0]:
                total += -0.5 * noise * noise - log_std[d] - _HALF_LOG_2PI
        log_probs[n] = total
