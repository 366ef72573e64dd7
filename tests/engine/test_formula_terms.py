"""Formulas taken apart into sums: the same value, and claims that hold exactly when the formula is beyond a line."""

from __future__ import annotations

import ast
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import claims
from engine.claims import Claim, Sum
from engine.errors import ConfigError
from engine.formula import MOST_TEAMS, parse, part_of
from engine.formula_bounds import Span
from engine.formula_functions import STRONGEST, WEAKEST
from engine.formula_terms import Apart, Parts

TEAMS = 3
TEAM, LINEUP = {"strength", "gold", "win", "cost"}, {"turns"}
BY_SUMS = [
    "strongest(gold) / max(weakest(gold), 0.05 * mean(cost))",
    "(strongest(gold) - weakest(gold)) / sum(gold) + 2",
    "100 * abs(mean(win) - mean(strength) / 100)",
    "mean(abs(win - 0.5)) - turns / 60",
    "max(strength) - min(strength)",
    "weakest(gold / cost)",
    "3 - 2 * sqrt(mean(gold) + turns)",
    "log1p(min(gold)) - 1",
    "-exp(mean(win)) if mean(cost) > 60 else clip(mean(win), 0.2, 0.6)",
    "min(mean(win), turns / 60, 0.7)",
    "max(strongest(win) / weakest(gold), 2 * mean(win))",
    "where(min(cost) > 70, mean(win), 1 / (mean(gold) + 1))",
]
OTHERWISE = [
    "mean(win) * mean(strength)",
    "(max(strength) - min(strength)) ** 2",
    "sum(strength > 40)",
    "strongest(gold) / mean(win) / (turns + 1)",
    "exp(mean(win)) + sqrt(turns)",
    "turns % 7",
    "mean(win) if turns > 30 else 0.5",
]


def drawn(rng: np.random.Generator, replicates: int) -> dict[str, np.ndarray]:
    """Variables of one lineup, [replicates, teams] or [replicates, 1]."""
    found = {name: rng.uniform(0, 100, (replicates, TEAMS)) for name in ("strength", "gold")}
    found |= {"win": rng.uniform(0, 1, (replicates, TEAMS)), "turns": rng.uniform(1, 60, (replicates, 1))}
    found |= {"cost": np.broadcast_to(rng.uniform(50, 100, TEAMS), (replicates, TEAMS))}
    picks = {key: np.full((replicates, 1), rng.integers(TEAMS)) for key in (STRONGEST, WEAKEST)}
    return found | picks


def spans(costs: np.ndarray) -> dict[str, Span]:
    ranges = {"strength": 100.0, "gold": 100.0, "win": 1.0}
    wide = {name: Span(np.zeros((1, TEAMS)), np.full((1, TEAMS), high)) for name, high in ranges.items()}
    return {**wide, "turns": Span(np.ones((1, 1)), np.full((1, 1), 60.0)), "cost": Span(costs, costs)}


def taken_apart(text: str, rng: np.random.Generator) -> tuple[Parts, float]:
    """Its parts from 5 replicates, and the formula's value of all of them together."""
    values, apart = drawn(rng, 5), Apart(text, TEAM, LINEUP, TEAMS)
    each = np.stack([np.broadcast_to(term.of(values), 5) for term in apart.terms], axis=-1)
    ends = [term.span(spans(values["cost"][:1])) for term in apart.terms]
    low, high = (np.array([float(np.broadcast_to(e[k], 1)[0]) for e in ends]) for k in (0, 1))
    means = {k: v[:1] if k in (STRONGEST, WEAKEST) else v.mean(axis=0, keepdims=True) for k, v in values.items()}
    return Parts.make(apart, each, low, high), float(parse(text, TEAM, LINEUP).evaluate(means)[0])


def true(claim: Claim, parts: Parts) -> bool:
    """Whether it is, of the replicates' own means."""
    if isinstance(claim, Sum):
        return claim.constant > 0 if claim.fixed else bool(parts.of(claim).mean() > 0)
    return (all if isinstance(claim, claims.AllOf) else any)(true(part, parts) for part in claim.parts)


@pytest.mark.parametrize("text", BY_SUMS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_formula_is_beyond_a_line_exactly_when_its_sums_say_so(text: str, seed: int) -> None:
    parts, value = taken_apart(text, np.random.default_rng(seed))
    assert parts.value == pytest.approx(value)
    assert parts.formula is not None
    for gap in (-3.0, -0.01, 0.01, 3.0):
        line = value + gap * max(1.0, abs(value))
        for sign in (1.0, -1.0):
            assert true(claims.beyond(parts.formula, line, sign), parts) == (sign * gap < 0)


@pytest.mark.parametrize("text", OTHERWISE)
def test_what_sums_cannot_say_is_told_by_the_ends_of_its_sums(text: str) -> None:
    for seed in range(20):
        parts, value = taken_apart(text, np.random.default_rng(seed))
        assert parts.formula is None
        assert parts.value == pytest.approx(value)
        means = parts.values.mean(axis=0)
        wider = [parts.apart.ends(means - gap, means + gap) for gap in (0.0, 0.1, 2.0)]
        for (low, high), (lower, higher) in pairwise(wider):
            assert lower <= low <= high <= higher
        low, high = wider[1]
        assert low - 1e-9 <= value <= high + 1e-9


def test_a_ratio_between_floor_and_cap_is_made_of_what_one_would_write_down() -> None:
    text = "strongest(gold) / max(weakest(gold), 0.05 * mean(cost))"
    apart = Apart(text, TEAM, LINEUP, TEAMS, 0.0, 4.0)
    assert [term.name for term in apart.terms] == ["strongest(gold)", "weakest(gold)", "0.05 * mean(cost)"]
    assert [term.fixed for term in apart.terms] == [False, False, True]
    assert apart.value(np.array([30.0, 10.0, 4.0])) == 3.0
    assert apart.value(np.array([30.0, 1.0, 4.0])) == 4.0


def test_the_deepest_formula_of_eight_teams_can_be_taken_apart() -> None:
    text = "abs(" * 15 + "mean(abs(win - 0.5))" + ")" * 15
    assert parse(text, TEAM, LINEUP)
    assert Apart(text, TEAM, LINEUP, 8).value(np.full(8, 0.25)) == 0.25


@pytest.mark.parametrize("teams", [6, 8])
def test_a_ratio_of_more_sums_than_claims_may_ask_about_is_taken_between_its_ends(teams: int) -> None:
    apart = Apart("max(win) / max(min(win), 0.05)", {"win"}, set(), teams)
    k = len(apart.terms)
    parts = Parts.make(apart, np.full((8, k), 0.5), np.zeros(k), np.ones(k))
    assert (parts.formula is None) == (teams == 8)
    if parts.formula is not None:
        claims.beyond(parts.formula, 1.5, 1.0)


def nested(depth: int) -> str:
    text = "max(win * gold)"
    for _ in range(depth):
        text = f"max(win * {text})"
    return text


@pytest.mark.parametrize("depth", [2, 3, 7])
def test_a_formula_that_nests_too_much_to_be_written_out_is_refused_without_writing_it_out(depth: int) -> None:
    with pytest.raises(ConfigError, match=r"has [\d,]+ terms when it is written out for 8 teams; 1,000 is the most"):
        parse(nested(depth), TEAM, LINEUP)


@pytest.mark.parametrize("text", [*BY_SUMS, *OTHERWISE, nested(1), " + ".join(["max(win * gold)"] * 18)])
def test_a_formula_has_no_more_terms_than_were_counted_for_it(text: str) -> None:
    counted = part_of(ast.parse(text, mode="eval").body, TEAM, LINEUP).terms
    assert parse(text, TEAM, LINEUP).text == text
    written = Apart(text, TEAM, LINEUP, MOST_TEAMS).whole
    assert sum(isinstance(node, ast.Name) and node.id.startswith("term_") for node in ast.walk(written)) <= counted
