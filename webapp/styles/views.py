"""The page that breeds styles of play: what is typed is kept, sample episodes show what it is worth, and Start makes a
job of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods

from webapp.accounts.people import signed_in
from webapp.lib.page_json import PageJson
from webapp.lib.posts import posts_only
from webapp.lib.text import judges_names
from webapp.lib.words import number
from webapp.projects.access import project_for
from webapp.projects.models import Project
from webapp.studies import actions, estimates, retired
from webapp.studies.models import Job, Status
from webapp.styles import control, pictures, sample_episodes, scales, weighing
from webapp.styles.forms import EPISODES, FRESH, POPULATION, ROUNDS, StyleForm
from webapp.styles.goal_fields import GOALS
from webapp.styles.reward_form import FORMULAS, NOT_WRITTEN, TOO_FEW_GOALS
from webapp.styles.starting import StyleStart
from webapp.styles.unchecked import words as unchecked_words
from webapp.training import composing, drafts, trials
from webapp.training.models import TrainDraft
from webapp.training.ranges import number_text

PAGE = TrainDraft.Page.STYLE
CHOICES = ("algorithms", "presets", "details")
CORRECT = "Something must be written or corrected first; then stands here how long the search takes."
UNWRITTEN = (NOT_WRITTEN, TOO_FEW_GOALS)
USUAL = {"population": POPULATION, "rounds": ROUNDS, "episodes": EPISODES, "fresh": FRESH, "matters": scales.MIDDLE}


@judges_names
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """Compose a search for styles; POST starts it."""
    project = project_for(request, slug, "write")
    if request.method == "POST":
        start = StyleStart(project, signed_in(request), composing.typed(request.POST, StyleForm))
        return composing.begun(request, start, PAGE, _page)
    draft = drafts.of(project, signed_in(request), PAGE)
    typed = retired.for_form(request, draft.form) if draft else {}
    return _page(request, project, StyleForm(typed, project=project), draft=draft)


def _page(
    request: HttpRequest, project: Project, form: StyleForm, *, draft: TrainDraft | None = None, status: int = 200
) -> HttpResponse:
    form.is_valid()
    wrong = status == composing.WRONG
    context = {"usual": USUAL, **_parts(form), **composing.context_of(project, form, draft, errors=wrong)}
    return render(request, "styles/new.html", context, status=status)


def _parts(form: StyleForm) -> dict[str, Any]:
    """What the page shows of what is paid for, and shows anew when another game or scale is chosen."""
    game_signals, drawn = form.game_signals, pictures.pictures(form)
    return {
        "game_signals": game_signals,
        "scales": game_signals.scales(),
        "own": scales.OWN,
        "writes": form.template is None,
        "exemplary": form.template is None and form.untouched and bool(form.goals),
        "chosen": form.scale_chosen,
        **_formulas(form, drawn),
        "ways": " ".join(form.ways),
        "style_weight": number_text(form.reward["w2"]),
        "pictures": drawn,
        "balance": weighing.balance(form),
        "weights": weighing.numbers(form),
        "players": scales.players_of(form.game_name),
        "usual_steps": form.usual_steps,
    }


def _formulas(form: StyleForm, drawn: Mapping[str, pictures.Picture]) -> dict[str, list[dict[str, Any]]]:
    """What is paid for, goals, and fields for goals of one's own, each with its picture."""
    reward = [
        {
            "field": form[name],
            "title": form.fields[name].label,
            "formula": form.reward[name],
            "words": scales.paid(form.game_signals, form.template, name),
            "picture": drawn.get(name),
        }
        for name in FORMULAS
    ]
    rows = [f"goal-{i}" for i in range(1, GOALS + 1)]
    own_goals = [{"field": form[row], "called": form[f"{row}-called"], "picture": drawn.get(row)} for row in rows]
    goals = [{**goal, "row": row, "picture": drawn.get(row)} for row, goal in zip(rows, form.goals, strict=False)]
    return {"reward": reward, "own_goals": own_goals, "goals": goals}


@judges_names
@posts_only("styles:new", "slug")
def preview(request: HttpRequest, slug: str) -> PageJson:
    """What the page says about the form as it stands; ``keep=1`` and ``again=1`` as for a training."""
    project = project_for(request, slug, "write")
    form = StyleForm(composing.typed(request.POST, StyleForm), project=project)
    kept = drafts.keep(project, signed_in(request), PAGE, form.as_typed) if request.POST.get("keep") else None
    form.is_valid()
    trial, before = _tried(request, project, form)
    errors = composing.errors_of(form)
    if errors:
        playing = before["note"] if form.samples is None else ""
        before = {**before, "time": "…", "note": " ".join(filter(None, (CORRECT, playing)))}
    shown = {**_parts(form), **composing.parts(form)}
    html = {name: render_to_string(f"training/partials/{name}.html", shown) for name in CHOICES}
    html["reward"] = render_to_string("styles/partials/reward.html", shown)
    drawn = shown["pictures"]
    pieces = {name: render_to_string("styles/partials/picture.html", {"picture": p}) for name, p in drawn.items()}
    return PageJson({
        "kept": kept, **trial, "before": before,
        "errors": errors if _begun(request, form) else _written(errors), "shape": form.shape,
        "hands": form.hands, "name": "" if form.data.get("title") else form.name, "html": html,
        "steps": number(form.usual_steps),
        "pictures": pieces, "balance": shown["balance"], "weights": shown["weights"], "ways": shown["ways"],
        "style_weight": shown["style_weight"],
    })  # fmt: skip


def _begun(request: HttpRequest, form: StyleForm) -> bool:
    """Whether somebody changed what formulas of one's own begin with, or tried a start."""
    return bool(request.POST.get("start_tried")) or not form.untouched


def _written(errors: dict[str, list[str]]) -> dict[str, list[str]]:
    """What is wrong, but for what nobody has begun to write."""
    found = {name: [each for each in said if each not in UNWRITTEN] for name, said in errors.items()}
    return {name: said for name, said in found.items() if said}


def _tried(request: HttpRequest, project: Project, form: StyleForm) -> tuple[dict[str, Any], dict[str, Any]]:
    """Which job the page waits for, and what it says before the start: sample episodes are played first, then a trial
    tells how long a search would take."""
    user, again = signed_in(request), bool(request.POST.get("again"))
    config = sample_episodes.of_game(form.game_as_typed)
    if config is not None and form.samples is None and not {"game", form.game_field} & form.errors.keys():
        played = form.played
        if played is None or not played.terminal or played.status == Status.STOPPED or again:
            played = actions.sample(project, user, config, again=again)
        for place, message in estimates.problems(played):
            form.point_at(place, message)
        return _waits(played), _before(form, played)
    unchecked = unchecked_words(form, None)
    if form.tried is None:
        return {"trial": None, "failed": False}, estimates.before_start(None, None, 0.0)
    found, trial = form.estimate(trials.known(project, form.tried)), None
    if found is None:
        trial = actions.sample(project, user, trials.of(form.tried), again=again)
    for place, message in estimates.problems(trial):
        form.point_at(place, message)
    before = estimates.before_start(found, trial, 0.0)
    return _waits(trial), {**before, "long": " ".join(filter(None, (unchecked, form.too_few, before["long"])))}


def _waits(job: Job | None) -> dict[str, Any]:
    """The job that the page waits for, and whether it failed."""
    ended_badly = job is not None and job.terminal and not {"samples", "policy"} & job.artifacts.keys()
    return {"trial": job.pk if job is not None and job.active else None, "failed": ended_badly}


def _before(form: StyleForm, played: Job) -> dict[str, Any]:
    """What the page says while there are no sample episodes."""
    note = "Playing sample episodes …" if played.active else ""
    return {"time": "…", "note": note, "long": " ".join(filter(None, (unchecked_words(form, played), form.too_few)))}


@posts_only("styles:new", "slug")
def forget(request: HttpRequest, slug: str) -> HttpResponseRedirect:
    """Throw the draft away; where a clone had taken the place of an earlier one, that comes back."""
    drafts.forget(project_for(request, slug, "write"), signed_in(request), PAGE)
    return redirect("styles:new", slug)


@posts_only("studies:job", "slug", "pk")
def begin_control(request: HttpRequest, slug: str, pk: int) -> HttpResponseRedirect:
    """Start the control of a search: the same with selection switched off; or lead to the one there is."""
    return redirect(control.begun(request, slug, pk))
