"""Who beats whom: rings are told from ladders and both from luck, and who is there twice changes nothing."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit

from engine.metagame import matchups as tables
from engine.metagame import table
from engine.metagame.counters import beats, counters, rings
from engine.metagame.dominance import dominant, dominates
from engine.metagame.equilibrium import ALIKE, shares
from engine.metagame.ladder import Ladder, Meetings
from engine.metagame.matchups import Matchups, matchups, pairs_of, redrawn
from engine.metagame.order import order
from engine.metagame.split import ELO, expected, split
from engine.metagame.table import ratings, read
from engine.metagame.tiers import NONE, standings, tiers

Floats = NDArray[np.float64]
GOLDEN = Path(__file__).parents[1] / "golden" / "metagame.json"
RING = np.array([[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]])
LADDER = np.linspace(2.0, -2.0, 8)


def played(chances: Floats, meetings: int, seed: int = 1) -> Floats:
    """A round robin in which the row's team wins each battle against the column's with this chance."""
    rng, chance = np.random.default_rng(seed), chances[pairs_of(len(chances))]
    return np.asarray((rng.random((len(chance), meetings, 2)) < chance[:, None, None]).mean(axis=2))


def quick(chances: Floats, meetings: int, seed: int = 1) -> Matchups:
    """A table without ranges of its cells, which cost most."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "range_of", lambda *_: (0.0, 1.0))
        return matchups(len(chances), played(chances, meetings, seed))


def ladder(ratings: Floats) -> Floats:
    return np.asarray(expit(ratings[:, None] - ratings))


# match-ups


def test_a_table_says_of_both_teams_the_same_and_counts_what_ended() -> None:
    results = played(RING, 40)
    results[0, :30] = np.nan
    found = matchups(3, results)
    off = ~np.eye(3, dtype=bool)
    assert np.allclose((found.share + found.share.T)[off], 1)
    assert np.allclose(found.low[off], 1 - found.high.T[off])
    assert found.meetings.tolist() == [[0, 10, 40], [10, 0, 40], [40, 40, 0]]
    assert found.share[0, 1] == results[0, 30:].mean()
    assert (found.least <= found.low)[off].all()
    assert (found.low <= found.share)[off].all()
    assert found.low[0, 1] < found.low[2, 0]
    assert found.whole


def test_ten_wins_of_ten_are_no_certainty() -> None:
    found = matchups(2, np.ones((1, 10)))
    assert found.variance[0, 1] == 0
    assert found.error[0, 1] > 0.04
    assert 0.6 < found.low[0, 1] < 0.9
    assert found.high[0, 1] == 1


def test_what_never_ended_is_unknown_and_counts_as_even() -> None:
    found = matchups(3, np.array([[1.0, 1.0], [np.nan, np.nan], [0.0, 0.5]]))
    assert np.isnan(found.share[0, 2])
    assert found.payoff[0, 2] == 0
    assert not found.whole
    assert np.isfinite(split(found).ratings).all()
    assert np.isfinite(shares(found.payoff)).all()


def test_redrawn_tables_are_antisymmetric_and_within_what_can_be() -> None:
    found = matchups(3, played(RING, 10))
    moved = redrawn(found, np.random.default_rng(1))
    assert np.array_equal(moved, -moved.T)
    assert np.abs(moved).max() <= 0.5
    assert not np.array_equal(moved, found.payoff)


# ladder and rings


def test_of_rock_paper_scissors_all_are_rated_alike_and_all_that_decides_goes_in_a_ring() -> None:
    found = matchups(3, played(RING, 400))
    parts = split(found)
    assert np.abs(ELO * parts.ratings).max() < 12
    assert parts.cyclic > 0.99
    assert parts.range.low > 0.98
    assert [ring.teams for ring in rings(found)] == [(0, 1, 2)]


def test_the_ratings_of_a_ladder_come_back_with_nothing_in_rings() -> None:
    parts = split(quick(ladder(LADDER), 2000))
    assert np.abs(parts.ratings - LADDER).max() < 0.15
    assert parts.cyclic < 0.002
    assert parts.range.high < 0.005


@pytest.mark.parametrize("meetings", [4, 30])
def test_chance_is_not_called_a_ring(meetings: int) -> None:
    found = [split(quick(ladder(LADDER[::2] / 2), meetings, seed)) for seed in range(30)]
    naive = np.mean([_uncorrected(quick(ladder(LADDER[::2] / 2), meetings, seed)) for seed in range(30)])
    assert np.nanmean([parts.cyclic for parts in found]) < 0.6 * naive
    assert np.mean([parts.range.low > 0 for parts in found]) <= 0.1


def _uncorrected(found: Matchups) -> float:
    rest = found.payoff + 0.5 - expected(split(found).ratings)
    return float((rest**2).sum() / (found.payoff**2).sum())


def test_a_ladder_of_sure_wins_is_a_ladder() -> None:
    sure = 0.5 + 0.5 * np.sign(LADDER[:, None] - LADDER)
    parts = split(quick(sure, 20))
    assert parts.cyclic < 0.01
    assert (np.diff(parts.ratings) < 0).all()


def test_the_range_of_the_cyclic_share_covers_it() -> None:
    chances = expit(0.5 * (LADDER[:, None] - LADDER) + 0.7 * _antisymmetric(8, 3))
    exact = quick(chances, 2)._replace(share=chances)
    n = np.full((8, 8), 10**6)
    truth = split(exact._replace(variance=0 * chances, error=0 * chances + 1e-9, meetings=n)).cyclic
    found = [split(quick(chances, 16, seed)) for seed in range(60)]
    assert 0.1 < truth < 0.5
    assert np.mean([parts.range.low <= truth <= parts.range.high for parts in found]) >= 0.93
    assert abs(np.mean([parts.cyclic for parts in found]) - truth) < 0.03


def _unequal(results: Floats, seed: int) -> Floats:
    """Of each pair the first few meetings alone: of some a fifth, of some all."""
    most = results.shape[1]
    counts = np.random.default_rng(seed).integers(most // 5, most + 1, len(results))
    return np.where(np.arange(most) < counts[:, None], results, np.nan)


def test_how_many_meetings_ended_does_not_change_what_the_cyclic_share_is() -> None:
    chances = expit(0.5 * (LADDER[:, None] - LADDER) + 0.7 * _antisymmetric(8, 3))
    exact = quick(chances, 2)._replace(share=chances, variance=0 * chances, error=0 * chances + 1e-9)
    counts = 10**6 * np.random.default_rng(4).integers(1, 20, (8, 8))
    skewed = split(exact._replace(meetings=counts + counts.T))
    alike = split(exact._replace(meetings=np.full((8, 8), 10**6)))
    assert skewed.cyclic == pytest.approx(alike.cyclic, abs=1e-6)
    assert np.allclose(skewed.ratings, alike.ratings, atol=1e-4)


def test_the_range_of_the_cyclic_share_covers_it_where_counts_are_unequal() -> None:
    chances = expit(0.5 * (LADDER[:, None] - LADDER) + 0.7 * _antisymmetric(8, 3))
    exact = quick(chances, 2)._replace(share=chances, variance=0 * chances, error=0 * chances + 1e-9)
    truth, held = split(exact._replace(meetings=np.full((8, 8), 10**6))).cyclic, 0
    for seed in range(300):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tables, "range_of", lambda *_: (0.0, 1.0))
            ends = split(matchups(8, _unequal(played(chances, 25, seed), seed))).range
        held += ends.low <= truth <= ends.high
    assert held >= 0.92 * 300


def test_near_even_the_split_is_that_of_the_papers() -> None:
    small = 1e-4 * _antisymmetric(6, 2)
    counts = np.full((6, 6), 10**9)
    found = quick(0 * small + 0.5, 2)._replace(share=0.5 + small, variance=0 * small, error=0 * small + 1e-12,
                                               meetings=counts)  # fmt: skip
    odds = 4 * small
    hodge = odds.mean(axis=1)
    rest = odds - (hodge[:, None] - hodge)
    parts = split(found)
    assert np.allclose(parts.ratings, hodge, rtol=1e-3)
    assert parts.cyclic == pytest.approx((rest**2).sum() / (odds**2).sum(), rel=1e-3)


def test_two_teams_make_no_ring_and_where_all_is_even_nothing_is_said() -> None:
    two = split(matchups(2, np.ones((1, 10))))
    assert (two.cyclic, two.range) == (0.0, (0.0, 0.0))
    assert two.ratings[0] > two.ratings[1]
    for teams in (2, 4):
        even = split(matchups(teams, np.full((teams * (teams - 1) // 2, 10), 0.5)))
        assert np.isnan(even.cyclic)
        assert even.range == (0.0, 1.0)
        assert not even.ratings.any()


# who would be picked


def _antisymmetric(n: int, seed: int) -> Floats:
    drawn = np.random.default_rng(seed).normal(size=(n, n))
    return np.asarray((drawn - drawn.T) / 2)


def enumerated(payoff: Floats) -> list[Floats]:
    """All vertices of the equilibria: every support, every set of opponents that gain nothing."""
    n, found = len(payoff), list[Floats]()
    for size in range(1, n + 1):
        for held in itertools.combinations(range(n), size):
            for tight in itertools.combinations(range(n), size - 1):
                system = np.vstack([payoff[np.ix_(tight, held)], np.ones((1, size))])
                if abs(np.linalg.det(system)) < 1e-9:
                    continue
                p = np.zeros(n)
                p[list(held)] = np.linalg.solve(system, np.eye(size)[-1])
                if p.min() >= -1e-9 and (payoff @ p).max() <= 1e-9 and not any(np.allclose(p, q) for q in found):
                    found.append(p)
    return found


def entropy(p: Floats) -> float:
    held = p[p > 0]
    return float(-(held * np.log(held)).sum())


GAMES = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.integers(-2, 2), min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2).map(
        lambda drawn: _game(n, drawn)
    )
)


def _game(n: int, drawn: list[int]) -> Floats:
    payoff = np.zeros((n, n))
    payoff[np.triu_indices(n, 1)] = np.array(drawn) / 4
    return payoff - payoff.T


@settings(max_examples=60, deadline=None)
@given(GAMES)
def test_picks_are_an_equilibrium_and_none_of_larger_entropy_is_found_by_enumeration(payoff: Floats) -> None:
    p = shares(payoff)
    assert abs(p.sum() - 1) < 1e-9
    assert p.min() >= 0
    assert (payoff @ p).max() < 1e-6
    if len(np.unique(payoff, axis=0)) < len(payoff):
        return  # teams that fare alike count as one
    vertices = np.stack(enumerated(payoff))
    rng = np.random.default_rng(1)
    mixes = rng.dirichlet(np.ones(len(vertices)), 200) @ vertices
    assert entropy(p) >= max(map(entropy, (*vertices, *mixes))) - 1e-6


@settings(max_examples=60, deadline=None)
@given(GAMES, st.data())
def test_a_team_that_is_doubled_changes_no_share(payoff: Floats, data: st.DataObject) -> None:
    twice = data.draw(st.integers(0, len(payoff) - 1))
    more = [*range(len(payoff)), twice]
    kinds = (np.abs(payoff[:, None] - payoff).max(axis=2) <= ALIKE).astype(float)
    before, after = shares(payoff), shares(payoff[np.ix_(more, more)])
    merged = after[:-1] + np.eye(len(payoff))[twice] * after[-1]
    assert np.allclose(kinds @ before, kinds @ merged, atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(GAMES, st.randoms(use_true_random=False))
def test_picks_do_not_depend_on_the_order_of_teams(payoff: Floats, random: object) -> None:
    mixed = np.random.default_rng(random.randrange(9**9)).permutation(len(payoff))  # type: ignore[attr-defined]
    assert np.allclose(shares(payoff)[mixed], shares(payoff[np.ix_(mixed, mixed)]), atol=1e-5)


def test_known_games_have_their_known_picks() -> None:
    assert np.allclose(shares(RING - 0.5), 1 / 3)
    assert np.allclose(shares(np.zeros((4, 4))), 1 / 4)
    assert np.allclose(shares(ladder(LADDER) - 0.5), np.eye(8)[0])
    fighters = _game(3, [2, -1, 1])  # 0 beats 1 by 2, 1 beats 2 by 1, 2 beats 0 by 1
    assert np.allclose(shares(fighters), [1 / 4, 1 / 4, 1 / 2])


@pytest.mark.parametrize("n", [12, 40])
def test_large_noisy_tables_have_an_equilibrium(n: int) -> None:
    for seed in range(2):
        payoff = quick(np.full((n, n), 0.5), 16, seed).payoff
        p = shares(payoff)
        assert (payoff @ p).max() < 1e-7
        assert abs(p.sum() - 1) < 1e-9


# sure words


def test_only_what_is_sure_is_called_a_counter_and_an_upset_is_one_of_a_lower_rating() -> None:
    chances = ladder(LADDER)
    chances[6, 0], chances[0, 6] = 0.95, 0.05
    found = matchups(8, played(chances, 100))
    ratings = split(found).ratings
    listed = counters(found, ratings)
    assert [(c.team, c.beaten) for c in listed if c.upset] == [(6, 0)]
    assert [c.least for c in listed] == sorted((c.least for c in listed), reverse=True)
    assert beats(found)[1, 6]
    assert not beats(found)[6, 1]
    few = matchups(8, played(chances, 4))
    assert not counters(few, split(few).ratings)


def test_of_teams_that_are_all_even_hardly_any_table_says_that_one_beats_another() -> None:
    even = np.full((5, 5), 0.5)
    assert sum(bool(beats(matchups(5, played(even, 60, seed))).any()) for seed in range(15)) <= 2


def test_a_worse_copy_is_dominated_and_who_has_an_answer_is_not() -> None:
    chances = np.array([
        [0.5, 0.9, 0.1, 0.9], [0.1, 0.5, 0.9, 0.5], [0.9, 0.1, 0.5, 0.9], [0.1, 0.5, 0.1, 0.5],
    ])  # fmt: skip
    found = matchups(4, played(chances, 400))
    assert dominates(found)[0, 3]
    assert not dominates(found)[:, :3].any()
    assert not dominates(matchups(4, played(chances, 6))).any()
    assert not dominant(found).any()
    assert dominant(matchups(8, played(ladder(3 * LADDER), 200))).tolist() == [True] + [False] * 7


def test_teams_of_one_strength_are_hardly_ever_set_apart() -> None:
    even = np.full((4, 4), 0.5)
    assert sum(bool(tiers(4, played(even, 50, seed)).tier.any()) for seed in range(15)) <= 2
    assert not dominates(matchups(4, played(even, 50))).any()


def test_a_tier_s_leader_is_surely_better_than_all_below() -> None:
    found = tiers(8, played(ladder(LADDER), 300))
    assert found.tier.max() >= 3
    assert (np.diff(found.tier[np.argsort(-found.share)]) >= 0).all()
    assert (found.low <= found.share).all()
    assert (found.share <= found.high).all()
    truth = (ladder(LADDER).sum(axis=1) - 0.5) / 7
    for tier in range(1, found.tier.max() + 1):
        leader = np.argmax(np.where(found.tier == tier - 1, found.share, -1))
        assert truth[leader] > truth[found.tier == tier].max()


def test_a_team_that_met_nobody_has_neither_a_share_nor_a_tier() -> None:
    results = played(RING, 20)
    results[[0, 1]] = np.nan
    found = tiers(3, results)
    assert np.isnan(found.share[0])
    assert found.tier.tolist() == [NONE, 0, 0]


def test_two_teams_that_never_met_each_other_stand_where_their_other_meetings_put_them() -> None:
    results = played(ladder(LADDER), 300)
    whole = tiers(8, results)
    results[0] = np.nan
    found = tiers(8, results)
    assert found.share[2:] == pytest.approx(whole.share[2:])
    assert found.share[0] > found.share[2]
    assert found.tier[0] == 0
    assert (found.low <= found.share).all()
    assert (found.share <= found.high).all()


def test_no_team_of_a_lower_tier_reaches_the_range_of_a_leader_above_it() -> None:
    """Ranges differ in width: some pairs met more often, and some teams only win or lose whole meetings."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        teams, meetings = int(rng.integers(4, 9)), int(rng.integers(20, 200))
        chances = np.clip(0.5 + rng.normal(0, 0.1, teams * (teams - 1) // 2), 0, 1)[:, None]
        results = (rng.random((len(chances), meetings)) < chances).astype(float)
        results[rng.random(len(chances)) < 0.4] = 0.5
        results[0, int(rng.integers(0, meetings)) :] = np.nan
        share, least, most = (np.array(each) for each in zip(*standings(teams, results), strict=True))
        tier = tiers(teams, results).tier
        for above in range(tier.max() + 1):
            leader = max(np.flatnonzero(tier == above), key=lambda i: share[i])
            assert (most[tier > above] < least[leader]).all()


def test_a_leader_is_hardly_ever_worse_than_a_team_below_it_where_a_pair_met_less_often() -> None:
    part, teams, wrong = np.array([0.02, 0.02, 0.0, -0.1, -0.1, -0.1]), 6, 0
    pairs = pairs_of(teams)
    chances = np.clip(0.5 + part[pairs.first] - part[pairs.second], 0, 1)[:, None]
    truth = np.array([np.mean([0.5 + part[i] - part[j] for j in range(teams) if j != i]) for i in range(teams)])
    for seed in range(60):
        results = (np.random.default_rng(seed).random((len(chances), 200)) < chances).astype(float)
        results[0, 2:] = np.nan
        found = tiers(teams, results)
        for tier in range(found.tier.max() + 1):
            leader = max(np.flatnonzero(found.tier == tier), key=lambda i: found.share[i])
            wrong += bool((truth[found.tier > tier] > truth[leader] + 1e-9).any())
    assert wrong <= 3


def test_neighbours_on_the_map_have_alike_match_ups() -> None:
    rows = np.array([0, 1, 0, 1, 2, 2, 0, 1])
    payoff = (RING - 0.5)[np.ix_(rows, rows)]
    stood = rows[order(payoff)]
    assert (np.diff(stood) != 0).sum() == 2
    strong = order(ladder(LADDER) - 0.5)
    assert strong.tolist() in ([*range(8)], sorted(range(8)))
    assert order(np.zeros((1, 1))).tolist() == [0]
    assert order(np.array([[0, -0.3], [0.3, 0]])).tolist() == [1, 0]


# all together


@settings(max_examples=8, deadline=None)
@given(st.integers(2, 5), st.integers(1, 6), st.integers(0, 10**6))
def test_whatever_was_played_a_reading_has_every_column(teams: int, meetings: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    results = rng.choice([0.0, 0.5, 1.0, np.nan], (teams * (teams - 1) // 2, meetings))
    meta, columns = read(teams, results, 1)
    assert sorted(columns["order"].tolist()) == [*range(teams)]
    assert columns["picked"].sum() == pytest.approx(1)
    told = np.isfinite(columns["rating"])
    assert (columns["rating_low"] <= columns["rating"])[told].all()
    assert (columns["rating"] <= columns["rating_high"])[told].all()
    assert 0 <= meta["cyclic"]["low"] <= meta["cyclic"]["high"] <= 1
    again = read(teams, results, 1)
    assert all(np.array_equal(columns[k], again[1][k], equal_nan=True) for k in columns)


def test_ratings_of_a_round_robin_have_ranges_and_none_ends_where_everything_was_won() -> None:
    missed, skill = 0, np.array([0.5, 0.2, 0.0, -0.2, -0.5, 5.0])
    truth = ELO * (skill - skill.mean())
    for seed in range(40):
        columns = ratings(6, played(ladder(skill), 10, seed))
        missed += int(((truth < columns["rating_low"]) | (columns["rating_high"] < truth)).sum())
    assert missed <= 0.1 * 40 * 6
    columns = ratings(6, played(ladder(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 40.0])), 10))
    assert np.isposinf(columns["rating_high"][5])
    assert np.isfinite(columns["rating_low"][5])


@pytest.mark.parametrize("cyclic", [False, True])
def test_shares_of_optimal_picks_lie_in_their_ranges_where_not_all_pairs_have_met(cyclic: bool) -> None:
    """Nine of fifteen pairs have met; in rings each player beats the next two and loses to the two before."""
    rng, inside, teams = np.random.default_rng(7), [], 6
    pairs = pairs_of(teams)
    ahead = np.isin((pairs.second - pairs.first) % teams, (1, 2))
    for seed in range(20):
        chance = ladder(rng.normal(0, 1.5, teams))
        if cyclic:
            chance[pairs] = np.where(ahead, rng.uniform(0.55, 0.95, 15), rng.uniform(0.05, 0.45, 15))
            chance[pairs.second, pairs.first] = 1 - chance[pairs]
        results = played(chance, 30, seed)
        results[rng.permutation(15)[:6]] = np.nan
        columns = read(teams, results, seed)[1]
        truth = shares(chance - 0.5)
        inside += list((columns["picked_low"] <= truth + 1e-9) & (truth <= columns["picked_high"] + 1e-9))
        assert columns["picked"].sum() == pytest.approx(1)
    assert np.mean(inside) >= 0.94


def test_what_nobody_met_leaves_every_share_open_and_too_many_players_none() -> None:
    columns = read(4, np.full((6, 1), np.nan), 1)[1]
    assert columns["picked"] == pytest.approx(np.full(4, 0.25))
    assert columns["picked_low"].max() == pytest.approx(0, abs=1e-9)
    assert columns["picked_high"].min() > 0.9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "MOST", 3)
        assert np.isnan(read(4, np.full((6, 1), np.nan), 1)[1]["picked"]).all()


@settings(max_examples=10, deadline=None)
@given(st.sampled_from([3, 5]), st.data())
def test_a_ring_of_equals_is_rated_alike_however_many_meetings_of_each_two_ended(
    teams: int, data: st.DataObject
) -> None:
    """Each beats the next ones by 0.7. By counts one of them would be above the others."""
    pairs = pairs_of(teams)
    counts = 10 * np.array([data.draw(st.integers(1, 60)) for _ in pairs.first])
    ahead = np.where((pairs.second - pairs.first) % teams <= teams // 2, 0.7, 0.3)
    won = np.arange(counts.max()) < np.round(ahead * counts)[:, None]
    results = np.where(np.arange(counts.max()) < counts[:, None], won, np.nan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "range_of", lambda *_: (0.0, 1.0))
        patch.setattr(table, "ranges", lambda *_, **__: (0.0, 1.0))
        columns = read(teams, results, 1)[1]
    assert np.abs(columns["rating"]).max() < 1e-6
    assert (columns["rating_low"] < 0).all()
    assert (columns["rating_high"] > 0).all()


def test_ranges_of_ratings_hold_where_counts_are_unequal_and_are_wider_where_there_are_fewer() -> None:
    """Players in no ring and in one; what their ratings truly are follows from the true shares, all alike."""
    rng, pairs, missed = np.random.default_rng(3), pairs_of(6), 0
    for trial in range(60):
        chance = ladder(np.array([-1, -0.5, 0, 0.2, 0.4, 0.9]))[pairs]
        if trial % 2:
            chance = np.clip(chance + 0.2 * np.where((pairs.second - pairs.first) % 2, 1, -1), 0.05, 0.95)
        true = Ladder(6, Meetings(pairs, np.full(15, 1e7), 1e7 * chance, 1e7 * chance), np.ones(6, bool)).ratings
        counts = np.exp(rng.uniform(np.log(3), np.log(300), 15)).astype(int)
        shares = [(rng.random((n, 2)) < p).mean(axis=1) for n, p in zip(counts, chance, strict=True)]
        sums = [np.array([(each**power).sum() for each in shares]) for power in (1, 2)]
        found = Ladder(6, Meetings(pairs, counts.astype(float), *sums), np.ones(6, bool), alike=True)
        missed += int(((true < found.low) | (found.high < true)).sum())
    assert 0.02 <= missed / 360 <= 0.08
    met = [np.where(pairs.first == 0, 4.0, many) for many in (4.0, 400.0)]
    few, many = (Ladder(6, Meetings(pairs, n, n / 2, n / 2), np.ones(6, bool), alike=True) for n in met)
    assert many.high[0] == pytest.approx(few.high[0], rel=0.1)
    assert many.high[1] < 0.6 * many.high[0]


def test_the_reading_of_a_round_robin_stays_what_it_is() -> None:
    chances = ladder(LADDER / 2)
    chances[:3, :3] = RING
    meta, columns = read(8, played(chances, 60), 1)
    found = {"cyclic": meta["cyclic"], **{k: columns[k].tolist() for k in ("order", "tier", "ring", "upset")}}
    found |= {k: np.round(columns[k], 6).tolist() for k in ("rating", "picked", "picked_high", "standing_low")}
    found["cyclic"] = {k: round(v, 6) for k, v in found["cyclic"].items()}
    assert found == json.loads(GOLDEN.read_text())
