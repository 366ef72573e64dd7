"""The handshake test: the conformance check of a simulator, in a process of its own, its answer kept line by line.

The site asks for it and a worker of the ``quick`` queue runs it, so neither a page nor a night job waits for it, and
a simulator that hangs, floods or crashes does it to that process alone.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from engine import process_group
from engine.errors import MOST_FAULTS, ConfigError
from engine.lineups.schema import spec_from_json
from engine.simulators.contract import GameSpec
from engine.text import printable
from webapp.accounts.models import User
from webapp.games.models import Simulator
from webapp.games.simulators import record
from webapp.games.specs import keep
from webapp.lib.text import writable
from workers.app import enqueue

DEADLINE, REQUEST_DEADLINE, BATTLES = 180.0, 60, 8
"""Seconds for the whole check, seconds for one message, battles a promise is tried on."""
LOOK_S = 1.0
"""A test that somebody stops ends within this time."""
MOST_LINES, LONGEST_LINE, LONGEST_FINDING = 200, 4 * 2**20, 1000
Described = GameSpec | dict[str, Any] | None
"""A game of lineups, or one for agents as plain JSON."""
UNREADABLE = "A text of the description holds a control character, such as a NUL or a vertical tab. Take it out."
_STALE = timedelta(seconds=DEADLINE + 30)


def ask(simulator: Simulator) -> bool:
    """Note that a test is wanted. False while one is under way already, and of what is switched off."""
    on = Simulator.objects.filter(pk=simulator.pk).exclude(status=Simulator.Status.OFF)
    # Of two at once, the second must see what the first has written: conditions on the row itself, no subquery.
    asked = on.exclude(_going()).update(
        test=Simulator.Test.ASKED,
        test_at=timezone.now(),
        sent_at=None,
        findings=[],
        message="",
        awaited="",
        status=Simulator.Status.UNTESTED,
    )
    return asked == 1


def ask_a_worker(simulator: Simulator, user: User) -> None:
    """Ask for a test and send for a worker, unless one is under way. While the queue does not answer the test waits,
    and the reconciler sends it."""
    if ask(simulator):
        record(simulator, "asked for a test", user)
        send(simulator)


def send(simulator: Simulator) -> bool:
    """Send for a worker; the row remembers when, so that a lost message is sent again. False when the queue does not
    answer."""
    now = timezone.now()
    if not Simulator.objects.filter(pk=simulator.pk, test=Simulator.Test.ASKED).update(sent_at=now):
        return True
    sent = enqueue("handshake", simulator.pk)
    if not sent:
        Simulator.objects.filter(pk=simulator.pk, sent_at=now).update(sent_at=None)
    return sent


def send_waiting(lost: datetime) -> None:
    """Send the tests that were never sent, or not since ``lost``, the oldest first, while the queue answers."""
    waiting = Simulator.objects.filter(Q(sent_at=None) | Q(sent_at__lt=lost), test=Simulator.Test.ASKED)
    for simulator in waiting.order_by("test_at"):
        if not send(simulator):
            return


def stop(simulator: Simulator, user: User) -> None:
    """End the test that is asked for or running; what it found so far stays."""
    going = Simulator.objects.filter(pk=simulator.pk).exclude(test=Simulator.Test.NONE)
    if going.update(test=Simulator.Test.NONE, awaited="", message=f"{user} stopped the test before its end."):
        record(simulator, "stopped a test", user)


def under_way(simulator: Simulator) -> bool:
    """Whether its test waits for a worker, or runs and is not so old that its worker must have died, by the row as it
    was read: what stands beside this on a page is from the same moment."""
    if simulator.test != Simulator.Test.RUNNING or simulator.test_at is None:
        return simulator.test == Simulator.Test.ASKED
    return simulator.test_at > timezone.now() - _STALE


def _going() -> Q:
    """The tests that are ``under_way``, to the database."""
    running = Q(test=Simulator.Test.RUNNING, test_at__gt=timezone.now() - _STALE)
    return Q(test=Simulator.Test.ASKED) | running


def built_in_and_unknown() -> list[Simulator]:
    """The built-in games of which it is not known whether they can be played here, or could not be the last time."""
    unknown = Q(checked_at=None) | Q(status=Simulator.Status.MISSING)
    return list(Simulator.objects.filter(unknown, kind=Simulator.Kind.BUILTIN))


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
    with closing(_lines(simulator.reference, deadline)) as lines:
        for said in lines:
            line = writable(said)
            if "waiting" in line:
                mine.update(**_awaited(line))
                continue
            if "spec" in line or "game" in line:
                described, problem = _described(line)
                if "spec" in said and line != said:
                    described, problem = None, UNREADABLE  # a game that is kept otherwise is another one to its engine
                if not problem:
                    continue
                line = {"level": "error", "check": "description", "message": problem}
            if line:
                finding = {key: str(line.get(key, "")) for key in ("level", "check", "message")}
                findings.append({key: printable(text, LONGEST_FINDING, lines=True) for key, text in finding.items()})
            if not mine.update(findings=findings[:MOST_LINES]):
                return True  # somebody stopped the test
    verdict = _verdict(findings[:MOST_LINES], described)
    mine.update(test=Simulator.Test.NONE, awaited="", checked_at=timezone.now(), **verdict)
    return True


def _awaited(line: dict[str, Any]) -> dict[str, Any]:
    """What the check has been waiting for, as the row keeps it."""
    seconds = line.get("seconds")
    left = timedelta(seconds=float(seconds) if isinstance(seconds, int | float) else 0.0)
    return {"awaited": str(line["waiting"])[:200], "awaited_until": timezone.now() + left}


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
        message = _summary(errors) if errors else "The check ended before the simulator described its game."
        return {**changes, "status": Simulator.Status.BROKEN, "message": message}
    sort = _of_lineups(described) if isinstance(described, GameSpec) else _by_moves(described, findings)
    return {**changes, "status": Simulator.Status.READY, **sort}


def _summary(errors: list[dict[str, str]]) -> str:
    """The first error in words that stand alone, and how many there are."""
    first, more = errors[0], len(errors) - 1
    said = first["message"]
    if first["check"] == "description":
        said = f"Its description of the game is wrong: {said}"
    many = f"At least {more}" if len(errors) > MOST_FAULTS else f"{more}"
    return f"{said.rstrip('.')}. {many} more {'fault' if more == 1 else 'faults'} beside this one." if more else said


def _by_moves(game: dict[str, Any], findings: list[dict[str, str]]) -> dict[str, Any]:
    said = next((f["message"] for f in findings if f["check"] == "description"), "")
    message = f"It asks for every decision, so agents can be trained in it. {said}."
    starts = game.get("starts", [])
    if starts:
        titles = ", ".join(one["title"] or one["name"] for one in starts)
        message += f" Settings say where its episodes begin: {titles}."
    return {"by_moves": True, "message": message, "version": str(game.get("version", ""))[:40], "starts": starts}


def _of_lineups(spec: GameSpec) -> dict[str, Any]:
    digest = keep(spec)
    return {
        "by_moves": False,
        "message": f"{len(spec.pieces)} pieces, {len(spec.slots)} slots, {len(spec.side_metrics)} numbers a side.",
        "version": spec.version[:40],
        "spec": msgspec.to_builtins(spec),
        "spec_hash": digest,
        "starts": [],
    }


def _lines(reference: str, deadline: float) -> Generator[dict[str, Any]]:
    """What the check prints, as it prints it, and an empty line where it printed nothing for ``LOOK_S``; nothing of it
    is left running afterwards."""
    limits = [f"--battles={BATTLES}", f"--deadline={min(REQUEST_DEADLINE, deadline):g}", f"--longest={LONGEST_LINE}"]
    command = [sys.executable, "-m", "engine", "check-simulator", "--json", *limits, reference]
    environment = {k: v for k, v in os.environ.items() if k not in _SECRETS and not k.startswith(_STORE)}
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


_SECRETS = frozenset({"EQUIPOISE_SECRET_KEY", "DATABASE_URL", "REDIS_URL", "EQUIPOISE_REPLAY_REDIS"})
_STORE = "AWS_"
"""How names begin that hold keys of a store."""


def _read(process: subprocess.Popen[bytes], deadline: float) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    descriptor, rest, until = process.stdout.fileno(), b"", time.monotonic() + deadline
    while (left := until - time.monotonic()) > 0:
        if not select.select([descriptor], [], [], min(left, LOOK_S))[0]:
            yield {}
            continue
        chunk = os.read(descriptor, 65536)
        if not chunk:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (found for line in lines if (found := _decoded(line)))
        if len(rest) > LONGEST_LINE:
            said = f"The check printed a line of more than {LONGEST_LINE:,} bytes, which is the most that is read."
            yield {"level": "error", "check": "answer", "message": said}
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
    process_group.kill(process.pid)
    process.wait()
