"""Checks of everything that a third-party game says, so that errors are reported at their source."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError, SimulatorError
from engine.mdp.interface import (
    ActionSpec,
    Array,
    Continuous,
    Hybrid,
    MDPSpec,
    Parameterised,
    SeatSpec,
    State,
)
from engine.mdp.sizes import too_large
from engine.mdp.vector import Ended, VectorStep
from engine.starting import description_problems
from engine.text import TURNING, WIDTHLESS, is_seen

_HIDDEN = re.compile(rf"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{TURNING}{WIDTHLESS}]")
"""Control characters except tabs and line breaks, characters that turn text or have no width, and lone surrogates."""
_BREAKS = re.compile(r"[\t\n\r]")
_LONG = {"text", "help", "about"}
"""Texts that may be long and have several lines; all others are ids, names and units, of one line."""
LONGEST, LONGEST_NAME = 2_000, 80


class Blame:
    """Context of calls into a third-party game: turns any error into a SimulatorError that says where. ``battle``: set
    before each battle's call (-1: there is only one); ``doing``: the call."""

    def __init__(self, label: str, doing: str = "step") -> None:
        self.label, self.doing, self.battle = label, doing, -1

    def __enter__(self) -> Blame:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        where = self.label if self.battle < 0 else f"{self.label}, battle {self.battle}"
        if isinstance(error, SimulatorError):
            raise SimulatorError(f"{where}: {error}", permanent=error.permanent) from error
        if isinstance(error, Exception) and not isinstance(error, EngineError):
            raise SimulatorError(f"{where}: {self.doing} raised {type(error).__name__}: {error}") from error


def game_problems(spec: MDPSpec) -> list[str]:
    """Problems of a game's description, empty if there are none. If it is too large, nothing else is reported."""
    if large := [*too_large(spec)]:
        return large
    found = [*text_problems(spec, "spec"), *([] if spec.seats else ["it has no seats"])]
    for name, least in (("max_ticks", 0), ("frame_skip", 1), ("squad", 1)):
        if (number := getattr(spec, name)) < least:
            found.append(f"spec.{name} is {number}; it must be {least} or more")
    if spec.squad > 1 and len(spec.seats) % spec.squad:
        found.append(f"it has {len(spec.seats)} seats, and sides of {spec.squad} seats do not fill them")
    if spec.in_turns:
        found.append("it is played in turns, and a program of its own steps all seats together")
    found += description_problems(spec.starts)
    for i, seat in enumerate(spec.seats):
        found += [f"seat {i}: {problem}" for problem in (*_seat_problems(seat), *_action_problems(seat.action))]
    return found


def text_problems(part: object, place: str, *, long: bool = False) -> Iterator[str]:
    """Problems of texts in a description: those that are too ``long`` for pages and tables, and invisible characters,
    which can make a page show something other than what is written."""
    if isinstance(part, str):
        yield from _text_problems(part, place, long)
    elif isinstance(part, msgspec.Struct):
        for name in part.__struct_fields__:
            yield from text_problems(getattr(part, name), f"{place}.{name}", long=name in _LONG)
    elif isinstance(part, Mapping):
        for key, value in part.items():
            yield from text_problems(key, place)
            yield from text_problems(value, place)
    elif isinstance(part, tuple | list):
        for i, value in enumerate(part):
            yield from text_problems(value, f"{place}[{i}]")


def _text_problems(text: str, place: str, long: bool) -> Iterator[str]:
    shown = repr(text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}…")
    most = LONGEST if long else LONGEST_NAME
    if len(text) > most:
        yield f"{place}: {shown} has {len(text):,} characters; {most:,} is the most"
    if found := _HIDDEN.search(text):
        yield f"{place}: {shown} holds the invisible character U+{ord(found[0]):04X}; leave it out"
    elif not long and _BREAKS.search(text):
        yield f"{place}: {shown} holds a tab or a line break; write it on one line"
    elif text and not is_seen(text):
        yield f"{place}: {shown} is nothing but blanks; write something that one can see, or nothing"


def _seat_problems(seat: SeatSpec) -> Iterator[str]:
    for what in ("observations", "rewards"):
        if not getattr(seat, what):
            yield f"it has no {what}"
    names = {"observation": [s.name for s in seat.observations], "reward": seat.rewards, "signal": seat.signals}
    for what, given in names.items():
        yield from (f"{what} {name!r} comes twice" for name in dict.fromkeys(given) if list(given).count(name) > 1)
    for s in seat.observations:
        if any(side < 1 for side in s.shape):
            yield f"observation {s.name!r} has the impossible shape {list(s.shape)}"


def _action_problems(action: ActionSpec) -> Iterator[str]:
    parts: Sequence[ActionSpec] = action.parts if isinstance(action, Hybrid) else (action,)
    if not parts:
        yield "its action has no parts"
    for part in parts:
        if any(k < 1 for k in part.choices):
            yield f"its action chooses among {min(part.choices)}; a choice has one alternative at least"
        elif isinstance(part, Continuous | Parameterised):
            yield from _bound_problems(part)


def _bound_problems(action: Continuous | Parameterised) -> Iterator[str]:
    sizes = action.shape if isinstance(action, Continuous) else action.sizes
    if any(size < (1 if isinstance(action, Continuous) else 0) for size in sizes):
        yield f"its action has the impossible sizes {list(sizes)}"
        return
    need = math.prod(sizes) if isinstance(action, Continuous) else sum(sizes)
    low, high = action.bounds
    if len(low) != need or len(high) != need:
        yield f"its action has {len(low)} lower and {len(high)} upper bounds for {need} numbers"
    elif not (np.isfinite(low) & np.isfinite(high) & (low <= high)).all():
        yield "its action's bounds must be finite numbers, the lower one first"


def check_array(where: str, array: Any, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
    """Raise SimulatorError unless it is an array of this shape and type, with only finite numbers."""
    if not isinstance(array, np.ndarray):
        raise SimulatorError(f"{where} is a {type(array).__name__}; it must be an array {dtype}{list(shape)}")
    if array.shape != tuple(shape) or array.dtype != dtype:
        raise SimulatorError(f"{where} is {array.dtype}{list(array.shape)}; it must be {dtype}{list(shape)}")
    if dtype.kind == "f" and not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0].tolist()
        raise SimulatorError(f"{where} is {array[tuple(place)]} at {place}; every number must be finite")


def check_batch(label: str, spec: MDPSpec, n: int, step: VectorStep) -> None:
    """Raise SimulatorError unless a step of n battles matches its spec: shapes, types, finite numbers, masks with a
    legal choice, consistent flags, wins from 0 to 1."""
    for i, seat in enumerate(spec.seats):
        where = f"{label}, seat {i}"
        _check_observations(where, seat, n, step.observations[i])
        if step.masks[i] is not None:
            check_mask(where, seat, step.masks[i], n)
    check_array(f"{label}: rewards", step.rewards, (n, len(spec.seats), spec.rewards), np.dtype(np.float32))
    for name in ("terminated", "truncated"):
        check_array(f"{label}: {name}", getattr(step, name), (n,), np.dtype(np.bool_))
    check_array(f"{label}: alive", step.alive, (n, len(spec.seats)), np.dtype(np.bool_))
    if (step.terminated & step.truncated).any():
        battle = int(np.argmax(step.terminated & step.truncated))
        raise SimulatorError(f"{label}, battle {battle}: says both terminated and truncated; an episode ends one way")
    _check_ended(label, spec, step)


def _check_observations(where: str, seat: SeatSpec, n: int, observations: dict[str, Array]) -> None:
    missing = {s.name for s in seat.observations} ^ set(observations)
    if missing:
        raise SimulatorError(f"{where}: observations {sorted(missing)} are described or given, but not both")
    for s in seat.observations:
        check_array(f"{where}: observation {s.name!r}", observations[s.name], (n, *s.shape), np.dtype(s.dtype))


def check_mask(where: str, seat: SeatSpec, mask: Any, n: int) -> None:
    """Raise SimulatorError unless every discrete choice of bool[n, k] has something legal."""
    check_array(f"{where}: mask", mask, (n, seat.action.legal), np.dtype(np.bool_))
    start = 0
    for k in seat.action.choices:
        none = ~mask[:, start : start + k].any(axis=1)
        if none.any():
            raise SimulatorError(f"{where}, battle {int(np.argmax(none))}: the mask leaves nothing legal to do")
        start += k


def _check_ended(label: str, spec: MDPSpec, step: VectorStep) -> None:
    over = np.flatnonzero(step.terminated | step.truncated)
    reported = np.empty(0, np.int64) if step.ended is None else step.ended.battles
    if not np.array_equal(over, reported):
        raise SimulatorError(
            f"{label}: battles {over.tolist()} ended by their flags and {reported.tolist()} by their results"
        )
    if step.ended is None:
        return
    m = len(reported)
    for i, seat in enumerate(spec.seats):
        _check_observations(f"{label}, seat {i}, last moment of an episode", seat, m, step.ended.observations[i])
        signals = step.ended.signals[i]
        if signals.shape != (m, len(seat.signals)):
            raise SimulatorError(f"{label}, seat {i}: signals are {list(signals.shape)}; {seat.signals} are described")
    _check_win(label, step.ended)


def _check_win(label: str, ended: Ended) -> None:
    """A win is a share, and what is reckoned from wins takes it for one; NaN: the game names no winner."""
    wrong = np.argwhere((ended.win < 0) | (ended.win > 1))
    if len(wrong):
        row, seat = wrong[0].tolist()
        said = f"{label}, battle {ended.battles[row]}, seat {seat}: the win is {ended.win[row, seat]:g}"
        raise SimulatorError(f"{said}; it must be 0 to 1, or NaN where the game names no winner")


def check_state(where: str, seat: SeatSpec, state: State) -> None:
    """Raise SimulatorError unless a seat's state matches its spec."""
    single = {name: np.asarray(array)[None] for name, array in state.observations.items()}
    _check_observations(where, seat, 1, single)
    if state.mask is not None:
        check_mask(where, seat, np.asarray(state.mask)[None], 1)


def check_rewards(where: str, spec: MDPSpec, rewards: Sequence[NDArray[np.float32]]) -> None:
    """Raise SimulatorError unless there is a finite reward vector for each seat."""
    if len(rewards) != len(spec.seats):
        raise SimulatorError(f"{where}: {len(rewards)} rewards came; {spec.name} has {len(spec.seats)} seats")
    for i, (seat, reward) in enumerate(zip(spec.seats, rewards, strict=True)):
        check_array(f"{where}, seat {i}: reward", reward, (len(seat.rewards),), np.dtype(np.float32))
