"""Whether an experiment names what is unfair: ``engine.worth`` on herobattle with planted pieces.

``recall-150k``, ``-400k``, ``-800k``: of the four pieces and one pair that each seed plants (5 to 8 points each; with
every other seed too weak instead of too strong), how many are told with the right sign, with so many battles. What else
is told is measured by itself (``worth_truth``). ``false``: of all that is told, how much is false by battles of its
own; two seeds of four plant half as much, close to what matters. ``unplanted``, ``renamed``: of experiments with
400,000 battles on the game as it is, and where all pieces of a category are one and the same, how many tell anything.
``prices``: fair prices of 80 pieces beside those that are measured: teams that hold the piece are drawn again at other
prices until they win half of 400,000 battles. ``weak-spots``: breaks that are small, or rare, or of three pieces.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from engine.bench.row import row
from engine.bench.worth_experiments import Ids, called, ids, played, signs, wins
from engine.bench.worth_truth import measured
from engine.bench.worth_weak_spots import weak_spots
from engine.confidence import Range
from engine.config.worth import WorthConfig
from engine.games.herobattle import HeroBattle
from engine.games.herobattle.planted import EDGE, planted_pieces
from engine.indicators import wilson
from engine.lineups.rules import compile_rules
from engine.rl.learner import on_threads
from engine.simulators.contract import GameSpec, Patch
from engine.worth.experiment import Experiment
from engine.worth.table import tabled

NAME = "worth"
CASES = ("recall-150k", "recall-400k", "recall-800k", "false", "unplanted", "renamed", "prices", "weak-spots")
BATTLES = {"recall-150k": 150_000, "recall-400k": 400_000, "recall-800k": 800_000}
QUIET_BATTLES, QUICK_BATTLES = 400_000, 100_000
FALSE_BATTLES = 150_000
LEAST = {"recall-150k": 0.85, "recall-400k": 0.95, "recall-800k": 0.98}
SEEDS, QUICK_SEEDS, FAIR = 40, 2, 200
PRICED, QUICK_PRICED = 400_000, 100_000
TOO_WEAK = -0.06
"""The edge of what is planted too weak: about -7 points."""
MEASURED, QUICK_MEASURED = 10_000_000, 400_000
"""Largest number of battles by which the effect of what is told is measured."""


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    made = {"unplanted": _quiet, "renamed": _quiet, "prices": _prices, "false": _false}
    with on_threads(1):
        if case == "weak-spots":
            yield from weak_spots(NAME, case, quick)
        else:
            yield made.get(case, _recall)(case, quick)


def _recall(case: str, quick: bool) -> dict[str, Any]:
    seeds = range(1, 1 + (QUICK_SEEDS if quick else SEEDS))
    found, pairs, began = 0, 0, time.monotonic()
    others: list[str] = []
    for seed in seeds:
        singles, pair = planted_pieces(seed)
        game = HeroBattle(planted_seed=seed, edge=EDGE if seed % 2 else TOO_WEAK)
        x = played(game, BATTLES[case], seed)
        told, planted = signs(x, game.describe()), [*((piece,) for piece in singles), tuple(sorted(pair))]
        right = {each for each in planted if told.get(each) == (1 if seed % 2 else -1)}
        found, pairs = found + len(right), pairs + (planted[-1] in right)
        others += [f"seed {seed}: {each}" for each in _checked(game, x, quick, right)[1]]
    share = found / (5 * len(seeds))
    took = (time.monotonic() - began) / len(seeds)
    detail = f"the pair in {pairs} of {len(seeds)}; others told: {', '.join(others) or 'none'}; {took:.0f} s each"
    return row(NAME, case, share, "of the planted are told", goal=f">= {LEAST[case]}", meets=share >= LEAST[case],
               seeds=tuple(seeds), detail=detail)  # fmt: skip


def _false(case: str, quick: bool) -> dict[str, Any]:
    seeds = range(1, 1 + (QUICK_SEEDS if quick else SEEDS))
    false, lines = 0, list[str]()
    for seed in seeds:
        game = HeroBattle(planted_seed=seed, edge=(EDGE if seed % 2 else TOO_WEAK) / (1 if seed % 4 in (1, 2) else 2))
        wrong, measures = _checked(game, played(game, FALSE_BATTLES, seed), quick)
        false, lines = false + wrong, lines + [f"seed {seed}: {each}" for each in measures]
    share, (low, high) = false / max(len(lines), 1), wilson(false, len(lines))
    detail = f"{false} of {len(lines)} told ({low:.3f} to {high:.3f}); {'; '.join(lines)}"
    return row(NAME, case, share, "of what is told is false", goal="<= 0.05", meets=share <= 0.05, seeds=tuple(seeds),
               detail=detail)  # fmt: skip


def _checked(game: HeroBattle, x: Experiment, quick: bool, but: Collection[Ids] = frozenset()) -> tuple[int, list[str]]:
    """Of all that is told ``but`` these: how many are false by battles of their own, and the measures of each."""
    false, lines, spec = 0, list[str](), game.describe()
    for finding in x.reading.findings:
        if finding.told and ids(x, spec, finding.trait) not in but:
            found = measured(game, x, finding, QUICK_MEASURED if quick else MEASURED)
            false += not found.true
            size = f"{100 * found.effect:.1f} points, standard error {100 * found.error:.2f}"
            lines.append(f"{called(x, spec, finding.trait)} {size}{'' if found.true else ', false'}")
    return false, lines


def _quiet(case: str, quick: bool) -> dict[str, Any]:
    seeds, game = range(1, 1 + (QUICK_SEEDS if quick else FAIR)), HeroBattle()
    patch = copies(game.describe()) if case == "renamed" else {}
    battles = QUICK_BATTLES if quick else QUIET_BATTLES
    told = {seed: signs(played(game, battles, seed, patch), game.describe()) for seed in seeds}
    some = [f"seed {seed}: {sorted(each)}" for seed, each in told.items() if each]
    share, (low, high) = len(some) / len(seeds), wilson(len(some), len(seeds))
    detail = f"{len(some)} of {len(seeds)} ({low:.3f} to {high:.3f}); {'; '.join(some) or 'none'}"
    return row(NAME, case, share, "of experiments tell something", goal="<= 0.075", meets=share <= 0.075,
               seeds=tuple(seeds), detail=detail)  # fmt: skip


def copies(spec: GameSpec) -> Patch:
    """The patch that makes all pieces of a category one and the same but for their names: none is good against another
    one of them."""
    first = {p.category: p for p in reversed(spec.pieces)}
    return {
        f"{p.id}.{name}": 0.0 if name.startswith("against_") else value
        for p in spec.pieces
        for name, value in (("cost", first[p.category].cost), *first[p.category].attributes.items())
    }


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
    return wins(game, rules, asked, np.ones_like(asked), np.full(battles, price - spec.pieces[piece].cost))
