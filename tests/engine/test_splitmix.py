"""Compiled loops draw what arrays draw."""

from __future__ import annotations

import numpy as np

from engine.rng import combine64, mix64
from engine.splitmix import combine, mix


def test_compiled_hashes_are_those_of_arrays() -> None:
    words = np.random.default_rng(1).integers(0, 2**64, (100, 2), dtype=np.uint64)
    words[0] = 0, 2**64 - 1
    assert [mix(word) for word in words[:, 0]] == mix64(words[:, 0]).tolist()
    assert [combine(a, b) for a, b in words] == combine64(words[:, 0], words[:, 1]).tolist()
