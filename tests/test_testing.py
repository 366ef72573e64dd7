"""What continuous integration makes of tests that fail."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from deploy.up import testing
from tests import conftest

Ran = list[tuple[str, ...]]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ran:
    """The commands that were run, of which the first fails as pytest does when tests failed."""
    commands: Ran = []

    def run(command: tuple[str, ...]) -> int:
        commands.append(tuple(command))
        return testing.FAILED if len(commands) == 1 else 0

    monkeypatch.setattr(testing, "ROOT", tmp_path)
    monkeypatch.setattr(testing, "run", run)
    monkeypatch.setenv("CI", "true")
    return commands


def leave(folder: Path, *names: str) -> None:
    kept = folder / ".pytest_cache" / "v" / "cache" / "lastfailed"
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps(dict.fromkeys(names, True)))


def test_a_test_that_fails_beside_others_and_passes_alone_is_named_and_fails_nothing(
    ran: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leave(tmp_path, "tests/a.py::test_a")
    assert testing.suite([]) == 0
    assert [command[2] for command in ran] == ["-n", "--last-failed"]
    assert "to be mended: tests/a.py::test_a" in capsys.readouterr().out


def test_many_failures_are_no_accident(ran: Ran, tmp_path: Path) -> None:
    leave(tmp_path, *(f"tests/a.py::test_{i}" for i in range(testing.FEW + 1)))
    assert testing.suite([]) == testing.FAILED
    assert len(ran) == 1


@pytest.mark.parametrize(("arguments", "first"), [([], "tests.compile_first"), (["tests/test_words.py"], "pytest")])
def test_what_most_tests_need_is_compiled_before_all_of_them_and_not_for_one_file(
    ran: Ran, tmp_path: Path, arguments: list[str], first: str
) -> None:
    testing.whole(arguments)
    assert ran[0][1] == first
    assert ran[-1][1] == "pytest"


def test_whoever_develops_sees_the_failure_at_once(ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI")
    leave(tmp_path, "tests/a.py::test_a")
    assert testing.suite([]) == testing.FAILED
    assert len(ran) == 1


def test_a_run_that_ended_otherwise_is_not_repeated(ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave(tmp_path, "tests/a.py::test_a")
    monkeypatch.setattr(testing, "run", lambda command: 3)
    assert testing.suite([]) == 3


@pytest.mark.parametrize(("tests", "linters", "code"), [(0, 0, 0), (0, 1, 1), (5, 0, 1), (5, 1, 1)])
def test_whatever_linters_or_tests_find_fails_and_what_linters_say_is_told_after_the_tests(
    tests: int, linters: int, code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def work() -> int:
        print("the tests", flush=True)
        return tests

    python = testing.subprocess.Popen
    says = f"print('the linters'); raise SystemExit({linters})"
    monkeypatch.setattr(testing.subprocess, "Popen", lambda command, **more: python([command[0], "-c", says], **more))
    assert testing.beside_linters(work) == code
    assert capfd.readouterr().out == "the tests\nthe linters\n"


def test_what_the_quick_tests_leave_out_is_there() -> None:
    here = Path(__file__).parent
    named = [here / folder / f"test_{name}.py" for folder, names in conftest.SLOW_FILES.items() for name in names]
    assert not [file for file in named if not file.is_file()]


def test_the_quick_tests_start_no_ray(tmp_path: Path) -> None:
    """Files that import what starts it are found by that, and no other file of the engine's runs anything on it."""
    engine = Path(__file__).parent / "engine"
    quick = [path for path in sorted(engine.glob("test_*.py")) if not conftest.is_slow(path)]
    asks = re.compile(r"pool=(\{\"kind\": \"ray\"|RAY\b)|\bray\.init\b|\bload_ray\(\)|\bconnected\(workers")
    assert [path.name for path in quick if asks.search(path.read_text(encoding="utf-8"))] == []
    assert conftest.is_slow(engine / "test_gossip_ray.py")
    fresh = tmp_path / "test_fresh.py"
    fresh.write_text("from tests.contracts.ray_server import ray_server\n")
    assert conftest.is_slow(fresh)
    fresh.write_text("from tests.contracts.algorithm import drive\n")
    assert not conftest.is_slow(fresh)


def test_the_longest_files_are_there_and_come_first() -> None:
    files = [Path(__file__).parent / f"{name}.py" for name in conftest.LONGEST]
    assert all(file.is_file() for file in files)
    others = [SimpleNamespace(path=Path(__file__)), *(SimpleNamespace(path=file) for file in reversed(files))]
    conftest.pytest_collection_modifyitems(others)
    assert [item.path for item in others] == [*files, Path(__file__)]


def test_files_in_a_browser_come_one_after_another_so_that_a_process_starts_it_once() -> None:
    files = sorted(Path(__file__).parent.glob("*/test_*.py"))
    items = [SimpleNamespace(path=file) for file in files]
    conftest.pytest_collection_modifyitems(items)
    browsers = [item.path.parent.name == "browser" for item in items]
    first = browsers.index(True)
    assert all(browsers[first : first + sum(browsers)])
