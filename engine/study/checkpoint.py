"""A study between two ticks as one artifact of named parts, such as ``record`` and ``algorithm/nsga2/search``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from engine.arrays import Bundle, pack, unpack
from engine.config.base import Study
from engine.config.study import study_hash
from engine.errors import ConfigError
from engine.evolution.algorithm import Parts
from engine.store import Store

FORMAT = 2
OLD = (
    "this checkpoint was written by an earlier version of the engine, and this version cannot go on from it: start the "
    "study anew; what it left can still be read"
)


class Checkpoint(NamedTuple):
    """The result of ``read``."""

    tick: int
    parts: Parts

    def below(self, name: str) -> Parts:
        """The parts below ``name/``, named without it."""
        return {key.removeprefix(f"{name}/"): part for key, part in self.parts.items() if key.startswith(f"{name}/")}


def named(name: str, parts: Parts) -> Parts:
    """The parts, named below ``name/``."""
    return {f"{name}/{key}": part for key, part in parts.items()}


def write(config: Study, tick: int, parts: Parts, store: Store) -> str:
    """Store a checkpoint and return its hash."""
    meta = {name: part.meta for name, part in parts.items()}
    arrays = {f"{name}:{key}": array for name, part in parts.items() for key, array in part.arrays.items()}
    return store.put(pack({"format": FORMAT, "study": study_hash(config), "tick": tick, "parts": meta}, arrays))


def read(config: Study, digest: str, store: Store) -> Checkpoint:
    """The checkpoint with this hash. Raises ConfigError when it has another format or is of another study, StoreError
    when it is missing."""
    meta, arrays = unpack(store.get(digest))
    if meta.get("format") != FORMAT:
        raise ConfigError([("resume", OLD)])
    if meta.get("study") != study_hash(config):
        raise ConfigError([("resume", "this checkpoint belongs to a study with other settings")])
    parts = {name: Bundle(part, {}) for name, part in meta["parts"].items()}
    for place, array in arrays.items():
        name, _, key = place.partition(":")
        parts[name].arrays[key] = array
    return Checkpoint(meta["tick"], parts)


KEPT = 2
"""Checkpoints of a study that its own store keeps: with a replay each may take hundreds of megabytes."""


class NewestCheckpoints:
    """The newest checkpoints of a study. ``before``: those of earlier attempts, the oldest first, and the one that this
    attempt goes on from."""

    def __init__(self, own: Store, before: Iterable[str]) -> None:
        self._own, self._kept = own, list[str]()
        for digest in filter(None, before):
            self._note(digest)

    def saved(self, digest: str) -> None:
        """This one is in the books, too."""
        self._note(digest)
        self._own.discard(self._kept[:-KEPT])
        self._kept = self._kept[-KEPT:]

    def _note(self, digest: str) -> None:
        self._kept = [each for each in self._kept if each != digest] + [digest]
