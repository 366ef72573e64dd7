"""A step of n battles as the arrays of a STATES message, and back.

======================================  ===================================================================================
``seat0.NAME`` [n, …]                   each observation of each seat, float32 or uint8, as the game describes it
``seat0.mask`` uint8[n, k]              1 where a choice is legal; may be left out where everything is
``rewards`` float32[n, seats, R]        of the step; 0 after RESET
``terminated``, ``truncated`` uint8[n]  1: the episode ended by the rules, or was cut short; the next one has begun
``alive`` uint8[n, seats]               0 for a seat that is out while its battle goes on; may be left out
``cut`` uint8[n, seats]                 1: a limit of its own took the seat out in this step; may be left out
``ended.seat0.NAME`` [m, …]             what each seat saw last in the m episodes that ended, by ascending battle
``ended.seat0.mask`` uint8[m, k]        as above
``ended.seat0.signals`` float64[m, S]   each seat's named signals; may be left out where there are none
``ended.win`` float64[m, seats]         1, 0.5 or 0 for won, drawn, lost; nothing outside 0 to 1; NaN: nobody wins
``ended.score`` float64[m, seats]       the game's own score
``ended.out`` uint8[m, seats]           1: the seat was out at the end, as by death in the last step; may be left out
======================================  ===================================================================================

The ``ended`` arrays may be left out when no episode ended. Seeds, lengths and returns are counted by the engine.
"""  # noqa: E501 (a table)

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import SimulatorError
from engine.mdp.episodes import Totals
from engine.mdp.interface import Array, MDPSpec, Observations
from engine.mdp.vector import Ended, VectorStep
from engine.simulators.protocol import Arrays

_END = "ended."


def to_arrays(step: VectorStep) -> Arrays:
    """A step as arrays."""
    found: Arrays = _seats(step.observations, step.masks, "")
    found |= {"rewards": step.rewards, "alive": step.alive.astype(np.uint8)}
    found |= {name: getattr(step, name).astype(np.uint8) for name in ("terminated", "truncated")}
    ended = step.ended
    if ended is not None:
        found |= _seats(ended.observations, ended.masks, _END)
        found |= {f"{_END}win": np.asarray(ended.win, np.float64), f"{_END}score": np.asarray(ended.score, np.float64)}
        found |= {f"{_END}seat{i}.signals": np.asarray(table, np.float64) for i, table in enumerate(ended.signals)}
        found |= {} if ended.out is None else {f"{_END}out": ended.out.astype(np.uint8)}
    return found | ({} if step.cut is None else {"cut": step.cut.astype(np.uint8)})


def _seats(observations: tuple[Observations, ...], masks: tuple[Array | None, ...], prefix: str) -> Arrays:
    found = {f"{prefix}seat{i}.{name}": a for i, seen in enumerate(observations) for name, a in seen.items()}
    return found | {f"{prefix}seat{i}.mask": m.astype(np.uint8) for i, m in enumerate(masks) if m is not None}


def from_arrays(spec: MDPSpec, n: int, arrays: Arrays) -> VectorStep:
    """The step in arrays from outside, without its totals. Raises SimulatorError for missing arrays; shapes, types and
    numbers are checked by ``engine.mdp.checks.check_batch``."""
    terminated, truncated = (_flags(_get(arrays, name), (n,), name) for name in ("terminated", "truncated"))
    seats = (n, len(spec.seats))
    alive = _flags(arrays["alive"], seats, "alive") if "alive" in arrays else np.ones(seats, np.bool_)
    both = np.flatnonzero(terminated & truncated)
    if len(both):
        raise SimulatorError(f"battle {both[0]} says both terminated and truncated; an episode ends one way")
    cut = _flags(arrays["cut"], seats, "cut") if "cut" in arrays else None
    if cut is not None and (cut & alive).any():
        raise SimulatorError(f"battle {np.argwhere(cut & alive)[0, 0]} cuts off a seat that is still in")
    over = np.flatnonzero(terminated | truncated)
    return VectorStep(
        _observations(spec, arrays, ""), _masks(spec, n, arrays, ""), _get(arrays, "rewards"), terminated, truncated,
        alive, _ended(spec, over, arrays) if len(over) else None, cut,
    )  # fmt: skip


def _get(arrays: Arrays, name: str) -> NDArray[Any]:
    if name not in arrays:
        raise SimulatorError(f"the array {name!r} is missing")
    return arrays[name]


def _flags(array: NDArray[Any], shape: tuple[int, ...], name: str) -> NDArray[np.bool_]:
    if array.dtype != np.uint8 or array.shape != shape or (array > 1).any():
        raise SimulatorError(f"{name} is {array.dtype}{list(array.shape)}; it must be uint8{list(shape)} of 0 and 1")
    return array.astype(np.bool_)


def _observations(spec: MDPSpec, arrays: Arrays, prefix: str) -> tuple[Observations, ...]:
    return tuple(
        {s.name: _get(arrays, f"{prefix}seat{i}.{s.name}") for s in seat.observations}
        for i, seat in enumerate(spec.seats)
    )


def _masks(spec: MDPSpec, n: int, arrays: Arrays, prefix: str) -> tuple[NDArray[np.bool_] | None, ...]:
    names = [f"{prefix}seat{i}.mask" for i in range(len(spec.seats))]
    return tuple(
        _flags(arrays[name], (n, seat.action.legal), name) if name in arrays else None
        for name, seat in zip(names, spec.seats, strict=True)
    )


def _ended(spec: MDPSpec, over: NDArray[np.int64], arrays: Arrays) -> Ended:
    m = len(over)
    signals = []
    for i, seat in enumerate(spec.seats):
        name = f"{_END}seat{i}.signals"
        signals.append(_get(arrays, name) if seat.signals else np.zeros((m, 0)))
    for name in ("win", "score"):
        table = _get(arrays, _END + name)
        if table.dtype != np.float64 or table.shape != (m, len(spec.seats)):
            raise SimulatorError(
                f"{_END}{name} is {table.dtype}{list(table.shape)}; it must be float64{[m, len(spec.seats)]}"
            )
    out, flags = f"{_END}out", (m, len(spec.seats))
    none = Totals(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty((0, 0, 0)))
    return Ended(
        over, *none, arrays[f"{_END}win"], arrays[f"{_END}score"], tuple(signals),
        _observations(spec, arrays, _END), _masks(spec, m, arrays, _END),
        _flags(arrays[out], flags, out) if out in arrays else None,
    )  # fmt: skip
