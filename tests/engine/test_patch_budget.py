"""A search for changes never plays more battles than were asked for, and says how many it takes to try anything."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from engine.config.patch import PatchConfig
from engine.patches.budget import (
    AGAIN,
    ANEW,
    EXPERIMENT,
    FINAL,
    GENERATIONS,
    HUNT,
    PRESENT,
    PROOF,
    TURN,
    Budget,
    fewest,
)
from engine.patches.candidates import FINALS

USUAL = 400_000
FEWEST = 25_000
WAYS = 12
"""Candidates of a turn, at most: four of each of three ways."""


def begun(battles: int, watched: int, unplayed: float = 0.0) -> Budget:
    """After an experiment, which leaves a part of its battles unplayed."""
    return Budget(battles, int((1 - unplayed) * EXPERIMENT * battles), watched)


def turn_of(budget: Budget, step: str, touched: list[int]) -> int:
    """Plays a turn; how many of its candidates it could."""
    many = budget.affordable(step, touched)
    if many:
        pairs = sum(touched[:many])
        budget.spent += budget.tried(step, many, pairs, budget.watched) * (pairs + budget.watched)
        generations = budget.generations(step, many)
        assert generations >= GENERATIONS
        budget.spent += many * generations * HUNT
    return many


def proved_by(budget: Budget, wanted: int) -> int:
    """Plays the proof; how many finals it could prove."""
    finals = min(wanted, budget.finals())
    at_random, each = budget.screens(finals)
    budget.spent += finals * (at_random + each * budget.watched)
    budget.spent += (finals + 1) * (budget.generations_anew(finals + 1) * ANEW + AGAIN)
    return finals


@settings(max_examples=400, deadline=None)
@given(
    battles=st.integers(FEWEST, 1_000_000), watched=st.integers(1, 60), asked=st.integers(1, 300),
    turns=st.lists(st.lists(st.integers(1, 60), min_size=1, max_size=WAYS), min_size=len(TURN), max_size=len(TURN)),
    finals=st.integers(1, FINALS), unplayed=st.floats(0, 1),
)  # fmt: skip
def test_all_steps_together_play_no_more_than_was_asked_for_and_one_change_is_tried_and_proved(
    battles: int, watched: int, asked: int, turns: list[list[int]], finals: int, unplayed: float
) -> None:
    budget = begun(battles, watched, unplayed)
    if not budget.enough:
        assert battles < fewest(watched)
        return
    many, played = budget.responses(watched + asked)
    assert played > watched
    budget.spent += many * played
    budget.spent += budget.generations(PRESENT, 1) * HUNT
    tried = [turn_of(budget, step, [min(n, watched) for n in each]) for step, each in zip(TURN, turns, strict=True)]
    assert tried[0]
    assert tried[1] or budget.planned[TURN[1]] == 0
    assert proved_by(budget, finals)
    assert budget.spent <= battles


def test_with_the_usual_battles_every_step_has_its_share() -> None:
    budget = begun(USUAL, 3)
    assert budget.planned == {
        "responses": 32_000, PRESENT: 16_000, **dict.fromkeys(TURN, 36_000), PROOF: 80_000, FINAL: 40_000
    }  # fmt: skip
    assert budget.responses(12) == (2_656, 12)
    assert budget.generations(PRESENT, 1) == 15
    assert budget.affordable(TURN[0], [2] * 7) == 7
    assert budget.tried(TURN[0], 7, 14, 3) == 1_168
    assert budget.generations(TURN[0], 5) == 3
    assert [budget.generations_anew(1 + finals) for finals in (1, 2, 3)] == [9, 6, 4]
    assert budget.screens(2) == (16_000, 8_000)
    assert budget.finals() >= FINALS


def test_who_says_nothing_has_more_battles_and_changes_for_more_suspects_and_as_before_for_one() -> None:
    one, two = {"pieces": ["hero-1"]}, {"pieces": ["hero-2"]}
    pair, many = {"pieces": ["hero-1", "charm"]}, {"pieces": ["charm"], "least": 2}
    usual = [([], 400_000, 3), ([one], 400_000, 3), ([one, two], 700_000, 4), ([many], 700_000, 3),
             ([pair], 1_000_000, 3), ([one, two, pair], 1_300_000, 5), ([one] * 12, 400_000, 8)]  # fmt: skip
    for suspects, battles, most in usual:
        made = PatchConfig.model_validate({"game": {"simulator": "builtin:herobattle"}, "suspects": suspects})
        assert (made.battles, made.most) == (battles, most)
    assert PatchConfig.model_validate({"game": {"simulator": "builtin:herobattle"}, "suspects": [one, two],
                                       "battles": 50_000, "most": 1}).battles == 50_000  # fmt: skip


def test_a_budget_too_small_to_try_anything_is_refused_at_its_field_with_the_smallest_that_works() -> None:
    assert FEWEST - 1_000 < fewest(1) <= FEWEST
    assert begun(FEWEST, 1).enough
    game = {"simulator": "builtin:herobattle"}
    assert PatchConfig.model_validate({"game": game, "battles": FEWEST}).battles == FEWEST
    with pytest.raises(ValidationError, match=str(FEWEST)) as caught:
        PatchConfig.model_validate({"game": game, "battles": FEWEST - 1})
    assert caught.value.errors()[0]["loc"] == ("battles",)
