"""``python -m engine plan``: what a course amounts to before it starts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from engine.config.arena_plan import plan
from engine.config.first_rounds import CourseSpeed, SecondsRange
from engine.plan_command import lines
from engine.store import FolderStore
from engine.study import run
from tests.engine.conftest import Engine
from tests.engine.test_arena import PPO, course, lesson

FOUR = {name: PPO for name in (1, 2, 3, 4)}
PAPER = [lesson([1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4], title="Everybody", steps=4000, times=2)]
UNTIL = {"policy": 1, "measure": "win", "reaches": 0.7, "of": 100}


def written(config: Any, folder: Path) -> str:
    """A course as a file."""
    file = folder / "course.json"
    file.write_text(json.dumps(config.model_dump(mode="json")))
    return str(file)


def test_it_says_what_each_lesson_amounts_to_and_plays_nothing_where_no_times_are_wanted(
    engine: Engine, tmp_path: Path
) -> None:
    ends = [*PAPER, lesson([1, 2], steps=2000, until=UNTIL)]
    there: dict[str, Any] = {"copies": 2, "pool": {"kind": "ray"}}
    course_ = course(FOUR, ends, tournament={"kind": "round-robin", "episodes": 4}, **there)
    done = engine("plan", written(course_, tmp_path), "--no-times")
    assert done.returncode == 0, done.stderr
    first, second, tournament, whole, processes = done.stdout.splitlines()
    assert re.fullmatch(r"Lesson 1 “Everybody”, 2 times: [0-9,]+ decisions, [0-9]+ updates, 24 battles at once", first)
    assert re.fullmatch(r"Lesson 2: [0-9,]+ decisions at most, [0-9]+ updates, 4 battles at once", second)
    assert tournament == "Tournament: 6 pairs of 4 players"
    assert whole == f"In all: 3 lessons, {course_.steps:,} decisions at most"
    assert processes == (
        "AI Arena would start 36 processes for that: 12 environments and 24 workers; here 2 processes play, and one "
        "learns"
    )
    assert not done.stderr


def test_by_a_few_rounds_it_says_how_long_everything_takes_and_keeps_none_of_them(
    engine: Engine, tmp_path: Path
) -> None:
    before = written(course(FOUR, PAPER), tmp_path)
    done = engine("plan", before)
    assert done.returncode == 0, done.stderr
    assert "Playing a few rounds of each lesson" in done.stderr
    first, whole, processes = done.stdout.splitlines()
    assert re.search(r"(about [0-9.]+|[0-9.]+ to [0-9.]+) (s|min|h)$", first), first
    assert re.search(r"(about [0-9.]+|[0-9.]+ to [0-9.]+) (s|min|h)$", whole), whole
    assert processes.endswith("; here one process plays and learns")
    assert [*map(str, tmp_path.iterdir())] == [before]


def test_a_store_that_is_named_gives_saved_agents_and_keeps_nothing_of_first_rounds(
    engine: Engine, tmp_path: Path
) -> None:
    there = FolderStore(tmp_path / "store")
    whole = list(run(course({1: PPO, 3: "random"}, [lesson([1, 3], steps=256)]), there))
    saved = whole[-1].artifacts["policy_description"]  # type: ignore[union-attr]
    before = sorted((tmp_path / "store").rglob("*"))
    study = course({1: PPO, "old": {"kind": "frozen", "policy": saved}}, [lesson([1, "old"], steps=4000)])
    done = engine("plan", written(study, tmp_path), "--store", str(tmp_path / "store"))
    assert done.returncode == 0, done.stderr
    assert re.search(r"(s|min|h)$", done.stdout.splitlines()[0])
    assert sorted((tmp_path / "store").rglob("*")) == before
    lost = engine("plan", written(study, tmp_path), "--store", str(tmp_path / "elsewhere"))
    assert lost.returncode == 2
    assert saved[:12] in lost.stderr


def test_first_rounds_last_until_replays_have_something_to_learn_from(engine: Engine, tmp_path: Path) -> None:
    one = {"learner": {"kind": "dqn", "warmup": 5000, "minibatch": 16, "network": {"policy": [8], "critic": [8]}}}
    study = course({1: one, 2: one, 3: one}, [lesson([1, 2], [2, 3], [3, 1], steps=300_000)], environments=1)
    done = engine("plan", written(study, tmp_path))
    assert done.returncode == 0, done.stderr
    assert re.search(r"(s|min|h)$", done.stdout.splitlines()[0])


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (1.2, 1.3, "about 1 s"), (50, 119, "50 to 119 s"), (50, 121, "1 to 2 min"),
        (7000, 7300, "1.9 to 2.0 h"),
    ],
)  # fmt: skip
def test_both_ends_of_a_time_are_in_the_unit_of_the_longer_one(least: float, most: float, said: str) -> None:
    study = course({1: PPO, 3: "random"}, [lesson([1, 3], steps=1000)])
    (only,) = [one.pace.decisions for one in plan(study)]
    speed = CourseSpeed({}, SecondsRange(least / only, most / only), 0.0, None)
    first, *_ = lines(study, speed)
    assert first.endswith(f", {said}")


def test_another_kind_of_study_has_no_plan(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "study.json"
    file.write_text(json.dumps({"kind": "train", "game": "pong", "learner": "ppo"}))
    done = engine("plan", str(file))
    assert done.returncode == 2
    assert "kind: must be arena, not 'train': only a course has a plan" in done.stderr
