"""Bounds of formulas: no value the formula can take lies outside."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.formula import parse
from engine.formula_bounds import Span, bounds
from engine.formula_functions import STRONGEST, WEAKEST

TEAMS = 3
FORMULAS = [
    "strongest(strength) - weakest(strength)",
    "strongest(gold) / max(weakest(gold), 0.05 * mean(cost))",
    "100 * abs(mean(win) - mean(strength) / 100)",
    "mean(win) ** 2 - mean(win) ** 3",
    "(mean(strength) - 50) ** 2",
    "where(mean(win) > 0.5, sum(strength), -min(gold))",
    "sqrt(max(strength)) + log1p(max(gold)) * exp(min(win))",
    "clip(mean(strength), 10, mean(gold)) if turns > 5 else turns % 3",
    "1 / (mean(win) - 0.5)",
    "(mean(win) < 0.5) + (not mean(win))",
    "min(mean(win), turns) / mean(cost)",
    "mean(strength) ** -1",
]
RANGES = {"strength": (0.0, 100.0), "gold": (0.0, np.inf), "win": (0.0, 1.0), "turns": (1.0, 60.0)}


def spans(costs: np.ndarray) -> dict[str, Span]:
    def wide(name: str) -> Span:
        count = 1 if name == "turns" else TEAMS
        return Span(*(np.full((len(costs), count), end) for end in RANGES[name]))

    return {name: wide(name) for name in RANGES} | {"cost": Span(costs, costs)}


@pytest.mark.parametrize("text", FORMULAS)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_value_of_a_formula_lies_outside_its_bounds(text: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    costs = rng.uniform(50, 100, (4, TEAMS))
    drawn = {name: rng.uniform(low, min(high, 500), (4, TEAMS)) for name, (low, high) in RANGES.items()}
    drawn |= {"turns": rng.uniform(1, 60, (4, 1)), "cost": costs}
    drawn |= {key: rng.integers(0, TEAMS, (4, 1)) for key in (STRONGEST, WEAKEST)}
    value = parse(text, {"strength", "gold", "win", "cost"}, {"turns"}).evaluate(drawn)
    low, high = bounds(text, spans(costs))
    inside = (value >= low - 1e-9) & (value <= high + 1e-9)
    assert (inside | ~np.isfinite(value)).all()


def test_plain_formulas_have_the_bounds_one_would_write_down() -> None:
    costs = np.array([[50.0, 60.0, 70.0]])
    known = {
        "mean(win)": (0.0, 1.0),
        "weakest(strength)": (0.0, 100.0),
        "strongest(strength) - weakest(strength)": (-100.0, 100.0),
        "100 * abs(mean(win) - 0.5)": (0.0, 50.0),
        "1000 * mean(strength) / max(mean(cost), 1)": (0.0, 1000 * 100 / 60),
        "mean(cost)": (60.0, 60.0),
        "mean(gold)": (0.0, np.inf),
    }
    for text, (low, high) in known.items():
        found = bounds(text, spans(costs))
        assert (found.low[0], found.high[0]) == pytest.approx((low, high)), text
