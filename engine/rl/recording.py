"""A battle written down to be watched: where things are at every tick, not pictures of it.

The seed and the players decide everything, so the same recording is the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.errors import Cancelled
from engine.mdp.interface import ActionSpec, Array, Hybrid
from engine.mdp.vector import Game, VectorMDP, VectorStep, in_turns
from engine.rl.cast import Candidate, Cast
from engine.rl.examine import first_in_turns
from engine.rl.observed import Noted
from engine.rl.seats import Player, Seats, nobody_else
from engine.rl.turns import Table
from engine.rng import battle_seeds

RECORDING = 0xE7A5
"""The match key of recordings: their seeds are never those of training or of measurements."""
LONGEST = 12_000
"""Decisions after which a recording is cut."""
_MINE, _OTHER = "watched", "opponent"


@runtime_checkable
class Drawable(Protocol):
    """A game whose battles can be drawn. ``drawing``: what draws them; ``positions``: a battle's present state for it,
    float64[p]. What stays as it is may be its attribute ``scenery``: uint8 or bool [rows, columns]; its method
    ``labels``, called with a battle, may name what is in it."""

    drawing: str

    def positions(self, battle: int) -> NDArray[np.float64]: ...
    def last_positions(self, battle: int) -> NDArray[np.float64]:
        """Those with which its last episode ended."""
        ...


class Recording(NamedTuple):
    """``positions`` float32[T + 1, p] before each decision and at the end (p = 0: the game has no drawing); ``moves``
    [T, …]: decisions of seat 0; ``score`` and ``win`` of seat 0 (NaN where the game names no winner); ``signals`` by
    name; ``over``: False where the battle was cut, such as after ``LONGEST`` decisions, and has no result; ``labels``:
    names for the drawing."""

    positions: NDArray[np.float32]
    moves: Array
    score: float
    win: float
    signals: dict[str, float]
    over: bool
    labels: Sequence[str] = ()


def record(
    game: Game, player: Player, opponent: Player | None, seed: int, stopped: Callable[[], bool] = lambda: False
) -> Recording:
    """One battle of ``player`` on the first side's seats against ``opponent`` on all others. Raises Cancelled once
    ``stopped``."""
    seated = [_MINE if seat < game.spec.squad else _OTHER for seat in range(len(game.spec.seats))]
    players = {_MINE: player, **({} if opponent is None else {_OTHER: opponent})}
    return record_seated(game, seated, players, episode_of(seed), LONGEST, stopped)


def episode_of(seed: int) -> int:
    """The seed of the episode that is recorded under a study's seed."""
    return int(battle_seeds(seed, np.array([RECORDING], np.uint64), 0, 1)[0, 0])


def record_seated(
    game: Game, seated: Sequence[str], players: Mapping[str, Player], episode: int, most: int,
    stopped: Callable[[], bool],
) -> Recording:  # fmt: skip
    """One battle; ``seated``: the name of the player on each seat; ``episode``: its own seed; ``most``: decisions after
    which it is cut where all act at once. Raises Cancelled once ``stopped``."""
    noted = Noted(players[seated[0]])
    seeds = np.array([episode], np.uint64)
    cast = Cast([[Candidate(name, learns=True)] for name in seated])
    sitting = {name: noted if name == seated[0] else players[name] for name in dict.fromkeys(seated)}
    if in_turns(game):
        return _in_turns(Table(game, seeds, cast, {}, sitting.__getitem__, episodes=1), noted, stopped)
    seats = Seats(game.spec, cast, sitting, nobody_else)
    return _together(game, seats, seeds, noted, stopped, most)


def _in_turns(table: Table, noted: Noted, stopped: Callable[[], bool]) -> Recording:
    ended = list(first_in_turns(table, stopped))[0]  # noqa: RUF015 - the battle is played to its end
    result = ended.results[0]
    nowhere = np.empty((len(noted.moves) + 1, 0), np.float32)
    return Recording(nowhere, _stacked(noted.moves), result.score, result.win, dict(result.signals), True)


def _together(
    game: VectorMDP, seats: Seats, seeds: NDArray[np.uint64], noted: Noted, stopped: Callable[[], bool], most: int
) -> Recording:
    drawn: Any = game if isinstance(game, Drawable) else None
    step = game.reset(seeds)
    seats.begin(seeds)
    labels = _labels(game)
    places: list[NDArray[np.float64]] = []
    while step.ended is None and len(noted.moves) < most:
        if stopped():
            raise Cancelled("The recording was asked to stop")
        places.append(_now(drawn, step))
        step = game.step(seats.act(step)[0])
        seats.ends(step)
        seats.move(step.ended)
    places.append(_now(drawn, step))
    found, moves, ended = np.array(places, np.float32), _stacked(noted.moves), step.ended
    if ended is None:
        return Recording(found, moves, np.nan, np.nan, {}, False, labels)
    signals = dict(zip(game.spec.seats[0].signals, ended.signals[0][0].tolist(), strict=True))
    return Recording(found, moves, float(ended.score[0, 0]), float(ended.win[0, 0]), signals, True, labels)


def _now(drawn: Any, step: VectorStep) -> NDArray[np.float64]:
    """What there is to draw after a step: the end of an episode that ended in it."""
    if drawn is None:
        return np.empty(0)
    found: NDArray[np.float64] = drawn.positions(0) if step.ended is None else drawn.last_positions(0)
    return found


def _labels(game: Any) -> Sequence[str]:
    labels: Callable[[int], Sequence[str]] | None = getattr(game, "labels", None)
    return labels(0) if labels is not None else ()


def _stacked(moves: list[Array]) -> Array:
    return np.stack(moves)


def tally(action: ActionSpec, moves: Array) -> list[int] | list[list[int]]:
    """How often each alternative was chosen in ``moves`` [T, …], where a decision is a choice, with numbers of its own
    or without; a list for each choice where it is several at once; nothing where it is none."""
    chosen = moves.reshape(len(moves), -1)[:, : len(action.choices)].astype(np.int64)
    ways = zip(chosen.T, action.choices, strict=True)
    counted: list[list[int]] = [np.bincount(column, minlength=k).tolist() for column, k in ways]
    return counted if isinstance(action, Hybrid) or not counted else counted[0]


def drawing_of(game: Game) -> str:
    """What draws a game's battles; empty where nothing does."""
    return game.drawing if isinstance(game, Drawable) else ""


def scenery_of(game: Game) -> NDArray[np.uint8] | None:
    """What stays as it is in drawings of a game's battles, [rows, columns]; None where nothing does."""
    found: NDArray[Any] | None = getattr(game, "scenery", None)
    return None if found is None else found.astype(np.uint8)
