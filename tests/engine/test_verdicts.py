"""What fresh battles say: lists with a bounded share of false ones, ranges that hold at every look."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.bench.trust import ratios, undeclared
from engine.bench.trust.verdicts import TRIED, fresh, lists, lists_looks, lists_under, looks, maxima, pooled, sample
from engine.indicators import STRONG, UNDER, UNSURE
from engine.simulators.contract import GameSpec, Metric
from engine.verdicts import Goals, InLists, Many, Sample, Verdict, confirmed, judge, judged, mark, most_extreme, weights

LINE = Goals([1.0], [2.0], None, None)
STRENGTH = Goals([1.0, 1.0], [2.0, None], 1, (20.0, 0.5, 32))


@pytest.mark.parametrize("noise", sorted(TRIED))
@pytest.mark.parametrize("promise", [fresh, pooled, looks, maxima, lists, lists_looks, lists_under])
def test_a_promise_of_one_in_twenty_is_kept_on_noise_of_every_kind(promise: object, noise: str) -> None:
    """A smaller count of what ``engine.bench trust`` counts over 5,000 runs; of lists that are looked at again and
    again, each of which takes as long as twenty others, a smaller one yet."""
    runs = 20 if promise in (lists_looks, lists_under) else 40
    wrong = [float(promise(np.random.default_rng(seed), TRIED[noise])) for seed in range(runs)]  # type: ignore[operator]
    assert np.mean(wrong) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize("name", undeclared.PROMISED)
def test_a_range_without_declared_ends_holds_on_noise_that_it_is_promised_for(name: str) -> None:
    """Also where it is looked at again and again, and in lists that look for small numbers."""
    for replicates in (8, 16, 64):
        missed = np.mean([undeclared.misses(name, replicates, np.random.default_rng(s)) for s in range(400)])
        assert missed <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
    ever = np.mean([undeclared.misses_at_a_look(name, 8, np.random.default_rng(s)) for s in range(100)])
    assert ever <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100)
    for side in (1.0, -1.0):
        listed = np.mean([undeclared.any_confirmed(name, 16, side, np.random.default_rng(s)) for s in range(40)])
        assert listed <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 40)


@pytest.mark.parametrize("replicates", [16, 64])
@pytest.mark.parametrize("case", ratios.CASES)
def test_a_list_is_no_less_true_where_the_objective_is_a_ratio_or_any_other_formula(case: str, replicates: int) -> None:
    """The paper's advantage, with losers that win 10 % of their battles, was confirmed at its line in 40 % of runs."""
    runs = 20
    found = np.array([ratios.wrong(case, np.random.default_rng(seed), replicates) for seed in range(runs)])
    assert found.mean(axis=0).max() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def noisy(mean: float, spread: float, n: int = 32, seed: int = 1, weight: float = 1.0) -> Sample:
    x = np.random.default_rng(seed).normal(size=n)
    values = mean + spread * (x - x.mean()) / x.std(ddof=1)
    return sample(values, 0.0, 4.0, weight)


def verdict(found: Sample, goals: Goals = LINE) -> Verdict:
    return judged([[found]], goals)[0]


def test_a_lineup_far_over_the_line_is_confirmed_and_one_far_under_it_refuted() -> None:
    assert verdict(noisy(2.6, 0.2)).finding == "confirmed"
    assert verdict(noisy(1.4, 0.2)).finding == "refuted"
    assert mark(verdict(noisy(1.4, 0.2)).finding) == UNDER


def test_under_the_line_needs_the_list_and_its_own_range() -> None:
    far, near = noisy(1.0, 0.2, weight=0.5), noisy(1.73, 0.3, weight=0.5)
    assert judged([[far]], LINE)[0].finding == "refuted"
    assert judged([[near]], LINE)[0].finding == "refuted"
    one_of_many = judged([[near._replace(weight=1e-6)]], LINE)[0]
    assert (one_of_many.finding, one_of_many.open_) == ("more", "line")
    enough = noisy(1.73, 0.3, n=math.ceil(32 * one_of_many.factor), weight=1e-6)
    assert judged([[enough]], LINE)[0].finding == "refuted"


def test_equal_values_are_no_certainty() -> None:
    """56 battles that all ended alike, just over the line: not confirmed, as wide as their count says."""
    found = sample(np.full(7, 2.1), 0.0, 4.0)
    assert verdict(found).finding in ("more", "close")
    low, high = found.range(0)
    assert low < 1.5
    assert high > 2.5
    unknown = sample(np.full(7, 2.1), -math.inf, math.inf)
    assert unknown.range(0) == (-math.inf, math.inf)
    assert verdict(unknown).finding in ("more", "close")


def test_where_chance_has_no_part_one_battle_is_enough() -> None:
    found = sample(np.full(2, 2.1), 0.0, 4.0)._replace(exact=np.ones(1, bool))
    assert found.range(0) == pytest.approx((2.1, 2.1))
    assert verdict(found).finding == "confirmed"


def both(advantage: float, strength: float, spread: float = 0.5) -> Sample:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(64, 2))
    x = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    values = np.array([advantage, strength]) + x * np.array([0.1, spread])
    error = values.std(axis=0, ddof=1) / 8
    ends = np.array([0.0, 0.0]), np.array([4.0, 100.0])
    plain = np.ones(2, bool)
    return Sample(values.mean(axis=0), error, 64, values, *ends, ~plain, plain, np.full(2, 6))


def test_strong_means_above_the_baseline_with_the_baseline_s_own_error() -> None:
    assert verdict(both(2.5, 30), STRENGTH).finding == "confirmed"
    assert verdict(both(2.5, 10), STRENGTH).finding == "weak"
    unsure = STRENGTH._replace(baseline=(20.0, 4.0, 32))
    assert verdict(both(2.5, 24), STRENGTH).finding == "confirmed"
    assert verdict(both(2.5, 24), unsure).finding == "close", "no number of its own battles makes the baseline surer"
    assert verdict(both(2.5, 24), STRENGTH._replace(baseline=(20.0, None, 32))).finding == "close"


def test_what_is_undecided_is_named_and_so_many_battles_more_decide_it() -> None:
    open_line = noisy(2.06, 0.3)
    found = verdict(open_line)
    assert (found.finding, found.open_) == ("more", "line")
    later = noisy(2.06, 0.3, n=math.ceil(32 * found.factor))
    assert verdict(later).finding == "confirmed"
    found = verdict(both(2.5, 21.9, spread=6.0), STRENGTH)
    assert (found.finding, found.open_) == ("more", "strength")


def test_a_lineup_on_the_wrong_side_needs_battles_that_put_it_under() -> None:
    found = verdict(noisy(1.95, 0.3))
    assert (found.finding, found.open_) == ("more", "line")
    assert verdict(noisy(1.95, 0.3, n=math.ceil(32 * found.factor))).finding == "refuted"


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("samples", [16, 3072])
def test_no_number_of_battles_is_named_where_equal_ones_never_tell(
    samples: int, declared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody says how far a game's numbers go, so battles that all end alike tell nothing, and the range ends where the
    objective does: exactly on the line. Where the game says so, they do tell."""
    if not declared:
        metrics = (ratios.METRICS[0], Metric("resources", "Resources"))
        monkeypatch.setattr(ratios, "GAME", GameSpec("coins", "Coins", "1", (), (), (), metrics, (), strength="win"))
    every = ratios.Tried(ratios.tried("lists-ratio-5").objective, np.ones((2, 2)), 1.0)
    found = ratios.examined(every, np.random.default_rng(1), samples)[0]
    told = judged([[found]], Goals([1.0], [4.0], None, None))[0]
    if declared:
        assert told.finding == "refuted" or samples < told.factor * samples < 4 * samples
    else:
        assert found.range(0).high == 4.0
        assert told.finding == "close"
    assert told.endless is not declared
    alone = judge(sample(np.ones(samples), -math.inf, math.inf), Goals([1.0], [4.0], None, None), InLists(), Many())
    assert (alone.finding, alone.endless) == ("close", True)


@pytest.mark.parametrize("noise", ["close to the line", "between the bounds of the baseline", "one mean and no values"])
def test_what_lies_too_close_is_not_laid_on_the_ends_of_a_range(noise: str) -> None:
    near = sample(2.0 + 0.001 + np.random.default_rng(1).normal(size=32), -math.inf, math.inf)
    found = {
        "close to the line": lambda: judge(near, Goals([1.0], [near.mean[0]], None, None), InLists(), Many()),
        "between the bounds of the baseline": lambda: verdict(
            both(2.5, 20.1, spread=0.5), STRENGTH._replace(baseline=(20.0, 3.0, 32))
        ),
        "one mean and no values": lambda: verdict(noisy(2.6, 0.2)._replace(values=None, error=np.zeros(1))),
    }[noise]()
    assert not found.endless


def test_one_exactly_at_the_line_is_most_likely_not_there_so_battles_will_tell() -> None:
    found = verdict(noisy(2.0, 0.3))
    assert found.finding == "more"
    assert 10 < found.factor < 100


@pytest.mark.parametrize("noise", ["normal", "wins"])
def test_as_many_battles_as_are_said_to_be_needed_tell_as_likely_as_not(noise: str) -> None:
    """Over lineups that lie anywhere near the line, each as likely: about half of them are told by then."""
    told, runs = 0, 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        truth = rng.uniform(-0.5, 0.5)
        won = (rng.random(1 << 15) < 0.5 + truth / 2) * 2.0 - 1.0
        values = truth + rng.normal(size=1 << 15) if noise == "normal" else won
        ends = (-math.inf, math.inf) if noise == "normal" else (-1.0, 1.0)
        goals = Goals([1.0], [0.0], None, None)
        found = verdict(sample(values[:32], *ends), goals)
        if found.finding == "more":
            then = sample(values[: math.ceil(32 * found.factor)], *ends)
            told += verdict(then, goals).finding in ("confirmed", "refuted")
            runs += 1
    assert runs > 80
    assert 0.4 <= told / runs <= 0.75


def test_between_the_bounds_of_the_baseline_no_battles_of_the_lineup_tell() -> None:
    baseline = STRENGTH._replace(baseline=(20.0, 3.0, 32))
    found = verdict(both(2.5, 20.1, spread=0.5), baseline)
    assert (found.finding, found.open_, found.about) == ("close", "strength", 1)


def test_without_a_line_nothing_is_judged() -> None:
    assert verdict(noisy(2.6, 0.2), LINE._replace(lines=[None])).finding == "measured"


def test_pushing_down_is_pushing_up_in_a_mirror() -> None:
    goals = Goals([-1.0], [2.0], None, None)
    assert verdict(noisy(1.4, 0.2), goals).finding == "confirmed"
    assert verdict(noisy(2.6, 0.2), goals).finding == "refuted"


def test_what_fresh_battles_leave_open_is_marked_as_open_wherever_its_mean_is() -> None:
    found = verdict(noisy(1.97, 0.3))
    assert found.finding == "more"
    assert mark(found.finding) == UNSURE
    assert [mark(finding) for finding in ("confirmed", "refuted", "close", "weak")] == [STRONG, UNDER, UNSURE, UNSURE]


def test_a_lineup_without_one_fresh_battle_is_open_and_needs_more() -> None:
    nothing = np.full(1, math.nan)
    never = noisy(2.6, 0.2)._replace(mean=nothing, error=nothing, samples=0, values=None)
    told = confirmed([[never], [noisy(2.6, 0.2)]], LINE)
    assert told.tolist() == [False, True]
    found = judged([[never]], LINE)[0]
    assert (found.finding, found.over) == ("more", False)
    assert mark(found.finding) == UNSURE
    assert judge(never._replace(exact=np.ones(1, bool)), LINE, InLists(), Many()).finding == "more"


def test_shares_of_the_error_add_up_to_one_at_most_and_never_change_later() -> None:
    before = weights([0] * 10 + [1] * 5)
    after = weights([0] * 10 + [1] * 5 + [2] * 100 + [3])
    assert after.sum() <= 1
    np.testing.assert_allclose(after[:15], before)


def test_the_range_of_the_furthest_is_wider_than_that_of_one_picked_beforehand() -> None:
    found = [noisy(2.0 + i / 20, 0.3, seed=i) for i in range(20)]
    at, wide = most_extreme(found, 0, 1.0, 20)
    assert at == 19
    narrow = found[19].range(0)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_lineups_from_before_single_values_were_kept_are_judged_by_mean_and_spread() -> None:
    old = noisy(2.6, 0.2)._replace(values=None)
    assert verdict(old).finding == "confirmed"
    assert verdict(old._replace(error=np.zeros(1))).finding == "close"
