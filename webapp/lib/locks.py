"""Locks between threads and processes, never waited for without an end."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOOK_EVERY = 0.05


@contextmanager
def only_one(file: Path, patience: float) -> Iterator[None]:
    """Hold the lock of ``file``, which is made. Raises TimeoutError when others hold it for ``patience`` seconds."""
    deadline = time.monotonic() + patience
    with file.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"{file} has been locked for {patience:g} s.") from error
            time.sleep(_LOOK_EVERY)
        yield
