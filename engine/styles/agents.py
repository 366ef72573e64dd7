"""One agent out of the many that a round of breeding left, as the two files of a policy; light enough for a page."""

from __future__ import annotations

import hashlib
import json
import math
from typing import NamedTuple

import numpy as np
import safetensors.numpy

from engine.arrays import unpack
from engine.errors import StoreError


class Files(NamedTuple):
    """A policy on disk: its description and its numbers (``engine.rl.policy.Policy.pack``)."""

    description: bytes
    tensors: bytes


def files_of(data: bytes, agent: int) -> Files | None:
    """The files of one of the policies in an artifact ``agents``; None where it has no agent of this id. Raises
    StoreError for an artifact that is damaged, or that an earlier version left without the shapes of its tensors."""
    meta, arrays = unpack(data)
    rows = np.flatnonzero(arrays["id"] == agent).tolist()
    if not rows:
        return None
    row = rows[0]
    if "layouts" not in meta:
        raise StoreError("These agents were left by an earlier version, from which none can be taken out.")
    description = meta["descriptions"][row].encode()
    tensors, at = {}, 0
    for name, shape in meta["layouts"][row]:
        size = math.prod(shape)
        tensors[name] = arrays["weights"][row, at : at + size].reshape(shape)
        at += size
    packed = safetensors.numpy.save(tensors)
    if hashlib.sha256(packed).hexdigest() != json.loads(description)["sha256"]:
        raise StoreError("The numbers of this agent are not those that its description names.")
    return Files(description, packed)
