"""Starts the parts in order, starts again what dies, and stops them in order leaving nothing behind.

One thread, no signal handlers: signals are blocked and taken by ``sigtimedwait`` between two rounds of looking.
Every process the parts start is a descendant of this one (it adopts orphans), so a process whose own parent died is
seen here and ended: a search whose worker was killed, a simulator whose search was.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

from deploy.up import processes, valkey
from deploy.up.layout import CannotStart, Layout
from deploy.up.parts import Part
from engine.runtime import folders

STOP_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
STOP_ORDER = (("web",), ("prepare", "demo", "worker-jobs", "worker-quick", "reconciler"), ("ray",), ("redis",))
LONGEST_PAUSE = 15.0
SETTLED_AFTER = 30.0
FAILURES_BEFORE_MENDING, FAILURES_BEFORE_UP = 3, 5
LOG_BYTES = 5 * 2**20


def say(sentence: str) -> None:
    """Tell the person at the terminal, who may have closed it."""
    try:
        print(sentence, flush=True)
    except OSError:
        return


@dataclass
class Child:
    """What a part is doing: ``pid`` is 0 while it does not run; ``due`` is when it may start (again)."""

    part: Part
    pid: int = 0
    started: float = 0.0
    due: float = 0.0
    ready: bool = False
    failures: int = 0


class Supervisor:
    """Runs ``parts`` until a stop signal. Use from the main thread, once."""

    def __init__(
        self,
        layout: Layout,
        parts: list[Part],
        environment: dict[str, str],
        is_healthy: Callable[[], bool],
        on_up: Callable[[], None],
    ) -> None:
        self.layout = layout
        self.children = {part.name: Child(part) for part in parts}
        self.environment = environment
        self.is_healthy = is_healthy
        self.on_up = on_up
        self.up = False
        self.hurry = False
        self.noted = True
        self.roomy = True
        self.next_round = self.next_look = 0.0

    def run(self) -> None:
        """Start everything and keep it up; returns after the stop, raises ``CannotStart`` when a part will not run."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell starts background commands with it ignored
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS | {signal.SIGCHLD})
        processes.adopt_orphans()
        try:
            while not self._signalled(1.0 if self.up else 0.05):
                self._collect()
                self._start_due()
                self._look_ready()
                self._keep_house()
                if not self.up:
                    self._look_up()
        finally:
            self._stop()

    def _signalled(self, timeout: float) -> bool:
        taken = signal.sigtimedwait(STOP_SIGNALS | {signal.SIGCHLD}, timeout)
        return taken is not None and taken.si_signo in STOP_SIGNALS

    def _collect(self) -> None:
        """Take note of every process that ended."""
        by_pid = {child.pid: child for child in self.children.values() if child.pid}
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid in by_pid:
                self._ended(by_pid[pid], os.waitstatus_to_exitcode(status))

    def _ended(self, child: Child, code: int) -> None:
        part, lived = child.part, time.monotonic() - child.started
        was_ready, child.pid, child.ready = child.ready, 0, False
        for file in part.traces:
            file.unlink(missing_ok=True)
        if part.once and (code == 0 or part.aside):
            child.ready = True
            if code:
                say(self._explain(part, "did not succeed"))
            return
        if part.once:
            raise CannotStart(self._explain(part, "did not succeed"))
        child.failures = 0 if lived > SETTLED_AFTER else child.failures + 1
        if not self.up and child.failures >= FAILURES_BEFORE_UP and self.layout.roomy:
            raise CannotStart(self._explain(part, f"ended {child.failures} times"))
        pause = min(LONGEST_PAUSE, 0.1 * 2**child.failures) if child.failures else 0.0
        child.due = time.monotonic() + pause
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        say(f"{part.title} ended ({how}); starting it again.")
        if part.mend and not was_ready and child.failures == FAILURES_BEFORE_MENDING:
            say(part.mend() if self.layout.roomy else f"{part.title} waits for room on the disk.")

    def _explain(self, part: Part, what: str) -> str:
        log = self.layout.log(part.name)
        lines = log.read_text(errors="replace").strip().splitlines()[-12:]
        return "\n".join([f"{part.title} {what}. The last lines of {log}:", *(f"  {line}" for line in lines)])

    def _keep_house(self) -> None:
        """Once a second, for both look at many files."""
        if time.monotonic() >= self.next_round:
            self.next_round = time.monotonic() + 1.0
            self._end_orphans()
            self._bound_logs()
            self._mind_disk()
            if not self.noted:
                self._note()

    def _mind_disk(self) -> None:
        """While the disk is full, Redis must not refuse work because it cannot write it down."""
        roomy = self.layout.roomy
        if roomy != self.roomy:
            say("There is room on the disk again." if roomy else f"The disk is full: free some of {self.layout.var}.")
            self.roomy = roomy
        redis = self.children.get("redis")
        if redis is not None and redis.ready:
            valkey.write_down(self.layout.redis_socket, roomy)

    def _end_orphans(self) -> None:
        own = {child.pid for child in self.children.values()}
        orphans = [each.pid for each in processes.children(os.getpid()) if each.pid not in own and each.state != "Z"]
        processes.kill(orphans)

    def _start_due(self) -> None:
        now = time.monotonic()
        for child in self.children.values():
            part = child.part
            waiting = not child.pid and not (part.once and child.ready) and now >= child.due
            if waiting and all(self.children[name].ready for name in part.needs):
                self._start(child, now)

    def _start(self, child: Child, now: float) -> None:
        log = self.layout.log(child.part.name)
        try:
            child.pid = processes.start(child.part.command, self.environment, log, child.part.descriptors)
        except OSError as error:  # no room for its log, no memory, too many processes: perhaps later
            child.due = now + LONGEST_PAUSE
            say(f"{child.part.title} could not be started ({error.strerror}); trying again.")
            return
        child.started = now
        self._note()

    def _note(self) -> None:
        """Write down who runs, for people and for the next start; later, when the disk is full."""
        running = {child.part.name: child.pid for child in self.children.values() if child.pid}
        try:
            self.layout.remember(**{**self.layout.recall(), "parts": running})
            self.noted = True
        except OSError:
            self.noted = False

    def _look_ready(self) -> None:
        for child in self.children.values():
            if not child.pid or child.ready:
                continue
            child.ready = not child.part.once and child.part.ready()
            if not child.ready and time.monotonic() - child.started > child.part.patience:
                say(f"{child.part.title} was not ready after {child.part.patience:.0f} s.")
                processes.kill([child.pid])

    def _bound_logs(self) -> None:
        """Move a log that grew too large aside; its writers append, so they go on at the new beginning."""
        for child in self.children.values():
            log = self.layout.log(child.part.name)
            if log.exists() and log.stat().st_size > LOG_BYTES:
                older = log.with_suffix(".log.1")
                try:
                    shutil.copyfile(log, older)
                except OSError:  # no room to keep both
                    older.unlink(missing_ok=True)
                os.truncate(log, 0)

    def _look_up(self) -> None:
        now = time.monotonic()
        if now < self.next_look:
            return
        self.next_look = now + 0.25
        if all(child.ready or child.part.aside for child in self.children.values()) and self.is_healthy():
            self.up = True
            self.on_up()

    def _stop(self) -> None:
        """Ask the parts to end, in order and each with its grace; then end every process that is left."""
        say("Stopping.")
        for names in STOP_ORDER:
            self._stop_parts([self.children[name] for name in names if name in self.children])
        run = self.environment[processes.MARK]
        processes.kill(processes.descendants(os.getpid()))
        processes.sweep(run)
        self._reap()
        folders.sweep_all()  # of studies that were ended and could not remove their own

    def _stop_parts(self, children: list[Child]) -> None:
        running = [child for child in children if child.pid]
        for child in running:
            processes.kill([child.pid], child.part.stop_signal)
        deadline = time.monotonic() + max((child.part.grace for child in running), default=0.0)
        while any(_alive(child.pid) for child in running):
            if self._signalled(0.05):
                self.hurry = True
                say("Stopping at once.")
            if self.hurry or time.monotonic() > deadline:
                processes.kill(child.pid for child in running)
                break
        self._reap()
        self._end_orphans()

    def _reap(self) -> None:
        """Collect what ended, without starting anything again."""
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    return
            except ChildProcessError:
                return


def _alive(pid: int) -> bool:
    found = processes.stat(pid)
    return found is not None and found.state != "Z"


def healthy(address: str) -> bool:
    """The site answers and says that every part is up."""
    try:
        with urllib.request.urlopen(address, timeout=3) as answer:
            return bool(json.load(answer)["ok"])
    except (OSError, ValueError):  # 503 is an OSError too
        return False
