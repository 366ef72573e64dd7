"""Which patches are worth playing: NSGA-II over few, bounded changes, by what is known of the responses so far.

Three aims are made small: what is left unfair, the number of changes, and how large they are. It runs once for each
*way* of changing a game (prices alone, attributes alone, rules beside them), since a designer chooses between ways for
reasons that no range measures. It begins with patches of one change that leaves least, such as the fair price, and with
those together. Played are then, of each way, the ones that are most likely to be the smallest that work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from engine.errors import Cancelled
from engine.evolution.nsga2 import NSGA2
from engine.patches.numbers import COST
from engine.patches.response import Response
from engine.patches.space import Patch, PatchSpace
from engine.problem import Evaluation, Objective, Problem, Request

POPULATION, ROUNDS = 48, 30
AIMS = ("left", "changes", "size")
SURE = 0.8
"""A patch with this chance to work counts as one that works, until it is played."""
LITTLE = 0.05
"""A change that mends less than this share of what the game as it is leaves is left out."""
WORTH_IT = 0.7
"""A patch that leaves more than this share of what the game as it is leaves is not worth playing."""
EACH = 4
"""Patches of a way that are played in a round, at most."""
NEAR = 0.04
"""Shares of the reach that make no difference worth playing."""


class Way(NamedTuple):
    """How a game may be changed: numbers by their places, and pairs that may be kept apart."""

    name: str
    places: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...] = ()


def ways(response: Response, pairs: Sequence[tuple[int, int]]) -> list[Way]:
    """Those that there are."""
    prices = tuple(i for i, n in enumerate(response.numbers) if n.name == COST)
    others = tuple(i for i, n in enumerate(response.numbers) if n.name != COST)
    found = [Way("prices", prices), Way("attributes", others)]
    if pairs:
        found.append(Way("rules", (*prices, *others), tuple(pairs)))
    return [way for way in found if way.places or way.pairs]


def proposed(
    response: Response, way: Way, most: int, seed: int, met: Iterable[Patch], stopped: Callable[[], bool]
) -> list[Patch]:
    """The patches of a way to play next, none that was ``met``. Raises Cancelled."""
    found = _edge(response, way, most, seed, stopped)
    if way.pairs:
        found = [patch for patch in found if patch.apart]
    found = list(dict.fromkeys(_needed(patch, response) for patch in found))
    known = {_kind(patch): patch for patch in met}
    fresh = [p for p in found if p.changes and not _alike(p, known.get(_kind(p)), response)]
    sure = sorted((p for p in fresh if response.sure(p) >= SURE), key=lambda p: (p.changes, response.size(p)))
    most_left = WORTH_IT * response.left(Patch())
    rest = [p for p in fresh if response.sure(p) < SURE and response.left(p) < most_left]
    return list(_firsts([*sure, *sorted(rest, key=response.left)]))[:EACH]


def _edge(response: Response, way: Way, most: int, seed: int, stopped: Callable[[], bool]) -> list[Patch]:
    """What NSGA-II ends with."""
    numbers = [response.numbers[place] for place in way.places]
    space = PatchSpace(numbers, way.pairs, most, [_local(p, way) for p in _starts(response, way, most)])
    problem = Problem(space, tuple(Objective(aim, aim.title(), "min") for aim in AIMS), noun="patch")
    search = NSGA2(problem, POPULATION, ROUNDS, seed)
    while not search.done:
        if stopped():
            raise Cancelled("The search for changes was asked to stop")
        for request in search.ask(POPULATION):
            search.tell(_evaluated(request, _global(space.patch(request.genome), way), response))
    members = search.P.individuals if search.P else []
    return [_global(space.patch(each.genome), way) for each in members]


def _evaluated(request: Request, patch: Patch, response: Response) -> Evaluation:
    aims = np.array([response.left(patch), patch.changes, response.size(patch)])
    return Evaluation(request.id, aims, np.zeros((3, 3)), 1, np.empty(0))


def _starts(response: Response, way: Way, most: int) -> list[Patch]:
    """None at all; of each number the change that leaves least; the best of these together, one a suspect."""
    singles = [Patch(((place, level),)) for place in way.places if (level := _best(response, place))]
    rules = [Patch((), (pair,)) for pair in way.pairs]
    together = Patch()
    for patch in sorted([*rules, *singles], key=response.left):
        both = Patch(tuple(sorted({*together.levels, *patch.levels})), tuple(sorted({*together.apart, *patch.apart})))
        touched = {p for p, _ in together.levels} & {p for p, _ in patch.levels}
        if not touched and both.changes <= most and response.left(both) < response.left(together):
            together = both
    found = {patch: None for patch in (Patch(), together, *rules, *sorted(singles, key=response.left))}
    return list(found)[: POPULATION // 2]


def _best(response: Response, place: int) -> int:
    """The steps of a number that leave least unfair by themselves, the fewest among equals; 0: none helps."""
    number = response.numbers[place]
    levels = sorted(range(number.least, number.most + 1), key=abs)
    return min(levels, key=lambda level: round(response.left(Patch(((place, level),) if level else ())), 4))


def _needed(patch: Patch, response: Response) -> Patch:
    """Without the changes that hardly matter, one after the other."""
    little = LITTLE * response.left(Patch())
    for change in patch.levels:
        without = patch._replace(levels=tuple(each for each in patch.levels if each != change))
        worse = response.sure(without) < SURE <= response.sure(patch)
        if not worse and response.left(without) <= response.left(patch) + little:
            patch = without
    return patch


def _local(patch: Patch, way: Way) -> Patch:
    """With the places of the way's own numbers."""
    return Patch(tuple((way.places.index(place), level) for place, level in patch.levels), patch.apart)


def _global(patch: Patch, way: Way) -> Patch:
    return Patch(tuple((way.places[place], level) for place, level in patch.levels), patch.apart)


def _kind(patch: Patch) -> tuple[object, ...]:
    """What it changes, whatever by how much."""
    return tuple(place for place, _ in patch.levels), patch.apart


def _alike(patch: Patch, other: Patch | None, response: Response) -> bool:
    """Whether two patches of a kind are so near that playing both tells nothing."""
    if other is None:
        return False
    far = (
        abs(a - b) * response.numbers[place].step / response.numbers[place].reach
        for (place, a), (_, b) in zip(patch.levels, other.levels, strict=True)
    )
    return all(each < NEAR for each in far)


def _firsts(patches: Iterable[Patch]) -> Iterator[Patch]:
    seen = set[object]()
    for patch in patches:
        if _kind(patch) not in seen:
            seen.add(_kind(patch))
            yield patch
