"""What is kept of long benchmarks goes with the code that decides it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.bench import arena_evolution, arena_learning, arena_penalty, half_field_starts, kept, platform
from engine.config.rl import PRESETS, PPOConfig
from engine.games.goal import Goal
from engine.games.half_field import HalfField
from engine.games.navigation import Navigation
from engine.games.platform import Platform
from engine.games.pong import VectorPong
from engine.games.tanks import Tanks
from engine.mdp.vector import VectorMDP
from engine.rl.factory import make_learner
from engine.rl.learner import Learner


def files(*things: Any) -> Iterator[str]:
    """Files of the engine in which these things, and what they inherit, are written."""
    for thing in things:
        for each in type(thing).__mro__:
            path = Path(inspect.getfile(each)) if each.__module__.startswith("engine.") else kept.ENGINE
            if path.is_relative_to(kept.ENGINE) and path != kept.ENGINE:
                yield path.relative_to(kept.ENGINE).as_posix()


def within(file: str, sources: tuple[str, ...]) -> bool:
    return any(file == source or file.startswith(f"{source}/") for source in sources)


def ppo(game: VectorMDP) -> Learner:
    return make_learner(PPOConfig(), game.spec.seats[0], 1, 1000)


def of_preset(name: str, game: VectorMDP) -> Learner:
    return make_learner(PRESETS[name], game.spec.seats[0], 1, 1000)


LEARNING: list[tuple[Any, list[tuple[Learner, VectorMDP]]]] = [
    (arena_evolution, [(ppo(VectorPong()), VectorPong())]),
    (arena_penalty, [(ppo(Tanks(sides=(0, 1))), Tanks(sides=(0, 1)))]),
    (arena_learning, [
        (make_learner(arena_learning.settings(method), game.spec.seats[0], 1, 1000), Navigation(entities=3))
        for method in arena_learning.METHODS
        for game in [arena_learning.game_of(method, False)]
    ]),
    (half_field_starts, [
        (of_preset(f"half-field-{kind}", HalfField()), HalfField()) for kind in ("mpdqn", "paddpg")
    ]),
    (platform, [
        *((of_preset(f"platform-{kind}", Platform()), Platform()) for kind in ("mpdqn", "pdqn", "paddpg")),
        *((of_preset(f"goal-{kind}", Goal()), Goal()) for kind in ("mpdqn", "pdqn")),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("bench", "learning"), LEARNING, ids=lambda one: getattr(one, "NAME", ""))
def test_a_kept_figure_is_measured_again_whatever_changes_of_its_learners_networks_and_games(
    bench: Any, learning: list[tuple[Learner, VectorMDP]]
) -> None:
    for learner, game in learning:
        model = learner.policy().spec.model()
        for file in files(learner, game, model, model.network, model.head, model.scaling):
            assert within(file, bench.SOURCES) or file == "mdp/interface.py", file
    own = Path(bench.__file__).relative_to(kept.ENGINE).as_posix()
    assert own in bench.SOURCES
    assert all((kept.ENGINE / source).exists() for source in bench.SOURCES)
