"""The Train-an-agent page: what is typed is kept, a trial measures how fast it goes, and Start makes a job of it. What
the page that searches for settings does alike is here too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods

from engine.config import TrainConfig
from webapp.accounts.people import signed_in
from webapp.lib.once import once_by_form
from webapp.lib.page_json import PageJson
from webapp.lib.posts import posts_only
from webapp.lib.text import judges_names
from webapp.projects.access import project_for
from webapp.projects.models import Project
from webapp.studies import actions, estimates, kinds, pending, retired
from webapp.studies.compare.differences import changes, room_for
from webapp.studies.composing import started
from webapp.studies.models import Job
from webapp.studies.pictures import job_for
from webapp.studies.setting_fields import Setting, shown_default
from webapp.training import beginnings, drafts, methods, settings, trials
from webapp.training.forms import EPISODES, WAYS, TrainForm
from webapp.training.methods import ALGORITHMS
from webapp.training.models import ADDRESSES, TrainDraft
from webapp.training.starting import TrainingStart

PAGE = TrainDraft.Page.TRAIN
MOST_FIELDS = 150
WRONG = 422


@judges_names
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """Compose a training; POST starts it."""
    project = project_for(request, slug, "write")
    if request.method == "POST":
        return begun(request, TrainingStart(project, signed_in(request), typed(request.POST)), PAGE, _page)
    draft = drafts.of(project, signed_in(request), PAGE)
    return _page(request, project, TrainForm(draft.form if draft else {}, project=project), draft=draft)


def begun(
    request: HttpRequest, start: TrainingStart, page: str, render_page: Callable[..., HttpResponse]
) -> HttpResponse:
    """Start what a form describes and lead to it; or the form again, with what is wrong."""
    project, user, asked = start.project, signed_in(request), start.form.as_typed
    job, first = once_by_form(
        request, project.jobs.filter(created_by=user), lambda kept: pending.begin(start, project, user, asked, kept)
    )
    if job is not None and first:
        TrainDraft.objects.filter(project=project, user=user, page=page).delete()
    return started(request, job, lambda: render_page(request, project, start.form, status=WRONG))


def _page(
    request: HttpRequest, project: Project, form: TrainForm, *, draft: TrainDraft | None = None, status: int = 200
) -> HttpResponse:
    form.is_valid()
    context = {
        "ways": WAYS,
        "episodes": EPISODES,
        "default_staleness": TrainConfig.model_fields["max_staleness"].default,
        **context_of(project, form, draft, errors=status == WRONG),
    }
    return render(request, "training/new.html", context, status=status)


def context_of(project: Project, form: TrainForm, draft: TrainDraft | None, *, errors: bool) -> dict[str, Any]:
    """What both pages show."""
    return {
        "project": project,
        "draft": draft,
        "earlier": bool(draft and draft.form.get(drafts.BEFORE)),
        "offers": form.offers.values(),
        "errors": errors_of(form) if errors else None,
        **parts(form),
    }


def parts(form: TrainForm) -> dict[str, Any]:
    """What the page shows of the form, and shows anew when a choice changes what can be chosen."""
    presets = methods.presets_for(form.kind, form.offer.key, form.offer.sees)
    able = [(a, methods.misfit(a.kind, form.does, form.offer)) for a in ALGORITHMS.values()]
    shown = {setting.name for group in form.groups for setting in group.settings} | form.base_fields.keys()
    return {
        "form": form,
        "shape": form.shape,
        "typed": form.data,
        "algorithms": [algorithm for algorithm, why in able if not why],
        "unable": [why for _, why in able if why],
        "presets": presets,
        "groups": [(group.title, [_row(form, s) for s in group.settings]) for group in form.groups],
        "elsewhere": [(k, v) for k, v in form.data.items() if k not in shown and settings.NAMES.fullmatch(k)],
    }


def _row(form: TrainForm, setting: Setting) -> dict[str, Any]:
    """One setting as the page shows it."""
    widget = form.fields[setting.name].widget
    return {
        "field": form[setting.name],
        "value": form.data.get(setting.name, ""),
        "default": shown_default(setting),
        "choices": getattr(form.fields[setting.name], "choices", None),
        "lines": hasattr(widget, "attrs") and "rows" in widget.attrs,
    }


def errors_of(form: TrainForm) -> dict[str, list[str]]:
    """What is wrong, by field; "" holds what concerns the whole."""
    return {"" if name == "__all__" else name: [str(e) for e in found] for name, found in form.errors.items()}


@judges_names
@posts_only("training:new", "slug")
def preview(request: HttpRequest, slug: str) -> PageJson:
    """What the page says about the form as it stands; ``keep=1`` also keeps it as the draft. Starts a trial if one is
    needed, ``again=1`` even where one failed."""
    project = project_for(request, slug, "write")
    form = TrainForm(typed(request.POST), project=project)
    answer, shown = previewed(request, project, form, PAGE), parts(form)
    names = ("algorithms", "presets", "details")
    html = {name: render_to_string(f"training/partials/{name}.html", shown) for name in names}
    return PageJson({**answer, "html": html, "steps": f"{form.shown.steps:,}"})


def previewed(request: HttpRequest, project: Project, form: TrainForm, page: str) -> dict[str, Any]:
    """What both pages are told: what is kept, wrong, chosen, and how long it would take; where nothing tells, a trial
    is started. Its problems go to their fields."""
    kept = drafts.keep(project, signed_in(request), page, form.as_typed) if request.POST.get("keep") else None
    form.is_valid()
    trial, found, config = None, None, form.tried
    if config is not None:
        found = form.estimate(trials.known(project, config))
        if found is None or form.needs_trial:
            again = bool(request.POST.get("again"))
            trial = actions.sample(project, signed_in(request), trials.of(config), again=again)
        for place, message in estimates.problems(trial):
            form.point_at(place, message)
    return {
        "kept": kept,
        "trial": trial.pk if trial is not None and trial.active else None,
        "failed": trial is not None and trial.terminal and trials.pace_of(trial) is None,
        "before": estimates.before_start(found, trial, form.minutes_typed),
        "errors": errors_of(form),
        "shape": form.shape,
        "hands": form.hands,
        "name": "" if form.data.get("title") else form.name,
    }


def typed(data: QueryDict, form: type[TrainForm] = TrainForm) -> dict[str, str]:
    """What was typed, field by field; nothing else gets into a draft."""
    names = [name for name in data if name in form.base_fields or settings.NAMES.fullmatch(name)]
    return dict([(name, str(data[name])) for name in names if str(data[name])][:MOST_FIELDS])


@posts_only("training:new", "slug")
def forget(request: HttpRequest, slug: str) -> HttpResponseRedirect:
    """Throw the draft away; where a clone had taken the place of an earlier one, that comes back."""
    drafts.forget(project_for(request, slug, "write"), signed_in(request), PAGE)
    return redirect("training:new", slug)


@posts_only("studies:job", "slug", "pk")
def clone(request: HttpRequest, slug: str, pk: int) -> HttpResponseRedirect:
    """Compose a new training, or a new search for settings, that begins with this one's settings; a draft that was
    there is kept beside it."""
    job = job_for(request, slug, pk, "write")
    own: Any = kinds.of(job)
    if job.for_form or own.clone != "training:clone":
        raise Http404("This job trains no agent.")
    values = retired.for_form(request, job.asked.get("typed") or own.typed(job))
    messages.info(request, f"These are the settings of “{job.title}”. Change what you like, then start.")
    gone = beginnings.gone(job.config, job.project)
    begins = {**values, "start": ""} if gone else values
    changed = _changed(job, own.start.form_class(begins, project=job.project))
    if gone or changed:
        messages.warning(request, " ".join(filter(None, (gone, changed))))
    drafts.begin_with(job.project, signed_in(request), own.draft, values)
    return redirect(ADDRESSES[own.draft], slug)


def _changed(job: Job, form: TrainForm) -> str:
    """A sentence on the settings of a job that the form would not start it with; empty where there are none, or where
    what the form describes is not known yet."""
    if job.asked or not form.is_valid() or form.described is None:
        return ""
    config = beginnings.without(job.config) if beginnings.gone(job.config, job.project) else job.config
    kept = Job(project=job.project, kind=job.kind, game_version=job.game_version, config=config)
    return room_for(changes(kept, form.described))
