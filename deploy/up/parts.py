"""The parts of a running site: what each is, what it waits for and how it is asked to stop."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deploy.up import processes, valkey
from deploy.up.layout import ROOT, Layout
from deploy.up.options import Options


def at_once() -> bool:
    """Ready as soon as it runs: nothing waits for this part."""
    return True


@dataclass(frozen=True)
class Part:
    """``title`` is what messages call it. ``once``: it does its work and ends; the others run until stopped.
    ``aside``: the site is up without it, and stays so where it fails.

    A part starts when all of ``needs`` are ready; one that is not ready after ``patience`` seconds is started again.
    ``traces`` are files that speak for a running part; they are removed when it ends. ``mend`` is tried once when a
    part ends again and again without getting ready; it gives a sentence to say.
    """

    name: str
    title: str
    command: list[str]
    needs: tuple[str, ...] = ()
    ready: Callable[[], bool] = at_once
    patience: float = 60.0
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 5.0
    once: bool = False
    aside: bool = False
    traces: tuple[Path, ...] = ()
    descriptors: tuple[int, ...] = ()
    mend: Callable[[], str] | None = None


def python(*arguments: str) -> list[str]:
    """A command that this virtual environment's Python runs."""
    return [sys.executable, *arguments]


def worker(queue: str, slots: int) -> list[str]:
    """A Celery worker for one queue; it neither waits for other workers nor asks what they do."""
    options = f"-Q {queue} -n {queue}@equipoise -c {slots} --without-gossip --without-mingle -l INFO"
    return python("-m", "celery", "-A", "workers.app", "worker", *options.split())


RAY_PATIENCE = 1800.0
"""Longer than Ray's owner waits by itself, which knows how busy the machine is (``deploy.up.ray_owner``)."""
NICENESS = "RAY_worker_niceness"


def parts(layout: Layout, options: Options, listener: socket.socket) -> list[Part]:
    """Every part, in the order of starting; stopping goes the other way round."""
    return [
        Part(
            "redis",
            "The Redis-compatible server",
            valkey.command(layout.var / "redis", layout.redis_socket),
            ready=lambda: valkey.answers(layout.redis_socket),
            mend=lambda: valkey.set_aside(layout.var / "redis"),
        ),
        Part(
            "ray",
            "Ray",
            python("-m", "deploy.up.ray_owner", str(layout.ray_folder), str(layout.ray_address), str(options.cpus)),
            ready=layout.ray_address.exists,
            traces=(layout.ray_address,),
            patience=RAY_PATIENCE,
            grace=8,
        ),
        Part(
            "prepare",
            "The preparation of the database",
            python("-m", "deploy.up.prepare", str(layout.sign_ins)),
            patience=900,
            once=True,
        ),
        *_demo(),
        Part(
            "worker-jobs",
            "The worker for jobs",
            worker("jobs", options.job_slots),
            needs=("redis", "prepare"),  # not Ray: a job that comes before Ray is up waits for it, and says so
            stop_signal=signal.SIGQUIT,
            grace=6,
        ),
        Part(
            "worker-quick",
            "The worker for quick tasks",
            worker("quick", 2),
            needs=("redis", "prepare"),
            stop_signal=signal.SIGQUIT,
            grace=6,
        ),
        Part("reconciler", "The reconciler", python("manage.py", "reconcile"), needs=("redis", "prepare")),
        Part(
            "web",
            "The web server",
            python("-m", "deploy.up.web", str(listener.fileno())),
            needs=("redis", "prepare"),
            grace=4,
            descriptors=(listener.fileno(),),
        ),
    ]


def _demo() -> list[Part]:
    """The first search of the demo project: a first visit does not wait for it, and sees it being played."""
    if os.environ.get("EQUIPOISE_DEMO", "1") == "0":
        return []
    return [
        Part(
            "demo",
            "The first search of the demo project",
            python("manage.py", "demo"),
            needs=("redis", "prepare"),
            patience=900,
            once=True,
            aside=True,
        )
    ]


def environment(layout: Layout, options: Options, run: str) -> dict[str, str]:
    """Environment variables of every part."""
    return {
        **os.environ,
        processes.MARK: run,
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "DJANGO_SETTINGS_MODULE": "webapp.settings",
        "EQUIPOISE_VAR": str(layout.var),
        "EQUIPOISE_CPUS": str(options.cpus),
        "EQUIPOISE_JOB_SLOTS": str(options.job_slots),
        "EQUIPOISE_HOSTS": ",".join([*options.hosts, os.environ.get("EQUIPOISE_HOSTS", "")]),
        "EQUIPOISE_DEMO_PASSWORDS": "0" if options.open_to_others else os.environ.get("EQUIPOISE_DEMO_PASSWORDS", "1"),
        "EQUIPOISE_RAY_ADDRESS_FILE": str(layout.ray_address),
        "REDIS_URL": f"unix://{layout.redis_socket}?db=0",
        **ray_environment(layout.ray_token),
    }


def ray_environment(token: Path) -> dict[str, str]:
    """How Ray, its workers and everyone who talks to it behave."""
    return {
        # Not a cluster of several machines: all listeners stay on loopback.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        # Loopback is shared by every user of the machine, and Ray runs whatever it is told to.
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        # Workers end within seconds, not a minute, when Ray has died.
        "RAY_gcs_rpc_server_reconnect_timeout_s": "15",
        # Battles take what the pages leave: a search on all processors must not make the site slow.
        NICENESS: os.environ.get(NICENESS, "10"),
        "RAY_ROTATION_MAX_BYTES": "10000000",
        "RAY_ROTATION_BACKUP_COUNT": "2",
    }
