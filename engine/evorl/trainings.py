"""The trainings of a study's candidates, in a lease of its store: the progress of each, and its artifact.

Names are hashes (of content, or of the candidate), so a study that was killed finds its candidates where their workers
left them.
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


def key_of(genome: Genome, start: str = "", against: str = "") -> str:
    """A candidate's key: the hash of its genome, of the training that it starts from, and of what says against whom it
    trains."""
    digest = hashlib.sha256(genome.tobytes())
    digest.update((start + against).encode())
    return digest.hexdigest()


def opened(store: Store, study: str, name: str = "") -> Trainings:
    """The trainings with the ``name`` in a checkpoint. Without a name: those under the study's hash, which hold its
    progress before its first checkpoint, or are empty. Raises StoreError where a checkpoint's trainings are gone."""
    if name:
        return Trainings(store.take(name))
    return next(Trainings(lease) for n in count(1) if (lease := store.lease(f"{study}-{n}")))


class Trainings:
    """A record for each candidate holds its progress; its trained weights are an artifact of the lease."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self._needed: deque[set[str]] = deque(maxlen=2)
        self._since = 0.0

    def progress(self, key: str) -> Bundle | None:
        """A candidate's progress; None when it was not begun."""
        data = self.lease.read(_place(key))
        return None if data is None else unpack(data)

    def note(self, key: str, meta: Mapping[str, Any], arrays: Arrays) -> None:
        """Save a candidate's progress."""
        self.lease.write(_place(key), pack(meta, arrays))

    def weights(self, digest: str) -> NDArray[np.float32]:
        """The weights from a training. Raises StoreError when they are gone."""
        found = unpack(self.lease.get(digest)).arrays.get("weights")
        if found is None:
            raise StoreError(f"Artifact {digest[:12]} holds no weights.")
        return np.asarray(found, np.float32)

    def tidy(self, parts: Parts, now: float) -> None:
        """After a checkpoint of the algorithm's state at ``now``: remove artifacts that neither it nor the checkpoint
        before it names, and that were not used since."""
        before = set().union(*self._needed)
        self._needed.append(set(_DIGEST.findall(json.dumps([part.meta for part in parts.values()]))))
        self.lease.discard(before - set().union(*self._needed), self._since)
        self._since = now


def _place(key: str) -> str:
    return f"candidates/{key[:2]}/{key[2:]}"
