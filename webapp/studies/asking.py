"""The page that starts a study of a kind without a page of its own: its form, and what becomes of what was typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from engine.catalog import STUDIES
from webapp.accounts.people import signed_in
from webapp.games.limits import MOST_BYTES
from webapp.games.uploads import too_large
from webapp.lib.bodies import may_send
from webapp.lib.deadline import FILE_SECONDS, may_take
from webapp.lib.digits import whole
from webapp.lib.once import Kept, once_by_form
from webapp.lib.posts import posts_only
from webapp.lib.text import judges_names
from webapp.projects.access import project_for
from webapp.projects.models import Project
from webapp.studies import actions, kinds
from webapp.studies.again import filled, left_out
from webapp.studies.models import Job
from webapp.studies.pictures import job_for
from webapp.studies.setting_fields import settings_of, shown_default, values_typed
from webapp.studies.study_form import StudyForm

WRONG = 422
AGAIN = "again"
"""What the address calls the job whose settings a form begins with."""


class SettingsForm(StudyForm):
    """Of a kind that brings none of its own: every setting of its study that is one value."""

    folded: ClassVar[tuple[str, ...]] = ()
    tells = True
    title = None  # type: ignore[assignment]
    seed = None

    def prepare(self) -> None:
        every = settings_of(STUDIES[self.kind].config)
        self.settings = [setting for setting in every if isinstance(setting.default, bool | int | float | str)]
        for setting in self.settings:
            setting.field.widget.attrs["placeholder"] = shown_default(setting)
            self.fields[setting.name] = setting.field

    def table(self) -> dict[str, Any]:
        """The settings that were typed, as a body of the API would have them."""
        return values_typed(self.settings, self.cleaned_data)


@judges_names
@may_send(MOST_BYTES + settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
@may_take(FILE_SECONDS)
@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """Compose a study of this kind; POST starts it. The address may say with what fields begin."""
    project = project_for(request, slug, "write")
    if kind not in kinds.asked():
        raise Http404("There is no such form. Other kinds of jobs are started from their own pages.")
    parts = kinds.parts_of(kind)
    made = parts.form or SettingsForm
    sent = request.POST if request.method == "POST" else None
    redrawn = None if sent is None else made.redrawn(sent.dict(), project)
    initial = _at_first(request, project, kind, made) if redrawn is None else redrawn
    form: Any = made(sent if redrawn is None else None, project=project, kind=kind, initial=initial)
    form.files, form.dropped = request.FILES, too_large(request)
    if form.is_valid():
        job, _ = once_by_form(
            request,
            project.jobs.filter(created_by=signed_in(request)),
            lambda kept: _started(request, project, kind, form, kept),
        )
        if job is not None:
            return redirect("studies:job", slug, job.pk)
    else:
        form.find_more(signed_in(request))
    _ask_for_files_again(form)
    # What was typed is kept in the browser until as many are started as when it was sent, and one more.
    started = Job.objects.filter(project=project, kind=kind, created_by=signed_in(request)).count()
    context = {"project": project, "form": form, "kind": kind, "row": STUDIES[kind], "parts": parts, "started": started}
    context |= {"key": f"again-{request.GET[AGAIN]}" if AGAIN in request.GET else "new"}
    return render(request, "studies/ask.html", context | _fields(form), status=WRONG if form.errors else 200)


def _at_first(request: HttpRequest, project: Project, kind: str, made: type[StudyForm]) -> dict[str, Any]:
    """What fields show at first: the settings of another job of the kind, but for what the address says."""
    found: dict[str, Any] = {}
    if whole(request.GET.get(AGAIN, ""), 2**53):
        job = get_object_or_404(project.jobs.filter(kind=kind), pk=request.GET[AGAIN])
        found |= filled(made, job, signed_in(request))
    fields = made(None, project=project, kind=kind).fields.items()
    plain = [name for name, field in fields if not isinstance(field, forms.FileField)]
    return found | {name: request.GET[name] for name in plain if name in request.GET}


def _fields(form: Any) -> dict[str, Any]:
    """The fields as the page shows them: those of each group with cards and without, or all below each other."""
    folded = [form[name] for name in form.folded]
    groups = [(title, [form[name] for name in names if name in form.fields]) for title, names in form.groups]
    return {
        "groups": [
            (
                title,
                [f for f in found if hasattr(f.field, "cards")],
                [f for f in found if not hasattr(f.field, "cards")],
                form.drawn.get(title, ""),
            )
            for title, found in groups
        ],
        "shown": [bound for bound in form if bound.name not in form.folded],
        "folded": folded,
        "unfolded": any(bound.errors or bound.value() for bound in folded),
    }


@judges_names
@posts_only("studies:ask", "slug", "kind")
def before(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """What the page of a form says before the start, as far as what is typed so far tells."""
    project, user = project_for(request, slug, "write"), signed_in(request)
    if kind not in kinds.asked():
        raise Http404("There is no such form.")
    form: Any = (kinds.parts_of(kind).form or SettingsForm)(request.POST, project=project, kind=kind)
    if not form.is_valid():
        form.find_more(user)
    asked = form.described(user) if form.is_valid() else None
    estimate = form.before(asked[0], user, **asked[1]) if asked else {}
    context = {"before": {**estimate, "wrong": [*_wrong(form)]}, "project": project, "kind": kind}
    return render(request, "studies/partials/before.html", context)


def _wrong(form: Any) -> Iterator[str]:
    """What is wrong with what was typed; nobody is asked yet for what is still missing."""
    found, order = form.errors.as_data(), [*form.fields]
    for name in sorted(found, key=lambda name: order.index(name) if name in order else len(order)):
        if all(error.code == "required" for error in found[name]):
            continue
        label = form[name].label if name in order else ""
        yield f"{label}{'' if label.endswith('?') else ':'} {form.errors[name][0]}" if label else form.errors[name][0]


@posts_only("studies:job", "slug", "pk")
def again(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Compose another study that begins with the settings of this job."""
    job = job_for(request, slug, pk, "write")
    if job.for_form or kinds.of(job).clone != "studies:again":
        raise Http404("This job is not asked for by such a form.")
    messages.info(request, f"These are the settings of “{job.title}”. Change what you like, then start.")
    made = kinds.of(job).form
    if made is not None and (said := left_out(made, job, signed_in(request))):
        messages.warning(request, said)
    return redirect(f"{reverse('studies:ask', args=[slug, job.kind])}?{AGAIN}={pk}")


def _ask_for_files_again(form: Any) -> None:
    """A browser sends a file once: whoever has to mend something else chooses it again."""
    for name in form.files if form.errors else ():
        if name in form.fields and name not in form.errors:
            form.add_error(name, f"Choose {form.files[name].name} again: a page cannot keep a file.")


def _started(request: HttpRequest, project: Project, kind: str, form: Any, kept: Kept) -> Job | None:
    """The job, on its way; None once something is wrong."""
    user = signed_in(request)
    asked = form.described(user)
    if asked is None:
        return None
    study, refers = asked
    return actions.submit(project, user, study, title=study.name, **refers, **kept)
