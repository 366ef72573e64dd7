"""Whether an experiment names what is unfair: ``engine.worth`` on herobattle with planted pieces.

``recall-150k``, ``-400k``, ``-800k``: of the four pieces and one pair that each seed plants (5 to 8 points each; with
every other seed too weak instead of too strong), how many are told with the right sign, with so many battles. What else
is told is measured by itself (``worth_truth``). Beside it, with the same number of battles on the games with too strong
pieces: how many a search, and random search, bring to the top of what is over-represented in their strongest teams
(``balance_loop``). The three cases together are the curve of recall over battles for each. ``false``: of all that is
told, how much is false by battles of its own; two seeds of four plant half as much, close to what matters.
``unplanted``, ``renamed``: of experiments with 400,000 battles on the game as it is, and where all pieces of a category
are one and the same, how many tell anything. ``prices``: fair prices on games whose fair prices are known
(``worth_prices``), and those of 80 pieces of herobattle beside the ones that are measured: teams that hold the piece
are drawn again at other prices until they win half of 400,000 battles. ``weak-spots``: breaks that are small, or rare,
or of three pieces.

What each seed gives is printed and kept as it comes (``kept``): a case that was killed goes on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

import numpy as np

from engine.bench.balance_loop import EACH, LINEUPS, recall
from engine.bench.kept import Kept
from engine.bench.row import row
from engine.bench.worth_experiments import Ids, called, ids, played, signs, wins
from engine.bench.worth_prices import synthetic
from engine.bench.worth_truth import measured
from engine.bench.worth_weak_spots import weak_spots
from engine.confidence import Range
from engine.config.worth import WorthConfig
from engine.games.herobattle import HeroBattle
from engine.games.herobattle.planted import EDGE, PAIR, planted_pieces
from engine.indicators import wilson
from engine.lineups.rules import compile_rules
from engine.rl.devices import on_threads
from engine.simulators.contract import GameSpec, Patch
from engine.worth.experiment import Experiment
from engine.worth.table import tabled

NAME = "worth"
SOURCES = ("worth", "lineups", "games/herobattle", "confidence.py", "rng.py", "bench/worth.py", "bench/worth_truth.py",
           "bench/worth_experiments.py", "bench/worth_weak_spots.py")  # fmt: skip
"""What results depend on: whatever of it changes is measured anew."""
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
        elif case.startswith("recall"):
            yield _recall(case, quick)
            for kind, name in (("nsga2", "search"), ("random", "random")):
                yield _searched(case, kind, name, quick)
        else:
            if case == "prices":
                yield from synthetic(NAME, f"{case} synthetic", quick)
            yield made[case](case, quick)


def _seeds(quick: bool) -> range:
    return range(1, 1 + (QUICK_SEEDS if quick else SEEDS))


def _kept(case: str, quick: bool) -> Kept:
    return Kept(f"{NAME}-{case}", {"case": case, "quick": quick}, SOURCES)


def _recall(case: str, quick: bool) -> dict[str, Any]:
    seeds, kept = _seeds(quick), _kept(case, quick)
    found = {seed: kept.result(seed, partial(_of_seed, case, seed, quick)) for seed in seeds}
    right = np.array([each["right"] for each in found.values()])
    others = [f"seed {seed}: {each}" for seed, own in found.items() for each in own["others"]]
    share, pairs, singles = float(right.mean()), int(right[:, PAIR].sum()), int(right[:, :PAIR].sum())
    took = np.mean([each["seconds"] for each in found.values()])
    low, high = wilson(int(right.sum()), right.size)
    detail = (
        f"{share:.3f} ({low:.3f} to {high:.3f}); {singles} of {PAIR * len(seeds)} singles, the pair in {pairs} of "
        f"{len(seeds)}; others told: {', '.join(others) or 'none'}; {took:.0f} s each"
    )
    meets = share >= LEAST[case] and (case != "recall-400k" or (right[:, :PAIR].all() and pairs >= 0.8 * len(seeds)))
    return row(NAME, case, share, "of the planted are told", goal=f">= {LEAST[case]}", meets=bool(meets),
               seeds=tuple(seeds), detail=detail)  # fmt: skip


def _of_seed(case: str, seed: int, quick: bool) -> dict[str, Any]:
    """Which of the planted causes are told, the pair last; the measures of what else is; and how long that took."""
    began, (singles, pair) = time.monotonic(), planted_pieces(seed)
    game = HeroBattle(planted_seed=seed, edge=EDGE if seed % 2 else TOO_WEAK)
    x = played(game, BATTLES[case], seed)
    found, planted = signs(x, game.describe()), [*((piece,) for piece in singles), tuple(sorted(pair))]
    right = [found.get(each) == (1 if seed % 2 else -1) for each in planted]
    others = _checked(game, x, quick, {each for each, sure in zip(planted, right, strict=True) if sure})[1]
    return {"right": right, "others": others, "seconds": time.monotonic() - began}


def _searched(case: str, kind: str, name: str, quick: bool) -> dict[str, Any]:
    """What a search with as many battles brings to the top, where what is planted is too strong."""
    seeds, rounds = _seeds(quick)[::2], max(BATTLES[case] // (LINEUPS * EACH), 1)
    kept = Kept(f"{NAME}-{case}-{name}", {"case": case}, (*SOURCES, "evolution", "bench/balance_loop.py"))
    right = np.array([kept.result(seed, partial(recall, seed, kind, rounds)) for seed in seeds])
    low, high = wilson(int(right.sum()), right.size)
    detail = f"{right.sum()} of {right.size} ({low:.3f} to {high:.3f}) with {rounds * LINEUPS * EACH:,} battles"
    return row(NAME, f"{case} {name}", float(right.mean()), "of the planted are at the top", seeds=tuple(seeds),
               detail=detail)  # fmt: skip


def _false(case: str, quick: bool) -> dict[str, Any]:
    seeds, kept = _seeds(quick), _kept(case, quick)
    false, lines = 0, list[str]()
    for seed in seeds:
        wrong, measures = kept.result(seed, partial(_false_of, seed, quick))
        false, lines = false + wrong, lines + [f"seed {seed}: {each}" for each in measures]
    share, (low, high) = false / max(len(lines), 1), wilson(false, len(lines))
    detail = f"{false} of {len(lines)} told ({low:.3f} to {high:.3f}); {'; '.join(lines)}"
    return row(NAME, case, share, "of what is told is false", goal="<= 0.05", meets=share <= 0.05, seeds=tuple(seeds),
               detail=detail)  # fmt: skip


def _false_of(seed: int, quick: bool) -> tuple[int, list[str]]:
    game = HeroBattle(planted_seed=seed, edge=(EDGE if seed % 2 else TOO_WEAK) / (1 if seed % 4 in (1, 2) else 2))
    return _checked(game, played(game, FALSE_BATTLES, seed), quick)


def _checked(game: HeroBattle, x: Experiment, quick: bool, but: Collection[Ids] = frozenset()) -> tuple[int, list[str]]:
    """Of all that is told ``but`` these: how many are false by battles of their own, and the measures of each."""
    false, lines, spec = 0, list[str](), game.describe()
    for finding in x.analysis.findings:
        if finding.reported and ids(x, spec, finding.trait) not in but:
            found = measured(game, x, finding, QUICK_MEASURED if quick else MEASURED)
            false += not found.true
            size = f"{100 * found.effect:.1f} points, standard error {100 * found.error:.2f}"
            lines.append(f"{called(x, spec, finding.trait)} {size}{'' if found.true else ', false'}")
    return false, lines


def _quiet(case: str, quick: bool) -> dict[str, Any]:
    seeds, kept = range(1, 1 + (QUICK_SEEDS if quick else FAIR)), _kept(case, quick)
    by_seed = {seed: kept.result(seed, partial(_signs_of, case, seed, quick)) for seed in seeds}
    some = [f"seed {seed}: {each}" for seed, each in by_seed.items() if each]
    share, (low, high) = len(some) / len(seeds), wilson(len(some), len(seeds))
    detail = f"{len(some)} of {len(seeds)} ({low:.3f} to {high:.3f}); {'; '.join(some) or 'none'}"
    return row(NAME, case, share, "of experiments tell something", goal="<= 0.075", meets=share <= 0.075,
               seeds=tuple(seeds), detail=detail)  # fmt: skip


def _signs_of(case: str, seed: int, quick: bool) -> list[str]:
    game, battles = HeroBattle(), QUICK_BATTLES if quick else QUIET_BATTLES
    patch = copies(game.describe()) if case == "renamed" else {}
    return sorted(" + ".join(each) for each in signs(played(game, battles, seed, patch), game.describe()))


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
    game, kept = HeroBattle(planted_seed=1), _kept(case, quick)
    known = kept.result("experiment", partial(_priced, game, QUICK_PRICED if quick else PRICED))
    chosen = known["prices"][:: max(len(known["prices"]) // (8 if quick else 80), 1)]
    lines, widths, inside = list[str](), list[float](), 0
    for piece, name, fair, low, high in chosen:
        measure = partial(_true_price, game, piece, fair, Range(low, high), 40_000 if quick else 400_000)
        true = kept.result(name, measure)
        inside += low <= true <= high
        widths.append(high - low)
        lines.append(f"{name} {fair:.0f} ({low:.0f} to {high:.0f}), measured {true:.0f}")
    detail = (
        f"{len(known['prices'])} of {known['pieces']} have one; median width {np.median(widths):.0f}; "
        f"{'; '.join(lines)}"
    )
    return row(NAME, case, inside / len(lines), "of the ranges hold the measured price", goal=">= 0.9",
               meets=inside >= 0.9 * len(lines), seeds=(1,), detail=detail)  # fmt: skip


def _priced(game: HeroBattle, battles: int) -> dict[str, Any]:
    """The number of pieces of an experiment, and of each that has a fair price its number, id, price and range."""
    spec, x = game.describe(), played(game, battles, 1)
    _, columns = tabled(x.analysis, spec)
    prices = []
    for i, trait in enumerate(x.traits.single):
        fair = [float(columns[name][i]) for name in ("fair", "fair_low", "fair_high")]
        if math.isfinite(fair[0]):
            prices.append([trait.pieces[0], spec.pieces[trait.pieces[0]].id, *fair])
    return {"pieces": len(x.traits.single), "prices": prices}


def _true_price(game: HeroBattle, piece: int, fair: float, ends: Range, battles: int) -> float:
    """The price at which teams with a piece win half of their battles: by a line through three prices, each with a
    third of the battles."""
    prices = np.array([ends.low, fair, ends.high])
    wins = [_wins_at(game, piece, float(price), battles // 3) for price in prices]
    slope, level = np.polyfit(prices - fair, wins, 1)
    return fair - float(level / slope)


def _wins_at(game: HeroBattle, piece: int, price: float, battles: int) -> float:
    """By how much more than half teams win that hold a piece and are drawn as if it cost so much."""
    spec, config = game.describe(), WorthConfig.model_validate({"game": {"simulator": "builtin:herobattle"}})
    rules = compile_rules(spec, config.pairings)
    asked = np.full((battles, 1), piece, np.int32)
    return wins(game, rules, asked, np.ones_like(asked), np.full(battles, price - spec.pieces[piece].cost))
