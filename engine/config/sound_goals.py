"""What is wrong with goals taken together with their game: bounds that no episode reaches, one goal twice, and formulas
that are never a number or always the same one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.config.style_reward import identifier
from engine.errors import ConfigError
from engine.formula import Formula, goal, read
from engine.text import figures, written

if TYPE_CHECKING:
    from engine.config.evolve import AimConfig

POINTS = 64
"""Made-up episodes on which two goals are held against each other."""
FEWEST = 16
"""Of these, in which goals must be numbers to be judged by them."""
SAME = 1e-9
TRIED = 4096
"""Made-up episodes on which a formula is never a number, or always the same one, before it is called so."""
OFTEN = (-1.0, 0.0, 0.5, 1.0)
"""Values that measures often have exactly, such as that of a win."""
PREFERS = "prefers the same episodes as “{}”: two goals must differ"
WIDE, UNKNOWN = 3.0, (-np.inf, np.inf)
Floats = NDArray[np.float64]
Ends = Mapping[str, tuple[float, float]]


def out_of_reach(objectives: Sequence[AimConfig], ends: Ends) -> Iterator[tuple[str, str]]:
    """(place, sentence) of each bound beyond the ``ends`` of a measure, by name, and of those that make all equal."""
    for i, aim in enumerate(objectives):
        if not aim.formula and aim.measure in ends:
            yield from ((f"{i}.{side}", why) for side, why in _out_of_reach(aim, *ends[aim.measure]))


def _out_of_reach(aim: AimConfig, least: float, most: float) -> Iterator[tuple[str, str]]:
    between = f"{figures(least)} or more" if np.isinf(most) else f"from {figures(least)} to {figures(most)}"
    for side, called, end in (("low", "floor", aim.low), ("high", "cap", aim.high)):
        if end is not None and not least <= end <= most:
            yield side, f"no episode reaches a {called} of {figures(end)}: {aim.measure} is {between}"
    if aim.low is not None and aim.low == most:
        yield "low", f"every episode counts as {figures(most)}, so nobody is better: {aim.measure} is {between}"
    if aim.high is not None and aim.high == least:
        yield "high", f"every episode counts as {figures(least)}, so nobody is better: {aim.measure} is {between}"


def equal(objectives: Sequence[AimConfig], ends: Ends) -> Iterator[tuple[str, str]]:
    """(place, sentence) of goals that prefer the episodes that an earlier one prefers: score upwards and −score
    downwards, or score and its third power. ``ends``: between what measures lie, as far as that is known: of those that
    are never below 0 the second power prefers the same, too."""
    known = [(_preference(aim, ends), only_measure(aim)) for aim in objectives]
    for i, (mine, measure) in enumerate(known):
        for j, (other, its) in enumerate(known[:i]):
            if mine is not None and other is not None and alike(mine, other, in_order=measure == its != ""):
                place = f"{i}.{'formula' if objectives[i].formula else 'measure'}"
                yield place, PREFERS.format(objectives[j].measure)
                break


def alike(one: Floats, other: Floats, *, in_order: bool) -> bool:
    """Whether two goals prefer the same of made-up episodes, of which higher values are better: where both are numbers
    they differ in unit and beginning alone, or, if it counts who is ``in_order``, put all in one order. That counts for
    goals of one measure only: a second one that weighs little changes no order. Of few episodes nobody can tell."""
    both = np.isfinite(one) & np.isfinite(other)
    if both.sum() < FEWEST:
        return False
    a, b = one[both], other[both]
    if in_order and np.array_equal(_ranks(a), _ranks(b)):
        return True
    return np.allclose(_scaled(a), _scaled(b), rtol=0, atol=SAME)


def _ranks(values: Floats) -> NDArray[np.intp]:
    """The place of each from below, equals having one place."""
    return np.unique(values, return_inverse=True)[1]


def _scaled(values: Floats) -> Floats:
    """From 0 to 1; no number where all are the same."""
    with np.errstate(all="ignore"):
        return np.asarray((values - values.min()) / np.ptp(values))


def made_up(text: str, ends: Ends = MappingProxyType({})) -> Floats | None:
    """A formula in made-up episodes [``POINTS``], in which a measure has the same values for all formulas, within its
    ``ends``; None where it is none that can be read, or no number somewhere."""
    formula, known = _read(text), {identifier(name): each for name, each in ends.items()}
    drawn = {} if formula is None else {name: _drawn(name, *known.get(name, UNKNOWN)) for name in formula.names}
    values = None if formula is None else formula.evaluate(drawn)
    return values if values is not None and np.isfinite(values).all() else None


def only_measure(aim: AimConfig) -> str:
    """The measure that a goal is made of, as formulas write it; empty where it is made of several, or unreadable."""
    formula = _read(aim.formula or identifier(aim.measure))
    names = [] if formula is None else [*formula.names]
    return names[0] if len(names) == 1 else ""


def _read(text: str) -> Formula | None:
    """A formula of whatever measures; None where it cannot be read."""
    try:
        names = {node.id for node in ast.walk(read(text)) if isinstance(node, ast.Name)}
        return goal(text, frozenset(), names)
    except (ConfigError, SyntaxError, ValueError, RecursionError):
        return None


def _preference(aim: AimConfig, ends: Ends) -> Floats | None:
    """Values of made-up episodes by a goal, more being better; None where they are not known or all the same."""
    values = made_up(aim.formula or identifier(aim.measure), ends)
    if values is None or np.ptp(values) == 0:
        return None
    return values if aim.direction == "max" else -values


def _drawn(name: str, low: float, high: float) -> Floats:
    """Values of a measure [``POINTS``, 1], as far as nobody knows its ends of both signs."""
    rng = np.random.default_rng(list(name.encode()))
    first = low if np.isfinite(low) else min(-WIDE, high - WIDE)
    return rng.uniform(first, high if np.isfinite(high) else max(WIDE, first + WIDE), (POINTS, 1))


def idle(objectives: Sequence[AimConfig]) -> Iterator[tuple[str, str]]:
    """(place, sentence) of goals whose formula prefers nobody, whatever a game measures: it is never a number, or
    always the same one. What cannot be read is told elsewhere."""
    for i, aim in enumerate(objectives):
        values = _tried(aim.formula) if aim.formula else None
        if values is None:
            continue
        numbers = values[np.isfinite(values)]
        if not len(numbers):
            yield f"{i}.formula", "is never a number, whatever is measured, so nobody can be compared by it"
        elif len(numbers) == len(values) and np.ptp(numbers) <= SAME:
            yield f"{i}.formula", f"is {written(numbers[0] + 0.0, 'g')} whatever happens, so it selects nobody"


def _tried(text: str) -> Floats | None:
    """A formula on made-up episodes [``TRIED``], of measures of any size, and of values that episodes often have or
    that the formula itself names; None where it cannot be read."""
    try:
        nodes = [*ast.walk(read(text))]
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        known = [float(n.value) for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, int | float)]
        exact = np.array([*OFTEN, *(value + step for value in known for step in (-1.0, 0.0, 1.0))])
        return goal(text, frozenset(), names).evaluate({name: _any_size(name, exact) for name in sorted(names)})
    except (ConfigError, SyntaxError, ValueError, RecursionError, OverflowError):
        return None


def _any_size(name: str, exact: Floats) -> Floats:
    """Values of a measure, of both signs, [``TRIED``, 1]: a third of them ``exact`` ones, a third small."""
    rng = np.random.default_rng(list(name.encode()))
    sizes = 10.0 ** rng.uniform(-3, 6, TRIED) * rng.choice([-1.0, 1.0], TRIED)
    kinds = [rng.choice(exact, TRIED), rng.uniform(-3.0, 3.0, TRIED), sizes]
    return np.choose(rng.integers(0, len(kinds), TRIED), kinds)[:, None]
