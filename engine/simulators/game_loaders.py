"""Loads a game that is played tick by tick from its reference.

=====================================  ==========================================================================
``builtin:NAME``                       a game of ``engine.catalog.GAMES``, such as pong; settings are its maker's
``gymnasium:CartPole-v1``              an environment of Gymnasium; settings are its own
``atari:pong``                         an Atari game, in ALE's C++ vector environment; settings are ``atari``'s
``python:package.module:factory``      a Python game (``entry_points`` says which), in a process of its own
``command:PROGRAM ARGUMENT ...``       any program that speaks ``equipoise-sim/1`` (shell quoting or a JSON list)
=====================================  ==========================================================================

The settings of a program are those that it says its episodes begin by (``MDPSpec.starts``); what is wrong with them is
said once it runs. ``command+tcp:`` and ``python+tcp:`` as in ``loaders``.
"""

from __future__ import annotations

from typing import Any

from engine.catalog import GAMES, AgentGame
from engine.errors import ConfigError, below
from engine.mdp.vector import Game, VectorMDP
from engine.simulators.conversation import SimulatorLimits
from engine.simulators.game_client import ExternalGame
from engine.simulators.game_names import nearest, unknown_to_gymnasium
from engine.simulators.game_settings import check_settings, making
from engine.simulators.loaders import describe_reference, label

PROGRAMS = ("python", "command", "python+tcp", "command+tcp")
KINDS = ("builtin", "gymnasium", "atari", *PROGRAMS)


def load_game(
    reference: str, battles: int, settings: dict[str, Any] | None = None, *, limits: SimulatorLimits | None = None
) -> Game:
    """The game of a reference, for this many battles at a time; a built-in game may be played in turns. Atari fixes the
    number of battles; other games accept any number at ``reset``. Raises ConfigError for a malformed reference (at
    "game" or "simulator") and for settings (at "settings" or "settings.NAME"), SimulatorError (permanent) when
    something is not installed."""
    kind, _, rest = reference.strip().partition(":")
    settings = dict(settings or {})
    if kind == "builtin" and rest in GAMES:
        return _builtin(GAMES[rest], settings)
    if kind == "gymnasium" and rest:
        return _gymnasium(rest, settings)
    if kind == "atari" and rest:
        return _atari(rest, battles, settings)
    if kind in PROGRAMS:
        return _program(reference, settings, limits)
    known = f"builtin:{', builtin:'.join(GAMES)}, gymnasium:NAME, atari:NAME, python:module:factory or command:program"
    raise ConfigError([("game", f"{reference[:200]!r}: a game is named like {known}")])


def _builtin(game: AgentGame, settings: dict[str, Any]) -> Game:
    maker = game.load()
    check_settings(settings, maker, taken=tuple(game.given))
    with below("settings"):
        made: Game = maker(**settings, **game.given)
    return made


def _gymnasium(name: str, settings: dict[str, Any]) -> VectorMDP:
    import gymnasium
    from gymnasium.envs.registration import load_env_creator

    from engine.mdp.gym import GymVector

    if why := unknown_to_gymnasium(name):
        raise ConfigError([("game", why)])
    spec = gymnasium.spec(name)
    reference = f"gymnasium:{name}"
    with making(reference, settings, (ImportError, gymnasium.error.DependencyNotInstalled)):
        maker = spec.entry_point if callable(spec.entry_point) else load_env_creator(str(spec.entry_point))
        check_settings(settings, gymnasium.make, maker, taken=("id",))
        return GymVector(lambda: gymnasium.make(name, **settings))


def _atari(name: str, battles: int, settings: dict[str, Any]) -> VectorMDP:
    reference = f"atari:{name}"
    with making(reference, settings):
        from ale_py import roms

        from engine.mdp.ale import atari

        known = roms.get_all_rom_ids()
        if name not in known:
            near = nearest(name, known) or f". Names are like {', '.join(known[:3])}"
            raise ConfigError([("game", f"there is no Atari game {name!r}{near}")])
        check_settings(settings, atari, taken=("game", "battles"))
        with below("settings"):
            return atari(name, battles, **settings)


def _program(reference: str, settings: dict[str, Any], limits: SimulatorLimits | None) -> VectorMDP:
    parsed = describe_reference(reference)
    if parsed.kind == "python":
        game = ExternalGame.from_entry_point(parsed.target, limits=limits, transport=parsed.transport)
    else:
        game = ExternalGame(parsed.argv, label=label("game", parsed.argv), limits=limits, transport=parsed.transport)
    game.begins = settings
    return game
