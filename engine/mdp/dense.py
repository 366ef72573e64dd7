"""Layers of a network, compiled: the numbers of a row are the same, bit for bit, in any batch.

A product of matrices as libraries have it may sum in another order where there are more or fewer rows, so that a policy
would decide differently now and then. Here each output is summed over its inputs in their order, by fused
multiply-adds; four rows share what is read of the weights. On a core with AVX-512 this reaches five sixths of OpenBLAS
(``engine.bench commanders``, case ``lineups``, counts it in).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from engine.compiling import njit

F32 = NDArray[np.float32]
_ROWS = 4
_compiled = njit(cache=True, nogil=True, error_model="numpy")


def _multiply_add(_context: Any, a: Any, b: Any, c: Any) -> Any:
    def build(_context: Any, builder: ir.IRBuilder, _signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float32(types.float32, types.float32, types.float32), build


_fma: Any = intrinsic(_multiply_add)
"""a · b + c in float32, rounded once."""


@_compiled
def _four(x: F32, rows: tuple[int, int, int, int], weight: F32, bias: F32, sums: F32) -> None:
    """Four rows of ``x`` through a layer into ``sums`` [4, M]."""
    r0, r1, r2, r3 = rows
    s0, s1, s2, s3 = sums[0], sums[1], sums[2], sums[3]
    for j in range(weight.shape[1]):
        s0[j] = s1[j] = s2[j] = s3[j] = bias[j]
    k, inputs = 0, weight.shape[0]
    while k + 2 <= inputs:
        one, two = weight[k], weight[k + 1]
        a0, a1, a2, a3 = x[r0, k], x[r1, k], x[r2, k], x[r3, k]
        b0, b1, b2, b3 = x[r0, k + 1], x[r1, k + 1], x[r2, k + 1], x[r3, k + 1]
        for j in range(weight.shape[1]):
            v, w = one[j], two[j]
            s0[j] = _fma(b0, w, _fma(a0, v, s0[j]))
            s1[j] = _fma(b1, w, _fma(a1, v, s1[j]))
            s2[j] = _fma(b2, w, _fma(a2, v, s2[j]))
            s3[j] = _fma(b3, w, _fma(a3, v, s3[j]))
        k += 2
    if k < inputs:
        one = weight[k]
        a0, a1, a2, a3 = x[r0, k], x[r1, k], x[r2, k], x[r3, k]
        for j in range(weight.shape[1]):
            s0[j], s1[j] = _fma(a0, one[j], s0[j]), _fma(a1, one[j], s1[j])
            s2[j], s3[j] = _fma(a2, one[j], s2[j]), _fma(a3, one[j], s3[j])


@_compiled
def dense(x: F32, weight: F32, bias: F32) -> F32:
    """x · W + b: ``x`` [n, K], ``weight`` [K, M], ``bias`` [M], all contiguous; gives [n, M]."""
    n = x.shape[0]
    out, sums = np.empty((n, weight.shape[1]), np.float32), np.empty((_ROWS, weight.shape[1]), np.float32)
    for r in range(0, n, _ROWS):
        last = n - 1
        _four(x, (r, min(r + 1, last), min(r + 2, last), min(r + 3, last)), weight, bias, sums)
        for i in range(min(_ROWS, n - r)):
            out[r + i] = sums[i]
    return out


@_compiled
def tanh(x: F32) -> None:
    """In place."""
    for r in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[r, j] = math.tanh(x[r, j])


@_compiled
def leaky(x: F32, slope: np.float32) -> None:
    """Negative numbers times ``slope``, in place."""
    for r in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[r, j] = x[r, j] if x[r, j] > 0 else x[r, j] * slope


@_compiled
def _share(x: Any) -> Any:
    return 1.0 / (1.0 + math.exp(-x))


@_compiled
def remember(gates: F32, h: F32, c: F32) -> None:
    """One LSTM step in place (Hochreiter & Schmidhuber 1997; with forget gates, Gers et al. 2000): ``gates``
    [n, 4 · units] as ``engine.rl.networks`` has them, ``h`` and ``c`` [n, units]."""
    units = h.shape[1]
    for r in range(h.shape[0]):
        for j in range(units):
            kept = _share(gates[r, units + j]) * c[r, j]
            c[r, j] = kept + _share(gates[r, j]) * math.tanh(gates[r, 2 * units + j])
            h[r, j] = _share(gates[r, 3 * units + j]) * math.tanh(c[r, j])
