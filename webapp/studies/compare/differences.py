"""What is set differently in several jobs, in the words of the settings' own titles and of the forms' choices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_origin

from django import forms
from pydantic.fields import FieldInfo

from engine.catalog import ALGORITHMS
from engine.config import AnyStudy, Config, load
from engine.config.genes import Evolvable
from engine.errors import ConfigError
from webapp.lib.words import number
from webapp.studies.method_menu import CHOICES
from webapp.studies.methods import LINEUPS
from webapp.studies.models import Job
from webapp.studies.setting_fields import Setting, choices_of
from webapp.training.evolving import NETWORKS
from webapp.training.goals import WAYS, title_of
from webapp.training.ranges import is_range, range_text
from webapp.training.searching import PLAYERS

ABSENT = "–"
_LEFT_OUT = frozenset({"name", "game.spec"})
_SUBJECTS = {"algorithm": "Method", "lineups": "Lineup rules", "pool": "Workers", "noise": "Luck", "stop": "Ends early"}
_MEASURES = frozenset({"measure", "behaviour", "quality"})
"""Settings of a search for training settings that name what is measured of players."""
_PUSHED = {"max": "High values", "min": "Low values"}
Told = tuple[str, str, str, str]
"""A setting: its place, what it belongs to, its title and its value."""


class Difference(NamedTuple):
    """One setting: its title, and its value in each job."""

    title: str
    values: tuple[str, ...]


def differences(jobs: Sequence[Job]) -> list[Difference]:
    """Settings that are not the same in all jobs, in the order of the settings; methods first."""
    return [row for row in _rows(jobs) if len(set(row.values)) > 1]


def same(jobs: Sequence[Job]) -> int:
    """How many settings all jobs share."""
    return sum(len(set(row.values)) == 1 for row in _rows(jobs))


def _rows(jobs: Sequence[Job]) -> list[Difference]:
    """Every setting that any of the jobs has; a place has one title, that of the first job which has it."""
    told = [{place: (title, text) for place, title, text in _told(job)} for job in jobs]
    titles = {place: title for each in reversed(told) for place, (title, _) in each.items()}
    places = dict.fromkeys(place for each in told for place in each)
    return [Difference(titles[place], tuple(each.get(place, ("", ABSENT))[1] for each in told)) for place in places]


def method_title(job: Job) -> str:
    """The name of a job's method."""
    kind = job.config.get("algorithm", {}).get("kind", "")
    return ALGORITHMS[kind].label if kind in ALGORITHMS else kind


def settings_told(config: Mapping[str, Any], part: str) -> list[tuple[str, str]]:
    """(title, value) of every setting in one part of a study's configuration; none where it cannot be read any more."""
    try:
        study = load(config)
        found = getattr(study, part)
    except (ConfigError, AttributeError):
        return []
    return [(title, text) for _, _, title, text in _worded(study, _walk(found, (part,), "")) if text != ABSENT]


def _told(job: Job) -> Iterator[tuple[str, str, str]]:
    """(place, title, value) of every setting of a job."""
    yield "method", "Method", method_title(job)
    if job.game_version is not None:
        yield "version", "Game data", str(job.game_version)
    try:
        config = load(job.config)
    except ConfigError:
        return
    for place, subject, title, text in _worded(config, _walk(config, (), "")):
        yield place, f"{subject}: {title}" if subject else title, text


def _worded(study: AnyStudy, rows: Iterable[Told]) -> Iterator[Told]:
    """Settings as the form of such a study calls them and their choices; what means nothing to it is left out."""
    menu = PLAYERS if study.kind == "evolve" else LINEUPS
    asked = _asked(study)
    for place, subject, title, text in rows:
        setting = asked.get(place)
        if setting is not None:
            yield place, subject, str(setting.field.label), _choices(setting).get(text, text)
        elif place.removeprefix("algorithm.") not in menu.leave:
            yield place, menu.told(subject), menu.told(title), _named(study, place, text)


def _asked(study: AnyStudy) -> dict[str, Setting]:
    """The settings of a search that its form asks for, by their places."""
    menu = PLAYERS if study.kind == "evolve" else LINEUPS
    method = menu.methods.get(_method(study))
    parts = {"algorithm.": menu.belonging(method) if method else (), "noise.": (*menu.noise, *menu.racing)}
    found = {f"{part}{setting.key}": setting for part, settings in parts.items() for setting in settings}
    return found | ({setting.key: setting for setting in NETWORKS} if study.kind == "evolve" else {})


def _method(study: AnyStudy) -> str:
    """The kind of its method; nothing for a study that searches nothing."""
    return str(getattr(getattr(study, "algorithm", None), "kind", ""))


def _choices(setting: Setting) -> Mapping[str, str]:
    """The words of a setting's choices, by their values as texts."""
    own = dict(choices_of(setting.field)) if isinstance(setting.field, forms.ChoiceField) else {}
    return {value.replace("_", " "): words for value, words in (own | CHOICES.get(setting.name, {})).items()}


def _named(study: AnyStudy, place: str, text: str) -> str:
    """A value in words, where it is the name of a measure or of a way."""
    key, players = place.rpartition(".")[2], study.kind == "evolve"
    if place.startswith("algorithm."):  # of a method that this form does not offer
        text = CHOICES.get(f"{_method(study)}-{key}", {}).get(text, text)
    if key == "direction":
        return (dict(WAYS) if players else _PUSHED).get(text, text)
    if players and key in _MEASURES and text != ABSENT:
        return ", ".join(title_of(name) for name in text.split(", "))
    return text


def _walk(config: Config, path: tuple[str, ...], subject: str) -> Iterator[Told]:
    for key, info in type(config).model_fields.items():
        place = ".".join((*path, key))
        if key != "kind" and place not in _LEFT_OUT:
            value = getattr(config, key)
            yield from _one(value, (*path, key), subject, info)


def _one(value: Any, path: tuple[str, ...], subject: str, info: FieldInfo) -> Iterator[Told]:
    place, title = ".".join(path), info.title or path[-1].replace("_", " ").capitalize()
    if isinstance(value, tuple) and any(isinstance(mark, Evolvable) for mark in info.metadata):
        yield place, subject, title, range_text(value)
    elif isinstance(value, Config):
        yield from _walk(value, path, _SUBJECTS.get(path[-1], title))
    elif isinstance(value, Mapping):
        yield from (
            (f"{place}.{key}", title, key, range_text(each) if is_range(each) else text_of(each))
            for key, each in value.items()
        )
    elif isinstance(value, tuple) and value and isinstance(value[0], Config):
        for i, each in enumerate(value):
            name = (
                getattr(each, "title", "")
                or getattr(each, "name", "")
                or getattr(each, "kind", "")
                or f"{title} {i + 1}"
            )
            yield from _walk(each, (*path, str(i)), str(name).capitalize() if path[-1] == "stop" else str(name))
    else:
        text = text_of(value)
        yield place, subject, title, text.replace("_", " ") if get_origin(info.annotation) is Literal else text


def text_of(value: Any) -> str:
    """A setting's value as people read it."""
    if value is None or value == "" or value == ():
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return number(value)
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, tuple):
        return ", ".join(range_text(each) if isinstance(each, tuple) else text_of(each) for each in value)
    return str(value)
