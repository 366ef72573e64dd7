"""Tanks, five against five (Staley et al. 2021, section 5.1): how scripts do against each other, and how fast it is.

``scripts``: 1,000 episodes of each script against each that the game leads, the same ones for all: the paper's reward
of a tank at penalties 0 and 0.3, wins (draws as half), and damage dealt, to friends and to neutral tanks as shares of
their life. ``speed`` and ``pictures``: decisions a second of processor time of the game alone, counted seat by seat,
both teams played from outside at random, with numbers and with pictures as input.

``penalty`` (``engine.bench.arena_penalty``): PPO against four opponents, with a penalty that grows in seven lessons and
with the whole one throughout; the difference of both over five seeds, with the interval of Student's t, also where it
is null. ``var/bench`` keeps every training.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from statistics import mean, median, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from engine.bench import arena_penalty
from engine.bench.row import row
from engine.games.tanks import Tanks, TanksPictures
from engine.games.tanks.game import OPPONENTS
from engine.games.tanks.scripts import Aggressive, Passive, Static
from engine.mdp.trajectory import Batch
from engine.mdp.vector import noise_keys
from engine.means import range_of
from engine.rl.players import RandomPlayer
from engine.rl.seats import Player
from engine.rng import battle_seeds

NAME = "arena-tanks"
CASES = ("scripts", "speed", "pictures", "penalty")
SEEDS = (1, 2, 3, 4, 5)
EPISODES = 1000
REWARDS = ("score", "dealt", "friendly", "neutral", "taken")
PENALTIES = (0.0, 0.3)
_KEY = 0x7A4C  # match key of these episodes: none of training or its evaluations has it
_PLAYERS: dict[str, Any] = {"static": Static, "random": RandomPlayer, "passive": Passive, "aggressive": Aggressive}


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    if case == "scripts":
        yield from _scripts(100 if quick else EPISODES)
    elif case == "penalty":
        yield from _penalty(SEEDS[:2] if quick else SEEDS, quick)
    else:
        yield from _speed(case, 1.0 if quick else 4.0)


def _penalty(seeds: Sequence[int], quick: bool) -> Iterator[dict[str, Any]]:
    found = {seed: arena_penalty.measured(seed, quick) for seed in seeds}
    apart = [arena_penalty.difference(one) for one in found.values()]
    for name in arena_penalty.NAMES:
        values = [each[name] for each in apart]
        half = float(student.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))
        detail = f"staged − constant, {mean(values) - half:.3f} to {mean(values) + half:.3f}"
        whole = "; ".join(arena_penalty.said(seed, one) for seed, one in found.items())
        line = f"{detail}; {whole}" if name == arena_penalty.NAMES[0] else detail
        yield row(NAME, f"penalty, {name}", mean(values), "difference", seeds=seeds, detail=line)


def _scripts(episodes: int) -> Iterator[dict[str, Any]]:
    seeds = np.asarray(battle_seeds(1, np.array([_KEY], np.uint64), 0, episodes)[0])
    for name, maker in _PLAYERS.items():
        for opponent in OPPONENTS:
            games = [Tanks(opponent=opponent, penalty=penalty, rewards=REWARDS) for penalty in PENALTIES]
            found = [_played(game, maker(game.spec.seats[0]), seeds) for game in games]
            rewards = " and ".join(f"{rows[:, 0].mean():.2f}" for rows in found)
            wins, (dealt, friendly, neutral) = found[0][:, 1], found[0][:, 2:5].mean(axis=0)
            ends = range_of(wins, 0.0, 1.0)
            detail = (
                f"{name} against {opponent}: {ends.low:.3f} to {ends.high:.3f}; reward {rewards}; "
                f"dealt {dealt:.2f}, friendly {friendly:.2f}, neutral {neutral:.2f}; {episodes} episodes"
            )
            yield row(NAME, "scripts", wins.mean(), "wins", detail=detail)


def _played(game: Tanks, player: Player, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Of the first episode of each battle [n, 5]: a tank's mean reward, the win, and the first three signals."""
    found, step, tick = np.full((len(seeds), 5), np.nan), game.reset(seeds), 0
    while np.isnan(found).any():
        keys = [noise_keys(seeds, np.full(len(seeds), tick), seat) for seat in range(len(game.spec.seats))]
        step = game.step([
            player(Batch(seen, None, key)).actions for seen, key in zip(step.observations, keys, strict=True)
        ])  # fmt: skip
        tick += 1
        if step.ended is not None:
            ended, new = step.ended, np.isnan(found[step.ended.battles, 0])
            paid = ended.returns[new, :, 0].mean(axis=1, keepdims=True)
            found[ended.battles[new]] = np.hstack([paid, ended.win[new, :1], ended.signals[0][new, :3]])
    return found


def _speed(case: str, seconds: float) -> Iterator[dict[str, Any]]:
    kind, battles = (Tanks, 256) if case == "speed" else (TanksPictures, 16)
    game = kind(sides=(0, 1))
    game.reset(np.arange(battles, dtype=np.uint64))
    drawn = np.random.default_rng(1).uniform(-1, 1, (64, 10, battles, 3)).astype(np.float32)
    game.step(list(drawn[0]))
    rates = sorted(_rate(game, drawn, seconds) for _ in range(3))
    turns = " ".join(f"{rate:,.0f}" for rate in rates)
    yield row(NAME, case, median(rates), "decisions/s", detail=f"{battles} battles; {turns}")


def _rate(game: Tanks, drawn: NDArray[np.float32], seconds: float) -> float:
    steps, begun = 0, time.process_time()
    while (spent := time.process_time() - begun) < seconds:
        game.step(list(drawn[steps % len(drawn)]))
        steps += 1
    return float(steps * drawn.shape[1] * drawn.shape[2] / spent)
