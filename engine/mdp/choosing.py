"""Choices drawn from logits by noise that is a hash of a key alone; compiled. Learners and policies that act without
torch share this."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from engine.compiling import njit
from engine.rng import GOLDEN
from engine.splitmix import mix

F32 = NDArray[np.float32]
_compiled = njit(cache=True, nogil=True, error_model="numpy")


@_compiled
def uniform(key: np.uint64, i: int) -> float:
    """The i-th number of a key's stream, uniform in [0, 1): SplitMix64 (Steele et al. 2014)."""
    return float(mix(key + np.uint64(i + 1) * GOLDEN) >> np.uint64(11)) * 2.0**-53


@_compiled
def uniforms(keys: NDArray[np.uint64], i: int) -> NDArray[np.float64]:
    """The i-th number of each key's stream [n]."""
    found = np.empty(len(keys))
    for n in range(len(keys)):
        found[n] = uniform(keys[n], i)
    return found


@_compiled
def choose(outputs: F32, mask: NDArray[np.bool_], n: int, at: int, k: int, mark: float) -> tuple[int, float]:
    """(choice, log-probability) of one discrete part: columns at … at + k of row n. The choice is the one whose share
    of the cumulative probability contains ``mark`` in [0, 1); below 0: the likeliest. ``mask`` bool[n, K], or empty
    where everything is legal."""
    free = len(mask) == 0 or not mask[n, at : at + k].any()
    best = -1
    for j in range(k):
        if (free or mask[n, at + j]) and (best < 0 or outputs[n, at + j] > outputs[n, at + best]):
            best = j
    largest, weight = outputs[n, at + best], 0.0
    for j in range(k):
        if free or mask[n, at + j]:
            weight += math.exp(outputs[n, at + j] - largest)
    chosen, rest = best, mark * weight
    for j in range(k):
        if mark >= 0 and (free or mask[n, at + j]):
            rest -= math.exp(outputs[n, at + j] - largest)
            chosen = j
            if rest < 0:
                break
    return chosen, outputs[n, at + chosen] - largest - math.log(weight)


@_compiled
def choices(outputs: F32, keys: NDArray[np.uint64], sizes: NDArray[np.int64]) -> F32:
    """One choice of each part, float32[n, parts], from logits [n, K], everything legal; without keys the likeliest."""
    rows, free = np.empty((len(outputs), len(sizes)), np.float32), np.empty((0, 0), np.bool_)
    for n in range(len(outputs)):
        at = 0
        for i in range(len(sizes)):
            mark = -1.0 if len(keys) == 0 else uniform(keys[n], i)
            rows[n, i] = choose(outputs, free, n, at, sizes[i], mark)[0]
            at += sizes[i]
    return rows
