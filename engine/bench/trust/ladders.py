"""Ranges of ladders, and who is surely stronger, on made-up ladders.

``ladders-SHAPE-LUCK-MANY``: so many meetings of a pair, or up to so many where they are ``uneven``. All players met;
range and truth are beside the mean of those who neither win nor lose everything. The value is the share of ranges that
miss; the detail has the share of the player who is missed most often, and of the ladders whose leader is said to be
surely stronger than somebody as strong.

LUCK: a meeting's battles go ``apart``, each by itself, or so with that many per cent of the battles of equals drawn;
both ``alike``; in every other match-up by ``seats``, one to each where the better one has no luck. ``uneven``: apart,
and all match-ups weigh alike. SHAPE: equals (``equal``), equals but for one (``one``) or two (``both``), two groups
(``far``), levels (``steep``, ``order``), and so many near equals beside one who wins (``winner``) or loses (``loser``)
everything.

``ladders-twins-…``: of two equals, who met only the four whom they mostly beat, one is called surely stronger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from engine.bench.row import row
from engine.metagame.ladder import Ladder, Meetings
from engine.metagame.matchups import Pairs, pairs_of
from engine.verdicts import ERROR

Floats = NDArray[np.float64]
RUNS, ALWAYS = 500, 50.0
TWINS = 4, 5
SHAPES = {
    "two": (0.4, -0.4),
    "three": (-0.5, 0.0, 1.0),
    "close": (-1.0, -0.5, 0.0, 0.2, 0.4, 0.9),
    "far": (-4.0, -4.2, -3.7, 4.0, 4.3, 3.8),
    "steep": (-6.0, -3.0, 0.0, 0.3, 3.0, 6.0),
    "order": (-20.0, -12.0, -4.0, 4.0, 12.0, 20.0),
    "equal": (0.0,) * 6,
    "one": (0.0,) * 5 + (5.0,),
    "both": (0.0, 0.0, 0.0, 0.0, 3.0, -3.0),
    "twins": (0.0, 0.0, 0.0, 0.0, 3.0, 3.0),
    **{f"winner{n}": (*np.linspace(-0.1, 0.1, n).tolist(), ALWAYS) for n in (2, 4, 8)},
    **{f"loser{n}": (*np.linspace(-0.1, 0.1, n).tolist(), -ALWAYS) for n in (4, 8)},
}
TRIED = (
    "two-apart-4", "two-apart-200", "two-98-50", "three-apart-4", "three-90-60", "close-apart-2", "close-apart-6",
    "close-apart-30", "close-apart-200", "close-alike-6", "close-seats-10", "close-uneven-60", "close-90-30",
    "close-98-50", "far-apart-10", "far-alike-10", "steep-alike-8", "steep-apart-20", "order-apart-5", "order-90-30",
    "equal-apart-20", "equal-90-10", "equal-98-100", "one-apart-20", "both-90-30", "both-98-10", "both-98-50",
    "winner2-95-16", "winner2-95-40", "winner4-95-30", "winner8-90-10", "winner8-95-30", "winner8-95-100",
    "loser4-95-10", "loser4-98-60", "loser8-95-30", "loser8-90-100",
)  # fmt: skip
CASES = tuple(f"ladders-{kind}" for kind in (*TRIED, "twins-90-50", "twins-98-50", "twins-98-200"))


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    shape, luck, many = case.removeprefix("ladders-").split("-")
    counted: Callable[[np.random.Generator], Floats] = partial(misses, shape, luck, int(many))
    if shape == "twins":
        counted = partial(set_apart, luck, int(many))
    runs = RUNS // 10 if quick else RUNS
    found = np.array([counted(np.random.default_rng(seed)) for seed in range(runs)])
    of_each = found[:, : len(SHAPES[shape])].mean(axis=1)
    share, error = float(of_each.mean()), float(of_each.std()) / math.sqrt(runs)
    detail = f"{runs} ladders, {many} meetings of a pair; error of the share {error:.2g}"
    if shape != "twins":
        players = found[:, :-1].mean(axis=0)
        detail += f"; of one player at most {players.max():.2g}; wrong leaders {found[:, -1].mean():.2g}"
    unit = "of the twins set apart" if shape == "twins" else "of the ranges wrong"
    yield row("trust", case, share, unit, goal=f"<= {ERROR:g}", meets=share <= ERROR + 3 * error, seeds=[0, runs - 1],
              detail=detail)  # fmt: skip


def misses(shape: str, luck: str, many: int, rng: np.random.Generator) -> Floats:
    """Of each player, whether the range misses, and whether the leader is surely above somebody as strong."""
    skill = np.array(SHAPES[shape])
    around = np.abs(skill) < ALWAYS
    ladder = Ladder(len(skill), played(skill, luck, many, pairs_of(len(skill)), rng), around, alike=luck == "uneven")
    truth, leader = skill - skill[around].mean(), int(np.nanargmax(ladder.ratings))
    others = [player for player in range(len(skill)) if player != leader]
    wrong = (ladder.surely_above(leader, others, len(skill)) & (skill[others] >= skill[leader])).any()
    return np.append((truth < ladder.low - 1e-9) | (ladder.high + 1e-9 < truth), wrong).astype(np.float64)


def set_apart(luck: str, many: int, rng: np.random.Generator) -> Floats:
    """Whether one of two twins is said to be surely stronger."""
    skill, pairs = np.array(SHAPES["twins"]), pairs_of(len(SHAPES["twins"]))
    met = ~(np.isin(pairs.first, TWINS) & np.isin(pairs.second, TWINS))
    pairs = Pairs(pairs.first[met], pairs.second[met])
    ladder = Ladder(len(skill), played(skill, luck, many, pairs, rng), np.ones(len(skill), np.bool_))
    one, other = TWINS if ladder.ratings[TWINS[0]] > ladder.ratings[TWINS[1]] else TWINS[::-1]
    return ladder.surely_above(one, [other], len(TWINS)).astype(np.float64)


def played(skill: Floats, luck: str, many: int, pairs: Pairs, rng: np.random.Generator) -> Meetings:
    """Meetings of two battles. Unequals draw as many fewer as the weaker one's chance is less than even."""
    odds = expit(skill[pairs.first] - skill[pairs.second])[:, None, None]
    draws = 2 * np.minimum(odds, 1 - odds) * (int(luck) / 100 if luck.isdecimal() else 0.0)
    drawn, won = rng.random((len(odds), many, 1 if luck == "alike" else 2)), odds - draws / 2
    share = np.where(drawn < won, 1.0, np.where(drawn < won + draws, 0.5, 0.0)).mean(axis=2)
    if luck == "seats":
        more = 2 * odds[::2, :, 0] - 1
        share[::2] = 0.5 + 0.5 * np.sign(more) * (rng.random(share[::2].shape) < np.abs(more))
    counts = rng.integers(1, many + 1, len(odds)) if luck == "uneven" else np.full(len(odds), many)
    share = np.where(np.arange(many) < counts[:, None], share, 0.0)
    return Meetings(pairs, counts.astype(np.float64), share.sum(axis=1), (share**2).sum(axis=1))
