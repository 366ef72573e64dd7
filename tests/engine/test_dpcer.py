"""The scheduler of DPCER: probabilities, what each signal follows, and the orders of the baselines."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.rl.dpcer import Exp3, Method, Scheduler, Signal, scheduler
from engine.rng import generator

GOLDEN = Path(__file__).parents[1] / "golden" / "dpcer.json"
SIGNALS: tuple[Signal, ...] = ("return", "progress", "td")
METHODS: tuple[Method, ...] = ("uniform", "exp3", "db", "dbc", "drc")
unit = st.floats(0, 1)
told = st.tuples(st.integers(0, 3), st.floats(-20, 20), st.floats(0, 1e6))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SIGNALS), st.floats(0.001, 1), st.lists(told, max_size=60))
def test_probabilities_of_exp3_sum_to_one_and_none_is_below_gamma_over_n(
    signal: Signal, gamma: float, events: list[tuple[int, float, float]]
) -> None:
    chosen = Exp3(4, generator(1), low=-10, high=10, signal=signal, gamma=gamma)
    for i, R, td in events:
        chosen.played(i, R)
        chosen.learned(i, td)
        assert chosen.p.sum() == pytest.approx(1, abs=1e-12)
        assert (chosen.p >= gamma / 4 * (1 - 1e-12)).all()
        assert 0 <= min(chosen.r) <= max(chosen.r) <= 1


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.sampled_from(METHODS), st.lists(st.tuples(unit, unit), max_size=40))
def test_every_method_chooses_only_tasks_that_are_played(
    N: int, method: Method, events: list[tuple[float, float]]
) -> None:
    chosen = scheduler(method, N, generator(3), 0, 1, T=20)
    for R, td in events:
        i = chosen.choose()
        assert chosen.active[i]
        assert chosen.p.sum() == pytest.approx(1)
        chosen.played(i, R)
        chosen.learned(i, td)


def test_one_update_is_equation_4() -> None:
    chosen = Exp3(2, generator(0), signal="return", gamma=0.2)
    chosen.played(1, 0.75)
    chosen.learned(1, 0)
    w = np.array([1, np.exp(0.2 * 0.75 / (0.5 * 2))])
    assert chosen.p == pytest.approx(0.8 * w / w.sum() + 0.1, abs=1e-15)


def test_after_a_million_updates_everything_is_finite() -> None:
    chosen = Exp3(2, generator(2), signal="return", gamma=0.5)
    chosen.played(0, 1)
    chosen.played(1, 1)
    for t in range(1_000_000):
        chosen.learned(int(t > 400_000), 0)
    assert np.isfinite([*chosen.ln_w, *chosen.p]).all()
    assert chosen.p.tolist() == pytest.approx([0.25, 0.75])


def test_of_two_arms_the_better_one_gets_four_fifths() -> None:
    chosen, rng = Exp3(2, generator(5, "p"), signal="return"), generator(5, "R")
    for _ in range(5_000):
        i = chosen.choose()
        chosen.played(i, float(rng.random() < (0.2, 0.8)[i]))
        chosen.learned(i, 0)
    assert chosen.p[1] >= 0.8


def lessons(signal: Signal) -> tuple[list[float], float]:
    """(skill in each of two tasks, the largest probability of the hard one) after 8,000 iterations where the hard one
    can be learned only by who is good at the easy one."""
    chosen, rng = Exp3(2, generator(7, "p"), signal=signal), generator(7, "R")
    skill, largest = [0.0, 0.0], 0.0
    for _ in range(8_000):
        i = chosen.choose()
        if i == 0 or skill[0] > 0.9:
            skill[i] = min(1.0, skill[i] + 1 / 1_000)
        chosen.played(i, float(rng.random() < skill[i]))
        chosen.learned(i, 0)
        largest = max(largest, float(chosen.p[1])) if skill[0] == 1 else 0.0
    return skill, largest


def test_a_shift_from_one_arm_to_another_is_followed_by_progress_and_not_by_returns() -> None:
    skill, largest = lessons("return")
    assert skill[1] < 0.5
    assert largest < 0.1
    skill, largest = lessons("progress")
    assert skill[1] == pytest.approx(1)
    assert largest > 0.8


def test_a_task_with_larger_errors_is_learned_more_often() -> None:
    chosen = Exp3(3, generator(4), signal="td")
    for _ in range(3_000):
        i = chosen.choose()
        chosen.learned(i, (0.1, 5.0, 0.1)[i])
    assert chosen.p[1] > 0.8


def orders(method: Method, R: float) -> list[tuple[int, ...]]:
    """The tasks that are learned, stage by stage, in 40 iterations with this return everywhere."""
    chosen, stages = scheduler(method, 4, generator(0), 0, 5, T=40), []
    for _ in range(40):
        tasks = tuple(np.flatnonzero(chosen.active).tolist())
        stages += [tasks] if [tasks] != stages[-1:] else []
        i = chosen.choose()
        chosen.played(i, R)
        chosen.learned(i, 0)
    return stages


def test_the_baselines_follow_their_orders() -> None:
    assert orders("db", 0) == [(3,)]
    assert orders("dbc", 0) == [(0,), (1,), (2,), (3,)]
    assert orders("drc", 0) == [(0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)]
    assert orders("uniform", 0) == orders("exp3", 0) == [(0, 1, 2, 3)]


def test_a_baseline_goes_on_as_soon_as_a_task_is_mastered() -> None:
    chosen = scheduler("dbc", 4, generator(0), 0, 5, T=1_000_000)
    chosen.played(0, 4.4)
    chosen.learned(0, 0)
    assert chosen.active == (True, False, False, False)
    for _ in range(50):
        chosen.played(0, 5)
    chosen.learned(0, 0)
    assert chosen.active == (False, True, False, False)


def run(chosen: Scheduler, count: int) -> list[int]:
    """The choices of so many iterations in which the return of task i is i + 1 of 5."""
    found = []
    for t in range(count):
        i = chosen.choose()
        chosen.played(i, (i + 1) * (1 - 1 / (1 + t)))
        chosen.learned(i, 1 / (1 + t))
        found.append(i)
    return found


CASES = [("uniform", "progress"), *(("exp3", signal) for signal in SIGNALS), *((m, "progress") for m in METHODS[2:])]


@pytest.mark.parametrize(("method", "signal"), CASES)
def test_choices_are_those_on_record_and_the_same_after_a_checkpoint(method: Method, signal: Signal) -> None:
    first, again = (scheduler(method, 4, generator(9, "dpcer"), 0, 5, T=400, signal=signal) for _ in range(2))
    assert run(first, 200) == run(again, 200)
    kept = json.loads(json.dumps(first.state()))
    resumed = scheduler(method, 4, generator(0), 0, 5, T=400, signal=signal)
    resumed.load(kept)
    resumed.rng.bit_generator.state = first.rng.bit_generator.state
    assert run(resumed, 100) == run(first, 100)
    assert resumed.state() == first.state()
    golden = json.loads(GOLDEN.read_text())[f"{method}-{signal}"]
    assert first.p.tolist() == pytest.approx(golden["p"], abs=1e-12)
    assert np.bincount(run(again, 200), minlength=4).tolist() == golden["counts"]
