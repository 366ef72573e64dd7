"""The whole site as real processes: up, killed part by part, stopped, and started after a power cut.

The first tests share one site; the last of them stops it.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from deploy.up import processes
from deploy.up.__main__ import sweep_up
from deploy.up.layout import Layout
from deploy.up.options import read_options
from deploy.up.parts import Part, environment, ray_environment
from deploy.up.supervisor import Supervisor
from engine.runtime.folders import PrivateFolder
from tests.workers.test_private import left_open, open_to_others
from tests.workers.whole_site import WholeSite, free_port, until
from webapp.lib import alive

ACTOR = """
import ray
ray.init(address=open({address!r}).read(), log_to_driver=False)

@ray.remote(num_cpus=0.5)
class Worker:
    def answer(self):
        return "an actor answered"

print(ray.get(Worker.remote().answer.remote()))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeSite]:
    """A site in a folder that an earlier version left open to others, started by somebody who lets everybody read what
    their programs write."""
    site = WholeSite(tmp_path_factory.mktemp("site") / "var")
    left_open(site.layout.var)
    assert open_to_others(site.layout.var)
    before = os.umask(0o022)
    try:
        site.start()
    finally:
        os.umask(before)
    yield site
    if site.process is not None and site.process.poll() is None:
        site.stop()


def _raylet(site: WholeSite) -> int:
    named = (processes.stat(pid) for pid in site.processes())
    return next((each.pid for each in named if each and each.name == "raylet" and each.state != "Z"), 0)


def _sign_of(site: WholeSite, part: str) -> int:
    """The process that gave the last sign of life for a part."""
    with redis.Redis(unix_socket_path=str(site.layout.redis_socket)) as client:
        return int(client.get(f"equipoise:alive:{site.run}:{part}") or 0)


def test_nothing_of_a_running_site_is_open_to_others_whatever_was_left_open(site: WholeSite) -> None:
    var = site.layout.var
    assert {"db.sqlite3", "secret", "log/web.log", "redis/appendonlydir"} <= {
        str(path.relative_to(var)) for path in var.rglob("*")
    }
    assert open_to_others(var) == {}
    # Ray opens its own folders to all; the one that they are in lets nobody through.
    assert not site.layout.short.stat().st_mode & 0o077


@pytest.mark.parametrize("part", ["redis", "worker-jobs", "worker-quick", "reconciler", "web", "ray", "raylet"])
def test_a_part_that_is_killed_comes_back(site: WholeSite, part: str) -> None:
    def find() -> int:
        return _raylet(site) if part == "raylet" else site.pid(part)

    killed = until(find, f"{part} to run")
    below = processes.descendants(killed)
    os.kill(killed, signal.SIGKILL)
    again = until(lambda: (pid := find()) != killed and pid, f"{part} to be started again")
    if part in (*alive.WORKERS, alive.RECONCILER):
        until(lambda: _sign_of(site, part) == again, f"a sign of life of the new {part}")
    site.until_healthy()
    until(lambda: not any(map(processes.stat, below)), f"the children of the killed {part} to follow it")


def test_ray_takes_work_after_its_restarts_and_only_from_who_has_the_key(site: WholeSite) -> None:
    script = ACTOR.format(address=str(site.layout.ray_address))

    def ask(**more: str) -> subprocess.CompletedProcess[str]:
        keys = {**os.environ, **ray_environment(site.layout.ray_token), **more}
        return subprocess.run([sys.executable, "-c", script], env=keys, capture_output=True, text=True, check=False)

    assert "an actor answered" in ask().stdout
    assert "InvalidAuthToken" in ask(RAY_AUTH_MODE="disabled", RAY_NUM_REDIS_GET_RETRIES="1").stderr


def test_everything_listens_on_loopback_only(site: WholeSite) -> None:
    inodes = set()
    for pid in [site.process.pid, *site.processes()]:  # type: ignore[union-attr]
        for descriptor in (processes.PROC / str(pid) / "fd").iterdir():
            target = os.readlink(descriptor) if descriptor.is_symlink() else ""
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    rows = [row.split() for name in ("tcp", "tcp6") for row in (processes.PROC / "net" / name).read_text().splitlines()]
    listening = [row[1].rpartition(":")[0] for row in rows if row[3] == "0A" and row[9] in inodes]
    assert listening
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert set(listening) <= loopback


def test_a_second_start_on_the_same_folder_is_refused(site: WholeSite) -> None:
    second = WholeSite(site.layout.var)
    said = second.refuse()
    assert f"runs already on {site.layout.var}: {site.address} (process {site.process.pid})" in said  # type: ignore[union-attr]
    assert "make run VAR=" in said
    assert site.healthy()


def test_a_start_after_the_supervisor_was_killed_sweeps_and_mends(site: WholeSite) -> None:
    first, unreadable = site.run, set(site.layout.var.glob("redis-unreadable-*"))
    mark = {**os.environ, processes.MARK: first}
    with subprocess.Popen(["sleep", "1000"], env=mark, start_new_session=True) as simulator:
        site.kill()
        until(lambda: not _raylet(site) and not site.healthy(), "the parts to follow their supervisor")
        assert site.layout.ray_address.exists()
        # A power cut may leave zeros where the last commands should be.
        for file in (site.layout.var / "redis").rglob("*.incr.aof"):
            file.write_bytes(file.read_bytes() + bytes(4096))
        site.start()
        assert simulator.wait(timeout=10) == -signal.SIGKILL
    assert processes.marked(first) == []
    assert "An earlier start was cut off; ended " in site.said
    assert set(site.layout.var.glob("redis-unreadable-*")) > unreadable


def test_sigterm_leaves_nothing_behind(site: WholeSite) -> None:
    site.stop()
    assert "Stopping." in site.said
    _assert_nothing_is_left(site)
    assert open_to_others(site.layout.var) == {}


def test_a_start_can_be_interrupted(tmp_path: Path) -> None:
    site = WholeSite(tmp_path / "var")
    site.launch()
    until(lambda: site.pid("ray"), "Ray to be started")
    site.run = str(site.layout.recall()["run"])
    site.stop(signal.SIGINT)
    _assert_nothing_is_left(site)


def _assert_nothing_is_left(site: WholeSite) -> None:
    assert site.processes() == []
    assert not site.layout.short.exists()
    assert {file.name for file in site.layout.run.iterdir()} == {"lock"}
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", site.port))


def test_a_taken_port_is_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        site = WholeSite(tmp_path / "var", PORT=str(taken.getsockname()[1]))
        said = site.refuse()
    assert "is taken by another program" in said
    assert "make run PORT=" in said
    assert not site.layout.short.exists()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("PORT", "http", "PORT is “http”; write a whole number from 1 to 65535"),
        ("LISTEN", "my-laptop", "LISTEN is “my-laptop”; write an address of this machine"),
        ("LISTEN", "203.0.113.77", "This machine cannot listen on 203.0.113.77"),
        ("VAR", "/proc/nothing", "cannot be written"),
        ("EQUIPOISE_CPUS", "0", "EQUIPOISE_CPUS is “0”"),
    ],
)
def test_a_wrong_setting_is_a_sentence(tmp_path: Path, name: str, value: str, sentence: str) -> None:
    said = WholeSite(tmp_path / "var", **{name: value}).refuse()
    assert sentence in said
    assert "Traceback" not in said


def test_other_machines_get_in_only_without_the_demo_passwords(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    alone = read_options({"PORT": str(free_port())})
    assert environment(layout, alone, "run")["EQUIPOISE_DEMO_PASSWORDS"] == "1"
    shared = read_options({"LISTEN": "0.0.0.0", "PORT": "8000"})
    seen = environment(layout, shared, "run")
    assert seen["EQUIPOISE_DEMO_PASSWORDS"] == "0"
    assert shared.address.removeprefix("http://").partition(":")[0] in seen["EQUIPOISE_HOSTS"].split(",")


def _aside(tmp_path: Path) -> tuple[Supervisor, list[str]]:
    """The web server, and a part that the site is up without; what is said once it is up."""
    said: list[str] = []
    found = [Part("web", "The web server", ["true"]), Part("demo", "The demo", ["true"], once=True, aside=True)]
    layout = Layout(tmp_path)
    layout.log("demo").parent.mkdir(parents=True)
    layout.log("demo").write_text("It went wrong.")
    supervisor = Supervisor(layout, found, {}, is_healthy=lambda: True, on_up=lambda: said.append("up"))
    supervisor.children["web"].ready = True
    return supervisor, said


def test_the_site_is_up_before_what_stands_aside_has_ended(tmp_path: Path) -> None:
    supervisor, said = _aside(tmp_path)
    supervisor._look_up()
    assert said == ["up"]


def test_what_stands_aside_may_fail_and_is_not_started_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    supervisor, _ = _aside(tmp_path)
    supervisor._ended(supervisor.children["demo"], 1)
    assert supervisor.children["demo"].ready
    told = capsys.readouterr().out
    assert "The demo did not succeed." in told
    assert "It went wrong." in told


KILLED_STUDY = """
import time
from engine.runtime.redis_server import RedisServer
print(RedisServer(8)._folder.path, flush=True)
time.sleep(3600)
"""


@pytest.fixture
def left_by_killed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Path]]:
    """Gives the folder of a Redis that a killed study left."""
    with tempfile.TemporaryDirectory(prefix="eqt-", dir="/tmp", ignore_cleanup_errors=True) as base:
        monkeypatch.setattr(tempfile, "tempdir", base)

        def leave() -> Path:
            study = [sys.executable, "-c", KILLED_STUDY]
            with subprocess.Popen(study, env={**os.environ, "TMPDIR": base}, stdout=subprocess.PIPE, text=True) as one:
                assert one.stdout
                folder = Path(one.stdout.readline().strip())
                one.kill()
            assert folder.exists()
            return folder

        yield leave


def test_a_stop_and_a_start_remove_the_redis_folders_of_killed_studies_and_of_no_other(
    tmp_path: Path, left_by_killed: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    supervisor, _ = _aside(tmp_path)
    supervisor.environment[processes.MARK] = "a run that nothing belongs to"
    # What this process has started is not the supervisor's.
    monkeypatch.setattr(Supervisor, "_stop_parts", lambda supervisor, children: None)
    monkeypatch.setattr(Supervisor, "_reap", lambda supervisor: None)
    monkeypatch.setattr(processes, "descendants", lambda pid: [])
    alive_one = PrivateFolder("equipoise-redis-")
    first = left_by_killed()
    supervisor._stop()
    assert not first.exists()
    second = left_by_killed()
    sweep_up(Layout(tmp_path / "var"))
    assert not second.exists()
    assert alive_one.path.exists()
    alive_one.remove()
