"""The weighted sums that objectives are made of, replicate by replicate: what fresh battles are judged by."""

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
    """The sums behind the objectives of lineups of so many ``teams``, one column each. ``names`` says what they are;
    objectives that are sums themselves, or that luck has no part in, have none."""

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
        """Every column, [*shape, k], by the variables, which are [*shape, teams] or [*shape, 1]."""
        found = [np.broadcast_to(term.of(values), shape) for term in self._columns]
        return np.stack(found, axis=-1) if found else np.empty((*shape, 0))

    def parts(self, values: Sequence[Floats | None], costs: Floats) -> list[tuple[Parts | None, ...]]:
        """Of n lineups whose teams cost float64[n, T], what each objective is made of, by the columns [samples, k] of
        their replicates; None where they were not kept."""
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
        return tuple(
            None if apart is None or values is None else Parts.make(apart, values[:, a:b], low[a:b], high[a:b])
            for apart, (a, b) in zip(self._apart, ends, strict=True)
        )
