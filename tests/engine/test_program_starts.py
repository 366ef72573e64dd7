"""Games of somebody else's programs that say by which settings their episodes begin, and are begun by them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import pytest

from engine.config.starts import StartsConfig
from engine.config.train import TrainGame
from engine.errors import ConfigError, SimulatorError
from engine.events import Failed, Finished, Progressed
from engine.games.platform import Platform
from engine.mdp.checks import game_problems
from engine.simulators import entry_points, references
from engine.simulators.conformance import check
from engine.simulators.protocol import Decoded, Reset
from engine.simulators.serve_game import GamePlayer
from engine.starting import StartSetting, as_declared, declared, value_problems
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from tests.engine.started_games import Line, platform

LINE, PLATFORM = "python:tests.engine.started_games:Line", "python:tests.engine.started_games:platform"
SEEDS = np.array([1, 2], np.uint64)
SPEC = Platform().spec
X = StartSetting("x", 0, 10, 2.0, "How far along")


def test_a_factory_declares_what_its_parameters_are_marked_as() -> None:
    assert declared(Line) == (X, StartSetting("wide", 1, 2, 1, whole=True))
    assert declared(platform) == (StartSetting("first", 1, 3, 1, "Platform", True),)

    def plain(x: float = 1.0, y: Annotated[float, "metres"] = 2.0, z: Any = None) -> None:
        """Nothing of it says where an episode begins."""

    assert declared(plain) == ()
    assert as_declared(declared(Line), {"x": 3, "wide": 2.0}) == {"x": 3.0, "wide": 2}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"x": 11.0}, "must be 0 to 10, not 11"),
        ({"x": "near"}, "must be a number, not 'near'"),
        ({"x": True}, "must be a number"),
        ({"x": float("nan")}, "must be a number"),
        ({"y": 1.0}, "there is no such setting. There are x, wide"),
        ({"wide": 1.5}, "must be a whole number, not 1.5"),
    ],
)
def test_a_value_that_a_setting_does_not_take_is_said(given: dict[str, Any], why: str) -> None:
    ((name, said),) = value_problems(declared(Line), given)
    assert name in given
    assert why in said


@pytest.mark.parametrize(
    ("starts", "said"),
    [
        ((X, X), "start 'x' comes twice"),
        ((msgspec.structs.replace(X, usual=11.0),), "is usually 11, and it says that it is 0 to 10"),
        ((msgspec.structs.replace(X, high=float("inf")),), "is usually 2"),
        ((msgspec.structs.replace(X, name=""),), "has no name"),
        ((msgspec.structs.replace(X, title="a\nb"),), "on one line"),
        (tuple(msgspec.structs.replace(X, name=f"x{i}") for i in range(41)), "41 entries; 40 is the most"),
    ],
)
def test_starts_that_cannot_be_are_refused_in_words(starts: tuple[StartSetting, ...], said: str) -> None:
    assert any(said in problem for problem in game_problems(msgspec.structs.replace(SPEC, starts=starts)))


@pytest.fixture(scope="module")
def line() -> Iterator[Any]:
    """The walk, begun at 7, in a process of its own."""
    game = references.make(TrainGame(name=LINE, settings={"x": 7.0}), 2)
    yield game
    game.close()


def test_a_program_begins_its_episodes_where_it_is_told_and_those_after_them_too(line: Any) -> None:
    assert line.spec.starts == declared(Line)
    step = line.reset(SEEDS)
    assert step.observations[0]["observation"][:, 0].tolist() == [7, 7]
    for _ in range(3):
        step = line.step([np.ones(2, np.int64)])
    assert step.terminated.all()
    assert step.observations[0]["observation"][:, 0].tolist() == [7, 7], "the next episode"
    line.begins = {}
    assert line.reset(SEEDS).observations[0]["observation"][:, 0].tolist() == [2, 2], "as usual"


def test_where_no_episode_can_begin_or_another_game_would_the_program_says_so_and_plays_on(line: Any) -> None:
    line.begins = {"x": 10.0}
    with pytest.raises(SimulatorError, match="the goal is reached before anybody moves"):
        line.reset(SEEDS)
    line.begins = {"wide": 2.0}
    with pytest.raises(SimulatorError, match="what agents see, do or are told is something else"):
        line.reset(SEEDS)
    line.begins = {"x": 3.0}
    assert line.reset(SEEDS).observations[0]["observation"][:, 0].tolist() == [3, 3]
    assert line.starts == 1, "the process is the same"


def test_a_program_is_not_played_with_settings_that_it_does_not_have() -> None:
    with pytest.raises(ConfigError) as wrong:
        references.make(TrainGame(name=PLATFORM, settings={"first": 4, "speed": 2}), 1)
    assert {p.place: p.message for p in wrong.value.problems} == {
        "game.settings.first": "must be 1 to 3, not 4",
        "game.settings.speed": "there is no such setting. There are first",
    }
    with pytest.raises(ConfigError, match=r"settings\.first: .* takes no settings; put them"):
        references.make(TrainGame(name="python:tests.engine.rl_game:Signals", settings={"first": 1}), 1)


def test_a_check_tries_every_start_at_both_ends() -> None:
    found = [each for each in check(LINE, battles=4) if each.check == "starts"]
    assert [(each.level, each.message) for each in found] == [
        ("ok", "its episodes begin where 2 settings say: x 0 to 10, wide 1 to 2"),
        ("warning", f"no episode begins with x 10 alone: {found[1].message.partition('alone: ')[2]}"),
        ("warning", f"no episode begins with wide 2 alone: {found[2].message.partition('alone: ')[2]}"),
    ]
    assert "before anybody moves" in found[1].message


def test_who_serves_a_game_without_starts_refuses_them() -> None:
    player = GamePlayer(entry_points.build("tests.engine.rl_game:Signals"))  # type: ignore[arg-type]
    assert player.introduction.spec.starts == ()
    said, _ = player.answer(_reset({"x": 1.0}))
    assert "there is no such setting" in getattr(said, "message", "")


def _reset(start: dict[str, float]) -> Decoded:
    return Decoded(Reset(id=1, deadline_ms=1000, start=start), {"seeds": SEEDS})


TASKS = [{"name": "near", "settings": {"x": 8.0}}, {"name": "far", "hard": True}]


def starts(game: str, *tasks: dict[str, Any]) -> StartsConfig:
    """A study of a program's starts, of 20 minibatches."""
    small = {"kind": "dqn", "warmup": 32, "minibatch": 8, "updates": 0.5, "network": {"policy": [8], "critic": [8]}}
    config = load({
        "kind": "starts", "game": game, "tasks": tasks, "learner": small, "iterations": 20, "checkpoint_every": 20,
        "evaluate_every": 0, "episodes": 4, "environments": 4, "pool": {"kind": "local"},
    })  # fmt: skip
    assert isinstance(config, StartsConfig)
    return config


def test_one_agent_learns_a_program_s_hard_start_from_an_easier_one(tmp_path: Path) -> None:
    found = list(run(starts(LINE, *TASKS), FolderStore(tmp_path)))
    assert isinstance(found[-1], Finished), found[-1]
    (last,) = [event.metrics for event in found if isinstance(event, Progressed)]
    assert last["iterations"] == 20
    assert last["task-1/length"] >= 2, "as far is the goal from the near start"
    assert {"task-1/success", "task-2/success"} < last.keys(), "both are evaluated at the end"


@pytest.mark.parametrize(
    ("game", "tasks", "said"),
    [
        (
            "python:tests.engine.rl_game:Signals", TASKS[1:],
            ("game.name: The game “tests.engine.rl_game:Signals” does not say where an episode begins",),
        ),
        (
            LINE, [TASKS[1], {"name": "a", "settings": {"x": 10.0}}, {"name": "b", "settings": {"y": 2}}],
            ("tasks.1: no episode can begin here: ", "tasks.2.settings.y: there is no such setting"),
        ),
    ],
)  # fmt: skip
def test_what_a_program_cannot_begin_is_said_at_its_place(
    game: str, tasks: list[dict[str, Any]], said: tuple[str, ...], tmp_path: Path
) -> None:
    (only,) = run(starts(game, *tasks), FolderStore(tmp_path))
    assert isinstance(only, Failed)
    assert all(each in only.message for each in said), only.message
