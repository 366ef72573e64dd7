"""How a break of the wanted size is made: a number of the piece is changed until the measured effect is the wanted one.

1. The effect of the pattern in the game as it is comes from battles of its own.
2. Numbers of the piece are tried in random order, NUMBERS of them at most, both ends of each. Where the wanted effect
   lies between that of the present value and that of an end, the value in between is looked for by false position
   (the Illinois rule, Dowell and Jarratt 1971), in STEPS steps. All of it is played on the same teams and the same
   luck, so little of the *change* of the effect is chance.
3. Where no number comes within NEAR of the wanted effect, and for pairs and triples, outcomes are turned
   (``engine.sensitivity.planted``) with the chance that makes the wanted effect.

What the break then is gets measured on fresh battles by the evaluator: those used here had a part in choosing it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from engine.config.sensitivity import SensitivityConfig
from engine.errors import EvaluationError
from engine.problem import ShouldStop
from engine.rng import generator
from engine.sensitivity.effects import Compared, Ground
from engine.sensitivity.plan import Planting
from engine.sensitivity.planted import Break
from engine.simulators.contract import GameSpec, Parameter

NUMBERS, STEPS, HALVINGS = 3, 5, 30
NEAR = 0.01
"""A number is taken if its change misses the wanted effect by no more than this, or by a quarter of it."""
FAR = 2.0
"""A number goes no further than this many times the largest of its kind."""
DIGITS = 9
_BEFORE, _TRIED = 10, 20
"""What is added to a planting's seed for battles of each purpose."""


class Tuned(NamedTuple):
    """A break, and the number that was changed for it (its place among the game's tunables; -1: none)."""

    broken: Break
    place: int = -1
    value: float = math.nan


class Tuning:
    """Makes breaks in a game. ``spec``: the game as the study has it, without a break."""

    def __init__(self, config: SensitivityConfig, spec: GameSpec, ground: Ground) -> None:
        self.config, self.spec, self.ground = config, spec, ground
        self.tunables = spec.tunables()
        self.places = {path: i for i, path in enumerate(self.tunables)}

    def tuned(self, planting: Planting, should_stop: ShouldStop) -> Tuned:
        """The break that a planting wants. Raises EvaluationError where teams with the pattern cannot be drawn, where
        not even turning all battles makes nearly the wanted effect, and Cancelled."""
        before = self._compared(planting, 0.0, should_stop)
        effect = before.effect(planting.sign).size
        if not math.isfinite(effect):
            raise EvaluationError("Hardly any teams with it can be drawn under these rules, or no battle of them ends.")
        missing = planting.target - effect
        by_number = planting.kind == "piece" and self.config.through == "numbers"
        if by_number and (found := self._by_number(planting, missing, should_stop)):
            return found
        sure = math.copysign(1.0, missing)
        after = self._compared(planting, sure, should_stop)
        left = planting.target - after.effect(planting.sign).size
        if missing * left > 0 and abs(left) > _near(planting):
            raise EvaluationError("Turning all battles does not make the effect as large as was wanted.")
        return Tuned(Break(planting.pieces, {}, sure * _chance(planting, before, after)))

    def _compared(self, planting: Planting, chance: float, should_stop: ShouldStop) -> Compared:
        """The pattern and its line where battles are turned with this chance, on the same teams and luck as with any
        other chance."""
        broken, seed = Break(planting.pieces, {}, chance), planting.seed + _BEFORE
        return self.ground.compared(planting.pieces, 1, broken, self.config.precise, seed, should_stop)

    def _by_number(self, planting: Planting, missing: float, should_stop: ShouldStop) -> Tuned | None:
        """The change of one number that moves the effect by what is ``missing``; None where none does."""
        (piece,) = planting.pieces
        seed = planting.seed + _TRIED
        rows = self.ground.drawn(planting.pieces, 1, self.config.step, seed, should_stop)
        present = self.ground.won(Break(planting.pieces), rows, seed, should_stop)
        numbers = self._numbers(piece)
        for i in generator(planting.seed, "numbers").permutation(len(numbers))[:NUMBERS]:
            number, far = numbers[i]

            def moved(value: float, path: str = number.path) -> float:
                broken = Break(planting.pieces, {path: value})
                return _mean(self.ground.won(broken, rows, seed, should_stop) - present) - missing

            value, miss = _solved(moved, number.default, far, -missing)
            if abs(miss) <= _near(planting):
                broken = Break(planting.pieces, {number.path: value})
                return Tuned(broken, self.places[number.path], value)
        return None

    def _numbers(self, piece: int) -> list[tuple[Parameter, tuple[float, float]]]:
        """The numbers of a piece that it makes use of, and how far each may go. Its price is none of these: it changes
        who is fielded."""
        own = self.spec.pieces[piece]
        found = []
        for name, value in own.attributes.items():
            number = self.tunables[f"{own.id}.{name}"]
            kind = [abs(p.attributes.get(name, 0.0)) for p in self.spec.pieces if p.category == own.category]
            far = FAR * max(kind)
            ends = max(number.low, -far), min(number.high, far)
            if value and ends[0] < ends[1]:
                found.append((number, ends))
        return found


def _near(planting: Planting) -> float:
    """By how much an effect may miss the wanted one."""
    return max(NEAR, abs(planting.target) / 4)


def _chance(planting: Planting, before: Compared, after: Compared) -> float:
    """The chance to turn a battle, 0 to 1, that makes the wanted effect. ``before``, ``after``: where no battle is
    turned, and where all are. To turn battles of a pair moves what each half wins by itself, too, so the effect is
    followed, not the outcome alone."""

    def missing(chance: float) -> float:
        return planting.target - before.toward(after, chance).effect(planting.sign).size

    low, high, start = 0.0, 1.0, missing(0.0)
    if start * missing(1.0) > 0:
        return 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if start * missing(middle) > 0 else (low, middle)
    return (low + high) / 2


def _mean(change: np.ndarray) -> float:
    good = change[np.isfinite(change)]
    return float(good.mean()) if len(good) else math.nan


def _solved(
    f: Callable[[float], float], start: float, ends: tuple[float, float], at_start: float
) -> tuple[float, float]:
    """The value between ``start``, where f is ``at_start``, and one of the ``ends`` that comes closest to a zero of f
    among those that were tried, and f there."""
    best = start, at_start
    for end in ends:
        a, fa, b, fb = start, at_start, end, f(end)
        best = min(best, (b, fb), key=lambda each: abs(each[1]))
        if not fa * fb < 0:
            continue
        for _ in range(STEPS):
            x = round(b - fb * (b - a) / (fb - fa), DIGITS)
            fx = f(x)
            best = min(best, (x, fx), key=lambda each: abs(each[1]))
            if abs(fx) <= NEAR / 10:
                break
            if fx * fb < 0:
                a, fa = b, fb
            else:
                fa /= 2
            b, fb = x, fx
        break
    return best
