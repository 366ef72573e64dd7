"""The style map of a job: the map as it grows, the card of an agent, and what people do from there."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from engine.errors import StoreError
from webapp.accounts.models import User
from webapp.accounts.people import signed_in
from webapp.agents import unkept
from webapp.agents.models import Agent
from webapp.agents.naming import keep_named, page_of
from webapp.agents.views import agent_for
from webapp.lib.digits import whole
from webapp.lib.posts import one_of, posts_only
from webapp.lib.text import judges_names
from webapp.projects.access import allowed, role_in
from webapp.studies import actions
from webapp.studies.models import Job
from webapp.studies.pictures import job_for
from webapp.styles import control, map_page, map_taken, typed
from webapp.styles.freshest import freshest
from webapp.styles.map_agents import Agents, agents_of
from webapp.styles.map_card import card_of, levels_of
from webapp.styles.map_strangers import met
from webapp.styles.map_words import axes
from webapp.training import drafts
from webapp.training.models import TrainDraft

NOTHING_NEW = 204
JOB = "studies:job"


def _job(request: HttpRequest, slug: str, pk: int, need: str = "read") -> Job:
    return job_for(request, slug, pk, need, kind="style")


def _may_write(request: HttpRequest, job: Job) -> bool:
    return allowed(role_in(signed_in(request), job.project), "write")


@require_safe
def found(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The map as it is now; nothing where the reader has seen that (``seen``)."""
    job = _job(request, slug, pk)
    if request.GET.get("seen") == map_page.key(job):
        return HttpResponse(status=NOTHING_NEW)
    own = {"job": job, "project": job.project, "may_change": _may_write(request, job)}
    return render(request, "styles/map.html", map_page.context(job, request.GET) | own)


def _row(job: Job, agent: int) -> tuple[Agents, int]:
    """Raises Http404 for an agent that there is not."""
    try:
        agents = agents_of(job)
    except StoreError as error:
        raise Http404(str(error)) from error
    row = None if agents is None else agents.row(agent)
    if agents is None or row is None:
        raise Http404("No agent of this job has this number.")
    return agents, row


@require_safe
def card(request: HttpRequest, slug: str, pk: int, agent: int) -> HttpResponse:
    """One agent: what it does, what it was bred from, and what can be done with it."""
    job = _job(request, slug, pk)
    agents, row = _row(job, agent)
    try:
        shown = card_of(job, agents, row)
    except StoreError as error:
        raise Http404(str(error)) from error
    context = {"project": job.project, "job": job, "card": shown, "may_change": _may_write(request, job),
               "chosen_by": control.chosen_by(job), "usual_name": map_taken.usual_name(job, agents, row)}  # fmt: skip
    return render(request, "styles/map_agent.html", context)


@require_safe
def difficulties(request: HttpRequest, slug: str, pk: int, agent: int) -> HttpResponse:
    """The same style at other difficulties, as a part of a saved agent's page."""
    job = _job(request, slug, pk)
    agents, row = _row(job, agent)
    try:
        known = freshest(job, agents, met(job).own)
    except StoreError as error:
        raise Http404(str(error)) from error
    found = levels_of(known, row, axes(job.config))
    return render(request, "styles/partials/levels.html", {"project": job.project, "job": job, "levels": found})


@judges_names
@posts_only(JOB, "slug", "pk")
def keep(request: HttpRequest, slug: str, pk: int, agent: int) -> HttpResponse:
    """Keep an agent, to have it measured, downloaded or bred on from."""
    job = _job(request, slug, pk, "write")
    agents, row = _row(job, agent)
    then = one_of(request, "then", "", "breed")
    user = signed_in(request)

    def keep_it(name: str) -> Agent:
        return map_taken.keep(job, user, agents, row, name)

    kept = keep_named(request, job, keep_it, reverse(JOB, args=[slug, pk]), then=then)
    return _bred_on(kept, user) if then == "breed" and isinstance(kept, Agent) else page_of(kept)


@posts_only("agents:agent", "slug", "pk")
def breed(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A new search for styles whose first agents are copies of a saved agent."""
    agent = agent_for(request, slug, pk, "write")
    if agent.deleted_at is not None:
        messages.warning(request, f"“{agent.name}” was deleted: put it back, then breed on from it.")
        return redirect("agents:agent", slug, pk)
    return _bred_on(agent, signed_in(request))


def _bred_on(agent: Agent, user: User) -> HttpResponse:
    """Its form, filled in: as the search that bred it, or with its game alone. Also from an agent of a control, it is a
    search that chooses who stays."""
    if agent.job is not None and agent.job.kind == "style":
        values = typed.values_of(agent.job, agent.project)
        values.pop("control", None)
    else:
        values = typed.values_of_game(agent.game, agent.project)
    values |= {"start": str(agent.pk), "title": f"{agent.name}, bred on"}
    drafts.begin_with(agent.project, user, TrainDraft.Page.STYLE, values)
    return redirect("styles:new", agent.project.slug)


@posts_only(JOB, "slug", "pk")
def watch(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Have up to four agents recorded side by side, and go and watch them."""
    job = _job(request, slug, pk, "write")
    try:
        chosen = map_taken.chosen(job, request.POST.getlist("agent"))
        recording = actions.sample(job.project, signed_in(request), unkept.recording(job, chosen), parent=job)
    except actions.Refused as refused:
        messages.warning(request, str(refused))
        ticks = [("ticked", str(each)) for text in request.POST.getlist("agent") if (each := whole(text)) is not None]
        return redirect(f"{reverse(JOB, args=[slug, pk])}?{urlencode(ticks)}#style-map")
    return redirect("agents:battles", slug, recording.pk)
