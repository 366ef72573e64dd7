"""Names of games that others keep: whether there is such a game, and which are spelled nearly so."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str:
    """A sentence to append that suggests the names most similar to an unknown one; empty if there are none."""
    found = difflib.get_close_matches(name, list(names), 3, 0.5)
    return f". The nearest names: {', '.join(found)}" if found else ""


def unknown_to_gymnasium(name: str) -> str:
    """Why Gymnasium has no game of this name, in words with the nearest names; empty where it has one. ``module:NAME``
    would import that module: it is for who may."""
    import gymnasium

    try:
        gymnasium.spec(name)
    except gymnasium.error.Error:
        near = nearest(name, gymnasium.registry)
        near = ". Atari games are ale:NAME, such as ale:pong" if name.startswith("ALE/") else near
        return f"Gymnasium has no {name!r}{near}"
    return ""
