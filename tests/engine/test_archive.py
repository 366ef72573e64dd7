"""The archive of everything evaluated: its front is the true one after every insert and every revision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.evolution.archive import Archive
from engine.indicators import hypervolume, non_dominated

NOTHING = np.empty(0)


def filled(objectives: np.ndarray, signs: tuple[float, ...]) -> Archive:
    archive = Archive(signs, np.zeros(2, dtype=np.int32))
    for i, row in enumerate(objectives):
        assert archive.insert(np.array([i, i + 1], dtype=np.int32), row) == i
    return archive


def expected(objectives: np.ndarray, signs: tuple[float, ...]) -> list[int]:
    return np.flatnonzero(non_dominated(objectives, signs)).tolist()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 120))
def test_the_front_is_the_non_dominated_set_of_everything_taken_in(seed: int, m: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    signs = tuple(rng.choice([-1.0, 1.0], m).tolist())
    objectives = rng.integers(0, 7, (n, m)).astype(float)  # small whole numbers: many ties
    archive = filled(objectives, signs)
    assert archive.front.tolist() == expected(objectives, signs)
    np.testing.assert_array_equal(archive.front_objectives, objectives[archive.front])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(2, 60))
def test_revised_estimates_let_the_front_rise_and_fall(seed: int, m: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    signs = (-1.0,) * m
    objectives = rng.random((n, m))
    archive = filled(objectives, signs)
    for _ in range(40):
        row = int(rng.choice(archive.front)) if rng.random() < 0.7 else int(rng.integers(n))
        objectives[row] = rng.random(m)
        archive.revise(row, objectives[row])
        assert sorted(archive.front.tolist()) == expected(objectives, signs)


def test_failed_violating_and_undefined_individuals_are_kept_but_never_on_the_front() -> None:
    archive = filled(np.array([[1.0, 1.0]]), (-1, -1))
    assert archive.insert(np.zeros(2), np.array([0.0, np.nan])) == 1
    assert archive.insert(np.zeros(2), np.array([0.0, 0.0]), feasible=False) == 2
    assert archive.front.tolist() == [0]
    assert len(archive) == 3
    archive.revise(0, np.array([np.nan, np.nan]))
    assert archive.front.tolist() == []
    with pytest.raises(IndexError):
        archive.revise(3, np.zeros(2))


def test_a_saved_archive_goes_on_as_if_never_saved() -> None:
    rng = np.random.default_rng(3)
    objectives = rng.random((5000, 3))
    archive, again = filled(objectives, (-1, 1, -1)), Archive((-1, 1, -1), np.zeros(2, dtype=np.int32))
    again.load(archive.state())
    best = archive.front[:5].tolist()
    for one in (archive, again):
        for row in best:
            one.revise(row, np.full(3, 0.5))
        one.insert(np.array([7, 8], dtype=np.int32), np.array([0.01, 0.99, 0.01]))
    assert len(again) == 5001
    assert again.front.tolist() == archive.front.tolist()
    assert again.genome(4999).tolist() == [4999, 5000]
    np.testing.assert_array_equal(again.objectives(4321), objectives[4321])


def test_growing_past_its_first_size_loses_nothing() -> None:
    archive = Archive((-1, -1), NOTHING)
    n = 70_000
    for i in range(n):
        archive.insert(NOTHING, np.array([float(i), float(n - i)]) if i < 6000 else np.array([6e4, 8e4]))
    assert len(archive) == n
    assert archive.front.tolist() == list(range(6000))


def test_the_epsilon_view_keeps_one_to_a_box_and_stays_near_everything() -> None:
    rng = np.random.default_rng(1)
    x = np.sort(rng.random(2000))
    objectives = np.stack([x, 1 - x], axis=1)
    archive = filled(objectives, (-1, -1))
    view = archive.epsilon_view((0.1, 0.1))
    boxes = np.floor(objectives[view] / 0.1)
    assert len(np.unique(boxes, axis=0)) == len(view) <= 11
    assert non_dominated(boxes, (-1, -1)).all()
    near = (objectives[None, view] <= objectives[:, None] + 0.2).all(axis=2).any(axis=1)
    assert near.all(), "every member of the front is nearly matched by one that is shown"


def test_its_hypervolume_has_a_fixed_reference() -> None:
    objectives = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.9]])
    archive = filled(objectives, (-1, -1))
    assert archive.hypervolume((1, 1)) == pytest.approx(0.8 * 0.2 + 0.5 * 0.3)
    assert archive.hypervolume((1, 1)) == hypervolume(objectives, (-1, -1), (1, 1))
