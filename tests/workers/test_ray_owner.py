"""Ray on a busy machine: it has longer at each try, and how often it was too slow is noted."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from deploy.up import ray_owner
from engine.errors import ActorLost
from engine.runtime import ray_daemons
from engine.runtime.cluster import connected, load_ray
from tests.contracts.ray_server import agree_on_authentication, eventually
from webapp.lib import health, ray_starts


@pytest.fixture
def services() -> Any:
    """What Ray starts its daemons with."""
    agree_on_authentication()
    return load_ray()._private.services


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any, services: Any) -> Path:
    monkeypatch.setattr(services, "get_node", services.get_node)  # put back what is set in its place
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    settings.RAY_ADDRESS_FILE = tmp_path / "ray_address"
    return tmp_path / "ray_address"


def test_a_raylet_that_registers_late_is_waited_for(
    address: Path, services: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def slow(gcs: str, node: str) -> str:
        asked.append(node)
        if len(asked) < 200:  # Ray itself asks about thirty times
            raise RuntimeError("RPC error: Deadline Exceeded")
        return "the node"

    monkeypatch.setattr(services, "get_node", slow)
    monkeypatch.setattr(ray_daemons, "broken", lambda: False)
    with ray_daemons.awaited(3600.0):
        assert services.get_node("127.0.0.1:1", "a node") == "the node"
    assert services.get_node is slow


def test_a_raylet_that_died_is_not_waited_for(address: Path, services: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(gcs: str, node: str) -> str:
        raise RuntimeError("no such node")

    monkeypatch.setattr(services, "get_node", never)
    with ray_daemons.awaited(3600.0), pytest.raises(RuntimeError, match="no such node"):  # no daemon runs here
        services.get_node("127.0.0.1:1", "a node")


def test_a_ray_that_is_late_all_the_same_is_an_error_that_a_study_survives(
    address: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(**options: Any) -> None:
        raise Exception("The current node timed out during startup.")

    monkeypatch.setattr(load_ray(), "init", init)
    with pytest.raises(ActorLost, match="Ray did not start: The current node timed out"), connected():
        pytest.fail("it started")


def test_the_daemons_of_a_ray_are_seen_while_they_run_and_missed_once_one_has_ended(tmp_path: Path) -> None:
    with contextlib.ExitStack() as started:
        for name in sorted(ray_daemons.NEEDED):
            assert ray_daemons.broken()
            program = tmp_path / name
            program.symlink_to(shutil.which("sleep") or "")
            process = started.enter_context(subprocess.Popen([program, "3600"]))
            started.callback(process.kill)
        assert eventually(lambda: not ray_daemons.broken())
        process.kill()
        assert eventually(ray_daemons.broken)


def test_each_try_that_was_too_slow_is_noted_and_told_and_the_next_has_longer(
    address: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []

    def init(**options: Any) -> None:
        if len(given) < 3:
            raise RuntimeError("The current node timed out during startup.")

    monkeypatch.setattr(load_ray(), "init", init)
    monkeypatch.setattr(ray_daemons, "awaited", lambda seconds: contextlib.nullcontext(given.append(seconds)))
    now = iter(range(0, 10**9, 1000))
    monkeypatch.setattr(ray_owner.time, "monotonic", lambda: float(next(now)))
    for tries in (1, 2):
        with pytest.raises(RuntimeError):
            ray_owner.start(address.parent / "ray", address, 2)
        assert ray_starts.too_slow() == tries
    assert health.ray() == "has not started: the machine is too busy, 2 tries took too long"
    ray_owner.start(address.parent / "ray", address, 2)
    assert given == sorted(set(given))
    assert (ray_starts.too_slow(), health.ray()) == (0, "has not started")


def test_a_try_that_failed_at_once_was_not_too_slow(address: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def init(**options: Any) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr(load_ray(), "init", init)
    with pytest.raises(RuntimeError, match="no room"):
        ray_owner.start(address.parent / "ray", address, 2)
    assert ray_starts.too_slow() == 0


def test_no_try_has_more_than_the_longest_wait() -> None:
    assert [ray_owner.patience(n) for n in (0, 1, 2, 3, 10**6)] == [60.0, 120.0, 240.0, 480.0, 480.0]
