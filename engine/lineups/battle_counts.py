"""How many distinct battles lie behind the numbers of a lineup.

The seed of a battle is a hash of the two teams and the replicate (``engine.lineups.matches``). So if a team stands
twice in a lineup, or is a baseline team as well, its opponents meet it in the same battle twice; and a team that meets
itself has one battle where others have one from each seat. A battle that occurs twice has twice the weight. The
effective count is the total weight over the largest weight, because an uneventful battle tells no more than its weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.config.lineups import ObjectiveConfig
from engine.formula import COST, parse
from engine.lineups.schema import variables
from engine.simulators.contract import GameSpec

Rows = NDArray[np.int32]
Meeting = Callable[[int, int], bool]

BOTH, FIRST, SECOND = (0, 1), (0,), (1,)
ALL, ONCE = "all", "_vs_teams"


def battles_each(
    objectives: Sequence[ObjectiveConfig], spec: GameSpec, lineups: Rows, baselines: Rows
) -> NDArray[np.int64]:
    """int64[n, m]: the smallest number of battles behind one replicate of each objective: that of its variable with the
    fewest. For ``lineups`` int32[n, teams, slots] that meet ``baselines`` int32[b, slots]."""
    team, lineup = (set(names) for names in variables(spec, lineups.shape[1]))
    names = [parse(o.formula, team, lineup).names - {COST} for o in objectives]
    return np.array([_of_lineup(names, battles_of_variables(spec, one, baselines)) for one in lineups], dtype=np.int64)


def battles_of_variables(spec: GameSpec, lineup: Rows, baselines: Rows) -> dict[str, int]:
    """By variable, the number of battles that one of its replicates averages, for teams int32[teams, slots]. Battle
    metrics count a battle between two teams of the lineup twice, once for each."""
    fewest = _fewest(_alike(np.concatenate([lineup, baselines])), len(lineup))
    known = {f"{m.name}{suffix}": many for m in spec.side_metrics for suffix, many in fewest.items() if suffix != ALL}
    return known | {m.name: fewest[ALL] for m in spec.battle_metrics}


def battles_between(teams: Rows) -> int:
    """The number of battles that one replicate of a team's results against all others averages, for int32[teams,
    slots]; that of the team with the fewest."""
    return _fewest(_alike(teams), len(teams))[ONCE]


def _of_lineup(names: Iterable[Iterable[str]], known: Mapping[str, int]) -> list[int]:
    return [min((known[name] for name in each), default=max(known.values())) for each in names]


def _alike(teams: Rows) -> tuple[int, ...]:
    """For each team, the index of the first team equal to it."""
    _, where, inverse = np.unique(teams, axis=0, return_index=True, return_inverse=True)
    return tuple(where[inverse.ravel()].tolist())


@lru_cache(maxsize=4096)
def _fewest(names: tuple[int, ...], teams: int) -> dict[str, int]:
    """The fewest battles by suffix of a variable, and of battle metrics. The first ``teams`` of the names are the
    lineup's own, the others are baselines."""
    opponents: dict[str, tuple[tuple[int, ...], Meeting]] = {
        "": (BOTH, lambda i, o: True),
        "_vs_baselines": (BOTH, lambda i, o: o >= teams),
        ONCE: (BOTH, lambda i, o: o < teams),
        "_first": (FIRST, lambda i, o: True),
        "_second": (SECOND, lambda i, o: True),
    }
    found = {
        suffix: min(_of_heaviest(_battles(names, i, seats, meets)) for i in range(teams))
        for suffix, (seats, meets) in opponents.items()
    }
    every = [battle for i in range(teams) for battle in _battles(names, i, *opponents[""])]
    return {**found, ALL: _of_heaviest(every)}


def _battles(names: Sequence[int], i: int, seats: Sequence[int], meets: Meeting) -> list[tuple[int, int]]:
    """The (left, right) teams of the battles of team i from these seats."""
    met = [names[o] for o in range(len(names)) if o != i and meets(i, o)]
    return [(names[i], other) if seat == 0 else (other, names[i]) for seat in seats for other in met]


def _of_heaviest(battles: Sequence[Hashable]) -> int:
    """The number of battles divided by how often the most frequent one occurs, rounded down."""
    return len(battles) // max(Counter(battles).values(), default=1)
