"""Workers as Ray actors: Ray places them and reports deaths, ZeroMQ carries work, answers, streams and weights."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from engine.errors import ActorLost
from engine.problem import ShouldStop
from engine.processor_waits import ProcessorWaits, crowd
from engine.runtime import answering, niceness
from engine.runtime.answering import ALLOWED, check_factory
from engine.runtime.broadcast import Broadcast, Post, Relay
from engine.runtime.channels import TO_HUB, Source, Ticket
from engine.runtime.cluster import Cluster, Host, connected, load_ray
from engine.runtime.folders import sweep_all
from engine.runtime.members import ENDED, WorkerLimits
from engine.runtime.supervisor import Supervisor
from engine.runtime.worker import Worker
from engine.runtime.zmq_channels import ZmqHub, ZmqPublisher, ZmqSpoke, ZmqSubscriber
from engine.runtime.zmq_peers import HOST

CPUS = 0.5  # two jobs on two processors both progress
HALF = 0.5  # of all processors, for workers that must run at the same time
GONE_S = 1.0  # in which the system ends a killed process

Died = Callable[[str], None]
Payload = Callable[[int, int], bytes]
"""Makes the JSON payload for a worker's factory from (worker's number, its life at that post)."""


class WorkerActor:
    """A Ray actor with one worker in a process of its own."""

    def run(
        self, ticket: Sequence[Any], source: Sequence[Any] | None, factory: str, payload: bytes, allowed: Sequence[str],
        beat_s: float, host: str,
    ) -> None:  # fmt: skip
        """Serve the driver. One actor uses one processor, compiled loops included. ``host``: the address at which it
        can be reached, where there are several hosts."""
        niceness.apply_to_session()
        gc.disable()  # what it plays or learns with is imported now, and nothing of that is garbage
        os.environ.setdefault("NUMBA_NUM_THREADS", "1")
        os.environ[HOST] = host
        subscriber = ZmqSubscriber(Source(*source)) if source else None
        build = partial(built, factory, payload, allowed)
        Worker(ZmqSpoke(Ticket(*ticket)), build, beat_s, not_orphaned, partial(os._exit, 1), subscriber).run()


def built(factory: str, payload: bytes, allowed: Sequence[str]) -> Any:
    """What ``answering.build`` makes, with all that was imported for it left out of every later look for garbage."""
    made = answering.build(factory, payload, allowed)
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()
    return made


class RelayActor:
    """A Ray actor with a relay, one on every host except the driver's."""

    def run(self, ticket: Sequence[Any], source: Sequence[Any], host: str, beat_s: float) -> None:
        """Relay until the process ends; ``host``: this host's address."""
        above = Source(*source)
        relay = Relay((ZmqPublisher(above.policies), ZmqPublisher(above.policies, host)))
        abandon = partial(os._exit, 1)
        Worker(ZmqSpoke(Ticket(*ticket)), lambda: relay, beat_s, not_orphaned, abandon, ZmqSubscriber(above)).run()


class RayWorker:
    """One actor of a ``kind`` with a method ``run``, never detached and never restarted by Ray: its owner handles its
    death."""

    def __init__(
        self, cluster: Cluster, kind: type, placement: Mapping[str, Any], arguments: Sequence[Any], died: Died
    ) -> None:
        ray = load_ray()
        options: dict[str, Any] = {"num_cpus": CPUS, "max_restarts": 0, **placement}
        self._actor: Any = ray.remote(kind).options(**options).remote()
        run = self._actor.run.remote(*arguments)
        run.future().add_done_callback(lambda ended: died(_how(ended.exception())))
        self._cluster, self._process = cluster, -1
        self._waits: ProcessorWaits | None = None

    def came(self, pid: int) -> None:
        """Keep a handle of the process if it is on this machine, so that its pid cannot be reused."""
        if not self._cluster.host and self._process < 0:
            with contextlib.suppress(ProcessLookupError):
                self._process, self._waits = os.pidfd_open(pid), ProcessorWaits(pid)

    @property
    def ended(self) -> bool:
        """As the system says of a process of this machine, before Ray has noticed."""
        return self._process >= 0 and bool(select.select([self._process], [], [], 0.0)[0])

    def waited(self, seconds: float) -> float:
        """As the system says; of a process that nobody knows yet, as the machine's load says. Of other machines nobody
        knows."""
        if self._cluster.host:
            return 0.0
        return min(seconds, self._waits.since()) if self._waits else seconds * (1.0 - 1.0 / crowd())

    def kill(self) -> None:
        """End the process unconditionally, even if Ray is gone."""
        if self._process >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
                select.select([self._process], [], [], GONE_S)  # what it had locked is free then
            os.close(self._process)
            self._process = -1
        if self._cluster.alive:
            load_ray().kill(self._actor, no_restart=True)


class RayRecruiter:
    """Starts workers and relays as actors of a Ray cluster: those that get weights on the host of their post, others
    where there is room."""

    def __init__(
        self, cluster: Cluster, hosts: Sequence[Host], factory: str, payload: Payload, allowed: Sequence[str],
        beat_s: float, cpus: float = CPUS,
    ) -> None:  # fmt: skip
        self._cluster, self._hosts, self._factory, self._payload = cluster, hosts, factory, payload
        self._allowed, self._beat_s, self._cpus = tuple(allowed), beat_s, cpus

    def start(self, post: Post, life: int, ticket: Ticket, source: Source | None, died: Died) -> RayWorker:
        """Request a worker, or a relay, which needs hardly any processor time."""
        host = self._hosts[post.host]
        placement = self._cluster.on(host) if source else self._cluster.placement()
        arguments: tuple[Any, ...] = tuple(ticket), tuple(source) if source else None
        if post.relay:
            return RayWorker(
                self._cluster, RelayActor, {**placement, "num_cpus": 0}, (*arguments, host.address, self._beat_s), died
            )
        reached = host.address if len(self._hosts) > 1 else ""
        arguments = (*arguments, self._factory, self._payload(post.number, life), self._allowed, self._beat_s, reached)
        return RayWorker(self._cluster, WorkerActor, {**placement, "num_cpus": self._cpus}, arguments, died)

    def short_of_capacity(self) -> str:
        """Why workers may have to wait; empty if there is room for one."""
        return self._cluster.short_of(self._cpus)

    def check(self) -> None:
        """Raises ActorLost when Ray is gone."""
        self._cluster.check()


class RayWorkers(Supervisor):
    """``workers`` actors, each of which runs the object that ``factory`` (``module:function`` below one of ``allowed``)
    makes from ``payload(number, life)``, and gets the weights of ``policies``; ``bound``: messages of each that may
    wait for the driver; ``together``: they need each other, so that all must run, on half of the processors if need be.
    ``address``: see ``engine.runtime.cluster.connected``; ``hosts``: by default those of the
    cluster (a test names one several times).

    Raises EngineError for a factory that is not allowed, ActorLost when there is no Ray, and Cancelled once
    ``should_stop`` returns True while Ray is waited for.
    """

    def __init__(
        self, factory: str, payload: Payload, workers: int = 2, *, policies: Sequence[str] = (), address: str = "",
        batch_ms: int = 100, flat: bool = False, bound: int = TO_HUB, title: str = "Worker",
        allowed: Sequence[str] = ALLOWED, limits: WorkerLimits | None = None, succeeded: bool = False,
        together: bool = False, should_stop: ShouldStop = lambda: False,
        hosts: Callable[[Cluster], Sequence[Host]] = lambda cluster: cluster.hosts,
    ) -> None:  # fmt: skip
        check_factory(factory, allowed)
        limits = limits or WorkerLimits()
        with contextlib.ExitStack() as stack:
            stack.callback(sweep_all)  # folders that killed actors could not remove
            cluster = stack.enter_context(connected(address, workers, should_stop))
            found = list(hosts(cluster))
            host = found[0].address if len(found) > 1 else ""
            hub = ZmqHub(host, bound)
            stack.callback(hub.close)
            broadcast = _broadcast(policies, host, len(found), flat) if policies else None
            if broadcast:
                stack.callback(broadcast.close)
            cpus = min(CPUS, HALF * cluster.processors / workers) if together else CPUS
            recruiter = RayRecruiter(cluster, found, factory, payload, allowed, limits.beat_s, cpus)
            stack.callback(super().close)
            super().__init__(
                hub, recruiter, workers, broadcast=broadcast, batch_ms=batch_ms, limits=limits, title=title,
                succeeded=succeeded,
            )  # fmt: skip
            stack.callback(cluster.look)  # before any call to it
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Kill the actors, close the channels, leave (or stop) the cluster. Safe to call twice."""
        self._stack.close()


def _broadcast(policies: Sequence[str], host: str, hosts: int, flat: bool) -> Broadcast:
    near = ZmqPublisher(policies)
    try:
        far = ZmqPublisher(policies, host) if host else None
    except BaseException:
        near.close()
        raise
    return Broadcast(near, far, hosts, flat=flat)


def not_orphaned() -> None:
    """Raise ActorLost if the node's daemon, the parent of all actors, has died, which a busy worker does not notice."""
    if os.getppid() != int(os.environ.get("RAY_RAYLET_PID", os.getppid())):
        raise ActorLost("The Ray daemon that started this worker has ended.")


EXITS = {
    "SYSTEM_ERROR": ENDED,
    "NODE_OUT_OF_MEMORY": "its machine had too little memory",
    "INTENDED": "it was asked to end",
}  # fmt: skip
"""How Ray calls the ends of actors, in words."""


def _how(error: BaseException | None) -> str:
    """The cause of a death in one line; Ray's own text is a page long."""
    if error is None:
        return "it ended by itself"
    text = str(getattr(error, "cause", None) or error)  # Ray wraps what an actor raised
    if known := next((words for name, words in EXITS.items() if f"exit type: {name}" in text), ""):
        return known
    return next((line.strip() for line in text.splitlines() if "exit" in line.lower()), text.splitlines()[0])[:300]
