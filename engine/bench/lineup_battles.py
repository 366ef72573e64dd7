"""Whether herobattle is fast, and a game worth balancing.

``unit-ticks``: living units advanced one tick, with targeting and skills, a second on two processes. ``memory``: what a
batch of a million battles needs beyond its arguments and results. ``length``: ticks of a battle, and the share of them
in which somebody attacks. ``majority-auc``: how well the winner of 101 battles of a pairing predicts a single one.
``linear-auc``: how well sums of the teams' numbers predict that winner. ``cycles``: hero triples that beat each other
in a ring. ``marginal``: how even the pieces are. ``planted``: what the planted ones are worth.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import rankdata

from engine.bench.herobattle_teams import equal_cost_pairs, marginals
from engine.bench.row import row
from engine.games.herobattle import HeroBattle, kernel
from engine.games.herobattle.planted import planted_pieces
from engine.games.herobattle.teams import sample_teams
from engine.indicators import wilson
from engine.lineups.schema import presence
from engine.simulators.contract import GameSpec

NAME = "lineup-battles"
CASES = ("unit-ticks", "memory", "length", "majority-auc", "linear-auc", "cycles", "marginal", "planted")
SEEDS = 101
Floats = NDArray[np.float64]
Rows = NDArray[np.int32]


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    yield from {
        "unit-ticks": _unit_ticks, "memory": _memory, "length": _length, "majority-auc": _majority,
        "linear-auc": _linear, "cycles": _cycles, "marginal": _marginal, "planted": _planted,
    }[case](quick)  # fmt: skip


def _play(game: HeroBattle, left: Rows, right: Rows, seed: int) -> Floats:
    """Wins of the left side, float64[n]."""
    seeds = np.random.default_rng(seed).integers(0, 2**63, len(left), dtype=np.uint64)
    return np.concatenate(
        [
            game.battles(left[k : k + 50_000], right[k : k + 50_000], seeds[k : k + 50_000], {}).side[:, 0, 2]
            for k in range(0, len(left), 50_000)
        ]
    )


def _unit_ticks(quick: bool) -> Iterator[dict[str, Any]]:
    battles = 50_000 if quick else 300_000
    context = multiprocessing.get_context("spawn")
    speeds = []
    for _ in range(1 if quick else 3):
        start, queue = context.Barrier(3), context.Queue()
        workers = [context.Process(target=_advance, args=(battles, seed, start, queue)) for seed in (1, 2)]
        for worker in workers:
            worker.start()
        start.wait()
        began = time.perf_counter()
        advanced = sum(queue.get() for _ in workers)
        speeds.append(advanced / (time.perf_counter() - began))
        for worker in workers:
            worker.join()
    detail = f"{2 * battles:,} battles a turn; turns " + " ".join(f"{s / 1e6:.0f}M" for s in speeds)
    yield row(NAME, "unit-ticks", median(speeds) / 1e6, "million unit-ticks/s", goal=">= 100",
              meets=median(speeds) >= 100e6, seeds=(1, 2), detail=detail)  # fmt: skip


def _advance(battles: int, seed: int, start: Any, queue: Any) -> None:
    """One process: counts its unit-ticks first, so that counting is not what is timed."""
    game, (left, right) = HeroBattle(), equal_cost_pairs(battles, seed)
    seeds = np.random.default_rng(seed).integers(0, 2**63, battles, dtype=np.uint64)
    first, second = kernel.streams(seeds)
    advanced = int(game.play(left, right, first, second, {}).tallies[:, 0].sum())
    start.wait()
    game.battles(left, right, seeds, {})
    queue.put(advanced)


def _memory(quick: bool) -> Iterator[dict[str, Any]]:
    """Peak memory of a process that plays one batch of a million, beyond its arrays, beside a small batch's."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        small, large = (pool.apply(_peak, (n,)) for n in (10_000, 200_000 if quick else 1_000_000))
    extra = (large - small) / 2**20
    yield row(NAME, "memory", extra, "MiB beyond arguments and results", peer="a batch of 10,000",
              peer_value=small / 2**20, goal="flat (<= 16 MiB)", meets=extra <= 16,
              detail=f"{small / 2**20:.0f} MiB for 10,000 battles, {large / 2**20:.0f} MiB for the large")  # fmt: skip


def _peak(battles: int) -> int:
    game, (left, right) = HeroBattle(), equal_cost_pairs(1000, 1)
    left, right = (np.resize(side, (battles, 8)) for side in (left, right))
    seeds = np.arange(battles, dtype=np.uint64)
    game.battles(left[:10], right[:10], seeds[:10], {})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    answer = game.battles(left, right, seeds, {})
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(after - before - sum(a.nbytes for a in answer))


def _length(quick: bool) -> Iterator[dict[str, Any]]:
    left, right = equal_cost_pairs(20_000, 1)
    first, second = kernel.streams(np.arange(len(left), dtype=np.uint64))
    played = HeroBattle().play(left, right, first, second, {})
    ticks = played.battles.battle[:, 0]
    busy = played.tallies[:, 1] / ticks
    yield row(NAME, "length", float(np.median(ticks)), "ticks", goal=">= 60, at least half with an attack",
              meets=bool(np.median(ticks) >= 60 and np.median(busy) >= 0.5), seeds=(1,),
              detail=f"median share of ticks with an attack {np.median(busy):.2f}")  # fmt: skip


def auc(score: Floats, won: NDArray[np.bool_]) -> float:
    """Area under the ROC curve: the chance that a won row scores higher than a lost one (ties half)."""
    ranks, n = rankdata(score), int(won.sum())
    return float((ranks[won].sum() - n * (n + 1) / 2) / (n * (len(won) - n)))


def _pairings(quick: bool) -> tuple[Rows, Rows, Floats]:
    """Pairings of equal cost, and the left side's win rate in 101 battles of each."""
    left, right = equal_cost_pairs(600 if quick else 4_000, 3)
    wins = _play(HeroBattle(), np.repeat(left, SEEDS, axis=0), np.repeat(right, SEEDS, axis=0), 3)
    return left, right, wins.reshape(len(left), SEEDS).mean(axis=1)


def _majority(quick: bool) -> Iterator[dict[str, Any]]:
    left, right, rate = _pairings(quick)
    single = _play(HeroBattle(), left, right, 77)
    decided = single != 0.5
    found = auc((rate > 0.5)[decided].astype(float), single[decided] > 0.5)
    yield row(NAME, "majority-auc", found, "AUC", goal=">= 0.9", meets=found >= 0.9, seeds=(3, 77),
              detail=f"{len(left)} pairings, majority of {SEEDS} battles against one fresh battle each")  # fmt: skip


def _features(rows: Rows) -> Floats:
    """A team's summed numbers: every attribute of every category, soldiers by their count, and the soldiers' counts."""
    game = HeroBattle()
    spec, table = game.describe(), game.tables({}).pieces
    sums = np.zeros((len(rows), len(spec.categories), table.shape[1]))
    place = {c.id: k for k, c in enumerate(spec.categories)}
    for slot, count in ((0, None), (1, None), (2, None), (3, None), (4, 5), (6, 7)):
        there = rows[:, slot] >= 0
        weight = np.ones(len(rows)) if count is None else rows[:, count].astype(float)
        kind = place[spec.slots[slot].category]
        sums[there, kind] += table[rows[there, slot]] * weight[there, None]
    return sums.reshape(len(rows), -1)


def _linear(quick: bool) -> Iterator[dict[str, Any]]:
    left, right, rate = _pairings(quick)
    x, y = _features(left) - _features(right), rate > 0.5
    x = x[:, x.std(axis=0) > 0]
    x = x / x.std(axis=0)
    fold = np.random.default_rng(1).integers(0, 5, len(x))
    score = np.empty(len(x))
    for k in range(5):
        score[fold == k] = x[fold == k] @ _logistic(x[fold != k], y[fold != k])
    found = auc(score, y)
    yield row(NAME, "linear-auc", found, "AUC", goal="< 0.85", meets=found < 0.85, seeds=(3,),
              detail=f"ridge logistic regression on {x.shape[1]} sums, 5-fold, {len(x)} pairings")  # fmt: skip


def _logistic(x: Floats, y: NDArray[np.bool_]) -> Floats:
    sign = np.where(y, 1.0, -1.0)

    def loss(w: Floats) -> tuple[float, Floats]:
        margin = sign * (x @ w)
        pull = -sign / (1 + np.exp(np.clip(margin, -500, 500)))
        return float(np.logaddexp(0, -margin).sum() + 0.5 * w @ w), x.T @ pull + w

    return np.asarray(minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x)


def _cycles(quick: bool) -> Iterator[dict[str, Any]]:
    """Random hero triples with one random skill, equipment and soldiers: A beats B beats C beats A, each surely."""
    triples, each = (150, 101) if quick else (600, 201)
    base, _ = sample_teams(triples, 5)
    heroes = np.random.default_rng(5).permuted(np.tile(np.arange(51), (triples, 1)), axis=1)[:, :3]
    teams = np.repeat(base[:, None], 3, axis=1)
    teams[:, :, 0] = heroes
    low = np.empty((triples, 3, 2))
    for k in range(3):
        a, b = teams[:, k], teams[:, (k + 1) % 3]
        halves = [_play(HeroBattle(), np.repeat(a, each, axis=0), np.repeat(b, each, axis=0), 11 + k)]
        halves += [1 - _play(HeroBattle(), np.repeat(b, each, axis=0), np.repeat(a, each, axis=0), 21 + k)]
        wins = sum(h.reshape(triples, each).sum(axis=1) for h in halves)
        low[:, k, 0] = [wilson(int(w), 2 * each)[0] for w in wins]
        low[:, k, 1] = [wilson(int(2 * each - w), 2 * each)[0] for w in wins]
    rings = np.asarray((low > 0.5).all(axis=1))
    ring = int((rings[:, 0] | rings[:, 1]).sum())
    share, (least, most) = ring / triples, wilson(ring, triples)
    yield row(NAME, "cycles", 100 * share, "% of hero triples", goal=">= 5 %", meets=share >= 0.05, seeds=(5,),
              detail=f"{ring} of {triples} ({100 * least:.1f} to {100 * most:.1f}), {2 * each} each")  # fmt: skip


def _marginal(quick: bool) -> Iterator[dict[str, Any]]:
    battles = 200_000 if quick else 1_500_000
    left, right = equal_cost_pairs(battles, 9)
    wins = _play(HeroBattle(), left, right, 9)
    found = marginals(157, left, right, np.stack([wins, 1 - wins], axis=1))
    points = 100 * (found.rate - 0.5)
    error = 50 / np.sqrt(found.teams)
    worst = float(np.abs(points).max())
    yield row(NAME, "marginal", worst, "points from even, the worst piece", goal="<= 2", meets=worst <= 2, seeds=(9,),
              detail=f"{battles:,} battles, standard error of a piece at most {error.max():.2f} points, "
              f"standard deviation over pieces {points.std():.2f}")  # fmt: skip


def _planted(quick: bool) -> Iterator[dict[str, Any]]:
    for seed in range(1, 3 if quick else 6):
        values, alone = planted_worth(seed, 60_000 if quick else 400_000)
        meets = all(5 <= v <= 8 for v in values) and all(abs(v) <= 2 for v in alone)
        detail = "singles " + " ".join(f"{v:.1f}" for v in values[:-1]) + f", pair {values[-1]:.1f}"
        detail += ", of the pair alone " + " ".join(f"{v:.1f}" for v in alone)
        yield row(NAME, "planted", min(values), "points, the least of five", goal="each 5 to 8, halves alone within 2",
                  meets=meets, seeds=(seed,), detail=detail)  # fmt: skip


def planted_worth(seed: int, battles: int) -> tuple[list[float], list[float]]:
    """Win-rate points that each planted piece, then the pair, brings teams that have it, against teams of equal cost
    without any of them. Second: what each half of the pair brings alone."""
    left, right = equal_cost_pairs(battles, 100 + seed)
    spec = HeroBattle().describe()
    index, (singles, pair) = spec.piece_index(), planted_pieces(seed)
    planted = [index[p] for p in (*singles, *pair)]
    fair = ~presence(spec, right)[:, planted].any(axis=1) & ~presence(spec, left)[:, planted].any(axis=1)
    left, right = left[fair], right[fair]
    alone = [_put(spec, left, [index[p]]) for p in (*singles, *pair)]
    values = [_gain(teams, right, seed) for teams in (*alone[:-2], _put(spec, left, [index[p] for p in pair]))]
    return values, [_gain(teams, right, seed) for teams in alone[-2:]]


def _put(spec: GameSpec, rows: Rows, pieces: list[int]) -> Rows:
    """The teams with these pieces put into their slots."""
    teams = rows.copy()
    for piece in pieces:
        slot = next(s for s, x in enumerate(spec.slots) if x.category == spec.pieces[piece].category)
        teams[:, slot] = piece
    return teams


def _gain(left: Rows, right: Rows, seed: int) -> float:
    """Points that planting brings these teams against these opponents, on the same seeds."""
    planted, plain = (_play(game, left, right, seed).mean() for game in (HeroBattle(planted_seed=seed), HeroBattle()))
    return 100 * float(planted - plain)
