"""The pages of evaluations, and what is taken away from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from engine.arrays import Bundle
from engine.config.evaluate import EvaluateConfig
from engine.text import apart
from webapp.accounts.models import User
from webapp.evaluations.asking import EvaluationForm, EvaluationIntake
from webapp.games.commands import is_program
from webapp.lib.first import first
from webapp.lib.words import percent
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job
from webapp.studies.table_rows import TableRows, latest
from webapp.training.games import title_of

HEADS = ("first", "second", "verdict", "share", "low", "high", "drawn", "episodes")
"""Columns of the pairs for programs."""

AT_ONCE, SLOW, PAIRS = 200, 20, 3
"""Episodes of each of the first PAIRS: as many as are played at once, or SLOW in games that are programs."""
VERDICTS = {1: "beats", -1: "loses to", 0: "may be as good as"}


class WinCell(NamedTuple):
    """How often the row's policy won against the column's; ``sure``: what the page says where there is no doubt."""

    share: float
    low: float
    high: float
    verdict: str
    sure: str


class PolicyStanding(NamedTuple):
    """A policy and what it did: ``cells`` against each other one, None against itself and whom it has not met yet."""

    title: str
    share: float
    low: float
    high: float
    cells: list[WinCell | None]


class Evaluating(Parts):
    """Evaluations: who beats whom."""

    intake = EvaluationIntake()
    form = EvaluationForm
    clone = "studies:again"
    question = "Which agent plays best?", "Trained agents and scripts play each other."
    without_data = "let agents play each other"
    about = "Trained agents and scripts play each other, as often on one seat as on the other. A table says who wins."
    plays = "episode"
    counted, speed_in = "battles", "episodes"
    trying = "A few pairs play to see how fast this goes …"
    help_section = "evaluation"
    results: ClassVar[tuple[str, ...]] = ("table",)

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The table as it fills."""
        bundle = latest(job)
        own = {
            "game": title_of(job.config["game"]["name"], job.project),
            "standings": standings(bundle) if bundle else [],
            "lost": bundle is None and job.tick > 0,
            "pairs": pairs(bundle) if bundle else [],
        }
        return render(request, "evaluations/job.html", context | own)

    def work(self, job: Job) -> float:
        """Episodes, those of the pair under way among them."""
        whole = job.ticks * int(job.config["episodes"])
        return min(job.counters.get("battles", 0) / whole, 1.0) if whole else 0.0

    def amount(self, study: EvaluateConfig) -> float:
        """Episodes of all pairs."""
        return study.ticks * study.episodes

    def first_rounds(self, study: EvaluateConfig) -> EvaluateConfig:
        """Three pairs at least: a policy that has one opponent plays a copy of itself, too."""
        name, one = first(study.policies.items())
        more = {} if len(study.policies) > 2 else {f"{name[:30]}-again": one}
        most = SLOW if is_program(study.game.name) else AT_ONCE
        changes = {"name": f"speed of {study.game.name}"[:120], "policies": {**study.policies, **more},
                "episodes": min(study.episodes, most), "seed": 1}  # fmt: skip
        return study.model_copy(update=changes)

    def tells_enough(self, job: Job, counters: Mapping[str, float]) -> bool:
        """Pairs enough for its speed to be known."""
        return job.tick >= PAIRS

    def found(self, job: Job) -> Found | None:
        """Who stands first."""
        bundle = latest(job)
        best = standings(bundle)[0] if bundle else None
        if bundle is None or best is None:
            return None
        draws = ", a draw counts half" if (bundle.arrays["drawn"] > 0).any() else ""
        return Found(f"{best.title} won {percent(best.share, 1)}{draws}")

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each pair."""
        bundle = latest(job)
        return TableRows(HEADS, pairs(bundle) if bundle is not None else [])


def standings(bundle: Bundle) -> list[PolicyStanding]:
    """The policies that have played, the one that won most first; columns are in the same order."""
    arrays, titles = bundle.arrays, apart(bundle.meta["titles"])
    shares, lows, highs = arrays["overall"].T.tolist()
    met = [i for i in range(len(titles)) if not math.isnan(shares[i])]
    order = sorted(met, key=lambda i: -shares[i])
    return [
        PolicyStanding(titles[i], shares[i], lows[i], highs[i], [_cell(bundle, i, j) for j in order]) for i in order
    ]


def _cell(bundle: Bundle, i: int, j: int) -> WinCell | None:
    share, low, high = (float(bundle.arrays[name][i, j]) for name in ("share", "low", "high"))
    beats = int(bundle.arrays["beats"][i, j])
    sure = {1: "beats", -1: "loses", 0: ""}[beats]
    return None if math.isnan(share) else WinCell(share, low, high, VERDICTS[beats], sure)


def pairs(bundle: Bundle) -> list[dict[str, Any]]:
    """A row for each pair that has played, the stronger first."""
    rows, arrays, titles = [], bundle.arrays, apart(bundle.meta["titles"])
    for i in range(len(titles)):
        for j in range(i + 1, len(titles)):
            a, b = (i, j) if not arrays["share"][i, j] < 0.5 else (j, i)
            if (cell := _cell(bundle, a, b)) is not None:
                rows.append({"first": titles[a], "second": titles[b], "verdict": cell.verdict, "share": cell.share,
                             "low": cell.low, "high": cell.high, "drawn": float(arrays["drawn"][i, j]),
                             "episodes": bundle.meta["episodes"]})  # fmt: skip
    return rows
