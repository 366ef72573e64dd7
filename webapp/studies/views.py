"""The pages of jobs: the list, and the live page of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from engine.config.noise import NoiseConfig
from engine.lineups.schema import OTHER_GAME
from webapp.lib.posts import posts_only
from webapp.lib.words import number
from webapp.projects import overview
from webapp.projects.access import allowed, project_for, role_in
from webapp.studies import actions, front, journal, plans, progress, wire
from webapp.studies.compare.differences import method_title, settings_told
from webapp.studies.methods import ends_when
from webapp.studies.models import ACTIVE, Job, Status
from webapp.studies.pictures import job_for, person
from webapp.training import evolved
from webapp.training import pages as training

A_PAGE = 50
LATEST = 60
TRIED = "was a short trial: it measured how fast a game plays, for the form of a training"
SAMPLED = "played random lineups, to show on the New job page where the line falls"


@require_safe
def jobs(request: HttpRequest, slug: str) -> HttpResponse:
    """Every search and re-check of the project, newest first; htmx gets the list alone."""
    project = project_for(request, slug)
    rows = project.jobs.exclude(kind=Job.Kind.SAMPLE).select_related("project", "created_by", "game_version")
    going = rows.filter(status__in=[*ACTIVE, Status.PAUSED])
    ended = Paginator(rows.exclude(status__in=[*ACTIVE, Status.PAUSED]), A_PAGE).get_page(request.GET.get("page"))
    context = {"project": project, "going": going, "ended": ended}
    by_htmx = request.headers.get("HX-Request") == "true"
    return render(request, "studies/partials/jobs_list.html" if by_htmx else "studies/jobs.html", context)


@require_safe
def job(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One job, live. What was played for a form has no page: its numbers are told there."""
    found = job_for(request, slug, pk)
    if found.kind == Job.Kind.SAMPLE:
        messages.info(request, f"Job {found.pk} {TRIED if found.teaches else SAMPLED}, and has no page of its own.")
        return redirect("studies:jobs", slug)
    context = {
        "job": found,
        "project": found.project,
        "may_change": allowed(role_in(person(request), found.project), "write"),
        "history": progress.history(found, LATEST),
        "chips": [Job(status=status) for status in Status],
    }
    if found.trains:
        context |= {"page": _live(found) | training.page_data(found), **training.context(found)}
        return render(request, "training/job.html", context)
    if found.evolves:
        context |= {
            "page": _live(found, "front", "around", "grid", "lineage") | evolved.page_data(found),
            **evolved.context(found),
        }
        return render(request, "training/evolve.html", context)
    context |= {
        "effort": _effort(found),
        "page": _live(found, "front", "around") | _page_data(found),
        "specialist": _specialist(found),
        "main": front.axes(front.of_job(found).objectives)[1],
    }
    return render(request, "studies/job.html", context)


def _live(job: Job, *pictures: str) -> dict[str, Any]:
    """What the script of any job's page starts from; ``pictures`` names what else of the job it fetches."""
    links = {name: reverse(f"studies:{name}", args=[job.project.slug, job.pk]) for name in ("rounds", *pictures)}
    links["events"] = reverse("studies:events")
    return {
        "state": wire.state(job),
        "moving": _moving(job),
        "links": links,
        "project": job.project.slug,
        "minutes": overview.minutes_of(job),
        "early": any(rule["kind"] != "minutes" for rule in job.config.get("stop", ())),
        "fresh_map": "fresh_grid" in job.artifacts,
    }


def _page_data(job: Job) -> dict[str, Any]:
    """What the script of a search's page starts from."""
    x, y = front.axes(front.of_job(job).objectives)
    return {
        "x": x._asdict(),
        "y": y._asdict(),
        "battles": _planned(job),
        "other_game": OTHER_GAME,
        "population": job.config.get("algorithm", {}).get("population", 0),
        "strength": any(o.strength for o in front.of_job(job).objectives),
        "fresh": "fresh" in job.artifacts,
    }


def _moving(job: Job) -> bool:
    """Whether the present attempt has played something; before that its workers are starting."""
    claimed = (
        job.events.filter(kind=journal.STATUS, body__attempt=job.attempt).values_list("sequence", flat=True).last()
    )
    return job.events.filter(kind__in=("progressed", "logged"), sequence__gt=claimed or 0).exists()


def _planned(job: Job) -> int:
    """Battles the whole job will take, as its study announced them; 0 before it did."""
    started = job.events.filter(kind="started").order_by("sequence").values_list("body", flat=True).first()
    return int((started or {}).get("battles", 0))


def _effort(job: Job) -> str:
    if job.kind == Job.Kind.RECHECK:
        lineups = len(job.config.get("genomes", []))
        return f"{lineups} lineup{'' if lineups == 1 else 's'}, fresh battles"
    algorithm = job.config.get("algorithm", {})
    plan = plans.Plan(algorithm.get("population", 0), job.ticks, job.config.get("replicates", 0))
    effort = plans.EFFORTS.get(plans.effort_of(plan))
    if effort is None:
        return f"{number(plan.lineups)} lineups"
    return effort.title if effort.title.endswith("look") else f"{effort.title} look"


def _specialist(job: Job) -> list[tuple[str, Any]]:
    config = job.config
    pool = config.get("pool", {})
    found = [
        ("Method", method_title(job)),
        *settings_told(config, "algorithm"),
        ("Generations", config.get("ticks", "")),
        ("Replicates", config.get("replicates", "")),
        ("Fresh replicates", config.get("fresh", "")),
        *(settings_told(config, "noise") if config.get("noise", {}) != NoiseConfig().model_dump() else ()),
        *(("Ends early", ends_when(rule)) for rule in config.get("stop", ())),
        ("Seed", config.get("seed", "")),
        ("Workers", f"{pool.get('workers', 1)} ({pool.get('kind', '')})"),
        ("Attempt", job.attempt),
        ("Settings", job.config_hash[:12]),
        ("Game version", job.game_version.content_hash[:12] if job.game_version else ""),
    ]
    return [(name, value) for name, value in found if value != ""]


def _act(request: HttpRequest, slug: str, pk: int, act: Callable[[Job], None]) -> HttpResponse:
    job, refused = job_for(request, slug, pk, "write"), ""
    try:
        act(job)
    except actions.Refused as refusal:
        refused = str(refusal)
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"refused": refused})
    if refused:
        messages.warning(request, refused)
    return redirect("studies:job", slug, pk)


@posts_only("studies:job", "slug", "pk")
def stop(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """End the job and keep what it found."""
    return _act(request, slug, pk, actions.stop)


@posts_only("studies:job", "slug", "pk")
def pause(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Put the job aside."""
    return _act(request, slug, pk, actions.pause)


@posts_only("studies:job", "slug", "pk")
def resume(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Let the job go on."""
    return _act(request, slug, pk, actions.resume)
