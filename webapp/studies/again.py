"""What "Run again with changes" begins with: a job's settings as they would be typed into a form, and what of them the
form has no room for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.config import Study
from webapp.accounts.models import User
from webapp.studies.compare.differences import changes, room_for
from webapp.studies.models import Job
from webapp.studies.study_form import StudyForm


def left_out(made: type[StudyForm], job: Job, user: User) -> str:
    """In sentences what a form that begins with the settings of a job would not start it with; empty where that is
    nothing, or where the form asks for something anew."""
    if made.left_out(job):
        return made.leaves_out
    if not made.names_changes:
        return ""
    form = _sent(made, job, made.typed_of(job))
    study = _described(form, user)
    if study is not None:
        return room_for(changes(job, study))
    asked_anew = all(error.code == "required" for errors in form.errors.as_data().values() for error in errors)
    return "" if asked_anew else made.leaves_out


def _sent(made: type[StudyForm], job: Job, values: Mapping[str, Any]) -> StudyForm:
    """A form as a browser sends it where nobody changes what it shows at first."""
    shown = made(None, project=job.project, kind=job.kind)
    shown.initial.update(values)
    return made({name: shown[name].value() for name in shown.fields}, project=job.project, kind=job.kind)


def _described(form: StudyForm, user: User) -> Study | None:
    asked = form.described(user) if form.is_valid() else None
    return None if asked is None else asked[0]
