"""A study whose process is killed, with all that it started, goes on by the command line: kind by kind, in step to the
same end, and where nobody waits from its last round."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.events import AnyEvent, Finished, Progressed, Started, decode
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from tests.contracts.ray_server import RayServer, eventually, ray_server
from tests.engine import test_aesrl, test_arena, test_gossip_study, test_starts

COMMAND = [sys.executable, "-m", "engine"]
MANY = [
    test_arena.lesson([1, 2], [3, 2], steps=8 * 384, after={"pool": [1]}),
    test_arena.lesson(["old", 2], [1, 2], steps=8 * 256, frozen=[1]),
]
IN_STEP = {
    "a course": test_arena.course(test_arena.LEAGUE, MANY).model_dump(mode="json"),
    "easier starts": test_starts.settings(iterations=800, checkpoint_every=40, evaluate_every=0),
}
RAY = {"kind": "ray"}
FREE = {
    "AES-RL": test_aesrl.settings(method={"kind": "aes-rl"}, steps=4000, checkpoint_every=400, evaluate_every=0,
                                  pool={"kind": "ray", "workers": 2}),
    "GALA": test_gossip_study.settings(staleness=None, agents=2, steps=40_960, checkpoint_every=4096, pool=RAY),
    "a course": {**IN_STEP["a course"], "sampling": "asynchronous", "copies": 2, "pool": RAY},
    "easier starts": test_starts.settings(sampling="asynchronous", iterations=1600, checkpoint_every=160, pool=RAY),
    "easier starts over Redis": test_starts.settings(
        sampling="asynchronous", replay={"where": "redis"}, iterations=1600, checkpoint_every=160, pool=RAY
    ),
}  # fmt: skip
"""By kind, a study in which nobody waits, on Ray."""


@pytest.fixture(scope="module")
def ray() -> Iterator[RayServer]:
    """One Ray for all tests of this file."""
    with ray_server(cpus=2) as server:
        yield server


def killed_and_resumed(settings: dict[str, Any], folder: Path) -> list[AnyEvent]:
    """What a study says that is killed after its second round, and goes on."""
    file = folder / "study.json"
    file.write_text(json.dumps(settings))
    job = folder / "job"
    with subprocess.Popen(
        [*COMMAND, "run", str(file), "--job-dir", str(job)], stdout=subprocess.PIPE, text=True
    ) as one:
        assert one.stdout
        assert any(re.search(r"round [2-9]:", line) for line in one.stdout), "where nobody waits, rounds may be skipped"
        one.kill()
    before = (job / "events.jsonl").read_text()
    assert not isinstance(decode(before.splitlines()[-1]), Finished), "it was killed under way"
    again = subprocess.run([*COMMAND, "resume", str(job)], capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    found = [decode(line) for line in (job / "events.jsonl").read_text().splitlines()]
    assert isinstance(found[-1], Finished), found[-1]
    assert [event.resumed for event in found if isinstance(event, Started)] == [False, True]
    return found


def policies(end: AnyEvent) -> dict[str, str]:
    """The policies that it left, by role."""
    assert isinstance(end, Finished)
    return {role: digest for role, digest in end.artifacts.items() if role.startswith("policy")}


@pytest.mark.parametrize("settings", [pytest.param(each, id=name) for name, each in IN_STEP.items()])
def test_in_step_it_ends_with_the_same_policies(settings: dict[str, Any], tmp_path: Path) -> None:
    found = killed_and_resumed(settings, tmp_path)
    whole = list(run(load(settings), FolderStore(tmp_path / "undisturbed")))[-1]
    assert policies(found[-1]) == policies(whole)
    assert len(policies(whole)) > 1


@pytest.mark.parametrize("settings", [pytest.param(each, id=name) for name, each in FREE.items()])
def test_where_nobody_waits_it_goes_on_from_its_last_round(
    settings: dict[str, Any], ray: RayServer, tmp_path: Path
) -> None:
    found = killed_and_resumed(settings, tmp_path)
    again = next(i for i, event in enumerate(found) if isinstance(event, Started) and event.resumed)
    before, after = ([e for e in part if isinstance(e, Progressed)] for part in (found[:again], found[again:]))
    assert after[0].counters.steps >= before[-1].counters.steps, "what was learned before the last round stays"
    assert after[0].tick > before[-1].tick
    assert policies(found[-1])
    assert eventually(lambda: not ray.workers())
