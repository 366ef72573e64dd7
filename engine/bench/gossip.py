"""How long mixing between learners takes, with many of them.

``aggregation``: 2 to 32 agents in a ring, real processes that sleep where learners compute; the time from the end of an
agent's sleep until it has mixed (median over agents and iterations), over the engine's links and, in turns, over a
central broker as PALA's (a list in a manager's process; parameters pickled and in base64; boolean flags that are asked
in a loop, here a millisecond apart, for two processors would do nothing else). The paper's time doubles from 16 to 24.
``simulated``: the same up to 256 agents, each on a processor of its own, in a simulation with the times of one message
over an encrypted link and of one operation of the broker, both measured in the same run.
"""

from __future__ import annotations

import base64
import contextlib
import heapq
import multiprocessing
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.managers import SyncManager
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.bench.row import row
from engine.peers import Member, View
from engine.rl.gossip import combined, mixing
from engine.runtime.zmq_peers import ZmqPeers

NAME = "gossip"
CASES = ("aggregation", "simulated")
NUMBERS = 250_000
AGENTS, QUICK_AGENTS = (2, 4, 8, 16, 24, 32), (2, 4)
SIMULATED = (2, 4, 8, 16, 24, 32, 64, 128, 256)
SLEEP_S, ASKED_S = 0.2, 0.001
ITERATIONS, QUICK_ITERATIONS, WARM = 30, 8, 3
KNEE, GOAL = 24, 1.5
_WAIT_S = 120.0

F32 = NDArray[np.float32]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    yield from {"aggregation": _aggregation, "simulated": _simulated}[case](quick)


class Mixing(Protocol):
    """How one agent of a ring mixes."""

    def mix(self, x: F32) -> F32:
        """Send, wait for the neighbour, mix."""
        ...


class Linked:
    """Over the engine's links."""

    def __init__(self, number: int, n: int, line: Any, host: str = "") -> None:
        self.peers, self.number, self.before = ZmqPeers(number, host), number, (number - 1) % n
        line.send(self.peers.member(n))
        self.peers.link(View(1, 0, 0, 0, "", line.recv()), [self.before], [(number + 1) % n])
        self.after = (number + 1) % n
        self.row = {number: 0.5, self.before: 0.5}

    def mix(self, x: F32) -> F32:
        """Sleeps in a poll while there is nothing to do."""
        sent, frame = False, memoryview(x.tobytes())
        while not (sent := sent or self.peers.post(self.after, frame)) or self.before not in self.peers.unread():
            self.peers.wait(_WAIT_S)
        theirs = np.frombuffer(self.peers.read(self.before), np.float32)
        return combined(self.row, {self.number: x, self.before: theirs})


class Brokered:
    """Over a central broker: box i holds what agent i sent, flag i whether it is there and not read yet."""

    def __init__(self, number: int, n: int, line: Any, address: str) -> None:
        manager = _Broker(address, authkey=b"gossip")
        manager.connect()
        self.boxes, self.flags = manager.boxes(), manager.flags()  # type: ignore[attr-defined]
        self.number, self.before = number, (number - 1) % n
        line.send(Member(number))
        line.recv()
        self.row = {number: 0.5, self.before: 0.5}

    def mix(self, x: F32) -> F32:
        """Asks for flags in a loop."""
        self._until(self.number, False)
        self.boxes.__setitem__(self.number, packed(x))
        self.flags.__setitem__(self.number, True)
        self._until(self.before, True)
        theirs = unpacked(self.boxes.__getitem__(self.before))
        self.flags.__setitem__(self.before, False)
        return combined(self.row, {self.number: x, self.before: theirs})

    def _until(self, number: int, flag: bool) -> None:
        while self.flags.__getitem__(number) != flag:
            time.sleep(ASKED_S)


class _Broker(SyncManager):
    """The paper's server."""


def _serve(address: str, n: int) -> None:
    boxes, flags = [b""] * n, [False] * n
    _Broker.register("boxes", callable=lambda: boxes, exposed=("__getitem__", "__setitem__"))
    _Broker.register("flags", callable=lambda: flags, exposed=("__getitem__", "__setitem__"))
    _Broker(address, authkey=b"gossip").get_server().serve_forever()


_Broker.register("boxes")
_Broker.register("flags")


def _agent(way: Callable[..., Mixing], number: int, n: int, line: Any, more: tuple[Any, ...]) -> None:
    """One process: sleeps, mixes, and tells how long mixing took."""
    mine, x = way(number, n, line, *more), np.full(NUMBERS, number, np.float32)
    sleep_s, iterations = line.recv()
    taken = []
    for _ in range(iterations):
        time.sleep(sleep_s)
        began = time.perf_counter()
        x = mine.mix(x)
        taken.append(time.perf_counter() - began)
    line.send((taken, float(x.mean())))
    line.recv()


class Ring:
    """Agents in processes of their own; ``more``: further arguments of their way."""

    def __init__(self, way: Callable[..., Mixing], n: int, *more: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self._lines, self._processes, self.n = [], [], n
        for number in range(n):
            mine, theirs = context.Pipe()
            process = context.Process(target=_agent, args=(way, number, n, theirs, more), daemon=True)
            process.start()
            self._lines.append(mine)
            self._processes.append(process)
        members = tuple(self._received(line) for line in self._lines)
        self._tell(members)

    def taken(self, sleep_s: float, iterations: int) -> list[float]:
        """Seconds of every mixing of every agent, the first few left out. Raises TimeoutError, and RuntimeError where
        the agents did not mix as a ring does."""
        self._tell((sleep_s, iterations))
        found = [self._received(line) for line in self._lines]
        P = np.linalg.matrix_power(mixing("ring", self.n), iterations)
        if not np.allclose([mean for _, mean in found], P @ np.arange(self.n), atol=1e-3):
            raise RuntimeError("the agents of a benchmark did not mix as a ring does")
        return [seconds for each, _ in found for seconds in each[WARM:]]

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.kill()
            process.join()

    def _tell(self, what: Any) -> None:
        for line in self._lines:
            line.send(what)

    def _received(self, line: Any) -> Any:
        if not line.poll(_WAIT_S):
            raise TimeoutError("an agent of a benchmark did not answer")
        return line.recv()


def linked(n: int, sleep_s: float, iterations: int, host: str = "") -> list[float]:
    """Seconds of mixing over the engine's links."""
    ring = Ring(Linked, n, host)
    try:
        return ring.taken(sleep_s, iterations)
    finally:
        ring.close()


@contextlib.contextmanager
def broker(n: int) -> Iterator[str]:
    """The address of a broker for n agents, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/broker"
        server = multiprocessing.get_context("spawn").Process(target=_serve, args=(address, n), daemon=True)
        server.start()
        try:
            until = time.monotonic() + _WAIT_S
            while not Path(address).exists() and time.monotonic() < until:
                time.sleep(0.05)
            yield address
        finally:
            server.kill()
            server.join()


def brokered(n: int, sleep_s: float, iterations: int) -> list[float]:
    """Seconds of mixing over a broker."""
    with broker(n) as address:
        ring = Ring(Brokered, n, address)
        try:
            return ring.taken(sleep_s, iterations)
        finally:
            ring.close()


def broker_operation(iterations: int) -> float:
    """Seconds of one operation of a broker with parameters, by a single agent: half of writing and reading them."""
    with broker(1) as address:
        manager = _Broker(address, authkey=b"gossip")
        manager.connect()
        boxes, x, taken = manager.boxes(), np.ones(NUMBERS, np.float32), []  # type: ignore[attr-defined]
        for _ in range(iterations):
            began = time.perf_counter()
            boxes.__setitem__(0, packed(x))
            unpacked(boxes.__getitem__(0))
            taken.append((time.perf_counter() - began) / 2)
    return median(taken)


def packed(x: F32) -> bytes:
    """Parameters as the paper sends them."""
    return base64.b64encode(pickle.dumps(x))


def unpacked(sent: bytes) -> F32:
    """The inverse of ``packed``, between processes of this benchmark only."""
    found: F32 = pickle.loads(base64.b64decode(sent))  # noqa: S301
    return found


def _aggregation(quick: bool) -> Iterator[dict[str, Any]]:
    iterations, found = (QUICK_ITERATIONS if quick else ITERATIONS), {}
    for n in QUICK_AGENTS if quick else AGENTS:
        mine, theirs = linked(n, SLEEP_S, iterations), brokered(n, SLEEP_S, iterations)
        found[n] = median(mine)
        goal, meets = "", None
        if n == KNEE:
            goal, meets = f"< {GOAL} × that of 16", found[n] < GOAL * found[16]
        yield row(
            NAME, "aggregation", 1000 * found[n], "ms", peer="central broker", peer_value=1000 * median(theirs),
            goal=goal, meets=meets,
            detail=f"{n} agents, {4 * NUMBERS / 1e6:g} MB, after {SLEEP_S:g} s of sleep; 9 of 10 within "
            f"{1000 * np.quantile(mine, 0.9):.1f} ms, broker {1000 * np.quantile(theirs, 0.9):.1f} ms",
        )  # fmt: skip


def _simulated(quick: bool) -> Iterator[dict[str, Any]]:
    iterations = QUICK_ITERATIONS if quick else ITERATIONS
    link_s = median(linked(2, 0.0, iterations, "127.0.0.1"))
    operation_s = broker_operation(iterations)
    found: dict[int, float] = {}
    for n in SIMULATED:
        found[n], theirs = ring_time(n, link_s, SLEEP_S), broker_time(n, operation_s, SLEEP_S)
        goal, meets = (f"< {GOAL} × that of 16", found[n] < GOAL * found[16]) if n == KNEE else ("", None)
        yield row(
            NAME, "simulated", 1000 * found[n], "ms", peer="central broker", peer_value=1000 * theirs, goal=goal,
            meets=meets, detail=f"{n} agents that learn for {SLEEP_S:g} s ± 10 %, each on a processor of its own; "
            f"{1000 * link_s:.2f} ms a message over a link, {1000 * operation_s:.2f} ms an operation of the broker "
            "(measured)",
        )  # fmt: skip


def lengths(n: int, learn_s: float, iterations: int = 200) -> NDArray[np.float64]:
    """How long agents learn, [iterations, n]: uniform, a tenth more or less."""
    return learn_s * np.random.default_rng(n).uniform(0.9, 1.1, (iterations, n))


def ring_time(n: int, link_s: float, learn_s: float) -> float:
    """Mean seconds between the end of learning and having mixed, in a ring in PALA's order: v_i mixes once the message
    of v_{i−1} is there, and ends its iteration once v_{i+1} has read the one before."""
    ready, read, total = np.zeros(n), np.zeros(n), 0.0
    times = lengths(n, learn_s)
    for learned in times:
        done = ready + learned
        sent = np.maximum(done, np.roll(read, -1))
        read = np.maximum(done, np.roll(sent, 1) + link_s)
        ready = np.maximum(read, sent)
        total += float((ready - done).mean())
    return total / len(times)


def broker_time(n: int, operation_s: float, learn_s: float) -> float:
    """The same over a broker that does one operation after the other: each agent writes, then reads what the one
    before it wrote."""
    learned, total, free = lengths(n, learn_s), 0.0, 0.0
    wrote, began = np.full((len(learned), n), np.inf), np.zeros(n)
    events: list[tuple[float, int, int, str]] = []
    for i in range(n):
        began[i] = learned[0, i]
        heapq.heappush(events, (began[i], 0, i, "write"))
    waits: dict[tuple[int, int], float] = {}
    while events:
        now, k, i, what = heapq.heappop(events)
        free = max(free, now) + operation_s
        if what == "write":
            wrote[k, i] = free
            for reader, at in ((i, free), ((i + 1) % n, waits.pop((k, (i + 1) % n), np.inf))):
                _read(events, wrote, waits, (k, reader), max(at, free) if np.isfinite(at) else np.inf)
        else:
            total += free - began[i]
            if k + 1 < len(learned):
                began[i] = free + learned[k + 1, i]
                heapq.heappush(events, (began[i], k + 1, i, "write"))
    return total / learned.size


def _read(
    events: list[tuple[float, int, int, str]], wrote: NDArray[np.float64], waits: dict[tuple[int, int], float],
    place: tuple[int, int], at: float,
) -> None:  # fmt: skip
    """Let an agent that is ready at ``at`` read, or wait for what it reads."""
    k, i = place
    if not np.isfinite(at):
        return
    if np.isfinite(wrote[k, (i - 1) % wrote.shape[1]]):
        heapq.heappush(events, (at, k, i, "read"))
    else:
        waits[place] = at
