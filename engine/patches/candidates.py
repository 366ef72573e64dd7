"""Patches that were played, and which of them are to be proved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from engine.patches.adversary import Best
from engine.patches.numbers import COST, Number
from engine.patches.response import Response
from engine.patches.space import Patch
from engine.simulators.contract import GameSpec
from engine.text import figures

WORKS = 0.9
"""A patch with this chance to work, by all that was played, is one to be proved."""
FINALS = 3


class Candidate(NamedTuple):
    """A patch of a way that was played in so many ``battles``. ``excess``: by how much stronger teams than without it
    an adversary found under it, in chances to win; ``strongest``: the best of them."""

    patch: Patch
    way: str
    battles: int
    excess: float = 0.0
    strongest: Best | None = None


class Unfairness(NamedTuple):
    """How far from fair the worst of the watched is, and the range of that, in chances to win; ``left`` unfair."""

    worst: float
    low: float
    high: float
    left: float


def standing(candidate: Candidate, response: Response) -> Unfairness:
    """By what is known of a patch so far: Gaussian ranges of 95 %, each for its piece alone."""
    found = [response.worth(i, candidate.patch) for i in range(len(response.watched))]
    low = max(max(abs(mean) - 1.96 * deviation, 0.0) for mean, deviation in found)
    high = max(abs(mean) + 1.96 * deviation for mean, deviation in found)
    return Unfairness(max(abs(mean) for mean, _ in found), low, high, _left(candidate, response))


def works(candidate: Candidate, response: Response) -> bool:
    """Whether a candidate probably makes everything that is watched fair, and nothing stronger possible."""
    return response.sure(candidate.patch) >= WORKS and candidate.excess < response.matters


def finals(candidates: Sequence[Candidate], response: Response) -> list[Candidate]:
    """Those to be proved, the one to be recommended first: the smallest that works, the smallest of each other way that
    does, and where none does whatever leaves least."""
    good = sorted((c for c in candidates if works(c, response)), key=lambda c: _small(c, response))
    rest = sorted((c for c in candidates if not works(c, response)), key=lambda c: _left(c, response))
    return list(_one_a_way([*good, *rest[: 1 if not good else 0]]))[:FINALS]


def front(candidates: Sequence[Candidate], response: Response) -> list[Candidate]:
    """Of each way those that no other of it beats in what is left, in number and in size, by number and size."""
    aims = {c.patch: (_left(c, response), *_small(c, response)) for c in candidates}
    kept = [
        c for c in candidates if not any(o.way == c.way and _beats(aims[o.patch], aims[c.patch]) for o in candidates)
    ]
    return sorted(kept, key=lambda c: _small(c, response))


def words(patch: Patch, numbers: Sequence[Number], spec: GameSpec) -> list[str]:
    """A line of a change log for each change."""
    names = [piece.name for piece in spec.pieces]
    lines = []
    for place, level in patch.levels:
        number = numbers[place]
        before, after = figures(number.value), figures(number.at(level))
        if number.name == COST:
            lines.append(f"{names[number.piece]} costs {after} instead of {before}")
        else:
            unit = f" {number.unit}" if number.unit else ""
            lines.append(f"{names[number.piece]}: {number.title} {after}{unit} instead of {before}{unit}")
    return lines + [f"{names[a]} and {names[b]} may not be in one team" for a, b in patch.apart]


def _small(candidate: Candidate, response: Response) -> tuple[int, float]:
    return candidate.patch.changes, response.size(candidate.patch)


def _left(candidate: Candidate, response: Response) -> float:
    return response.left(candidate.patch) + max(candidate.excess - response.matters, 0.0)


def _one_a_way(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    seen = set[str]()
    for candidate in candidates:
        if candidate.way not in seen:
            seen.add(candidate.way)
            yield candidate


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    a, b = np.round(one, 6), np.round(other, 6)
    return bool((a <= b).all() and (a < b).any())
