"""Fully connected layers, compiled: a network, or several, in one call where torch makes a dozen.

h_0 = x, h_j = φ(W_j h_{j−1} + b_j), y = W_k h_{k−1} + b_k, where φ(v) = v, or ``slope`` · v where v ≤ 0. θ has each
layer's matrix [o, i], then its biases. Products go to SciPy's BLAS, which takes one thread from the first import on:
several cost more than products this small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_blas  # noqa: F401, numba multiplies by it: it must be there to be limited
from threadpoolctl import ThreadpoolController

from engine.rl.compiled import compiled

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]


@compiled
def _bend(values: F32, by: F32, slope: np.float32) -> None:
    """``values`` · ``slope``, in place, where ``by`` is 0 or below. A NaN is not; without a slope all are 0 there, as
    0 · ∞ is none."""
    for r in range(values.shape[0]):
        for c in range(values.shape[1]):
            if by[r, c] <= 0:
                values[r, c] = slope * values[r, c] if slope else np.float32(0)


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
            np.dot(h, W.T, out)
            for r in range(n):
                for c in range(o):
                    out[r, c] += b[c]
            if j < last:
                _bend(out, out, slope)
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
                    _bend(below, h, slope)
                d = below


def _on_one_thread() -> None:
    """Let SciPy's BLAS take one thread, in this whole process."""
    found = ThreadpoolController()
    mine = [each.filepath for each in found.lib_controllers if "scipy.libs" in each.filepath]
    found.select(filepath=mine).limit(limits=1)


_on_one_thread()
