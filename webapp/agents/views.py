"""The pages of saved agents, and what people do there."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_safe

from engine.catalog import MOMENTS_A_SECOND
from engine.config.agents import PART
from engine.errors import StoreError
from engine.text import folded
from webapp.accounts.people import signed_in
from webapp.agents import data, edits, keeping
from webapp.agents.captions import Figures, opponent_in
from webapp.agents.downloads import renamed
from webapp.agents.edits import DELETED, NameTaken, as_typed, merged
from webapp.agents.forms import TextForm
from webapp.agents.left import cut_off_by, left_by
from webapp.agents.lifetimes import other_times
from webapp.agents.models import Agent, Measurement
from webapp.agents.naming import WRONG, keep_named, page_of
from webapp.agents.playable import OTHER_GAME, breeds, obstacle
from webapp.agents.tags import as_listed, has_tag, one_of_each
from webapp.games.models import GameVersion
from webapp.lib.page_json import PageJson
from webapp.lib.posts import one_of, posts_only
from webapp.lib.storage import store
from webapp.lib.text import judges_names
from webapp.lib.words import number
from webapp.projects.access import Need, allowed, project_for, role_in
from webapp.projects.models import Project
from webapp.studies import kinds
from webapp.studies.actions import Refused
from webapp.studies.models import Job
from webapp.studies.pictures import FOR_GOOD, job_for
from webapp.training import cut_off, games, hands

CHANGED_MEANWHILE = 409
A_PAGE = 60


class Card(NamedTuple):
    """An agent on a page: its figures, the job that measures it now, and the title of its game; ``old``: it was
    measured on other numbers than those of the project's newest data."""

    agent: Agent
    figures: Figures | None
    measuring: Job | None
    game: str
    old: bool

    @classmethod
    def of(cls, agent: Agent, newest: GameVersion | None) -> Card:
        """As it is now, where this is the project's newest data that agents can be played on."""
        title = games.title_of(agent.game["name"], agent.project)
        return cls(agent, Figures.of(agent.measured), agent.measuring, title, _old(agent, newest))

    @property
    def episodes(self) -> int:
        """How many the measurement under way plays, those against strangers among them."""
        return 0 if self.measuring is None else self.measuring.ticks * PART

    @property
    def waits(self) -> bool:
        """Whether it is being measured."""
        return self.measuring is not None and self.measuring.active

    @property
    def begun(self) -> bool:
        """Whether a measurement of it has begun and not ended, also where somebody has paused it."""
        return self.measuring is not None and not self.measuring.terminal


def _old(agent: Agent, newest: GameVersion | None) -> bool:
    return agent.measured is not None and data.differs(agent.measured.config["game"], newest)


def _to_measure(project: Project, newest: GameVersion | None) -> list[Agent]:
    """Those that were measured on other numbers than those of this data, and are not being measured anew."""
    kept = _all(project).kept()
    return [each for each in kept if _old(each, newest) and (each.measuring is None or each.measuring.terminal)]


@require_safe
def agents(request: HttpRequest, slug: str) -> HttpResponse:
    """The agents of a project, newest first; ``tag``: those that have it."""
    project = project_for(request, slug)
    tagged = dict(project.agents.kept().values_list("pk", "tags"))
    tags = sorted(one_of_each(each for own in tagged.values() for each in own), key=folded)
    tag, newest = as_listed(request.GET.get("tag", ""), tags), data.newest(project)
    found = _all(project).filter(pk__in=[pk for pk, own in tagged.items() if not tag or has_tag(own, tag)])
    page = Paginator(found, A_PAGE).get_page(request.GET.get("page"))
    cards = [Card.of(agent, newest) for agent in page]
    context = {
        "project": project, "cards": cards, "page": page, "tag": tag, "waits": any(card.waits for card in cards),
        "tags": tags,
        "old": len(_to_measure(project, newest)) if newest is not None else 0, "newest": newest,
        "may_write": _writes(request, project),
        "deleted": project.agents.exclude(deleted_at=None).order_by("-deleted_at")[:20],
    }  # fmt: skip
    return render(request, "agents/list.html", context)


def _all(project: Project) -> Any:
    # Not "measurements__job": SQLite refuses to look up more than a thousand jobs in that way.
    measured = Prefetch("measurements", Measurement.objects.select_related("job"))
    return project.agents.select_related("project", "created_by", "job").prefetch_related(measured)


def _writes(request: HttpRequest, project: Project) -> bool:
    return allowed(role_in(signed_in(request), project), "write")


def agent_for(request: HttpRequest, slug: str, pk: int, need: Need = "read") -> Agent:
    """An agent of the project. Raises Http404 and PermissionDenied as ``project_for``."""
    agent: Agent | None = _all(project_for(request, slug, need)).filter(pk=pk).first()
    if agent is None:
        raise Http404("No agent of this project has this number.")
    return agent


@judges_names
@require_http_methods(["GET", "HEAD", "POST"])
def agent(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One agent; a POST changes its name, notes and tags."""
    found = agent_for(request, slug, pk, "write" if request.method == "POST" else "read")
    if request.method != "POST":
        return _shown(request, found, TextForm(initial=as_typed(found.texts)))
    form, opened = TextForm(request.POST), request.POST.get("opened_with", "")
    if form.is_valid():
        edit = merged(found.texts, form.cleaned_data, opened)
        if edit.texts == found.texts:
            return redirect("agents:agent", slug, pk)
        try:
            if not edit.clashes and edits.write(found, edit.texts):
                messages.success(request, "Saved. “Undo the last edit” brings back what was there before.")
                return redirect("agents:agent", slug, pk)
        except Refused as refused:
            form.add_error("name" if isinstance(refused, NameTaken) else None, str(refused))
            return _shown(request, found, form, WRONG)
        form = TextForm(as_typed(edit.texts))
    elif opened == found.text_hashes:
        return _shown(request, found, form, WRONG)
    found = agent_for(request, slug, pk, "write")
    form.say_saved(found.texts)
    return _shown(request, found, form, CHANGED_MEANWHILE)


def _measured_on(agent: Agent) -> str:
    """The game data of its latest measurement; empty where it learned on the same."""
    on = "" if agent.measured is None else str(agent.measured.game_version or "")
    return "" if on == agent.origin.get("data", "") else on


def _shown(request: HttpRequest, found: Agent, form: TextForm, status: int = 200) -> HttpResponse:
    newest, why = data.newest(found.project), obstacle(found)
    card = Card.of(found, newest)
    context = {"project": found.project, "card": card, "agent": found, "form": form,
               "may_write": _writes(request, found.project), "opponent": opponent_in(found.measured or found.measuring),
               "breeds": breeds(found), "measured_on": _measured_on(found),
               "playable": not why, "unplayable": "" if why == OTHER_GAME else why,
               "hands": hands.words(found.game), "newest": newest, "times": other_times(found),
               "episodes": [(each, number(each)) for each in keeping.EPISODES]}  # fmt: skip
    return render(request, "agents/agent.html", context, status=status)


@posts_only("agents:agent", "slug", "pk")
def undo(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Bring back name, notes and tags as they were before the last edit; once more brings the edit back."""
    found = agent_for(request, slug, pk, "write")
    try:
        if edits.undo(found):
            messages.success(request, f"“{found.before['name']}” is as it was before the last edit.")
    except Refused as refused:
        messages.warning(request, str(refused))
    return redirect("agents:agent", slug, pk)


@posts_only("agents:agent", "slug", "pk")
def delete(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take an agent off the page, or put it back."""
    found = agent_for(request, slug, pk, "write")
    if one_of(request, "choice", "delete", "restore") == "delete":
        edits.delete(found)
        messages.success(
            request, f"“{found.name}” is deleted. “Deleted agents”, below, has it as long as the project lasts."
        )
        return redirect("agents:list", slug)
    name = edits.put_back(found)
    other = "" if name == found.name else f" It is called “{name}” now, for another agent has taken its name."
    messages.success(request, f"“{found.name}” is back.{other}")
    return redirect("agents:agent", slug, pk)


@posts_only("agents:agent", "slug", "pk")
def measure(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Measure an agent again, on new fresh episodes."""
    found = agent_for(request, slug, pk, "write")
    if found.deleted_at is not None:
        messages.warning(request, DELETED.format(found.name))
        return redirect("agents:agent", slug, pk)
    said = one_of(request, "episodes", "", *map(str, keeping.EPISODES))
    try:
        keeping.measure(found, signed_in(request), int(said or keeping.EPISODES[0]))
    except Refused as refused:
        messages.warning(request, str(refused))
    return redirect("agents:agent", slug, pk)


@posts_only("agents:list", "slug")
def measure_old(request: HttpRequest, slug: str) -> HttpResponse:
    """Measure all agents anew that were measured on other numbers than those of the project's newest data."""
    project = project_for(request, slug, "write")
    refused = ""
    for found in _to_measure(project, data.newest(project)):
        try:
            keeping.measure(found, signed_in(request))
        except Refused as error:
            refused = f"“{found.name}” cannot be measured now. {error}"
    if refused:
        messages.warning(request, refused)
    return redirect("agents:list", slug)


@judges_names
@require_http_methods(["GET", "HEAD", "POST"])
def keep(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What may be kept of a job, as a part of its page; a POST keeps it."""
    if request.method != "POST":
        return render(request, "agents/keep.html", _left(request, job_for(request, slug, pk)))
    job = job_for(request, slug, pk, "write")
    chooses, of = one_of(request, "chooses", "", "best", "chance"), request.POST.get("of", "")

    def keep_it(name: str) -> Agent:
        return keeping.keep(job, signed_in(request), of, name, chooses == "chance")

    return page_of(keep_named(request, job, keep_it, reverse("studies:job", args=[slug, pk]), of=of, chooses=chooses))


def _left(request: HttpRequest, job: Job) -> dict[str, Any]:
    """What a job has left to be kept, and which of its candidates that is where it is the best of many; ``others``: of
    the round that was cut off; ``lost``: those are in the store no more."""
    left, others = left_by(job), cut_off_by(job)
    best = kinds.of(job).best(job) if len(left) == 1 else None
    name = keeping.usual_name(job, left[0].name, best) if left else ""
    return {"project": job.project, "job": job, "left": left, "others": others, "best": best, "usual_name": name,
            "lost": not job.for_form and cut_off.lost(job), "may_write": _writes(request, job.project)}  # fmt: skip


@require_safe
def clip(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Some seconds of a battle of the agent, to be drawn."""
    figures = Figures.of(agent_for(request, slug, pk).measured)
    if figures is None or not figures.clip:
        raise Http404("There is nothing to draw.")
    answer = PageJson({"pace": MOMENTS_A_SECOND, "scenery": [], "labels": [], **figures.clip})
    answer["Cache-Control"] = FOR_GOOD
    return answer


@require_safe
def take_home(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The file that people take home."""
    found = agent_for(request, slug, pk)
    job = found.measured
    if job is None:
        raise Http404("This agent has not been measured yet.")
    try:
        data = store().get(job.artifacts["take_home"])
    except (StoreError, KeyError) as error:
        raise Http404("This file is not in the store any more. Measure the agent again.") from error
    called = job.config["agent"]["title"]
    data = data if found.name == called else renamed(data, found.name)
    answer = HttpResponse(data, content_type="application/zip")
    answer["Content-Disposition"] = f'attachment; filename="{slugify(found.name) or "agent"}-{found.pk}.zip"'
    answer["Cache-Control"] = "no-store"
    return answer
