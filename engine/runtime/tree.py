"""The three-layer tree that carries weights to every host (Lamarckian III-B1, Fig. 2).

The head sends to about √n relays, each relay to its share of the other hosts, so nobody sends more than about √n copies
and no copy makes more than two hops. ``spread`` says how long that takes and how old it leaves the weights, by a
discrete-event simulation of links that carry one copy at a time.

Departures: 1. the paper's tree is complete; here the relays' shares differ by at most one host. 2. A sender always
sends the newest weights it has, so a slow link skips versions instead of falling behind.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError

HEAD = 0


class Tree(NamedTuple):
    """``parent`` int64[n]: who sends to each host, -1 for the head (host 0)."""

    parent: NDArray[np.int64]

    def children(self) -> list[list[int]]:
        """Whom each host sends to, in the order of sending."""
        found: list[list[int]] = [[] for _ in self.parent]
        for host, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                found[parent].append(host)
        return found

    @property
    def hops(self) -> NDArray[np.int64]:
        """Hops from the head to each host, int64[n], at most 2."""
        above = np.where(self.parent < 0, 0, self.parent)
        return np.asarray((self.parent >= 0).astype(np.int64) + (above > 0))


def plan(hosts: int, flat: bool = False) -> Tree:
    """The tree of ``hosts`` hosts; ``flat``: the head sends to everybody. Raises ConfigError without a host."""
    if hosts < 1:
        raise ConfigError([("hosts", f"{hosts} hosts cannot carry anything; at least 1 is needed")])
    others = np.arange(1, hosts)
    branches = len(others) if flat else min(math.isqrt(hosts), len(others))
    parent = np.full(hosts, -1, dtype=np.int64)
    for share in np.array_split(others, branches) if branches else []:
        parent[share[0]], parent[share[1:]] = HEAD, share[0]
    return Tree(parent)


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
