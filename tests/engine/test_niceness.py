"""A process that is nice stays so beside processes of other sessions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.runtime import niceness

OWN = os.getpriority(os.PRIO_PROCESS, 0)
HOME = Path(niceness.__file__).parents[2]
REPORT = """
import os, sys
from engine.runtime import niceness
os.nice(int(sys.argv[1]))
before = os.getsid(0)
niceness.apply_to_session()
niceness.apply_to_session()
group = niceness.AUTOGROUP.read_text().split() if niceness.AUTOGROUP.exists() else []
print(os.getsid(0) == os.getpid(), os.getsid(0) == before, group[-1] if group else "no group")
"""


def report(nice: int, script: str = REPORT, **how: Any) -> str:
    """Whether a process leads its session, whether that is the one it came from, and its group's niceness."""
    command = [sys.executable, "-c", script, str(nice)]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False, **how)
    assert not done.stderr
    return done.stdout.strip()


def group_of_this_process() -> str:
    """Its niceness; a session that is as old as the machine belongs to no group, and the kernel's file is empty."""
    group = niceness.AUTOGROUP.read_text().split() if niceness.AUTOGROUP.exists() else []
    return group[-1] if group else "no group"


def group_of_a_new_session(nice: int) -> str:
    """That of a process with this much niceness more than this one."""
    return str(OWN + nice) if niceness.AUTOGROUP.exists() else "no group"


def test_a_nice_process_gets_a_session_as_nice_as_itself() -> None:
    assert report(7) == f"True False {group_of_a_new_session(7)}"


def test_a_nice_process_that_leads_its_session_stays_there() -> None:
    assert report(7, start_new_session=True) == f"True True {group_of_a_new_session(7)}"


def test_a_process_that_is_not_nice_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(niceness.os, "getpriority", lambda *_: 0)
    monkeypatch.setattr(niceness.os, "setsid", lambda: pytest.fail("it left"))
    niceness.apply_to_session()


def test_a_nice_process_that_leads_a_group_of_processes_leaves_it() -> None:
    assert report(7, process_group=0) == f"True False {group_of_a_new_session(7)}"


def test_a_process_whose_parent_is_of_another_session_changes_nobodys() -> None:
    with subprocess.Popen(["sleep", "3600"], start_new_session=True) as stranger:
        script = REPORT.replace("before =", f"os.getppid = lambda: {stranger.pid}; before =")
        try:
            found = report(7, script, process_group=0)
        finally:
            stranger.kill()
    assert found == f"False True {group_of_this_process()}"


def test_a_process_whose_parent_has_ended_changes_nobodys() -> None:
    with subprocess.Popen(["true"]) as parent:
        parent.wait()
    script = REPORT.replace("before =", f"os.getppid = lambda: {parent.pid}; before =")
    assert report(7, script, process_group=0) == f"False True {group_of_this_process()}"


def test_a_kernel_without_such_groups_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(niceness, "AUTOGROUP", tmp_path / "none" / "autogroup")
    monkeypatch.setattr(niceness.os, "getpriority", lambda *_: 5)
    monkeypatch.setattr(niceness.os, "setsid", lambda: None)
    monkeypatch.setattr(niceness.os, "setpgid", lambda *_: None)
    niceness.apply_to_session()


def test_a_change_that_the_kernel_refuses_for_now_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = [BlockingIOError(), BlockingIOError()]
    written: list[str] = []

    class Group:
        """Takes the third change."""

        def write_text(self, text: str) -> None:
            """As the kernel does."""
            if refusals:
                raise refusals.pop()
            written.append(text)

    monkeypatch.setattr(niceness, "AUTOGROUP", Group())
    monkeypatch.setattr(niceness, "_PAUSE_S", 0.0)
    monkeypatch.setattr(niceness.os, "getpriority", lambda *_: 5)
    monkeypatch.setattr(niceness.os, "setsid", lambda: None)
    monkeypatch.setattr(niceness.os, "setpgid", lambda *_: None)
    niceness.apply_to_session()
    assert written == ["5"]
