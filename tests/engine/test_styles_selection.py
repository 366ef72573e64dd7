"""The skill band, and a diverse few of it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.styles.selection import Picked, diverse, in_band


def picked(behaviour: list[list[float]], score: list[float], k: int, ids: list[int] | None = None) -> Picked:
    """Of all agents; their numbers are those of their rows unless others are given."""
    n = len(score)
    numbers = np.arange(n) if ids is None else np.array(ids)
    return diverse(np.array(behaviour), np.array(score), numbers, np.ones(n, np.bool_), k)


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 8))
def test_the_diverse_few_are_at_least_half_as_far_apart_as_any_so_many_could_be(seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    behaviour, score = rng.random((n, 1)), rng.random(n)
    found = diverse(behaviour, score, np.arange(n), np.ones(n, np.bool_), k)
    assert len(set(found.rows.tolist())) == len(found.rows) == min(k, n)
    assert found.rows[0] == score.argmax()
    assert (np.diff(found.apart[1:]) <= 1e-12).all()
    if 1 < k <= n:
        line = np.sort(behaviour[:, 0])
        span = max(float(np.ptp(line)), 1e-9)
        assert found.apart[-1] >= _widest(line / span, k) / 2 - 1e-9


def _widest(line: np.ndarray, k: int) -> float:
    """The largest least distance of k of these points on a line, by bisection."""
    low, high = 0.0, float(np.ptp(line))
    for _ in range(50):
        middle, last, count = (low + high) / 2, line[0], 1
        for x in line[1:]:
            if x - last >= middle:
                last, count = x, count + 1
        low, high = (middle, high) if count >= k else (low, middle)
    return low


def test_the_band_leaves_nobody_out_whose_skill_may_be_within_it() -> None:
    score, high = np.array([0.9, 0.82, 0.7, 0.5, np.nan]), np.array([0.95, 0.9, 0.83, 0.6, np.inf])
    assert in_band(score, high, 0.1).tolist() == [True, True, True, False, False]
    assert in_band(score, np.full(5, np.inf), 0.1).tolist() == [True, True, False, False, False]


def test_agents_that_do_the_same_are_picked_once() -> None:
    found = picked([[0.2], [0.2], [0.8]], [0.5, 0.6, 0.4], 3)
    assert found.rows.tolist() == [1, 2]
    assert not len(diverse(np.ones((2, 1)), np.ones(2), np.arange(2), np.zeros(2, np.bool_), 2).rows)


CORNERS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]


def test_of_equally_far_agents_the_better_one_is_picked_and_of_equally_good_ones_the_lower_number() -> None:
    assert picked(CORNERS, [0.9, 0.5, 0.5, 0.5], 4, [7, 3, 1, 5]).rows.tolist() == [0, 3, 2, 1], "opposite, then 1, 3"
    assert picked(CORNERS, [0.9, 0.6, 0.5, 0.5], 4, [7, 3, 1, 5]).rows.tolist() == [0, 3, 1, 2], "the better one of two"
    assert picked([[0.0], [1.0]], [0.5, 0.5], 1, [9, 2]).rows.tolist() == [1], "also the first"
    assert picked([[0.4], [0.4], [0.9]], [0.5, 0.5, 0.5], 3, [4, 2, 3]).rows.tolist() == [1, 2], "and of those alike"


@given(st.data())
def test_who_is_picked_does_not_depend_on_the_order_of_rows(data: st.DataObject) -> None:
    """On a small grid, where nearly all distances and many scores are equal."""
    n = data.draw(st.integers(2, 12))
    grid = st.sampled_from([0.0, 0.1, 0.2, 0.3])
    behaviour = np.array(data.draw(st.lists(st.tuples(grid, grid), min_size=n, max_size=n)))
    score = np.array(data.draw(st.lists(st.sampled_from([0.3, 0.6]), min_size=n, max_size=n)))
    ids = np.array(data.draw(st.permutations(range(10, 10 + n))))
    able = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    order = np.array(data.draw(st.permutations(range(n))))
    k = data.draw(st.integers(1, n))
    usual = diverse(behaviour, score, ids, able, k)
    other = diverse(behaviour[order], score[order], ids[order], able[order], k)
    assert ids[usual.rows].tolist() == ids[order][other.rows].tolist()
    assert usual.apart.tolist() == other.apart.tolist()
    again = diverse(behaviour, score, ids, able, k)
    assert again.rows.tolist() == usual.rows.tolist()


def test_distances_that_differ_by_rounding_alone_are_equal_and_no_distance_at_all() -> None:
    assert picked([[0.3], [0.1 + 0.2], [1.0]], [0.9, 0.8, 0.7], 3).rows.tolist() == [0, 2], "0.1 + 0.2 is 0.3"
    nearly = [[0.5], [0.0], [0.5 + 0.1 + 0.2 + 0.2]]
    assert picked(nearly, [0.9, 0.6, 0.5], 2).rows.tolist() == [0, 1]
    assert picked(nearly, [0.9, 0.5, 0.6], 2).rows.tolist() == [0, 2]


def test_a_behaviour_in_which_values_differ_by_rounding_alone_is_none() -> None:
    ways = np.array([[0.3, 0.0], [0.1 + 0.2, 1.0], [0.3, 0.5]])
    picked = diverse(ways, np.array([1.0, 0.9, 0.8]), np.arange(3), np.ones(3, np.bool_), 3)
    assert picked.rows.tolist() == [0, 1, 2]
    assert picked.apart.tolist()[1:] == [1.0, 0.5]
