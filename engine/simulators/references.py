"""The game of a training study, by its reference or a short name for it."""

from __future__ import annotations

import contextlib

import numpy as np

from engine.catalog import GAMES
from engine.config.train import TrainGame
from engine.errors import ConfigError, SimulatorError, below
from engine.mdp.checks import Blame, check_batch, check_state
from engine.mdp.interface import MDP
from engine.mdp.limits import Limited, limited
from engine.mdp.vector import Game, VectorMDP, in_turns
from engine.problem import ShouldStop
from engine.simulators.conversation import never
from engine.simulators.game_client import ExternalGame
from engine.simulators.game_loaders import KINDS, load_game
from engine.simulators.game_names import nearest

SHORT = {
    **{name: f"builtin:{name}" for name in GAMES},
    "vector-pong": "builtin:pong",
    "cartpole": "gymnasium:CartPole-v1",
    "pendulum": "gymnasium:Pendulum-v1",
}
PREFIXES = {"gym": "gymnasium", "ale": "atari"}
NAMES = (
    f"{', '.join(SHORT)}, gym:ID (such as gym:LunarLander-v3), ale:NAME (such as ale:breakout), "
    "python:module:factory or command:program argument (command+tcp: where it cannot dial ipc://)"
)


def make(game: TrainGame, battles: int, should_stop: ShouldStop = never) -> Game:
    """The game for ``battles`` battles at a time. A third-party program has been started, and raises Cancelled once
    ``should_stop`` returns True. Raises ConfigError that names the field, also if such a program reports that it cannot
    start, and SimulatorError if another try may succeed."""
    made = _made(game, battles, should_stop)
    try:
        with below("game"):
            return limited(made, game.limits)
    except ConfigError:
        made.close()
        raise


def _made(game: TrainGame, battles: int, should_stop: ShouldStop) -> Game:
    try:
        made = load_game(_reference(game.name.strip()), battles, dict(game.settings))
        if isinstance(made, ExternalGame):
            made.should_stop = should_stop
            made.start()  # a program whose settings are wrong has been ended
    except ConfigError as error:
        raise ConfigError((_place(p.place), p.message) for p in error.problems) from error
    except SimulatorError as error:
        if not error.permanent:
            raise
        raise ConfigError([("game.name", str(error))]) from error
    return made


def program_of(game: Game) -> ExternalGame | None:
    """The program that plays a game, if one does."""
    played = game.game if isinstance(game, Limited) else game
    return played if isinstance(played, ExternalGame) else None


def make_for_one(game: TrainGame, battles: int, should_stop: ShouldStop = never) -> VectorMDP:
    """The same for one learning agent. Also raises ConfigError for a game with several seats."""
    made, why = make(game, battles, should_stop), "a search for training settings trains one agent at a time"
    seats = len(made.spec.seats)
    if in_turns(made) or seats > 1:
        made.close()
        one = "take a game with one seat, or train or evaluate in this one without searching"
        raise ConfigError([("game.name", f"{made.spec.name} has {seats} seats, and {why}; {one}")])
    return made


def make_for_two(game: TrainGame, battles: int, should_stop: ShouldStop = never) -> VectorMDP:
    """The same for self-play. Also raises ConfigError for a game that has not two seats that are alike and act at
    once."""
    made = make(game, battles, should_stop)
    seats, why = made.spec.seats, ""
    if len(seats) != 2:
        why = f"self-play needs a game for two, and {made.spec.name} has {len(seats)} seat{'s' * (len(seats) != 1)}"
    elif seats[0] != seats[1]:
        why = f"the two seats of {made.spec.name} see or do different things, so nobody can play both"
    elif in_turns(made):
        why = f"self-play needs a game in which both act at once, and in {made.spec.name} they take turns"
    if why or in_turns(made):
        made.close()
        raise ConfigError([("game.name", why)])
    return made


def begin(game: Game, seed: int) -> None:
    """Begin a battle, as a study does before anything else. Raises ConfigError at ``game.name`` if the game cannot, or
    if its first state does not match its description."""
    try:
        if in_turns(game):
            _check_states(game, seed)
        else:
            check_batch(game.spec.name, game.spec, 1, game.reset(np.array([seed], np.uint64)))
    except SimulatorError as error:
        raise ConfigError([("game.name", str(error))]) from error


def _check_states(game: MDP, seed: int) -> None:
    with Blame(game.spec.name, "reset"), contextlib.closing(game.reset(seed=seed)) as battle:
        for controller in battle.controllers:
            check_state(f"{game.spec.name}, seat {controller.seat}", controller.spec, controller.get_state())


def _reference(name: str) -> str:
    kind, _, rest = name.partition(":")
    kind = PREFIXES.get(kind, kind)
    if rest and kind in KINDS:
        return f"{kind}:{rest}"
    if name in SHORT:
        return SHORT[name]
    raise ConfigError([("game.name", f"there is no game {name[:200]!r}{nearest(name, SHORT)}. There are {NAMES}")])


def _place(place: str) -> str:
    return f"game.{place}" if place.partition(".")[0] == "settings" else "game.name"
