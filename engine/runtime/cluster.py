"""The Ray cluster of the workers: join an existing one, or start one and stop it afterwards.

Measured facts behind the settings: Ray waits 100 s for a dead address (so the port is probed first), notices the death
of its control service after a minute (15 s with the setting below: it ends the driver then, which has to have noticed
before, even on a busy machine) and of its node daemon never (so ``check`` probes it), listens on every interface and
accepts commands from any client (so: loopback and a token).
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import math
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import engine
from engine.errors import ActorLost, Cancelled, ConfigError
from engine.problem import ShouldStop
from engine.runtime import ray_daemons
from engine.runtime.folders import PrivateFolder

logger = logging.getLogger(__name__)
ADDRESS, ADDRESS_FILE = "EQUIPOISE_RAY_ADDRESS", "EQUIPOISE_RAY_ADDRESS_FILE"
PROBE_S = 2.0
PATIENCE_S = 60.0  # a supervisor starts a broken Ray again within a quarter of that
START_S = 480.0  # on a busy machine Ray can take minutes to come up
OBJECT_STORE_BYTES = 80 * 2**20  # nothing but control messages; Ray's minimum is 75 MB
SETTINGS = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # listen on loopback
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray's own end of a process whose control service is gone, without a word: not before we have said why.
    "RAY_gcs_rpc_server_reconnect_timeout_s": "60",
    # Ray would end processes that begin, and begin others, where a busy machine needs more than a minute for one.
    "RAY_worker_register_timeout_seconds": "1800",
    # Standard output carries the study's events; Ray would print a page there for each lost worker.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
    # Searches yield to pages, the driver that feeds them, and whatever else the designer runs on this machine.
    "RAY_worker_niceness": "10",
}
AUTHENTICATION = {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"}


def load_ray() -> Any:
    """The ray package, which takes 0.4 s and 100 MB to import, and reads some of its settings while it is imported."""
    os.environ.update({name: value for name, value in SETTINGS.items() if name not in os.environ})
    return importlib.import_module("ray")


class Endpoint(NamedTuple):
    """A host and a TCP port."""

    host: str
    port: int

    def probe(self) -> OSError | None:
        """None if something listens there, else the error."""
        try:
            socket.create_connection(self, PROBE_S).close()
        except OSError as error:
            return error
        return None


class Host(NamedTuple):
    """A machine of the cluster: Ray's name for it, and its address."""

    node: str
    address: str


class Cluster:
    """The cluster this process is connected to. ``host`` is empty when every worker runs on this machine; ``hosts``
    are all machines, this one first; ``alive`` until ``check`` finds otherwise (a call to a dead Ray blocks, and in the
    end terminates the process)."""

    def __init__(self) -> None:
        ray = load_ray()
        context = ray.get_runtime_context()
        nodes = [node for node in ray.nodes() if node["Alive"]]
        self.alive = True
        self._node = context.get_node_id()
        mine = next(node for node in nodes if node["NodeID"] == self._node)
        self.host = mine["NodeManagerAddress"] if len(nodes) > 1 else ""
        others = sorted((n["NodeID"], n["NodeManagerAddress"]) for n in nodes if n["NodeID"] != self._node)
        self.hosts = [Host(self._node, mine["NodeManagerAddress"]), *(Host(*other) for other in others)]
        gcs_host, _, gcs_port = context.gcs_address.rpartition(":")
        self._daemons = (
            Endpoint(mine["NodeManagerAddress"], mine["NodeManagerPort"]),
            Endpoint(gcs_host, int(gcs_port)),
        )

    def placement(self) -> dict[str, Any]:
        """Options for an actor: on this host, if the driver listens on a path of this machine."""
        return {} if self.host else self.on(self.hosts[0])

    def on(self, host: Host) -> dict[str, Any]:
        """Options for an actor on this very host."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return {"scheduling_strategy": NodeAffinitySchedulingStrategy(host.node, soft=False)}

    @property
    def processors(self) -> float:
        """Those of all hosts."""
        return float(load_ray().cluster_resources().get("CPU", 1.0))

    def short_of(self, cpus: float) -> str:
        """Why an actor that needs ``cpus`` would have to wait; empty if it would not. Those that begin have theirs
        already, so one that is late may wait for a processor or for the machine."""
        free = load_ray().available_resources().get("CPU", 0.0)
        if free >= cpus:
            return ""
        return "A worker is still starting: every processor is taken, or the machine is overloaded."

    def look(self) -> None:
        """Check whether a daemon that this process depends on is certainly gone; a slow network proves nothing."""
        self.alive = self.alive and not any(isinstance(d.probe(), ConnectionRefusedError) for d in self._daemons)

    def check(self) -> None:
        """As ``look``; raises ActorLost if one is."""
        self.look()
        if not self.alive:
            raise ActorLost(
                "Ray, which runs the workers, has ended. The work goes on from its last checkpoint once Ray is back."
            )


@contextlib.contextmanager
def connected(
    address: str = "", workers: int = 1, should_stop: ShouldStop = lambda: False
) -> Iterator[Cluster]:  # fmt: skip
    """Join the Ray at ``address``, at EQUIPOISE_RAY_ADDRESS or at the address in EQUIPOISE_RAY_ADDRESS_FILE; without
    any of them start one for ``workers`` workers and stop it at the end. An existing connection of this process is used
    and kept. Raises ConfigError for a malformed address, ActorLost when nothing answers there, and Cancelled once
    ``should_stop`` returns True before something does."""
    find = _finder(address or os.environ.get(ADDRESS, ""))
    if not find and "ray" not in sys.modules and not AUTHENTICATION & os.environ.keys():
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    ray = load_ray()
    if ray.is_initialized():
        yield Cluster()
        return
    with _joined(find, should_stop) if find else _started(workers) as cluster:
        yield cluster


@contextlib.contextmanager
def _joined(find: Callable[[], str], should_stop: ShouldStop) -> Iterator[Cluster]:
    ray = load_ray()
    _init(address=_reachable(find, should_stop))
    cluster = None
    try:
        cluster = Cluster()
        yield cluster
    finally:
        if cluster is None or cluster.alive:
            ray.shutdown()


@contextlib.contextmanager
def _started(workers: int) -> Iterator[Cluster]:
    folder = PrivateFolder("equipoise-ray-")
    try:
        _start(folder.path / "r", workers)  # Ray opens its own folder to everybody
        yield Cluster()
    finally:
        load_ray().shutdown()
        folder.remove()


def _start(folder: Path, workers: int) -> None:
    _forking.daemons = True
    try:
        with ray_daemons.few(), ray_daemons.awaited(START_S):
            _init(
                address="local",
                num_cpus=max(len(os.sched_getaffinity(0)), math.ceil(workers / 2)),
                object_store_memory=OBJECT_STORE_BYTES,
                _temp_dir=str(folder),
            )
    finally:
        _forking.daemons = False


class _Forking(threading.local):
    """Whether this thread is about to start Ray's daemons."""

    daemons = False


def _leave_the_session() -> None:
    """Run in a child of this process before it becomes a Ray daemon (Ray has no setting for this): leave the session,
    so that a signal to the study's process group stops the study but does not kill Ray under it. The kernel ends the
    daemons with this process."""
    if _forking.daemons:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


_forking = _Forking()
os.register_at_fork(after_in_child=_leave_the_session)


def _init(**how: Any) -> None:
    """``ray.init``, quiet, with this engine's code for the workers: by default Ray gives them only the driver's current
    folder. Raises ActorLost when Ray does not start or refuses the connection."""
    home = str(Path(engine.__file__).parents[1])
    job = importlib.import_module("ray.job_config").JobConfig(_py_driver_sys_path=[home])
    try:
        with _kept_signal_handler():
            load_ray().init(log_to_driver=False, logging_level=logging.ERROR, job_config=job, **how)
    except Exception as error:  # Ray raises the bare class when its daemons are late
        logger.exception("Ray at %s", how["address"])
        where = "did not start" if how["address"] == "local" else f"at {how['address']} did not let this study in"
        raise ActorLost(f"Ray {where}: {str(error).splitlines()[0][:300]}") from error


def _finder(address: str) -> Callable[[], str] | None:
    """A function that finds the address, which may change while a supervisor restarts Ray."""
    file = os.environ.get(ADDRESS_FILE, "")
    if address:
        return lambda: address
    if file:
        return lambda: Path(file).read_text().strip() if Path(file).exists() else ""
    return None


def _reachable(find: Callable[[], str], should_stop: ShouldStop) -> str:
    """The address, once something answers there."""
    until = time.monotonic() + PATIENCE_S
    while True:
        address = find()
        if address and _endpoint(address).probe() is None:
            return address
        if time.monotonic() > until:
            where = f"at {address}" if address else f"(its address is not in {os.environ.get(ADDRESS_FILE)})"
            raise ActorLost(f"There is no Ray {where}. Start it, or correct the address; the job can then go on.")
        if should_stop():
            raise Cancelled("The study was asked to end before it reached Ray.")
        time.sleep(0.25)


def _endpoint(address: str) -> Endpoint:
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise ConfigError([("pool.address", f"{address!r} is not an address of a Ray cluster, such as 10.0.0.5:6379.")])
    return Endpoint(host, int(port))


@contextlib.contextmanager
def _kept_signal_handler() -> Iterator[None]:
    """Restore the SIGTERM handler, which Ray replaces by one that exits at once; a study must write its checkpoint
    first. A signal that arrives meanwhile waits until the handler is back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler: Callable[[int, FrameType | None], Any] | int | None = signal.getsignal(signal.SIGTERM)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        if handler is not None:
            signal.signal(signal.SIGTERM, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
