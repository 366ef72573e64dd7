"""The page that starts a study of a kind without a page of its own: its form, and what becomes of what was typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from engine.catalog import STUDIES
from engine.errors import ConfigError
from webapp.accounts.people import signed_in
from webapp.balance.forms import sentence
from webapp.games.limits import MOST_BYTES
from webapp.games.uploads import too_large
from webapp.lib.bodies import may_send
from webapp.lib.deadline import FILE_SECONDS, may_take
from webapp.lib.once import Kept, once_by_form
from webapp.projects.access import project_for
from webapp.projects.models import Project
from webapp.studies import actions, kinds
from webapp.studies.intake import Body
from webapp.studies.models import Job
from webapp.studies.setting_fields import settings_of, shown_default, values_typed

WRONG = 422


class SettingsForm(forms.Form):
    """Of a kind that brings none of its own: every setting of its study that is one value. What is left empty is as
    usual."""

    folded: ClassVar[tuple[str, ...]] = ()

    def __init__(self, data: Any = None, *, project: Project, kind: str) -> None:
        super().__init__(data)
        every = settings_of(STUDIES[kind].config)
        self.settings = [setting for setting in every if isinstance(setting.default, bool | int | float | str)]
        for setting in self.settings:
            setting.field.widget.attrs["placeholder"] = shown_default(setting)
            self.fields[setting.name] = setting.field

    def table(self) -> dict[str, Any]:
        """The settings that were typed, as a body of the API would have them."""
        return values_typed(self.settings, self.cleaned_data)


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
    form: Any = made(request.POST if request.method == "POST" else None, project=project, kind=kind)
    form.files, form.dropped = request.FILES, too_large(request)
    plain = [name for name, field in form.fields.items() if not isinstance(field, forms.FileField)]
    form.initial.update({name: request.GET[name] for name in plain if name in request.GET})
    if form.is_valid():
        job, _ = once_by_form(
            request,
            project.jobs.filter(created_by=signed_in(request)),
            lambda kept: _started(request, project, kind, form, kept),
        )
        if job is not None:
            return redirect("studies:job", slug, job.pk)
    _ask_for_files_again(form)
    # What was typed is kept in the browser until as many are started as when it was sent, and one more.
    started = Job.objects.filter(project=project, kind=kind, created_by=signed_in(request)).count()
    context = {"project": project, "form": form, "kind": kind, "row": STUDIES[kind], "parts": parts, "started": started}
    folded = [form[name] for name in form.folded]
    context |= {
        "shown": [bound for bound in form if bound.name not in form.folded],
        "folded": folded,
        "unfolded": any(bound.errors or bound.value() for bound in folded),
    }
    return render(request, "studies/ask.html", context, status=WRONG if form.errors else 200)


def _field_of(place: str, places: Mapping[str, str]) -> str:
    """The field of a place of the study: of ``places``, or that of its first part's name."""
    return next((name for path, name in places.items() if f"{place}.".startswith(f"{path}.")), place.partition(".")[0])


def _ask_for_files_again(form: Any) -> None:
    """A browser sends a file once: whoever has to mend something else chooses it again."""
    for name in form.files if form.errors else ():
        if name in form.fields and name not in form.errors:
            form.add_error(name, f"Choose {form.files[name].name} again: a page cannot keep a file.")


def _started(request: HttpRequest, project: Project, kind: str, form: Any, kept: Kept) -> Job | None:
    """The job, on its way; None once what is wrong stands at its field, or above all of them."""
    intake, user = kinds.parts_of(kind).intake, signed_in(request)
    assert intake is not None
    beside = form.beside() if hasattr(form, "beside") else {}
    try:
        study, refers = intake.first(Body(kind, project, user, form.table(), {}, beside))
    except ConfigError as error:
        for place, message in error.problems:
            name = _field_of(place.removeprefix("config."), getattr(form, "places", {}))
            form.add_error(name if name in form.fields else None, sentence(message))
        return None
    return actions.submit(project, user, study, title=study.name, **refers, **kept)
