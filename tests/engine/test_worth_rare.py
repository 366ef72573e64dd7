"""A piece that hardly any team holds says little of its own luck, and what others are compared with is as unsure."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from engine.config import LineupConfig
from engine.lineups.pairings import draw
from engine.lineups.rules import compile_rules
from engine.worth import expectations
from engine.worth import forecast as forecasts
from engine.worth.estimates import Grouped, Means, weighted
from engine.worth.screen import WIN, Screen
from engine.worth.traits import Traits
from tests.engine.sample_simulators import SPEC

RARE, HEROES = 5, 6
"""The last of the heroes, who are the first pieces."""


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Of battles that are tossed, but that two teams hold the rare hero and both won."""
    monkeypatch.setattr(forecasts, "STEPS", (20, 40))
    monkeypatch.setattr(expectations, "EXPECTED", 60_000)
    rng, many = np.random.default_rng(3), 8_000
    others = compile_rules(SPEC, LineupConfig(teams=2, cost_tolerance=None, banned=(f"hero-{RARE}",)))
    none = np.full((many, 1), -1, np.int32)
    rows = draw(others, rng.integers(0, 2**63, many, dtype=np.uint64), none, none).rows
    won: NDArray[np.float64] = rng.choice([-0.5, 0.5], many)
    rows[:2, 0, 0], won[:2] = RARE, 0.5
    rules = compile_rules(SPEC, LineupConfig(teams=2, cost_tolerance=None))
    return Screen(Traits(rules), rows, np.stack([won, 20 * won], axis=1), 7)


def test_two_battles_that_end_alike_do_not_make_everybody_else_look_weak(screen: Screen) -> None:
    assert screen.rest[WIN].many[RARE] == 2
    worth = (screen.outcome() - screen.base)[: HEROES - 1]
    assert (np.abs(worth) < 0.04).all(), "the luck of two battles has no part in what each is compared with"
    assert (np.abs(worth) < 2.58 * np.sqrt(screen.variance() + screen.base_variance)[: HEROES - 1]).all()


def test_a_piece_that_no_team_that_is_drawn_holds_leaves_the_others_comparable(screen: Screen) -> None:
    groups = [np.where(np.arange(len(each.groups)) == RARE, 1.0, each.groups) for each in screen.expected]
    screen.expected = [each._replace(groups=own) for each, own in zip(screen.expected, groups, strict=True)]
    assert np.isfinite(screen.base_variance).all()
    worth = (screen.outcome() - screen.base)[: HEROES - 1]
    assert (np.abs(worth) < 0.04).all()


def test_variances_of_many_observations_are_their_own_and_of_few_no_smaller_than_usual() -> None:
    means = Means(np.array([2.0, 20.0, 10_000.0, 0.0]), np.zeros(4), np.array([0.0, 40.0, 2_500.0, 0.0]))
    assert means.careful[2] == means.variance[2]
    assert means.careful[1] == means.variance[1], "which is larger"
    assert means.careful[0] == pytest.approx(2_540 / 10_022 / 2)
    assert means.careful[3] == np.inf


def test_of_few_groups_the_variance_is_no_smaller_than_usual_either() -> None:
    alike = Grouped(np.array([4.0, 400.0]), np.array([2.0, 100.0]), np.array([2.0, 0.0]), np.array([2.0, 1_600.0]),
                    np.array([4.0, 0.0]), np.array([8.0, 1_600.0]))  # fmt: skip
    assert alike.variance[0] == 0.0
    assert alike.careful == pytest.approx([1_602 / 1_608 * 8 / 16, alike.variance[1]])


def test_of_a_kind_of_pair_that_few_teams_hold_the_variance_is_no_smaller_than_usual_either() -> None:
    """Ten teams that all won, beside a thousand of which as many won as lost; two pairs of the kind in each."""
    held = sparse.csr_matrix(np.repeat([[2.0, 0.0], [0.0, 2.0]], [10, 1_000], axis=0))
    values = np.concatenate([np.full(10, 0.5), np.tile([0.5, -0.5], 500)])
    mean, variance = weighted(held, values)
    assert mean == pytest.approx([0.5, 0.0])
    assert variance == pytest.approx([0.25 / 10, 0.25 / 1_000])
    assert weighted(held[:, 1:], values)[1] == pytest.approx(variance[1:]), "of many it is their own"
