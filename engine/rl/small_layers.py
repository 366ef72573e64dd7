"""Fully connected layers, compiled: a network, or several, in one call where torch makes a dozen.

h_0 = x, h_j = φ(W_j h_{j−1} + b_j), y = W_k h_{k−1} + b_k, where φ(v) = v, or ``slope`` · v where v ≤ 0; with the
slope ``TANH``, φ = tanh. θ has each layer's matrix [o, i], then its biases. Products go to SciPy's BLAS, which must
have one thread (``on_one_thread``).

tanh(v) = v p(v²) / q(v²) in float64, rounded to float32: the p and q of degrees 5 and 4 whose largest relative error
for |v| ≤ 9.5 is the least, 2.3e-9; from there on it is 1. A dozen multiplications, several numbers at a time, take
less than half of what torch takes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from engine.rl.compiled import compiled

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]
TANH = np.float32(np.inf)
"""In place of a slope."""
_P5, _P4, _P3 = -1.1215567972320682e-11, 2.9222571080225017e-08, 2.743263956331947e-05
_P2, _P1, _P0 = 0.003839643682091719, 0.1365698103045392, 0.9999999976987421
_Q4, _Q3, _Q2, _Q1 = 1.2474522621631074e-06, 0.0003888189309896701, 0.027140718287222032, 0.4699031219878271
_END = 9.5


@compiled
def _product(x: F32, w: F32, y: F32) -> None:
    """Write ``y`` [n, 1] = ``x`` [n, i] · ``w`` [i] by eight sums side by side: one output in BLAS takes longer than
    sixty-four."""
    n, whole = len(x), len(w) - len(w) % 8
    for r in range(n):
        a = b = c = d = e = f = g = h = np.float32(0)
        for i in range(0, whole, 8):
            a += x[r, i] * w[i]
            b += x[r, i + 1] * w[i + 1]
            c += x[r, i + 2] * w[i + 2]
            d += x[r, i + 3] * w[i + 3]
            e += x[r, i + 4] * w[i + 4]
            f += x[r, i + 5] * w[i + 5]
            g += x[r, i + 6] * w[i + 6]
            h += x[r, i + 7] * w[i + 7]
        for i in range(whole, len(w)):
            a += x[r, i] * w[i]
        y[r, 0] = ((a + b) + (c + d)) + ((e + f) + (g + h))


@compiled
def _to_tanh(y: F32, b: F32) -> None:
    """y ← tanh(y + b)."""
    n, o = y.shape
    for r in range(n):
        for c in range(o):
            u = np.float64(y[r, c] + b[c])
            v = _END if u > _END else -_END if u < -_END else u
            z = v * v
            p = ((((_P5 * z + _P4) * z + _P3) * z + _P2) * z + _P1) * z + _P0
            y[r, c] = np.float32(v * p / ((((_Q4 * z + _Q3) * z + _Q2) * z + _Q1) * z + 1.0))


@compiled
def finish(y: F32, b: F32, slope: np.float32, bends: bool) -> None:
    """y ← φ(y + b), or y + b. A NaN stays; without a slope all is 0 below 0, as 0 · ∞ is none. Both values are worked
    out and one is chosen: so the compiler takes several numbers at a time."""
    n, o = y.shape
    if not bends:
        for r in range(n):
            for c in range(o):
                y[r, c] += b[c]
    elif slope == TANH:
        _to_tanh(y, b)
    elif slope:
        for r in range(n):
            for c in range(o):
                v = y[r, c] + b[c]
                low = slope * v
                y[r, c] = low if v <= 0 else v
    else:
        for r in range(n):
            for c in range(o):
                v = y[r, c] + b[c]
                y[r, c] = np.float32(0) if v <= 0 else v


@compiled
def bend(delta: F32, h: F32, slope: np.float32) -> None:
    """δ ← δ φ'(v), in place, where h = φ(v)."""
    if slope == TANH:
        for r in range(delta.shape[0]):
            for c in range(delta.shape[1]):
                delta[r, c] *= np.float32(1) - h[r, c] * h[r, c]
        return
    for r in range(delta.shape[0]):
        for c in range(delta.shape[1]):
            if h[r, c] <= 0:
                delta[r, c] = slope * delta[r, c] if slope else np.float32(0)


@compiled
def ahead(theta: F32, x: F32, widths: I64, slope: np.float32, hidden: F32, y: F32) -> None:
    """Write ``y`` [K, n, o] and what lies between, ``hidden`` [K, n · Σ widths between], for ``theta`` [K, size] and
    ``x`` [K, n, i], or [1, n, i], which all look at."""
    K, n, last = y.shape[0], y.shape[1], len(widths) - 2
    for k in range(K):
        h, at, begin = x[k % x.shape[0]], 0, 0
        for j in range(last + 1):
            i, o = widths[j], widths[j + 1]
            W, b = theta[k, at : at + i * o].reshape((o, i)), theta[k, at + i * o : at + i * o + o]
            at += (i + 1) * o
            out = y[k] if j == last else hidden[k, begin : begin + n * o].reshape((n, o))
            begin += n * o
            if o == 1:
                _product(h, W[0], out)
            else:
                np.dot(h, W.T, out)
            finish(out, b, slope, j < last)
            h = out


@compiled
def back(theta: F32, x: F32, widths: I64, slope: np.float32, hidden: F32, delta: F32, g: F32, gx: F32) -> None:
    """Write ∂L/∂θ to ``g`` [K, size] and ∂L/∂x to ``gx`` [K, n, i], or leave one out where it has no rows, from
    ``delta`` [K, n, o], ∂L/∂y."""
    K, n, last = delta.shape[0], delta.shape[1], len(widths) - 2
    of_theta, of_x = len(g) > 0, len(gx) > 0
    spare = np.empty((2, n * widths[1 : last + 1].max() if last else 1), np.float32)
    for k in range(K):
        d, at, begin = delta[k], theta.shape[1], hidden.shape[1]
        for j in range(last, -1, -1):
            i, o = widths[j], widths[j + 1]
            at -= (i + 1) * o
            begin -= n * i if j else 0
            h = hidden[k, begin : begin + n * i].reshape((n, i)) if j else x[k % x.shape[0]]
            if of_theta:
                np.dot(d.T, h, g[k, at : at + i * o].reshape((o, i)))
                gb = g[k, at + i * o : at + i * o + o]
                gb[:] = 0
                for r in range(n):
                    for c in range(o):
                        gb[c] += d[r, c]
            if j or of_x:
                below = spare[j % 2, : n * i].reshape((n, i)) if j else gx[k]
                np.dot(d, theta[k, at : at + i * o].reshape((o, i)), below)
                if j:
                    bend(below, h, slope)
                d = below


@cache
def on_one_thread() -> None:
    """Let SciPy's BLAS take one thread, in this whole process: several cost more than products this small."""
    # numba multiplies by it, and it must be there to be limited. Half a second to import, which samplers never need.
    from scipy.linalg import cython_blas  # noqa: F401

    found = ThreadpoolController()
    mine = [each.filepath for each in found.lib_controllers if "scipy.libs" in each.filepath]
    found.select(filepath=mine).limit(limits=1)
