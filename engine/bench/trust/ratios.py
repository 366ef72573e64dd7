"""Verdicts on formulas through the very measurement that judges lineups.

``lists-ratio-W``: resources are all or nothing, the weakest team wins W % of its battles, and the strongest so many
that the paper's resource advantage is 2 exactly, the line; share of the re-checks in which any of 12 such lineups is
confirmed. ``lists-kink``: what going first changes, without its sign, is at its line. ``lists-curved``: a formula that
weighted sums cannot say, of rare wins (an hour and more). Each with 16, 32 and 64 replicates of four battles a team.
``lists-vs-teams``: what the strongest team keeps against the lineup's other one, where a few battles in a hundred leave
nothing; beside them it plays eight baseline teams, whose battles say nothing of that. ``lists-first``: the same of the
battles in which it goes first, and ``lists-whole`` of what the game measures of whole battles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.bench.row import row
from engine.config.lineups import FAIRNESS, ObjectiveConfig, ObjectiveSetConfig
from engine.lineups.battle_counts import battles_each
from engine.lineups.matches import PlayedBattles
from engine.lineups.objectives import Objectives
from engine.lineups.parts import Sums
from engine.lineups.schema import spans
from engine.simulators.contract import GameSpec, Metric
from engine.verdicts import ERROR, Goals, Sample, confirmed

RUNS, MANY, REPLICATES = 5000, 12, (16, 32, 64)
COST = 1000.0
TEAMS, BASELINES, MANY_BASELINES = 2, 1, 8
KEPT, NOTHING = 800.0, 0.03
"""What a battle leaves, and the share of those that leave nothing."""
METRICS = Metric("win", "Win", "", "higher", 0, 1), Metric("resources", "Resources", "", "higher", 0, COST)
WHOLE = (Metric("length", "Length", "", "neutral", 0, COST),)
GAME = GameSpec("coins", "Coins", "1", (), (), (), METRICS, WHOLE, strength="win")
RARE = {"lists-vs-teams": "strongest(resources_vs_teams)", "lists-first": "strongest(resources_first)",
        "lists-whole": "length"}  # fmt: skip
CASES = ("lists-ratio-5", "lists-ratio-10", "lists-ratio-30", "lists-kink", "lists-curved", *RARE)


class Tried(NamedTuple):
    """A formula, its value, and how the battles go: the chances of strongest and weakest team to win [2 teams, 2
    seats], or none, where a battle now and then leaves nothing; against so many ``baselines``."""

    objective: ObjectiveConfig
    chances: NDArray[np.float64] | None
    truth: float
    baselines: int = BASELINES


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    runs = RUNS // (10 if quick else 1)
    margin = 3 * float(np.sqrt(ERROR * (1 - ERROR) / runs))
    for replicates in REPLICATES:
        found = np.array([wrong(case, np.random.default_rng(seed), replicates) for seed in range(runs)])
        share, missed = found.mean(axis=0).tolist()
        yield row("trust", case, share, "of the runs wrong", goal=f"<= {ERROR:g}",
                  meets=max(share, missed) <= ERROR + margin, seeds=[0, runs - 1],
                  detail=f"{replicates} replicates, {runs:,} runs; of their ranges {missed:.2%} miss")  # fmt: skip


def tried(case: str) -> Tried:
    """What a case tries."""
    if case == "lists-kink":
        formula = "100 * abs(mean(win_first) - mean(win_second))"
        seats = ObjectiveConfig(name="seat", title="Seat", formula=formula, low=0.0, high=100.0)
        return Tried(seats, np.array([[0.51, 0.5], [0.5, 0.49]]), 1.0)
    if case == "lists-curved":
        formula = "strongest(win) / (weakest(win) + 0.05) ** 2"
        curved = ObjectiveConfig(name="curved", title="Curved", formula=formula, low=0.0, high=40.0)
        return Tried(curved, np.array([[0.3, 0.3], [0.1, 0.1]]), 0.3 / 0.15**2)
    if case in RARE:
        kept = ObjectiveConfig(name="kept", title="Kept", formula=RARE[case])
        return Tried(kept, None, KEPT * (1 - NOTHING), MANY_BASELINES)
    weakest = int(case.rsplit("-", 1)[1]) / 100
    chances = np.repeat([[2 * max(weakest, 0.05)], [weakest]], 2, axis=1)
    return Tried(FAIRNESS.objectives[0], chances, 2.0)


def wrong(case: str, rng: np.random.Generator, replicates: int) -> tuple[float, float]:
    """Whether any of the lineups at the line is confirmed, and which share of their ranges miss."""
    what = tried(case)
    samples = examined(what, rng, replicates)
    goals = Goals([1.0], [what.truth], None, None)
    ends = [s.range(0) for s in samples[:2]]
    missed = float(np.mean([not e.low - 1e-9 <= what.truth <= e.high + 1e-9 for e in ends]))
    return float(confirmed([[s] for s in samples], goals).any()), missed


def examined(what: Tried, rng: np.random.Generator, replicates: int) -> list[Sample]:
    """Lineups that are all alike, measured with the strongest team first and the weakest last."""
    spec, config = GAME, ObjectiveSetConfig(objectives=(what.objective,))
    costs, anchors = np.full((MANY, TEAMS), COST), np.tile([0, TEAMS - 1], (MANY, 1))
    found = Objectives(spec, config, TEAMS, what.baselines).measure(_played(what, rng, replicates), costs, anchors)
    assert found.sums is not None
    low, high, exact, plain = spans(spec, config.objectives, costs)
    rows = np.arange(TEAMS + what.baselines, dtype=np.int32)[:, None]
    (battles,) = battles_each(config.objectives, spec, rows[None, :TEAMS], rows[TEAMS:])
    parts = Sums(spec, config.objectives, TEAMS).parts(list(found.sums), costs)
    error = np.sqrt(np.einsum("njj->nj", found.covariance))
    return [
        Sample(found.mean[i], error[i], replicates, found.values[i], low[i], high[i], exact, plain, battles,
               0.5 / MANY, parts[i])
        for i in range(MANY)
    ]  # fmt: skip


def _played(what: Tried, rng: np.random.Generator, replicates: int) -> PlayedBattles:
    """Battles [lineups, teams, seats, replicates, metrics], of each team by itself."""
    shape = (MANY, TEAMS, 2, replicates)
    if what.chances is None:
        return _rarely_nothing(rng, shape, what.baselines)
    chances = np.broadcast_to(what.chances[None, :, :, None], shape)
    versus, baseline = (rng.binomial(n, chances).astype(float) for n in (TEAMS - 1, what.baselines))
    both = [np.stack([wins, COST * wins, COST * wins], axis=-1) for wins in (versus, baseline)]
    return PlayedBattles(both[0], both[1], 0, 0, np.zeros(MANY, bool))


def _rarely_nothing(rng: np.random.Generator, shape: tuple[int, int, int, int], baselines: int) -> PlayedBattles:
    """Battles of which both teams, and the game, say the same number."""

    def battles(*shape: int) -> NDArray[np.float64]:
        left = np.clip(KEPT + 10 * rng.standard_normal(shape), 0, COST)
        return np.where(rng.random(shape) < NOTHING, 0.0, left)

    first = battles(shape[0], 2, shape[3])  # by who goes first: each is a battle of both
    versus, baseline = np.stack([first, first[:, ::-1]], axis=1), battles(*shape, baselines).sum(axis=-1)
    both = [np.stack([np.zeros(shape), kept, kept], axis=-1) for kept in (versus, baseline)]
    return PlayedBattles(both[0], both[1], 0, 0, np.zeros(MANY, bool))
