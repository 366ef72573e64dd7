"""What somebody writes of a study is read as it stands: neither true nor a text is a number, and no number is true."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from engine.errors import ConfigError
from engine.studies import load

GAME = {"simulator": "builtin:herobattle"}
SCRIPT = {"kind": "scripted", "player": "random"}
STUDIES: dict[str, dict[str, Any]] = {
    "search": {"game": {**GAME, "patch": {"a.cost": 5.0}}, "stop": [{"kind": "battles"}]},
    "worth": {"game": GAME},
    "sample": {"game": GAME, "lineups": {"budget_low": 5, "units_low": 1}},
    "recheck": {"game": GAME, "genomes": [[[1, 2]]], "anchors": [[0, 1]]},
    "train": {"game": "pong", "learner": {"kind": "dqn"}},
    "evolve": {"task": {"game": "pong", "learner": {"kind": "ppo", "rate": [0.0001, 0.001]}}},
    "measure": {"game": "pong-two-seats", "agent": {"policy": "a" * 64}, "opponent": SCRIPT},
    "record": {
        "game": "pong-two-seats",
        "agents": [{"kind": "frozen", "policy": "a" * 64}, SCRIPT],
        "opponent": SCRIPT,
    },
    "arena": {
        "game": "pong-two-seats",
        "roster": {"a": {"learner": {"kind": "ppo"}}, "b": "random"},
        "lessons": [{"matches": [["a", "b"]], "steps": 10, "until": {"policy": "a"}}],
        "tournament": {},
    },
    "starts": {"game": "platform", "tasks": [{"name": "a", "settings": {"first": 2}}, {"name": "b", "hard": True}]},
    "evaluate": {"game": "pong-two-seats", "policies": {"a": SCRIPT, "b": SCRIPT}},
}
Path = tuple[str | int, ...]


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(each, (*path, key))
    else:
        yield path, value


def _with(value: Any, path: Path, new: Any) -> Any:
    found = deepcopy(value)
    at = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return found


@pytest.mark.parametrize("kind", STUDIES)
def test_true_stands_for_no_number_and_one_for_no_true_in_any_kind_of_study(kind: str) -> None:
    whole = load({"kind": kind, **STUDIES[kind]}).model_dump(mode="json")
    taken = [path for path, held in _numbers(whole) if _takes(whole, path, 1 if isinstance(held, bool) else True)]
    assert taken == []


@pytest.mark.parametrize("kind", STUDIES)
def test_no_text_stands_for_a_number_in_any_kind_of_study(kind: str) -> None:
    whole = load({"kind": kind, **STUDIES[kind]}).model_dump(mode="json")
    taken = [path for path, held in _numbers(whole) if _takes(whole, path, str(held).lower())]
    assert taken == []


def _numbers(whole: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    return ((path, held) for path, held in _leaves(whole) if isinstance(held, bool | int | float))


def _takes(whole: dict[str, Any], path: Path, value: Any) -> bool:
    """Whether a study takes the value at this place, or says something else of it."""
    try:
        load(_with(whole, path, value))
    except ConfigError as error:
        place = ".".join(map(str, path))
        return not any(place.startswith(problem.place) for problem in error.problems)
    return True


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ticks": True}, "ticks: must be a whole number, not 'true'"),
        ({"cache": 1}, "cache: must be true or false, not '1'"),
        ({"game": {**GAME, "patch": {"a.cost": False}}}, "game.patch.a.cost: must be a number, not 'false'"),
        ({"lineups": {"budget_low": True}}, "lineups.budget_low: must be a number, not 'true'"),
        ({"ticks": "100"}, "ticks: must be a number, without quotation marks: 100"),
        ({"ticks": "many"}, "ticks: must be a whole number, not 'many'"),
        (
            {"game": {**GAME, "patch": {"a.cost": " 5 "}}},
            "game.patch.a.cost: must be a number, without quotation marks: 5",
        ),
        ({"lineups": {"budget_low": "1e3"}}, "lineups.budget_low: must be a number, without quotation marks: 1e3"),
    ],
)
def test_what_is_mixed_up_is_said_at_its_place(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load({"kind": "search", "game": GAME, **change})
    assert words in str(raised.value)


def test_whole_numbers_may_still_be_written_with_a_point_and_settings_of_a_game_may_be_true() -> None:
    study: Any = load({"kind": "search", "game": GAME, "ticks": 20.0, "lineups": {"budget_low": 5}})
    assert (study.ticks, study.lineups.budget_low) == (20, 5.0)
    trained: Any = load({"kind": "train", "game": {"name": "pong", "settings": {"mirror": True}}})
    assert trained.game.settings == {"mirror": True}
