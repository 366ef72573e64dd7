"""Base of actor-critics: a batch as tensors, the network's outputs for all of it, rewards and values, means.

A decision that does not count (``Trajectory.valid``) has an advantage of 0, a ratio of 1 and no part in any mean, so it
does not affect the gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.config.rl import ActorCriticConfig
from engine.mdp.interface import Array
from engine.mdp.trajectory import Trajectory
from engine.rl import returns
from engine.rl.learner import BaseLearner
from engine.rl.networks import Parts, Recurrent, Scales
from engine.rl.normalise import CLIP
from engine.rl.policy import Model

F32 = NDArray[np.float32]
_NUMBERS = 1 << 23
"""Numbers of observations that go through a network at once: 297 stacks of four frames of 84 × 84."""
_CACHED = 1024
"""Rows for which layers of 256 and 128 fit into a core's cache: 8,192 rows at once take a sixth longer to learn
from."""


class Tensors(NamedTuple):
    """A trajectory on the learner's device. Rows are time-major: decision (t, b) is row t · B + b.

    ``observations`` by name: [(T + 1) · B + m, …], the last m those of truncated episodes' ends, to be scaled by
    ``scales``; ``masks`` bool[T · B, k]; ``actions`` [T · B, …]; ``log_mu`` [T · B]; ``valid`` bool[T · B] or None;
    ``state``: the LSTM's before the first decision.
    """

    T: int
    B: int
    observations: dict[str, Tensor]
    scales: Scales
    masks: Tensor | None
    actions: Tensor
    log_mu: Tensor
    valid: Tensor | None
    state: Recurrent | None
    ended: Tensor
    final_index: Tensor


class Pass(NamedTuple):
    """A network's outputs for a whole batch: ``policy`` [T · B, K], ``values`` [T + 1, B, R], ``finals`` [m, R]."""

    policy: Tensor
    values: Tensor
    finals: Tensor


def tensors_of(trajectory: Trajectory, scales: Scales, device: torch.device) -> Tensors:
    """The tensors of a trajectory, with the scales of its observations (``Scaling.parts``)."""
    T, B = trajectory.length, trajectory.streams
    seen = {
        name: _rows(_tensor(array, device).flatten(0, 1), _tensor(trajectory.final_observations[name], device))
        for name, array in trajectory.observations.items()
    }
    state = trajectory.initial_state
    return Tensors(
        T, B, seen, scales,
        None if trajectory.masks is None else _tensor(trajectory.masks[:T], device).flatten(0, 1),
        _tensor(trajectory.actions, device).flatten(0, 1),
        _tensor(trajectory.log_probs, device).flatten(),
        None if trajectory.valid is None else _tensor(trajectory.valid, device).flatten(),
        Recurrent(_tensor(state["h"], device), _tensor(state["c"], device)) if state else None,
        _tensor(trajectory.ended, device),
        _tensor(trajectory.final_index, device),
    )  # fmt: skip


def _rows(seen: Tensor, last: Tensor) -> Tensor:
    """Both, concatenated; images in channels-last layout, with which convolutions learn fastest (a third less time for
    the paper's four, on one thread)."""
    rows = torch.cat([seen, last])
    return rows.contiguous(memory_format=torch.channels_last) if rows.dim() == 4 else rows


def maximum_rows(batch: Tensors) -> int:
    """How many rows go through the network at once; convolutions keep several times a row for its gradient. Networks
    with memory are unrolled whole."""
    n = len(next(iter(batch.observations.values())))
    if batch.state is not None:
        return n
    return max(1, _NUMBERS // sum(rows[0].numel() for rows in batch.observations.values()))


def forward_all(model: Model, parts: Parts, batch: Tensors) -> Pass:
    """The network's outputs for every row of a batch (through time with an LSTM), computed in parts."""
    T, B, n = batch.T, batch.B, batch.T * batch.B
    if batch.state is None:
        total = n + B + len(batch.final_index)
        most = maximum_rows(batch)
        starts = range(0, total, min(most, _CACHED) if batch.actions.device.type == "cpu" else most)
        found = [model.network(parts, scaled(model, batch, slice(i, i + starts.step))) for i in starts]
        policy, values = (torch.cat(x) if len(x) > 1 else x[0] for x in zip(*(f[:2] for f in found), strict=True))
        return Pass(policy[:n], values[: n + B].view(T + 1, B, -1), values[n + B :])
    through = {name: through_time(rows, B) for name, rows in scaled(model, batch, slice(0, n + B)).items()}
    ended = torch.cat([batch.ended, batch.ended.new_zeros((1, B))])
    outputs, states = model.network.unroll(parts, through, batch.state, ended)
    t, b = batch.final_index[:, 0], batch.final_index[:, 1]
    last = scaled(model, batch, slice(n + B, None))
    finals = model.network(parts, last, Recurrent(states.h[t, b], states.c[t, b])).values
    return Pass(outputs.policy[:n], outputs.values.view(T + 1, B, -1), finals)


def scaled(model: Model, batch: Tensors, rows: slice | Tensor) -> dict[str, Tensor]:
    """Some rows of the observations, scaled for the network."""
    return model.scaling(batch.scales, {name: seen[rows] for name, seen in batch.observations.items()})


def through_time(rows: Tensor, B: int) -> Tensor:
    """Rows as [time, B, …]."""
    return rows.view(-1, B, *rows.shape[1:])


def _tensor(array: Array, device: torch.device) -> Tensor:
    return torch.from_numpy(array).to(device)


class ActorCritic(BaseLearner):
    """A policy and a value of each named reward, learned from whole batches."""

    config: ActorCriticConfig  # type: ignore[assignment]

    def batch(self, trajectory: Trajectory) -> Tensors:
        """The tensors of a trajectory."""
        return tensors_of(trajectory, self.scales(), self.device)

    def rewards(self, trajectory: Trajectory, found: Pass) -> tuple[F32, F32, F32]:
        """(r, V, V') [T, B, R] as ``returns`` takes them; r is divided by the running spread of returns if configured.

        Departure from the 37 details (continuous 8): the spread is that of the λ-returns, which look forward, so no
        history of streams is needed.
        """
        values = found.values.detach().cpu().numpy()
        final = np.zeros(trajectory.rewards.shape, np.float32)
        t, b = trajectory.final_index.T
        final[t, b] = found.finals.detach().cpu().numpy()
        after = returns.following(values, trajectory.terminated, trajectory.truncated, final)
        r, V = trajectory.rewards, values[:-1]
        if self.config.scale_rewards:
            before = self.spread.std.astype(np.float32)
            gamma, lam, ended = self.terms.gamma, self.terms.lam, trajectory.ended
            whole = returns.gae(r, V * before, after * before, ended, gamma, lam).values
            self.spread.add(whole.reshape(-1, whole.shape[2]) if trajectory.valid is None else whole[trajectory.valid])
            r = np.clip(r / self.spread.std.astype(np.float32), -CLIP, CLIP)
        return r, V, after

    def log_ratio(self, batch: Tensors, rows: Tensor | slice, log_pi: Tensor) -> Tensor:
        """log π_θ − log μ of rows; 0 where a decision does not count, so that it has no effect."""
        difference = log_pi - batch.log_mu[rows]
        return difference if batch.valid is None else difference.masked_fill(~batch.valid[rows], 0.0)

    def weighed(self, advantages: Tensor, valid: Tensor | None) -> Tensor:
        """The weighted sum [N] of named advantages [N, R]; 0 for a decision that does not count."""
        found = advantages @ self.weighing
        return found if valid is None else found.masked_fill(~valid, 0.0)


def mean(x: Tensor, valid: Tensor | None) -> Tensor:
    """The mean over decisions that count; there must be at least one."""
    return x.mean() if valid is None else x[valid].mean()
