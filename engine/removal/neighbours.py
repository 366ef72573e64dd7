"""A suspect exchanged for neighbours: pieces of its category that cost as much, where the rules stay kept.

What differs between a lineup and its twin is the suspect alone, so what the exchange takes from the unfairness was the
suspect's part in it (the swap-out test). A pair is tried half by half, and both at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.config.removal import SuspectConfig
from engine.lineups.rules import FREE, IN_LINEUP, CompiledRules
from engine.lineups.schema import team_costs
from engine.simulators.contract import GameSpec

Lineup = NDArray[np.int32]
Swap = Mapping[int, int]
"""Piece to the piece that takes its place."""
NEAR = 0.1
"""Two pieces cost the same where they differ by so much of the price of the first, or less."""
EACH = 2
"""Neighbours that a piece is exchanged for."""


class Exchange(NamedTuple):
    """One way to take a suspect out. ``pieces``: the exchange, (piece, other); empty where both halves of a pair go,
    each for whichever of its neighbours fits. ``lineups``: places among those of the suspect, and each one's ``twin``
    int32[teams, slots], which is without it."""

    pieces: tuple[tuple[int, int], ...]
    lineups: list[int]
    twins: list[Lineup]


class Exchanges(NamedTuple):
    """All that are played, and ``alone``: the pieces that have no neighbour, each with the reason."""

    played: list[Exchange]
    alone: list[tuple[int, str]]


def exchanges(spec: GameSpec, rules: CompiledRules, suspect: SuspectConfig, avoid: frozenset[int]) -> Exchanges:
    """How a suspect is taken out of its lineups; pieces to ``avoid``, such as other suspects, take nobody's place."""
    index = spec.piece_index()
    lineups = [np.array(genome, np.int32) for genome in suspect.genomes]
    teams = [pair[suspect.pattern.side == "weakest"] for pair in suspect.anchors]
    halves, alone = list[list[Exchange]](), list[tuple[int, str]]()
    for piece in (index[piece] for piece in suspect.pattern.pieces):
        near = neighbours(spec, rules, piece, avoid)
        tried = [_exchange(spec, rules, lineups, teams, {piece: other}) for other in near]
        found = [each for each in tried if 2 * len(each.lineups) >= len(lineups)][:EACH]
        halves.append(found)
        if not found:
            why = "no lineup may hold one in its place" if near else "nothing of its kind costs as much"
            alone.append((piece, why))
    played = [each for half in halves for each in half]
    if len(halves) > 1 and all(halves):
        swaps = [dict((*a.pieces, *b.pieces)) for a, b in product(*halves)]
        played.append(_first_that_fits(spec, rules, lineups, teams, swaps))
    return Exchanges([each for each in played if each.lineups], alone)


def neighbours(spec: GameSpec, rules: CompiledRules, piece: int, avoid: frozenset[int]) -> list[int]:
    """Pieces of the same category that may be fielded and cost as much, the nearest in price first."""
    price, allowed = rules.price, set(rules.pool.ravel().tolist())
    near = [
        other
        for other in np.flatnonzero(rules.category == rules.category[piece]).tolist()
        if other in allowed and other != piece and other not in avoid and _alike(price[piece], price[other])
    ]
    return sorted(near, key=lambda other: (abs(price[other] - price[piece]), spec.pieces[other].id))


def keeps(spec: GameSpec, rules: CompiledRules, lineup: Lineup) -> bool:
    """Whether a lineup int32[teams, slots] keeps the rules, whose pieces and amounts are those of one that does."""
    costs = team_costs(spec, lineup)
    if costs.min() < rules.budget[0] or costs.max() > rules.budget[1]:
        return False
    if costs.max() > float(rules.dearest(costs.min(keepdims=True))[0]):
        return False
    stands = [row[~rules.is_count & (row >= 0)].tolist() for row in lineup]
    everywhere = [piece for team in stands for piece in team]
    alone = all(_alone(rules, team) for team in stands) and _alone(rules, everywhere, whole=True)
    return alone and set(rules.required.tolist()) <= set(everywhere)


def _alike(price: float, other: float) -> bool:
    return bool(abs(other - price) <= NEAR * price)


def _alone(rules: CompiledRules, pieces: Sequence[int], *, whole: bool = False) -> bool:
    """Whether no piece repeats that may not, in a team or in the ``whole`` lineup."""
    scopes = [rules.scope[rules.category[piece]] for piece in pieces]
    bound = [p for p, s in zip(pieces, scopes, strict=True) if (s == IN_LINEUP if whole else s != FREE)]
    return len(set(bound)) == len(bound)


def _twins(
    spec: GameSpec, rules: CompiledRules, lineups: Sequence[Lineup], teams: Sequence[int], swap: Swap
) -> Iterator[tuple[int, Lineup]]:
    """(place, twin) of each lineup whose team may hold the others instead."""
    for i, (lineup, team) in enumerate(zip(lineups, teams, strict=True)):
        twin = lineup.copy()
        for piece, other in swap.items():
            twin[team, (lineup[team] == piece) & ~rules.is_count] = other
        if keeps(spec, rules, twin):
            yield i, twin


def _exchange(
    spec: GameSpec, rules: CompiledRules, lineups: Sequence[Lineup], teams: Sequence[int], swap: Swap
) -> Exchange:
    found = list(_twins(spec, rules, lineups, teams, swap))
    return Exchange(tuple(swap.items()), [i for i, _ in found], [twin for _, twin in found])


def _first_that_fits(
    spec: GameSpec, rules: CompiledRules, lineups: Sequence[Lineup], teams: Sequence[int], swaps: Sequence[Swap]
) -> Exchange:
    """Of each lineup the twin by the first of the swaps that it may make."""
    found: dict[int, Lineup] = {}
    for swap in swaps:
        for i, twin in _twins(spec, rules, lineups, teams, swap):
            found.setdefault(i, twin)
    return Exchange((), sorted(found), [found[i] for i in sorted(found)])
