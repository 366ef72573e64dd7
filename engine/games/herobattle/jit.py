"""How herobattle's loops are compiled, and two machine instructions that numba does not offer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from engine.compiling import njit

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": False, "error_model": "numpy"}
_UNCOUNTED: dict[str, Any] = {"_nrt": False, **_OPTIONS}


def entry(function: F) -> F:
    """Compile a function that Python calls, or that makes arrays."""
    return cast(F, njit(**_OPTIONS)(function))


def helper(function: F) -> F:
    """Compile a function that takes arrays and makes none, without numba's reference counting: its atomic counting for
    the arrays of each call took half the time of a battle."""
    return cast(F, njit(**_UNCOUNTED)(function))


def _float_bits(context: Any, number: Any) -> Any:
    def build(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.sext(builder.bitcast(args[0], ir.IntType(32)), ir.IntType(64))

    return types.int64(types.float32), build


def _trailing_zeros(context: Any, word: Any) -> Any:
    def build(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), build


float_bits: Any = intrinsic(_float_bits)
"""The bits of a float32 as an integer; preserves the order of non-negative numbers."""

trailing_zeros: Any = intrinsic(_trailing_zeros)
"""The number of trailing zero bits of a non-zero 64-bit word."""
