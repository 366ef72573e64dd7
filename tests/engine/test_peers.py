"""Two learners that mix their weights as peers, each in a worker of its own: they draw together, whoever is killed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.channel import decode_weights
from engine.runtime.ray_workers import RayWorkers
from engine.store import FolderStore
from tests.contracts.peers import NAMES
from tests.contracts.ray_server import RayServer, all_gone, ray_server

PATIENCE_S = 180.0


@pytest.fixture(scope="module")
def ray() -> Iterator[RayServer]:
    """One Ray for all tests of this file."""
    with ray_server() as server:
        yield server


class Exchange:
    """Passes each peer's weights on to the other, and keeps the newest state of each in the store."""

    def __init__(self, store: FolderStore, share: float, states: dict[int, str] | None = None) -> None:
        self.store, self.share, self.states = store, share, dict(states or {})
        self.weights: dict[int, np.ndarray[Any, Any]] = {}
        self.versions: dict[int, list[int]] = {0: [], 1: []}
        self.workers = RayWorkers(
            "tests.contracts.peers:build", self.payload, policies=NAMES, bound=2, allowed=("tests.",)
        )

    def payload(self, number: int, life: int) -> bytes:
        order = {"number": number, "share": self.share, "store": self.store.address}
        return json.dumps({**order, "state": self.states.get(number, "")}).encode()

    def until(self, version: int) -> None:
        """Pass weights on until both peers have made so many more updates."""
        first = {number: len(found) for number, found in self.versions.items()}
        self._pass_on(lambda: all(len(found) >= first[number] + version for number, found in self.versions.items()))

    def until_closer_than(self, distance: float) -> None:
        """Pass weights on until the peers' newest weights are closer: a peer that begins late, or hears late of the
        other, mixes later."""
        self._pass_on(lambda: self.distance < distance)

    def _pass_on(self, done: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE_S
        while not done():
            assert time.monotonic() < until, (self.distance, self.versions)
            for one in self.workers.gather(0.2):
                frame, state = one.frames
                self.workers.publish(bytes(frame))
                self.states[one.worker] = self.store.put(bytes(state))
                weights = decode_weights(frame)
                assert weights.policy == NAMES[one.worker]
                self.weights[one.worker] = weights.vectors["actor"].copy()
                self.versions[one.worker].append(weights.version)
            self.workers.lost()

    @property
    def distance(self) -> float:
        return float(np.linalg.norm(self.weights[0] - self.weights[1]))

    def __enter__(self) -> Exchange:
        return self

    def __exit__(self, *_: object) -> None:
        self.workers.close()


def goes_on(versions: list[int]) -> bool:
    """Whether each update follows the one before, or, of a peer that was killed, one that was on its way then."""
    return all(earlier - 5 <= later <= earlier + 1 for earlier, later in pairwise(versions))


def test_peers_that_mix_draw_together_and_whoever_is_killed_goes_on_where_it_was(
    ray: RayServer, tmp_path: Path
) -> None:
    store = FolderStore(tmp_path)
    with Exchange(store, share=0.0) as strangers:
        strangers.until(20)
        apart = strangers.distance
        strangers.until(20)
        assert strangers.distance > apart / 2
    with Exchange(store, share=0.3) as peers:
        peers.until(20)
        peers.until_closer_than(apart / 4)
        victim = ray.workers()[0]
        victim.kill()
        assert all_gone([victim])
        peers.until(20)
        peers.until_closer_than(apart / 4)
        assert [trouble.what for trouble in peers.workers.incidents()] == ["lost-worker"]
        assert all(goes_on(versions) for versions in peers.versions.values())
        states = dict(peers.states)
    with Exchange(store, share=0.3, states=states) as resumed:
        resumed.until(5)
        resumed.until_closer_than(apart / 4)
        for number, versions in resumed.versions.items():
            assert versions[0] == peers.versions[number][-1] + 1
            assert goes_on(versions)
