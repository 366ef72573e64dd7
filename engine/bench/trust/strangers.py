"""How often it is said wrongly that a style holds against strangers, or is fragile, in a measure without declared ends.

``strangers-KIND``: how episodes differ from those on the same seeds (``differences``). With a mean shift just beyond
the line, and twice as far, a style must not be said to hold; with one just short of the line, it must not be called
fragile. The value is the largest share of these that is wrong, after 20 to 4,000 episodes. ``rareP``: normal, with all
of the shift in the share P of the episodes. ``mostlyP``: equal but for the share P. ``backP``: a shift beyond the line
of which the share P takes most back. ``strangers-beyond``, not promised: one episode in 2,000 goes 320 spans, further
than is allowed for. ``strangers-still``: without a shift, how often a style is said to hold after 5,000 episodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.bench.row import row
from engine.bench.trust.noises import Floats
from engine.styles.strangers import ERROR, FRAGILE, moved, paired

RUNS, EPISODES, MANY = 300, (20, 100, 400, 1000, 2700, 4000), 5000
SPAN = {"hits": 8.0}
RARE = ("rare0.05", "rare0.01", "rare0.0056", "rare0.002")
MOSTLY = ("mostly0.6", "mostly0.1", "mostly0.006")
BACK = {"back0.02": 10.0, "back0.005": 40.0, "back0.002": 100.0}
OPEN_ENDED = ("normal", "lognormal0.5", "lognormal1.5", *RARE, *MOSTLY, "tied", "constant")
ORDINARY = ("normal", "lognormal0.5", "tied")
BEYOND = 1 / 2000, 320.0
SHIFTS = {"holds": (1.001 * FRAGILE, 2 * FRAGILE), "fragile": (0.999 * FRAGILE,)}
CASES = tuple(f"strangers-{kind}" for kind in (*OPEN_ENDED, *BACK, "beyond", "still"))


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    kind, runs = case.removeprefix("strangers-"), RUNS // 10 if quick else RUNS
    if kind == "still":
        yield _still(runs)
        return
    episodes, tried = _tried(kind)
    found = {
        said: {n: max(called(said, kind, n, by, runs) for by in shifts) for n in episodes}
        for said, shifts in tried.items()
    }
    share, promised = max(max(each.values()) for each in found.values()), kind != "beyond"
    each = "; ".join(f"{said} " + ", ".join(f"{n:,}: {s:.2g}" for n, s in at.items()) for said, at in found.items())
    yield row("trust", case, share, "of the searches wrong", goal=f"<= {ERROR:g}" if promised else "",
              meets=share <= ERROR + 3 * _error(ERROR, runs) if promised else None, seeds=[0, runs - 1],
              detail=f"{runs} searches of each; error of the share {_error(share, runs):.2g}; {each}")  # fmt: skip


def _tried(kind: str) -> tuple[tuple[int, ...], dict[str, tuple[float, ...]]]:
    """After how many episodes what must not be said is counted, and of which shifts."""
    if kind == "beyond":
        return EPISODES[-2:], {"holds": (math.prod(BEYOND),)}
    return EPISODES, {"fragile": SHIFTS["fragile"]} if kind in BACK else dict(SHIFTS)


def _still(runs: int) -> dict[str, Any]:
    found = {kind: called("holds", kind, MANY, 0.0, runs) for kind in ORDINARY}
    least = min(found.values())
    detail = f"{MANY:,} episodes: " + ", ".join(f"{kind} {share:.3g}" for kind, share in found.items())
    return row("trust", "strangers-still", least, "of the searches hold", goal=f">= {1 - ERROR:g}",
               meets=least >= 1 - ERROR - 3 * _error(ERROR, runs), seeds=[0, runs - 1],
               detail=f"{runs} searches of each; error of the share {_error(least, runs):.2g}; {detail}")  # fmt: skip


def _error(share: float, runs: int) -> float:
    """Of a count of so many runs; of none, as of one."""
    share = min(max(share, 1 / runs), 1 - 1 / runs)
    return math.sqrt(share * (1 - share) / runs)


def called(said: str, kind: str, episodes: int, by: float, times: int) -> float:
    """How often that is said of a shift of so many spans."""
    found = 0
    for seed in range(times):
        change = differences(kind, np.random.default_rng(seed), episodes, by)
        shift = moved([paired("hits", "a", SPAN["hits"] * change, None, ERROR)], SPAN)
        found += shift is not None and shift.verdict == said
    return found / times


def differences(kind: str, rng: np.random.Generator, episodes: int, by: float) -> Floats:
    """By how much episodes differ on the same seeds, in spans, of this mean."""
    usual, other = (_normal(rng, episodes) for _ in range(2))
    share = float(kind.lstrip("abcdefghijklmnopqrstuvwxyz") or BEYOND[0])
    if kind.startswith("lognormal"):
        return np.asarray(0.1 * (np.exp(share * usual) - np.exp(share * other)) + by, np.float64)
    if kind == "tied":
        return 0.2 * rng.integers(-2, 3, episodes).astype(np.float64) + by
    if kind in ("normal", "constant"):
        return 0.3 * (kind == "normal") * usual + by
    here = (rng.random(episodes) < share).astype(np.float64)
    if kind.startswith("rare"):
        return 0.1 * usual + here * by / share
    if kind.startswith("mostly"):
        return here * rng.lognormal(-1.125, 1.5, episodes) * by / share
    return 0.05 * usual + by + BACK[kind] * (share - here) if kind in BACK else BEYOND[1] * here


def _normal(rng: np.random.Generator, episodes: int) -> Floats:
    return rng.normal(size=episodes)
