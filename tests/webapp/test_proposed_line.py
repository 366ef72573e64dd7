"""The line that is proposed from random lineups, where many of them are alike."""

from __future__ import annotations

import numpy as np
import pytest

from engine.config.lineups import ObjectiveConfig
from webapp.studies.explore_source import Median
from webapp.studies.random_lineups import RandomLineups, advice, over, suggestion

ZERO_TO_ONE = {"name": "x", "title": "X", "formula": "mean(win)", "low": 0.0, "high": 1.0}
MORE, LESS = (ObjectiveConfig(**ZERO_TO_ONE, direction=direction) for direction in ("max", "min"))


def told(values: np.ndarray, objective: ObjectiveConfig, line: float) -> str:
    sample = RandomLineups({"x": values}, {"x": (0.0, 1.0)}, 0, Median(None), 96)
    return str(advice(sample, objective, line)["text"])


@pytest.mark.parametrize("positive", [2, 4, 8, 12])
def test_a_line_is_proposed_above_what_nearly_all_random_lineups_have(positive: int) -> None:
    """With 192 of 200 at 0 it was 0, which all are over."""
    values = np.concatenate([np.zeros(200 - positive), np.linspace(0.21, 0.93, positive)])
    for objective, column in ((MORE, values), (LESS, 1 - values)):
        line = suggestion(column, objective)
        assert 0 < over(column, objective, line) <= min(positive, 12)
        assert float(f"{line:.4g}") == line
        assert "over it" in told(column, objective, line) or "under it" in told(column, objective, line)


def test_a_pile_at_the_cap_keeps_its_words_and_one_at_the_floor_is_not_called_a_cap() -> None:
    at_the_cap = np.concatenate([np.ones(80), np.linspace(0, 0.9, 120)])
    assert "many are at the cap" in told(at_the_cap, MORE, suggestion(at_the_cap, MORE))
    nothing = np.zeros(200)
    assert "this measure is the same for all" in told(nothing, MORE, suggestion(nothing, MORE))
    below = np.concatenate([np.full(80, 0.7), np.linspace(0, 0.6, 120)])
    assert "many are 0.7, the furthest" in told(below, MORE, suggestion(below, MORE))


def test_without_a_pile_one_of_twenty_random_lineups_is_over_it() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.1, 200)
    for objective in (MORE, LESS):
        assert 0.03 <= over(values, objective, suggestion(values, objective)) / 200 <= 0.06
