"""A study between two ticks as one artifact: the algorithm's state, the record, and which study it belongs to."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.arrays import pack, unpack
from engine.config.base import Config
from engine.errors import ConfigError, StoreError
from engine.evolution.algorithm import Algorithm, Arrays
from engine.simulators.contract import content_hash
from engine.store import Store
from engine.study.record import Record


class Checkpoint(NamedTuple):
    """What ``read`` found."""

    arrays: Arrays
    algorithm: dict[str, Any]
    record: dict[str, Any]
    tick: int


def study_hash(config: Config) -> str:
    """What a result depends on: everything but the name and where battles run."""
    return content_hash(config.model_dump(mode="json", exclude={"name", "pool"}))


def write(config: Config, algorithm: Algorithm, record: Record, tick: int, store: Store) -> str:
    """Store a checkpoint; its hash."""
    arrays, meta = algorithm.state()
    return store.put(
        pack({"study": study_hash(config), "algorithm": meta, "record": record.state(), "tick": tick}, arrays)
    )


def read(config: Config, digest: str, store: Store) -> Checkpoint:
    """Raises ConfigError when the checkpoint is another study's, StoreError when it or a chunk of it is missing."""
    bundle = unpack(store.get(digest))
    if bundle.meta.get("study") != study_hash(config):
        raise ConfigError([("resume", "this checkpoint belongs to a study with other settings")])
    missing = [chunk for chunk in bundle.meta["record"]["chunks"] if not store.has(chunk)]
    if missing:
        first = missing[0][:12]
        raise StoreError(f"{len(missing)} parts of the checkpoint's archive are missing, the first is {first}.")
    return Checkpoint(bundle.arrays, bundle.meta["algorithm"], bundle.meta["record"], bundle.meta["tick"])
