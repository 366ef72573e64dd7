"""Games whose choices have numbers: how often scripts score (the yardstick of learners), and how fast the games are.

``yardstick``: half-field offence without and with a keeper, the scripted attacker and a random player, the same
episodes for both: the share of goals with its range, and steps to goal. The marks: the script between 92 and 98 %
without a keeper and between 75 and 87 % with one (Helios' attacker: 96.2 % and 81.4 %, with 72 and 86 steps to goal;
Li and Ji 2021, tables 1 and 2), random below 1 %. ``platform``, ``goal``: their scripts and a random player.
``speed``: decisions a second of processor time of each game alone, random actions; beside it those of a network
FC(256, 128) that acts in it, which no sampler can be faster than.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import torch

from engine.bench.row import row
from engine.catalog import GAMES, PLAYERS
from engine.config.rl import NetworkConfig
from engine.games.one_seat import OneSeat
from engine.mdp.trajectory import Batch
from engine.mdp.vector import noise_keys
from engine.means import range_of
from engine.rl.policy import Policy, PolicySpec
from engine.rl.seats import Player
from engine.rng import battle_seeds

NAME = "half-field"
CASES = ("yardstick", "platform", "goal", "speed")
EPISODES = 2000
BATTLES = 256
_KEY = 0x4A1F  # match key of these episodes: none of training or its evaluations has it
MARKS = {"half-field": (0.92, 0.98, 0.962), "half-field-keeper": (0.75, 0.87, 0.814)}
"""Lowest and highest share of goals of the scripted attacker, and that of Helios'."""


class EpisodeResults(NamedTuple):
    """Of n episodes: the score, the win, the return, and the length in decisions; each float64[n]."""

    score: np.ndarray[Any, np.dtype[np.float64]]
    win: np.ndarray[Any, np.dtype[np.float64]]
    paid: np.ndarray[Any, np.dtype[np.float64]]
    length: np.ndarray[Any, np.dtype[np.float64]]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    if case == "speed":
        for name in ("platform", "goal", *MARKS):
            yield _speed(name, 1.0 if quick else 4.0)
        return
    for name in MARKS if case == "yardstick" else (case,):
        for player in (GAMES[name].scripted, "random"):
            yield _scored(case, name, player, 400 if quick else EPISODES)


def _scored(case: str, name: str, player: str, episodes: int) -> dict[str, Any]:
    game = GAMES[name].load()()
    found = played(game, PLAYERS[player].load()(game.spec.seats[0]), episodes)
    wins, paid = range_of(found.win, 0.0, 1.0), found.paid.mean()
    steps = found.length[found.win == 1.0]
    detail = f"{name}, {player}: {wins.low:.4f} to {wins.high:.4f} of {episodes} episodes; return {paid:.3f}"
    detail += f"; {steps.mean():.1f} decisions to the end of those that were won" if len(steps) else ""
    if name not in MARKS:
        return row(NAME, case, found.win.mean(), "wins", detail=detail)
    low, high, helios = MARKS[name] if player != "random" else (0.0, 0.01, 0.0)
    meets = low <= wins.low and wins.high <= high
    return row(
        NAME, case, found.win.mean(), "goals", peer="Helios, published" if helios else "",
        peer_value=helios or None, goal=f"{low:g} to {high:g}", meets=meets, detail=detail,
    )  # fmt: skip


def played(game: OneSeat, player: Player, episodes: int) -> EpisodeResults:
    """The first episode of each of so many battles."""
    seeds = np.asarray(battle_seeds(1, np.array([_KEY], np.uint64), 0, episodes)[0])
    found, step, tick = np.full((4, episodes), np.nan), game.reset(seeds), 0
    while np.isnan(found[0]).any():
        keys = noise_keys(seeds, np.full(episodes, tick), 0)
        step = game.step([player(Batch(step.observations[0], None, keys)).actions])
        tick += 1
        if step.ended is not None:
            ended, new = step.ended, np.isnan(found[0, step.ended.battles])
            rows = [ended.score[new, 0], ended.win[new, 0], ended.returns[new, 0, 0], ended.lengths[new]]
            found[:, ended.battles[new]] = rows
    return EpisodeResults(*found)


def _speed(name: str, seconds: float) -> dict[str, Any]:
    torch.set_num_threads(1)
    game = GAMES[name].load()()
    step = game.reset(np.arange(BATTLES, dtype=np.uint64))
    seat, rng = game.spec.seats[0], np.random.default_rng(1)
    low, high = seat.action.bounds
    choices = rng.integers(0, len(seat.action.sizes), (64, BATTLES, 1))
    drawn = np.concatenate([choices, rng.uniform(low, high, (64, BATTLES, len(low)))], axis=2).astype(np.float32)
    spec = PolicySpec(seat, NetworkConfig())
    actor = Policy(spec, spec.model().initial(np.random.default_rng(0))).actor()
    batch = Batch(
        {name: array.copy() for name, array in step.observations[0].items()}, None, np.arange(BATTLES, dtype=np.uint64)
    )
    plays, acts = lambda k: game.step([drawn[k % len(drawn)]]), lambda k: actor(batch)
    own, peer = ([_rate(what, seconds) for _ in range(3)] for what in (plays, acts))
    detail = f"{name}, {BATTLES} battles; " + " ".join(f"{rate:,.0f}" for rate in sorted(own))
    return row(
        NAME, "speed", median(own), "decisions/s", peer="inference of FC(256, 128)", peer_value=median(peer),
        detail=detail,
    )  # fmt: skip


def _rate(what: Callable[[int], object], seconds: float) -> float:
    """Decisions a second of processor time, after warming up."""
    what(0)
    steps, begun = 0, time.process_time()
    while (spent := time.process_time() - begun) < seconds:
        what(steps)
        steps += 1
    return float(steps * BATTLES / spent)
