"""Random teams that keep a game's own rules, for checking a simulator nobody has configured yet.

Each slot takes only what leaves enough gold and units for the slots after it.
(The search has operators of its own in ``engine.lineups``, which also know a project's rules and whole lineups.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import SimulatorError
from engine.simulators.contract import GameSpec, Slot

EMPTY = -1
MOST_TRIES = 10_000


class _Choice(NamedTuple):
    """One way to fill a piece slot: the piece, its count, its cost, and the counted units that it adds."""

    piece: int
    many: int
    cost: float
    units: int


class _Seat(NamedTuple):
    """A piece slot's column, the column of its count slot (-1: none) and every way to fill it."""

    column: int
    count_column: int
    category: str
    choices: list[_Choice]


def random_teams(
    spec: GameSpec, n: int, rng: np.random.Generator, *, empty_optional: bool = False
) -> NDArray[np.int32]:
    """n teams int32[n, slots] under the spec's rules; ``empty_optional`` leaves every optional slot empty.

    Raises SimulatorError (permanent) if no team satisfies the rules.
    """
    seats = _seats(spec, empty_optional)
    rows = np.zeros((n, len(spec.slots)), np.int32)
    for row in rows:
        if not _Filler(spec, seats, rng).fill(row):
            raise SimulatorError(f"no team was found that keeps the rules of {spec.name}", permanent=True)
    return rows


def _seats(spec: GameSpec, empty_optional: bool) -> list[_Seat]:
    column = {slot.id: i for i, slot in enumerate(spec.slots)}
    counter = {slot.of: slot for slot in spec.slots if slot.kind == "count"}
    seats = []
    for slot in spec.slots:
        if slot.kind == "piece":
            count = counter.get(slot.id)
            choices = _choices(spec, slot, count, empty_optional)
            seats.append(_Seat(column[slot.id], column[count.id] if count else -1, slot.category, choices))
    return seats


def _choices(spec: GameSpec, slot: Slot, count: Slot | None, empty_optional: bool) -> list[_Choice]:
    choices = [_Choice(EMPTY, 0, 0.0, 0)] if slot.optional else []
    if slot.optional and empty_optional:
        return choices
    banned = set(spec.rules.banned)
    counts = range(count.low, count.high + 1) if count else range(1, 2)
    for i, piece in enumerate(spec.pieces):
        if piece.category == slot.category and piece.id not in banned:
            choices += [_Choice(i, k, piece.cost * k, k if count else 0) for k in counts]
    return choices


class _Filler:
    """Fills one team slot by slot in random order; backtracks where distinct pieces leave no choice."""

    def __init__(self, spec: GameSpec, seats: list[_Seat], rng: np.random.Generator) -> None:
        index = spec.piece_index()
        forced = _places_of_required(spec, seats, rng, [index[name] for name in spec.rules.required])
        self._rules, self._rng = spec.rules, rng
        self._distinct = {d.category for d in spec.rules.distinct}
        self._order = [int(i) for i in rng.permutation(len(seats))]
        self._seats = [seats[i] for i in self._order]
        self._options = [forced.get(i, seats[i].choices) for i in self._order]
        self._bounds = [_bounds(self._options[k + 1 :]) for k in range(len(seats))]
        self._chosen: list[_Choice] = []
        self._tries = 0

    def fill(self, row: NDArray[np.int32]) -> bool:
        """Write a team into the row; False if there is none."""
        if not self._extend(0.0, 0):
            return False
        for seat, choice in zip(self._seats, self._chosen, strict=True):
            row[seat.column] = choice.piece
            if seat.count_column >= 0:
                row[seat.count_column] = choice.many
        return True

    def _extend(self, cost: float, units: int) -> bool:
        position = len(self._chosen)
        if position == len(self._seats):
            return True
        left = [c for c in self._free(position) if self._completable(position, cost + c.cost, units + c.units)]
        while left and self._tries < MOST_TRIES:
            self._tries += 1
            choice = _draw(left, self._rng)
            self._chosen.append(choice)
            if self._extend(cost + choice.cost, units + choice.units):
                return True
            self._chosen.pop()
            left.remove(choice)
        return False

    def _free(self, position: int) -> list[_Choice]:
        """The choices of this slot; where pieces may not repeat, without those already in the team."""
        seat, options = self._seats[position], self._options[position]
        if seat.category not in self._distinct:
            return options
        used = {c.piece for c in self._chosen if c.piece != EMPTY}
        return [c for c in options if c.piece not in used]

    def _completable(self, position: int, cost: float, units: int) -> bool:
        """Whether the slots still to fill can bring cost and units between the rules' bounds."""
        rules, rest = self._rules, self._bounds[position]
        return (
            cost + rest.least_cost <= rules.budget_high
            and cost + rest.most_cost >= rules.budget_low
            and units + rest.least_units <= rules.units_high
            and units + rest.most_units >= rules.units_low
        )


def _places_of_required(
    spec: GameSpec, seats: list[_Seat], rng: np.random.Generator, required: list[int]
) -> dict[int, list[_Choice]]:
    """For each required piece a random free slot that accepts it; the remaining choices by slot index."""
    forced: dict[int, list[_Choice]] = {}
    for piece in required:
        homes = {i: [c for c in seat.choices if c.piece == piece] for i, seat in enumerate(seats) if i not in forced}
        homes = {i: choices for i, choices in homes.items() if choices}
        if not homes:
            name = spec.pieces[piece].name
            raise SimulatorError(f"{spec.name} requires {name!r} and has no free slot that takes it", permanent=True)
        chosen = list(homes)[int(rng.integers(len(homes)))]
        forced[chosen] = homes[chosen]
    return forced


class _Bounds(NamedTuple):
    """The smallest and largest cost and units that the slots still to fill can add."""

    least_cost: float
    most_cost: float
    least_units: int
    most_units: int


def _bounds(rest: list[list[_Choice]]) -> _Bounds:
    return _Bounds(
        sum(min(c.cost for c in choices) for choices in rest),
        sum(max(c.cost for c in choices) for choices in rest),
        sum(min(c.units for c in choices) for choices in rest),
        sum(max(c.units for c in choices) for choices in rest),
    )


def _draw(choices: list[_Choice], rng: np.random.Generator) -> _Choice:
    """A piece uniformly, then one of its counts uniformly, so that long count ranges do not favour a piece."""
    pieces = sorted({c.piece for c in choices})
    piece = pieces[int(rng.integers(len(pieces)))]
    same = [c for c in choices if c.piece == piece]
    return same[int(rng.integers(len(same)))]
