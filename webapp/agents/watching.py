"""Watching agents play: choosing who plays whom, and the page that draws their battles."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from engine.arrays import Bundle, unpack
from engine.catalog import pace_of
from engine.config import parse
from engine.config.agents import RecordConfig
from engine.errors import StoreError
from engine.text import written
from webapp.accounts.people import signed_in
from webapp.agents import unkept
from webapp.agents.captions import opponent_in
from webapp.agents.choices import Chosen, chosen
from webapp.agents.forms import OWN_PLAYER, USUAL_SEED, WatchForm
from webapp.agents.house_rules import house_rules
from webapp.agents.keeping import unplayable
from webapp.agents.left import everybody_left
from webapp.agents.watched import OF_A_MAP, Watched, everybody, kept_players, ladder_of, left_of
from webapp.lib.digits import whole
from webapp.lib.page_json import PageJson
from webapp.lib.posts import one_of, posts_only
from webapp.lib.storage import store
from webapp.lib.words import plural
from webapp.projects.access import Need, allowed, project_for, role_in
from webapp.projects.models import Project
from webapp.studies import actions
from webapp.studies.models import Job, Status
from webapp.studies.pictures import FOR_GOOD, job_for
from webapp.training import games

WRONG = 422
LAST_SEED = 2**31
PONGS = ("pong", "atari-pong")
"""Drawings whose rows end with the points of both sides."""
NOTED = "moves"
"""What a recording calls actions that are taken again: what a hunt found, not agents that play."""
PLACES = 4
"""Decimals of positions: a tenth of a pixel."""


class Battle(NamedTuple):
    """A recorded battle in words. ``points``: of both sides, where the game is drawn; ``shows``: what its last decision
    shows, where actions were taken again to see that; ``who``: where the one who plays can be gone on with."""

    title: str
    sentence: str
    length: int
    actions: list[Chosen]
    points: tuple[int, int] | None
    shows: str
    who: Watched


@require_http_methods(["GET", "HEAD", "POST"])
def watch(request: HttpRequest, slug: str) -> HttpResponse:
    """Who shall play; a POST has it recorded, or finds that it was recorded before."""
    if request.method != "POST":
        project = project_for(request, slug)
        chosen = {"agents": request.GET.getlist("agent"), "opponent": request.GET.get("opponent", OWN_PLAYER)}
        return _asked(request, project, WatchForm(project=project, initial=chosen))
    project = project_for(request, slug, "write")
    form = WatchForm(request.POST, project=project)
    if not form.is_valid() or form.study is None:
        return _asked(request, project, form, WRONG)
    job = actions.sample(project, signed_in(request), form.study)
    return redirect("agents:battles", slug, job.pk)


@posts_only("agents:battles", "slug", "pk")
def another(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The same battles on another seed, or once more on the same one where they could not be recorded."""
    old = recording_for(request, slug, pk, "write")
    seed = whole(request.POST.get("seed", ""), LAST_SEED)
    if seed is None:
        raise BadRequest("the seed is no number")
    if why := unplayable(old.config["game"]["name"], old.project):
        messages.warning(request, why)
        return redirect("agents:battles", slug, pk)
    study = parse(RecordConfig, {**old.config, "seed": seed})
    job = actions.sample(old.project, signed_in(request), study, again=seed == old.config["seed"], parent=old.parent)
    return redirect("agents:battles", slug, job.pk)


@posts_only("studies:job", "slug", "pk")
def watch_left(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Have a battle recorded of an agent that a job has left, as it would be kept, and go and watch it."""
    job = job_for(request, slug, pk, "write")
    sampled = one_of(request, "chooses", "", "best", "chance") == "chance"
    try:
        study = unkept.recording(job, [unkept.left(job, request.POST.get("of", ""), sampled)])
        recording = actions.sample(job.project, signed_in(request), study, parent=job)
    except actions.Refused as refused:
        messages.warning(request, str(refused))
        return redirect(left_of(job))
    return redirect("agents:battles", slug, recording.pk)


def _asked(request: HttpRequest, project: Project, form: WatchForm, status: int = 200) -> HttpResponse:
    may = allowed(role_in(signed_in(request), project), "write")
    recorded = (
        Job.objects.for_forms()
        .filter(project=project, config__kind="record", status=Status.FINISHED)
        .exclude(config__agents__0__kind=NOTED)[:8]
    )
    context = {"project": project, "form": form, "may_write": may, "recorded": [(job, _title(job)) for job in recorded],
               "entry": request.POST.get("entry", request.GET.urlencode())}  # fmt: skip
    return render(request, "agents/watch.html", context, status=status)


def _title(job: Job) -> str:
    """ "Ada, Bea against Follows the ball, seed 3"."""
    who = ", ".join(agent["title"] or "an agent" for agent in job.config["agents"])
    against = f" against {opponent}" if (opponent := opponent_in(job)) else ""
    return f"{who}{against}, seed {job.config['seed']}"


def recording_for(request: HttpRequest, slug: str, pk: int, need: Need = "read") -> Job:
    """A recording of the project. Raises Http404 and PermissionDenied as ``project_for``."""
    project = project_for(request, slug, need)
    job = Job.objects.for_forms().select_related("project", "parent").filter(project=project, pk=pk).first()
    if job is None or job.config.get("kind") != "record":
        raise Http404("These battles are not kept any more. Recordings stay for a month.")
    return job


def bundle_of(job: Job) -> Bundle | None:
    """What was recorded; None before it is."""
    try:
        return unpack(store().get(job.artifacts["recording"])) if job.status == Status.FINISHED else None
    except (StoreError, KeyError):
        return None


@require_safe
def battles(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The battles, drawn and in words; how far the recording is, while it is made."""
    job = recording_for(request, slug, pk)
    bundle = bundle_of(job)
    recorded = [_battle(job, bundle, i, who) for i, who in enumerate(everybody(job))] if bundle else []
    seed = job.config["seed"]
    context = {
        "project": job.project, "job": job, "battles": recorded, "drawing": bundle.meta["drawing"] if bundle else "",
        "title": ", ".join(agent["title"] or "an agent" for agent in job.config["agents"]), "against": opponent_in(job),
        "game": games.title_of(job.config["game"]["name"], job.project), "lost": job.terminal and bundle is None,
        "choose_others": _others(job), "may_write": allowed(role_in(signed_in(request), job.project), "write"),
        "next_seed": seed + 1 if seed < LAST_SEED else USUAL_SEED,
        "longest": max((each.length for each in recorded), default=0),
        "noted": job.config["agents"][0]["kind"] == NOTED, "house_rules": house_rules(job),
    }  # fmt: skip
    return render(request, "agents/battles.html", context)


def _others(job: Job) -> str:
    """Where others can be chosen, with these ticked: on the map that they were watched from, or else on the form, those
    of them that are still kept; the ladder of a population. Of another job, where all that it has left can be; empty
    where that is this one alone."""
    slug = job.project.slug
    if job.parent is not None and job.parent.kind == "self-play":
        return ladder_of(job.parent)
    if job.parent is not None and job.parent.kind != "style":
        return left_of(job.parent) if len(everybody_left(job.parent)) > 1 else ""
    if job.parent is not None:
        numbers = [found[1] for agent in job.config["agents"] if (found := OF_A_MAP.fullmatch(agent["title"]))]
        ticked = urlencode([("ticked", number) for number in numbers])
        return f"{reverse('studies:job', args=[slug, job.parent.pk])}?{ticked}#style-map"
    return f"{reverse('agents:watch', args=[slug])}?{_kept(job)}"


def _kept(job: Job) -> str:
    """Those of a recording who are still kept, as the form reads them in its address."""
    other = job.config.get("opponent") or {}
    *agents, rival = (
        "" if each is None else str(each.pk) for each in kept_players(job, [*job.config["agents"], other])
    )
    opponent = OWN_PLAYER
    if other:
        opponent = f"script:{other['player']}" if other["kind"] == "scripted" else f"agent:{rival}"
    ticked = [("agent", pk) for pk in agents if pk]
    return urlencode([*ticked, *([("opponent", opponent)] if opponent != "agent:" else [])])


def _battle(job: Job, bundle: Bundle, i: int, who: Watched) -> Battle:
    battle, title = bundle.meta["battles"][i], bundle.meta["titles"][i] or "The agent"
    points = bundle.arrays[f"positions/{i}"][-1, 4:6].astype(int).tolist() if bundle.meta["drawing"] in PONGS else None
    actions = chosen(battle["counts"], job.config["game"]["name"])
    shows = job.config["agents"][i].get("shows", "")
    said = _sentence(title, battle, points, opponent_in(job)) if not shows else ""
    return Battle(title, said, battle["length"], actions, (points[0], points[1]) if points else None, shows, who)


def _sentence(title: str, battle: dict[str, Any], points: list[int] | None, opponent: str) -> str:
    """ "Ada won 11 to 3 against the game’s own player, in 1,204 decisions."."""
    lasted = plural(battle["length"], "decision")
    if not battle["over"]:
        return f"{title} played {lasted}; there the recording ends."
    how = {1.0: "won", 0.5: "drew", 0.0: "lost"}.get(battle["win"], "played")
    by = f" {points[0]} to {points[1]}" if points else ""
    score = (
        f" Its score is {written(battle['score'], '.4g')}." if points is None and battle["score"] is not None else ""
    )
    against = f" against {opponent}" if opponent else ""
    return f"{title} {how}{by}{against}, in {lasted}.{score}"


@require_safe
def battles_data(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Where everything is at every tick, to be drawn."""
    job = recording_for(request, slug, pk)
    bundle = bundle_of(job)
    if bundle is None or not bundle.meta["drawing"]:
        raise Http404("There is nothing to draw.")
    count = len(bundle.meta["battles"])
    positions = [bundle.arrays[f"positions/{i}"].astype(float).round(PLACES).tolist() for i in range(count)]
    scenery = bundle.arrays["scenery"].tolist() if "scenery" in bundle.arrays else []
    labels = [battle.get("labels", []) for battle in bundle.meta["battles"]]
    game = job.config["game"]
    scene = {"drawing": bundle.meta["drawing"], "pace": pace_of(game["name"], game["settings"]), "battles": positions,
            "scenery": scenery, "labels": labels}  # fmt: skip
    answer = PageJson(scene)
    answer["Cache-Control"] = FOR_GOOD
    return answer
