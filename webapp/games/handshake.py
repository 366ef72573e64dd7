"""The handshake test: the conformance check of a simulator, in a process of its own, its answer kept line by line.

The site asks for it and a worker of the ``quick`` queue runs it, so neither a page nor a night job waits for it, and
a simulator that hangs, floods or crashes does it to that process alone.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from engine.errors import ConfigError
from engine.lineups.schema import spec_from_json
from engine.simulators.contract import GameSpec
from webapp.accounts.models import User
from webapp.games.models import Simulator
from webapp.games.simulators import record
from webapp.games.specs import keep
from workers.app import enqueue

DEADLINE, REQUEST_DEADLINE, BATTLES = 180.0, 60, 8
"""Seconds for the whole check, seconds for one message, battles a promise is tried on."""
MOST_LINES, LONGEST_LINE = 200, 4 * 2**20
Described = GameSpec | dict[str, Any] | None
"""A game of lineups, or one for agents as plain JSON."""
_STALE = timedelta(seconds=DEADLINE + 30)


def ask(simulator: Simulator) -> bool:
    """Note that a test is wanted. False while one is under way already."""
    free = Simulator.objects.filter(pk=simulator.pk).exclude(pk__in=under_way())
    asked = free.update(
        test=Simulator.Test.ASKED, test_at=timezone.now(), findings=[], message="", status=Simulator.Status.UNTESTED
    )
    return asked == 1


def ask_a_worker(simulator: Simulator, user: User) -> None:
    """Ask for a test and send for a worker, unless one is under way."""
    if not ask(simulator):
        return
    record(simulator, "asked for a test", user)
    if not enqueue("handshake", simulator.pk):
        give_up(simulator, "The queue does not answer, so the test was not started. Try again in a minute.")


def under_way() -> Any:
    """The simulators whose test is asked for or running, and not so old that its worker must have died."""
    recent = Simulator.objects.filter(test_at__gt=timezone.now() - _STALE)
    return recent.exclude(test=Simulator.Test.NONE).values("pk")


def built_in_and_unknown() -> list[Simulator]:
    """The built-in games of which it is not known whether they can be played here, or could not be the last time."""
    unknown = Q(checked_at=None) | Q(status=Simulator.Status.MISSING)
    return list(Simulator.objects.filter(unknown, kind=Simulator.Kind.BUILTIN))


def give_up(simulator: Simulator, message: str) -> None:
    """The test that was asked for will not take place."""
    Simulator.objects.filter(pk=simulator.pk).update(test=Simulator.Test.NONE, message=message)


def run(pk: int, deadline: float = DEADLINE) -> bool:
    """Run the test that was asked for, and keep what it says. False when nobody asked, or somebody runs it."""
    asked = Simulator.objects.filter(pk=pk, test=Simulator.Test.ASKED)
    began = timezone.now()
    if asked.update(test=Simulator.Test.RUNNING, test_at=began) != 1:
        return False
    simulator = Simulator.objects.get(pk=pk)
    mine = Simulator.objects.filter(pk=pk, test=Simulator.Test.RUNNING, test_at=began)
    findings: list[dict[str, str]] = []
    described: Described = None
    for line in _lines(simulator.reference, deadline):
        if "spec" in line or "game" in line:
            described, problem = _described(line)
            if not problem:
                continue
            line = {"level": "error", "check": "description", "message": problem}
        findings.append({key: str(line.get(key, ""))[:1000] for key in ("level", "check", "message")})
        if len(findings) <= MOST_LINES:
            mine.update(findings=findings)
    mine.update(test=Simulator.Test.NONE, checked_at=timezone.now(), **_verdict(findings[:MOST_LINES], described))
    return True


def _described(line: dict[str, Any]) -> tuple[Described, str]:
    """What the program describes, and what is wrong with that."""
    if isinstance(line.get("game"), dict):
        return line["game"], ""
    try:
        return spec_from_json(line.get("spec")), ""
    except ConfigError as error:
        return None, str(error)


def _verdict(findings: list[dict[str, str]], described: Described) -> dict[str, Any]:
    """The simulator's new state. A broken one keeps its last good description: versions were made for it."""
    errors = [f for f in findings if f["level"] == "error"]
    missing = next((f for f in errors if f["check"] == "installation"), None)
    changes: dict[str, Any] = {"findings": findings}
    if missing is not None:
        return {**changes, "status": Simulator.Status.MISSING, "message": missing["message"]}
    if errors or described is None:
        message = errors[0]["message"] if errors else "The check ended before the simulator described its game."
        return {**changes, "status": Simulator.Status.BROKEN, "message": message}
    sort = _of_lineups(described) if isinstance(described, GameSpec) else _by_moves(described, findings)
    return {**changes, "status": Simulator.Status.READY, **sort}


def _by_moves(game: dict[str, Any], findings: list[dict[str, str]]) -> dict[str, Any]:
    said = next((f["message"] for f in findings if f["check"] == "description"), "")
    message = f"Played move by move, so agents can be trained in it. {said}."
    return {"by_moves": True, "message": message, "version": str(game.get("version", ""))[:40]}


def _of_lineups(spec: GameSpec) -> dict[str, Any]:
    digest = keep(spec)
    return {
        "by_moves": False,
        "message": f"{len(spec.pieces)} pieces, {len(spec.slots)} slots, {len(spec.side_metrics)} numbers a side.",
        "version": spec.version[:40],
        "spec": msgspec.to_builtins(spec),
        "spec_hash": digest,
    }


def _lines(reference: str, deadline: float) -> Iterator[dict[str, Any]]:
    """What the check prints, as it prints it; nothing of it is left running afterwards."""
    limits = [f"--battles={BATTLES}", f"--deadline={min(REQUEST_DEADLINE, deadline):g}"]
    command = [sys.executable, "-m", "engine", "check-simulator", "--json", *limits, reference]
    environment = {k: v for k, v in os.environ.items() if k not in _SECRETS}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=settings.BASE_DIR,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            yield from _read(process, deadline)
        finally:
            _end(process)


_SECRETS = frozenset({"EQUIPOISE_SECRET_KEY", "DATABASE_URL", "REDIS_URL"})


def _read(process: subprocess.Popen[bytes], deadline: float) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    descriptor, rest, until = process.stdout.fileno(), b"", time.monotonic() + deadline
    while (left := until - time.monotonic()) > 0:
        if not select.select([descriptor], [], [], left)[0]:
            break
        chunk = os.read(descriptor, 65536)
        if not chunk:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (found for line in lines if (found := _decoded(line)))
        if len(rest) > LONGEST_LINE:
            yield {"level": "error", "check": "answer", "message": "The check printed a line without an end."}
            return
    yield {
        "level": "error",
        "check": "deadline",
        "message": f"The check did not end within {deadline:.0f} s and was stopped. See whether the simulator hangs.",
    }


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError:
        return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """The check and whatever it started: they share a process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
