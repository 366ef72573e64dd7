"""Teams in groups: their pairings are those of the reference, and what is said of a mean's spread is true."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from engine.config import LineupConfig
from engine.games.herobattle import HeroBattle
from engine.lineups.drawing import costs
from engine.lineups.groups import GUESTS, FoundTeams, Size, meetings, size, teams
from engine.lineups.pairings import PairingSpace
from engine.lineups.rules import CompiledRules, compile_rules
from engine.worth import expectations
from engine.worth.estimates import by_groups
from engine.worth.expectations import Expectations, paired
from engine.worth.traits import Traits
from tests.engine.broken_rules import violations
from tests.engine.sample_simulators import SPEC
from tests.engine.test_pairings import NOTHING, RULES, amounts, chances, keys, sorted_teams

Floats = NDArray[np.float64]
FREE = compile_rules(SPEC, LineupConfig(teams=2, cost_tolerance=None))


def drawn(rules: CompiledRules, held: dict[int, int], groups: int, hosts: int, guests: int) -> FoundTeams:
    """Groups whose hosts all hold so many of these pieces."""
    each = hosts + guests
    pieces, least = np.full((groups * each, 2), NOTHING, np.int32), np.ones((groups * each, 2), np.int32)
    host = np.arange(groups * each) % each < hosts
    for k, (piece, many) in enumerate(held.items()):
        pieces[host, k], least[host, k] = piece, many
    return teams(rules, keys(groups * each), pieces, least)


@pytest.mark.parametrize("held", [{}, {5: 1}, {6: 2}, {1: 1, 6: 1}], ids=str)
def test_pairings_of_groups_come_as_often_as_those_that_are_drawn_by_themselves(held: dict[int, int]) -> None:
    groups, expected = 6_000, chances(held)
    found = drawn(RULES, held, groups, 1, 4)
    host, guest = meetings(RULES, found, groups, 1)
    pairs = list(zip(amounts(found.rows[host]), amounts(found.rows[guest]), strict=True))
    seen, n = Counter(pairs), len(pairs)
    assert set(seen) <= set(expected)
    common = [key for key in expected if n * expected[key] >= 5]
    squares = sum((seen[key] - n * expected[key]) ** 2 / (n * expected[key]) for key in common)
    # The four guests of a host share it: up to four times the spread of pairings that share nothing.
    assert squares < 4 * (len(common) + 5 * np.sqrt(2 * len(common)))


def test_the_teams_of_a_group_meet_whom_the_rules_let_them_meet() -> None:
    rules = compile_rules(HeroBattle().describe(), LineupConfig(teams=2, required=("warhorn",), cost_tolerance=0.02))
    found = drawn(rules, {}, 20, 12, 12)
    host, guest = meetings(rules, found, 20, 12)
    assert len(host)
    np.testing.assert_array_equal(host // 24, guest // 24)
    assert (host % 24 < 12).all()
    assert (guest % 24 >= 12).all()
    rows = np.stack([found.rows[host], found.rows[guest]], axis=1)
    assert not violations(sorted_teams(rows, rules), rules).any()


def test_a_team_depends_on_its_own_seed_alone() -> None:
    many = drawn(RULES, {}, 50, 1, 3)
    nothing = np.full((1, 2), NOTHING, np.int32)
    for i in (0, 77, 199):
        np.testing.assert_array_equal(teams(RULES, keys(200)[i : i + 1], nothing, nothing).rows[0], many.rows[i])


def test_groups_are_larger_where_teams_seldom_meet_and_never_too_large() -> None:
    often, seldom, hardly = size(FREE, 1), size(RULES._replace(tolerance=0.01), 1), Size(GUESTS, 0.0)
    assert often.guests < seldom.guests <= GUESTS
    assert often.groups(1_000) * often.guests * often.chance == pytest.approx(1_000, rel=0.1)
    assert hardly.groups(1_000) == 1_954  # as if one of RARELY met


def ring(rows: NDArray[np.int32], first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
    """Heroes beat each other in a ring, and the later ones are better: the first outcome; the second is half of it."""
    one, other = rows[first, 0], rows[second, 0]
    ahead = 0.25 * np.sin(2 * np.pi * (one - other) / 6) + 0.02 * (one - other)
    return np.stack([ahead, ahead / 2], axis=1)


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectations, "FEWEST", 0)


@pytest.mark.usefixtures("_few")
def test_means_over_groups_are_as_far_from_the_truth_as_their_variances_say() -> None:
    traits, rng = Traits(FREE), np.random.default_rng(1)
    many = PairingSpace(FREE).sample(rng, 200_000)
    values = ring(*paired(many))[:, 0]
    truth = np.array([values[many[:, 0, 0] == hero].mean() for hero in range(6)])
    apart, given = [], []
    for seed in range(60):
        made = Expectations(traits, ring, seed, lambda: False)
        (win, half), *_ = made.reference(300)
        np.testing.assert_allclose(half.mean, win.mean / 2)
        apart.append((win.mean[:6] - truth) / np.sqrt(win.variance[:6]))
        own = made.given(np.array([1, 4]), 1_000, 2)[0]
        given.append((own.mean - truth[[1, 4]]) / np.sqrt(own.variance))
    assert 0.75 < np.mean(np.square(apart)) < 1.3
    assert 0.75 < np.mean(np.square(given)) < 1.4


@pytest.mark.usefixtures("_few")
def test_the_slope_of_what_is_expected_in_costs_is_as_far_from_the_truth_as_its_variance_says() -> None:
    traits, rng = Traits(FREE), np.random.default_rng(2)
    luck = rng.normal(0, 0.1, 200)

    def met(rows: NDArray[np.int32], first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
        cost, mood = costs(FREE, rows), luck[rows.sum(axis=1) % 200]
        apart = 0.004 * (cost[first] - cost[second]) + mood[first] - mood[second]
        return np.stack([apart, apart], axis=1)

    soldiers = np.array([t.pieces[0] in range(6, 9) and t.least == 1 for t in (*traits.single, *traits.amounts)])
    found = [Expectations(traits, met, seed, lambda: False).reference(1_000)[2].slope(soldiers) for seed in range(60)]
    middle = np.mean([slope.size for slope in found])
    assert middle == pytest.approx(0.004, abs=0.001)
    assert 0.6 < np.mean([(slope.size - middle) ** 2 / slope.variance for slope in found]) < 1.6


def test_a_mean_of_a_single_group_says_nothing_of_its_spread() -> None:
    held = sparse.csr_matrix(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0]]))
    (found,) = by_groups(held, np.array([0, 0, 1]), np.array([2.0, 2.0, 4.0]), np.array([[1.0], [3.0], [2.0]]))
    np.testing.assert_allclose(found.mean, [6 / 8, 3 / 2])
    assert np.isfinite(found.variance[0])
    assert np.isinf(found.variance[1])
