"""The trainings of a study's candidates, in a lease of its store: how far each is, and what it made.

Everything is named by what it is (the hash of its content, or of the candidate it belongs to), so a study that was
killed finds its candidates where their workers left them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import deque
from collections.abc import Mapping
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, pack, unpack
from engine.columns import Arrays
from engine.errors import StoreError
from engine.evolution.algorithm import Parts
from engine.problem import Genome
from engine.store import Lease, Store

_DIGEST = re.compile(r"[0-9a-f]{64}")


def key_of(genome: Genome, start: str = "") -> str:
    """Names a candidate by what it is: its genome and what its training begins with."""
    digest = hashlib.sha256(genome.tobytes())
    digest.update(start.encode())
    return digest.hexdigest()


def opened(store: Store, study: str, name: str = "") -> Trainings:
    """The trainings of a checkpoint by the ``name`` it has for them; else those of a study by its hash, which are what
    it reached before its first checkpoint, or empty. Raises StoreError where a checkpoint's are gone."""
    if name:
        return Trainings(store.take(name))
    return next(Trainings(lease) for n in count(1) if (lease := store.lease(f"{study}-{n}")))


class Trainings:
    """One record for each candidate says how far it is. What its training made is an artifact of the lease."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self._needed: deque[set[str]] = deque(maxlen=2)
        self._since = 0.0

    def progress(self, key: str) -> Bundle | None:
        """How far a candidate is; None when nobody began with it."""
        data = self.lease.read(_place(key))
        return None if data is None else unpack(data)

    def note(self, key: str, meta: Mapping[str, Any], arrays: Arrays) -> None:
        """Write down how far a candidate is."""
        self.lease.write(_place(key), pack(meta, arrays))

    def weights(self, digest: str) -> NDArray[np.float32]:
        """The weights that a training made. Raises StoreError when they are not there any more."""
        found = unpack(self.lease.get(digest)).arrays.get("weights")
        if found is None:
            raise StoreError(f"Artifact {digest[:12]} holds no weights.")
        return np.asarray(found, np.float32)

    def tidy(self, parts: Parts, now: float) -> None:
        """The state of an algorithm was written down at ``now``: what neither this checkpoint nor the one before it
        names, and nobody used since then, goes."""
        before = set().union(*self._needed)
        self._needed.append(set(_DIGEST.findall(json.dumps([part.meta for part in parts.values()]))))
        self.lease.discard(before - set().union(*self._needed), self._since)
        self._since = now


def _place(key: str) -> str:
    return f"candidates/{key[:2]}/{key[2:]}"
