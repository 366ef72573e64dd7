"""Cooperative navigation (Staley et al. 2021, section 5.2): what scripts and learners reach, and how fast all is.

``scripts``: the return of 1,000 episodes of each script on all three seats, as the paper counts it (covered targets,
summed over 300 decisions; 900 at most), in the game as it is and in the ``hard`` one; every script plays the same
episodes. ``speed``: decisions a second of processor time of the game alone, counted seat by seat, beside
Pong's.

``masac``, ``maddpg``, ``shared`` and ``joint`` (``engine.bench.arena_learning``): 300,000 updates, one in eight
decisions of all entities; the return of the last policy over 1,000 fresh episodes, seed by seed, without exploring. At
least 800 is the mark of groups; ``shared`` and ``joint`` are controls. ``hard``: one policy on all seats of the hard
game, for with policies of their own entities could still share out targets by their order; its lowest end must lie
above going to the nearest target in the same number of episodes. ``var/bench`` keeps every seed. ``rate``: updates a
second of processor time, playing included, and the hours that fifteen trainings of that length would take; 15 are
allowed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.bench import arena_learning
from engine.bench.arena_learning import METHODS
from engine.bench.row import row
from engine.games.navigation import Navigation
from engine.games.navigation.scripts import RULES
from engine.games.pong import VectorPong
from engine.mdp.interface import Array
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorMDP, VectorStep, noise_keys
from engine.means import range_of
from engine.rl.players import RandomPlayer
from engine.rng import battle_seeds

NAME = "arena-navigation"
CASES = ("scripts", "speed", "rate", *METHODS, "hard")
SEEDS, MARK, HOURS = (1, 2, 3), 800.0, 15.0
EPISODES = 1000
BATCH = 1024
_KEY = 0xC07E  # match key of these episodes: none of training or its evaluations has it


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    if case == "scripts":
        yield from _scripts(100 if quick else EPISODES)
    elif case == "speed":
        yield from _speed(1.0 if quick else 4.0)
    elif case == "rate":
        yield from _rates(50 if quick else 1000)
    else:
        yield _learned(case, quick)


def _learned(case: str, quick: bool) -> dict[str, Any]:
    """What a method reaches, on every seed."""
    hard, seeds, updates = case == "hard", SEEDS[:1] if quick else SEEDS, 1000 if quick else arena_learning.UPDATES
    method = "shared" if hard else case
    found = {seed: arena_learning.result(method, seed, updates, hard=hard) for seed in seeds}
    controls = case in ("shared", "joint")
    mark = _nearest(hard) if hard else MARK
    reached = [one["last"][1 if hard else 0] for one in found.values()]
    each = "; ".join(
        f"seed {seed}: {one['last'][0]:.0f} ({one['last'][1]:.0f} to {one['last'][2]:.0f}) after {one['updates']:,} "
        f"updates in {one['seconds'] / 3600:.2f} h, on the way {', '.join(f'{r:.0f}' for _, r in one['curve'])}"
        for seed, one in found.items()
    )
    return row(
        NAME, case, np.mean([one["last"][0] for one in found.values()]), "return", seeds=seeds, detail=each,
        goal="" if controls else f">= {mark:.0f}", meets=None if controls else min(reached) >= mark,
    )  # fmt: skip


def _nearest(hard: bool) -> float:
    """The highest end of the return of going to the nearest target."""
    seeds = np.asarray(battle_seeds(1, np.array([_KEY], np.uint64), 0, EPISODES)[0])
    return arena_learning.MOST * range_of(_scores(Navigation(hard=hard), "nearest", seeds), 0.0, 1.0).high


def _rates(updates: int) -> Iterator[dict[str, Any]]:
    rates = {method: arena_learning.updates_per_second(method, updates) for method in METHODS}
    whole = len(SEEDS) * sum(arena_learning.UPDATES / rates[m] for m in (*METHODS, "shared")) / 3600
    for method, rate in rates.items():
        yield row(NAME, f"rate, {method}", rate, "updates/s", detail=f"{1000 / rate:.1f} ms an update")
    yield row(NAME, "rate, all", whole, "core-hours", goal=f"<= {HOURS:.0f}", meets=whole <= HOURS,
              detail=f"{len(SEEDS)} seeds of all methods, and of the shared policy in the hard game")  # fmt: skip


def _scripts(episodes: int) -> Iterator[dict[str, Any]]:
    seeds = np.asarray(battle_seeds(1, np.array([_KEY], np.uint64), 0, episodes)[0])
    for hard in (False, True):
        game = Navigation(hard=hard)
        most = len(game.spec.seats) * game.spec.max_ticks
        for script in ("random", *RULES):
            score = _scores(game, script, seeds)
            ends = range_of(score, 0.0, 1.0)
            line = f"{'hard, ' if hard else ''}{script}: {most * ends.low:.0f} to {most * ends.high:.0f} of {most}"
            yield row(NAME, "scripts", most * score.mean(), "return", detail=f"{line}, {episodes} episodes")


def _scores(game: Navigation, script: str, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Scores float64[n] of a script on every seat."""
    act, step, tick = _acting(game, script, seeds), game.reset(seeds), 0
    while step.ended is None:
        step, tick = game.step([act(step, seat, tick) for seat in range(len(game.spec.seats))]), tick + 1
    return step.ended.score[:, 0]


def _acting(game: Navigation, script: str, seeds: NDArray[np.uint64]) -> Callable[[VectorStep, int, int], Array]:
    if script != "random":
        return lambda step, seat, tick: RULES[script](step.observations[seat]["view"], seat)
    player = RandomPlayer(game.spec.seats[0])

    def act(step: VectorStep, seat: int, tick: int) -> Array:
        keys = noise_keys(seeds, np.full(len(seeds), tick), seat)
        return player(Batch(step.observations[seat], None, keys)).actions

    return act


def _speed(seconds: float) -> Iterator[dict[str, Any]]:
    """Turns of the two games alternate."""
    games: list[tuple[VectorMDP, list[float]]] = [(Navigation(), []), (VectorPong(seats=(0, 1)), [])]
    for _ in range(3):
        for game, rates in games:
            rates.append(_rate(game, seconds))
    value, peer = (median(rates) for _, rates in games)
    turns = " ".join(f"{rate:,.0f}" for rate in sorted(games[0][1]))
    yield row(NAME, "speed", value, "decisions/s", peer="pong", peer_value=peer, detail=f"{BATCH} battles; {turns}")


def _rate(game: VectorMDP, seconds: float) -> float:
    game.reset(np.arange(BATCH, dtype=np.uint64))
    actions = [seat.action.idle(BATCH) for seat in game.spec.seats]
    game.step(actions)
    steps, begun = 0, time.process_time()
    while (spent := time.process_time() - begun) < seconds:
        game.step(actions)
        steps += BATCH * len(actions)
    return steps / spent
