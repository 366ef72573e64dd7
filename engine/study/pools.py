"""What all pools of a study's workers have in common, in this process or in processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from engine.config.train import TrainPool
from engine.problem import ShouldStop
from engine.runtime.outcomes import Closed, Trouble

if TYPE_CHECKING:
    from engine.runtime.cluster import Cluster, Host
    from engine.runtime.supervisor import Supervisor

PATIENCE = {"beat_s": 0.5, "silence_s": 60.0, "progress_s": 60.0, "start_s": 180.0}
"""Time limits for workers, in seconds (``engine.runtime.members.WorkerLimits``): a game that hangs makes no
progress."""


class LocalWorkers(Closed):
    """Workers that take turns in this process: none of them is ever lost."""

    def lost(self) -> str:
        """Never."""
        return ""

    def incidents(self) -> list[Trouble]:
        """None."""
        return []


class RemoteWorkers(Closed):
    """Workers in processes of their own."""

    def __init__(self, workers: Supervisor) -> None:
        self._workers = workers

    def lost(self) -> str:
        """Why a worker was lost since the last call, empty when none was; another one takes its place."""
        return self._workers.lost()

    def incidents(self) -> list[Trouble]:
        """The incidents since the last call."""
        return self._workers.incidents()

    def close(self) -> None:
        """End all workers and leave nothing behind. Safe to call twice."""
        self._workers.close()


def every_host(cluster: Cluster) -> Sequence[Host]:
    """All machines of a Ray, the study's own first."""
    return cluster.hosts


def workers(
    pool: TrainPool, factory: str, payload: Callable[[int, int], bytes], count: int, *, title: str,
    policies: Sequence[str], bound: int, together: bool, should_stop: ShouldStop, allowed: Sequence[str] = ("engine.",),
    hosts: Callable[[Cluster], Sequence[Host]] = every_host,
) -> Supervisor:  # fmt: skip
    """``count`` workers, each made by ``factory`` from ``payload(number, life)``, on the machines that ``hosts`` names,
    which may raise ConfigError. Raises ActorLost when there is no Ray at the address, and Cancelled once
    ``should_stop`` returns True while it is waited for."""
    from engine.runtime.members import WorkerLimits
    from engine.runtime.ray_workers import RayWorkers  # a local study loads neither Ray nor ZeroMQ

    return RayWorkers(
        factory, payload, count, policies=policies, address=pool.address, flat=pool.layout == "flat", bound=bound,
        title=title, allowed=allowed, limits=WorkerLimits(**PATIENCE), together=together,
        should_stop=should_stop, hosts=hosts,
    )  # fmt: skip
