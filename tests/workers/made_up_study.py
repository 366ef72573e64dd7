"""A study that speaks the engine's command line and event contract, and misbehaves as its study.json says.

Its "search" is a chain of hashes, so a run that was interrupted ends like an undisturbed one or visibly differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from engine import events
from engine.store import FolderStore


class Study:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.plan: dict[str, Any] = json.loads(Path(arguments.job_dir, "study.json").read_text())["made_up"]
        self.attempt, self.store, self.out = arguments.attempt, FolderStore(arguments.store), arguments.events
        self.state = json.loads(self.store.get(arguments.resume)) if arguments.resume else {"tick": 0, "chain": ""}
        self.checkpoint, self.asked = arguments.resume or "", 0
        for number in (signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, self._remember)

    def _remember(self, number: int, frame: object) -> None:
        if not self.plan.get("deaf"):
            self.asked = number

    def say(self, event: events.AnyEvent) -> None:
        self.raw(events.encode(event))

    def raw(self, line: bytes) -> None:
        data = line + b"\n"
        while data:
            data = data[os.write(self.out, data) :]

    def keep(self, role: str) -> str:
        return self.store.put(json.dumps({"role": role, **self.state}, sort_keys=True).encode())

    def common(self) -> dict[str, Any]:
        counters = events.Counters(evaluations=8 * self.state["tick"], battles=64 * self.state["tick"])
        return {"tick": self.state["tick"], "counters": counters, "at": time.time()}

    def round(self) -> None:
        chain = f"{self.state['chain']}{self.state['tick']}"
        self.state = {"tick": self.state["tick"] + 1, "chain": hashlib.sha256(chain.encode()).hexdigest()}
        self.checkpoint = self.store.put(json.dumps(self.state, sort_keys=True).encode())
        artifacts = {"front": self.keep("front"), "chunk": self.keep("chunk"), "checkpoint": self.checkpoint}
        self.say(events.Progressed(metrics={"evaluated": 8.0, "over": 3.0}, artifacts=artifacts, **self.common()))
        if self.plan.get("again"):
            self.say(events.Progressed(metrics={"evaluated": 8.0, "over": 3.0}, artifacts=artifacts, **self.common()))

    def misbehave(self) -> None:
        """What the plan says for this round of this attempt."""
        for deed in self.plan.get("deeds", []):
            if deed["tick"] == self.state["tick"] and deed.get("attempt", self.attempt) == self.attempt:
                getattr(self, deed["do"])(deed)

    def die(self, deed: dict[str, Any]) -> None:
        print("the last words of a study", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    def write(self, deed: dict[str, Any]) -> None:
        self.raw(deed["line"].encode())

    def talk(self, deed: dict[str, Any]) -> None:
        for i in range(deed["times"]):
            self.say(events.Logged(message=f"message {i}", **self.common()))

    def say_words(self, deed: dict[str, Any]) -> None:
        self.say(events.Logged(message=deed["message"], **self.common()))

    def beat(self, deed: dict[str, Any]) -> None:
        """A part of the round is played."""
        common = self.common()
        counters = events.Counters(evaluations=8 * self.state["tick"] + 3, battles=64 * self.state["tick"] + 24)
        arrived = self.keep("arrived") if deed.get("arrived") else ""
        self.say(events.Logged(message="", arrived=arrived, **{**common, "counters": counters}))

    def fail(self, deed: dict[str, Any]) -> None:
        self.say(events.Failed(error="SimulatorError", message=deed["message"], permanent=deed["permanent"]))
        sys.exit(2)

    def promise(self, deed: dict[str, Any]) -> None:
        self.say(events.Progressed(metrics={}, artifacts={"checkpoint": "0" * 64}, **self.common()))

    def adopt(self, deed: dict[str, Any]) -> None:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(deed["note"]).write_text(str(child.pid))

    def run(self) -> None:
        ticks = self.plan.get("ticks", 10)
        started = events.Started(
            workers=1, pool="local", ticks=ticks, battles=64 * ticks, resumed=bool(self.checkpoint)
        )
        self.say(started)
        while self.state["tick"] < ticks:
            self.misbehave()
            if self.asked:
                return self.leave()
            time.sleep(self.plan.get("pace", 0.0))
            self.round()
        artifacts = {"front": self.keep("front"), "archive": self.keep("archive"), "checkpoint": self.checkpoint}
        self.say(
            events.Finished(
                artifacts=artifacts, summary={"chain": self.state["chain"], "confirmed": 2.0}, **self.common()
            )
        )

    def leave(self) -> None:
        if self.asked == signal.SIGUSR1:
            self.say(
                events.Paused(artifacts={"checkpoint": self.checkpoint} if self.checkpoint else {}, **self.common())
            )
        else:
            artifacts = {"front": self.keep("front"), "archive": self.keep("archive")}
            self.say(events.Stopped(reason="signal", artifacts=artifacts, **self.common()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--events", type=int)
    for option in ("--job-dir", "--store", "--resume"):
        parser.add_argument(option)
    for option in ("--job", "--attempt"):
        parser.add_argument(option, type=int)
    Study(parser.parse_args()).run()
