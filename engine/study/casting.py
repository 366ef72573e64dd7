"""The cast of a training study, and the players of policies that do not learn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from engine.catalog import PLAYERS
from engine.config.agents import MovesConfig
from engine.config.policies import AGENT, ScriptedConfig
from engine.config.roster import OwnMemberConfig
from engine.config.train import TrainConfig
from engine.errors import ConfigError, StoreError, below
from engine.mdp.interface import SeatSpec
from engine.mdp.limits import limited
from engine.mdp.vector import Game
from engine.rl.cast import Candidate, Cast, everywhere
from engine.rl.own_player import OwnPlayer
from engine.rl.players import NotedPlayer
from engine.rl.policy import Policy
from engine.rl.seats import Player, Players, slowed
from engine.rl.squads import fits, on_seats
from engine.simulators import references
from engine.store import Store

PLAYERS_KEPT = 64
"""Largest number of players that a sampler keeps in memory for reuse."""


def cast_of(config: TrainConfig) -> Cast:
    """The cast of the battles that policies learn from; a group (``TrainConfig.groups``) is one seat."""
    if not config.policies:
        return everywhere(AGENT, 1)
    seats: list[list[Candidate]] = [[] for _ in config.groups]
    for name, policy in config.policies.items():
        for seat in config.places(name) if policy.share else ():
            seats[seat].append(Candidate(name, policy.share, policy.learns, policy.recalls))
    return Cast(seats)


def facing(config: TrainConfig, opponent: str) -> Cast:
    """The cast against which a policy is measured: ``opponent`` on every seat or, without one, drawn as in training."""
    if not opponent:
        return cast_of(config)
    policy = config.policies[opponent]
    return Cast([[Candidate(opponent, learns=True, of=policy.recalls)]] * len(config.groups))


def players_of(
    config: TrainConfig, seats: Sequence[SeatSpec], store: Store, present: Mapping[str, Policy], *, explore: bool
) -> Players:
    """The players of all policies; ``present``: the current learning policies, for battles they do not learn from. A
    policy is made when it is first requested; that raises ConfigError for one that cannot be made."""

    @lru_cache(PLAYERS_KEPT)
    def player(name: str) -> Player:
        if name in present:
            return present[name].actor(explore)
        if "@" in name:
            return Policy.stored(store, name.partition("@")[2]).actor(explore)
        policy: Any = config.policies[name]
        made = player_of(name, policy, seats[config.places(name)[0]], store, explore=explore)
        return slowed(made, policy.limits, config.game.limits)

    return player


def player_of(
    name: str, policy: Any, seat: SeatSpec, store: Store, *, explore: bool = False, place: str = "policies"
) -> Player:
    """The player of a policy that never learns, for a seat. Raises ConfigError with the policy's name below its
    place."""
    with below(f"{place}.{name}"):
        return MAKERS[policy.kind](policy, seat, store, explore)


def _scripted(policy: ScriptedConfig, seat: SeatSpec, store: Store, explore: bool) -> Player:
    if policy.player not in PLAYERS:
        raise ConfigError([("player", f"there is no script {policy.player!r}; there are {', '.join(PLAYERS)}")])
    made: Player = PLAYERS[policy.player].load()(seat)
    return made


def _frozen(policy: Any, seat: SeatSpec, store: Store, explore: bool) -> Player:
    """``explore``: whether it draws its actions, where the policy itself says nothing."""
    explore = explore if policy.sampled is None else policy.sampled
    try:
        found = Policy.stored(store, policy.policy)
    except StoreError as error:
        raise ConfigError([("policy", str(error))]) from error
    own = found.spec.seat
    same = (own.observations, own.action) == (seat.observations, seat.action)
    if not same and not (policy.one_by_one and fits(found, seat)):
        raise ConfigError([("policy", "this policy sees or does something else than is seen and done on its seats")])
    return found.actor(explore) if same else on_seats(found, found.actor(explore))


def _own(policy: OwnMemberConfig, seat: SeatSpec, store: Store, explore: bool) -> Player:
    return OwnPlayer(policy.factory, seat)


def _noted(noted: MovesConfig, seat: SeatSpec, store: Store, explore: bool) -> Player:
    return NotedPlayer(seat, noted.moves)


def as_slow_as(game: Game, player: Any, seats: Collection[int], place: str = "agent") -> Game:
    """The game with a player's own limits on its seats (None: nobody sits there). Raises ConfigError as ``limited``,
    below the player's place."""
    with below(place):
        return game if player is None else limited(game, player.limits, seats)


def check_limits(game: Game, player: Any, seats: Collection[int], place: str, seed: int) -> None:
    """Begin a battle in which a player has limits of its own, if it has any, as a study does before anything else.
    Raises ConfigError below the player's place where the game is none for that."""
    if player.limits is not None:
        with below(place):
            references.begin(limited(game, player.limits, seats), seed)


MAKERS: dict[str, Callable[[Any, SeatSpec, Store, bool], Player]] = {
    "scripted": _scripted, "frozen": _frozen, "own": _own, "moves": _noted,
}  # fmt: skip
"""Factories of players, by the kind of what plays: of a policy that never learns, or of actions that were noted."""
