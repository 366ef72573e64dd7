"""Where candidates are in training: what each has reached, and what training made of it, beside the study's artifacts.

Everything is named by what it is (the hash of its content, or of the candidate it belongs to), so a study that was
killed finds its candidates where their workers left them, and equal studies may share a workshop. On several hosts the
folder of artifacts must be one that all of them see.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.arrays import Bundle, pack, unpack
from engine.errors import StoreError
from engine.evolution.algorithm import Arrays, trained
from engine.problem import Request
from engine.store import FolderStore

_DIGEST = re.compile(r"[0-9a-f]{64}")
_CANDIDATES = "candidates"


def key_of(request: Request) -> str:
    """Names a candidate by what it is: its genome and what it begins with."""
    digest = hashlib.sha256(request.genome.tobytes())
    digest.update(request.start.encode())
    return digest.hexdigest()


class Workshop:
    """``store``: what training made of candidates, by hash. A file for each candidate says how far it is."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, FolderStore(folder)

    def progress(self, key: str) -> Bundle | None:
        """How far a candidate is; nothing when nobody began with it, or when what was written is torn."""
        try:
            return unpack(self._file(key).read_bytes())
        except (FileNotFoundError, StoreError):
            return None

    def note(self, key: str, meta: Mapping[str, Any], arrays: Arrays) -> None:
        """Write down how far a candidate is; a reader sees either this or what was there before."""
        path = self._file(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{secrets.token_hex(8)}")
        draft.write_bytes(pack(meta, arrays))
        os.replace(draft, path)

    def has(self, digest: str) -> bool:
        """Whether that result of training is there; it is taken for new from now on."""
        with contextlib.suppress(FileNotFoundError, StoreError):
            os.utime(self.store.folder / digest[:2] / digest[2:])
            return True
        return False

    def _file(self, key: str) -> Path:
        return self.folder / _CANDIDATES / key[:2] / key[2:]


class Keeper:
    """The driver's hold on a workshop: gives back what no checkpoint needs any more, and all of it in the end."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        workshop.folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(workshop.folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        self._needed: deque[set[str]] = deque(maxlen=2)
        self._since = 0.0

    def tidy(self, arrays: Arrays, meta: Mapping[str, Any], now: float) -> None:
        """The state of an algorithm was written down at ``now``: what neither this checkpoint nor the one before it
        mentions, and nobody has touched since, goes."""
        before = set().union(*self._needed)
        self._needed.append(mentioned(arrays, meta))
        store, gone = self.workshop.store, before - set().union(*self._needed)
        store.discard(digest for digest in gone if self._touched(digest) < self._since)
        self._since = now

    def _touched(self, digest: str) -> float:
        try:
            return (self.workshop.folder / digest[:2] / digest[2:]).stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def close(self, *, over: bool) -> None:
        """Let go; a study that is ``over`` leaves nothing, unless an equal one is still at it."""
        with contextlib.suppress(BlockingIOError):
            if over:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(self.workshop.folder, ignore_errors=True)
        os.close(self._lock)


def mentioned(arrays: Arrays, meta: Mapping[str, Any]) -> set[str]:
    """Every result of training that an algorithm's state needs."""
    found = set(_DIGEST.findall(json.dumps(meta)))
    for name in arrays:
        if name.endswith("trained"):
            part = {"trained": arrays[name], "id": arrays[name][:, 0]}
            found.update(trained(part))
    return found - {""}
