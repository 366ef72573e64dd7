"""The page that puts searches of a project side by side, and its files. What is compared stands in the address."""

from __future__ import annotations

import csv
import io
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from webapp.lib.deadline import FILE_SECONDS, may_take
from webapp.lib.digits import whole
from webapp.lib.figures import column_digits
from webapp.lib.queries import choice
from webapp.projects.access import project_for
from webapp.projects.models import Project
from webapp.studies import kinds
from webapp.studies.compare import beside, measures
from webapp.studies.compare.differences import method_title
from webapp.studies.compare.side import MOST, Comparison, Side, why_apart
from webapp.studies.explore_export import safe
from webapp.studies.models import Job
from webapp.studies.took import took

OFFERED = 60


@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    """``?job=3&job=5``: those searches; without any, the choice of them."""
    project = project_for(request, slug)
    found = Comparison(project, asked(request.GET))
    chart = found.chart_data()
    rounds = [(series["name"], _rows(series["rounds"])) for series in chart.get("jobs", [])]
    context = {
        "project": project,
        "found": found,
        "chart": chart,
        "rounds": rounds,
        "digits": column_digits(value for _, rows in rounds for _, _, value, _ in rows),
        "course": chart.get("course"),
        **_offered(project, found),
        **beside.shown(project),
        "most": MOST,
        "query": request.GET.urlencode(),
    }
    return render(request, "studies/compare.html", context)


def _rows(columns: dict[str, list[float | None]]) -> list[tuple[float | None, ...]]:
    """(round, lineups compared, value, half of its range) of each round."""
    return list(zip(*(columns[name] for name in ("tick", "lineups", "value", "half")), strict=True))


def asked(query: QueryDict) -> list[int]:
    """The numbers of jobs in an address; what is no number is no job."""
    return [number for text in query.getlist("job") if (number := whole(text)) is not None]


class Offered(NamedTuple):
    """A search that can be chosen. ``asks``: the same for those that can be measured alike; ``why``: why it cannot be,
    beside the first that is chosen."""

    job: Job
    chosen: bool
    asks: str
    why: str


def _offered(project: Project, found: Comparison) -> dict[str, list[Offered]]:
    """Those already chosen and the latest searches that have a round: ``offered`` fit the first, ``apart`` do not."""
    chosen = {job.pk for job in found.jobs}
    latest = project.jobs.filter(kind__in=kinds.compared(), tick__gt=0).select_related("game_version")[:OFFERED]
    rows = {job.pk: job for job in [*found.jobs, *latest]}.values()
    every = [
        Offered(job, job.pk in chosen, measures.asks(job), why_apart(job, found.jobs[0]) if found.jobs else "")
        for job in rows
    ]
    every.sort(key=lambda one: (one.chosen, one.job.pk), reverse=True)
    return {"offered": [one for one in every if not one.why], "apart": [one for one in every if one.why]}


@may_take(FILE_SECONDS)
@require_safe
def export(request: HttpRequest, slug: str) -> HttpResponse:
    """The comparison as CSV: a line a search, or with ``of=rounds`` a line a round of each."""
    project = project_for(request, slug)
    found = Comparison(project, asked(request.GET))
    by_round = choice(request, "of", ["", "rounds"]) == "rounds"
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    for line in _by_round(found) if by_round else _by_job(found):
        writer.writerow([safe(cell) if isinstance(cell, str) else cell for cell in line])
    answer = HttpResponse(text.getvalue().encode("utf-8-sig"), content_type="text/csv; charset=utf-8")
    name = f"{slug}-compared-{'rounds' if by_round else 'searches'}.csv"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


HEAD = ("Job", "Title", "Method", "Status", "Rounds", "Compared", "Battles", "Decisions", "Took, in seconds")
BESTS = ("Best on fresh", "Half of its 95 % range", "Stands", "Best by its own", "Half of that 95 % range")
MEASURES = ("Of the edge", "Of the edge over the line and strong", "Of the edge over, weak or unsure",
            "Confirmed on fresh battles", "Played again", "Hypervolume", "Hypervolume, half of the 95 % range",
            "Corner from job", "Judged by job", "Its own line", "Its own median baseline team",
            "From it to its bounds of 99 %", "Confirmed by its own", "Found by the search by its own")  # fmt: skip


def _by_job(found: Comparison) -> list[list[Any]]:
    others = [row for row in found.differences if row.title not in HEAD]
    heads = BESTS if found.single else MEASURES
    rows: list[list[Any]] = [[*HEAD, *heads, *(row.title for row in others)]]
    measured = {side.job.pk: _best(side, stands) for side, stands in found.standings} or {
        side.job.pk: _measured(side) for side in found.sides
    }
    for i, job in enumerate(found.jobs):
        values = measured.get(job.pk, [None] * len(heads))
        rows.append([*_facts(job), *values, *(row.values[i] for row in others)])
    return rows


def _best(side: Side, stands: str) -> list[Any]:
    fresh, own = (each[:2] if each else (None, None) for each in (side.again, side.own))
    return [*fresh, stands, *own]


def _facts(job: Job) -> list[Any]:
    spent = [job.counters.get(name) for name in ("evaluations", "battles", "steps")]
    return [job.pk, job.title, method_title(job), job.get_status_display(), job.tick, *spent, took(job)]


def _measured(side: Side) -> list[Any]:
    verdicts, volume, own = side.verdicts or (None,) * 3, side.volume or (None, None), side.own_reference
    judged = [side.reference and side.reference.job, side.line, own and own.median, own and own.reach]
    counted = [side.own_confirmed and side.own_confirmed.confirmed, side.found]
    return [*verdicts, *(side.confirmed or (None, None)), *volume, side.box and side.box.job, *judged, *counted]


def _by_round(found: Comparison) -> list[list[Any]]:
    measure = ["Best", "Half of its 95 % range"] if found.single else ["Hypervolume"]
    rows: list[list[Any]] = [["Job", "Title", "Round", "Compared", *measure]]
    for job, series in zip((side.job for side in found.sides), found.chart_data().get("jobs", []), strict=True):
        rows += [[job.pk, job.title, *cells[: 2 + len(measure)]] for cells in _rows(series["rounds"])]
    return rows
