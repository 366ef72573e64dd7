"""The parts of a running site as processes of their own, on the database of the test, to be killed one by one."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from django.conf import settings

from deploy.up import valkey
from tests.processes import environment

PATIENCE = 120.0


def until(true: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Wait for something that must come true; looks often, and fails with what it waited for."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain until {what}"
        time.sleep(0.05)


def celery(queue: str, slots: int) -> list[str]:
    options = f"-Q {queue} -n {queue}@test -c {slots} --without-gossip --without-mingle -l WARNING"
    return [sys.executable, "-m", "celery", "-A", "workers.app", "worker", *options.split()]


class Site:
    """Redis, both workers and the reconciler. ``start`` and ``kill`` take a part's name."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.socket = folder, folder / "redis.sock"
        (folder / "redis").mkdir()
        self.commands = {
            "redis": valkey.command(folder / "redis", self.socket),
            "jobs": celery("jobs", 2),
            "quick": celery("quick", 1),
            "reconciler": [sys.executable, "manage.py", "reconcile", "--every", "0.5"],
        }
        self.environment = {**environment(f"unix://{self.socket}?db=0"), "EQUIPOISE_JOB_SLOTS": "2"}
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, *names: str) -> None:
        for name in names or self.commands:
            with (self.folder / f"{name}.log").open("ab") as log:
                self.running[name] = subprocess.Popen(
                    self.commands[name],
                    cwd=settings.BASE_DIR,
                    env=self.environment,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            if name == "redis":
                until(lambda: valkey.answers(self.socket), "Redis answers")

    def kill(self, name: str) -> None:
        """SIGKILL, and see that it died."""
        part = self.running.pop(name)
        part.kill()
        assert part.wait(30) == -signal.SIGKILL

    def empty_redis(self) -> None:
        """Everything Redis kept is gone; only while it is not running."""
        for file in sorted((self.folder / "redis").rglob("*"), reverse=True):
            file.unlink() if file.is_file() else file.rmdir()

    def stop(self) -> None:
        for part in self.running.values():
            with contextlib.suppress(psutil.NoSuchProcess):
                for child in psutil.Process(part.pid).children(recursive=True):
                    with contextlib.suppress(psutil.NoSuchProcess):
                        child.kill()
            part.kill()
            part.wait()
        self.running.clear()

    def logs(self) -> str:
        return "\n".join(f"--- {log.name}\n{log.read_text()[-4000:]}" for log in sorted(self.folder.glob("*.log")))
