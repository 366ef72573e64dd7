"""The three-layer tree that carries weights to every host (Lamarckian III-B1, Fig. 2).

The head sends to about √n relays, each relay to its share of the other hosts, so no host sends more than about √n
copies and no copy makes more than two hops.

Departures: 1. the paper's tree is complete; here the relays' shares differ by at most one host. 2. A sender always
sends the newest weights it has, so a slow link skips versions instead of falling behind.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError

HEAD = 0


class Tree(NamedTuple):
    """``parent`` int64[n]: the host that sends to each host, -1 for the head (host 0)."""

    parent: NDArray[np.int64]

    def children(self) -> list[list[int]]:
        """The hosts that each host sends to, in the order of sending."""
        found: list[list[int]] = [[] for _ in self.parent]
        for host, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                found[parent].append(host)
        return found


def plan(hosts: int, flat: bool = False) -> Tree:
    """The tree of ``hosts`` hosts; ``flat``: the head sends to all. Raises ConfigError without a host."""
    if hosts < 1:
        raise ConfigError([("hosts", f"{hosts} hosts cannot carry anything; at least 1 is needed")])
    others = np.arange(1, hosts)
    branches = len(others) if flat else min(math.isqrt(hosts), len(others))
    parent = np.full(hosts, -1, dtype=np.int64)
    for share in np.array_split(others, branches) if branches else []:
        parent[share[0]], parent[share[1:]] = HEAD, share[0]
    return Tree(parent)
