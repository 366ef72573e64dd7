"""The benchmark of styles: it goes on after a kill, and its ranges are those of paired seeds."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from engine.bench import ale_styles, styles
from engine.bench.styles import ArmResult, paired
from engine.events import Progressed
from engine.rl.policy import Actor
from tests.engine.test_styles import study


def test_a_run_that_was_killed_goes_on_and_one_that_is_done_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, begun = styles.ran(study(), tmp_path / "whole"), []
    real = styles.run_study

    def killed(config: Any, store: Any, resume: str = "") -> Iterator[Any]:
        begun.append(resume)
        for event in real(config, store, resume):
            yield event
            if isinstance(event, Progressed) and len(begun) == 1:
                raise KeyboardInterrupt

    monkeypatch.setattr(styles, "run_study", killed)
    with pytest.raises(KeyboardInterrupt):
        styles.ran(study(), tmp_path / "other")
    again = styles.ran(study(), tmp_path / "other")
    assert begun[0] == ""
    assert begun[1] != ""
    for one, other in zip(whole, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert whole.gap < 1e-9
    assert whole.evaluations == 12
    assert len(whole.score) == 4
    assert json.loads((tmp_path / "other" / "result.json").read_text())["selection"] is True
    monkeypatch.setattr(styles, "run_study", lambda *_: pytest.fail("it is done already"))
    styles.ran(study(), tmp_path / "other")


@pytest.mark.parametrize("seeds", [2, 8])
def test_differences_that_are_all_alike_are_no_certainty(seeds: int) -> None:
    assert paired(np.full(seeds, 0.1)) == (-math.inf, pytest.approx(0.1), math.inf)


def test_the_range_of_few_paired_differences_is_student_s() -> None:
    values = np.random.default_rng(1).normal(0.1, 0.3, 5)
    low, mean, high = paired(values)
    known = ttest_1samp(values, 0).confidence_interval(0.95)
    assert (low, mean, high) == pytest.approx((known.low, values.mean(), known.high))


@pytest.mark.parametrize("shape", ["normal", "two heaps", "long tails"])
def test_eight_paired_differences_have_a_range_that_holds_whatever_their_shape(shape: str) -> None:
    """Where half of the seeds do better by 1 and half worse by 1, Student's alone misses one in thirteen."""
    rng = np.random.default_rng(2)
    drawn = {
        "normal": rng.normal(size=(1500, 8)), "long tails": rng.standard_t(2, (1500, 8)),
        "two heaps": rng.choice([-1.0, 1.0], (1500, 8)) + rng.normal(0, 0.05, (1500, 8)),
    }[shape]  # fmt: skip
    missed = sum(not low <= 0 <= high for low, _, high in map(paired, drawn))
    assert missed <= 93, "one in twenty, and two standard errors of luck"


def test_the_hypervolume_of_two_players_is_the_area_that_both_cover() -> None:
    found = ArmResult(0.0, 2, np.array([1.0, 0.5]), np.array([0.0, 1.0]))
    # (1, 2) and (1.5, 0.5): 1 × 2 and, beside it, 0.5 × 0.5.
    assert found.volume == pytest.approx(2.25)


def test_what_is_timed_is_put_back() -> None:
    before, spent = Actor.__call__, {}
    with styles._Timed(spent):
        assert Actor.__call__ is not before
    assert Actor.__call__ is before
    assert set(spent) == {"steps of the game", "inference", "learning"}


@pytest.mark.parametrize("case", ale_styles.CASES)
def test_atari_s_pong_is_bred_as_the_paper_says_from_one_agent(case: str) -> None:
    first, study = ale_styles.training_of(case, False), ale_styles.study_of(case, "a" * 64, False)
    assert (study.algorithm.population, study.ticks, study.start) == (30, 4, "a" * 64)
    assert study.task.steps == (80_000 if case == "memory-short" else 1_000_000)
    assert (study.task.game, study.task.learner) == (first.game, first.learner), "or the first network would not fit"
    assert [goal.formula for goal in study.objectives] == ["score + moved", "score + (1 - moved)"]


def test_the_front_is_drawn_with_a_mark_for_each_agent_the_darker_the_better() -> None:
    found = ArmResult(0.0, 3, np.array([0.9, 0.5, 0.9]), np.array([0.1, 0.5, 1.0]))
    drawn = ale_styles.picture(found)
    assert drawn.count("<circle") == 3
    assert "score 0.50, moves 50 % of its decisions" in drawn
    assert drawn.index('cx="200.0"') < drawn.index('cx="344.0"'), "across is active: 0.5 + 0.5 and 0.9 + 1"
    assert drawn.count("hsl(195 80% 25%)") == 2
