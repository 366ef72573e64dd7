"""Loops over arrays, compiled when they are first called and kept for the next process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """The function as machine code that lets other threads run; a division by zero gives what NumPy gives."""
    return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))
