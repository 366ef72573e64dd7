"""Numbers about sets of evaluated individuals: intervals, verdicts, fronts, over-representation, families. numpy only.

Objectives are columns; ``signs`` is +1 for a maximised and -1 for a minimised one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import moocore
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

UNDER, UNSURE, STRONG = 0, 1, 2
"""Verdicts: under the line; over it but weak or unsure; over it and strong (the paper's red points)."""

FLAT = 1e-12
"""A standard error no larger than this is rounding: there was no spread."""


def standard_errors(covariance: Floats, means: Floats) -> Floats:
    """Standard errors of means [n, m] with covariance [n, m, m]; 0 where it is only rounding of equal values."""
    error = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))
    return np.where(error <= FLAT * np.abs(means), 0.0, error)


def half_width(
    error: Floats, samples: NDArray[np.integer] | int, level: float = 0.95, exact: Bools | bool = False
) -> Floats:
    """Half-width of the two-sided ``level`` interval of a mean with standard error ``error`` [n] or [n, m] from
    ``samples`` [n] replicates: Student's t with samples - 1 degrees of freedom. Infinite for fewer than two samples,
    and without spread (equal values do not determine the next), but 0 where chance has no part (``exact``, bool[m])."""
    from scipy.special import stdtrit  # it would double what every process of the site loads of numbers

    n = np.asarray(samples, dtype=np.float64)
    t = np.where(n > 1, stdtrit(np.maximum(n - 1, 1), 0.5 + level / 2), np.inf)
    with np.errstate(invalid="ignore"):
        half = np.asarray(error) * (t[..., None] if np.ndim(error) > np.ndim(t) else t)
    return np.where(np.asarray(error) > FLAT, half, np.where(exact, 0.0, np.inf))


def wilson(count: float, total: int, z: float = 1.959964) -> tuple[float, float]:
    """The 95 % Wilson interval of a share (Wilson 1927): (low, high); (0, 1) when nothing was counted. ``count`` need
    not be whole where it is a mean of parts."""
    if total == 0:
        return 0.0, 1.0
    p, d = count / total, 1 + z * z / total
    centre = (p + z * z / (2 * total)) / d
    half = z * np.sqrt(p * (1 - p) / total + z * z / (4 * total * total)) / d
    # For count 0 and count total the ends are exactly 0 and 1; rounding may miss them by the last bit.
    return max(0.0, centre - half) if count else 0.0, min(1.0, centre + half) if count < total else 1.0


def verdicts(
    objective: Floats,
    half: Floats,
    signs: Sequence[float],
    thresholds: Sequence[float | None],
    strength: int | None = None,
    median_baseline: float | None = None,
    median_half: float = 0.0,
) -> NDArray[np.uint8]:
    """UNDER, UNSURE or STRONG for each row of ``objective`` [n, m] with interval half-widths ``half`` [n, m].

    Over the line: the mean of at least one objective with a threshold is at or beyond it. STRONG when that also holds
    for the near end of its interval, and its strength exceeds that of the median baseline team by more than √(a² + b²)
    of the two half-widths (``median_half``: the team's), which has at least its nominal level whatever the two spreads
    are (Banerjee 1960). Rows that are not numbers are under.
    """
    over = np.zeros(len(objective), dtype=bool)
    sure = over.copy()
    for j, threshold in enumerate(thresholds):
        if threshold is not None:
            gap = signs[j] * (objective[:, j] - threshold)
            over |= gap >= 0
            sure |= gap - half[:, j] >= 0
    if strength is not None and median_baseline is not None:
        sure &= signs[strength] * (objective[:, strength] - median_baseline) > np.hypot(half[:, strength], median_half)
    return np.where(over & sure, STRONG, np.where(over, UNSURE, UNDER)).astype(np.uint8)


def non_dominated(objective: Floats, signs: Sequence[float]) -> Bools:
    """Which rows no other row dominates; of equal rows the first stays, rows with NaN never do."""
    usable = np.isfinite(objective).all(axis=1)
    keep = np.zeros(len(objective), dtype=bool)
    if usable.any():
        maximise = [s > 0 for s in signs]
        keep[usable] = moocore.is_nondominated(objective[usable], maximise=maximise, keep_weakly=False)
    return keep


def hypervolume(objective: Floats, signs: Sequence[float], reference: Sequence[float]) -> float:
    """Volume that the rows dominate beyond ``reference``, in the product of the objectives' units."""
    points = objective[np.isfinite(objective).all(axis=1)]
    if not len(points):
        return 0.0
    return float(moocore.hypervolume(points, ref=np.asarray(reference, float), maximise=[s > 0 for s in signs]))


class Representation(NamedTuple):
    """One piece or pair: the number of rows of the top set and of the background that have it, odds ratio
    (Haldane-corrected), Fisher's two-sided p and Benjamini-Hochberg q over all tests."""

    pieces: tuple[int, ...]
    top: int
    background: int
    odds: float
    p: float
    q: float


def representation(top: Bools, background: Bools, pairs: bool = False, support: int = 3) -> list[Representation]:
    """Over- and under-representation of each column (or pair of columns) of presence matrices [n, pieces], most
    over-represented first (by the odds ratio's lower bound). Columns present in fewer than ``support`` rows of the two
    sets together are left out. Lineups of one search share ancestors, so p and q only rank: they are no error rates."""
    from scipy.stats import fisher_exact  # the import takes half a second; only callers of this pay for it

    a, b = _counts(top, pairs), _counts(background, pairs)
    n, m = len(top), len(background)
    keys = [k for k in sorted(a.keys() | b.keys()) if a.get(k, 0) + b.get(k, 0) >= support]
    rows = []
    for key in keys:
        x, y = a.get(key, 0), b.get(key, 0)
        odds = ((x + 0.5) / (n - x + 0.5)) / ((y + 0.5) / (m - y + 0.5))
        spread = np.sqrt(1 / (x + 0.5) + 1 / (n - x + 0.5) + 1 / (y + 0.5) + 1 / (m - y + 0.5))
        rows.append((np.log(odds) - 1.96 * spread, key, x, y, odds, fisher_exact([[x, n - x], [y, m - y]])[1]))
    q = _benjamini_hochberg(np.array([row[5] for row in rows]))
    found = [(row[0], Representation(row[1], row[2], row[3], row[4], row[5], q[i])) for i, row in enumerate(rows)]
    return [item for _, item in sorted(found, key=lambda pair: -pair[0])]


def _counts(presence: Bools, pairs: bool) -> dict[tuple[int, ...], int]:
    if not pairs:
        sums = presence.sum(axis=0)
        return {(int(i),): int(sums[i]) for i in np.flatnonzero(sums)}
    together = np.triu(presence.astype(np.float32).T @ presence.astype(np.float32), 1)
    return {(int(i), int(j)): int(together[i, j]) for i, j in np.argwhere(together > 0)}


def _benjamini_hochberg(p: Floats) -> Floats:
    order = np.argsort(p)
    q = np.minimum.accumulate((p[order] * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    out = np.empty_like(p)
    out[order] = np.minimum(q, 1)
    return out


class Family(NamedTuple):
    """Lineups that share a piece or a pair; ``rows`` index the presence matrix."""

    pieces: tuple[int, ...]
    rows: NDArray[np.int64]


def families(presence: Bools, over: Bools, most: int = 8) -> list[Family]:
    """Group the rows of ``over`` by the pieces that set them apart: repeatedly take the piece or pair of ``presence``
    [n, pieces] whose count among the remaining rows most exceeds the expectation from the rows outside ``over``, at
    most ``most`` times. Rows that share nothing unusual belong to no family."""
    left = np.flatnonzero(over)
    expected = _shares(presence[~over])
    least = max(3, int(np.ceil(0.02 * len(left))))
    found: list[Family] = []
    while len(found) < most and len(left) >= least:
        pieces = _most_unusual(presence[left], expected, least)
        if pieces is None:
            break
        have = presence[np.ix_(left, np.array(pieces))].all(axis=1)
        found.append(Family(pieces, left[have]))
        left = left[~have]
    return found


def _shares(presence: Bools) -> Floats:
    p = presence.astype(np.float64)
    return (p.T @ p + 0.5) / (len(p) + 1.0)


def _most_unusual(presence: Bools, expected: Floats, least: int) -> tuple[int, ...] | None:
    p = presence.astype(np.float64)
    together = p.T @ p
    wanted = expected * len(p)
    score = np.where(together >= least, (together - wanted) / np.sqrt(wanted + 1), -np.inf)
    score[together < 2 * wanted] = -np.inf
    i, j = np.unravel_index(int(np.argmax(score)), score.shape)
    if not np.isfinite(score[i, j]):
        return None
    single = max((i, j), key=lambda k: score[k, k])
    if i == j or score[i, j] < 1.1 * score[single, single]:
        return (int(single),)
    return tuple(sorted((int(i), int(j))))
