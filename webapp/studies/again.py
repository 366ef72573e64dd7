"""What "Run again with changes" begins with: a job's settings as they would be typed into a form, and what of them the
form has no room for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from engine.config import Study
from webapp.accounts.models import User
from webapp.games.fields import NumberField
from webapp.studies.compare.differences import changes, room_for
from webapp.studies.models import Job
from webapp.studies.setting_fields import NumbersField, choices_of
from webapp.studies.study_form import Gone, StudyForm


def left_out(made: type[StudyForm], job: Job, user: User) -> str:
    """In sentences what a form that begins with the settings of a job would not start it with; empty where that is
    nothing, or where the form asks for something anew."""
    gone = made.gone(job)
    rest = _changed(made, job, user, gone)
    return " ".join(filter(None, (gone.said, rest)))


def _changed(made: type[StudyForm], job: Job, user: User, gone: Gone) -> str:
    """What else such a form changes, in sentences."""
    if made.left_out(job):
        return made.leaves_out
    if not made.names_changes:
        return ""
    form = _sent(made, job, {**made.typed_of(job), **(dict.fromkeys(gone.fields, "") if gone.said else {})})
    study = _described(form, user)
    if study is not None:
        part = made.represented(job)
        found = sorted(changes(part.job, study), key=lambda row: not (part.first and row.title.startswith(part.first)))
        return " ".join(filter(None, (part.said, room_for(found))))
    asked_anew = all(error.code == "required" for errors in form.errors.as_data().values() for error in errors)
    return "" if asked_anew else made.leaves_out


def filled(made: type[StudyForm], job: Job, user: User) -> dict[str, Any]:
    """What a form that begins with the settings of a job shows at first. What is as usual is left empty, as it was: so
    it stays as usual whatever else somebody changes, such as the game."""
    whole = made.typed_of(job)
    given = _optional(made, job).intersection(name for name, value in whole.items() if value not in ("", None))
    bare = _sent(made, job, {**whole, **dict.fromkeys(given, "")})
    if needed := given & bare.errors.keys():  # a rule that was chosen has no usual number
        given -= needed
        bare = _sent(made, job, {**whole, **dict.fromkeys(given, "")})
    usual_study = _described(bare, user)
    if usual_study is None:
        return whole
    again = Job(
        project=job.project, kind=job.kind, title=job.title, game_version=job.game_version,
        config=usual_study.model_dump(mode="json"),
    )  # fmt: skip
    usual = made.typed_of(again)
    shown = {name: "" if name in given and usual.get(name) == value else value for name, value in whole.items()}
    same = _described(_sent(made, job, shown), user) == _described(_sent(made, job, whole), user)
    return shown if same else whole


def _optional(made: type[StudyForm], job: Job) -> set[str]:
    """Fields of numbers, and menus, in which nothing stands for what is usual."""
    fields = made(None, project=job.project, kind=job.kind).fields.items()
    return {name for name, field in fields if not field.required and _may_stay_empty(field)}


def _may_stay_empty(field: forms.Field) -> bool:
    if type(field) is forms.ChoiceField:
        return any(value == "" for value, _ in choices_of(field))
    return isinstance(field, NumberField | NumbersField)


def _sent(made: type[StudyForm], job: Job, values: Mapping[str, Any]) -> StudyForm:
    """A form as a browser sends it where nobody changes what it shows at first."""
    shown = made(None, project=job.project, kind=job.kind, initial=values)
    return made({name: shown[name].value() for name in shown.fields}, project=job.project, kind=job.kind)


def _described(form: StudyForm, user: User) -> Study | None:
    asked = form.described(user) if form.is_valid() else None
    return None if asked is None else asked[0]
