"""One process of the installed game that plays battle after battle; takes work as files and prints results as lines."""

from __future__ import annotations

import os
import queue
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NoReturn

from engine.errors import SimulatorError
from engine.simulators.adapters.wesnoth import arena, installation
from engine.simulators.process import ReapedProcess
from engine.text import printable

ADDON = Path(__file__).with_name("addon")
START_S = 60.0
BATTLE_S = 30.0
MOST_MEMORY = 700 * 2**20
"""Bytes of memory after which the game is restarted: it records every move of every battle (about 1 MB each)."""

_ARGUMENTS = (
    "--nogui", "--nosound", "--nomusic", "--multiplayer", "--scenario=equipoise", "--controller", "1:ai",
    "--controller", "2:ai", "--exit-at-end",
)  # fmt: skip
_VARIABLES = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "en",
    "SDL_VIDEODRIVER": "dummy",
    "SDL_AUDIODRIVER": "dummy",
    # The game spends a third of its time in malloc; larger per-thread caches give a fifth of the whole back.
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=2000:glibc.malloc.tcache_max=4096",
}


class GameLines:
    """Reads the game's output in a thread: puts the add-on's lines into a queue and keeps the last few others."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.lines: queue.SimpleQueue[list[str] | None] = queue.SimpleQueue()
        self._kept: deque[str] = deque(maxlen=12)
        self.script_error = ""
        self._thread = threading.Thread(target=self._read, name="wesnoth-output", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._stream:
            for raw in self._stream:
                line = raw[:20_000].decode("utf-8", "replace").rstrip("\n")
                if line.startswith("EQ\t"):
                    self.lines.put(line.split("\t")[1:])
                elif line and "audio:" not in line:
                    self._kept.append(line)
                    if "error scripting/lua" in line:
                        self.script_error = line
                        self.lines.put(None)
        self.lines.put(None)

    def text(self, wait_s: float = 0.0) -> str:
        """The last lines that were not the add-on's; first waits up to ``wait_s`` for the end of the output."""
        self._thread.join(wait_s)
        return "\n".join(self._kept)


class Game:
    """The installed game, started with our add-on in a user data folder of its own.

    ``catalog`` holds the lines it printed about its units, traits and artifacts. Raises SimulatorError when the game
    does not start; permanent when it is not installed.
    """

    def __init__(self) -> None:
        program = installation.program()
        reason = installation.missing()
        if program is None or reason:
            raise SimulatorError(f"{reason}. Install it with: {installation.INSTALL}", permanent=True)
        self._home = Path(tempfile.mkdtemp(prefix="wesnoth-"))
        self._folder = self._home / "data" / "add-ons" / "equipoise"
        shutil.copytree(ADDON, self._folder)
        (self._folder / "arena.map").write_text(arena.map_data())
        os.mkfifo(self._folder / "gate")
        self._idle = False
        command = [str(program), "--userdata-dir", str(self._home), *_ARGUMENTS]
        self._process = ReapedProcess(command, _VARIABLES, self._home, GameLines)
        self.catalog: list[list[str]] = []
        self._read_catalog()

    def _read_catalog(self) -> None:
        until = time.monotonic() + START_S
        while not self._idle:
            line = self._next(until, f"did not start within {START_S:g} s")
            self._idle = line[0] == "idle"
            self.catalog.append(line)

    def play(self, work: str, battles: int) -> Iterator[tuple[int, list[str]]]:
        """Play the battles described in ``work`` (see ``addon/battles.lua``): (number, fields) as each one ends.

        Raises SimulatorError when the game ends, reports a script error, or takes longer than ``BATTLE_S`` for one.
        """
        (self._folder / "work").write_text(work)
        self._open_gate()
        self._idle = False
        for _ in range(battles):
            line = self._next(time.monotonic() + BATTLE_S, f"did not finish a battle within {BATTLE_S:g} s")
            yield int(line[1]), line[2:]
        self._idle = self._next(time.monotonic() + BATTLE_S, "did not come to rest")[0] == "idle"

    def _open_gate(self) -> None:
        """Open the pipe on which the game waits; the game may not have opened its end yet."""
        until = time.monotonic() + BATTLE_S
        while True:
            try:
                os.close(os.open(self._folder / "gate", os.O_WRONLY | os.O_NONBLOCK))
                return
            except OSError:
                if self._process.exit_code() is not None or time.monotonic() > until:
                    self._fail("does not take new battles")
                time.sleep(0.001)

    def _next(self, until: float, missing: str) -> list[str]:
        output = self._process.output
        try:
            line = output.lines.get(timeout=max(until - time.monotonic(), 0.0))
        except queue.Empty:
            self._fail(missing)
        if line is None and output.script_error:
            self._fail("reports a script error: " + output.script_error)
        if line is None:
            self._fail(self._process.exit_text() if self._process.wait(2.0) else "closed its output")
        return line

    def _fail(self, what: str) -> NoReturn:
        self.close()
        printed = printable(self._process.output.text(0.5), 800, lines=True, last=True)
        raise SimulatorError(f"the game {what}." + (f" It printed last: {printed}" if printed else ""))

    def worn_out(self) -> bool:
        """Whether the game uses so much memory that a restart is due."""
        return self._process.memory() > MOST_MEMORY

    def close(self) -> None:
        """End the game and remove its folder. Safe to call twice and from another thread."""
        self._process.kill()
        shutil.rmtree(self._home, ignore_errors=True)
