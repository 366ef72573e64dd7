"""Making and mending ``.venv``, and the sentences for what can go wrong."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.up import bootstrap, layout
from deploy.up.bootstrap import CannotInstall


@pytest.fixture
def venv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for a virtual environment that is not the project's own."""
    folder = tmp_path / ".venv"
    monkeypatch.setattr(bootstrap, "VENV", folder)
    monkeypatch.setattr(bootstrap, "PYTHON", folder / "bin" / "python")
    monkeypatch.setattr(bootstrap, "LOG", folder / "install.log")
    return folder


def test_a_half_made_environment_is_noticed_and_made_anew(venv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # What is left when the first start is interrupted: the folder is there, pip is not.
    (venv / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (venv / "bin" / "python").symlink_to(sys.executable)
    assert not bootstrap.works()
    assert not bootstrap.complete("base")
    bootstrap.make("base")
    assert bootstrap.works()
    assert "half made" in capsys.readouterr().out


def test_packages_are_compiled_when_they_are_imported_and_not_all_before_the_first_page(
    venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    class Pip:
        def __init__(self, command: list[str], **options: object) -> None:
            asked.append(command)

        def wait(self, seconds: float) -> int:
            return 0

    (venv / "bin").mkdir(parents=True)
    monkeypatch.setattr(bootstrap.subprocess, "run", lambda *arguments, **options: None)
    monkeypatch.setattr(bootstrap.subprocess, "Popen", Pip)
    bootstrap.install("base")
    assert "--no-compile" in asked[0]
    became: list[dict[str, str]] = []
    monkeypatch.setattr(bootstrap, "ensure", lambda kind, check: None)
    monkeypatch.setattr(bootstrap.os, "execv", lambda *command: became.append(dict(bootstrap.os.environ)))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    bootstrap.main("run", [])
    assert "PYTHONDONTWRITEBYTECODE" not in became[0], "each process would compile what it imports, again and again"


def test_a_folder_that_is_no_environment_is_left_alone(venv: Path) -> None:
    venv.mkdir()
    (venv / "thesis.txt").write_text("years of work")
    with pytest.raises(CannotInstall, match="not a virtual environment"):
        bootstrap.make("base")
    assert (venv / "thesis.txt").exists()


def test_nothing_is_missing_from_the_environment_of_the_tests() -> None:
    assert bootstrap.missing("test") == []


def test_a_package_of_another_version_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "base.txt").write_text("# comment\nnumpy==1.0.0\nno-such-package==1.0\n")
    monkeypatch.setattr(bootstrap, "REQUIREMENTS", tmp_path)
    assert bootstrap.missing("base") == ["numpy==1.0.0", "no-such-package==1.0"]


def test_a_package_whose_files_are_gone_is_missing_and_can_be_installed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "hollow-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: hollow\nVersion: 1.0\n")
    (record / "RECORD").write_text("hollow/__init__.py,,\nhollow-1.0.dist-info/RECORD,,\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert bootstrap.missing("test") == ["hollow"]
    bootstrap.forget_damaged()
    assert not record.exists()
    assert bootstrap.missing("test") == []


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "The disk is full"),
        (
            "WARNING: NewConnectionError('Failed to establish a new connection')\n"
            "ERROR: No matching distribution found for numpy==2.4.6",
            "The package index could not be reached",
        ),
        ("ERROR: No matching distribution found for ray==2.60.0", "There is no built ray==2.60.0 for this machine"),
        ("Killed", "pip failed; remove .venv and start again"),
    ],
)
def test_why_pip_gave_up_is_a_sentence(log: str, sentence: str) -> None:
    assert bootstrap.explain(log).startswith(sentence)


def test_a_full_disk_is_a_sentence(venv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bootstrap.MEGABYTES, "base", 10**9)
    with pytest.raises(CannotInstall, match=r"is full .* MB needed\). Make room"):
        bootstrap.make("base")
    with pytest.raises(layout.CannotStart, match=r"The disk that holds .* is full .* make run VAR="):
        layout.require_space(tmp_path, 2**60)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("PORT", "", r"Port \d+ is taken by another program.* make run PORT="),
        ("LISTEN", "my-laptop", "LISTEN is “my-laptop”"),
    ],
)
def test_a_setting_that_cannot_be_met_is_a_sentence_before_anything_is_installed(
    venv: Path,
    name: str,
    value: str,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("VAR", str(venv.parent / "var"))
        monkeypatch.setenv(name, value or str(taken.getsockname()[1]))
        assert bootstrap.main("run", []) == 1
    told = capsys.readouterr()
    assert re.search(f"Equipoise cannot start. {sentence}", told.err)
    assert told.out == ""
    assert not venv.exists()


def test_a_site_that_runs_already_is_named_before_anything_is_installed(
    venv: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site = layout.Layout(venv.parent / "var")
    monkeypatch.setenv("VAR", str(site.var))
    site.run.mkdir(parents=True)
    with layout.only_instance(site):
        assert bootstrap.main("run", []) == 1
    assert f"Equipoise runs already on {site.var}" in capsys.readouterr().err
    assert not venv.exists()


def test_a_python_without_venv_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "find_spec", lambda name: None)
    with pytest.raises(CannotInstall, match=r"apt install python3.11-venv"):
        bootstrap.check_machine("run")


def test_another_python_is_a_sentence(tmp_path: Path) -> None:
    # Only Pythons of another version on the path: this one calls itself 3.10.
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    start = layout.ROOT / "deploy" / "up" / "start.sh"
    tools = {tool: Path(f"/usr/bin/{tool}") for tool in ("dirname", "sh")}
    for tool, path in tools.items():
        (tmp_path / tool).symlink_to(path)
    done = subprocess.run([start, "run"], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "needs Python 3.11" in done.stderr
    assert "make run PYTHON=/path/to/python3.11" in done.stderr


def test_a_short_folder_of_somebody_else_is_not_trusted(tmp_path: Path) -> None:
    planted = tmp_path / "eqp"
    planted.symlink_to(tmp_path)
    with pytest.raises(layout.CannotStart, match="not a private folder"):
        layout.make_private(planted)
