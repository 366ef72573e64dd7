"""The pages of courses, and what is taken away from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from django.http import HttpRequest, HttpResponse

from engine.arrays import Bundle
from engine.config import arena_plan
from engine.config.arena import ArenaConfig
from engine.standings import Standing, everybody_met, standings
from webapp.accounts.models import User
from webapp.arena import pace
from webapp.arena.asking import ArenaForm
from webapp.arena.curves import course_lines
from webapp.arena.intake import ArenaIntake
from webapp.arena.reading import MOST_MATCHES, CourseReading, course_of, latest
from webapp.arena.standings import against_points, agent_records, first_in_words, in_figures, in_words, unrated
from webapp.lib.words import number
from webapp.metagame.reading import RoundRobinResult
from webapp.projects.models import Project
from webapp.studies.kinds import AgentRecord, Found, Rows
from webapp.studies.models import Job, Status
from webapp.studies.rounds import Columns
from webapp.studies.table_rows import TableRows
from webapp.studies.table_rows import latest as latest_table
from webapp.training import curve
from webapp.training.learning import Learning, crowded

HEADS = ("first", "second", "verdict", "share", "low", "high", "battles")
"""Columns of the tournament's pairs for programs."""
STANDINGS = "standings"
PLACES = ("place", *Standing._fields)
"""Those of its players."""
ROUNDS = 300
"""Rounds of a chart, about."""
CURVES = {
    "win": "Share of battles won, higher → better", "score": "Score, higher → better",
    "return": "Return, higher → better",
}  # fmt: skip
"""What can be drawn of every agent that learns: returns, beside wins or, in a game that nobody wins, scores."""


class Lessons(Learning):
    """Courses: who learns from whom, lesson by lesson, and who beats whom in the end."""

    template = "arena/job.html"
    intake = ArenaIntake()
    form = ArenaForm
    question = (
        "Who should learn from whom, in which order?",
        "Several agents learn in the same battles, lesson by lesson: leagues, and opponents that grow with the player.",
    )
    without_data = "hold lessons for several agents"
    trains = "make a league, or opponents that grow with the player"
    about = (
        "Several agents learn from one another in the same battles. Each lesson says who plays whom and how long it "
        "lasts; in between agents are kept, copied, or replaced by the best. What they were after each lesson is kept."
    )
    results: ClassVar[tuple[str, ...]] = ("table", STANDINGS)
    files: ClassVar[Mapping[str, str]] = {"policy.zip": "policy"}
    gives = "agents"
    help_section = "lessons"
    trying = "Lessons are played for a few seconds each to see how fast they go …"

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """What there is so far, with the portion of its lessons that is asked for."""
        return super().page(request, job, context | {"lessons": CourseReading(job).portion(request.GET.get("lessons"))})

    def shown(self, job: Job) -> dict[str, Any]:
        """The timeline, who plays whom now, the curves, and the tournament."""
        course, columns = CourseReading(job), curve.columns(job, ROUNDS)
        table = self._tournament(job)
        placed, complete = in_figures(standings(table)) if table else [], table is not None and everybody_met(table)
        matches = course.listed(course.now)
        learning = [player.name for player in course.players if player.learns]
        drawn = [(up, course_lines(learning, columns, name)) for name, up in CURVES.items()]
        curves = [(up, lines) for up, lines in drawn if lines.lines]
        return {
            "course": course,
            "players": [(player, latest(columns, player)) for player in course.players],
            "matches": matches[:MOST_MATCHES],
            "further": matches[MOST_MATCHES:],
            "curves": [curves[0], curves[-1]] if len(curves) > 1 else curves,
            "reading": RoundRobinResult(table) if table else None,
            "standings": placed,
            "complete": complete,
            "seen": table is not None and not np.isnan(table.arrays["picked"]).all(),
            "against_points": against_points(table) if table else [],
            "left_out": arena_plan.without_groups(course.config),
            "unrated": unrated(placed, complete) if table else "",
            "sharing": self.crowded(course.config),
        }

    def crowded(self, study: ArenaConfig) -> str:
        """Each copy of a match has a process."""
        return crowded(arena_plan.started(study), "sampler")

    def plan(self, study: ArenaConfig, project: Project) -> list[str]:
        """Its lessons, how long they take where earlier courses tell, and its processes."""
        fast = pace.earlier(study, project)
        lasts = [] if fast is None else [f"In all {pace.words(fast.speed.whole(study))}. {fast.note}"]
        return [*pace.whole(study), *lasts, *pace.plan_lines(study, fast), *pace.process_lines(study)]

    def work(self, job: Job) -> float:
        """The share of its decisions that are learned from; conditions may end lessons earlier."""
        if job.status == Status.FINISHED:
            return 1.0
        return min(1.0, float(job.counters.get("steps", 0) / course_of(job).steps))

    def found(self, job: Job) -> Found | None:
        """Who came first, where a tournament told."""
        table = self._tournament(job)
        return None if table is None else Found(first_in_words(table))

    def _tournament(self, job: Job) -> Bundle | None:
        """The newest table of its tournament, for people."""
        table = latest_table(job)
        return None if table is None else in_words(table)

    def agent_records(self, job: Job) -> Mapping[str, AgentRecord]:
        """Each agent as it was after each lesson."""
        return agent_records(job)

    def rounds(self, job: Job, most: int) -> Columns:
        """Every number of rounds."""
        return curve.columns(job, most)

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each pair of the tournament, or for each player with its place."""
        table = latest_table(job)
        if of == STANDINGS:
            found = enumerate(standings(table), 1) if table is not None else ()
            return TableRows(PLACES, [{"place": place, **_known(one)} for place, one in found])
        return TableRows(HEADS, RoundRobinResult(table).rows() if table is not None else [])

    def specialist(self, job: Job) -> list[tuple[str, Any]]:
        """Every technical word."""
        config, course = job.config, CourseReading(job)
        return [
            ("Processes by AI Arena’s count", course.paper),
            ("Copies of every match", number(config["copies"])),
            ("Battles of a match in a copy", number(config["environments"])),
            ("Decisions in a fragment", number(config["fragment"])),
            ("Sampling", config["sampling"]),
            ("Learners", ", ".join(f"{n}: {one.kind}" for n, one in course.config.learners.items())),
        ]


def _known(one: Standing) -> dict[str, Any]:
    """By name, None for what nobody knows."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in one._asdict().items()}  # fmt: skip
