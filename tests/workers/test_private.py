"""Runtime data is closed to the other users of the machine, also what earlier versions left open (``test_supervisor``
looks at a running site)."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from deploy.up import private
from deploy.up.__main__ import close_to_others
from deploy.up.layout import ROOT, Layout

OF_VAR = re.compile(r'(?:VAR\)? ?[/,]|self\.var /) ?"([\w.-]+)"')
"""Where the code names a part of the folder for runtime data."""


def open_to_others(var: Path) -> dict[str, str]:
    """Whatever somebody else of this machine may do anything with, and its mode."""
    found = [var, *var.rglob("*")]
    modes = {str(path.relative_to(var)): path.lstat().st_mode for path in found if not path.is_symlink()}
    return {name: oct(stat.S_IMODE(mode)) for name, mode in modes.items() if mode & 0o077}


@pytest.fixture
def careless() -> Iterator[None]:
    """The person at the terminal lets everybody read what their programs write."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def left_open(var: Path) -> None:
    """A folder as earlier versions made it."""
    for name in ("store/ab", "jobs/job-1", "redis/appendonlydir", "redis-unreadable-20261101-101010", "tmp", "log",
                 "cache/explore/1/abc"):  # fmt: skip
        (var / name).mkdir(parents=True, exist_ok=True)
    for name in ("store/ab/cdef", "jobs/job-1/config.json", "log/web.log", "log/web.log.1", "demo-passwords.json",
                 "cache/explore/1/abc/core.arrays"):  # fmt: skip
        (var / name).write_text("{}")
        (var / name).chmod(0o644)
    (var / "jobs/job-1/play").write_text("#!/bin/sh\n")
    (var / "jobs/job-1/play").chmod(0o755)
    for folder in [var, *(path for path in var.rglob("*") if path.is_dir())]:
        folder.chmod(0o755)


def test_every_part_of_the_folder_that_the_code_names_is_closed_at_a_start() -> None:
    settings_and_folders = [*(ROOT / "webapp").rglob("*.py"), ROOT / "deploy/up/layout.py"]
    named = {name for path in settings_and_folders for name in OF_VAR.findall(path.read_text(encoding="utf-8"))}
    assert {"cache", "db.sqlite3", "secret", "store", "run", "demo-passwords.json"} <= named
    assert not {name for name in named if not any(fnmatch(name, pattern) for pattern in private.OURS)}


def test_programs_stay_programs_and_files_outside_stay_as_they_are(tmp_path: Path) -> None:
    var, outside = tmp_path / "var", tmp_path / "outside"
    left_open(var)
    outside.write_text("somebody's own")
    (var / "jobs/link").symlink_to(outside)
    (var / "thesis.txt").write_text("somebody's own")
    for path in (outside, var / "thesis.txt"):
        path.chmod(0o644)
    assert private.close(var) == []
    assert stat.S_IMODE((var / "jobs/job-1/play").stat().st_mode) == 0o700
    assert stat.S_IMODE((var / "store/ab").stat().st_mode) == 0o700
    assert stat.S_IMODE((var / "store/ab/cdef").stat().st_mode) == 0o600
    assert {stat.S_IMODE(path.stat().st_mode) for path in (outside, var / "thesis.txt")} == {0o644}
    assert stat.S_IMODE(var.stat().st_mode) == 0o700


def _said_at_the_start(var: Path, capsys: pytest.CaptureFixture[str]) -> str:
    close_to_others(Layout(var))
    return capsys.readouterr().out


def test_a_folder_of_ours_that_was_open_to_all_and_sticky_becomes_private(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    var = tmp_path / "var"
    left_open(var)
    var.chmod(0o1777)
    assert _said_at_the_start(var, capsys) == ""
    assert stat.S_IMODE(var.stat().st_mode) == 0o700


def test_a_folder_that_is_meant_for_all_stays_so_and_the_start_says_what_others_can_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    left_open(tmp_path)
    tmp_path.chmod(0o1777)
    monkeypatch.setattr(private, "SHARED", (str(tmp_path),))
    assert "can create names" in _said_at_the_start(tmp_path, capsys)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700


def test_a_part_of_the_folder_that_lies_on_another_disk_is_closed_too(tmp_path: Path) -> None:
    var, disk = tmp_path / "var", tmp_path / "disk"
    disk.mkdir()
    (disk / "artifact").write_text("{}")
    (disk / "artifact").chmod(0o644)
    var.mkdir()
    (var / "store").symlink_to(disk)
    private.close(var)
    assert stat.S_IMODE((disk / "artifact").stat().st_mode) == 0o600


def test_a_command_run_by_hand_makes_a_private_folder(tmp_path: Path, careless: None) -> None:
    environment = {**os.environ, "EQUIPOISE_VAR": str(tmp_path / "var"), "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    environment.pop("DATABASE_URL", None)
    subprocess.run([sys.executable, "manage.py", "migrate"], cwd=ROOT, env=environment, check=True, capture_output=True)
    assert (tmp_path / "var" / "db.sqlite3").exists()
    assert open_to_others(tmp_path / "var") == {}
