"""The scheduler of DPCER: probabilities, what each signal follows, and the orders of the baselines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.rl.dpcer import ENOUGH, Change, Exp3, Method, Scheduler, Signal, scheduler
from engine.rng import generator

GOLDEN = Path(__file__).parents[1] / "golden" / "dpcer.json"
SIGNALS: tuple[Signal, ...] = ("return", "progress", "td")
METHODS: tuple[Method, ...] = ("uniform", "exp3", "db", "dbc", "drc")
unit = st.floats(0, 1)
told = st.tuples(st.integers(0, 3), unit, st.integers(1, 100), st.floats(0, 1e6))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SIGNALS), st.floats(0.001, 1), st.lists(told, max_size=60))
def test_probabilities_of_exp3_sum_to_one_and_none_is_below_gamma_over_n(
    signal: Signal, gamma: float, events: list[tuple[int, float, int, float]]
) -> None:
    chosen = Exp3(4, generator(1), signal=signal, gamma=gamma)
    for i, R, n, td in events:
        chosen.played(i, R, n)
        chosen.learned(i, td)
        assert chosen.p.sum() == pytest.approx(1, abs=1e-12)
        assert (chosen.p >= gamma / 4 * (1 - 1e-12)).all()
        assert 0 <= min(chosen.r) <= max(chosen.r) <= 1


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.sampled_from(METHODS), st.lists(st.tuples(unit, unit), max_size=40))
def test_every_method_chooses_only_tasks_that_are_played(
    N: int, method: Method, events: list[tuple[float, float]]
) -> None:
    chosen = scheduler(method, N, generator(3), T=20)
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


@pytest.mark.parametrize("signal", SIGNALS)
def test_after_a_million_updates_everything_is_finite(signal: Signal) -> None:
    chosen = Exp3(2, generator(2), signal=signal, gamma=0.5)
    for t in range(1_000_000):
        chosen.r = [1.0, 1.0]  # as if each was told of anew
        chosen.learned(int(t > 100_000), 1e6)
    assert np.isfinite([*chosen.ln_w, *chosen.p, chosen.largest]).all()
    assert chosen.p.tolist() == pytest.approx([0.25, 0.75], abs=0.01)
    assert chosen.p.sum() == pytest.approx(1)


def test_of_two_arms_the_better_one_gets_four_fifths() -> None:
    chosen, rng = Exp3(2, generator(5, "p"), signal="return"), generator(5, "R")
    for _ in range(5_000):
        i = chosen.choose()
        chosen.played(i, float(rng.random() < (0.2, 0.8)[i]))
        chosen.learned(i, 0)
    assert chosen.p[1] >= 0.8


EPISODES = 20
"""Of a report, as a study usually has."""


def tell(chosen: Scheduler, success: Sequence[float], rng: np.random.Generator) -> None:
    """Actors of all tasks tell how often so many episodes succeeded."""
    for i, p in enumerate(success):
        chosen.played(i, float(rng.binomial(EPISODES, p)) / EPISODES, EPISODES)


BATCH = 32
"""Outcomes in a minibatch."""


def lessons(signal: Signal, every: int, luck: float = 0.0, seed: int = 7) -> tuple[list[float], float]:
    """(skill in each of two tasks, the largest probability of the hard one) after 8,000 iterations where the hard one
    can be learned only by who is good at the easy one; ``every``: iterations between reports; ``luck``: the share of
    the easy one's episodes that the best lose. Errors are those of who forecasts outcomes by their running mean."""
    chosen, rng = Exp3(2, generator(seed, "p"), signal=signal), generator(seed, "R")
    skill, forecast, largest = [0.0, 0.0], [0.0, 0.0], 0.0
    for t in range(8_000):
        i = chosen.choose()
        if i == 0 or skill[0] > 0.9:
            skill[i] = min(1.0, skill[i] + 1 / 1_000)
        success = ((1 - luck) * skill[0], skill[1])
        if t % every == 0:
            tell(chosen, success, rng)
        outcomes = rng.random(BATCH) < success[i]
        chosen.learned(i, float(np.abs(outcomes - forecast[i]).mean()))
        forecast[i] += 0.05 * (float(outcomes.mean()) - forecast[i])
        largest = max(largest, float(chosen.p[1])) if skill[0] == 1 else 0.0
    return skill, largest


@pytest.mark.parametrize(("every", "luck", "seed"), [(10, 0.0, 7), (40, 0.2, 1), (100, 0.0, 1), (100, 0.4, 7)])
def test_a_shift_from_one_arm_to_another_is_followed_by_progress_and_not_by_returns(
    every: int, luck: float, seed: int
) -> None:
    skill, largest = lessons("return", every, luck, seed)
    assert skill[1] < 0.5
    assert largest < 0.1
    skill, largest = lessons("progress", every, luck, seed)
    assert skill[1] == pytest.approx(1)
    assert largest > 0.8


@pytest.mark.parametrize("seed", [1, 7])
def test_errors_follow_such_a_shift_only_where_the_easy_arm_leaves_nothing_to_chance(seed: int) -> None:
    skill, largest = lessons("td", 40, 0.0, seed)
    assert skill[1] == pytest.approx(1)
    assert largest > 0.8
    for luck in (0.2, 0.4):
        skill, largest = lessons("td", 40, luck, seed)
        assert skill[1] < 0.5
        assert largest < 0.1


@pytest.mark.parametrize(("gain", "every", "T"), [(2e-3, 1, 20_000), (2e-3, 40, 20_000), (2e-4, 280, 100_000)])
@pytest.mark.parametrize("seed", [1, 2])
def test_four_tasks_of_which_each_opens_the_next_are_all_learned(gain: float, every: int, T: int, seed: int) -> None:
    chosen, rng = Exp3(4, generator(seed, "p")), generator(seed, "R")
    skill, first = np.zeros(4), []
    for t in range(T):
        i = chosen.choose()
        skill[i] += gain * (skill[i - 1] if i else 1.0) * (1 - skill[i])
        if t % every == 0:
            tell(chosen, skill, rng)
        chosen.learned(i, 0)
        first += [int(np.argmax(chosen.p))] if t % (T // 40) == 0 else []
    assert skill.min() > 0.9
    assert {0, 3} <= set(first), "the easiest is practised most at some time, and later the hard one"
    if every > 1:
        assert first.index(0) < first.index(1) < first.index(2) < first.index(3)


def beside_a_stuck_one(gain: float, every: int, T: int, seed: int, stuck: float = 0.5) -> tuple[float, float]:
    """(share of the iterations that a task gets in which nothing is ever learned, skill in another) by progress."""
    chosen, rng = Exp3(2, generator(seed, "p")), generator(seed, "R")
    skill, wasted = 0.0, 0
    for t in range(T):
        i = chosen.choose()
        wasted += i == 0
        skill += (1 - skill) * gain * i
        if t % every == 0:
            tell(chosen, (stuck, skill), rng)
        chosen.learned(i, 0)
    return wasted / T, skill


@pytest.mark.parametrize(
    ("gain", "every", "most"), [(2e-4, 280, 0.15), (4e-5, 280, 0.4), (2e-4, 10, 0.51), (1e-4, 1000, 0.2)]
)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_task_that_is_stuck_at_a_half_gets_no_more_than_its_share_however_slowly_the_other_is_learned(
    gain: float, every: int, most: float, seed: int
) -> None:
    T = int(4 / gain)
    wasted, skill = beside_a_stuck_one(gain, every, T, seed)
    assert wasted < most
    assert skill > 1 - np.exp(-gain * T / 2) - 0.01, "at least what equal shares teach"


@pytest.mark.parametrize("p", [0.02, 0.5, 0.97])
def test_what_a_task_pays_by_chance_is_progress_in_few_reports_and_little(p: float) -> None:
    change, rng = Change(), generator(3, "R")
    r = np.array([change.reported(float(rng.binomial(EPISODES, p)) / EPISODES, EPISODES) for _ in range(20_000)])
    assert np.mean(r > 0) < 0.06
    assert r.mean() < 0.02
    after = [change.reported(1 - round(p), EPISODES) for _ in range(10)]
    assert max(after) == 1, "a change is seen at once"


def test_a_task_with_larger_errors_is_learned_more_often() -> None:
    chosen = Exp3(3, generator(4), signal="td")
    for _ in range(3_000):
        i = chosen.choose()
        chosen.learned(i, (0.1, 5.0, 0.1)[i])
    assert chosen.p[1] > 0.8


def test_one_error_beyond_all_others_does_not_stop_the_choosing_by_errors() -> None:
    chosen = Exp3(4, generator(4), signal="td")
    for t in range(3_000):
        i = chosen.choose()
        chosen.learned(i, 1e6 if t == 10 else (0.5, 0.5, 0.5, 5.0)[i])
        assert 0 <= max(chosen.r) <= 1
    assert chosen.p[3] > 0.8


def orders(method: Method, R: float) -> list[tuple[int, ...]]:
    """The tasks that are learned, stage by stage, in 40 iterations with this success everywhere."""
    chosen, stages = scheduler(method, 4, generator(0), T=40), []
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
    chosen = scheduler("dbc", 4, generator(0), T=1_000_000)
    chosen.played(0, 0.88)
    chosen.learned(0, 0)
    assert chosen.active == (True, False, False, False)
    for _ in range(50):
        chosen.played(0, 1)
    chosen.learned(0, 0)
    assert chosen.active == (False, True, False, False)


def test_a_few_episodes_that_succeed_by_luck_end_no_stage() -> None:
    """Of a task that succeeds in six of ten, five in a row are no rarity: once in a dozen first reports."""
    ended = 0
    for seed in range(200):
        rng, chosen = generator(seed, "luck"), scheduler("dbc", 2, generator(seed), T=1_000_000)
        for _ in range(40):
            chosen.played(0, float(np.mean(rng.random(5) < 0.6)), 5)
            chosen.learned(0, 0)
        ended += chosen.active == (False, True)
    assert ended <= 2, "with the first report alone it was one in six or so"


def test_a_stage_counts_its_own_episodes_and_begins_to_count_anew() -> None:
    chosen = scheduler("drc", 3, generator(0), T=1_000_000)
    chosen.played(1, 1, ENOUGH)
    chosen.played(0, 1, ENOUGH - 1)
    chosen.learned(0, 0)
    assert chosen.active == (True, False, False)
    chosen.played(0, 1)
    chosen.learned(0, 0)
    assert chosen.active == (True, True, False)
    chosen.learned(0, 0)
    assert chosen.active == (True, True, False), "what was reported of it before its stage does not count"
    chosen.played(1, 1, ENOUGH)
    chosen.learned(0, 0)
    assert chosen.active == (True, True, True)


def run(chosen: Scheduler, count: int) -> list[int]:
    """The choices of so many iterations in which the success of task i goes to (i + 1) / 5."""
    found = []
    for t in range(count):
        i = chosen.choose()
        chosen.played(i, (i + 1) / 5 * (1 - 1 / (1 + t)), EPISODES)
        chosen.learned(i, 1 / (1 + t))
        found.append(i)
    return found


CASES = [("uniform", "progress"), *(("exp3", signal) for signal in SIGNALS), *((m, "progress") for m in METHODS[2:])]


@pytest.mark.parametrize(("method", "signal"), CASES)
def test_choices_are_those_on_record_and_the_same_after_a_checkpoint(method: Method, signal: Signal) -> None:
    first, again = (scheduler(method, 4, generator(9, "dpcer"), T=400, signal=signal) for _ in range(2))
    assert run(first, 200) == run(again, 200)
    kept = json.loads(json.dumps(first.state()))
    resumed = scheduler(method, 4, generator(0), T=400, signal=signal)
    resumed.load(kept)
    resumed.rng.bit_generator.state = first.rng.bit_generator.state
    assert run(resumed, 100) == run(first, 100)
    assert resumed.state() == first.state()
    golden = json.loads(GOLDEN.read_text())[f"{method}-{signal}"]
    assert first.p.tolist() == pytest.approx(golden["p"], abs=1e-12)
    assert np.bincount(run(again, 200), minlength=4).tolist() == golden["counts"]


def test_a_change_that_nobody_tells_of_any_more_stops_paying() -> None:
    """As where a Redis is lost: learning goes on from what is remembered, and no episode is heard of."""
    chosen = Exp3(4, generator(1))
    chosen.r = [0.0, 0.0, 1.0, 0.0]
    for _ in range(300):
        chosen.learned(chosen.choose(), 0)
    assert chosen.p[2] > 0.7
    for _ in range(10_000):
        chosen.learned(chosen.choose(), 0)
    assert chosen.p.max() < 0.3
