"""A whole site for a test: its own folder, port and processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deploy.up import processes
from deploy.up.layout import ROOT, Layout

PATIENCE = 300.0
"""Seconds to wait for something that must happen: far beyond what it takes, for tests must not depend on speed."""
LOOK_S = 0.3
"""Seconds between two looks at the health page."""


def until(condition: Callable[[], Any], what: str, pause: float = 0.05) -> Any:
    """Wait for ``condition``, looking every ``pause`` seconds, and give its first true value."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(pause)
    raise AssertionError(f"waited {PATIENCE:.0f} s for {what}")


def free_port() -> int:
    """A port that nobody uses at present."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class WholeSite:
    """``python -m deploy.up`` with runtime data in ``var``, and no demo project unless ``EQUIPOISE_DEMO`` is 1."""

    def __init__(self, var: Path, **environment: str) -> None:
        self.layout = Layout(var.resolve())
        self.port = free_port()
        own = {"VAR": str(var), "PORT": str(self.port), "EQUIPOISE_DEMO": "0", "RAY_worker_niceness": "0"}
        self.environment = {**os.environ, **own, **environment}  # searches that yield are slow beside other tests
        # What the tests' own settings put there must not reach the site under test.
        for name in ("EQUIPOISE_VAR", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "DATABASE_URL"):
            self.environment.pop(name, None)
        self.process: subprocess.Popen[str] | None = None
        self.run = ""
        self.output = var.resolve().with_name(f"{var.name}.output")

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def launch(self) -> subprocess.Popen[str]:
        """Start without waiting."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "deploy.up"],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=self.output.open("w"),
            stderr=subprocess.STDOUT,
            text=True,
        )
        return self.process

    @property
    def said(self) -> str:
        """What the latest start has said so far."""
        return self.output.read_text()

    def start(self) -> WholeSite:
        """Start and wait until every part is up; one that does not come up is no burden for the tests after it."""
        process = self.launch()
        try:
            until(lambda: self.healthy() or process.poll() is not None, "the site to be up", LOOK_S)
        except AssertionError:
            self.kill()
            raise
        assert process.poll() is None, self.said
        self.run = str(self.layout.recall()["run"])
        return self

    def refuse(self) -> str:
        """Start expecting a refusal; gives what it said."""
        done = subprocess.run(
            [sys.executable, "-m", "deploy.up"],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 1, done.stdout
        return done.stderr

    def health(self) -> dict[str, Any]:
        """What the health page says; empty when nothing answers."""
        try:
            with urllib.request.urlopen(f"{self.address}health/", timeout=10) as answer:
                return dict(json.load(answer))
        except urllib.error.HTTPError as error:
            return dict(json.load(error))
        except OSError:
            return {}

    def healthy(self) -> bool:
        return bool(self.health().get("ok"))

    def until_healthy(self) -> None:
        """Wait for it. Each look costs the site a page, so there are few."""
        until(self.healthy, "the site to be whole", LOOK_S)

    def pid(self, part: str) -> int:
        """The process id of a part; 0 while it does not run."""
        return int(self.layout.recall().get("parts", {}).get(part, 0))

    def processes(self) -> list[int]:
        """Every process that the site started."""
        return processes.marked(self.run)

    def kill(self) -> None:
        """Kill the supervisor as a power cut would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop in order."""
        assert self.process is not None
        self.process.send_signal(number)
        assert self.process.wait(timeout=PATIENCE) == 0, self.said
