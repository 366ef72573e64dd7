"""A sequence that an agent with limits played: what it saw and decided, and what its hands did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.config.limits import LimitsConfig
from engine.mdp.limits import Hands
from engine.mdp.trajectory import Batch, Decision
from engine.mdp.vector import VectorMDP
from engine.rl.cast import Candidate, Cast
from engine.rl.policy import Policy
from engine.rl.seats import Player, Seats, nobody_else
from engine.rl.squads import on_seats
from engine.rl.take_home import Arrays, clear, inputs

MOST = 100
"""Decisions of an episode that go along; an end that comes sooner begins the next."""
_MINE, _OTHER = "played", "opponent"


class _Seen:
    """A player whose batches are kept."""

    def __init__(self, player: Player) -> None:
        self._player, self.batches = player, list[Batch]()
        self.memory: Mapping[str, tuple[int, ...]] = player.memory

    def __call__(self, batch: Batch) -> Decision:
        """Decide as the player does."""
        self.batches.append(_copied(batch))
        return self._player(batch)


def played(
    game: VectorMDP,
    policy: Policy,
    opponent: Player | None,
    own: Sequence[int],
    seeds: NDArray[np.uint64],
    sampled: bool,
    limits: LimitsConfig,
) -> Arrays:
    """The first ``MOST`` decisions of an episode for each seed, one row a decision: ``played.decision``,
    ``played.done`` by the hands, ``played.begins`` bool where an episode begins, and ``played.in.…``, inputs of
    the exported agent, with ``played.clear``. Of a side of several seats it is the first seat, without these two.
    ``game``: with its limits."""
    seen = _Seen(policy.actor(sampled))
    names = [_MINE if seat in own else _OTHER for seat in range(len(game.spec.seats))]
    players: dict[str, Player] = {_MINE: on_seats(policy, seen)} | ({} if opponent is None else {_OTHER: opponent})
    seats = Seats(game.spec, Cast([[Candidate(name, learns=True)] for name in names]), players, nobody_else)
    decisions, begins = list[NDArray[Any]](), list[bool]()
    for i in range(len(seeds)):
        step = game.reset(seeds[i : i + 1])
        seats.begin(seeds[i : i + 1])
        for t in range(MOST):
            actions = seats.act(step)[0]
            decisions.append(actions[own[0]][0].copy())
            begins.append(t == 0)
            step = game.step(actions)
            seats.ends(step)
            seats.move(step.ended)
            if step.ended is not None:
                break
    found: Arrays = {"played.decision": np.array(decisions), "played.begins": np.array(begins)}
    found["played.done"] = _done(game, own[0], limits, decisions, begins)
    if len(own) > 1:
        return found
    fed = [inputs(policy, batch, sampled) for batch in seen.batches]
    found["played.clear"] = np.concatenate([clear(policy, batch, sampled) for batch in seen.batches])
    return found | {f"played.in.{name}": np.concatenate([each[name] for each in fed]) for name in fed[0]}


def _done(
    game: VectorMDP, seat: int, limits: LimitsConfig, decisions: Sequence[NDArray[Any]], begins: Sequence[bool]
) -> NDArray[Any]:
    """What the hands of the engine do."""
    hands, found = Hands(game.spec.seats[seat].action, 1, limits), list[NDArray[Any]]()
    for decided, first in zip(decisions, begins, strict=True):
        if first:
            hands.restart(np.zeros(1, np.int64))
        found.append(hands.do(decided[np.newaxis])[0].copy())
    return np.array(found)


def _copied(batch: Batch) -> Batch:
    return batch._replace(
        observations={name: array.copy() for name, array in batch.observations.items()},
        masks=None if batch.masks is None else batch.masks.copy(), keys=batch.keys.copy(),
        state={name: array.copy() for name, array in batch.state.items()},
    )  # fmt: skip
