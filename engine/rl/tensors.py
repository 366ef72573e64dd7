"""What a learner makes of a trajectory: tensors with one row a decision."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from engine.mdp.interface import Array
from engine.mdp.trajectory import Trajectory
from engine.rl.networks import Outputs, Parts, Recurrent, Scales
from engine.rl.policy import Model

_NUMBERS = 1 << 23
"""Of observations, that go through a network at once: 297 of the usual four frames of 84 × 84."""
_CACHED = 1024
"""Rows whose layers of 256 and 128 stay in a processor's own cache: 8,192 at once take a sixth longer to learn from."""


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
    """A network's answer to a whole batch: ``policy`` [T · B, K], ``values`` [T + 1, B, R], ``finals`` [m, R]."""

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
    """Both, one below the other; images with a pixel's channels side by side, as convolutions learn fastest (a third
    less time for the paper's four, on one thread)."""
    rows = torch.cat([seen, last])
    return rows.contiguous(memory_format=torch.channels_last) if rows.dim() == 4 else rows


def room(batch: Tensors) -> int:
    """How many rows go through the network at once; what convolutions keep of a row for its gradient is several times
    the row. Memory is unrolled whole."""
    n = len(next(iter(batch.observations.values())))
    if batch.state is not None:
        return n
    return max(1, _NUMBERS // sum(rows[0].numel() for rows in batch.observations.values()))


def whole(model: Model, parts: Parts, batch: Tensors) -> Pass:
    """The network on every row of a batch (through time with an LSTM), some at a time."""
    T, B, n = batch.T, batch.B, batch.T * batch.B
    if batch.state is None:
        total = n + B + len(batch.final_index)
        starts = range(0, total, min(room(batch), _CACHED) if batch.actions.device.type == "cpu" else room(batch))
        found = [model.network(parts, _scaled(model, batch, slice(i, i + starts.step))) for i in starts]
        policy, values = (torch.cat(x) if len(x) > 1 else x[0] for x in zip(*(f[:2] for f in found), strict=True))
        return Pass(policy[:n], values[: n + B].view(T + 1, B, -1), values[n + B :])
    through = {name: _through(rows, B) for name, rows in _scaled(model, batch, slice(0, n + B)).items()}
    ended = torch.cat([batch.ended, batch.ended.new_zeros((1, B))])
    outputs, states = model.network.unroll(parts, through, batch.state, ended)
    t, b = batch.final_index[:, 0], batch.final_index[:, 1]
    last = _scaled(model, batch, slice(n + B, None))
    finals = model.network(parts, last, Recurrent(states.h[t, b], states.c[t, b])).values
    return Pass(outputs.policy[:n], outputs.values.view(T + 1, B, -1), finals)


def rows_of(batch: Tensors, chosen: Tensor) -> Tensor:
    """The rows of chosen decisions: themselves, or with an LSTM all those of chosen streams, in time's order."""
    if batch.state is None:
        return chosen
    return (torch.arange(batch.T, device=chosen.device)[:, None] * batch.B + chosen).flatten()


def some(model: Model, parts: Parts, batch: Tensors, chosen: Tensor) -> Outputs:
    """The network on the rows of ``chosen`` (``rows_of``)."""
    if batch.state is None:
        return model.network(parts, _scaled(model, batch, chosen))
    T, B = batch.T, batch.B
    through = {name: _through(rows, B)[:, chosen] for name, rows in _scaled(model, batch, slice(0, T * B)).items()}
    state = Recurrent(batch.state.h[chosen], batch.state.c[chosen])
    return model.network.unroll(parts, through, state, batch.ended[:, chosen])[0]


def _scaled(model: Model, batch: Tensors, rows: slice | Tensor) -> dict[str, Tensor]:
    return model.scaling(batch.scales, {name: seen[rows] for name, seen in batch.observations.items()})


def _through(rows: Tensor, B: int) -> Tensor:
    """Rows as [time, B, …]."""
    return rows.view(-1, B, *rows.shape[1:])


def _tensor(array: Array, device: torch.device) -> Tensor:
    return torch.from_numpy(array).to(device)
