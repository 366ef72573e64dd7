"""The ends of a ladder's ranges lie where the likelihood says, also where hardly any battle is decided, by
searches other than the ladder's own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import expit

from engine.metagame.ladder import Ladder, Meetings
from engine.metagame.matchups import DOUBT, Pairs, pairs_of
from engine.metagame.profiles import Profiles

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
KINDS = {
    "total order": (40.0, (0.0, 0.5)),
    "hardly any battle decided": (0.3, (0.95, 0.99, 1.0)),
    "usual": (1.0, (0.0, 0.5, 0.9)),
    "levels far apart": (10.0, (0.5, 0.98)),
    "script": (0.1, (0.9, 0.98, 1.0)),
}


class End(NamedTuple):
    """Where a range of a player (``k`` of the group) ends, upwards along this ``contrast``, and how deep it should be
    in each of these ``views``."""

    k: int
    at: float
    contrast: Floats
    wanted: float
    views: list[Profiles]


def meetings(rng: np.random.Generator, skill: Floats, drawn: float, most: int, met: float) -> Meetings:
    """Up to so many meetings of two battles; only the share ``met`` of all pairs met. Equals draw the share ``drawn``,
    unequals fewer."""
    pairs = pairs_of(len(skill))
    here = rng.random(len(pairs.first)) < met
    pairs = Pairs(pairs.first[here], pairs.second[here])
    many, sums = rng.integers(1, most + 1, len(pairs.first)), []
    for first, second, n in zip(*pairs, many.tolist(), strict=True):
        odds, luck = float(expit(skill[first] - skill[second])), rng.random((n, 2))
        draws = 2 * min(odds, 1 - odds) * drawn
        share = np.where(luck < odds - draws / 2, 1.0, np.where(luck < odds + draws / 2, 0.5, 0.0)).mean(axis=1)
        sums.append((share.sum(), (share**2).sum()))
    return Meetings(pairs, many.astype(float), *np.array(sums).reshape(-1, 2).T)


def any_ladder(seed: int, kind: str) -> tuple[Ladder, Bools]:
    """A ladder of two to seven players of some kind, and whom its ratings lie around."""
    rng = np.random.default_rng(seed)
    spread, drawn = KINDS[kind]
    skill = rng.normal(size=rng.integers(2, 8)) * spread
    if kind == "script":
        skill[0] = rng.choice([-50.0, 50.0])
    played = meetings(rng, skill, rng.choice(drawn), int(rng.choice([1, 3, 10, 30, 300])), rng.choice([1.0, 0.5]))
    around = rng.random(len(skill)) < rng.choice([0.6, 1.0])
    return Ladder(len(skill), played, around, alike=bool(rng.random() < 0.3)), around


def contrasts(ladder: Ladder, around: Bools) -> Iterator[tuple[int, Floats]]:
    own = around[ladder.group]
    centre = own / own.sum() if own.any() else np.full(len(own), 1 / len(own))
    for k, unit in enumerate(np.eye(len(own))):
        if np.abs(unit - centre).max() > 0:
            yield k, unit - centre


def ends(ladder: Ladder, around: Bools) -> Iterator[End]:
    careful = ladder._careful(DOUBT / 2)
    for k, contrast in contrasts(ladder, around):
        wanted, player = ladder._wanted(contrast, careful), ladder.group[k]
        yield End(k, float(ladder.high[player]), contrast, wanted, careful.views)
        yield End(k, -float(ladder.low[player]), -contrast, wanted, careful.views)


def depth(view: Profiles, contrast: Floats, at: float) -> float:
    """Twice how far the likelihood of all ratings with this contrast is below its maximum, by a trust region."""
    free, base = null_space(np.stack([contrast, np.ones(len(contrast))])), at * contrast / (contrast @ contrast)
    if not free.shape[1]:
        return view.depth(base)

    def unlikely(z: Floats) -> tuple[float, Floats]:
        r = base + free @ z
        lost = expit(r - r[:, None])
        value = (view.won * np.logaddexp(0.0, r - r[:, None])).sum() + view.best
        return float(value), np.asarray(free.T @ (view.won.T * lost.T - view.won * lost).sum(axis=1))

    def bent(z: Floats) -> Floats:
        r = base + free @ z
        weight = (view.won + view.won.T) * expit(r[:, None] - r) * expit(r - r[:, None])
        return np.asarray(free.T @ (np.diag(weight.sum(axis=1)) - weight) @ free)

    tried = {"gtol": 1e-7, "maxiter": 3000}
    return 2 * float(minimize(unlikely, free.T @ view.r, jac=True, hess=bent, method="trust-exact", options=tried).fun)


@given(st.sampled_from(list(KINDS)), st.integers(0, 10**6))
def test_an_end_is_as_unlikely_as_it_should_be_and_infinite_only_where_no_meetings_bound_it(
    kind: str, seed: int
) -> None:
    ladder, around = any_ladder(seed, kind)
    assume(len(ladder.group))
    won, beside = ladder._estimate[1] > 0, around[ladder.group]
    beside |= not beside.any()
    for k, at, contrast, wanted, views in ends(ladder, around):
        bound = reached(won.T if contrast[k] > 0 else won, k)[beside].all()
        assert math.isfinite(at) == bound
        if bound:
            deep = [depth(view, contrast, view.end(contrast, wanted)) for view in views]
            np.testing.assert_allclose(np.sqrt(np.maximum(deep, 0.0)), math.sqrt(wanted), atol=0.002)
            rating = float(contrast @ ladder._estimate[2].ratings)
            assert at == pytest.approx(max(rating, *(view.end(contrast, wanted) for view in views)), abs=1e-6)


def reached(gave: Bools, start: int) -> Bools:
    """Who cannot stay behind when ``start`` goes far: ``gave`` [i, j]: i gave a share to j, or so the other way."""
    found = np.zeros(len(gave), np.bool_)
    found[start] = True
    for _ in gave:
        found |= gave[found].any(axis=0)
    return found


@given(st.sampled_from(list(KINDS)), st.integers(0, 10**6))
def test_a_range_contains_its_rating_and_the_deeper_it_goes_the_further_it_ends(kind: str, seed: int) -> None:
    ladder, around = any_ladder(seed, kind)
    group = ladder.group
    assert (ladder.low[group] <= ladder.ratings[group]).all()
    assert (ladder.ratings[group] <= ladder.high[group]).all()
    for _, at, contrast, wanted, views in ends(ladder, around) if len(group) else ():
        if math.isfinite(at):
            for view in views:
                found = [view.end(contrast, wanted * more) for more in (0.3, 0.9, 1.0, 1.1, 4.0)]
                assert (np.diff([float(contrast @ view.r), *found]) > 0).all()


@given(st.sampled_from(list(KINDS)), st.integers(0, 10**6))
def test_who_is_surely_stronger_than_another_lies_wholly_above_him_beside_him_alone(kind: str, seed: int) -> None:
    """Both are the same difference at the same error, of a ladder around the other one."""
    rng = np.random.default_rng(seed)
    spread, drawn = KINDS[kind]
    skill = rng.normal(size=rng.integers(2, 6)) * spread
    played = meetings(rng, skill, rng.choice(drawn), int(rng.choice([3, 10, 30, 100])), 1.0)
    for other in range(len(skill)):
        beside = Ladder(len(skill), played, np.arange(len(skill)) == other)
        for one in set(range(len(skill))) - {other}:
            if math.isinf(beside.low[one]) or abs(beside.low[one]) > 0.01:
                assert beside.surely_above(one, [other], 2)[0] == (beside.low[one] > 0)


def three(many: int) -> Ladder:
    """The first one won all of so many meetings with each of the others, who split all of theirs."""
    pairs, won = pairs_of(3), np.array([many, many, many / 2])
    return Ladder(3, Meetings(pairs, np.full(3, float(many)), won, np.array([many, many, many / 4])), np.ones(3, bool))


@pytest.mark.parametrize("many", [13, 16, 17, 40, 100])
def test_of_three_of_whom_one_won_all_and_the_others_drew_all_ends_are_those_that_brent_finds(many: int) -> None:
    ladder, careful = three(many), three(many)._careful(DOUBT / 2)
    contrast = np.array([2.0, -1.0, -1.0]) / 3
    wanted = ladder._wanted(contrast, careful)

    def left(at: float, view: Profiles) -> float:
        return view.depth(at * np.array([1.0, -0.5, -0.5])) - wanted

    found = min(brentq(left, 1e-6, view.r[0], args=(view,)) for view in careful.views)
    assert ladder.low[0] == pytest.approx(found, abs=1e-3)
    assert ladder.high[1] == pytest.approx(ladder.high[2])
    assert -2.0 < ladder.high[1] < 0
    assert ladder.surely_above(0, [1, 2], 3).all()
    assert np.isposinf(ladder.high[0])
    assert np.isneginf(ladder.low[1:]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_of_any_three_ends_are_those_that_brent_finds(kind: str) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        skill = KINDS[kind][0] * np.array([-1.0, 0.1, 1.0]) * rng.random(3)
        ladder = Ladder(3, meetings(rng, skill, rng.choice(KINDS[kind][1]), 30, 1.0), np.ones(3, bool))
        for _, at, contrast, wanted, views in ends(ladder, np.ones(3, bool)):
            if math.isfinite(at):
                for view in views:
                    assert view.end(contrast, wanted) == pytest.approx(
                        brent(view, contrast, wanted), rel=2e-3, abs=0.01
                    )


def brent(view: Profiles, contrast: Floats, wanted: float) -> float:
    """The end of a profile of three ratings, by Brent's searches alone."""
    (across,) = null_space(np.stack([contrast, np.ones(3)])).T
    along = contrast / (contrast @ contrast)

    def left(at: float) -> float:
        least = minimize_scalar(lambda z: view.depth(at * along + z * across), (-30.0, 30.0), tol=1e-10)
        return float(least.fun) - wanted

    start, far = float(contrast @ view.r), 0.1
    while left(start + far) < 0:
        far *= 2
    return float(brentq(left, start, start + far))


@pytest.mark.parametrize(("members", "many"), [(8, 30), (8, 100), (4, 30), (8, 10)])
def test_a_script_that_loses_everything_has_an_upper_end_and_those_who_draw_above_it_have_both(
    members: int, many: int
) -> None:
    """Of 95 % drawn; the script's end was infinite in 13, 15 and 6 of 15 such ladders."""
    rng, pairs = np.random.default_rng(9), pairs_of(members + 1)
    for _ in range(5):
        share = np.where(rng.random((len(pairs.first), many)) < 0.05, rng.choice([0.25, 0.75], (1, many)), 0.5)
        share[pairs.first == 0] = 0.0
        played = Meetings(pairs, np.full(len(share), float(many)), share.sum(axis=1), (share**2).sum(axis=1))
        found = Ladder(members + 1, played, np.arange(members + 1) > 0)
        leader = 1 + int(np.argmax(found.ratings[1:]))
        assert found.surely_above(leader, [0], members + 1).all()
        assert -12 < found.high[0] < -1.5
        assert np.isneginf(found.low[0])
        assert np.isfinite([found.low[1:], found.high[1:]]).all()
        assert (found.low[1:] > found.high[0]).all()
