"""The pages of round robins, and what is taken away from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from engine.config.metagame import MetagameConfig
from engine.config.pool import PoolConfig
from webapp.accounts.models import User
from webapp.games.commands import is_program
from webapp.metagame.asking import MetagameForm, MetagameIntake
from webapp.metagame.reading import RoundRobinResult
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job
from webapp.studies.table_rows import TableRows, latest

HEADS = ("first", "second", "verdict", "share", "low", "high", "battles")
"""Columns of the pairs for programs."""
QUICK, SLOW, FEWEST, MOST, PARTS = 20_000, 200, 8, 100_000, 3
"""Battles that first rounds play, in games that are programs SLOW; of a pair FEWEST to MOST. After so many PARTS they
have told enough."""


class Meeting(Parts):
    """Round robins: who beats whom."""

    intake = MetagameIntake()
    form = MetagameForm
    clone = "studies:again"
    question = "Who beats whom?", "Shortlisted and baseline teams play each other, all against all."
    about = (
        "Shortlisted teams and the baseline teams play each other, all against all. A map shows who beats whom; a "
        "sentence says how much of it is strength, and how much goes round like rock, paper and scissors."
    )
    counted, speed_in = "battles", "battles"
    concludes, on_top = True, "Working out the table comes on top."
    trying = "A few battles are played to see how fast this goes …"
    results: ClassVar[tuple[str, ...]] = ("table",)

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The table as it grows surer."""
        bundle = latest(job)
        many = len(job.config["teams"])
        own = {
            "reading": RoundRobinResult(bundle) if bundle else None,
            "lost": bundle is None and bool(job.artifacts.get("table")),
            "many": many,
            "planned": many * (many - 1) // 2 * (int(job.config["battles"]) // 2 * 2),
        }
        return render(request, "metagame/job.html", context | own)

    def amount(self, study: MetagameConfig) -> float:
        """Battles of all pairs."""
        return 2 * study.meetings * study.pairs

    def first_rounds(self, study: MetagameConfig) -> MetagameConfig:
        """Meetings of every two teams, more of them where there are few, in one process."""
        most = SLOW if is_program(study.game.simulator) else QUICK
        battles = min(max(most // study.pairs, FEWEST), MOST) // 2 * 2
        told = {"name": "speed of battles", "battles": battles, "seed": 1, "pool": PoolConfig(kind="local", workers=1)}
        return study.model_copy(update=told)

    def tells_enough(self, job: Job, counters: Mapping[str, float]) -> bool:
        """Parts enough for its speed to be known."""
        return job.tick >= PARTS

    def side_by_side(self, study: MetagameConfig) -> int:
        """Each worker has a process."""
        return study.pool.processes

    def found(self, job: Job) -> Found | None:
        """Ladder or rings."""
        bundle = latest(job)
        return None if bundle is None else Found(RoundRobinResult(bundle).sentence.partition(":")[0].rstrip("."))

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each pair."""
        bundle = latest(job)
        return TableRows(HEADS, RoundRobinResult(bundle).rows() if bundle is not None else [])
