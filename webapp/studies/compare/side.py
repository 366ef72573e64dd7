"""Searches chosen to be seen side by side: whether they can be, and what the page says about each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

from django.urls import reverse

from engine.errors import ConfigError, StoreError
from webapp.lib.words import plural
from webapp.projects.models import Project
from webapp.studies import front, kinds
from webapp.studies.compare import best, measures
from webapp.studies.compare.best import Best
from webapp.studies.compare.differences import Difference, differences, method_title, same
from webapp.studies.compare.lineups import LineupsCompared
from webapp.studies.compare.measures import Box, Verdicts, Volume
from webapp.studies.compare.reference import Reference, line_words, moved_words, reference_of, strong_words
from webapp.studies.comparing import Comparing
from webapp.studies.explore_recheck import Count, confirmed_by
from webapp.studies.found_counts import found_by
from webapp.studies.front import FrontAxis
from webapp.studies.models import Job

MOST = 8
"""As many as there are shapes and colours."""
VOLUME = FrontAxis(-1, "Volume", "", "beats more", "max", None)._asdict() | {"digits": 3, "from_zero": True}
"""The measure of edges as charts know it."""


T = TypeVar("T")


def _kept(read: Callable[[], T | None]) -> T | None:
    """What is read of an artifact; None where it was lost."""
    try:
        return read()
    except StoreError:
        return None


@dataclass(frozen=True)
class Side:
    """One search: its place (1 to 8) gives shape and colour. ``digest``: the edge that is compared; ``box``: what its
    volume is told by, None with one goal; ``own_reference``: what it judges its lineups by, None where that was lost;
    ``reference``: what they are judged by here."""

    place: int
    job: Job
    digest: str
    box: Box | None
    own_reference: Reference | None = None
    reference: Reference | None = None

    @property
    def method(self) -> str:
        return method_title(self.job)

    @cached_property
    def volume(self) -> Volume | None:
        """None where the edge was lost."""
        box, job = self.box, self.job
        return _kept(
            lambda: box and measures.volume_with_range(self.digest, box, measures.signs(job), measures.stops(job))
        )

    @cached_property
    def verdicts(self) -> Verdicts | None:
        """By the reference that all sides share; None where the edge was lost."""
        by = self.reference
        return _kept(lambda: by and measures.verdicts_of(self.job, self.digest, by))

    @property
    def judged_otherwise(self) -> bool:
        """Whether the search itself judged its lineups by another line, or by another median baseline team."""
        own, by = self.own_reference, self.reference
        return own is not None and by is not None and not own.alike(by)

    @cached_property
    def confirmed(self) -> Count | None:
        """What fresh battles confirm by the reference that all sides share; None where nothing tells."""
        return self._confirmed_by(self.reference)

    @cached_property
    def own_confirmed(self) -> Count | None:
        """The same by the search's own: the count of its own pages."""
        return self._confirmed_by(self.own_reference)

    def _confirmed_by(self, by: Reference | None) -> Count | None:
        if by is None or not measures.of(self.job).judged:
            return None
        try:
            return confirmed_by(self.job, by.lines, by.baseline)
        except (StoreError, ConfigError):
            return None

    @property
    def found(self) -> int:
        """How many lineups the search found by its own line and its own median baseline team: the count of its own
        pages."""
        return found_by(self.job).by_search if measures.of(self.job).judged else 0

    @property
    def work(self) -> list[float]:
        """What it did, in each column of ``Comparing.work``."""
        return [self.job.counters.get(counter, 0) for _, counter in measures.of(self.job).work]

    @property
    def line(self) -> str:
        """Its own line, in words."""
        return line_words(self.job, self.own_reference.lines) if self.own_reference else "lost"

    @property
    def strong(self) -> str:
        """What its median baseline team has, which a strong lineup has more than, in words."""
        return strong_words(self.job, self.own_reference) if self.own_reference else "lost"

    @property
    def moved(self) -> str:
        """By how much that differs from the first search's, in words."""
        own, by = self.own_reference, self.reference
        return moved_words(self.job, own, by) if own and by else ""

    @cached_property
    def own(self) -> Best | None:
        """The best by the search's own estimates, which chose it; None where the edge was lost."""
        return _kept(lambda: best.best_of(self.job, self.digest))

    @cached_property
    def again(self) -> Best | None:
        """The same one on fresh seeds; None where it was not measured there."""
        return _kept(lambda: self.own and best.again(front.artifact(self.job, "fresh", None), self.own))

    def at(self, digest: str) -> tuple[float, float | None] | None:
        """The measure of a round's edge with half of its 95 % range; None where the edge was lost."""
        return measures.volume_at(self.job, digest, self.box) if self.box else best.best_at(self.job, digest)


def why_apart(job: Job, first: Job) -> str:
    """What one search asks that another does not, so that both cannot be measured alike; nothing where they can."""
    mine = measures.of(job)
    if job.kind != first.kind:
        return f"it searches {mine.searched}, not {measures.of(first).searched}"
    if mine.game(job) != mine.game(first):
        return mine.other_game
    return mine.other_aims if measures.question(job) != measures.question(first) else ""


class Comparison:
    """``jobs`` in the order they were asked for. ``obstacle``: why they cannot be measured alike, or nothing.
    ``others``: jobs of the project that were asked for too, of kinds that are not compared."""

    def __init__(self, project: Project, asked: Sequence[int]) -> None:
        rows = {job.pk: job for job in project.jobs.filter(pk__in=asked).select_related("game_version", "project")}
        found = [rows[pk] for pk in dict.fromkeys(asked) if pk in rows]
        self.project = project
        compared = kinds.compared()
        self.jobs = [job for job in found if job.kind in compared][:MOST]
        self.others = [job for job in found if job.kind not in compared]
        self.fresh = bool(self.jobs) and all("fresh" in job.artifacts for job in self.jobs)
        self.obstacle = self._obstacle()

    def _obstacle(self) -> str:
        for job in self.jobs[1:]:
            first = self.jobs[0]
            if why := why_apart(job, first):
                return f"Beside “{first.title}” ({first.pk}), “{job.title}” ({job.pk}) does not fit: {why}."
        return ""

    @cached_property
    def single(self) -> bool:
        """Whether one goal is all that counts, so that there is a best and no edge."""
        return bool(self.jobs) and len(front.of_job(self.jobs[0]).objectives) == 1

    @property
    def comparing(self) -> Comparing | None:
        """How searches of this kind are compared; None where none is chosen."""
        return measures.of(self.jobs[0]) if self.jobs else None

    @property
    def compared(self) -> str:
        """What searches that can be compared search: "lineups and those of training settings"."""
        ways = [comparing for kind in kinds.compared() if (comparing := kinds.parts_of(kind).comparing)]
        return " and those of ".join(dict.fromkeys(each.searched for each in ways))

    @property
    def judged(self) -> bool:
        """Whether what they found is judged by a line and by how strong it is."""
        return self.comparing is not None and self.comparing.judged

    @property
    def words(self) -> dict[str, str]:
        """What is compared, as the page calls it."""
        return (self.comparing or LineupsCompared()).words

    @property
    def cautions(self) -> list[str]:
        """What makes a difference besides how the searches looked."""
        better = "better value" if self.single else "larger volume"
        return self.comparing.cautions(self.jobs, better) if self.comparing is not None else []

    @property
    def measurable(self) -> bool:
        return len(self.jobs) > 1 and not self.obstacle

    @cached_property
    def box(self) -> Box | None:
        return measures.box_of(self.jobs[0]) if self.jobs and not self.single else None

    @cached_property
    def sides(self) -> list[Side]:
        """The searches that have an edge; empty where they cannot be measured alike."""
        if not self.measurable or not (self.single or self.box):
            return []
        edges = [self._edge(job) for job in self.jobs]
        own = [_kept(partial(reference_of, job, digest)) for job, digest in zip(self.jobs, edges, strict=True)]
        first = next((each for each in own if each is not None), None)
        return [
            Side(place, job, digest, self.box, reference, first)
            for place, (job, digest, reference) in enumerate(zip(self.jobs, edges, own, strict=True), 1)
            if digest
        ]

    @property
    def lined(self) -> bool:
        """Whether there is a line that lineups can be over."""
        by = self.judged_by
        return by is not None and any(line is not None for line in by.lines)

    @property
    def judged_by(self) -> Reference | None:
        """What the lineups of all sides are judged by; None for players, who have no line."""
        return next((side.reference for side in self.sides), None) if self.judged and not self.single else None

    @property
    def judged_alike(self) -> bool:
        """Whether all searches had that line and that median baseline team anyway."""
        return not any(side.judged_otherwise for side in self.sides)

    def _edge(self, job: Job) -> str:
        """The edge that is compared; with one goal the search's own, which chose the best."""
        last = front.artifact(job, "fresh" if self.fresh and not self.single else "front", None)
        return last or front.artifact(job, "front", job.tick)

    @cached_property
    def standings(self) -> list[tuple[Side, str]]:
        """Of searches with one goal each with where it stands on fresh seeds."""
        if not self.single or not self.sides:
            return []
        sign = measures.signs(self.jobs[0])[0]
        return list(zip(self.sides, best.standing([side.again for side in self.sides], sign), strict=True))

    @property
    def verdict(self) -> str:
        """Which of searches with one goal are clearly better."""
        told = best.verdict([str(side.job.pk) for side, _ in self.standings], [stand for _, stand in self.standings])
        return told or f"Which is better can be said once two of them are measured on fresh {self.words['played']}."

    @cached_property
    def differences(self) -> list[Difference]:
        return differences(self.jobs)

    @property
    def same(self) -> str:
        """ "21 settings are the same in all." """
        return f"{plural(same(self.jobs), 'setting')} are the same in all."

    @property
    def battles(self) -> str:
        """Which battles the edges are told by."""
        played = self.words["played"]
        if self.fresh:
            return f"Measured on fresh {played}, which no search saw."
        return f"Measured on each search’s own {played}: part of what looks best may be luck."

    def chart_data(self) -> dict[str, Any]:
        """What the page's charts start from."""
        if not self.sides:
            return {}
        x, y = front.axes(front.of_job(self.sides[0].job).objectives)
        lines = {front.axes(front.of_job(side.job).objectives)[1].line for side in self.sides}
        up = y._replace(line=lines.pop() if len(lines) == 1 else None)._asdict()
        alike = len({side.method for side in self.sides}) == 1  # then it tells none of them from another
        found = {"course": up} if self.single else {"x": x._replace(line=None)._asdict(), "y": up, "course": VOLUME}
        return {
            **found,
            "many": self.words["many"],
            "jobs": [
                {
                    "place": side.place,
                    "name": f"{side.job.pk}: {side.job.title if alike else side.method}",
                    "front": self._picture(side),
                    "rounds": measures.rounds_of(side.job, side.at),
                }
                for side in self.sides
            ],
        }

    def _picture(self, side: Side) -> str:
        link = reverse("studies:front", args=[self.project.slug, side.job.pk])
        query = "of=fresh" if self.fresh else f"tick={side.job.tick}" if not side.job.artifacts.get("front") else ""
        return f"{link}?{query}" if query else link
