"""A command to end is heard wherever a study waits long: for a program that is silent, and for teams that are rare."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.config.worth import WorthConfig
from engine.errors import Cancelled
from engine.events import AnyEvent, Paused, Stopped
from engine.evorl.evaluator import PlayerEvaluator
from engine.evorl.hunting import HuntEvaluator
from engine.evorl.self_play_evaluator import SelfPlayEvaluator
from engine.evorl.trainings import opened as trainings
from engine.lineups.pairing_evaluator import PairingEvaluator
from engine.lineups.pairings import draw
from engine.lineups.rules import compile_rules
from engine.problem import Request, SelfPlayContext, TrainingContext
from engine.simulators.loaders import opened
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from engine.study.control import Command
from tests.engine.sample_simulators import SPEC, team_rows

LOCAL = {"kind": "local"}
SCRIPT = {"kind": "scripted", "player": "random"}


def program(name: str) -> str:
    """A program that says nothing after a while, by its name in ``bad_simulators``."""
    return f"command:{sys.executable} -m tests.engine.bad_simulators {name}"


def ended(study: dict[str, Any], folder: Path, command: Command = "stop") -> list[AnyEvent]:
    """The events of a study that is told to end a moment after its beginning."""
    until = time.monotonic() + 2.0
    return list(run(load(study), FolderStore(folder), "", lambda: command if time.monotonic() > until else ""))


@pytest.mark.parametrize(
    "study",
    [
        {"kind": "search", "game": {"simulator": program("silent")}, "pool": LOCAL},
        {"kind": "worth", "game": {"simulator": program("silent")}, "pool": LOCAL},
        {"kind": "sample", "game": {"simulator": program("silent")}, "pool": LOCAL},
        {"kind": "train", "game": program("silent"), "pool": LOCAL},
        {
            "kind": "evolve",
            "task": {"game": program("silent"), "learner": {"kind": "ppo", "rate": [0.001, 0.01]}},
            "pool": LOCAL,
        },
        {"kind": "evaluate", "game": program("silent"), "policies": {"a": SCRIPT, "b": SCRIPT}},
    ],
    ids=lambda study: study["kind"],
)
def test_a_study_whose_program_never_describes_its_game_hears_that_it_is_to_end(
    study: dict[str, Any], tmp_path: Path
) -> None:
    (end,) = ended(study, tmp_path)
    assert isinstance(end, Stopped), end  # left alone it would be Failed, once the program's time is up


HUNTED = [{"measure": "return"}, {"measure": "places"}]
AT_FIRST = """mkdir "$0.met" 2> /dev/null && exec {python} -m engine.simulators.serve {game}
touch "$0.silent"
exec sleep 600
"""
"""A program that is honest where it is started for the first time, and then silent."""


@pytest.mark.parametrize(
    ("game", "study"),
    [
        ("tests.engine.sample_simulators:TugOfWar", {"kind": "search"}),
        ("tests.engine.sample_simulators:TugOfWar", {"kind": "worth"}),
        ("tests.engine.crashing_game:Stairs", {"kind": "evolve"}),
        ("tests.engine.crashing_game:Stairs", {"kind": "hunt", "objectives": HUNTED}),
    ],
    ids=["search", "worth", "evolve", "hunt"],
)  # fmt: skip
def test_a_study_hears_that_it_is_to_end_while_its_worker_starts_its_program_anew(
    game: str, study: dict[str, Any], tmp_path: Path
) -> None:
    script = tmp_path / "program"
    script.write_text(AT_FIRST.format(python=sys.executable, game=game))
    named = f"command:/bin/sh {script}"
    task = {"game": named, "learner": LEARNER, "steps": 64, "environments": 2}
    plays = {"game": {"simulator": named}} if "TugOfWar" in game else {"task": task}
    asked = {**study, **plays, "pool": LOCAL}
    silent = tmp_path / "program.silent"
    (end,) = run(load(asked), FolderStore(tmp_path / "store"), "", lambda: "stop" if silent.exists() else "")
    assert isinstance(end, Stopped), end
    assert silent.exists()


def test_a_training_that_is_paused_before_its_game_is_described_can_go_on(tmp_path: Path) -> None:
    (end,) = ended({"kind": "train", "game": program("silent"), "pool": LOCAL}, tmp_path, "pause")
    assert isinstance(end, Paused)
    assert end.artifacts == {}


def test_an_experiment_hears_it_while_it_draws_teams_that_hardly_keep_the_rules(tmp_path: Path) -> None:
    rules = {"budget_low": 1949}
    game = {"simulator": "builtin:herobattle-planted:1"}
    (end,) = ended({"kind": "worth", "game": game, "lineups": rules, "pool": LOCAL}, tmp_path)
    assert isinstance(end, Stopped)


def test_an_experiment_hears_it_while_its_program_plays() -> None:
    game = {"simulator": program("hang")}
    with opened(game["simulator"]) as simulator:
        evaluator = PairingEvaluator(WorthConfig.model_validate({"game": game}), simulator)
        until = time.monotonic() + 2.0
        rows = np.stack([team_rows(4, 1), team_rows(4, 2)], axis=1)
        with pytest.raises(Cancelled):
            list(evaluator.evaluate([Request(0, rows, 0, 4, 1)], lambda: time.monotonic() > until))


def test_teams_are_the_same_however_often_somebody_asks_whether_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = compile_rules(SPEC, WorthConfig.model_validate({"game": {"simulator": "builtin:herobattle"}}).pairings)
    seeds, nothing = np.arange(1, 300, dtype=np.uint64) << np.uint64(40), np.full((299, 1), -1, np.int32)
    at_once = draw(rules, seeds, nothing, nothing)
    monkeypatch.setattr("engine.lineups.pairings.LOOK_S", 0.0)
    asked: list[int] = []
    one_by_one = draw(rules, seeds, nothing, nothing, stopped=lambda: bool(asked.append(1)))
    assert len(asked) == 299
    assert all(np.array_equal(a, b) for a, b in zip(at_once, one_by_one, strict=True))
    assert len(draw(rules, seeds[:0], nothing[:0], nothing[:0]).rows) == 0


LEARNER: dict[str, Any] = {
    "kind": "ppo", "batch": 32, "fragment": 8, "minibatch": 16, "rate": [1e-3, 1e-1], "entropy_weight": 0.0,
    "network": {"policy": [8], "critic": [8]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("made", "study"),
    [
        (PlayerEvaluator, {"kind": "evolve"}),
        (HuntEvaluator, {"kind": "hunt", "objectives": HUNTED}),
        (HuntEvaluator, {"kind": "hunt", "objectives": HUNTED, "method": "random"}),
    ],
    ids=["evolve", "hunt", "random hunt"],
)  # fmt: skip
def test_a_candidate_hears_it_while_its_program_does_not_answer(
    made: Any, study: dict[str, Any], tmp_path: Path
) -> None:
    task = {"game": "python:tests.engine.crashing_game:Late", "learner": LEARNER, "steps": 64, "environments": 2}
    candidates = made(load({**study, "task": task, "pool": LOCAL}), trainings(FolderStore(tmp_path), "study"))
    new, told = (
        Request(0, candidates.initialize(np.random.default_rng(1)), 0, 4, 3, TrainingContext()),
        time.monotonic(),
    )
    assert list(candidates.evaluate([new], lambda: time.monotonic() > told + 2.0)) == []
    if isinstance(candidates, HuntEvaluator):
        assert not candidates.found.lost, "that it is late is no crash, which it would be once its time is up"
        assert not candidates.found.bugs
    candidates.close()


@pytest.mark.parametrize(
    ("made", "study"),
    [
        (PlayerEvaluator, {"kind": "evolve", "task": {"game": {"name": "pong"}}}),
        (HuntEvaluator, {"kind": "hunt", "task": {"game": {"name": "maze"}}}),
        (SelfPlayEvaluator, {"kind": "self-play", "task": {"game": {"name": "pong-two-seats"}}}),
    ],
    ids=["evolve", "hunt", "self-play"],
)
def test_a_candidate_hears_it_while_it_is_measured_and_can_be_measured_again(
    made: Any, study: dict[str, Any], tmp_path: Path
) -> None:
    task = {**study["task"], "learner": LEARNER, "steps": 64, "environments": 4}
    candidates = made(load({**study, "task": task, "pool": LOCAL}), trainings(FolderStore(tmp_path), "study"))
    against = {"opponents": {"random": ("", 1.0, 1.0)}} if study["kind"] == "self-play" else {}
    context = (SelfPlayContext if against else TrainingContext)(**against)
    new = Request(0, candidates.initialize(np.random.default_rng(1)), 0, 4, 3, context)
    (trained,) = candidates.evaluate([new], lambda: False)
    further, asked = new._replace(id=1, first=4, last=8, context=trained.context), list[int]()
    assert list(candidates.evaluate([further], lambda: asked.append(1) or len(asked) == 3)) == []
    assert len(asked) == 3, "it is asked at every decision, and plays none after the answer"
    (again,) = candidates.evaluate([further], lambda: False)
    (undisturbed,) = candidates.evaluate([further], lambda: False)
    np.testing.assert_array_equal(again.objectives, undisturbed.objectives)
    candidates.close()
