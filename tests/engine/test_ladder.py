"""Ladders: ranges that cover what is true on ladders of any kind, and are open where meetings leave them open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit

from engine.metagame.ladder import Ladder, Meetings
from engine.metagame.matchups import Pairs, pairs_of

Floats = NDArray[np.float64]
Chance = Literal["apart", "alike", "by seat"]
TRIALS = 60
"""Of each kind of ladder: at 95 %, 18 of 360 ranges miss on average, and 3 of 60 ladders say something wrong."""
CLOSE = (-1.0, -0.5, 0.0, 0.2, 0.4, 0.9)
FAR = (-4.0, -4.2, -3.7, 4.0, 4.3, 3.8)
STEEP = (-6.0, -3.0, 0.0, 0.3, 3.0, 6.0)
ONE_APART = (0.0, 0.0, 0.0, 0.0, 0.0, 5.0)


def played(rng: np.random.Generator, skill: Floats, pairs: Pairs, many: int, chance: Chance = "apart") -> Meetings:
    """So many meetings of each pair. Both battles of one go by ``chance``: each by its own luck, both by the same, or,
    in every second match-up, one to each where the better one has no luck."""
    odds = expit(skill[pairs.first] - skill[pairs.second])
    shape = (len(odds), many, 1 if chance == "alike" else 2)
    share = (rng.random(shape) < odds[:, None, None]).mean(axis=2)
    if chance == "by seat":
        more = 2 * odds[::2, None] - 1
        share[::2] = 0.5 + 0.5 * np.sign(more) * (rng.random(share[::2].shape) < np.abs(more))
    return Meetings(pairs, np.full(len(odds), float(many)), share.sum(axis=1), (share**2).sum(axis=1))


def rows(*told: Sequence[float]) -> Meetings:
    """(first, second, meetings, wins) of each."""
    first, second, many, wins = np.array(told, dtype=float).T
    return Meetings(Pairs(first.astype(np.int64), second.astype(np.int64)), many, wins, wins)


@pytest.mark.parametrize("share", [0.25, 0.75, 1.0])
def test_who_took_more_of_a_single_meeting_is_above_the_other(share: float) -> None:
    """With the curvature of the meetings alone Newton's method goes back and forth for ever."""
    winner = int(share < 0.5)
    found = Ladder(2, rows((0, 1, 1, share)), np.ones(2, np.bool_)).ratings
    assert found[winner] > found[1 - winner]


@given(st.integers(2, 6), st.integers(0, 10**6))
def test_ratings_solve_the_equations_of_the_likelihood_and_its_prior(players: int, seed: int) -> None:
    """On a chain of all players and random match-ups beside it, a few meetings each: what was won is what is expected,
    both with the prior."""
    rng, pairs = np.random.default_rng(seed), pairs_of(players)
    many = rng.integers(0, 4, len(pairs.first)) + (pairs.second == pairs.first + 1)
    wins = np.array([rng.choice([0, 0.25, 0.5, 0.75, 1], n).sum() for n in many])
    ladder = Ladder(players, Meetings(pairs, many.astype(float), wins, wins), np.ones(players, np.bool_))
    table, won, fit = ladder._estimate
    chance = expit(fit.ratings[:, None] - fit.ratings)
    even = table * chance * (1 - chance)
    inverse = np.linalg.pinv(np.diag(even.sum(axis=1)) - even)
    leverage = even * (np.diag(inverse)[:, None] + np.diag(inverse) - 2 * inverse)
    expected = ((table + fit.scale * leverage) * chance).sum(axis=1)
    np.testing.assert_allclose((won + fit.scale * leverage / 2).sum(axis=1), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("true", "many", "chance"),
    [
        (CLOSE, 6, "apart"),
        (CLOSE, 6, "alike"),
        (CLOSE, 10, "by seat"),
        (FAR, 10, "apart"),
        (STEEP, 8, "alike"),
        ((0.0,) * 6, 20, "apart"),
        (ONE_APART, 20, "apart"),
    ],
)
def test_ranges_hold_and_leaders_lead_whatever_the_ladder_is_like(
    true: Sequence[float], many: int, chance: Chance
) -> None:
    rng, skill = np.random.default_rng(3), np.array(true)
    missed, wrong, truth = 0, 0, skill - skill.mean()
    for _ in range(TRIALS):
        found = Ladder(6, played(rng, skill, pairs_of(6), many, chance), np.ones(6, bool))
        missed += int(((truth < found.low) | (found.high < truth)).sum())
        leader = int(np.argmax(found.ratings))
        others = [player for player in range(6) if player != leader]
        wrong += bool((found.surely_above(leader, others, 6) & (skill[others] >= skill[leader])).any())
    assert missed <= 32
    assert wrong <= 7


def drawish(rng: np.random.Generator, skill: Floats, pairs: Pairs, many: int, drawn: float) -> Meetings:
    """So many meetings of two independent battles, of which equals draw the share ``drawn`` and unequals fewer."""
    odds = expit(skill[pairs.first] - skill[pairs.second])[:, None, None]
    draws, luck = 2 * np.minimum(odds, 1 - odds) * drawn, rng.random((len(odds), many, 2))
    won = odds - draws / 2
    share = np.where(luck < won, 1.0, np.where(luck < won + draws, 0.5, 0.0)).mean(axis=2)
    return Meetings(pairs, np.full(len(odds), float(many)), share.sum(axis=1), (share**2).sum(axis=1))


@pytest.mark.parametrize(("drawn", "many"), [(0.98, 50), (0.98, 10), (0.9, 30)])
def test_ranges_hold_where_equals_nearly_always_draw_and_unequals_do_not(drawn: float, many: int) -> None:
    """At 95 %, 18 of 360 miss; without each match-up's own variance 41 to 63 do."""
    rng, skill, missed = np.random.default_rng(6), np.array([0.0, 0.0, 0.0, 0.0, 3.0, -3.0]), 0
    for _ in range(TRIALS):
        found = Ladder(6, drawish(rng, skill, pairs_of(6), many, drawn), np.ones(6, bool))
        missed += int(((skill < found.low) | (found.high < skill)).sum())
    assert missed <= 32


def test_of_two_equals_who_only_beat_the_same_others_neither_is_surely_stronger() -> None:
    """An error of 5 % is 3 of 60; without each match-up's own variance it is 24."""
    rng, skill, wrong = np.random.default_rng(7), np.array([0.0, 0.0, 0.0, 0.0, 3.0, 3.0]), 0
    every = pairs_of(6)
    apart = Pairs(every.first[:-1], every.second[:-1])
    for _ in range(TRIALS):
        found = Ladder(6, drawish(rng, skill, apart, 50, 0.98), np.ones(6, bool))
        leader = 4 if found.ratings[4] > found.ratings[5] else 5
        wrong += int(found.surely_above(leader, [9 - leader], 2)[0])
    assert wrong <= 8


def test_ranges_are_as_narrow_as_meetings_of_two_battles_allow() -> None:
    """The usual error of the log odds of 400 battles of equals is 0.1; both ends together 0.39 for their difference."""
    rng = np.random.default_rng(4)
    found = [Ladder(2, played(rng, np.zeros(2), pairs_of(2), 200), np.ones(2, bool)) for _ in range(20)]
    assert np.mean([each.high[0] - each.low[0] for each in found]) == pytest.approx(0.39 / 2, rel=0.1)


def test_a_group_that_always_wins_is_at_least_so_far_above_and_its_own_order_is_known() -> None:
    rng, skill = np.random.default_rng(5), np.array([-40.0, -40.0, -40.0, 40.0, 41.5, 40.0])
    found = Ladder(6, played(rng, skill, pairs_of(6), 40), np.ones(6, bool))
    assert (found.low[3:] > 1.5).all()
    assert np.isposinf(found.high[3:]).all()
    assert np.isneginf(found.low[:3]).all()
    assert (found.high[:3] < -1.5).all()
    assert (np.abs(found.ratings) < 12).all(), "and nobody stands thousands of points away"
    assert found.surely_above(4, [0, 1, 2, 3, 5], 6).all()
    assert not found.surely_above(3, [5], 6).any()


@pytest.mark.parametrize("lost", [0, 1])
def test_ranges_of_equals_end_where_the_likelihood_says_though_one_beside_them_hardly_ever_loses(lost: int) -> None:
    """Each end is as unlikely as 95 % allow, by a search for it that knows the sum alone: the equals stay equal, so
    that one number, how far the best is above them, decides."""
    equal = [(i, j, 20, 10) for i in range(5) for j in range(i + 1, 5)]
    found = Ladder(6, rows(*equal, *((5, i, 20, 20 - lost / 5) for i in range(5))), np.ones(6, bool))
    gap, battles = np.linspace(0.0, 12.0, 4001), 100 / found.scale
    likely = -(lost / found.scale + 0.5) * np.logaddexp(0, gap)
    likely -= (battles - lost / found.scale + 0.5) * np.logaddexp(0, -gap)
    least = gap[likely >= likely.max() - 1.9207][0]
    assert found.low[5] == pytest.approx(least * 5 / 6, abs=0.05)
    assert (found.high[:5] >= -least / 6).all(), "each equal's own luck comes on top of that"


def test_who_lies_between_two_who_win_and_lose_everything_has_no_range_and_beside_himself_all_have_one() -> None:
    met = rows((0, 1, 30, 30), (1, 2, 30, 30))
    found = Ladder(3, met, np.ones(3, bool))
    assert np.isneginf(found.low[1])
    assert np.isposinf(found.high[1])
    from_him = Ladder(3, met, np.array([False, True, False]))
    assert (from_him.low[1], from_him.high[1]) == (0.0, 0.0)
    assert from_him.low[0] > 1.5 > -1.5 > from_him.high[2]


def test_groups_that_never_met_cannot_be_compared() -> None:
    """Rated is the group that holds most of those around whom ratings lie."""
    found = Ladder(6, rows((0, 1, 50, 30), (2, 3, 9, 5), (3, 4, 9, 2)), np.array([0, 0, 1, 1, 1, 0], bool))
    assert np.isnan(found.ratings).tolist() == [True, True, False, False, False, True]
    assert not found.surely_above(2, [0, 1, 5], 6).any()
    assert not found.surely_above(0, [1, 2], 6).any()


def test_of_nobody_who_met_nothing_is_said() -> None:
    nothing = Meetings(Pairs(*np.empty((2, 0), np.int64)), *np.empty((3, 0)))
    found = Ladder(3, nothing, np.ones(3, bool))
    assert np.isnan([found.ratings, found.low, found.high]).all()
    assert not found.surely_above(0, [1, 2], 3).any()


def test_a_few_meetings_that_all_went_one_way_are_no_certainty() -> None:
    """If both battles of a meeting end alike, equals win all of four in one case of eight, either of them."""
    four, six = (Ladder(2, rows((0, 1, many, many)), np.ones(2, bool)) for many in (4, 6))
    assert four.low[0] < 0 < six.low[0]
    assert not four.surely_above(0, [1], 2).any()
    assert six.surely_above(0, [1], 2).all()


def test_more_meetings_count_more() -> None:
    """One beat the other in 90 of 100 meetings, both met a third: the few odd meetings hardly matter."""
    found = Ladder(3, rows((0, 1, 100, 90), (0, 2, 2, 0), (1, 2, 2, 2)), np.ones(3, bool))
    assert found.ratings[0] > found.ratings[1]


@pytest.mark.parametrize("players", [3, 4, 5])
def test_where_pairs_always_or_never_win_ratings_have_ranges_and_some_of_them_no_end(players: int) -> None:
    pairs, open_ended = pairs_of(players), 0
    for seed in range(30):
        wins = np.random.default_rng(seed).choice([0.0, 25.0, 50.0], len(pairs.first))
        meetings = Meetings(pairs, np.full(len(wins), 50.0), wins, wins**2 / 50)
        found = Ladder(players, meetings, np.ones(players, np.bool_), alike=True)
        assert (found.low <= found.ratings).all()
        assert (found.ratings <= found.high).all()
        open_ended += int(np.isinf(found.low).sum() + np.isinf(found.high).sum())
    assert open_ended > 0
