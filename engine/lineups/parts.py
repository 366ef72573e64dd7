"""The terms of objectives (weighted sums) for each replicate, by which fresh battles are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.config.lineups import ObjectiveConfig
from engine.formula_terms import Apart, Parts, Term
from engine.lineups.schema import exact, is_plain, known_spans, variables
from engine.simulators.contract import GameSpec

Floats = NDArray[np.float64]


class Sums:
    """The terms of the objectives of lineups of so many ``teams``, one column each, called ``names``. Objectives that
    are weighted sums themselves, or in which chance has no part, have none."""

    def __init__(self, spec: GameSpec, objectives: Sequence[ObjectiveConfig], teams: int) -> None:
        self.spec, self.objectives = spec, objectives
        team, lineup = (set(names) for names in variables(spec, teams))
        settled = exact(spec, objectives, teams)
        self._apart = [
            None if known or is_plain(o, spec, teams) else Apart(o.formula, team, lineup, teams, o.low, o.high)
            for o, known in zip(objectives, settled.tolist(), strict=True)
        ]
        self._columns: list[Term] = [term for apart in self._apart if apart for term in apart.terms]
        self.names = [term.name for term in self._columns]

    def of(self, values: Mapping[str, Any], shape: tuple[int, int]) -> Floats:
        """All columns, [*shape, k], from the variables, which are [*shape, teams] or [*shape, 1]."""
        found = [np.broadcast_to(term.of(values), shape) for term in self._columns]
        return np.stack(found, axis=-1) if found else np.empty((*shape, 0))

    def parts(self, values: Sequence[Floats | None], costs: Floats) -> list[tuple[Parts | None, ...]]:
        """The ``Parts`` of each objective of n lineups whose teams cost float64[n, T], from the columns [samples, k] of
        their replicates; None where these were not kept, or there are none, as of a lineup that could not be played."""
        known = known_spans(self.spec, costs)
        spans = [term.span(known) for term in self._columns]
        n, k = len(costs), len(spans)
        low, high = (
            np.stack([np.broadcast_to(s[end], n) for s in spans], axis=1) if k else np.empty((n, 0)) for end in (0, 1)
        )
        return [self._one(own, low[i], high[i]) for i, own in enumerate(values)]

    def _one(self, values: Floats | None, low: Floats, high: Floats) -> tuple[Parts | None, ...]:
        many = [len(apart.terms) if apart else 0 for apart in self._apart]
        ends = pairwise((0, *accumulate(many)))
        if values is None or not len(values):
            return (None,) * len(self._apart)
        return tuple(
            None if apart is None else Parts.make(apart, values[:, a:b], low[a:b], high[a:b])
            for apart, (a, b) in zip(self._apart, ends, strict=True)
        )
