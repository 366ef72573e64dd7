"""Whether an experiment names what is unfair: ``engine.worth`` on herobattle with planted pieces.

``recall-150k``, ``-400k``, ``-800k``: of the four pieces and one pair that each seed plants (5 to 8 points each; with
every other seed too weak instead of too strong), how many are told with the right sign, with so many battles. What else
is told is measured by itself: it is false where its effect is below what matters. ``unplanted``, ``renamed``: of
experiments with 400,000 battles on the game as it is, and where all pieces of a category are one and the same, how many
tell anything. ``prices``: fair prices of 80 pieces beside those that are measured: teams that hold the piece are drawn
again at other prices until they win half of 400,000 battles.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.bench.row import row
from engine.confidence import Range
from engine.config.worth import WorthConfig
from engine.games.herobattle import HeroBattle
from engine.games.herobattle.planted import EDGE, planted_pieces
from engine.lineups.pairing_evaluator import PairingEvaluator
from engine.lineups.pairings import draw
from engine.lineups.rules import CompiledRules, compile_rules
from engine.rl.learner import on_threads
from engine.rng import combine64, mix64
from engine.simulators.contract import GameSpec, Patch
from engine.worth.experiment import Experiment
from engine.worth.prices import cost_bounds
from engine.worth.table import tabled

NAME = "worth"
CASES = ("recall-150k", "recall-400k", "recall-800k", "unplanted", "renamed", "prices")
BATTLES = {"recall-150k": 150_000, "recall-400k": 400_000, "recall-800k": 800_000}
QUIET_BATTLES, QUICK_BATTLES = 400_000, 100_000
LEAST = {"recall-150k": 0.85, "recall-400k": 0.95, "recall-800k": 0.98}
SEEDS, QUICK_SEEDS, FAIR = 40, 2, 200
AT_ONCE = 512
PRICED, QUICK_PRICED = 400_000, 100_000
PART = 200_000
TOO_WEAK = -0.06
"""The edge of what is planted too weak: about -7 points."""
MEASURED, QUICK_MEASURED = 10_000_000, 400_000
"""Battles by which the effect of what else is told is measured."""
Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Signs = dict[tuple[str, ...], int]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    made = {"unplanted": _quiet, "renamed": _quiet, "prices": _prices}
    with on_threads(1):
        yield made.get(case, _recall)(case, quick)


def _recall(case: str, quick: bool) -> dict[str, Any]:
    seeds = range(1, 1 + (QUICK_SEEDS if quick else SEEDS))
    found, pairs, all_told, began = 0, 0, 0, time.monotonic()
    others: list[str] = []
    false = 0
    for seed in seeds:
        singles, pair = planted_pieces(seed)
        game = HeroBattle(planted_seed=seed, edge=EDGE if seed % 2 else TOO_WEAK)
        x = played(game, BATTLES[case], seed)
        told, planted = signs(x, game.describe()), [*((piece,) for piece in singles), tuple(sorted(pair))]
        right = [each for each in planted if told.get(each) == (1 if seed % 2 else -1)]
        found, pairs, all_told = found + len(right), pairs + (planted[-1] in right), all_told + len(told)
        for f in x.reading.findings:
            if f.told and _ids(x, game.describe(), f.trait) not in right:
                true = _effect(game, x, f.trait, QUICK_MEASURED if quick else MEASURED)
                false += abs(true) < x.reading.matters or true * f.worth < 0
                others.append(f"seed {seed}: {_called(x, game.describe(), f.trait)}, {100 * true:.1f} points")
    share = found / (5 * len(seeds))
    took = (time.monotonic() - began) / len(seeds)
    detail = (
        f"the pair in {pairs} of {len(seeds)}; {false} of {all_told} told are false; others told: "
        f"{', '.join(others) or 'none'}; {took:.0f} s each"
    )
    return row(NAME, case, share, "of the planted are told", goal=f">= {LEAST[case]}", meets=share >= LEAST[case],
               seeds=tuple(seeds), detail=detail)  # fmt: skip


def _quiet(case: str, quick: bool) -> dict[str, Any]:
    seeds, game = range(1, 1 + (QUICK_SEEDS if quick else FAIR)), HeroBattle()
    patch = copies(game.describe()) if case == "renamed" else {}
    battles = QUICK_BATTLES if quick else QUIET_BATTLES
    told = {seed: signs(played(game, battles, seed, patch), game.describe()) for seed in seeds}
    some = [f"seed {seed}: {sorted(each)}" for seed, each in told.items() if each]
    share = len(some) / len(seeds)
    return row(NAME, case, share, "of experiments tell something", goal="<= 0.075", meets=share <= 0.075,
               seeds=tuple(seeds), detail="; ".join(some) or "none")  # fmt: skip


def copies(spec: GameSpec) -> Patch:
    """The patch that makes all pieces of a category one and the same but for their names: none is good against another
    one of them."""
    first = {p.category: p for p in reversed(spec.pieces)}
    return {
        f"{p.id}.{name}": 0.0 if name.startswith("against_") else value
        for p in spec.pieces
        for name, value in (("cost", first[p.category].cost), *first[p.category].attributes.items())
    }


def signs(x: Experiment, spec: GameSpec) -> Signs:
    """What an experiment tells, by the ids of its pieces: 1 too good, -1 too weak."""
    return {_ids(x, spec, f.trait): 1 if f.worth > 0 else -1 for f in x.reading.findings if f.told}


def _ids(x: Experiment, spec: GameSpec, trait: int) -> tuple[str, ...]:
    one = x.traits.all[trait]
    return tuple(sorted(spec.pieces[p].id for p in one.pieces)) + ((f"{one.least} or more",) if one.least > 1 else ())


def _called(x: Experiment, spec: GameSpec, trait: int) -> str:
    return " + ".join(_ids(x, spec, trait))


def _effect(game: HeroBattle, x: Experiment, trait: int, battles: int) -> float:
    """What teams with a trait win beyond its line, in battles of its own: of a pair, the lesser of what it wins and of
    what it brings beyond its halves."""
    finalist = next(f for f in x.reading.finalists if f.trait == trait)
    pieces, least = (np.repeat(each, battles, axis=0) for each in x.traits.asked(np.array([trait])))
    won = _wins(game, x.rules, pieces, least, np.zeros(battles)) - finalist.line
    extra = won + finalist.line - finalist.halves
    return won if math.isnan(extra) or abs(won) < abs(extra) else extra


def played(
    game: HeroBattle, battles: int, seed: int, patch: Patch | None = None, apart: Sequence[Sequence[str]] = ()
) -> Experiment:
    """An experiment that is over; ``apart``: pairs of pieces that no team has both of."""
    spec = game.describe().patched(patch or {})
    table = {"simulator": "builtin:herobattle", "patch": patch or {}}
    settings = {"game": table, "battles": battles, "seed": seed, "lineups": {"apart": apart}}
    config = WorthConfig.model_validate(settings)
    evaluator = PairingEvaluator(config, game)
    x = Experiment(compile_rules(spec, config.pairings), battles, config.matters, seed, cost_bounds(spec))
    while not x.done:
        for answer in evaluator.evaluate(x.ask(AT_ONCE), lambda: False):
            x.tell(answer)
    return x


def _prices(case: str, quick: bool) -> dict[str, Any]:
    game = HeroBattle(planted_seed=1)
    spec, x = game.describe(), played(game, QUICK_PRICED if quick else PRICED, 1)
    _, columns = tabled(x.reading, spec)
    known = [i for i in range(len(x.traits.single)) if math.isfinite(columns["fair"][i])]
    lines: list[str] = []
    widths: list[float] = []
    inside = 0
    for i in known[:: max(len(known) // (8 if quick else 80), 1)]:
        (piece,) = x.traits.all[i].pieces
        low, high, told = (float(columns[name][i]) for name in ("fair_low", "fair_high", "fair"))
        true = _true_price(game, piece, told, Range(low, high), 40_000 if quick else 400_000)
        inside += low <= true <= high
        widths.append(high - low)
        lines.append(f"{spec.pieces[piece].id} {told:.0f} ({low:.0f} to {high:.0f}), measured {true:.0f}")
    detail = (
        f"{len(known)} of {len(x.traits.single)} have one; median width {np.median(widths):.0f}; {'; '.join(lines)}"
    )
    return row(NAME, case, inside / len(lines), "of the ranges hold the measured price", goal=">= 0.9",
               meets=inside >= 0.9 * len(lines), seeds=(1,), detail=detail)  # fmt: skip


def _true_price(game: HeroBattle, piece: int, told: float, ends: Range, battles: int) -> float:
    """The price at which teams with a piece win half of their battles: by a line through three prices, each with a
    third of the battles."""
    prices = np.array([ends.low, told, ends.high])
    wins = [_wins_at(game, piece, float(price), battles // 3) for price in prices]
    slope, level = np.polyfit(prices - told, wins, 1)
    return told - float(level / slope)


def _wins_at(game: HeroBattle, piece: int, price: float, battles: int) -> float:
    """By how much more than half teams win that hold a piece and are drawn as if it cost so much."""
    spec, config = game.describe(), WorthConfig.model_validate({"game": {"simulator": "builtin:herobattle"}})
    rules = compile_rules(spec, config.pairings)
    asked = np.full((battles, 1), piece, np.int32)
    return _wins(game, rules, asked, np.ones_like(asked), np.full(battles, price - spec.pieces[piece].cost))


def _wins(game: HeroBattle, rules: CompiledRules, pieces: Ints, least: Ints, dearer: Floats) -> float:
    """By how much more than half teams win that are drawn so (``pairings.draw``), in parts that fit the memory."""
    spec, won, many = game.describe(), 0.0, 0
    win = [metric.name for metric in spec.side_metrics].index(spec.win)
    for at in range(0, len(pieces), PART):
        own = slice(at, at + PART)
        keys = mix64(combine64(0xFA1E, np.arange(at, at + len(pieces[own]), dtype=np.uint64)))
        rows, found = draw(rules, keys, pieces[own], least[own], dearer[own])
        left, right = (np.ascontiguousarray(rows[found, side]) for side in (0, 1))
        side = game.battles(left, right, keys[found], {}).side
        won, many = won + float(side[:, 0, win].sum()), many + len(side)
    return won / many - 0.5
