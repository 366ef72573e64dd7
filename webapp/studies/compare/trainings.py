"""Trainings side by side: which of those that are asked for fit together, what is set differently in them, and which
others can be chosen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from webapp.lib.words import plural
from webapp.projects.models import Project
from webapp.studies.compare.differences import Difference, differences, same
from webapp.studies.lines import Column, LineRange, Lines, ends, known, shown
from webapp.studies.models import Job

MOST = 8
"""As many as there are colours."""
OFFERED = 60
"""The latest trainings, which can be chosen."""


class Offered(NamedTuple):
    """A training that can be chosen, and how much it has ``learned``; ``why`` it cannot stand beside the first that
    is."""

    job: Job
    chosen: bool
    why: str
    learned: str


class Drawn(NamedTuple):
    """What a line is drawn of: its mark and name, what its training told (columns by name), the column, and by how many
    episodes each value with a range was found."""

    mark: str
    name: str
    columns: Mapping[str, Column]
    what: str
    episodes: int


class Beside(ABC):
    """``jobs``: those of the asked ones that can be compared, in that order; ``others``: the project's others.
    ``obstacle``: why they do not fit together, or nothing. ``kinds``: those of their studies; ``part``: of their
    settings, what is told otherwise than by its title."""

    part: ClassVar[str] = ""

    def __init__(self, project: Project, asked: Sequence[int]) -> None:
        rows = {job.pk: job for job in project.jobs.filter(pk__in=asked).select_related("project", "game_version")}
        found = [rows[pk] for pk in dict.fromkeys(asked) if pk in rows]
        self.project = project
        self.jobs = [job for job in found if self.fits(job)][:MOST]
        self.others = [job for job in found if not self.fits(job)]
        self.obstacle = next((why for job in self.jobs[1:] if (why := self._why_not(job))), "")

    @property
    @abstractmethod
    def kinds(self) -> Sequence[str]:
        """Kinds of studies that are compared here."""

    @abstractmethod
    def method(self, job: Job) -> str:
        """How it learns."""

    @abstractmethod
    def why_apart(self, job: Job, first: Job) -> str:
        """Why one tells nothing beside the other; nothing where it does."""

    @abstractmethod
    def learned(self, job: Job) -> str:
        """How much it has done so far."""

    def fits(self, job: Job) -> bool:
        """Whether it can be compared here at all."""
        return job.kind in self.kinds

    def _why_not(self, job: Job) -> str:
        first = self.jobs[0]
        why = self.why_apart(job, first)
        return f"Beside “{first.title}” ({first.pk}), “{job.title}” ({job.pk}) does not fit: {why}." if why else ""

    @property
    def shown(self) -> list[Job]:
        """Those that are compared; none where something is in the way."""
        return [] if len(self.jobs) < 2 or self.obstacle else self.jobs

    @cached_property
    def names(self) -> dict[int, str]:
        """What the line of each is called, by its number."""
        alike = len({self.method(job) for job in self.jobs}) == 1  # then it tells none of them from another
        return {job.pk: f"{job.pk}: {job.title if alike else self.method(job)}" for job in self.jobs}

    @cached_property
    def differences(self) -> list[Difference]:
        """What is set otherwise in each of them, which way to learn first: that is a kind, and kinds have no title."""
        learns = Difference("How it learns", tuple(map(self.method, self.jobs)))
        found = [learns, *differences(self.jobs, self.part), *self.own_differences()]
        return [row for row in found if len(set(row.values)) > 1]

    def own_differences(self) -> list[Difference]:
        """Of the ``part`` that is told otherwise."""
        return []

    @property
    def same(self) -> str:
        """ "21 settings are the same in all." """
        alike = sum(len(set(row.values)) == 1 for row in self.own_differences()) + same(self.jobs, self.part)
        return f"{plural(alike, 'setting')} are the same in all."

    @cached_property
    def offered(self) -> list[Offered]:
        """Those that can be chosen, and those that cannot stand beside the first that is."""
        latest = self.project.jobs.filter(kind__in=self.kinds, tick__gt=0).select_related("project")[:OFFERED]
        rows = {job.pk: job for job in [*self.jobs, *filter(self.fits, latest)]}.values()
        chosen, first = {job.pk for job in self.jobs}, self.jobs[0] if self.jobs else None
        found = [
            Offered(job, job.pk in chosen, "" if first is None else self.why_apart(job, first), self.learned(job))
            for job in rows
        ]
        return sorted(found, key=lambda one: (bool(one.why), not one.chosen, -one.job.pk))


def together(
    drawn: Sequence[Drawn], x: str, along: str, *, words: Any = None, says: Any = None, ranged: Any = None,
    up: tuple[float, float] | None = None,
) -> Lines:  # fmt: skip
    """A line for each over the column ``x``, which is called ``along`` and told in ``words``; where nobody told
    anything is no place of it. ``says``: a value in words; ``ranged``: one with its range, where there are any."""
    by = [_by_place(each, x, each.what) for each in drawn]
    places = sorted({place for values in by for place in values})
    lines: list[tuple[str, str, Column]] = [
        (each.mark, each.name, [*map(values.get, places)]) for each, values in zip(drawn, by, strict=True)
    ]
    called = {mark: name for mark, name, column in lines if any(map(known, column))}
    ranges = {each.name: _range(each, x, places, ranged) for each in drawn if ranged is not None}
    return Lines(
        along, places, lines, words or shown, called, up, across=ends([0.0, *places]), ranges=ranges, says=says
    )


def _by_place(drawn: Drawn, x: str, what: str) -> dict[float, float]:
    """What it tells, by the place along the axis."""
    pairs = zip(drawn.columns.get(x, ()), drawn.columns.get(what, ()), strict=False)
    return {place: value for place, value in pairs if place is not None and value is not None and known(value)}


def _range(drawn: Drawn, x: str, places: Sequence[float], ranged: Any) -> LineRange:
    low, high = (_by_place(drawn, x, f"{drawn.what}_{end}") for end in ("low", "high"))
    of = plural(drawn.episodes, "episode")
    return LineRange([*map(low.get, places)], [*map(high.get, places)], ranged, of)
