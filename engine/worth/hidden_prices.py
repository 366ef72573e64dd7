"""What battles at changed prices that the game did not finish may hide of fair prices (``engine.worth.hidden``).

The weights of a category's curve and the slope that is a piece's own are linear in the outcomes of battles
(``prices.curve``). So the furthest that any endings of the others move them is a sum of absolute values, and nobody has
to guess the worst endings. Each weight is bounded by itself, so together they allow for somewhat more than any endings
do. How far a piece's own battles are trusted lies between not at all and wholly; the larger of both counts. How much is
luck, and how far slopes differ beyond it, is taken from the battles that were finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.worth.prices import Held, powers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Priced(NamedTuple):
    """Battles whose first team holds a piece of ``pieces`` [n], with this ``lean`` [n], at a price that takes ``gold``
    [n] more; their outcome beyond the forecast lies between ``low`` [n] and ``high`` [n], which are equal where a
    battle was ``finished`` [n]."""

    pieces: Ints
    gold: Floats
    lean: Floats
    low: Floats
    high: Floats
    finished: NDArray[np.bool_]

    def ended(self) -> Priced:
        """Those that were finished."""
        return self.at(self.finished)

    def at(self, where: NDArray[np.bool_]) -> Priced:
        """Those ``where`` it is true, bool[n]."""
        pieces, gold, lean, low, high, finished = self
        return Priced(pieces[where], gold[where], lean[where], low[where], high[where], finished[where])


class Steered(NamedTuple):
    """What is a piece's own in a curve: its slope ``apart`` from none, were all weights 0, and how it ``follows`` the
    weights float64[3]; ``spread``: how far ``apart`` may be off on either side."""

    apart: float
    follows: Floats
    spread: float


_NONE = Steered(0.0, np.zeros(3), 0.0)


class Moves(NamedTuple):
    """How far a curve may be off: each of its ``weights`` float64[3], and what is a piece's own in it, were the weights
    known (``pieces``: that, and how it follows them)."""

    weights: Floats
    scale: float
    pieces: Mapping[int, tuple[float, Floats]]

    def at(self, gold: Floats, held: Held) -> Floats:
        """How far the outcome may be off, on either side, for so much gold that teams pay more for a piece that they
        hold so."""
        if not np.isfinite(self.weights).all():
            return np.full(len(gold), np.inf)
        far = gold / self.scale
        own, follows = self.pieces.get(held.piece, (0.0, np.zeros(3)))
        along = np.column_stack([np.ones_like(far), far, np.full_like(far, held.lean)])
        common, apart = np.abs(along) @ self.weights, np.abs(along - follows) @ self.weights + own
        return np.asarray(np.abs(far) * np.maximum(common, apart))


def moves(priced: Priced, weights: Floats | None, scale: float) -> Moves | None:
    """How far the curve of these ``weights``, those of the battles that were finished, may be off; None where all were.
    Anything is possible where there are no weights, or all battles do not determine any."""
    if priced.finished.all():
        return None
    x, within = _within(priced, scale)
    used = np.arange(3 if len(np.unique(priced.pieces)) > 2 and np.ptp(priced.lean) > 0 else 2)
    if weights is None or np.linalg.matrix_rank(x[:, used]) < len(used):
        return Moves(np.full(3, np.inf), scale, {})
    pull = np.zeros((len(x), 3))
    pull[:, used] = x[:, used] @ np.linalg.inv(x[:, used].T @ x[:, used])
    middle, half = (priced.low + priced.high) / 2, (priced.high - priced.low) / 2
    off = np.abs(pull.T @ middle - weights) + np.abs(pull).T @ half
    ended = priced.ended()
    before, now = _steered(ended, *_within(ended, scale)), _steered(priced, x, within)
    pieces = {}
    for piece, each in now.items():
        was = before.get(piece, _NONE)
        moved = each.apart - was.apart - float((each.follows - was.follows) @ weights)
        pieces[piece] = abs(moved) + each.spread, each.follows
    return Moves(off, scale, pieces)


def _within(priced: Priced, scale: float) -> tuple[Floats, Ints]:
    """The powers of the gold [n, 3] beyond their mean for each piece, and the number of each one's piece."""
    _, group, many = np.unique(priced.pieces, return_inverse=True, return_counts=True)
    x = powers(priced.gold / scale, priced.lean)
    means = np.stack([np.bincount(group, c, len(many)) for c in x.T], axis=1) / many[:, None]
    return x - means[group], group


def _steered(priced: Priced, x: Floats, group: Ints) -> dict[int, Steered]:
    """By piece, what its own battles say."""
    each = np.unique(priced.pieces)
    size, low, high = (np.bincount(group, x[:, 0] * w, len(each)) for w in (x[:, 0], priced.low, priced.high))
    spread = np.bincount(group, np.abs(x[:, 0]) * (priced.high - priced.low) / 2, len(each))
    follows = np.stack([np.bincount(group, c * x[:, 0], len(each)) for c in x.T], axis=1)
    size = np.where(size > 0, size, np.inf)
    columns = zip(each.tolist(), (low + high) / 2 / size, follows / size[:, None], spread / size, strict=True)
    return {piece: Steered(float(apart), along, float(may)) for piece, apart, along, may in columns}
