"""How many transitions an actor made and could not deliver, in a file that stays as it is however its process ends.

So a learner knows exactly what is missing of an actor that was killed. The file is memory that the process shares with
the system: writing a number costs a few hundred nanoseconds.
"""

from __future__ import annotations

import contextlib
import secrets
from pathlib import Path
from typing import NamedTuple

import numpy as np

_MADE, _UNSENT, _REFUSED, _OPENED = range(4)
_NUMBERS = 4


class Left(NamedTuple):
    """What an actor left: the numbers of transitions. ``known``: whether it ever opened its file."""

    made: int
    unsent: int
    refused: int
    known: bool


class _Count:
    """One of an actor's numbers, by its place among them."""

    def __init__(self, place: int) -> None:
        self._place = place

    def __get__(self, counts: ActorCounts, owner: type) -> int:
        return int(counts.numbers[self._place])

    def __set__(self, counts: ActorCounts, n: int) -> None:
        counts.numbers[self._place] = n


class ActorCounts:
    """An actor's own numbers, in a ``file`` of this machine that ``prepare`` made, or in memory alone: transitions that
    were ``made`` into parcels; of these ``unsent``, for which nobody answered, and ``refused`` ones."""

    made, unsent, refused = _Count(_MADE), _Count(_UNSENT), _Count(_REFUSED)

    def __init__(self, file: str = "") -> None:
        self.name = Path(file).name if file else secrets.token_hex(8)
        self.numbers = np.zeros(_NUMBERS, np.int64)
        if file:
            with contextlib.suppress(OSError, ValueError):  # it is on another machine
                self.numbers = np.memmap(file, np.int64, "r+", shape=(_NUMBERS,))
        self.numbers[_OPENED] = 1


def prepare(file: Path) -> None:
    """Make the file of an actor that begins. Raises OSError."""
    file.write_bytes(bytes(8 * _NUMBERS))


def left(file: str) -> Left:
    """What an actor left whose process has ended."""
    try:
        made, unsent, refused, opened = np.fromfile(file, np.int64, _NUMBERS).tolist()
    except (OSError, ValueError):
        return Left(0, 0, 0, known=False)
    return Left(made, unsent, refused, known=bool(opened))
