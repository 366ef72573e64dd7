"""A replay that many processes of one machine write into and read from: one file that all of them map into memory.

A minibatch costs a copy of its rows, and no call and no lock, whoever learns. A writer holds the file's lock while it
adds the transitions of one fragment; the system releases the lock of a process that dies.

The file begins with a header of ``_HEADER`` bytes: two counters, the columns' description as JSON. ``written``:
transitions that were ever added; ``reserved``: those and the ones that a writer is about to put in. Transition m is in
row m mod capacity, and stays readable while m ≥ reserved − capacity. A writer raises ``reserved``, writes its rows,
then raises ``written``; a reader looks at ``reserved`` after it has copied, and draws anew what may have changed
meanwhile. So what a writer leaves behind that dies in the middle is never read. This needs a processor that keeps the
order of its stores, as x86-64 does.

The file grows as it is filled. A writer first has the system put by the blocks that its rows go to: a process that
writes into memory for which a full disk has no block is killed.

The system keeps the file in memory as long as there is room for it. Whoever has made it deletes it at the end.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError, DiskFull, StoreError
from engine.rl.replay import Arrays, Minibatch, ReplayBuffer, written
from engine.store import FULL

_HEADER, _LINE = 65_536, 64
_COUNTERS = 2 * 8


class SharedReplay(ReplayBuffer):
    """The replay in the file at ``path``, which the first transitions added create; everyone gives it the same
    ``capacity``. Each reader draws with its own ``rng``."""

    def __init__(self, path: Path, capacity: int, rng: np.random.Generator) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._folder, self._places = path.parent, dict[str, int]()
        self._counters: NDArray[np.int64] = np.zeros(2, np.int64)
        super().__init__(capacity, rng)
        self._attach()

    @property
    def written(self) -> int:
        """Transitions that were ever added, by anyone."""
        self._attach()
        return int(self._counters[0])

    @written.setter
    def written(self, count: int) -> None:
        self._counters[0] = count

    def add(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
        """As for the ring. Raises StoreError for other columns than those in the file, DiskFull."""
        n = len(next(iter(columns.values())))
        with self._locked():
            self._create(columns)
            if n <= self.capacity:
                self._put_by(int(self._counters[0]), n)
                self._counters[1] = max(self._counters[1], self._counters[0] + n)
            return super().add(columns)

    def sample(self, n: int, beta: float = 1.0) -> Minibatch:
        """n transitions, uniformly with replacement. None of which a writer has only begun, unless one was killed that
        wrote as many as the replay holds: then they are all there is."""
        whole = self.written
        rows = self.rng.integers(0, min(whole, self.capacity), size=n)
        while True:
            columns = self._take(rows)
            numbers = whole - 1 - (whole - 1 - rows) % self.capacity
            changed = numbers < self._counters[1] - self.capacity
            begun = int(self._counters[1])
            if not changed.any() or self.written <= begun - self.capacity:
                return Minibatch(rows, columns, np.ones(n, dtype=np.float32))
            whole = self.written
            rows[changed] = self.rng.integers(0, min(whole, self.capacity), size=int(changed.sum()))

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """A copy of the transitions, and the position of the next one; no writer is in the middle."""
        with self._locked():
            self._attach()  # whoever has not read so far does not know of what others wrote
            arrays, meta = super().state()
            torn = int(self._counters[1] - self._counters[0])
            return {name: array.copy() for name, array in arrays.items()}, meta | {"torn": torn}

    def load(self, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Continue from ``state``, or from that of a plain ring, for everyone who has the file; before anyone reads."""
        if not arrays:
            return
        with self._locked():
            self._create(arrays)
            self._put_by(0, len(next(iter(arrays.values()))))
            for name, values in arrays.items():
                self.columns[name][: len(values)] = values
            whole = written(meta, self.capacity)
            self._counters[0] = whole
            self._counters[1] = whole + int(meta.get("torn", 0))

    def close(self) -> None:
        """Let go of the file."""
        self.columns, self._counters = {}, np.zeros(2, np.int64)
        os.close(self._file)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        except OSError as error:
            if error.errno in FULL:
                raise DiskFull(f"The disk is full: free some space, then resume. Folder: {self._folder}") from error
            raise
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _create(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Give the file these columns if it has none yet; the lock is held."""
        layout: dict[str, Any] = {name: [values.dtype.str, list(values.shape[1:])] for name, values in columns.items()}
        if os.fstat(self._file).st_size <= _HEADER:
            header = json.dumps({"capacity": self.capacity, "columns": layout}).encode()
            if len(header) > _HEADER - _COUNTERS:
                raise ConfigError([("game", "its observations have too many names for a shared replay")])
            os.pwrite(self._file, header.ljust(_HEADER - _COUNTERS), _COUNTERS)
            os.ftruncate(self._file, _HEADER + sum(_room(self.capacity, *each) for each in layout.values()))
        self._attach()
        mine = {name: [array.dtype.str, list(array.shape[1:])] for name, array in self.columns.items()}
        if mine != layout:
            raise StoreError(
                f"The shared replay keeps {', '.join(mine)}, and these transitions have {', '.join(layout)}."
            )

    def _put_by(self, first: int, n: int) -> None:
        """Have blocks for n rows from this one on; those of rows that were written before are there."""
        last = min(first + n, self.capacity)
        if first >= last:
            return
        for name, column in self.columns.items():
            size = column.strides[0]
            os.posix_fallocate(self._file, self._places[name] + first * size, (last - first) * size)

    def _attach(self) -> None:
        """Map the file, if it has columns by now."""
        if self.columns or os.fstat(self._file).st_size <= _HEADER:
            return
        header = json.loads(os.pread(self._file, _HEADER - _COUNTERS, _COUNTERS))
        if header["capacity"] != self.capacity:
            raise StoreError(f"The shared replay keeps {header['capacity']:,} transitions, not {self.capacity:,}.")
        with os.fdopen(os.dup(self._file), "r+b") as file:
            whole = np.memmap(file, np.uint8, "r+")
        self._counters = whole[:_COUNTERS].view(np.int64)
        at = _HEADER
        for name, (kind, row) in header["columns"].items():
            size = self.capacity * math.prod(row) * np.dtype(kind).itemsize
            self.columns[name] = whole[at : at + size].view(kind).reshape(self.capacity, *row)
            self._places[name] = at
            at += _room(self.capacity, kind, row)


def _room(capacity: int, kind: str, row: list[int]) -> int:
    """Bytes of a column, up to the next line of the processor's cache."""
    return -(-capacity * math.prod(row) * np.dtype(kind).itemsize // _LINE) * _LINE
