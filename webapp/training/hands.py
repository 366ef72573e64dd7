"""A player's limits in a person's units, milliseconds and actions a second, where the speed of its game is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from engine.catalog import built_in
from engine.config.limits import SLOWEST, LimitsConfig
from webapp.lib.words import number, plural

SLOWEST_MS, SLOWEST_PACE = 5000, 0.2
NO_CLOCK = "How fast this game runs is not known here, so it cannot be said what a second is in it. Leave this empty."
_CLOSE = 1e-6


def decisions_a_second(game: Mapping[str, Any]) -> float | None:
    """Of a game with its settings, as data; None where nobody knows."""
    known = built_in(str(game["name"]))
    if known is None or known.clock is None:
        return None
    plain = {name: each for name, each in game.get("settings", {}).items() if isinstance(each, int | float)}
    return known.clock.decisions(plain)


def limits(game: Mapping[str, Any], react: float | None, pace: float | None) -> dict[str, int] | None:
    """Limits as studies have them: ``react`` in milliseconds, ``pace`` in actions a second (None: no limit). None where
    nothing is limited, or the game's speed is not known."""
    second = decisions_a_second(game)
    if second is None or (react is None and pace is None):
        return None
    delay = round((react or 0.0) / 1000 * second)
    apart = 1 if pace is None else max(1, math.ceil(second / pace - _CLOSE))
    found = LimitsConfig(delay=min(delay, SLOWEST), apart=min(apart, SLOWEST))
    return found.model_dump() if found.any else None


def typed(game: Mapping[str, Any]) -> dict[str, str]:
    """What would be typed for a game's limits: ``react`` and ``pace``, each only where there is a limit."""
    second, own = decisions_a_second(game), game.get("limits") or {}
    found = LimitsConfig(**own)
    if second is None:
        return {}
    react = {"react": f"{1000 * found.delay / second:g}"} if found.delay else {}
    return react | ({"pace": f"{second / found.apart:g}"} if found.apart > 1 else {})


def words(game: Mapping[str, Any]) -> str:
    """What a player's limits are, for a sentence that begins with the player; empty where it has none."""
    found = LimitsConfig(**(game.get("limits") or {}))
    if not found.any:
        return ""
    second = decisions_a_second(game)
    if second is None:
        late, pace = f"{plural(found.delay, 'decision')}", f"once in {number(found.apart)} decisions"
    else:
        late, pace = f"{found.delay / second:.2g} s", f"{second / found.apart:.2g} times a second"
    reacts = f"reacts {late} after what it sees" if found.delay else "reacts at once"
    return f"{reacts} and does something else at most {pace}" if found.apart > 1 else reacts
