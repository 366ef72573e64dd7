"""What is set differently in several jobs, in the words of the settings' own titles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic.fields import FieldInfo

from engine.catalog import ALGORITHMS
from engine.config import Config, load
from engine.config.genes import Evolvable
from engine.errors import ConfigError
from webapp.lib.words import number
from webapp.studies.models import Job
from webapp.training.ranges import is_range, range_text
from webapp.training.searching import in_players

ABSENT = "–"
_LEFT_OUT = frozenset({"name", "game.spec"})
_SUBJECTS = {"algorithm": "Method", "lineups": "Lineup rules", "pool": "Workers", "noise": "Luck", "stop": "Ends early"}


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
        found = getattr(load(config), part)
    except (ConfigError, AttributeError):
        return []
    return [(title, text) for _, title, text in _walk(found, (), "") if text != ABSENT]


def _told(job: Job) -> Iterator[tuple[str, str, str]]:
    """(place, title, value) of every setting of a job."""
    yield "method", "Method", method_title(job)
    if job.game_version is not None:
        yield "version", "Game data", str(job.game_version)
    try:
        config = load(job.config)
    except ConfigError:
        return
    told = in_players if job.evolves else str
    yield from ((place, told(title), text) for place, title, text in _walk(config, (), ""))


def _walk(config: Config, path: tuple[str, ...], subject: str) -> Iterator[tuple[str, str, str]]:
    for key, info in type(config).model_fields.items():
        place = ".".join((*path, key))
        if key != "kind" and place not in _LEFT_OUT:
            value = getattr(config, key)
            yield from _one(value, (*path, key), subject, info)


def _one(value: Any, path: tuple[str, ...], subject: str, info: FieldInfo) -> Iterator[tuple[str, str, str]]:
    place, title = ".".join(path), info.title or path[-1].replace("_", " ").capitalize()
    if isinstance(value, tuple) and any(isinstance(mark, Evolvable) for mark in info.metadata):
        yield place, (f"{subject}: {title}" if subject else title), range_text(value)
    elif isinstance(value, Config):
        yield from _walk(value, path, _SUBJECTS.get(path[-1], title))
    elif isinstance(value, Mapping):
        yield from (
            (f"{place}.{key}", f"{title}: {key}", range_text(each) if is_range(each) else text_of(each))
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
        yield place, (f"{subject}: {title}" if subject else title), text_of(value)


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
