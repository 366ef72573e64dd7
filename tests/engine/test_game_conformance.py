"""The check of games that are played move by move: a program of somebody else's passes, and what is wrong is named."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.errors import SimulatorError
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.checks import game_problems
from engine.mdp.interface import (
    ActionSpec,
    Array,
    ArraySpec,
    Continuous,
    Discrete,
    Hybrid,
    MDPSpec,
    Parameterised,
    SeatSpec,
)
from engine.mdp.vector import VectorMDP, VectorStep
from engine.simulators.check_command import main_check
from engine.simulators.conformance import check
from engine.simulators.game_client import ExternalGame
from engine.simulators.game_contract_checks import GAME_CHECKS, GameCase
from tests.engine.sample_games import ORCHARD, orchard

LAKE = f"{sys.executable} {Path(__file__).parent / 'frozen_lake.py'}"


def findings(game: VectorMDP, name: str) -> list[tuple[str, str]]:
    return list(GAME_CHECKS[name](GameCase(game, 4, 1)))


def test_a_program_that_plays_move_by_move_keeps_its_promises(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_check([f"command:{LAKE}", "--battles", "8"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "The simulator keeps its contract."
    assert all(line.startswith("ok") for line in lines[:-1])
    said = "\n".join(lines)
    for words in ("sees lake [2]; chooses among 2; is told arrival, cold", "300 random legal actions of 8 battles",
                  "ended by the rules and", "can be trained in it", "decisions a second", "after BYE"):  # fmt: skip
        assert words in said


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (f"command:{LAKE} nan", "rewards is nan at [0, 0, 0]; every number must be finite"),
        (f"command:{sys.executable} -m tests.engine.bad_games leave", "out of fuel"),
        (f"command:{sys.executable} -m tests.engine.bad_games nothing_legal", "the mask leaves nothing legal to do"),
        (f"command:{sys.executable} -m tests.engine.bad_games impossible", "seat 0: its action chooses among 0"),
    ],
)
def test_a_game_that_goes_wrong_is_named_and_the_exit_code_is_1(
    reference: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main_check([reference, "--battles", "4", "--deadline", "60"]) == 1
    assert said in capsys.readouterr().out


def test_a_game_of_several_seats_is_told_that_nobody_can_be_trained_in_it() -> None:
    found = {f.check: f for f in check("python:tests.engine.sample_games:orchard", battles=4)}
    assert found["training"].level == "warning"
    assert "it has 4 seats; training needs one" in found["training"].message
    assert "chooses among 3 and sets 2 numbers" in found["description"].message
    assert {f.level for name, f in found.items() if name != "training"} == {"ok"}


class Orchard(VectorFromMDP):
    """Honest but for what a test changes of it."""

    def __init__(self) -> None:
        super().__init__(orchard())
        self.resets = 0

    def reset(self, seeds: np.ndarray) -> VectorStep:
        self.resets += 1
        return super().reset(self.drawn(seeds))

    def drawn(self, seeds: np.ndarray) -> np.ndarray:
        return seeds


class Lucky(Orchard):
    """Its seeds are its own."""

    def drawn(self, seeds: np.ndarray) -> np.ndarray:
        return seeds + np.uint64(self.resets)


class Crowded(Orchard):
    """Its battles depend on how many there are."""

    def drawn(self, seeds: np.ndarray) -> np.ndarray:
        return seeds + np.uint64(len(seeds))


class Endless(Orchard):
    """Says nothing of its ends."""

    def step(self, actions: Sequence[Array]) -> VectorStep:
        step = super().step(actions)
        never = np.zeros_like(step.terminated)
        return step._replace(terminated=never, truncated=never, ended=None)


@pytest.mark.parametrize(
    ("game", "check", "level", "said"),
    [
        (Orchard, "reproducible", "ok", "the same battles, whatever is played beside them"),
        (Lucky, "reproducible", "warning", "no training can be repeated exactly"),
        (Crowded, "reproducible", "error", "battles depend on those played beside them"),
        (Orchard, "episodes", "ok", "cut short"),
        (Endless, "episodes", "warning", "no episode ended within 300 decisions"),
    ],
)
def test_what_a_game_does_not_keep_is_said(game: type[Orchard], check: str, level: str, said: str) -> None:
    ((found, message),) = findings(game(), check)
    assert found == level, message
    assert said in message


SEES = (ArraySpec("place", (2,)),)


def described(action: ActionSpec, **more: object) -> MDPSpec:
    seat: dict[str, object] = {"observations": SEES, "action": action, **more}
    return MDPSpec("game", "1", (SeatSpec(**seat),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (MDPSpec("game", "1", ()), "it has no seats"),
        (MDPSpec("ga\u202eme", "1", ()), "spec.name: 'ga\\u202eme' holds the invisible character U+202E"),
        (MDPSpec("g" * 81, "1", ()), "has 81 characters; 80 is the most"),
        (described(Discrete(2), signals=("two\nlines",)), "'two\\nlines' holds a tab or a line break"),
        (described(Discrete(0)), "chooses among 0"),
        (described(Parameterised(())), "chooses among 0"),
        (described(Hybrid(())), "its action has no parts"),
        (
            described(Hybrid((Discrete(2), Continuous((0.0,), (1.0,), (2,))))),
            "1 lower and 1 upper bounds for 2 numbers",
        ),
        (described(Continuous((1.0,), (0.0,), (1,))), "the lower one first"),
        (described(Continuous((0.0,), (float("inf"),), (1,))), "finite"),
        (described(Continuous((), (), (0,))), "impossible sizes [0]"),
        (described(Parameterised((1, 2), low=(0.0,))), "1 lower and 3 upper bounds for 3 numbers"),
        (described(Discrete(2), observations=()), "it has no observations"),
        (described(Discrete(2), observations=(*SEES, *SEES)), "observation 'place' comes twice"),
        (described(Discrete(2), observations=(ArraySpec("x", (2, 0)),)), "impossible shape [2, 0]"),
        (described(Discrete(2), rewards=()), "it has no rewards"),
        (described(Discrete(2), rewards=("a", "a")), "reward 'a' comes twice"),
        (described(Discrete(2), signals=("b", "b")), "signal 'b' comes twice"),
    ],
)
def test_a_description_that_cannot_be_is_refused_in_words(spec: MDPSpec, said: str) -> None:
    assert any(said in problem for problem in game_problems(spec)), game_problems(spec)
    assert not game_problems(ORCHARD)


def test_a_program_with_an_impossible_description_does_not_get_past_its_introduction() -> None:
    with ExternalGame([sys.executable, "-m", "tests.engine.bad_games", "impossible"]) as game:
        with pytest.raises(
            SimulatorError, match="describes a game that cannot be: seat 0: its action chooses"
        ) as caught:
            game.reset(np.zeros(1, np.uint64))
        assert caught.value.permanent
