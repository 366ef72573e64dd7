"""Game descriptions as the site keeps them: on the simulator's row, and for good in the store, under their hash."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from engine.errors import ConfigError, StoreError
from engine.lineups.schema import spec_from_json
from engine.simulators.contract import GameSpec, canonical_json
from webapp.games.models import GameVersion, Simulator
from webapp.lib.storage import store


def keep(spec: GameSpec) -> str:
    """Put the description into the store; its hash, which is also ``GameVersion.spec_hash``."""
    return store().put(canonical_json(spec))


@lru_cache(maxsize=64)
def _stored(digest: str) -> GameSpec:
    return spec_from_json(msgspec.json.decode(store().get(digest)))


def spec_of(simulator: Simulator) -> GameSpec | None:
    """What the simulator last said of itself; None before its first successful handshake."""
    if not simulator.spec:
        return None
    try:
        return spec_from_json(simulator.spec)
    except ConfigError:
        return None


def version_spec(version: GameVersion) -> GameSpec:
    """The unpatched game a version was made for, even when the simulator has moved on since, and the pieces that the
    version adds to it. Raises ConfigError when it is no longer kept."""
    return _own(version).extended(version.patch)


def _own(version: GameVersion) -> GameSpec:
    try:
        return _stored(version.spec_hash)
    except StoreError:
        spec = spec_of(version.simulator)
        if spec is not None and version.simulator.spec_hash == version.spec_hash:
            keep(spec)
            return spec
        raise ConfigError(
            [("game", f"The game data of {version} is no longer kept. Restore an earlier version.")]
        ) from None


def patched_spec(version: GameVersion) -> GameSpec:
    """The game as the version has it."""
    return version_spec(version).patched(version.patch)
