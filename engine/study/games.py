"""The game of a training study, by its reference or a short name for it."""

from __future__ import annotations

from engine.config.train import TrainGame
from engine.errors import ConfigError
from engine.mdp.vector import VectorMDP
from engine.simulators.game_loaders import load_game

SHORT = {
    "pong": "builtin:pong",
    "vector-pong": "builtin:pong",
    "image-pong": "builtin:image-pong",
    "cartpole": "gymnasium:CartPole-v1",
    "pendulum": "gymnasium:Pendulum-v1",
}
KINDS = {"gym": "gymnasium", "ale": "atari"}


def make(game: TrainGame, battles: int) -> VectorMDP:
    """The game for ``battles`` battles at a time. Raises ConfigError that names the field, SimulatorError when somebody
    else's game does not start."""
    kind, colon, rest = game.name.strip().partition(":")
    reference = f"{KINDS.get(kind, kind)}:{rest}" if colon else SHORT.get(kind, kind)
    try:
        return load_game(reference, battles, dict(game.settings))
    except ConfigError as error:
        raise ConfigError((_place(p.place), p.message) for p in error.problems) from error


def _place(place: str) -> str:
    if place in ("game", "simulator", ""):
        return "game.name"
    return "game.settings" if place == "settings" else f"game.settings.{place}"
