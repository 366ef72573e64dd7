"""What a patch's proof compares with is the patched game, and what an independent adversary finds has its word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from engine.config import LineupConfig
from engine.lineups.pairings import draw
from engine.lineups.rules import compile_rules
from engine.patches.adversary import Best
from engine.patches.candidates import Candidate
from engine.patches.compared import others
from engine.patches.proof import (
    FAILS,
    OPEN,
    WORKS,
    Proof,
    Strongest,
    _Line,
    _within,
    judged,
    met_by,
    share_of,
)
from engine.patches.response import Watched
from engine.patches.space import Patch
from engine.patches.trials import Trials
from engine.simulators.contract import Category, GameSpec, Metric, Piece, Rules, Slot
from engine.worth import expectations
from engine.worth import forecast as forecasts
from engine.worth.estimates import Means
from engine.worth.experiment import Experiment
from engine.worth.hidden import Ways
from engine.worth.prices import cost_bounds
from engine.worth.screen import Screen

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
CHARM = 4
"""The first charm, after four heroes: the one that is too good."""
TOO_GOOD = 0.2
SIDE = (
    Metric("strength", "Strength", "%", "higher", 0.0, 100.0),
    Metric("resources", "Resources", "g", "higher", 0.0),
    Metric("win", "Win", "", "higher", 0.0, 1.0),
)
LOOK, SCREEN = 13, 14


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer pairings for what forecasts expect, fewer steps of learning."""
    monkeypatch.setattr(forecasts, "STEPS", (60, 120))
    monkeypatch.setattr(expectations, "EXPECTED", 60_000)


def game(charms: int) -> GameSpec:
    """A hero, and a charm or none."""
    kinds = tuple(Category(kind, kind, kind) for kind in ("hero", "charm"))
    pieces = [Piece(f"hero-{i}", f"Hero {i}", "hero", 20.0) for i in range(CHARM)]
    pieces += [Piece(f"charm-{i}", f"Charm {i}", "charm", 5.0) for i in range(charms)]
    slots = (Slot("hero", "Hero", category="hero"), Slot("charm", "Charm", category="charm", optional=True))
    return GameSpec(
        name="g", title="G", version="1", categories=kinds, pieces=tuple(pieces), slots=slots, side_metrics=SIDE,
        rules=Rules(),
    )  # fmt: skip


def chances(rows: Rows, good: float) -> Floats:
    """Of the first teams to win, beyond even, where the charm wins its team so much."""
    return np.asarray(good * ((rows[:, 0, 1] == CHARM).astype(float) - (rows[:, 1, 1] == CHARM)))


def battles(rows: Rows, good: float, rng: np.random.Generator) -> Floats:
    """Win and lead of each."""
    chance, luck = chances(rows, good) + 0.5, rng.random(len(rows))
    return np.stack([(luck < chance) - 0.5, 20 * (chance - luck)], 1)


def trials(charms: int, rng: np.random.Generator) -> Trials:
    """After an experiment in which the charm is too good."""
    spec = game(charms)
    rules = compile_rules(spec, LineupConfig(teams=2, cost_tolerance=None))
    traits = Experiment(rules, 2_000, 3.0, 1, cost_bounds(spec)).traits
    none = np.full((8_000, 1), -1, np.int32)
    rows = draw(rules, rng.integers(0, 2**63, len(none), dtype=np.uint64), none, none).rows
    screen = Screen(traits, rows, battles(rows, TOO_GOOD, rng), 7)
    return Trials(rules, traits, screen, [], 5, lambda: False)


def proved(x: Trials, good: float, rng: np.random.Generator, finals: int = 1) -> Proof:
    """A patch after which the charm wins its team so much."""
    trait = place(x)
    any_team = battles(x.draw(Patch(), -1, 12_000, SCREEN).rows, good, rng)
    closer = battles(x.draw(Patch(), trait, 12_000, LOOK).rows, good, rng)
    watched = [Watched(trait, (CHARM,), 0.0, 0.0)]
    return judged(Candidate(Patch(), "", 0), watched, x, 0.04, any_team, {0: closer}, SCREEN, LOOK, frozenset(), finals)


def place(x: Trials) -> int:
    """The charm's among the traits."""
    return [each.pieces[0] for each in x.traits.single].index(CHARM)


def worth_of(x: Trials, good: float) -> float:
    """What the charm is worth where it wins its team so much, from chances of very many battles."""
    rows = x.draw(Patch(), -1, 60_000, 99).rows
    held = x.traits.held(np.concatenate([rows[:, 0], rows[:, 1]]))
    each = chances(rows, good)
    outcome = np.asarray(held.T @ np.concatenate([each, -each])) / np.asarray(held.sum(axis=0)).ravel()
    mine = place(x)
    return float(outcome[mine] - outcome[x.screen.group == x.screen.group[mine]].mean())


@pytest.mark.parametrize("charms", [2, 4])
def test_a_patch_that_makes_the_one_of_few_fair_that_was_too_good_works_though_the_average_of_them_moved(
    charms: int,
) -> None:
    rng = np.random.default_rng(charms)
    proof = proved(trials(charms, rng), 0.0, rng)
    ((worth, low, high),) = proof.worths
    assert abs(worth) < 0.01
    assert low < 0.0 < high
    assert (proof.verdict, proof.named) == (WORKS, [])


def test_a_worth_that_a_patch_leaves_is_in_its_range_and_more_finals_make_ranges_wider() -> None:
    rng = np.random.default_rng(6)
    x = trials(2, rng)
    for good in (0.04, 0.12):
        ((_, low, high),) = proved(x, good, np.random.default_rng(1)).worths
        ((_, lower, higher),) = proved(x, good, np.random.default_rng(1), finals=3).worths
        assert low < worth_of(x, good) < high
        assert lower < low < high < higher
    assert proved(x, 0.2, rng).verdict == FAILS


def test_a_patch_under_which_the_game_breaks_battles_off_is_not_said_to_work() -> None:
    rng = np.random.default_rng(3)
    x = trials(2, rng)
    any_team = battles(x.draw(Patch(), -1, 12_000, SCREEN).rows, TOO_GOOD, rng)
    closer = battles(x.draw(Patch(), place(x), 12_000, LOOK).rows, TOO_GOOD, rng)
    watched = [Watched(place(x), (CHARM,), 0.0, 0.0)]
    held = (x.draw(Patch(), -1, 12_000, SCREEN).rows[:, :, 1] == CHARM).any(axis=1)

    def proof(lost: Floats, of: Floats) -> Proof:
        cut, other = closer.copy(), any_team.copy()
        cut[lost], other[of] = np.nan, np.nan
        return judged(Candidate(Patch(), "", 0), watched, x, 0.04, other, {0: cut}, SCREEN, LOOK)

    assert proof(np.zeros(12_000, bool), np.zeros(12_000, bool)).verdict == FAILS
    none = proof(np.ones(12_000, bool), held)
    assert (none.verdict, none.unfinished) == (OPEN, 12_000 + int(held.sum()))
    assert none.largest > 0.25, "of heroes, who had half of their battles broken off"
    ((_, low, high),) = none.worths
    assert low < -0.4 < 0.4 < high
    won = closer[:, 0] > 0
    lost = won & (np.cumsum(won) <= 2 * won.sum() - len(won))
    fair = proof(lost, held)
    assert abs(np.nanmean(np.where(lost, np.nan, closer[:, 0]))) < 0.01, "it looks fair by what was finished"
    assert fair.verdict == OPEN


@pytest.mark.parametrize("watched", [CHARM, CHARM + 1])
def test_what_the_game_breaks_off_of_one_piece_under_a_patch_makes_neither_that_good_nor_what_it_is_compared_with_weak(
    watched: int,
) -> None:
    rng = np.random.default_rng(4)
    x = trials(2, rng)
    trait = [each.pieces[0] for each in x.traits.single].index(watched)

    def cut(asked: int, purpose: int) -> Floats:
        """In a fair game, without what teams with the charm lose."""
        rows = x.draw(Patch(), asked, 12_000, purpose).rows
        found = battles(rows, 0.0, rng)
        mine, ahead = rows[:, :, 1] == CHARM, found[:, 0] > 0
        found[(mine[:, 0] & ~ahead) | (mine[:, 1] & ahead)] = np.nan
        return found

    closer = {0: cut(trait, LOOK)}
    asked = [Watched(trait, (watched,), 0.0, 0.0)]
    proof = judged(Candidate(Patch(), "", 0), asked, x, 0.04, cut(-1, SCREEN), closer, SCREEN, LOOK)
    ((_, low, high),) = proof.worths
    assert low < 0.0 < high
    assert (proof.verdict, proof.named) == (OPEN, [])


def test_the_range_of_a_strongest_team_holds_whichever_way_what_was_not_finished_would_have_ended() -> None:
    best, rng, missed = Best(np.zeros(2, np.int32), 0.0), np.random.default_rng(9), 0
    for _ in range(200):
        won = rng.random(200) < 0.5
        found = share_of(best, np.where(won, 0.5, np.nan), 0.05)
        missed += not found.low <= 0.5 <= found.high
        assert found.share == 1.0
    assert missed <= 20, "a team that loses all that is not finished: a share of battles is luck, too"


@pytest.mark.parametrize("charms", [2, 4])
def test_a_measured_shift_is_that_of_the_worth_though_the_average_moves_along(charms: int) -> None:
    rng = np.random.default_rng(8)
    x = trials(charms, rng)
    rows = x.draw(Patch(), place(x), 8_000, 10).rows
    before, after = (np.stack([chances(rows, good)] * 2, 1) for good in (TOO_GOOD, 0.0))
    found = x.shift(Patch(), place(x), 10, after, before, 0)
    assert abs(found.size - (worth_of(x, 0.0) - worth_of(x, TOO_GOOD))) < 0.01


def test_a_piece_that_hardly_any_team_holds_has_no_part_in_what_others_are_compared_with() -> None:
    rng, n, group = np.random.default_rng(1), 400, np.zeros(4, np.int64)
    held = np.zeros((2 * n, 4))
    held[np.arange(2 * n), rng.integers(0, 3, 2 * n)] = 1
    rest, expected = rng.choice([-0.5, 0.5], n), Means(np.full(4, 2.0), np.zeros(4), np.full(4, 9.0))
    without = others(group, sparse.csr_matrix(held), rest, expected, np.zeros(4))
    held[:5], rest[:5] = [0, 0, 0, 1], 0.5
    found = others(group, sparse.csr_matrix(held), rest, expected, np.zeros(4))
    assert np.abs(found.mean[:3] - without.mean[:3]).max() < 0.05, "though it won all of its five battles"
    assert found.share[:3].tolist() == [2 / 3] * 3


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_others_mean_and_its_variance_are_those_of_sums_over_battles(seed: int) -> None:
    rng, n, group = np.random.default_rng(seed), 200, np.array([0, 0, 0, 1, 1, 2])
    held = (rng.random((2 * n, len(group))) < 0.3).astype(float)
    rest = rng.choice([-0.5, 0.5], n)
    rest[0] = np.nan
    expected = Means(np.full(6, 2.0), rng.normal(size=6), np.full(6, 9.0))
    found = others(group, sparse.csr_matrix(held), rest, expected, np.arange(6.0))
    first, second, rest = held[1:n], held[n + 1 :], rest[1:]
    counts = (first - second) / (first + second).sum(axis=0)
    for i in range(len(group)):
        of = np.flatnonzero((group == group[i]) & (np.arange(len(group)) != i))
        if not len(of):
            assert found.of(i) == (0.0, 0.0, 0.0, 0.0)
            continue
        weight = counts[:, of].mean(axis=1)
        mean = float(weight @ rest + expected.mean[of].mean())
        variance = float((weight**2).sum() / 4 + expected.careful[of].sum() / len(of) ** 2)
        np.testing.assert_allclose(found.of(i), (mean, variance, len(of) / (len(of) + 1), of.mean()), atol=1e-9)
    assert found.of(99) == (0.0, 0.0, 1.0, 0.0)


def test_no_worth_is_beyond_what_outcomes_permit_whatever_it_is_compared_with() -> None:
    lost = np.full(40, -0.5)
    found = _within(Ways(lost, lost, lost), _Line(0.3, 0.9, 1.0), 0.05)
    assert (found.low, found.high) == (-1.0, pytest.approx(-0.5 - 0.3 + 0.9, abs=0.2))


def strongest(low: float, high: float) -> Strongest:
    return Strongest(Best(np.zeros(2, np.int32), 0.0), (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("before", "low", "after", "stronger"),
    [
        (WORKS, 0.65, WORKS, False),
        (WORKS, 0.72, OPEN, True),
        (WORKS, 0.80, FAILS, True),
        (OPEN, 0.72, OPEN, True),
        (FAILS, 0.65, FAILS, False),
    ],
)
def test_a_patch_under_which_an_adversary_surely_finds_a_stronger_team_does_not_work(
    before: str, low: float, after: str, stronger: bool
) -> None:
    proof = Proof(before, [(0.0, -0.01, 0.01)], [], 0.02, 9_000)
    found = met_by(proof, strongest(low, low + 0.05), strongest(0.6, 0.7), 0.03)
    assert (found.verdict, found.stronger) == (after, stronger)
    assert found.strongest is not None
