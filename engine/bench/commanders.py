"""Commanders of herobattle beside its own way of fighting.

A battle is mirrored: both sides lead the same team, and each seed is fought from both seats; wins are averaged over
both seatings (draws as half), and these averages are independent. ``handwritten``: the twenty commanders written by
hand. ``drawn``: the same where each side leads a team of its own, so that the teams decide most battles. ``trained``:
``bench/studies/commanders.yaml`` on fresh battles, and with two random teams beside it; every seed is kept. ``speed``:
decisions a second of the game alone, beside Pong's.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from engine.bench.kept import Kept
from engine.bench.row import row
from engine.errors import EngineError
from engine.events import Finished
from engine.games.herobattle.commanders import HeroBattleCommanders
from engine.games.herobattle.commanders.scripts import COMMANDERS, orders
from engine.games.pong import VectorPong
from engine.mdp.interface import Array
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorMDP, VectorStep, noise_keys
from engine.means import range_of
from engine.rl.policy import Policy
from engine.rng import battle_seeds
from engine.store import FolderStore, Store
from engine.studies import load
from engine.study import run as run_study

NAME = "commanders"
CASES = ("handwritten", "drawn", "trained", "speed")
STUDY = Path(__file__).parent / "studies" / "commanders.yaml"
LEAST = 0.6
SOURCES = ("games/herobattle", "mdp", "rl", "study/train.py", "bench/commanders.py", "bench/studies/commanders.yaml")
_KEY = 0xC0DE  # match key of these battles: none of training or its evaluations has it
Orders = Callable[[VectorStep, int], Array]
Shares = NDArray[np.float64]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    battles = 400 if quick else 2000
    yield from {
        "handwritten": lambda: _handwritten(case, battles, same_teams=True),
        "drawn": lambda: _handwritten(case, battles, same_teams=False),
        "trained": lambda: _trained((1,) if quick else (1, 2, 3, 4, 5), battles, quick),
        "speed": _speed,
    }[case]()


def mirrored(game: HeroBattleCommanders, act: Orders, seeds: NDArray[np.uint64]) -> Shares:
    """Share of wins float64[n] of a commander against no orders, over both seatings of each seed. ``game`` has both
    seats played from outside."""
    return (_wins(game, act, seeds, 0) + _wins(game, act, seeds, 1)) / 2


def _wins(game: HeroBattleCommanders, act: Orders, seeds: NDArray[np.uint64], seat: int) -> Shares:
    step, won = game.reset(seeds), np.full(len(seeds), np.nan)
    actions = [seat_spec.action.idle(len(seeds)) for seat_spec in game.spec.seats]
    while np.isnan(won).any():
        actions[seat] = act(step, seat)
        step = game.step(actions)
        if step.ended is not None:
            new = np.isnan(won[step.ended.battles])
            won[step.ended.battles[new]] = step.ended.win[new, seat]
    return won


def _seeds(battles: int) -> NDArray[np.uint64]:
    return np.asarray(battle_seeds(1, np.array([_KEY], np.uint64), 0, battles)[0])


def _said(shares: Shares) -> str:
    low, high = range_of(shares, 0.0, 1.0)
    return f"{shares.mean():.3f} ({low:.3f} to {high:.3f})"


def _handwritten(case: str, battles: int, *, same_teams: bool) -> Iterator[dict[str, Any]]:
    game, seeds = HeroBattleCommanders(seats=(0, 1), same_teams=same_teams), _seeds(battles)
    found = {}
    for rule in COMMANDERS:
        if rule != "script":
            found[rule] = mirrored(game, by_hand(rule), seeds)
    best = max(found, key=lambda rule: float(found[rule].mean()))
    yield row(
        NAME, case, float(found[best].mean()), f"of mirrored battles won by {best}",
        goal=f">= {LEAST}" if same_teams else "", meets=found[best].mean() >= LEAST if same_teams else None,
        detail=f"{battles:,} seeds, both seats: " + "; ".join(f"{rule} {_said(s)}" for rule, s in found.items()),
    )  # fmt: skip


def by_hand(rule: str) -> Orders:
    """The orders of one of ``COMMANDERS``."""
    return lambda step, seat: orders(rule, step.observations[seat]["battle"])


def _trained(training_seeds: tuple[int, ...], battles: int, quick: bool) -> Iterator[dict[str, Any]]:
    changes = {"steps": 200_000} if quick else {}
    kept = Kept(f"{NAME}-trained", {"battles": battles, "changes": changes}, SOURCES)
    found = [kept.result(seed, partial(_examined, seed, changes, battles)) for seed in training_seeds]
    worst, lowest = min(one["same"][0] for one in found), min(one["same"][1] for one in found)
    by_seed = "; ".join(
        f"{seed}: " + ", two random teams ".join("{:.3f} ({:.3f} to {:.3f})".format(*ends) for ends in one.values())
        for seed, one in zip(training_seeds, found, strict=True)
    )
    yield row(
        NAME, "trained", worst, "of mirrored battles won by the worst", goal=f">= {LEAST}, range above .5",
        meets=worst >= LEAST and lowest > 0.5, seeds=training_seeds, detail=f"by training seed {by_seed}",
    )  # fmt: skip


def _examined(seed: int, changes: dict[str, Any], battles: int) -> dict[str, list[float]]:
    """(mean, low, high) of the shares of wins of a commander, trained with this seed, in battles of the same team and
    of two random ones."""
    with tempfile.TemporaryDirectory() as folder:
        policy = trained(seed, FolderStore(Path(folder)), changes)
    seeds, found = _seeds(battles), {}
    for teams, same in (("same", True), ("drawn", False)):
        game = HeroBattleCommanders(seats=(0, 1), same_teams=same)
        shares = mirrored(game, greedy(policy, seeds), seeds)
        found[teams] = [float(shares.mean()), *range_of(shares, 0.0, 1.0)]
    return found


def trained(seed: int, store: Store, changes: dict[str, Any]) -> Policy:
    """The policy that the study ends with."""
    *_, last = run_study(load(yaml.safe_load(STUDY.read_text(encoding="utf-8")) | {"seed": seed} | changes), store)
    if not isinstance(last, Finished):
        raise EngineError(f"The training did not finish: {last}")
    return Policy.stored(store, last.artifacts["policy_description"])


def greedy(policy: Policy, seeds: NDArray[np.uint64]) -> Orders:
    """A policy's likeliest orders."""
    actor, ticks = policy.actor(False), np.zeros(len(seeds), np.int64)
    return lambda step, seat: actor(Batch(step.observations[seat], None, noise_keys(seeds, ticks, seat))).actions


def _speed() -> Iterator[dict[str, Any]]:
    rng, n = np.random.default_rng(1), 256
    some = [[np.stack([rng.integers(0, k, n) for k in (7, 5, 5, 5, 3)], axis=1).astype(np.float32)] for _ in range(16)]
    moves = [[rng.integers(0, 3, n)] for _ in range(16)]
    turns = [(_rate(HeroBattleCommanders(), some, 200), _rate(VectorPong(), moves, 2000)) for _ in range(3)]
    ours, pong = (float(np.median(rates)) for rates in zip(*turns, strict=True))
    yield row(NAME, "speed", ours, "decisions/s on one core", peer="pong", peer_value=pong,
              detail=f"random orders, four ticks each, {n} battles together")  # fmt: skip


def _rate(game: VectorMDP, actions: list[list[Array]], steps: int) -> float:
    game.reset(_seeds(256))
    game.step(actions[0])
    began = time.process_time()
    for i in range(steps):
        game.step(actions[i % len(actions)])
    return 256 * steps / (time.process_time() - began)
