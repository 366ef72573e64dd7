"""10 MB of weights to many processes.

``local``: from one process to 1 … 16 on this machine over the weights stream, until the last has told that it has them,
beside Ray's object store (put once, handed to as many actors, each of which reads it). In turns; medians.
``simulated``: the three-layer tree beside the flat layout with up to 6,000 hosts, in a discrete-event simulation whose
time for one copy over one link is measured in the same run (TCP with encryption over loopback, between processes).
"""

from __future__ import annotations

import heapq
import math
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from multiprocessing.synchronize import Semaphore
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.bench.row import row
from engine.channel import Weights, decode_weights, encode_weights
from engine.runtime.channels import Source
from engine.runtime.cluster import connected, load_ray
from engine.runtime.tree import HEAD, Tree, plan
from engine.runtime.zmq_channels import ZmqPublisher, ZmqSubscriber

NAME = "broadcast"
CASES = ("local", "simulated")
NUMBERS = 2_500_000
PROCESSES, QUICK_PROCESSES = (1, 2, 4, 8, 16), (1, 4)
HOSTS = (10, 100, 1_000, 6_000)
TURNS, QUICK_TURNS = 15, 5
PERIOD_S = 0.1
_WAIT_S = 120.0


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    yield from (_local if case == "local" else _simulated)(quick)


def _local(quick: bool) -> Iterator[dict[str, Any]]:
    turns = QUICK_TURNS if quick else TURNS
    for n in QUICK_PROCESSES if quick else PROCESSES:
        with connected(workers=2 * n):
            theirs, end = _object_store(n)
            mine = Streams(n)
            try:
                times = [(mine.once(), theirs()) for _ in range(turns + 2)][2:]
            finally:
                mine.close()
                end()
        ours, peer = (1000 * median(column) for column in zip(*times, strict=True))
        spread_ms = ", ".join(f"{1000 * t:.1f}" for t, _ in sorted(times))
        yield row(NAME, "local", ours, "ms", peer="ray object store", peer_value=peer,
                  detail=f"10 MB to {n} processes; turns {spread_ms} ms")  # fmt: skip


class Streams:
    """n processes that subscribe; each says with a semaphore when it holds a version."""

    def __init__(self, n: int, host: str = "") -> None:
        context = multiprocessing.get_context("spawn")
        self._publisher, self._n = ZmqPublisher(["agent"], host), n
        self._held, self._version = context.Semaphore(0), 0
        source = tuple(self._publisher.source())
        self._processes = [context.Process(target=_hold, args=(source, self._held), daemon=True) for _ in range(n)]
        for process in self._processes:
            process.start()
        self._numbers = np.ones(NUMBERS, np.float32)
        self._until_all_listen()

    def _until_all_listen(self) -> None:
        """Every process acknowledges its first frame, however late it comes."""
        left, until = self._n, time.monotonic() + _WAIT_S
        while left:
            if time.monotonic() > until:
                raise TimeoutError("the subscribers did not come")
            self._publisher.publish(encode_weights(Weights("agent", 0, 0, 1, {"actor": self._numbers})))
            while left and self._held.acquire(timeout=0.2):
                left -= 1
        self._version = 1

    def once(self) -> float:
        """Seconds until the last process holds the next version."""
        self._version += 1
        began = time.perf_counter()
        self._publisher.publish(encode_weights(Weights("agent", 0, 0, self._version, {"actor": self._numbers})))
        for _ in range(self._n):
            if not self._held.acquire(timeout=_WAIT_S):
                raise TimeoutError("a subscriber did not get the weights")
        return time.perf_counter() - began

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.kill()
            process.join()
        self._publisher.close()


def _hold(source: tuple[Any, ...], held: Semaphore) -> None:
    """What a subscriber does: every new version is read through once, as loading a policy does."""
    subscriber, version, mine = ZmqSubscriber(Source(*source)), -1, np.empty(NUMBERS, np.float32)
    while os.getppid() != 1:
        frame = subscriber.newest(1.0)
        if frame is not None and (weights := decode_weights(frame)).version != version:
            np.copyto(mine, weights.vectors["actor"])
            version = weights.version
            held.release()


class _Holder:
    """Ray's actor for the same work."""

    def __init__(self) -> None:
        self._mine = np.empty(NUMBERS, np.float32)

    def hold(self, weights: Any) -> int:
        np.copyto(self._mine, weights)
        return len(weights)


def _object_store(n: int) -> tuple[Callable[[], float], Callable[[], None]]:
    """(one turn, the end) of Ray's way."""
    ray = load_ray()
    actors = [ray.remote(_Holder).options(num_cpus=0).remote() for _ in range(n)]
    numbers = np.ones(NUMBERS, np.float32)

    def once() -> float:
        began = time.perf_counter()
        stored = ray.put(numbers)
        ray.get([actor.hold.remote(stored) for actor in actors])
        return time.perf_counter() - began

    def end() -> None:
        for actor in actors:
            ray.kill(actor)

    return once, end


def _simulated(quick: bool) -> Iterator[dict[str, Any]]:
    link = Streams(1, "127.0.0.1")
    try:
        link_s = median([link.once() for _ in range(QUICK_TURNS if quick else TURNS)])
    finally:
        link.close()
    for hosts in HOSTS:
        tree, flat = (spread(plan(hosts, layout), link_s, PERIOD_S) for layout in (False, True))
        yield row(
            NAME, "simulated", tree.seconds, "s", peer="flat", peer_value=flat.seconds,
            detail=f"{hosts:,} hosts, {1000 * link_s:.1f} ms a copy (measured), a version every {PERIOD_S:g} s; hosts "
            f"lag by {tree.staleness_mean:.1f} versions (at most {tree.staleness_max}), flat {flat.staleness_mean:.1f} "
            f"({flat.staleness_max})",
        )  # fmt: skip


class Spread(NamedTuple):
    """What a simulated broadcast does: ``seconds`` until one version has reached every host, and by how many versions
    hosts lag behind the head while it keeps publishing (mean over hosts and time, and the largest)."""

    seconds: float
    staleness_mean: float
    staleness_max: int


def spread(tree: Tree, link_s: float, period_s: float) -> Spread:
    """Simulate ``tree`` with links of ``link_s`` seconds a copy and a new version every ``period_s`` seconds, for as
    long as six broadcasts take and 30 versions at least. Lag is sampled at every publication of the second half."""
    children = tree.children()
    seconds = _one_version(children, link_s)
    versions = max(30, math.ceil(6 * seconds / period_s))
    holds = np.zeros(len(tree.parent), dtype=np.int64)
    turn = [0] * len(tree.parent)
    busy = [False] * len(tree.parent)
    events: list[tuple[float, int, int, int]] = [(v * period_s, HEAD, v, -1) for v in range(1, versions + 1)]
    heapq.heapify(events)
    lags: list[NDArray[np.int64]] = []
    while events:
        now, host, version, sender = heapq.heappop(events)
        if host == HEAD and version > versions // 2:
            lags.append(version - 1 - holds[1:])
        if host == HEAD and version == versions:
            break
        holds[host] = max(holds[host], version)
        for idle in {host, sender} - {-1}:
            if idle == sender:
                busy[idle] = False
            if not busy[idle]:
                _send_next(children[idle], idle, now, link_s, holds, turn, busy, events)
    lag = np.concatenate(lags) if lags and len(holds) > 1 else np.zeros(1, dtype=np.int64)
    return Spread(seconds, float(lag.mean()), int(lag.max()))


def _send_next(
    mine: list[int], host: int, now: float, link_s: float, holds: NDArray[np.int64], turn: list[int], busy: list[bool],
    events: list[tuple[float, int, int, int]],
) -> None:  # fmt: skip
    """The next child, in turn, that does not have what ``host`` has."""
    held = int(holds[host])
    for k in range(len(mine)):
        child = mine[(turn[host] + k) % len(mine)]
        if holds[child] < held:
            turn[host] = (turn[host] + k + 1) % len(mine)
            busy[host] = True
            heapq.heappush(events, (now + link_s, child, held, host))
            return


def _one_version(children: list[list[int]], link_s: float) -> float:
    """Seconds until a single version is everywhere: copies leave one after another, relays first."""
    arrived = np.zeros(len(children))
    for host, mine in enumerate(children):
        for k, child in enumerate(mine):
            arrived[child] = arrived[host] + (k + 1) * link_s
    return float(arrived.max())
