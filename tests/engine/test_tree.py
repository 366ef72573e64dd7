"""The tree that carries weights reaches every host once, in at most two hops, with about √n copies a sender."""

from __future__ import annotations

from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bench.broadcast import spread
from engine.errors import ConfigError
from engine.runtime.tree import Tree, plan


def hops(tree: Tree) -> int:
    """How many copies stand one behind the other between the head and the host farthest from it."""
    parent, reached = tree.parent, np.arange(len(tree.parent))
    steps = 0
    while (reached > 0).any():
        reached, steps = np.where(reached > 0, parent[reached], 0), steps + 1
    return steps


def test_every_size_up_to_ten_thousand_keeps_the_papers_promises() -> None:
    for hosts in range(1, 10_001):
        tree = plan(hosts)
        assert tree.parent[0] == -1
        assert (tree.parent[1:] >= 0).all()
        sent = np.bincount(tree.parent[1:], minlength=hosts)
        assert sent.sum() == hosts - 1  # every other host once
        assert hops(tree) <= 2  # three layers
        assert abs(sent[0] - isqrt(hosts)) <= 1
        assert sent.max() <= isqrt(hosts) + 2


@given(st.integers(1, 400), st.booleans())
def test_children_and_parents_say_the_same(hosts: int, flat: bool) -> None:
    tree = plan(hosts, flat)
    pairs = {(p, c) for p, mine in enumerate(tree.children()) for c in mine}
    assert pairs == {(int(p), c) for c, p in enumerate(tree.parent) if c}
    seen, waiting = {0}, [0]
    while waiting:
        for child in tree.children()[waiting.pop()]:
            assert child not in seen
            seen.add(child)
            waiting.append(child)
    assert seen == set(range(hosts))


def test_a_flat_plan_sends_everything_from_the_head() -> None:
    tree = plan(50, flat=True)
    assert len(tree.children()[0]) == 49
    assert hops(tree) == 1


def test_no_host_at_all_is_an_error_that_names_the_field() -> None:
    with pytest.raises(ConfigError, match="hosts"):
        plan(0)


def test_one_version_takes_the_sum_of_two_layers_instead_of_one_long_queue() -> None:
    for hosts in (10, 100, 1000, 6000):
        tree, flat = (spread(plan(hosts, f), 0.001, 1e9).seconds for f in (False, True))
        assert flat == pytest.approx((hosts - 1) * 0.001)
        assert tree <= 2 * (isqrt(hosts) + 2) * 0.001


def test_a_lone_head_is_never_stale() -> None:
    assert spread(plan(1), 0.001, 0.01) == (0.0, 0.0, 0)


def test_fast_links_leave_weights_one_version_old_at_most() -> None:
    found = spread(plan(100), 1e-6, 1.0)
    assert found.staleness_max == 0
    assert found.seconds < 1e-4


def test_a_flat_head_falls_behind_where_the_tree_does_not() -> None:
    tree, flat = (spread(plan(2500, f), 0.001, 0.2) for f in (False, True))
    assert tree.staleness_max <= 1
    assert flat.staleness_mean > 3 * max(tree.staleness_mean, 0.5)


def test_a_flat_head_s_hosts_lag_by_half_a_round_of_copies_however_long_that_is() -> None:
    """Each in its turn gets the newest, a copy every millisecond: what the last one held then is a whole round old."""
    for hosts in (1000, 6000):
        found = spread(plan(hosts, flat=True), 0.001, 0.1)
        versions = hosts * 0.001 / 0.1
        assert found.staleness_mean == pytest.approx(versions / 2, rel=0.1)
        assert found.staleness_max == pytest.approx(versions, rel=0.1)
