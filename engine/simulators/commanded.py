"""The simulator of a study's game: its script's own battles, or those that a trained agent commands."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from engine.config.commander import CommanderConfig
from engine.config.study import GameConfig
from engine.errors import ConfigError, StoreError
from engine.problem import ShouldStop
from engine.simulators import loaders
from engine.simulators.contract import LineupSimulator
from engine.simulators.conversation import never
from engine.store import Artifacts
from engine.stores import open_store

NOT_COMMANDED = "only herobattle can be led by an agent; in this game the two sides fight by themselves"


def load(game: GameConfig, store: Artifacts | None) -> LineupSimulator:
    """The simulator that plays a game as its study says; ``store`` has the commander's policy. Raises ConfigError,
    SimulatorError."""
    simulator = loaders.load(game.simulator)
    if game.commander is None:
        return simulator
    try:
        return _commanded(simulator, game.commander, store)
    except ConfigError:
        loaders.close(simulator)
        raise


def load_from(game: GameConfig, address: str, should_stop: ShouldStop = never) -> LineupSimulator:
    """``load`` and ``heed``, with the store at an address; for actors."""
    return loaders.heed(load(game, open_store(address) if address else None), should_stop)


@contextlib.contextmanager
def opened(game: GameConfig, store: Artifacts, should_stop: ShouldStop = lambda: False) -> Iterator[LineupSimulator]:
    """``loaders.opened``, for a game as its study says."""
    simulator = loaders.heed(load(game, store), should_stop)
    try:
        yield simulator
    finally:
        loaders.close(simulator)


@contextlib.contextmanager
def both_opened(
    before: GameConfig, after: GameConfig, store: Artifacts, should_stop: ShouldStop
) -> Iterator[tuple[LineupSimulator, LineupSimulator]]:
    """``opened`` for two versions of one game: one simulator plays both, unless they are commanded differently."""
    with opened(before, store, should_stop) as one:
        if before.commander == after.commander:
            yield one, one
        else:
            with opened(after, store, should_stop) as other:
                yield one, other


def _commanded(simulator: LineupSimulator, commander: CommanderConfig, store: Artifacts | None) -> LineupSimulator:
    """The battles of a game under its commander. Raises ConfigError for one that cannot lead it."""
    from engine.games.herobattle import HeroBattle
    from engine.games.herobattle.commanders.commanded import CommandedBattles, commands
    from engine.mdp.stored_policy import StoredPolicy

    who = f"“{commander.title}”" if commander.title else "this agent"
    if not isinstance(simulator, HeroBattle):
        raise ConfigError([("game.commander", NOT_COMMANDED)])
    if store is None or not store.has(commander.policy):
        raise ConfigError([("game.commander", f"what {who} learned is not in the store any more: choose another one")])
    try:
        player = StoredPolicy.read(store, commander.policy, commander.sampled)
    except StoreError as error:
        raise ConfigError([("game.commander", f"{who} cannot lead a team: {error}")]) from error
    if not commands(player.seat):
        raise ConfigError([("game.commander", f"{who} learned another game: take one that commands herobattle")])
    return CommandedBattles(simulator, player, commander.every, commander.limits)
