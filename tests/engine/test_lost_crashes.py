"""Crashes of programs that play many battles at once: which battle is tried, how often, and what is said of those that
no replay shows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine import cli
from engine.config.hunt import MOST_MESSAGES, lost_crashes
from engine.errors import SimulatorError
from engine.evorl.findings import Bug, Findings
from engine.evorl.replays import Replays
from engine.evorl.revived import Revived
from engine.evorl.watched import CRASHES, MOST_TRIED, Oracles, Watched
from engine.games.maze import Maze
from engine.mdp.interface import Array
from engine.mdp.vector import VectorStep
from tests.engine.test_hunt import settings

ORACLES = Oracles(stuck_after=1000)
STAY, GO = 0, 1
"""Actions at the beginning of the maze: into a wall, and to the next cell."""


class Breaking:
    """A maze whose every second step ends by an error that says ``said``."""

    def __init__(self, said: str) -> None:
        self.maze, self.said, self.steps = Maze(), said, 0
        self.spec = self.maze.spec

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        return self.maze.reset(seeds)

    def step(self, actions: Sequence[Array]) -> VectorStep:
        self.steps += 1
        if self.steps % 2 == 0:
            raise SimulatorError(self.said)
        return self.maze.step(actions)

    def close(self) -> None:
        pass


class Tried:
    """Notes which battles are tried; only the ``guilty`` one shows its bug again. ``most``: so many are tried, then no
    decisions are left."""

    def __init__(self, guilty: int = -1, most: float = np.inf) -> None:
        self.guilty, self.most, self.battles = guilty, most, list[int]()

    def __call__(self, bug: Bug, found: Findings) -> bool | None:
        if len(self.battles) >= self.most:
            return None
        self.battles.append(bug.seed // 2)
        return bug.seed == 2 * self.guilty


def crash(said: str, battles: int, tried: Tried, found: Findings, *, move: int = STAY) -> None:
    """All of so many battles do the same and are at the same place when the program crashes."""
    seen = Watched(Revived(Breaking(said)), ORACLES, found, tried)
    seen.reset(2 * np.arange(battles, dtype=np.uint64))  # battles with even seeds begin alike
    for _ in range(2):
        seen.step([np.full(battles, move)])


def test_the_battle_that_a_crash_names_is_tried_first() -> None:
    found, tried = Findings(), Tried(guilty=5)
    crash("maze could not play ACTIONS of 8 battles: Maze, battle 5: step raised ValueError: no", 8, tried, found)
    (bug,) = found.bugs.values()
    assert tried.battles == [5]
    assert (bug.seed, bug.what) == (10, "maze could not play ACTIONS: Maze: step raised ValueError: no")
    assert not found.lost


@pytest.mark.parametrize("said", ["battle 3 broke", "battle 80 broke", "battle 4000000000 broke", "it broke"])
def test_where_a_crash_names_another_battle_or_none_the_others_are_tried(said: str) -> None:
    found, tried = Findings(), Tried(guilty=5)
    crash(said, 8, tried, found)
    assert [bug.seed for bug in found.bugs.values()] == [10]
    assert tried.battles == ([3, 0, 1, 2, 4, 5] if "battle 3" in said else [0, 1, 2, 3, 4, 5])


def test_of_very_many_battles_only_so_many_are_tried_and_after_three_crashes_in_vain_only_every_second_time() -> None:
    found, tried = Findings(), Tried()
    for _ in range(CRASHES + 6):
        crash("it broke", MOST_TRIED + 50, tried, found)
    assert Counter(tried.battles) == dict.fromkeys(range(MOST_TRIED), CRASHES + 3)
    assert found.lost == found.partial == {"it broke": CRASHES + 6}
    assert not found.bugs
    assert not found.untried


def test_the_battle_that_a_crash_names_is_tried_however_many_crashes_were_in_vain() -> None:
    found, tried = Findings(), Tried()
    for _ in range(CRASHES + 6):
        crash("it broke, battle 2", 8, tried, found)
    assert Counter(tried.battles) == {b: CRASHES + 6 if b == 2 else CRASHES + 3 for b in range(8)}
    assert found.partial == {"it broke": 3}


@pytest.mark.parametrize("battles", [8, 64])
def test_a_bug_is_found_in_the_end_where_crashes_by_chance_came_first(battles: int) -> None:
    found = Findings()
    for _ in range(40):
        crash("it broke", battles, Tried(), found)
    for _ in range(2):
        crash("it broke", battles, Tried(guilty=battles - 1), found)
    (bug,) = found.bugs.values()
    assert bug.seed == 2 * (battles - 1)


def test_a_crash_elsewhere_or_with_another_message_is_tried_whatever_was_lost_before() -> None:
    found, tried = Findings(), Tried()
    for _ in range(CRASHES + 1):
        crash("it broke", 4, tried, found)
    for said, move in (("it broke", GO), ("it froze", STAY)):
        guilty = Tried(guilty=1)
        crash(said, 4, guilty, found, move=move)
        assert guilty.battles == [0, 1]
    assert [bug.what for bug in found.bugs.values()] == ["it broke", "it froze"]


def test_a_known_bug_is_counted_as_seen_where_a_replay_shows_it_also_where_others_were_lost() -> None:
    found = Findings()
    for _ in range(CRASHES + 1):
        crash("it broke", 4, Tried(), found)
    for guilty in (2, -1, 3):
        crash("it broke", 4, Tried(guilty), found, move=GO)
    assert [(bug.seed, bug.seen) for bug in found.bugs.values()] == [(4, 2)]
    assert found.lost == {"it broke": CRASHES + 2}


def test_where_no_decisions_are_left_a_known_bug_takes_the_crashes_of_a_battle_that_is_known_only() -> None:
    found = Findings()
    crash("it broke", 4, Tried(guilty=2), found)
    for _ in range(2):
        crash("it broke", 4, Tried(most=0), found)
    assert [bug.seen for bug in found.bugs.values()] == [1]
    crash("it broke, battle 2", 4, Tried(most=0), found)
    assert [bug.seen for bug in found.bugs.values()] == [2]
    assert found.lost == found.partial == {"it broke": 2}
    assert not found.untried


@pytest.mark.parametrize(("said", "battles", "kept"), [("battle 5 broke", 8, 10), ("broke", 1, 0), ("broke", 8, None)])
def test_a_crash_that_no_decisions_are_left_to_show_is_kept_only_where_its_battle_is_known(
    said: str, battles: int, kept: int | None
) -> None:
    found = Findings()
    crash(said, battles, Tried(most=0), found)
    assert [bug.seed for bug in found.untried.values()] == ([] if kept is None else [kept])
    assert found.lost.total() == found.partial.total() == (kept is None)


def test_a_crash_in_vain_costs_one_replay_and_one_that_shows_all_of_them() -> None:
    for game, replays in ((Maze(), 1), (Breaking("broke"), 3)):
        found, alone = Findings(), Revived(game)
        seen = Watched(Revived(Breaking("broke")), ORACLES, found, Replays(lambda battles, alone=alone: alone, ORACLES))
        seen.reset(np.zeros(1, np.uint64))
        for _ in range(2):
            seen.step([np.zeros(1, np.int64)])
        assert found.checked == 2 * replays
        assert len(found.bugs) == (replays == 3)
        seen.reset(np.zeros(1, np.uint64))
        for _ in range(2):
            seen.step([np.zeros(1, np.int64)])
        assert found.checked == 2 * (replays + 1), "one replay tells whether it was the bug that is known"
        assert [bug.seen for bug in found.bugs.values()] == [2] * (replays == 3)


def test_what_was_lost_is_kept_and_adds_up() -> None:
    found = Findings()
    for _ in range(CRASHES):
        crash("it broke", 2, Tried(), found)
    again, together = Findings.unpacked(found.pack()), Findings()
    tried = Tried()
    crash("it broke", 2, tried, again)
    assert not tried.battles, "also what was tried in vain is kept"
    for each in (found, again, Findings.unpacked(again.pack())):
        together.add(each)
    assert together.lost == {"it broke": 3 * CRASHES + 2}
    assert together.partial == {"it broke": 2}


def test_sentences_on_lost_crashes_say_how_often_with_which_message_and_what_was_not_replayed() -> None:
    assert not lost_crashes({}, {})
    assert lost_crashes({"no": 1, "out of memory": 1200}, {"out of memory": 1100}) == [
        "The game crashed 1,200 times with the message “out of memory”, and no replay showed those crashes again. "
        "After 1,100 of them, not every battle was replayed.",
        "The game crashed once with the message “no”, and no replay showed that crash again.",
    ]
    assert lost_crashes({"no": 1}, {"no": 1}) == [
        "The game crashed once with the message “no”, and no replay showed that crash again. After it, not every "
        "battle was replayed."
    ]
    rare = {f"at {i}": 1 for i in range(MOST_MESSAGES + 2)}
    *_, last = lost_crashes(rare, dict.fromkeys([*rare][-1:], 1))
    said = "With other messages it crashed 2 times, and no replay showed those crashes again."
    assert last == f"{said} After 1 of them, not every battle was replayed."


def hunt_of(game: str, folder: Path) -> str:
    """The file of a hunt by chance in a game that crashes."""
    aims = [{"measure": "return"}, {"measure": "places", "low": 0}]
    task = {"game": f"python:tests.engine.crashing_game:{game}", "environments": 4}
    study = settings(task=task, objectives=aims, method="random", oracles={"stuck_after": 1000})
    (folder / "hunt.json").write_text(json.dumps(study))
    return str(folder / "hunt.json")


def test_the_command_line_says_which_crashes_no_replay_showed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = hunt_of("Moody", tmp_path)
    said = "The game crashed "
    for command in (["run", asked, "--job-dir"], ["replay-bug"]):
        assert cli.main([*command, str(tmp_path / "job")]) == 0
        *_, last = capsys.readouterr().out.splitlines()
        assert last.startswith(said)
        assert "RuntimeError: in no mood”, and no replay showed those crashes again." in last


def test_a_crash_whose_message_is_another_one_each_time_is_one_bug_that_shows_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = hunt_of("Rambling", tmp_path)
    assert cli.main(["run", asked, "--job-dir", str(tmp_path / "job")]) == 0
    capsys.readouterr()
    assert cli.main(["replay-bug", str(tmp_path / "job")]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert "no stair after <object object at …> at …, number …" in line
    assert "It showed in 3 of 3 replays" in line
