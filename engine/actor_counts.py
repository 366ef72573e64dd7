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


class ActorCounts:
    """An actor's own numbers, in a ``file`` of this machine that ``prepare`` made, or in memory alone."""

    def __init__(self, file: str = "") -> None:
        self.name = Path(file).name if file else secrets.token_hex(8)
        self._numbers = np.zeros(_NUMBERS, np.int64)
        if file:
            with contextlib.suppress(OSError, ValueError):  # it is on another machine
                self._numbers = np.memmap(file, np.int64, "r+", shape=(_NUMBERS,))
        self._numbers[_OPENED] = 1

    @property
    def made(self) -> int:
        """Transitions that were made into parcels."""
        return int(self._numbers[_MADE])

    @made.setter
    def made(self, n: int) -> None:
        self._numbers[_MADE] = n

    @property
    def unsent(self) -> int:
        """Those of them for which nobody answered."""
        return int(self._numbers[_UNSENT])

    @unsent.setter
    def unsent(self, n: int) -> None:
        self._numbers[_UNSENT] = n

    @property
    def refused(self) -> int:
        """Those of them that were refused."""
        return int(self._numbers[_REFUSED])

    @refused.setter
    def refused(self, n: int) -> None:
        self._numbers[_REFUSED] = n


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
