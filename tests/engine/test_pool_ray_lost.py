"""When Ray itself dies, or the driver, or Ray was never there: told in words and soon, and nothing is left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine.errors import ActorLost, Cancelled, ConfigError
from engine.events import Stopped
from engine.runtime import cluster
from engine.runtime.ray_workers import RayWorkers
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from tests.contracts.ray_server import HOME, all_gone, eventually, ray_server, start_driver
from tests.engine.test_train import settings

FACTORY = "tests.contracts.evaluators:build"


pytestmark = pytest.mark.usefixtures("base")


@pytest.mark.parametrize("daemon", ["raylet", "gcs_server"])
def test_the_death_of_ray_ends_the_study_process_soon(daemon: str) -> None:
    with ray_server() as server:
        driver = start_driver()
        assert eventually(lambda: len(server.workers()) == 2)
        actors = server.workers()
        server.daemon(daemon).kill()
        out, _ = driver.communicate(timeout=180)
        assert driver.returncode != 0
        assert "Ray, which runs the workers, has ended" in out
        assert all_gone(actors)


def test_without_an_address_a_ray_of_its_own_is_started_on_loopback_and_ended(base: Path) -> None:
    driver = start_driver()
    family = psutil.Process(driver.pid).children(recursive=True)
    names = {process.name() for process in family}
    assert {"raylet", "gcs_server"} <= names
    words = " ".join(word for process in family for word in process.cmdline())
    assert "agent" in words.lower()
    assert not re.search(r"monitor|dashboard\.py", words), "Ray starts programs that nobody uses"
    listening = [
        connection.laddr.ip
        for process in family
        for connection in process.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert listening
    assert {address.removeprefix("::ffff:") for address in listening} <= {"127.0.0.1", "::1"}
    driver.send_signal(signal.SIGINT)
    driver.communicate(timeout=180)
    assert all_gone(family)
    assert not list(base.glob("equipoise-*"))


def test_an_address_where_nobody_listens_is_told_without_waiting_for_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE_S", 0.5)
    began = time.monotonic()
    with pytest.raises(ActorLost, match=r"no Ray at 127\.0\.0\.1:9"):
        RayWorkers(FACTORY, lambda number, life: b"{}", address="127.0.0.1:9", allowed=("tests.",))
    assert time.monotonic() - began < 30


def test_who_waits_for_ray_hears_that_the_study_is_to_end() -> None:
    asked: list[int] = []
    with pytest.raises(Cancelled):
        RayWorkers(FACTORY, lambda number, life: b"{}", address="127.0.0.1:9", allowed=("tests.",),
                   should_stop=lambda: bool(asked.append(1)) or len(asked) == 2)  # fmt: skip
    assert len(asked) == 2, "it tries again until then"


@pytest.mark.parametrize(
    "study",
    [{"kind": "search", "game": {"simulator": "builtin:herobattle"}}, settings()],
    ids=lambda study: study["kind"],
)
def test_a_study_hears_it_while_no_ray_answers_it(
    study: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(cluster.Endpoint, "probe", lambda endpoint: asked.append(1) or OSError("nobody is there"))
    pool = {"kind": "ray", "address": "127.0.0.1:9"}
    (end,) = run(load({**study, "pool": pool}), FolderStore(tmp_path), "", lambda: "stop" if asked else "")
    assert isinstance(end, Stopped), end


def test_a_missing_address_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cluster, "PATIENCE_S", 0.5)
    monkeypatch.setenv(cluster.ADDRESS_FILE, str(tmp_path / "ray_address"))
    with pytest.raises(ActorLost, match="ray_address"):
        RayWorkers(FACTORY, lambda number, life: b"{}", allowed=("tests.",))


@pytest.mark.parametrize("address", ["localhost", "ray://10.0.0.5:10001", "10.0.0.5:port", "10.0.0.5:70000"])
def test_an_address_that_is_none_is_a_mistake_in_the_configuration(address: str) -> None:
    with pytest.raises(ConfigError, match="not an address"):
        RayWorkers(FACTORY, lambda number, life: b"{}", address=address, allowed=("tests.",))


def test_a_signal_for_the_whole_process_group_stops_the_study_and_not_ray_under_it(tmp_path: Path) -> None:
    """A terminal, or whoever stops a service, sends it to all that the study started."""
    data = settings(steps=10**9, checkpoint_every=256, evaluate_every=0, pool={"kind": "ray"})
    (tmp_path / "study.yaml").write_text(json.dumps(data))
    variables = {name: value for name, value in os.environ.items() if not name.startswith("EQUIPOISE_RAY")}
    command = [sys.executable, "-m", "engine", "run", str(tmp_path / "study.yaml"), "--job-dir", str(tmp_path / "job")]
    with subprocess.Popen(command, cwd=HOME, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, start_new_session=True) as running:  # fmt: skip
        assert running.stdout
        told: list[str] = []
        assert any("round 1:" in line for line in running.stdout if not told.append(line)), "".join(told)
        family = psutil.Process(running.pid).children(recursive=True)
        assert {"raylet", "gcs_server"} <= {process.name() for process in family}
        os.killpg(running.pid, signal.SIGTERM)
        said = running.stdout.read()
        assert running.wait(180) == 0, said
    assert "Stopped after" in said
    assert "lost" not in said
    assert all_gone(family)


def test_a_ray_of_ones_own_lies_where_no_other_user_can_go(monkeypatch: pytest.MonkeyPatch) -> None:
    lies = list[Path]()

    def opened(*, _temp_dir: str, **how: object) -> None:
        """As Ray does with the folder that it is given."""
        lies.append(Path(_temp_dir))
        lies[0].mkdir(exist_ok=True)
        lies[0].chmod(0o777)

    monkeypatch.setattr(cluster, "_init", opened)
    monkeypatch.setattr(cluster, "Cluster", lambda: None)
    with cluster._started(1):
        assert any(stat.S_IMODE(folder.stat().st_mode) == 0o700 for folder in (lies[0], *lies[0].parents))
        assert len(str(lies[0].parent)) + 66 <= 107
    assert not lies[0].parent.exists()
