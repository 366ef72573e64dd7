"""The promises of a game that is played decision by decision, one function each, tried on a running program.

A check yields (level, message) lines: ``ok``, ``warning`` or ``error``. ``ExternalGame`` itself checks shapes, types,
finite numbers and masks of every answer; an exception from it is an error of the current check.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import SimulatorError
from engine.mdp.interface import ActionSpec, Array, Discrete, SeatSpec
from engine.mdp.vector import VectorMDP, VectorStep
from engine.rng import generator
from engine.simulators.contract_checks import Findings
from engine.simulators.game_client import ExternalGame

DECISIONS, WALK_S = 300, 10.0
"""Limits of random play: decisions of each battle, and seconds."""


class Walk(NamedTuple):
    """A game played at random: the actions of each decision, the observations at the beginning and after each, the
    number of episodes that ended in either way, and the total seconds."""

    actions: list[list[Array]]
    seen: list[list[NDArray[Any]]]
    terminated: int
    truncated: int
    seconds: float


class GameCase:
    """A running game with the battles of the checks."""

    def __init__(self, game: VectorMDP, battles: int, seed: int) -> None:
        self.game, self.spec, self.battles = game, game.spec, battles
        self._rng = generator(seed, "conformance")
        self.seeds = self._rng.integers(0, 2**64, battles, np.uint64)

    @cached_property
    def walk(self) -> Walk:
        """Play all battles from the beginning with random legal actions. Raises SimulatorError."""
        begun, step = time.monotonic(), self.game.reset(self.seeds)
        walk, terminated, truncated = Walk([], [_copies(step)], 0, 0, 0.0), 0, 0
        while len(walk.actions) < DECISIONS and time.monotonic() - begun < WALK_S:
            seats = zip(self.spec.seats, step.masks, strict=True)
            walk.actions.append([self._random_actions(seat, mask) for seat, mask in seats])
            step = self.game.step(walk.actions[-1])
            walk.seen.append(_copies(step))
            terminated, truncated = terminated + int(step.terminated.sum()), truncated + int(step.truncated.sum())
        return walk._replace(terminated=terminated, truncated=truncated, seconds=time.monotonic() - begun)

    def differs(self, battles: int) -> int:
        """Play the walk's first ``battles`` battles again, by themselves; returns the decision after which anything
        differs, or -1. Raises SimulatorError."""
        walk = self.walk
        now = self.game.reset(self.seeds[:battles])
        for decision, first in enumerate(walk.seen):
            if decision:
                now = self.game.step([action[:battles] for action in walk.actions[decision - 1]])
            if any(not np.array_equal(a, b[:battles]) for a, b in zip(_copies(now), first, strict=True)):
                return decision
        return -1

    def _random_actions(self, seat: SeatSpec, mask: NDArray[np.bool_] | None) -> Array:
        """Legal actions of one seat in every battle."""
        action, n, columns, start = seat.action, self.battles, [], 0
        for k in action.choices:
            marks = self._rng.random((n, k))
            if mask is not None:
                marks[~mask[:, start : start + k]] = -1
            columns.append(marks.argmax(axis=1).astype(np.float64))
            start += k
        low, high = action.bounds
        columns += list(self._rng.uniform(low, high, (n, len(low))).T)
        return np.stack(columns, axis=1).reshape(n, *action.row).astype(action.dtype)


def _copies(step: VectorStep) -> list[NDArray[Any]]:
    """Copies of all of a step's arrays per battle, with battles on the first axis."""
    seen = [array for observations in step.observations for array in observations.values()]
    masks = [mask for mask in step.masks if mask is not None]
    return [np.array(array) for array in (*seen, *masks, step.rewards, step.terminated, step.truncated, step.alive)]


GameCheck = Callable[[GameCase], Findings]


def _description(case: GameCase) -> Findings:
    spec = case.spec
    yield "ok", f"{spec.name} {spec.version}: {_seats(spec.seats)}"


def _seats(seats: Sequence[SeatSpec]) -> str:
    """A sentence about the first seat's observations, actions and rewards, and the number of seats."""
    seat = seats[0]
    sees = ", ".join(f"{s.name} {list(s.shape)}" for s in seat.observations)
    count = "one seat" if len(seats) == 1 else f"{len(seats)} seats, the first of which"
    return f"{count} sees {sees}; {_does(seat.action)}; is told {', '.join(seat.rewards)}"


def _does(action: ActionSpec) -> str:
    if isinstance(action, Discrete):
        return f"chooses among {action.n}"
    parts = [f"chooses among {k}" for k in action.choices]
    steered = len(action.bounds[0])
    return " and ".join([*parts, f"sets {steered} number{'s' * (steered != 1)}"] if steered else parts)


def _moves(case: GameCase) -> Findings:
    n = len(case.walk.actions)
    yield "ok", f"{n} random legal actions of {case.battles} battles: shapes, types, finite numbers and masks are right"


def _episodes(case: GameCase) -> Findings:
    walk = case.walk
    if walk.terminated + walk.truncated:
        yield "ok", f"{walk.terminated} episodes ended by the rules and {walk.truncated} were cut short"
    else:
        n = len(walk.actions)
        yield "warning", f"no episode ended within {n} decisions; a training shows the returns of whole episodes only"


def _reproducible(case: GameCase) -> Findings:
    if (decision := case.differs(case.battles)) >= 0:
        when = f"after decision {decision}" if decision else "at their beginning"
        yield "warning", f"the same seeds and actions give other battles ({when}): no training can be repeated exactly"
    elif (decision := case.differs(case.battles // 2)) >= 0:
        yield "error", f"battles depend on those played beside them: alone they differ after decision {decision}"
    else:
        yield "ok", "the same seeds and actions give the same battles, whatever is played beside them"


def _training(case: GameCase) -> Findings:
    if (seats := len(case.spec.seats)) == 1:
        yield "ok", "agents can be trained in it"
    else:
        yield "warning", f"it has {seats} seats; training needs one: let the program play the others itself"


def _starts(case: GameCase) -> Findings:
    """Each end of each setting that says where an episode begins, by itself."""
    game = case.game
    if not case.spec.starts or not isinstance(game, ExternalGame):
        return
    ranges = ", ".join(f"{each.name} {each.low:g} to {each.high:g}" for each in case.spec.starts)
    many = len(case.spec.starts)
    yield "ok", f"its episodes begin where {many} setting{'s say' if many > 1 else ' says'}: {ranges}"
    for name, value in [(each.name, end) for each in case.spec.starts for end in (each.low, each.high)]:
        game.begins = {name: value}
        try:
            game.reset(case.seeds)
        except SimulatorError as error:
            yield "warning", f"no episode begins with {name} {value:g} alone: {error}"
    game.begins = {}


def _speed(case: GameCase) -> Findings:
    walk = case.walk
    pace = case.battles * len(walk.actions) / max(walk.seconds, 1e-9)
    yield "ok", f"{pace:,.0f} decisions a second with {case.battles} battles played together"


GAME_CHECKS: dict[str, GameCheck] = {
    "description": _description,
    "moves": _moves,
    "episodes": _episodes,
    "training": _training,
    "speed": _speed,
    "reproducible": _reproducible,
    "starts": _starts,
}
"""Checks in order; after an error the others are skipped, because they would fail, or wait, for the same reason."""
