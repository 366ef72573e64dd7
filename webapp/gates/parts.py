"""The pages of gates, and what is taken away from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from engine.config import LineupConfig
from engine.gate.junit import broken, to_junit
from engine.gate.report import EXIT_CODES, HEADS, WORDS, GateFinding, Report, cells, decoded
from engine.lineups.schema import battles_of_lineup, battles_of_replicate
from webapp.accounts.models import User
from webapp.gates.asking import GateForm, GateIntake
from webapp.studies import table_rows
from webapp.studies.kinds import Found, Parts, Rows
from webapp.studies.models import Job, Status
from webapp.studies.patterns import MEANT
from webapp.studies.table_rows import TableRows

MARKS = {"over": "strong", "under": "fair", "open": "unsure", "weak": "unsure", "meant": "", "barred": ""}
SAID = {**WORDS, "weak": "Too weak to count", "meant": MEANT, "barred": "Not fielded any more"}
NO_SUSPECT = "Nothing stands out"
"""Of all pieces that a screen does not name."""
TITLES = {"replay": "Earlier exploits", "screen": "Pieces", "search": "Search"}
PLAYING = {"replay": "earlier exploits", "screen": "the pieces", "search": "a short search"}
EARLIER = 12
"""Other gates that the page of one lists."""


class Gating(Parts):
    """Gates: may this build go out?"""

    intake = GateIntake()
    form = GateForm
    clone = "studies:again"
    question = "May this build go out?", "Plays earlier exploits again and looks for new ones."
    about = (
        "Earlier exploits are played again, pieces are screened and a short search looks for "
        "more. One verdict: over the line, under it, or which battles are missing."
    )
    results: ClassVar[tuple[str, ...]] = ("table",)
    beneath: ClassVar[str] = "gates/beneath.html"

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The verdict, then what it rests on."""
        report = latest(job)
        own = {
            "report": report,
            "mark": MARKS[report.verdict] if report else "",
            "groups": _groups(report) if report else [],
            "lost": report is None and bool(job.artifacts.get("table")),
            "part": part_of(job),
            "changed": _changed(job),
            "earlier": listed(job.project.jobs.filter(kind="gate").exclude(pk=job.pk).order_by("-pk")[:EARLIER]),
        }
        return render(request, "gates/job.html", context | own)

    def work(self, job: Job) -> float:
        """By battles; those of lineups that are played again at the end of the search come on top."""
        if job.status == Status.FINISHED:
            return 1.0
        return min(0.99, job.counters.get("battles", 0) / max(planned(job.config), 1))

    def steady(self, job: Job) -> bool:
        """Not while it has more than one part: battles of the next one take another time each."""
        return len(parts_of(job.config)) == 1

    def found(self, job: Job) -> Found | None:
        """The verdict."""
        verdict = verdict_of(job)
        return Found(WORDS[verdict], MARKS[verdict]) if verdict else None

    def table(self, job: Job, of: str, user: User) -> Rows:
        """The gate as a whole, then a line for each finding."""
        report = latest(job)
        return TableRows(HEADS, cells(report) if report else [])

    def exit_code(self, job: Job) -> int:
        """As the command line's: whoever was stopped before anything was known cannot tell."""
        return EXIT_CODES[verdict_of(job) or "open"]

    def junit(self, job: Job) -> bytes:
        """For build servers; of one that failed, an error."""
        report, at = latest(job), job.finished_at or timezone.now()
        stamp = at.strftime("%Y-%m-%dT%H:%M:%S")
        if report is None or job.status == Status.FAILED:
            return broken(job.title, job.message or "Nothing is known yet: the gate is not over.", stamp)
        return to_junit(report, float(job.counters.get("seconds", 0.0)), stamp)


def planned(config: Mapping[str, Any]) -> int:
    """Battles of all parts, but for what the search plays again at its end."""
    rules = LineupConfig.model_validate(config["lineups"])
    own, screen, search = battles_of_lineup(rules, 1), config["screen"], config["search"]
    met = {each["name"]: battles_of_replicate(rules.teams, len(each["teams"])) for each in config.get("met", ())}
    replayed = config["replicates"] * sum(met.get(each.get("met"), own) for each in config["exploits"])
    lineups = search["ticks"] * search["algorithm"]["population"] * search["replicates"] if search else 0
    return int(replayed + (screen["battles"] if screen else 0) + lineups * own)


def parts_of(config: Mapping[str, Any]) -> list[str]:
    """What it looks at, in order, as ``GateConfig.parts`` has it."""
    return [
        part for part, field in (("replay", "exploits"), ("screen", "screen"), ("search", "search")) if config[field]
    ]


def part_of(job: Job) -> str:
    """Which part it is in: "the pieces, part 2 of 3"; empty before it is in one."""
    at, parts = int(job.metrics.get("part", 0)), parts_of(job.config)
    return f"{PLAYING[parts[at - 1]]}, part {at} of {len(parts)}" if 0 < at <= len(parts) else ""


def verdict_of(job: Job) -> str:
    """The verdict of an ended gate; empty where there is none."""
    return str(job.summary.get("verdict", "")) if job.status in (Status.FINISHED, Status.STOPPED) else ""


def latest(job: Job) -> Report | None:
    """What the gate says by now; None before its first part is over, and where that was lost."""
    bundle = table_rows.latest(job)
    return None if bundle is None else decoded(bundle.meta)


def listed(jobs: Any) -> list[dict[str, Any]]:
    """Gates as lists show them, each with its verdict, its sentence and how many numbers its build changed."""
    return [
        {
            "job": job,
            "words": WORDS[verdict] if verdict else job.get_status_display(),
            "mark": MARKS.get(verdict, ""),
            "sentence": job.summary.get("sentence", "") if verdict else job.message,
            "changed": _changed(job),
        }
        for job in jobs
        for verdict in [verdict_of(job)]
    ]


def _changed(job: Job) -> int:
    """How many numbers differ from those of the version that it was started on."""
    mine, own = job.config["game"].get("patch", {}), job.game_version.patch if job.game_version else {}
    return sum(mine.get(path) != own.get(path) for path in {*mine, *own})


def _groups(report: Report) -> list[dict[str, Any]]:
    """The rows by part, what is over first."""
    order = list(SAID)
    found = []
    for part, title in TITLES.items():
        rows = sorted((row for row in report.rows if row.part == part), key=lambda row: order.index(row.verdict))
        if rows:
            axes = {unit: _axis([row for row in rows if row.unit == unit]) for unit in {row.unit for row in rows}}
            found.append({"part": part, "title": title, "rows": [_shown(row, axes[row.unit]) for row in rows]})
    return found


def _axis(rows: list[GateFinding]) -> tuple[float, float]:
    """Where the ranges of rows of one unit begin and end: they hold every range and every line."""
    ends = [each for row in rows for each in (row.low, row.high, row.line, row.value) if each is not None]
    return min([0.0, *ends]), 1.05 * max((abs(end) for end in ends), default=1.0)


def _shown(row: GateFinding, axis: tuple[float, float]) -> dict[str, Any]:
    ranged = row.low is not None and row.high is not None and row.value is not None and row.line is not None
    words = NO_SUSPECT if (row.part, row.verdict) == ("screen", "under") else SAID[row.verdict]
    return {"row": row, "words": words, "mark": MARKS[row.verdict], "ranged": ranged, "least": axis[0],
            "most": axis[1]}  # fmt: skip
