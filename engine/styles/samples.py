"""Sample episodes of a game, by a random player and by its script, from which rewards are judged before a training.

The same game and seed give the same samples, byte for byte. An episode that lasts longer
than ``LONGEST`` decisions is cut off: its decisions count, it does not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.catalog import PLAYERS, built_in
from engine.config.evolve import measure_names
from engine.config.train import TrainGame
from engine.errors import Cancelled, ConfigError
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorMDP, VectorStep, noise_keys
from engine.problem import ShouldStop
from engine.rng import battle_seeds
from engine.styles.preview import Samples

EPISODES = 4
LONGEST = 6000
_KEY = 0x57A1


class _Played(NamedTuple):
    """One player's part: per decision signals, ticks and episodes; per ended episode measures."""

    signals: NDArray[np.float32]
    ticks: NDArray[np.int32]
    episode: NDArray[np.int32]
    measures: NDArray[np.float64]


def sample(game: VectorMDP, wanted: TrainGame, seed: int, should_stop: ShouldStop = lambda: False) -> Samples:
    """Episodes of ``game``, made from ``wanted`` with all its signals for ``EPISODES`` battles at a time and one seat.
    Raises SimulatorError, and Cancelled once ``should_stop()``."""
    seat = game.spec.seats[0]
    names, parts = [], []
    for name in _players(wanted):
        try:
            player = PLAYERS[name].load()(seat)
        except ConfigError:
            continue  # a script that cannot see this input
        names.append(name)
        parts.append(_play(game, player, seed, should_stop))
    signals, ticks, episode, measures = (np.concatenate(column) for column in zip(*parts, strict=True))
    player = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part.signals) for part in parts])
    whose = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part.measures) for part in parts])
    measured = _measures(game)
    return Samples(
        tuple(names), seat.rewards, measured, game.spec.max_ticks, signals, ticks, player, episode, measures, whose
    )


def _measures(game: VectorMDP) -> tuple[str, ...]:
    """Measures of an episode that do not depend on rewards: score, win, length, and the game's signals."""
    return measure_names((), game.spec.seats[0].signals)[1:]


def _players(wanted: TrainGame) -> list[str]:
    known = built_in(wanted.name)
    return ["random", *([known.scripted] if known and known.scripted else [])]


def _play(game: VectorMDP, player: Any, seed: int, should_stop: ShouldStop) -> _Played:
    """The first episode of each battle. Episodes are numbered: those that ended come first, in the order of battles."""
    seeds = battle_seeds(seed, np.array([_KEY], np.uint64), 0, EPISODES)[0]
    step = game.reset(seeds)
    missing = np.ones(EPISODES, np.bool_)
    signals, ticks, battles = [], [], []
    measures = np.full((EPISODES, len(_measures(game))), np.nan)
    for tick in range(LONGEST):
        if should_stop():
            raise Cancelled("Sample episodes were asked to stop")
        playing = np.flatnonzero(missing)
        step = game.step([_decided(game, player, step, seeds, tick)])
        signals.append(step.rewards[playing, 0].copy())
        ticks.append(np.full(len(playing), tick, np.int32))
        battles.append(playing)
        _measured(step, missing, measures)
        if not missing.any():
            break
    order = np.argsort(missing, kind="stable")
    place = np.empty(EPISODES, np.int32)
    place[order] = np.arange(EPISODES)
    return _Played(np.concatenate(signals), np.concatenate(ticks), place[np.concatenate(battles)], measures[~missing])


def _decided(game: VectorMDP, player: Any, step: VectorStep, seeds: NDArray[np.uint64], tick: int) -> Any:
    keys = noise_keys(seeds, np.full(len(seeds), tick, np.int64), 0)
    return player(Batch(step.observations[0], step.masks[0], keys)).actions


def _measured(step: VectorStep, missing: NDArray[np.bool_], measures: NDArray[np.float64]) -> None:
    """Note the measures of first episodes that ended in a step."""
    ended = step.ended
    if ended is None:
        return
    new = missing[ended.battles]
    which = ended.battles[new]
    plain = [ended.score[new, 0], ended.win[new, 0], ended.lengths[new].astype(np.float64)]
    measures[which] = np.concatenate([np.stack(plain, axis=1), ended.signals[0][new]], axis=1)
    missing[which] = False
