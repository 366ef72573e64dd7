"""A forecast of battle outcomes from the two teams, as a control variate that removes most of the variance.

The opponent decides far more than luck, so the mean of a few hundred battles that hold a piece says little. A forecast
f(battle) that was fitted to *other* battles removes that part: the mean of outcome - f, plus the mean of f over the
reference, is as unbiased as the plain mean, however bad the forecast is, and its variance is that of the forecast's
residuals (control variates; with folds, "cross-fitting", Chernozhukov et al. 2018).

f(A, B) = g(a, b) - g(b, a): exchanging the teams negates the outcome, whatever the weights. ``a`` sums embeddings of a
team's pieces, by presence, by amount, and, where a piece may sit in slots of several kinds, by the kind it sits in; a
team's size and its cost are sums over these, too, so they need no input of their own. Two ReLU layers follow; ``g`` has
three more layers and predicts both the win and the strength left. The first layer of ``g`` is a sum of what each team
brings, so this is worked out once for a team that meets many. AdamW, one-cycle learning rate (Smith and Topin 2018),
mean squared error.
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
from engine.worth.expectations import paired
from engine.worth.traits import Traits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WIDTH, TEAM = 64, 32
BATCH, AT_ONCE = 1_024, 2_048
RATE, DECAY = 1.2e-2, 1e-2
PASSES, STEPS = 6, (200, 4000)
"""Passes over the battles, within these limits on the number of steps: few battles are passed over more often."""
OUTCOMES = 2
LEARNED = 100_000
"""Largest number of battles to fit forecasts to; more hardly help."""


class Kinds(NamedTuple):
    """Slots that are not interchangeable although the same pieces may sit in them, such as front and rear: ``slots``
    int64[m], and ``number`` int64[m], which of the kinds of its category each is; ``many``: the most that one category
    has. In most games each piece sits in one kind of slot: none then."""

    slots: Ints
    number: Ints
    many: int

    @classmethod
    def of(cls, rules: CompiledRules) -> Kinds:
        """The slots of one group are one kind, any other slot is one of its own."""
        found: dict[int, dict[int, int]] = {}
        numbers = dict[int, int]()
        for s in np.flatnonzero(~rules.is_count & (rules.pool_size > 0)).tolist():
            kinds = found.setdefault(int(rules.category[rules.pool[s, 0]]), {})
            alike = int(rules.group[s]) if rules.group[s] >= 0 else -1 - s
            numbers[s] = kinds.setdefault(alike, len(kinds))
        several = [s for s in numbers if len(found[int(rules.category[rules.pool[s, 0]])]) > 1]
        many = max((len(kinds) for kinds in found.values()), default=1)
        return cls(
            np.array(several, np.int64), np.array([numbers[s] for s in several], np.int64), many if several else 0
        )


class EncodedTeams(NamedTuple):
    """``piece`` int64[n, k]: rows of the embedding, a piece for each piece slot (the number of pieces: nothing), for
    each slot that has an amount a second one, and for each of ``Kinds`` another one; ``weight`` float32[n, k]: 1, and
    for the second ones the amount as a share of the most that the rules allow."""

    piece: Ints
    weight: NDArray[np.float32]

    @classmethod
    def of(cls, rules: CompiledRules, rows: NDArray[np.int32]) -> EncodedTeams:
        """From rows int32[n, slots]."""
        slots, pieces, kinds = np.flatnonzero(~rules.is_count), len(rules.price), Kinds.of(rules)
        counted = slots[rules.partner[slots] >= 0]
        mates, every = rules.partner[counted], np.concatenate([slots, counted, kinds.slots])
        own, amounts = slice(len(slots) + len(counted), None), slice(len(slots), len(slots) + len(counted))
        piece = rows[:, every].astype(np.int64)
        piece[:, amounts] += pieces + 1
        piece[:, own] += 2 * pieces + 1 + pieces * kinds.number
        piece[rows[:, every] < 0] = pieces
        weight = np.ones(piece.shape, np.float32)
        weight[:, amounts] = rows[:, mates] / np.maximum(rules.high[mates], 1)
        return cls(piece, weight)

    def take(self, rows: Ints | slice) -> EncodedTeams:
        """The teams at these indices."""
        return EncodedTeams(self.piece[rows], self.weight[rows])


class Forecast(nn.Module):
    """Predicts by how much the first team's outcomes are above even."""

    def __init__(self, pieces: int, kinds: int, bits: torch.Generator) -> None:
        super().__init__()
        self.held = nn.Parameter(torch.empty((2 + kinds) * pieces + 1, WIDTH))
        self.first = nn.Parameter(torch.zeros(WIDTH))
        self.team, self.meets = nn.Linear(WIDTH, TEAM), nn.Linear(TEAM, 2 * WIDTH)
        self.after, self.ahead = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, OUTCOMES, bias=False)
        self.nothing = pieces
        for name, weights in self.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(weights)
            elif weights.dim() == 2:
                inputs = 2 * TEAM if name == "meets.weight" else weights.shape[1]
                spread = 0.1 if name == "held" else math.sqrt(2 / inputs)
                nn.init.normal_(weights, 0.0, spread, generator=bits)

    def side(self, teams: EncodedTeams) -> torch.Tensor:
        """What each team brings to a meeting as the first and as the second one, [n, 2 WIDTH]."""
        piece, weight = torch.from_numpy(teams.piece), torch.from_numpy(teams.weight)
        held = nn.functional.embedding_bag(
            piece, self.held, mode="sum", per_sample_weights=weight, padding_idx=self.nothing
        )
        sides: torch.Tensor = self.meets(torch.relu(self.team(torch.relu(held + self.first))))
        return sides

    def forward(self, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        """Predicted outcomes [n, OUTCOMES] of what two teams bring."""
        both = torch.cat([one[:, :WIDTH] + other[:, WIDTH:], other[:, :WIDTH] + one[:, WIDTH:]])
        ahead: torch.Tensor = self.ahead(torch.relu(self.after(torch.relu(both))))
        return ahead[: len(one)] - ahead[len(one) :]

    def of(self, teams: EncodedTeams, first: Ints, second: Ints) -> Floats:
        """The same for meetings of these teams, by index, as float64[n, OUTCOMES], the win clipped to its range."""
        found = torch.empty(len(first), OUTCOMES)
        with torch.inference_mode():
            sides = torch.empty(len(teams.piece), 2 * WIDTH)
            for own in _parts(len(sides), AT_ONCE):
                sides[own] = self.side(teams.take(own))
            one, other = torch.from_numpy(first), torch.from_numpy(second)
            for own in _parts(len(found), AT_ONCE):
                found[own] = self(sides[one[own]], sides[other[own]])
        ahead = found.numpy().astype(np.float64)
        ahead[:, 0] = np.clip(ahead[:, 0], -0.5, 0.5)
        return ahead


def fitted(
    pieces: int, kinds: int, teams: EncodedTeams, first: Ints, second: Ints, outcomes: Floats, seed: int,
    stopped: Callable[[], bool] = lambda: False,
) -> Forecast:  # fmt: skip
    """A forecast fitted to battles of a game with so many ``pieces`` and so many ``kinds`` of slots that they may sit
    in (``Kinds.many``), the ``first`` of ``teams``, by index, against the ``second``; ``outcomes`` float64[n,
    OUTCOMES]: by how much the first teams' outcomes are above even. Equal battles and seed give an equal forecast.
    Raises Cancelled once ``stopped``, which is called at every step."""
    bits = torch.Generator().manual_seed(seed % 2**63)
    forecast = Forecast(pieces, kinds, bits)
    steps = min(max(math.ceil(PASSES * len(outcomes) / BATCH), STEPS[0]), STEPS[1])
    optimiser = torch.optim.AdamW(forecast.parameters(), RATE, weight_decay=DECAY, fused=True)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps)
    batches, known = _batches(len(outcomes), bits), torch.from_numpy(outcomes.astype(np.float32))
    for _ in range(steps):
        if stopped():
            raise Cancelled("The forecast was asked to stop")
        rows = next(batches)
        one, other = forecast.side(teams.take(np.append(first[rows], second[rows]))).chunk(2)
        loss = (forecast(one, other) - known[rows]).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        rates.step()
    return forecast


def crossfitted(
    traits: Traits, rows: NDArray[np.int32], outcome: Floats, seed: int, stopped: Callable[[], bool]
) -> tuple[list[Forecast], Floats]:
    """Two forecasts, each fitted to one half of the battles int32[n, 2, slots], and the prediction [n, OUTCOMES] of
    each for the other half. Raises Cancelled."""
    both, first, second = paired(rows)
    kinds = Kinds.of(traits.rules).many
    teams, fold, forecasts, expected = EncodedTeams.of(traits.rules, both), first % 2, [], np.zeros_like(outcome)
    for k in (0, 1):
        seen, unseen = np.flatnonzero(fold == k)[: LEARNED // 2], np.flatnonzero(fold != k)
        made = fitted(traits.pieces, kinds, teams, first[seen], second[seen], outcome[seen], seed + k, stopped)
        expected[unseen] = made.of(teams, first[unseen], second[unseen])
        forecasts.append(made)
    return forecasts, expected


def _batches(n: int, bits: torch.Generator) -> Iterator[NDArray[np.int64]]:
    """Batches of row indices without end; every pass covers all rows."""
    while True:
        order = torch.randperm(n, generator=bits).numpy()
        for at in range(0, max(n - BATCH, 0) + 1, BATCH):
            yield order[at : at + BATCH]


def _parts(n: int, size: int) -> Iterator[slice]:
    return (slice(at, at + size) for at in range(0, n, size))
