"""What is set differently in several jobs, in the words of the settings' own titles and of the forms' choices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_origin

from django import forms
from pydantic.fields import FieldInfo

from engine.catalog import ALGORITHMS
from engine.config import Config, Study
from engine.config.genes import Evolvable
from engine.config.lineups import ObjectiveConfig, TeamRow
from engine.errors import ConfigError
from engine.studies import load
from engine.text import written
from webapp.games.called import public_config
from webapp.lib.digits import whole
from webapp.lib.figures import with_unit
from webapp.lib.words import number
from webapp.studies import retired
from webapp.studies.compare.names import ABSENT, Names
from webapp.studies.kinds import Parts, parts_of
from webapp.studies.method_menu import CHOICES
from webapp.studies.models import Job
from webapp.studies.retired import Retired
from webapp.studies.setting_fields import Setting, choices_of, is_range, range_text

_LEFT_OUT = frozenset({"name", "game.spec"})
_TABLES = ("game.patch", "lineups.baselines.teams")
"""Where the keys of a table are ids of the game."""
_WITH_UNIT = frozenset({"threshold", "low", "high"})
_MOST_NAMED = 8
"""Settings that a sentence names."""
_SUBJECTS = {"algorithm": "Method", "lineups": "Lineup rules", "pool": "Workers", "noise": "Luck", "stop": "Ends early"}
SettingText = tuple[str, str, str, str]
"""A setting: its place, what it belongs to, its title and its value."""


class Difference(NamedTuple):
    """One setting: its title, and its value in each job."""

    title: str
    values: tuple[str, ...]


def differences(jobs: Sequence[Job], beside: str = "") -> list[Difference]:
    """Settings that are not the same in all jobs, in the order of the settings; methods first. ``beside``: a part of
    the configuration that is left out, as the caller tells of it otherwise."""
    return [row for row in _rows(jobs, beside) if len(set(row.values)) > 1]


def changes(job: Job, study: Study) -> list[Difference]:
    """Settings that a study has otherwise than a job, whose values come first."""
    config = study.model_dump(mode="json")
    return differences([job, Job(project=job.project, kind=job.kind, game_version=job.game_version, config=config)])


def room_for(found: Sequence[Difference]) -> str:
    """In sentences which settings of a job a form does not keep; the values are the job's and the form's. Empty where
    there are none."""
    rows = [f"{row.title} (was {row.values[0]}, here {row.values[1]})" for row in found]
    more = f", and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
    said = f"This form has no room for some of its settings, which change: {'; '.join(rows[:_MOST_NAMED])}{more}."
    return f"{said} The API and the command line keep them." if rows else ""


def same(jobs: Sequence[Job], beside: str = "") -> int:
    """How many settings all jobs share; ``beside``: as for ``differences``."""
    return sum(len(set(row.values)) == 1 for row in _rows(jobs, beside))


def _rows(jobs: Sequence[Job], beside: str = "") -> list[Difference]:
    """Every setting that any of the jobs has; a place has one title, that of the first job which has it."""
    names = [Names(job) for job in jobs]
    by_place = [
        {place: (title, text) for place, title, text in _settings(job, own) if place.partition(".")[0] != beside}
        for job, own in zip(jobs, names, strict=True)
    ]
    titles = {place: title for each in reversed(by_place) for place, (title, _) in each.items()}

    def values(place: str) -> Iterator[str]:
        for each, own in zip(by_place, names, strict=True):
            yield each[place][1] if place in each else own.of_the_game(place)

    return [
        Difference(titles[place], tuple(values(place))) for place in dict.fromkeys(p for each in by_place for p in each)
    ]


def method_title(job: Job) -> str:
    """The name of a job's method."""
    kind = job.config.get("algorithm", {}).get("kind", "")
    return ALGORITHMS[kind].label if kind in ALGORITHMS else kind


def settings_shown(config: Mapping[str, Any], part: str) -> list[tuple[str, str]]:
    """(title, value) of every setting in one part of a study's configuration, which is not its game; none where it
    cannot be read any more."""
    config, gone = retired.renewed(config)
    try:
        study = load(config)
        found = getattr(study, part)
    except (ConfigError, AttributeError):
        return []
    rows = _worded(study, _walk(found, (part,), "", None), gone)
    return [(title, text) for _, _, title, text in rows if text != ABSENT]


def _settings(job: Job, names: Names) -> Iterator[tuple[str, str, str]]:
    """(place, title, value) of every setting of a job, in the words of its game."""
    yield "method", "Method", method_title(job)
    if job.game_version is not None:
        yield "version", "Game data", str(job.game_version)
    current, gone = retired.renewed(public_config(job.config, job.project))
    try:
        config = load(current)
    except ConfigError:
        return
    for place, subject, title, text in _worded(config, _walk(config, (), "", names), gone):
        yield place, f"{subject}: {title}" if subject else title, text


def _worded(study: Study, rows: Iterable[SettingText], gone: Iterable[Retired] = ()) -> Iterator[SettingText]:
    """Settings as the form of such a study calls them and their choices; what means nothing to it is left out. What is
    ``gone`` from the form was set all the same."""
    parts = parts_of(study.kind)
    menu = parts.menu
    asked, was = _asked(study), {each.place: each.words for each in gone}
    for place, subject, title, text in rows:
        setting = asked.get(place)
        if place in was:
            yield place, subject, str(setting.field.label) if setting else title, was[place]
            continue
        if setting is not None:
            yield place, subject, str(setting.field.label), _choices(setting).get(text, text)
        elif place.removeprefix("algorithm.") not in menu.leave:
            yield place, menu.worded(subject), menu.worded(title), _named(study, parts, place, text)


def _asked(study: Study) -> dict[str, Setting]:
    """The settings of a search that its form asks for, by their places."""
    own = parts_of(study.kind)
    menu = own.menu
    method = menu.methods.get(_method(study))
    parts = {"algorithm.": menu.belonging(method) if method else (), "noise.": (*menu.noise, *menu.racing)}
    found = {f"{part}{setting.key}": setting for part, settings in parts.items() for setting in settings}
    return found | {setting.key: setting for setting in own.settings}


def _method(study: Study) -> str:
    """The kind of its method; nothing for a study that searches nothing."""
    return str(getattr(getattr(study, "algorithm", None), "kind", ""))


def _choices(setting: Setting) -> Mapping[str, str]:
    """The words of a setting's choices, by their values as texts."""
    own = dict(choices_of(setting.field)) if isinstance(setting.field, forms.ChoiceField) else {}
    return {value.replace("_", " "): words for value, words in (own | CHOICES.get(setting.name, {})).items()}


def _named(study: Study, parts: Parts, place: str, text: str) -> str:
    """A value in words, where it is the name of a measure or of a way."""
    key = place.rpartition(".")[2]
    if place.startswith("algorithm."):  # of a method that this form does not offer
        text = CHOICES.get(f"{_method(study)}-{key}", {}).get(text, text)
    if key == "direction":
        return parts.directions.get(text, text)
    return text if text == ABSENT else parts.named(place, text)


def _walk(config: Config, path: tuple[str, ...], subject: str, names: Names | None) -> Iterator[SettingText]:
    for key, info in type(config).model_fields.items():
        place, value = ".".join((*path, key)), getattr(config, key)
        if key == "kind" or place in _LEFT_OUT or (key == "name" and isinstance(config, ObjectiveConfig | TeamRow)):
            continue  # the latter two are what their other settings are told under
        if isinstance(config, ObjectiveConfig) and key in _WITH_UNIT and value is not None:
            yield place, subject, info.title or key, with_unit(value, config.unit)
        else:
            yield from _one(value, (*path, key), subject, info, names)


def _one(
    value: Any, path: tuple[str, ...], subject: str, info: FieldInfo, names: Names | None
) -> Iterator[SettingText]:  # fmt: skip
    place, title = ".".join(path), info.title or path[-1].replace("_", " ").capitalize()
    if names is not None and (words := names.value_words(place, value)) is not None:
        yield place, subject, title, words
    elif isinstance(value, tuple) and any(isinstance(mark, Evolvable) for mark in info.metadata):
        yield place, subject, title, range_text(value)
    elif isinstance(value, Config):
        yield from _walk(value, path, _SUBJECTS.get(path[-1], title), names)
    elif isinstance(value, Mapping) and names is not None and place.startswith(_TABLES):
        whose = "Game data" if place == "game.patch" else subject
        yield from ((f"{place}.{key}", whose, title, text) for key, title, text in names.of_table(place, value))
    elif isinstance(value, Mapping):
        if len(path) > 1 and whole(path[-2]) is not None:  # of one of several, such as starts: say of which
            title = f"{subject}: {title}"
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
            whose = str(name).capitalize() if path[-1] == "stop" else str(name)
            yield from _walk(each, (*path, str(i)), whose, names)
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
        return written(value, ",.6g")
    if isinstance(value, tuple):
        return ", ".join(range_text(each) if isinstance(each, tuple) else text_of(each) for each in value)
    return str(value)
