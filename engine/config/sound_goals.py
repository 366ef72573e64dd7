"""What is wrong with goals taken together with their game: bounds that no episode reaches, one goal twice, and formulas
that are never a number or always the same one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.config.style_reward import identifier
from engine.errors import ConfigError
from engine.formula import goal, read
from engine.text import figures, written

if TYPE_CHECKING:
    from engine.config.evolve import AimConfig

POINTS = 64
"""Made-up episodes on which two goals are held against each other."""
SAME = 1e-9
TRIED = 4096
"""Made-up episodes on which a formula is never a number, or always the same one, before it is called so."""
OFTEN = (-1.0, 0.0, 0.5, 1.0)
"""Values that measures often have exactly, such as that of a win."""
Floats = NDArray[np.float64]


def out_of_reach(objectives: Sequence[AimConfig], ends: Mapping[str, tuple[float, float]]) -> Iterator[tuple[str, str]]:
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


def equal(objectives: Sequence[AimConfig]) -> Iterator[tuple[str, str]]:
    """(place, sentence) of goals that prefer whom an earlier one prefers: score upwards and −score downwards."""
    known = [_preference(aim) for aim in objectives]
    for i, mine in enumerate(known):
        for j, other in enumerate(known[:i]):
            if mine is not None and other is not None and np.allclose(mine, other, rtol=0, atol=SAME):
                place = f"{i}.{'formula' if objectives[i].formula else 'measure'}"
                yield place, f"prefers whom “{objectives[j].measure}” prefers: two goals must differ"
                break


def _preference(aim: AimConfig) -> Floats | None:
    """How good made-up episodes are by a goal, from 0 to 1 [``POINTS``]; None where it is no formula that can be read,
    or no number somewhere. A measure has the same made-up values in all goals."""
    text = aim.formula or identifier(aim.measure)
    try:
        names = {node.id for node in ast.walk(read(text)) if isinstance(node, ast.Name)}
        values = goal(text, frozenset(), names).evaluate({name: _drawn(name) for name in names})
    except (ConfigError, SyntaxError, ValueError, RecursionError):
        return None
    if not np.isfinite(values).all() or np.ptp(values) == 0:
        return None
    scaled: Floats = (values - values.min()) / np.ptp(values)
    return scaled if aim.direction == "max" else 1.0 - scaled


def _drawn(name: str) -> Floats:
    """Values of a measure, of both signs, [``POINTS``, 1]."""
    rng = np.random.default_rng(list(name.encode()))
    return rng.uniform(-3.0, 3.0, (POINTS, 1))


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
