"""What an experiment told stays told, whatever later battles say, and the list keeps its promise."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from engine import confidence
from engine.worth.analysis import WorthAnalysis
from engine.worth.evidence import reported_by_now
from engine.worth.proof import Finalist
from engine.worth.stages import PROOFS, PlayedStage, Stage

ERROR = 0.04
SURE, BESIDE = 7, 8
"""A trait that is told by itself, and one that is told only because the first is."""


def proofs(*chances: dict[int, float], battles: int = 600) -> WorthAnalysis:
    """What is read from stages of a proof in which teams with these traits win so often beyond even, evenly spread."""
    traits = SimpleNamespace(single=(), amounts=(), pairs=(), halves=np.empty((0, 2), np.int64))
    analysis = WorthAnalysis(cast(Any, traits), 0.03, 1, np.empty((0, 2)))
    screen = SimpleNamespace(left=lambda rows, ahead: ahead)
    finalists = [Finalist(trait, 0.1, 1e-4, expected=0.0, line=0.0, doubt=0.0) for trait in (SURE, BESIDE)]
    analysis.__dict__.update(screen=screen, finalists=finalists)
    for name, stage in zip(PROOFS, chances, strict=False):
        dealt = np.resize(np.array(sorted(stage), np.int64), battles)
        ahead = np.zeros((battles, 2))
        for trait, chance in stage.items():
            own = np.flatnonzero(dealt == trait)
            ahead[own, 0] = np.where(np.arange(len(own)) < (0.5 + chance) * len(own), 0.5, -0.5)
        analysis.take(
            PlayedStage(Stage(name, 0, battles), np.empty((battles, 2, 1), np.int32), dealt, np.zeros(battles), ahead)
        )
    return analysis


def test_a_finding_that_was_told_only_because_another_was_stays_told_though_later_battles_weaken_it() -> None:
    first, later = {SURE: 0.3, BESIDE: 0.127}, {BESIDE: -0.05}
    before, after = (proofs(*stages).findings for stages in ([first], [first, later]))
    assert [f.reported for f in before] == [True, True]
    assert before[1].evidence < np.log(2 / ERROR), "by itself it would not be told"
    assert after[1].evidence < np.log(1 / ERROR), "a list of this evidence alone would lose it"
    assert [f.reported for f in after] == [True, True]
    assert after[1].battles > before[1].battles


LOGS = st.integers(1, 5).flatmap(
    lambda barriers: st.integers(1, 8).flatmap(lambda n: arrays(float, (barriers, n), elements=st.floats(-9.0, 9.0)))
)


def listed(logs: Any) -> Any:
    """What evidence tells of which nothing is known from before."""
    return confidence.e_bh(logs, np.full(len(logs), 1 / len(logs)), ERROR)


@settings(max_examples=200, deadline=None)
@given(LOGS)
def test_a_list_only_grows_and_all_on_it_had_the_evidence_that_its_length_asks_for(logs: Any) -> None:
    lists = [reported_by_now(logs[: many + 1], ERROR) for many in range(len(logs))]
    frozen = np.zeros(logs.shape[1])
    for at, (before, now) in enumerate(zip([np.zeros_like(lists[0]), *lists], lists, strict=False)):
        assert (now >= before).all()
        frozen = np.where(before, frozen, logs[at])
        np.testing.assert_array_equal(now, listed(frozen))


@settings(max_examples=200, deadline=None)
@given(LOGS)
def test_where_no_list_would_lose_anything_the_lists_are_those_of_the_evidence_alone(logs: Any) -> None:
    alone = [listed(each) for each in logs]
    kept = [reported_by_now(logs[: many + 1], ERROR) for many in range(len(logs))]
    for at, (mine, own) in enumerate(zip(alone, kept, strict=True)):
        if at and (alone[at] < alone[at - 1]).any():
            break
        np.testing.assert_array_equal(mine, own)
