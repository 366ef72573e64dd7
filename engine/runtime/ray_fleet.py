"""The fleet of Ray actors: Ray places them and says when they died, ZeroMQ carries trajectories and weights."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from engine.runtime.actors import CPUS, RayWorker
from engine.runtime.answering import ALLOWED, check_factory
from engine.runtime.channels import Ticket
from engine.runtime.cluster import Cluster, Host, connected
from engine.runtime.fleet import Fleet, FleetLimits, Post
from engine.runtime.sampling import RelayActor, SamplerActor
from engine.runtime.streams import Source
from engine.runtime.zmq_streams import ZmqPublisher, ZmqPuller

Payload = Callable[[int, int], bytes]
"""(sampler's number, its life at that post) to the JSON its factory is given."""


class RayRecruiter:
    """Starts samplers and relays as actors of a Ray cluster, each on its own host."""

    def __init__(
        self, cluster: Cluster, hosts: Sequence[Host], factory: str, payload: Payload, allowed: Sequence[str],
        beat_s: float,
    ) -> None:  # fmt: skip
        self._cluster, self._hosts, self._factory, self._payload = cluster, hosts, factory, payload
        self._allowed, self._beat_s = tuple(allowed), beat_s

    def sampler(self, post: Post, life: int, ticket: Ticket, source: Source, died: Callable[[str], None]) -> RayWorker:
        """Ask for a sampler."""
        payload = self._payload(post.number, life)
        arguments = tuple(ticket), tuple(source), self._factory, payload, self._allowed, self._beat_s
        return RayWorker(self._cluster, SamplerActor, self._cluster.on(self._hosts[post.host]), arguments, died)

    def relay(self, post: Post, ticket: Ticket, source: Source, died: Callable[[str], None]) -> RayWorker:
        """Ask for a relay; it needs next to no processor."""
        host = self._hosts[post.host]
        options = {**self._cluster.on(host), "num_cpus": 0}
        arguments = tuple(ticket), tuple(source), host.address, self._beat_s
        return RayWorker(self._cluster, RelayActor, options, arguments, died)

    def short_of_capacity(self) -> str:
        """Why actors may have to wait; empty when there is room for one."""
        return self._cluster.short_of(CPUS)

    def check(self) -> None:
        """Raises ActorLost when Ray is gone."""
        self._cluster.check()


class RayFleet(Fleet):
    """``samplers`` actors that each build a role with ``factory`` (``module:function`` below one of ``allowed``) from
    ``payload(number, life)`` and get the weights of ``policies``; ``bound`` messages of each may wait for the learner.
    ``address``: see
    ``engine.runtime.cluster.connected``; ``hosts``: those of the cluster unless given (a test names one several times).

    Raises EngineError for a factory that is not allowed, ActorLost when there is no Ray.
    """

    def __init__(
        self, factory: str, payload: Payload, samplers: int, *, policies: Sequence[str], address: str = "",
        flat: bool = False, bound: int = 2,
        allowed: Sequence[str] = ALLOWED, limits: FleetLimits | None = None,
        hosts: Callable[[Cluster], Sequence[Host]] = lambda cluster: cluster.hosts,
    ) -> None:  # fmt: skip
        check_factory(factory, allowed)
        limits = limits or FleetLimits()
        with contextlib.ExitStack() as stack:
            cluster = stack.enter_context(connected(address, samplers))
            found = list(hosts(cluster))
            host = found[0].address if len(found) > 1 else ""
            puller, near = ZmqPuller(host, bound), ZmqPublisher(policies)
            far = ZmqPublisher(policies, host) if host else None
            for end in (puller, near, far):
                if end is not None:
                    stack.callback(end.close)
            recruiter = RayRecruiter(cluster, found, factory, payload, allowed, limits.beat_s)
            stack.callback(super().close)
            super().__init__(puller, near, far, recruiter, samplers, len(found), flat=flat, limits=limits)
            stack.callback(cluster.look)  # before anything is asked of it
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Kill the actors, close the streams, leave (or stop) the cluster. Safe to call twice."""
        self._stack.close()
