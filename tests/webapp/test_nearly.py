"""How many more battles what is nearly proved needs."""

from __future__ import annotations

import math

import numpy as np

from engine import confidence
from engine.arrays import Bundle
from webapp.worth.nearly import ALLOWED, nearly
from webapp.worth.parts import OPEN, Line

OTHERS = 19
MATTERS = 3.0


def evidence(values: np.typing.NDArray[np.float64]) -> float:
    """Log of the evidence that the effect is beyond what matters, above or below."""
    sides = [confidence.log_evidence(side * values, -1.0, 1.0, MATTERS / 100) for side in (1, -1)]
    return float(np.logaddexp(*sides)) - math.log(2)


def more(log: float, battles: int, worth: float) -> int | None:
    """The battles that are said to be missing, 0 where it is too close to tell; None where nothing is said."""
    meta = {"pieces": [{"id": f"p{i}"} for i in range(OTHERS + 1)], "matters": MATTERS / 100}
    columns = {
        "piece": np.array([(i, -1) for i in range(OTHERS + 1)], np.int32),
        "least": np.ones(OTHERS + 1, np.int32),
        "evidence": np.array([log, *[0.0] * OTHERS]),
    }
    line = Line("P", "hero", 10.0, worth, worth - 2, worth + 2, OPEN, battles, ("p0",))
    return next((near.more for near in nearly(Bundle(meta, columns), [line], 0)), None)


def test_what_is_said_to_be_missing_is_enough_for_three_of_four() -> None:
    rng, enough = np.random.default_rng(5), list[bool]()
    while len(enough) < 80:
        true, battles = rng.uniform(0.0, 0.08), 1_000
        values = np.clip(true + 0.42 * rng.standard_normal(battles), -1, 1)
        log, needed = evidence(values), math.log((OTHERS + 1) / ALLOWED)
        said = more(log, battles, 100 * float(values.mean())) if log < needed else None
        if said:
            later = np.clip(true + 0.42 * rng.standard_normal(said), -1, 1)
            enough.append(evidence(np.append(values, later)) >= needed)
    assert 0.75 - 3 * math.sqrt(0.75 * 0.25 / 80) <= np.mean(enough) <= 0.95


def test_the_surer_it_is_the_fewer_are_missing_and_what_hardly_moves_is_too_close_to_tell() -> None:
    said = [more(log, 1_000, 6.0) for log in (-1.5, 2.0, 4.0, 6.0)]
    assert said[0] == 0
    assert all(said[1:])
    assert said[1:] == sorted(said[1:], key=lambda each: -(each or 0))
    assert more(4.0, 1_000, 2.0) is None, "an effect that is smaller than what matters"
