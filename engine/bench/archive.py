"""The archive at the size the design promises: 1,000,000 individuals of which 20,000 are on the front.

Points lie on a curved front of two or three objectives (planted: 20,000 of them, at random places of the stream) or
behind it. An insert is timed one by one at the end, when the archive is largest: half of them join the front. The peer
is moocore's non-dominated filter over the whole set, what answering the same question without an archive costs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.bench.row import row
from engine.evolution.archive import Archive
from engine.indicators import non_dominated

NAME = "archive"
CASES = ("two-objectives", "three-objectives")
SIZE, FRONT, TIMED = 1_000_000, 20_000, 2_000
LIMIT_MS = 1.0


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case: insert, front query, and a revision that takes a member off the front."""
    m = 2 if case == "two-objectives" else 3
    share = 10 if quick else 1
    rng = np.random.default_rng(1)
    points = planted(rng, SIZE // share, FRONT // share, m)
    archive = Archive([-1.0] * m, np.zeros(10))
    genome = np.zeros(10)
    began = time.perf_counter()
    for point in points:
        archive.insert(genome, point)
    filled = time.perf_counter() - began
    began = time.thread_time()
    whole = int(non_dominated(points, [-1.0] * m).sum())
    peer = (time.thread_time() - began) * 1e3
    sizes = f"{len(archive):,} individuals, {len(archive.front):,} on the front (moocore counts {whole:,})"
    new = planted(rng, TIMED, TIMED // 2, m)
    insert = [_ms(lambda p=p: archive.insert(genome, p)) for p in new]
    query = [_ms(lambda: (archive.front.copy(), archive.front_objectives)) for _ in range(200)]
    members = archive.front[rng.choice(len(archive.front), 200, replace=False)].tolist()
    revise = [_ms(lambda r=r: archive.revise(r, np.full(m, 2.0))) for r in members]
    for name, times, limit in (("insert", insert, True), ("front-query", query, True), ("revise", revise, False)):
        worst = float(np.quantile(times, 0.99))
        yield row(NAME, f"{case}-{name}", median(times), "ms", peer="moocore's filter over everything",
                  peer_value=peer, goal=f"<= {LIMIT_MS:g} ms each" if limit else "",
                  meets=worst <= LIMIT_MS if limit else None, seeds=[1],
                  detail=f"{sizes}; 99 % within {worst:.3g} ms, slowest {max(times):.3g} ms; "
                         f"filled in {filled:.1f} s")  # fmt: skip


def planted(rng: np.random.Generator, n: int, front: int, m: int) -> NDArray[np.float64]:
    """n points of m minimised objectives, ``front`` of them on the unit sphere, the others farther out behind it."""
    directions = np.abs(rng.normal(size=(n, m)))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radius = np.ones(n)
    behind = rng.permutation(n)[front:]
    radius[behind] += rng.uniform(0.05, 1.0, len(behind))
    points: NDArray[np.float64] = 1.5 - directions / radius[:, None]
    return points


def _ms(work: Any) -> float:
    """Milliseconds of this thread: what other programs take from the processor in between is not the archive's."""
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1e3
