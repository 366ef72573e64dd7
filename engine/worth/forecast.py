"""A forecast of battle outcomes from the two teams, as a control variate that removes most of the variance.

The opponent decides far more than luck, so the mean of a few hundred battles that hold a piece says little. A forecast
f(battle) that was fitted to *other* battles removes that part: the mean of outcome - f, plus the mean of f over the
reference, is as unbiased as the plain mean, however bad the forecast is, and its variance is that of the forecast's
residuals (control variates; with folds, "cross-fitting", Chernozhukov et al. 2018).

f(A, B) = g(a, b) - g(b, a): exchanging the teams negates the outcome, whatever the weights. ``a`` sums embeddings of a
team's pieces, by presence and by amount, followed by two ReLU layers; ``g`` has three more layers and predicts both the
win and the strength left. AdamW, one-cycle learning rate (Smith and Topin 2018), mean squared error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from engine.errors import Cancelled
from engine.lineups.rules import CompiledRules

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
WIDTH, TEAM = 64, 32
BATCH, AT_ONCE = 512, 16_384
RATE, DECAY = 4e-3, 1e-2
PASSES, STEPS = 8, (400, 4000)
"""Passes over the battles, within these limits on the number of steps: few battles are passed over more often."""
OUTCOMES = 2


class Teams(NamedTuple):
    """``piece`` int32[n, k] in each piece slot (the number of pieces: nothing), and its amount ``many`` float32[n, k]
    as a share of the most that the rules allow."""

    piece: Ints
    many: NDArray[np.float32]

    @classmethod
    def of(cls, rules: CompiledRules, rows: Ints) -> Teams:
        """From rows int32[n, slots]."""
        slots = np.flatnonzero(~rules.is_count)
        mates = rules.partner[slots]
        piece = np.where(rows[:, slots] < 0, len(rules.price), rows[:, slots]).astype(np.int32)
        many = np.where(mates >= 0, rows[:, mates] / np.maximum(rules.high[mates], 1), 1.0)
        return cls(piece, many.astype(np.float32))

    def take(self, rows: NDArray[np.int64]) -> Teams:
        """The teams at these indices."""
        return Teams(self.piece[rows], self.many[rows])


class Forecast(nn.Module):
    """Predicts by how much the first team's outcomes are above even."""

    def __init__(self, pieces: int, bits: torch.Generator) -> None:
        super().__init__()
        self.stands = nn.Embedding(pieces + 1, WIDTH, padding_idx=pieces)
        self.many = nn.Embedding(pieces + 1, WIDTH, padding_idx=pieces)
        self.first = nn.Parameter(torch.zeros(WIDTH))
        self.team = nn.Linear(WIDTH, TEAM)
        self.meeting = nn.Sequential(
            nn.Linear(2 * TEAM, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, OUTCOMES)
        )
        for name, weights in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(weights)
            elif weights.dim() == 2:
                spread = 0.1 if name.split(".")[0] in ("stands", "many") else math.sqrt(2 / weights.shape[1])
                nn.init.normal_(weights, 0.0, spread, generator=bits)

    def side(self, teams: Teams) -> torch.Tensor:
        """The embedding of each team, [n, TEAM]."""
        piece, many = torch.from_numpy(teams.piece), torch.from_numpy(teams.many)[:, :, None]
        held = (self.stands(piece) + many * self.many(piece)).sum(1)
        return torch.relu(self.team(torch.relu(held + self.first)))

    def forward(self, one: Teams, other: Teams) -> torch.Tensor:
        """Predicted outcomes [n, OUTCOMES]."""
        a, b = self.side(one), self.side(other)
        ahead: torch.Tensor = self.meeting(torch.cat([a, b], 1)) - self.meeting(torch.cat([b, a], 1))
        return ahead

    def of(self, one: Teams, other: Teams) -> Floats:
        """The same as float64[n, OUTCOMES], the win clipped to its range."""
        with torch.inference_mode():
            parts = [self(one.take(rows), other.take(rows)).numpy() for rows in _parts(len(one.piece), AT_ONCE)]
        found = np.concatenate(parts).astype(np.float64) if parts else np.empty((0, OUTCOMES))
        found[:, 0] = np.clip(found[:, 0], -0.5, 0.5)
        return found


def fitted(
    pieces: int, one: Teams, other: Teams, outcomes: Floats, seed: int, stopped: Callable[[], bool] = lambda: False
) -> Forecast:
    """A forecast fitted to battles of a game with so many ``pieces``; ``outcomes`` float64[n, OUTCOMES]: by how much
    the first teams' outcomes are above even. Equal battles and seed give an equal forecast. Raises Cancelled once
    ``stopped``, which is called at every step."""
    bits = torch.Generator().manual_seed(seed % 2**63)
    forecast = Forecast(pieces, bits)
    steps = min(max(math.ceil(PASSES * len(outcomes) / BATCH), STEPS[0]), STEPS[1])
    optimiser = torch.optim.AdamW(forecast.parameters(), RATE, weight_decay=DECAY)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps)
    batches = _batches(len(outcomes), bits)
    for _ in range(steps):
        if stopped():
            raise Cancelled("The forecast was asked to stop")
        rows = next(batches)
        ahead = forecast(one.take(rows), other.take(rows))
        loss = (ahead - torch.from_numpy(outcomes[rows].astype(np.float32))).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        rates.step()
    return forecast


def _batches(n: int, bits: torch.Generator) -> Iterator[NDArray[np.int64]]:
    """Batches of row indices without end; every pass covers all rows."""
    while True:
        order = torch.randperm(n, generator=bits).numpy()
        for at in range(0, max(n - BATCH, 0) + 1, BATCH):
            yield order[at : at + BATCH]


def _parts(n: int, size: int) -> Iterator[NDArray[np.int64]]:
    return (np.arange(at, min(at + size, n)) for at in range(0, n, size))
