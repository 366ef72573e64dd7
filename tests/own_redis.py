"""A Redis-compatible server of a test's own, to be stopped in the middle of its work."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

from deploy.up import valkey


class OwnRedis:
    """The server of ``folder``, up and empty."""

    def __init__(self, folder: Path) -> None:
        self.listener = folder / "redis.sock"
        self.process = subprocess.Popen(valkey.command(folder, self.listener), stdout=subprocess.DEVNULL)
        while not valkey.answers(self.listener):
            assert self.process.poll() is None
            time.sleep(0.01)

    @property
    def url(self) -> str:
        return f"unix://{self.listener}?db=0"

    def freeze(self) -> None:
        """From now on it takes connections and never answers."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
