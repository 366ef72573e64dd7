"""From a reference to a game that is played tick by tick, in one place.

=====================================  ==========================================================================
``builtin:pong``                       our Pong with numbers as input; settings are ``VectorPong``'s
``builtin:image-pong``                 the same with pictures; settings are ``ImagePong``'s
``gymnasium:CartPole-v1``              an environment of Gymnasium; settings are its own
``atari:pong``                         an Atari game, in ALE's C++ vector environment; settings are ``atari``'s
``python:package.module:factory``      a Python game (``VectorMDP`` or ``MDP``), in a process of its own
``command:PROGRAM ARGUMENT ...``       any program that speaks ``equipoise-sim/1`` (shell quoting or a JSON list)
=====================================  ==========================================================================
"""

from __future__ import annotations

from typing import Any

from engine.errors import ConfigError, SimulatorError
from engine.mdp.vector import VectorMDP
from engine.simulators.connection import Limits
from engine.simulators.game_client import ExternalGame
from engine.simulators.loaders import describe_reference

KINDS = ("builtin", "gymnasium", "atari", "python", "command")
BUILTINS = ("pong", "image-pong")


def load_game(
    reference: str, battles: int, settings: dict[str, Any] | None = None, *, limits: Limits | None = None
) -> VectorMDP:
    """The game a reference names, for this many battles at a time. Atari fixes their number; the others take any at
    ``reset``. Raises ConfigError for a malformed reference or settings that do not exist, SimulatorError (permanent)
    when something is not installed."""
    kind, _, rest = reference.strip().partition(":")
    settings = dict(settings or {})
    try:
        if kind == "builtin" and rest in BUILTINS:
            return _builtin(rest, settings)
        if kind == "gymnasium" and rest:
            return _gymnasium(rest, settings)
        if kind == "atari" and rest:
            return _atari(rest, battles, settings)
    except TypeError as error:
        raise ConfigError([("settings", f"{reference}: {error}")]) from error
    if kind in ("python", "command") and not settings:
        parsed = describe_reference(reference)
        if kind == "python":
            return ExternalGame.from_entry_point(parsed.target, limits=limits)
        return ExternalGame(parsed.argv, label=f"The game “{' '.join(parsed.argv)[:60]}”", limits=limits)
    if settings and kind in ("python", "command"):
        raise ConfigError([("settings", f"{reference} takes no settings; put them into the program's arguments")])
    known = (
        f"builtin:{', builtin:'.join(BUILTINS)}, gymnasium:NAME, atari:NAME, python:module:factory or command:program"
    )
    raise ConfigError([("game", f"{reference[:200]!r}: a game is named like {known}")])


def _builtin(name: str, settings: dict[str, Any]) -> VectorMDP:
    from engine.games.pong import ImagePong, VectorPong

    return VectorPong(**settings) if name == "pong" else ImagePong(**settings)


def _gymnasium(name: str, settings: dict[str, Any]) -> VectorMDP:
    import gymnasium

    from engine.mdp.gym import GymVector

    try:
        gymnasium.spec(name)
    except gymnasium.error.Error as error:
        raise ConfigError([("game", f"Gymnasium has no {name!r}: {error}")]) from error
    try:
        return GymVector(lambda: gymnasium.make(name, **settings))
    except (ImportError, gymnasium.error.DependencyNotInstalled) as error:
        raise SimulatorError(
            f"gymnasium:{name} needs something that is not installed: {error}", permanent=True
        ) from error


def _atari(name: str, battles: int, settings: dict[str, Any]) -> VectorMDP:
    from ale_py import roms

    from engine.mdp.ale import atari

    known = roms.get_all_rom_ids()
    if name not in known:
        raise ConfigError([("game", f"there is no Atari game {name!r}; names are like {', '.join(known[:3])}")])
    return atari(name, battles, **settings)
