"""``python -m engine gate`` as a build runs it: exit codes, files, interruptions."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from defusedxml import ElementTree

from tests.engine.conftest import Engine

ROOT = Path(__file__).parents[2]
GATE = ("gate", "gate.yaml", "--job-dir", "job", "--junit", "gate.xml", "--csv", "gate.csv")


class Build:
    """A folder of a build server with a gate in it."""

    def __init__(self, folder: Path, engine: Engine) -> None:
        self.folder, self._engine = folder, engine

    def write(self, **more: Any) -> None:
        (self.folder / "gate.yaml").write_text(yaml.safe_dump(more), encoding="utf-8")

    @property
    def program(self) -> list[str]:
        return [sys.executable, "-m", "engine", *GATE]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(ROOT)}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self._engine(*GATE, *words, folder=self.folder)

    def suite(self) -> Any:
        return ElementTree.parse(self.folder / "gate.xml").getroot().find("testsuite")

    def lines(self) -> list[dict[str, str]]:
        with (self.folder / "gate.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


@pytest.fixture
def build(tmp_path: Path, engine: Engine) -> Build:
    return Build(tmp_path, engine)


PLANTED = "builtin:herobattle-planted:1"
STRONG = {"hero": "briar-huntress", "skill": "root-grasp", "equipment_1": "priory-bandages"}
"""Pieces that PLANTED makes too good."""
WEAK = {"hero": "dusk-piper", "skill": "shield-hymn", "equipment_1": "hearth-charm"}
REST = {"equipment_2": "barbed-net", "soldiers_1": "riders", "count_1": 7}
SEARCH = {"algorithm": {"population": 16}, "ticks": 10, "fresh": 2, "replicates": 8}


def herobattle(simulator: str = "builtin:herobattle", **more: Any) -> dict[str, Any]:
    """A gate on the built-in game that plays an exploit again: who holds planted pieces wins far more often."""
    wins = {"name": "wins", "title": "Wins", "formula": "strongest(win) - weakest(win)", "threshold": 0.2}
    return {
        "game": {"simulator": simulator}, "pool": {"kind": "local"}, "search": None, "screen": None, "replicates": 200,
        "lineups": {"teams": 2, "cost_tolerance": None}, "objectives": {"objectives": [wins]},
        "exploits": [{"name": "Huntress", "teams": [{"slots": {**STRONG, **REST}}, {"slots": {**WEAK, **REST}}]}],
        **more,
    }  # fmt: skip


def test_a_build_with_broken_pieces_is_over_the_line(build: Build) -> None:
    build.write(**herobattle(PLANTED))
    done = build.run()
    assert done.returncode == 3, done.stderr
    sentence, *lines = done.stdout.splitlines()
    assert sentence == "Over the line: 1 of 1 earlier exploit is still over the line."
    exploit, met = lines
    assert exploit.split()[:2] == ["over", "Huntress:"]
    assert met.startswith("Earlier exploits meet the baseline teams that this gate drew. ")
    suite = build.suite()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    whole, row = build.lines()
    assert (whole["part"], whole["verdict"], row["name"], row["verdict"]) == ("gate", "over", "Huntress", "over")
    assert float(row["low"]) > float(row["line"])


def test_a_build_without_them_is_under_it_and_is_told_again_without_playing(build: Build) -> None:
    build.write(**herobattle())
    done = build.run()
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("Under the line, as far as this gate looked: 1 earlier exploit. ")
    assert build.suite().get("failures") == "0"
    again = build.run()
    assert (again.returncode, again.stdout, again.stderr) == (0, done.stdout, "")
    other = build.run("-m", "replicates=201")
    assert other.returncode == 2
    assert "holds another gate" in other.stderr


def test_a_tiny_budget_cannot_tell_and_says_which_battles_are_missing(build: Build) -> None:
    build.write(**herobattle(replicates=4))
    done = build.run()
    assert done.returncode == 4, done.stdout
    assert "more battles" in done.stdout
    (skipped,) = build.suite().findall("testcase/skipped")
    assert "more battles" in skipped.get("message")


def test_numbers_of_the_build_are_what_is_played(build: Build) -> None:
    build.write(**herobattle())
    (build.folder / "balance.json").write_text(json.dumps({"briar-huntress": {"hit_points": 1200}}))
    done = build.run("--data", "balance.json")
    assert done.returncode == 3, done.stdout
    played = json.loads((build.folder / "job" / "study.json").read_text())
    assert played["game"]["patch"] == {"briar-huntress.hit_points": 1200.0}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "replicates=1"), "replicates: must be 2 or more"),
        (("-m", "kind=search"), "kind: must be gate"),
        (("--data", "nowhere.csv"), "--data: nowhere.csv cannot be read"),
        (("--data", "bad.csv"), "data.B3: 'x' is no number"),
        (("--junit", "no/where.xml"), "--junit: no/where.xml cannot be written"),
    ],
)
def test_what_cannot_be_done_as_asked_ends_with_two(build: Build, words: tuple[str, ...], said: str) -> None:
    build.write(**herobattle())
    (build.folder / "bad.csv").write_text("path,value\nwarhorn.cots,1\nwarhorn.cost,x\n")
    done = build.run(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not done.stdout
    if words[0] != "--junit":
        assert build.suite().get("errors") == "1"


def rounds(build: Build) -> int:
    """How many rounds of it are over."""
    path = build.folder / "job" / "events.jsonl"
    return path.read_bytes().count(b'"kind":"progressed"') if path.exists() else 0


def interrupted(build: Build, number: int) -> int:
    """Sent the signal once some rounds are over; its exit code."""
    with subprocess.Popen(
        build.program, cwd=build.folder, env=build.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        while rounds(build) < 4 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(number)
        process.communicate()
    return process.returncode


def test_a_gate_that_was_killed_goes_on_and_comes_to_the_same_verdict(
    build: Build, tmp_path: Path, engine: Engine
) -> None:
    build.write(**herobattle(search=SEARCH))
    assert interrupted(build, signal.SIGKILL) == -signal.SIGKILL
    resumed = build.run()
    assert "Resumed" in resumed.stderr
    (tmp_path / "whole").mkdir()
    whole = Build(tmp_path / "whole", engine)
    whole.write(**herobattle(search=SEARCH))
    done = whole.run()
    assert (resumed.returncode, resumed.stdout) == (done.returncode, done.stdout)
    assert build.lines() == whole.lines()


def test_a_gate_that_is_told_to_stop_lets_no_build_pass_and_can_go_on(build: Build) -> None:
    build.write(**herobattle(search=SEARCH))
    assert interrupted(build, signal.SIGTERM) == 4
    assert "the search is not over" in build.suite().find("system-out").text
    done = build.run()
    assert "Resumed" in done.stderr
    assert "not over" not in done.stdout


def test_whoever_stops_reading_ends_it_as_run_does(build: Build) -> None:
    build.write(**herobattle(replicates=4))
    command = " ".join(build.program)
    done = subprocess.run(
        ["bash", "-c", f"exec 3> >(exec 0<&-; sleep 0); sleep 0.3; {command} >&3 2>/dev/null; echo $?"],
        cwd=build.folder, env=build.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "141"
    assert (build.folder / "gate.xml").exists()
