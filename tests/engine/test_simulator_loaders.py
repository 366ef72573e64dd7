"""One function from a reference to a simulator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.errors import ConfigError, SimulatorError
from engine.simulators import loaders
from engine.simulators.client import ExternalSimulator
from engine.simulators.random_teams import random_teams
from tests.engine.leftovers import new_mark, none_left
from tests.engine.sample_simulators import SPEC, team_rows

SAMPLE = "python:tests.engine.sample_simulators:TugOfWar"


@pytest.mark.parametrize(
    ("reference", "kind", "target", "in_process"),
    [
        ("builtin:herobattle", "builtin", "herobattle", True),
        ("builtin:herobattle-planted:5", "builtin", "herobattle", True),
        ("builtin:wesnoth", "builtin", "wesnoth", False),
        ("python:game.sim:make", "python", "game.sim:make", False),
        ("command:game --port 5", "command", "game", False),
        ('command:["my game", "--fast"]', "command", "my game", False),
    ],
)
def test_a_reference_is_taken_apart_without_starting_anything(
    reference: str, kind: str, target: str, in_process: bool
) -> None:
    parsed = loaders.describe_reference(reference)
    assert (parsed.kind, parsed.target, parsed.in_process) == (kind, target, in_process)
    assert parsed.summary


@pytest.mark.parametrize(
    "reference",
    [
        "", "herobattle", "builtin:chess", "builtin:herobattle:3", "builtin:herobattle-planted:", "python:os.system",
        "builtin:herobattle-planted:-1", "python:a b:c", "python:a:b()", "python::", "command:", "command:[1]",
        "command:[]", "command:'unclosed", "tcp://host:1", "command:['x']",
    ],
)  # fmt: skip
def test_a_malformed_reference_says_how_one_looks(reference: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaders.load(reference)
    assert caught.value.problems[0].place == "simulator"


def test_builtin_games_run_in_this_process_and_planting_changes_them() -> None:
    plain, planted = loaders.load("builtin:herobattle"), loaders.load("builtin:herobattle-planted:1")
    assert not isinstance(plain, ExternalSimulator)
    assert plain.describe().name == "herobattle"
    spec = plain.describe()
    teams = random_teams(spec, 2000, np.random.default_rng(1))
    seeds = np.arange(1000, dtype=np.uint64)
    results = [game.battles(teams[:1000], teams[1000:], seeds, {}) for game in (plain, planted)]
    assert (results[0].side != results[1].side).any()


def test_python_and_command_simulators_run_in_processes_of_their_own() -> None:
    command = f"command:{sys.executable} -m engine.simulators.serve tests.engine.sample_simulators:TugOfWar"
    for reference in (SAMPLE, command):
        with loaders.opened(reference) as simulator:
            assert isinstance(simulator, ExternalSimulator)
            assert simulator.describe() == SPEC
            assert simulator.pid != os.getpid()
            rows = team_rows(3)
            assert len(simulator.battles(rows, rows, np.arange(3, dtype=np.uint64), {}).status) == 3
            pid = simulator.pid
        assert not Path(f"/proc/{pid}").exists()


def test_loading_a_python_simulator_does_not_import_it_here() -> None:
    code = (
        "import sys; from engine.simulators import loaders; loaders.load('python:tests.engine.bad_simulators:Moving');"
        "assert 'tests.engine.bad_simulators' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_game_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EQUIPOISE_WESNOTH_DATA", str(tmp_path))
    found = loaders.availability("builtin:wesnoth")
    assert not found.available
    assert "not installed" in found.reason
    assert found.install.startswith("sudo apt-get install --no-install-recommends wesnoth-1.16")
    with pytest.raises(SimulatorError, match="Install it with: sudo apt-get install") as caught:
        loaders.load("builtin:wesnoth")
    assert caught.value.permanent
    assert loaders.availability("builtin:herobattle").available


def test_a_command_that_does_not_exist_is_unavailable() -> None:
    assert not loaders.availability("command:no-such-game").available


def test_serving_without_an_engine_ends_with_a_sentence() -> None:
    def serve(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "engine.simulators.serve", *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    unknown = serve("tests.engine.sample_simulators:Nobody", "--connect", "ipc:///tmp/nobody")
    assert (unknown.returncode, "cannot be loaded" in unknown.stderr) == (1, True)
    other = serve("os:system", "--connect", "ipc:///tmp/nobody")
    assert other.returncode == 1
    assert other.stderr.startswith("os:system raised TypeError: system() missing")
    assert other.stderr.count("\n") == 1
    assert serve("tests.engine.sample_simulators:TugOfWar").returncode == 2


def test_importing_the_server_is_light() -> None:
    code = (
        "import sys, engine.simulators.serve;"
        "heavy = {'numba','scipy','torch','ray','pymoo','pydantic'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_marks_are_found() -> None:
    mark = new_mark()
    nap = subprocess.Popen([sys.executable, "-c", "input()"], env=os.environ | mark, stdin=subprocess.PIPE)
    assert not none_left(mark, within_s=0.1)
    nap.communicate(b"\n")
    assert none_left(mark)
