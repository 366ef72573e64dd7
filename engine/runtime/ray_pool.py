"""The pool of Ray actors: Ray places them, ZeroMQ carries the work."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from engine.runtime.actors import RayLauncher
from engine.runtime.answering import ALLOWED, check_factory
from engine.runtime.cluster import connected
from engine.runtime.remote import Limits, RemotePool
from engine.runtime.zmq_channel import ZmqHub

DEFAULTS = Limits()


class RayPool(RemotePool):
    """Evaluates in ``workers`` actors that each build an evaluator with ``factory`` (``module:function`` below one of
    ``allowed``) from ``payload`` (JSON). ``address``: see ``engine.runtime.cluster.connected``.

    Raises EngineError for a factory that is not allowed, ActorLost when there is no Ray.
    """

    def __init__(
        self,
        factory: str,
        payload: bytes,
        *,
        workers: int = 2,
        address: str = "",
        batch_ms: int = 100,
        allowed: Sequence[str] = ALLOWED,
        limits: Limits = DEFAULTS,
    ) -> None:
        check_factory(factory, allowed)
        with contextlib.ExitStack() as stack:
            cluster = stack.enter_context(connected(address, workers))
            hub = ZmqHub(cluster.host)
            stack.callback(hub.close)
            launcher = RayLauncher(cluster, factory, payload, allowed, limits.beat_s)
            stack.callback(super().close)
            super().__init__(hub, launcher, workers, batch_ms, limits)
            stack.callback(cluster.look)  # before anything is asked of it
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Kill the actors, close the channel, leave (or stop) the cluster. Safe to call twice."""
        self._stack.close()
