"""The passes of ``engine.rl.passes``, compiled, where they are small: all of them in one call each way.

h_1k = φ(W_1 (s, 0) + b_1 + W_k x_k), where W_k are the columns of W_1 that see the numbers of choice k;
h_jk = φ(W_j h_{j−1,k} + b_j), and Q_k is the k-th output of the last layer for h_k: of that layer's K outputs for each
pass only one is computed. Back from ∂L/∂Q_k, ∂L/∂x_k = W_kᵀ ∂L/∂(W_1 …). Slopes, products and θ are those of
``engine.rl.small_layers``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.rl.compiled import compiled
from engine.rl.small_layers import bend, finish

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]


@compiled
def _dot(a: F32, b: F32) -> np.float32:
    """a · b by eight sums side by side."""
    whole = len(a) - len(a) % 8
    c = d = e = f = g = h = k = m = np.float32(0)
    for i in range(0, whole, 8):
        c += a[i] * b[i]
        d += a[i + 1] * b[i + 1]
        e += a[i + 2] * b[i + 2]
        f += a[i + 3] * b[i + 3]
        g += a[i + 4] * b[i + 4]
        h += a[i + 5] * b[i + 5]
        k += a[i + 6] * b[i + 6]
        m += a[i + 7] * b[i + 7]
    for i in range(whole, len(a)):
        c += a[i] * b[i]
    return ((c + d) + (e + f)) + ((g + h) + (k + m))


@compiled
def _alone(theta: F32, entry: F32, x: F32, owner: I64, at: int, Q: F32) -> None:
    """``ahead`` where there is one layer."""
    K, i = Q.shape[1], entry.shape[1]
    W, b = theta[: K * i].reshape((K, i)), theta[K * i :]
    np.dot(entry, W.T, Q)
    for r in range(len(Q)):
        for k in range(K):
            Q[r, k] += b[k]
        for j in range(x.shape[1]):
            Q[r, owner[j]] += x[r, j] * W[owner[j], at + j]


@compiled
def _first(W: F32, entry: F32, x: F32, owner: I64, at: int, h: F32) -> None:
    """Write W_1 (s, 0) + W_k x_k of each choice k to ``h`` [K n, o], one choice after the other."""
    (n, D), o = x.shape, len(W)
    shared, seeing = np.empty((n, o), np.float32), np.ascontiguousarray(W[:, at : at + D].T)
    np.dot(entry, W.T, shared)
    for k in range(len(h) // n):
        h[k * n : (k + 1) * n] = shared
    for j in range(D):
        own, column = h[owner[j] * n : (owner[j] + 1) * n], seeing[j]
        for r in range(n):
            v = x[r, j]
            for c in range(o):
                own[r, c] += v * column[c]


@compiled
def ahead(
    theta: F32, entry: F32, x: F32, owner: I64, at: int, widths: I64, slope: np.float32, hidden: F32, Q: F32
) -> None:
    """Write ``Q`` [n, K], and ``hidden`` [Σ widths between · K n], for θ [size], ``entry`` [n, i] in which the numbers
    are 0, and numbers ``x`` [n, D], of which column j belongs to choice ``owner[j]`` and goes to input ``at + j``."""
    (n, K), last, place, begin = Q.shape, len(widths) - 2, 0, 0
    if last == 0:
        _alone(theta, entry, x, owner, at, Q)
        return
    h = entry
    for layer in range(last):
        i, o = widths[layer], widths[layer + 1]
        W, b = theta[place : place + i * o].reshape((o, i)), theta[place + i * o : place + i * o + o]
        out = hidden[begin : begin + K * n * o].reshape((K * n, o))
        if layer:
            np.dot(h, W.T, out)
        else:
            _first(W, entry, x, owner, at, out)
        finish(out, b, slope, True)
        place, begin, h = place + o * (i + 1), begin + K * n * o, out
    i = widths[last]
    W, b = theta[place : place + i * K].reshape((K, i)), theta[place + i * K :]
    for k in range(K):
        for r in range(n):
            Q[r, k] = _dot(h[k * n + r], W[k]) + b[k]


@compiled
def back(theta: F32, owner: I64, at: int, widths: I64, slope: np.float32, hidden: F32, delta: F32, gx: F32) -> None:
    """Write ∂L/∂x to ``gx`` [n, D] from ``delta`` [n, K], ∂L/∂Q."""
    (n, D), K, last = gx.shape, delta.shape[1], len(widths) - 2
    first = theta[: widths[0] * widths[1]].reshape((widths[1], widths[0]))
    if last == 0:
        for r in range(n):
            for j in range(D):
                gx[r, j] = delta[r, owner[j]] * first[owner[j], at + j]
        return
    i = widths[last]
    place, begin = len(theta) - K * (i + 1), len(hidden) - K * n * i
    W = theta[place : place + i * K].reshape((K, i))
    d = np.empty((K * n, i), np.float32)
    for k in range(K):
        for r in range(n):
            v = delta[r, k]
            for c in range(i):
                d[k * n + r, c] = v * W[k, c]
    bend(d, hidden[begin:].reshape((K * n, i)), slope)
    for layer in range(last - 1, 0, -1):
        i, o = widths[layer], widths[layer + 1]
        place -= o * (i + 1)
        begin -= K * n * i
        below = np.empty((K * n, i), np.float32)
        np.dot(d, theta[place : place + i * o].reshape((o, i)), below)
        bend(below, hidden[begin : begin + K * n * i].reshape((K * n, i)), slope)
        d = below
    seeing = np.ascontiguousarray(first[:, at : at + D].T)
    for j in range(D):
        for r in range(n):
            gx[r, j] = _dot(d[owner[j] * n + r], seeing[j])
