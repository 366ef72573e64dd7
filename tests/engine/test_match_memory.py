"""What a worker keeps of matches it has played: bounded in bytes, and without any say in results."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.lineups.matches import MEMORY_BYTES, MatchMemory
from tests.engine.test_objectives import evaluate, evaluator, requests

MIB = 2**20


def keys(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.unique(rng.integers(2**63, 2**64 - 1, size=n, dtype=np.uint64))


def learned(memory: MatchMemory, table: tuple[object, ...], wanted: np.ndarray, width: int) -> None:
    """Keep what is not known of these keys; a row's numbers are its key's."""
    _, known = memory.find(table, wanted, width)
    new = wanted[~known]
    memory.add(table, new, np.repeat(new.astype(np.float64)[:, None], width, axis=1))


@given(
    steps=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 400)), min_size=1, max_size=30),
    limit=st.sampled_from([0, 5_000, 100_000, MIB]),
    seed=st.integers(0, 99),
)
@settings(max_examples=100, deadline=None)
def test_all_tables_together_never_take_more_than_they_may_and_remember_only_what_is_so(
    steps: list[tuple[int, int]], limit: int, seed: int
) -> None:
    memory, rng = MatchMemory(limit), np.random.default_rng(seed)
    pool = keys(rng, 1000)
    for number, many in steps:
        table, width = ("pair", 0, number, "full"), 1 + 8 * number
        wanted = np.unique(rng.choice(pool, many))
        learned(memory, table, wanted, width)
        assert memory.bytes <= limit
        rows, known = memory.find(table, wanted, width)
        np.testing.assert_array_equal(rows[known], np.repeat(wanted[known].astype(float)[:, None], width, axis=1))


@pytest.mark.parametrize("width", [2, 64])
def test_the_bytes_that_are_counted_are_at_least_those_that_are_taken(width: int) -> None:
    rng, limit = np.random.default_rng(1), 24 * MIB
    memory, most = MatchMemory(limit), 0
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for step in range(120):
            some = keys(rng, 1500)
            learned(memory, ("pair", 0, step % 3, "full"), some, width)
            del some
            taken = tracemalloc.get_traced_memory()[0] - before
            most = max(most, taken)
            assert taken <= memory.bytes + MIB // 4
    finally:
        tracemalloc.stop()
    assert limit / 4 < most <= limit, "it was filled, and within what it may take"


def test_what_would_not_fit_alone_is_not_kept() -> None:
    memory = MatchMemory(10_000)
    learned(memory, ("pair",), keys(np.random.default_rng(2), 1000), 100)
    assert memory.bytes == 0


def test_a_worker_s_memory_is_a_stated_number_of_bytes() -> None:
    assert evaluator().matches.memory.limit == MEMORY_BYTES == 256 * MIB


@pytest.mark.parametrize("limit", [0, 20_000, 200_000])
def test_results_do_not_depend_on_how_much_is_remembered(limit: int) -> None:
    small, large = evaluator(), evaluator()
    small.matches.memory = MatchMemory(limit)
    asked = requests(large, 40)
    for batch in (asked[:25], asked[10:], asked[:25], requests(large, 40, last=9)):
        one, other = evaluate(small, batch), evaluate(large, batch)
        assert small.matches.memory.bytes <= limit
        for i, evaluation in other.items():
            np.testing.assert_array_equal(one[i].objectives, evaluation.objectives)
            np.testing.assert_array_equal(one[i].covariance, evaluation.covariance)
