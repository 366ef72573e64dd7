"""Estimates of one candidate from disjoint replicates, merged as if all replicates had been played at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.problem import Evaluation

Floats = NDArray[np.float64]


def estimate(values: Floats) -> tuple[Floats, Floats]:
    """Means float64[m] of replicates float64[n, m], and the covariance of those means (zero for a single one)."""
    rows = np.ascontiguousarray(values)  # the order of summation must not depend on memory layout
    mean, n = rows.mean(axis=0), len(rows)
    apart = rows - mean
    return mean, apart.T @ apart / (n * max(n - 1, 1))


def merged(a: Evaluation, b: Evaluation) -> Evaluation:
    """One estimate from two of the same candidate on disjoint replicates: means weighted by samples, covariance of the
    mean from the pooled sums of squares (Chan, Golub & LeVeque 1979), costs added. It keeps ``a``'s id and context. Raw
    metrics, descriptor and violation are means, too; values of replicates are concatenated. If one of the two failed,
    the result is the other.

    With recorded replicates the result is exactly ``estimate`` of all of them. Otherwise it is right up to rounding
    where objectives are means over replicates, and a first-order approximation for a formula of means.
    """
    if a.status == "failed" or b.status == "failed":
        kept = b if a.status == "failed" else a
        return kept._replace(id=a.id, cost=a.cost + b.cost, cached=a.cached + b.cached)
    n, share = a.samples + b.samples, b.samples / (a.samples + b.samples)
    described = a.descriptor is not None and b.descriptor is not None
    values, sums = (_joined(getattr(a, name), getattr(b, name)) for name in ("values", "sums"))
    objectives, covariance = _pooled(a, b) if values is None else estimate(values)
    return a._replace(
        objectives=objectives,
        covariance=covariance,
        samples=n,
        metrics=a.metrics + share * (b.metrics - a.metrics),
        violation=a.violation + share * (b.violation - a.violation),
        cost=a.cost + b.cost,
        cached=a.cached + b.cached,
        descriptor=a.descriptor + share * (b.descriptor - a.descriptor) if described else a.descriptor,  # type: ignore[operator]
        values=values,
        sums=sums,
    )


def _joined(a: Floats | None, b: Floats | None) -> Floats | None:
    return None if a is None or b is None else np.concatenate([a, b])


def _pooled(a: Evaluation, b: Evaluation) -> tuple[Floats, Floats]:
    """Pooled mean and covariance of two estimates."""
    n, share, gap = a.samples + b.samples, b.samples / (a.samples + b.samples), b.objectives - a.objectives
    squares = _squares(a) + _squares(b) + a.samples * share * np.outer(gap, gap)
    return a.objectives + share * gap, squares / (n * (n - 1))


def _squares(e: Evaluation) -> Floats:
    """Sum of the outer products of the deviations of e's replicates; zero for a single one."""
    if e.samples < 2:
        return np.zeros_like(e.covariance)
    return np.asarray(e.covariance * (e.samples * (e.samples - 1)))
