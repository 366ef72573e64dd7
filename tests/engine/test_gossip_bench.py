"""The benchmark of mixing: its agents mix as a ring does, and its simulation is right where one can work it out."""

from __future__ import annotations

import numpy as np
import pytest

from engine.bench import gossip
from engine.bench.gossip import broker_time, brokered, linked, ring_time
from engine.bench.gossip_time import ratio, took


@pytest.fixture
def alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """All agents learn equally long, each time."""
    monkeypatch.setattr(gossip, "lengths", lambda n, learn_s, iterations=50: np.full((iterations, n), learn_s))


@pytest.mark.usefixtures("alike")
def test_equal_agents_of_a_ring_wait_for_one_message_however_many_they_are() -> None:
    for n in (2, 24, 256):
        assert ring_time(n, 0.002, 0.2) == pytest.approx(0.002)


@pytest.mark.usefixtures("alike")
def test_a_broker_with_time_to_spare_makes_equal_agents_wait_for_its_operations_only() -> None:
    writes_and_reads = broker_time(2, 0.001, 0.2)
    assert 0.002 <= writes_and_reads <= 0.004


@pytest.mark.usefixtures("alike")
def test_a_broker_that_is_never_idle_makes_iterations_last_as_long_as_all_operations() -> None:
    assert 0.2 + broker_time(256, 0.01, 0.2) == pytest.approx(2 * 256 * 0.01, rel=0.05)


def test_slow_agents_of_a_ring_make_others_wait_and_no_agent_mixes_before_its_message_is_there() -> None:
    assert 0.002 < ring_time(8, 0.002, 0.2) < 0.04


@pytest.mark.parametrize("way", [linked, brokered])
def test_both_ways_mix_as_a_ring_does(way: object) -> None:
    found = way(3, 0.0, 5)  # type: ignore[operator]
    assert len(found) == 3 * (5 - gossip.WARM)
    assert min(found) > 0


def test_a_training_is_timed_without_the_start_of_its_processes() -> None:
    assert took([[100, 60.0, 0.1], [200, 70.0, 0.5], [300, 80.0, 0.96]]) == 30.0
    assert took([[100, 60.0, 0.96]]) == 60.0


def test_a_ratio_is_the_geometric_mean_over_seeds_with_its_range() -> None:
    times, low, high = ratio([10.0, 12.0, 8.0, 11.0, 9.0], [20.0, 18.0, 22.0, 21.0, 19.0])
    logs = np.log([10 / 20, 12 / 18, 8 / 22, 11 / 21, 9 / 19])
    assert times == pytest.approx(float(np.exp(logs.mean())))
    assert [np.log(high / times), np.log(times / low)] == pytest.approx(
        [2.776 * logs.std(ddof=1) / 5**0.5] * 2, rel=1e-3
    )
    assert np.isnan(ratio([10.0, np.inf], [20.0, 40.0])).all(), "one never came there"
    assert ratio([10.0], [20.0]) == (0.5, 0.0, np.inf), "one seed tells no range"


@pytest.mark.parametrize("luck", ["normal", "heavy", "two speeds", "skewed"])
def test_of_five_seeds_the_range_of_a_ratio_nearly_always_holds_it(luck: str) -> None:
    rng, n = np.random.default_rng(5), 4000
    logs = {
        "normal": rng.standard_normal((n, 5)), "heavy": rng.standard_t(3, (n, 5)),
        "two speeds": rng.choice([-1.0, 1.0], (n, 5)) + 0.2 * rng.standard_normal((n, 5)),
        "skewed": rng.gamma(2.0, size=(n, 5)) - 2.0,
    }[luck]  # fmt: skip
    found = [ratio(1.3 * np.exp(0.4 * each), np.ones(5))[1:] for each in logs]
    assert np.mean([low <= 1.3 <= high for low, high in found]) > 0.9, "a bootstrap: 0.83"
