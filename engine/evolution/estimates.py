"""Estimates of one candidate from disjoint replicates, merged as if all had been played at once."""

from __future__ import annotations

import numpy as np

from engine.problem import Evaluation


def merged(a: Evaluation, b: Evaluation) -> Evaluation:
    """One estimate from two of the same candidate on disjoint replicates: means weighted by samples, covariance of the
    mean from the pooled sums of squares (Chan, Golub & LeVeque 1979), costs added. It keeps ``a``'s id and anchors. Raw
    metrics, descriptor and violation are means, too; values of replicates are put one after the other. Where one of
    them failed, the other one stands.

    Exact where objectives are means over replicates; for a formula of means it is the first order of one.
    """
    if a.status == "failed" or b.status == "failed":
        kept = b if a.status == "failed" else a
        return kept._replace(id=a.id, anchors=a.anchors, cost=a.cost + b.cost, cached=a.cached + b.cached)
    n, na, nb = a.samples + b.samples, a.samples, b.samples
    share = nb / n
    gap = b.objectives - a.objectives
    squares = _squares(a) + _squares(b) + na * share * np.outer(gap, gap)
    described = a.descriptor is not None and b.descriptor is not None
    told = a.values is not None and b.values is not None
    return a._replace(
        objectives=a.objectives + share * gap,
        covariance=squares / (n * (n - 1)),
        samples=n,
        metrics=a.metrics + share * (b.metrics - a.metrics),
        violation=a.violation + share * (b.violation - a.violation),
        cost=a.cost + b.cost,
        cached=a.cached + b.cached,
        descriptor=a.descriptor + share * (b.descriptor - a.descriptor) if described else a.descriptor,  # type: ignore[operator]
        genome=b.genome or a.genome,
        values=np.concatenate([a.values, b.values]) if told else None,
    )


def _squares(e: Evaluation) -> np.ndarray:
    """Sum of the outer products of the deviations of e's replicates; nothing is known of a single one's."""
    if e.samples < 2:
        return np.zeros_like(e.covariance)
    return np.asarray(e.covariance * (e.samples * (e.samples - 1)))
