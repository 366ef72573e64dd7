"""A player's limits in a person's units, milliseconds and actions a second, where the speed of its game is known.

A game holds them in whole decisions. So what is typed is held as nearly as the game can, ``held`` says how, and
``problems`` what a game cannot hold at all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from engine.catalog import built_in
from engine.config.limits import SLOWEST, LimitsConfig
from webapp.lib.words import number, plural

SLOWEST_MS, SLOWEST_PACE = 5000, 0.2
NO_CLOCK = "How fast this game runs is not known here, so it cannot be said what a second is in it. Leave this empty."
HELP = {
    "react": "Milliseconds between what an agent sees and what it does.",
    "pace": "It does something else at most so often.",
}
"""What each limit is, in any game."""
OF_A_PERSON = 5
"""Actions a second that a person manages."""
_CLOSE = 1e-6


def decisions_a_second(game: Mapping[str, Any]) -> float | None:
    """Of a game with its settings, as data; None where nobody knows, as where the setting that tells it is a range or
    could not be read."""
    known = built_in(str(game["name"]))
    if known is None or known.clock is None:
        return None
    settings = game.get("settings") or {}
    lasts = settings.get(known.clock.setting, known.clock.usual) if isinstance(settings, Mapping) else None
    if not isinstance(lasts, int | float) or lasts <= 0:
        return None
    return known.clock.decisions({known.clock.setting: lasts})


def limits(game: Mapping[str, Any], react: float | None, pace: float | None) -> dict[str, int] | None:
    """Limits as studies have them: ``react`` in milliseconds, ``pace`` in actions a second (None: no limit), as nearly
    as the game can hold them. None where nothing is limited, or the game's speed is not known."""
    second = decisions_a_second(game)
    if second is None or (react is None and pace is None):
        return None
    delay, apart = min(_delay(second, react), SLOWEST), min(_apart(second, pace), SLOWEST)
    found = LimitsConfig(delay=delay, apart=apart)
    return found.model_dump() if found.any else None


def problems(game: Mapping[str, Any], react: float | None, pace: float | None) -> dict[str, str]:
    """Why the game cannot hold a limit that was typed, in a sentence, by ``react`` and ``pace``. A delay of 0 is none,
    and no problem."""
    second, found = decisions_a_second(game), dict[str, str]()
    if second is None:
        return {name: NO_CLOCK for name, typed in {"react": react, "pace": pace}.items() if typed}
    if react and not _delay(second, react):
        found["react"] = f"{_decides(second)}: {_number(react)} ms is no delay; {_ms(1 / second)} is the least."
    elif _delay(second, react) > SLOWEST:
        found["react"] = f"{_decides(second)}: {_ms(SLOWEST / second)} is the longest delay."
    if pace and _apart(second, pace) < 2:
        found["pace"] = f"{_decides(second)}: {_actions(pace)} is no limit; {_number(second / 2)} is the most."
    elif _apart(second, pace) > SLOWEST:
        found["pace"] = f"{_decides(second)}: {_actions(second / SLOWEST)} is the least."
    return found


def held(game: Mapping[str, Any], react: float | None, pace: float | None) -> str:
    """What the game will hold of limits that were typed, in a sentence; empty where it holds none."""
    second, own = decisions_a_second(game), limits(game, react, pace)
    if second is None or own is None:
        return ""
    found = LimitsConfig(**own)
    often = [_actions(second / found.apart)] if found.apart > 1 else []
    late = [f"{'' if often else 'a delay of '}{_number(found.delay / second)} s"] if found.delay else []
    return f"{_decides(second)}: {' and '.join(late + often)} will be held."


def help_of(game: Mapping[str, Any]) -> dict[str, str]:
    """What each limit is, and which of them suit this game."""
    second = decisions_a_second(game)
    if second is None:
        return dict(HELP)
    fastest, *slower = (_number(second / apart) for apart in (2, 3, 4))
    person = f" A person manages about {OF_A_PERSON}." if second / 2 >= OF_A_PERSON else ""
    return {
        "react": f"{HELP['react']} {_decides(second)}, so it is held in steps of {_ms(1 / second)}.",
        "pace": f"{HELP['pace']} In this game {fastest} is the most, then {', '.join(slower)}.{person}",
    }


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
        late, pace = f"{_number(found.delay / second)} s", _times(second / found.apart)
    reacts = f"reacts {late} after what it sees" if found.delay else "reacts at once"
    return f"{reacts} and does something else at most {pace}" if found.apart > 1 else reacts


def _delay(second: float, react: float | None) -> int:
    """Decisions that come nearest to so many milliseconds."""
    return round((react or 0.0) / 1000 * second)


def _apart(second: float, pace: float | None) -> int:
    """Decisions between two actions, so that there are no more than ``pace`` in a second."""
    return 1 if not pace else max(1, math.ceil(second / pace - _CLOSE))


def _number(value: float) -> str:
    """With two digits after the point, below 1 with two that count: 1.5, 0.33, 0.025, 1,000."""
    if 0 < value < 1:
        return f"{float(f'{value:.2g}'):g}"
    return number(value, 2).rstrip("0").rstrip(".")


def _ms(seconds: float) -> str:
    return f"{number(1000 * seconds, 0)} ms"


def _times(often: float) -> str:
    return "once a second" if often == 1 else f"{_number(often)} times a second"


def _actions(often: float) -> str:
    return f"{_number(often)} {'action' if often == 1 else 'actions'} a second"


def _decides(second: float) -> str:
    return f"This game decides {_times(second)}"
