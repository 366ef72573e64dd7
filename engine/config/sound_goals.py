"""What is wrong with goals taken together with their game: bounds that no episode reaches, and one goal twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.config.style_reward import identifier
from engine.errors import ConfigError
from engine.formula import goal, read
from engine.text import figures

if TYPE_CHECKING:
    from engine.config.evolve import AimConfig

POINTS = 64
"""Made-up episodes on which two goals are held against each other."""
SAME = 1e-9
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


def made_up(text: str) -> Floats | None:
    """A formula in made-up episodes [``POINTS``], in which a measure has the same values for all formulas; None where
    it is none that can be read, or no number somewhere."""
    try:
        names = {node.id for node in ast.walk(read(text)) if isinstance(node, ast.Name)}
        values = goal(text, frozenset(), names).evaluate({name: _drawn(name) for name in names})
    except (ConfigError, SyntaxError, ValueError, RecursionError):
        return None
    return values if np.isfinite(values).all() else None


def _preference(aim: AimConfig) -> Floats | None:
    """How good made-up episodes are by a goal, from 0 to 1 [``POINTS``]; None where it is no formula that can be read,
    or no number somewhere."""
    values = made_up(aim.formula or identifier(aim.measure))
    if values is None or np.ptp(values) == 0:
        return None
    scaled: Floats = (values - values.min()) / np.ptp(values)
    return scaled if aim.direction == "max" else 1.0 - scaled


def _drawn(name: str) -> Floats:
    """Values of a measure, of both signs, [``POINTS``, 1]."""
    rng = np.random.default_rng(list(name.encode()))
    return rng.uniform(-3.0, 3.0, (POINTS, 1))
