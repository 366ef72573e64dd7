"""A Ray of the tests' own in another process, so that its daemons can be killed and the tests' process stays clean."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from engine.runtime import cluster

HOME = Path(cluster.__file__).parents[2]
PATIENCE_S = 300.0
"""Seconds to wait for what must happen: far beyond what it takes on a busy machine."""
NICENESS = 1
"""Of its workers: some, but so little that they are not slow beside other tests."""
SERVE = """
import sys, time, ray
from engine.runtime.cluster import connected
with connected(workers=int(sys.argv[1])):
    node = ray._private.worker._global_node
    print(node.gcs_address, node.get_temp_dir_path(), flush=True)
    time.sleep(3600)
"""


DRIVER = """
import signal, sys
from engine.errors import ActorLost
from engine.runtime.ray_workers import RayWorkers
from tests.contracts.evaluators import requests
stop = []
signal.signal(signal.SIGINT, lambda *_: stop.append(1))  # as studies do: an exception may be raised where it gets lost
try:
    payload = b'{"pause_s": 0.05}'
    with RayWorkers("tests.contracts.evaluators:build", lambda *_: payload, allowed=("tests.",)) as pool:
        pool.submit(requests(10_000))
        n = 0
        while not stop:
            n += len(pool.finished(1.0))
            print(n, flush=True)
except ActorLost as error:
    print(error, flush=True)
    sys.exit(7)
"""


class RayServer:
    """The running cluster; its settings are in this process's environment until it ends."""

    def __init__(self, process: subprocess.Popen[str], address: str, folder: str) -> None:
        self.process, self.address, self.folder = process, address, folder

    def daemon(self, name: str) -> psutil.Process:
        """One of Ray's daemons: ``raylet`` or ``gcs_server``."""
        found = [child for child in psutil.Process(self.process.pid).children() if child.name() == name]
        assert len(found) == 1
        return found[0]

    def workers(self) -> list[psutil.Process]:
        """The processes of actors."""
        return [child for child in self.daemon("raylet").children() if _is_actor(child)]


def agree_on_authentication() -> None:
    """Ray reads how to authenticate once in the life of a process: when it is imported. All tests keep to that."""
    if not cluster.AUTHENTICATION & os.environ.keys():
        os.environ["RAY_AUTH_MODE"] = "disabled" if "ray" in sys.modules else "token"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)


@contextlib.contextmanager
def ray_server(cpus: int = 2) -> Iterator[RayServer]:
    """Start a Ray, and end it whatever happens."""
    agree_on_authentication()
    before = dict(os.environ)
    os.environ.update(cluster.SETTINGS, RAY_worker_niceness=str(NICENESS))
    variables = {name: value for name, value in os.environ.items() if not name.startswith("EQUIPOISE_RAY")}
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(2 * cpus)], env=variables, cwd=HOME, text=True,
        stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout
    server = RayServer(process, *process.stdout.readline().split())
    try:
        os.environ[cluster.ADDRESS] = server.address
        yield server
    finally:
        family = [one for one in psutil.process_iter() if _belongs(one, process.pid, server.folder)]
        for one in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        process.wait()
        process.stdout.close()
        shutil.rmtree(server.folder, ignore_errors=True)
        os.environ.clear()
        os.environ.update(before)


def _is_actor(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return "WorkerActor" in " ".join(process.cmdline())  # empty when it is a zombie
    return False


def gone(process: psutil.Process) -> bool:
    """Whether a process has ended, reaped or not."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    return True


def all_gone(processes: Iterable[psutil.Process]) -> bool:
    """Whether all of these processes end, reaped or not. The kernel tells when, so nobody looks again and again."""
    return all(map(_ends, processes))


def _ends(process: psutil.Process) -> bool:
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return True
    try:
        # Another process may have its number by now.
        return not process.is_running() or bool(select.select([handle], [], [], PATIENCE_S)[0])
    finally:
        os.close(handle)


def _belongs(process: psutil.Process, ancestor: int, folder: str) -> bool:
    with contextlib.suppress(psutil.Error):
        family = {process.pid, *(parent.pid for parent in process.parents())}
        return ancestor in family or any(folder in word for word in process.cmdline())
    return False


def eventually(condition: object, patience_s: float = PATIENCE_S) -> bool:
    """Whether a condition comes true in time."""
    assert callable(condition)
    until = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def start_driver() -> subprocess.Popen[str]:
    """A study process that has received answers."""
    driver = subprocess.Popen([sys.executable, "-c", DRIVER], stdout=subprocess.PIPE, text=True, cwd=HOME)
    assert driver.stdout
    assert any(line.strip() not in ("", "0") for line in driver.stdout)
    return driver
