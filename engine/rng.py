"""Random numbers that depend on what is drawn, never on the process that draws it or when.

The seed of a battle is a hash of (study seed, canonical match key, replicate). It does not depend on worker,
batch size, completion order or clock, so a synchronous study gives the same front on any pool.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""SplitMix64's increment."""


def finalised(x: Any) -> Any:
    """SplitMix64's finaliser (Steele et al. 2014) of uint64 with wrap-around: a bijection that scatters bits.
    ``engine.splitmix`` compiles it, too."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def mix64(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """``finalised`` on arrays of any shape."""
    with np.errstate(over="ignore"):
        return np.asarray(finalised(np.asarray(x, dtype=np.uint64)))


def combine64(a: NDArray[np.uint64] | int, b: NDArray[np.uint64] | int) -> NDArray[np.uint64]:
    """Order-sensitive combination of two uint64 arrays (they broadcast)."""
    with np.errstate(over="ignore"):
        return mix64(mix64(np.asarray(a, dtype=np.uint64)) + GOLDEN + np.asarray(b, dtype=np.uint64))


def battle_seeds(study_seed: int, match_keys: NDArray[np.uint64], first: int, last: int) -> NDArray[np.uint64]:
    """Seeds uint64[len(match_keys), last - first] of replicates ``first <= r < last`` of each match."""
    replicates = np.arange(first, last, dtype=np.uint64)
    keyed = combine64(study_seed & 0xFFFFFFFFFFFFFFFF, np.asarray(match_keys, dtype=np.uint64))
    return combine64(keyed[:, None], replicates[None, :])


def generator(seed: int, *path: str | int) -> np.random.Generator:
    """A Generator for one purpose: same seed and path, same stream, on any worker."""
    words = [int.from_bytes(hashlib.sha256(repr(p).encode()).digest()[:4], "little") for p in path]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed & 0xFFFFFFFFFFFFFFFF, *words])))
