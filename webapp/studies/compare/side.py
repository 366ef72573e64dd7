"""Searches chosen to be seen side by side: whether they can be, and what the page says about each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.urls import reverse

from engine.errors import StoreError
from webapp.lib.words import plural
from webapp.projects.models import Project
from webapp.studies import front
from webapp.studies.compare import measures
from webapp.studies.compare.differences import Difference, differences, method_title, same
from webapp.studies.compare.measures import Box, Verdicts, Volume
from webapp.studies.models import Job

MOST = 8
"""As many as there are shapes and colours."""
COMPARED = (Job.Kind.SEARCH, Job.Kind.EVOLVE)


@dataclass(frozen=True)
class Side:
    """One search: its place (1 to 8) gives shape and colour. ``digest``: the edge that is compared."""

    place: int
    job: Job
    digest: str
    box: Box

    @property
    def method(self) -> str:
        return method_title(self.job)

    @cached_property
    def volume(self) -> Volume | None:
        """None where the edge was lost."""
        try:
            return measures.volume_with_range(self.digest, self.box, measures.signs(self.job))
        except StoreError:
            return None

    @cached_property
    def verdicts(self) -> Verdicts | None:
        try:
            return measures.verdicts_of(self.job, self.digest)
        except StoreError:
            return None


def _baselines(job: Job) -> str:
    """What decides which baseline teams a search met; a draw without a seed of its own takes the search's."""
    found = dict(job.config["lineups"]["baselines"])
    if found["kind"] == "drawn" and found.get("seed") is None:
        found["seed"] = job.config["seed"]
    return json.dumps(found, sort_keys=True)


class Comparison:
    """``jobs`` in the order they were asked for. ``obstacle``: why they cannot be measured alike, or nothing."""

    def __init__(self, project: Project, asked: Sequence[int]) -> None:
        rows = {
            job.pk: job
            for job in project.jobs.filter(kind__in=COMPARED, pk__in=asked).select_related("game_version", "project")
        }
        self.project = project
        self.jobs = [rows[pk] for pk in dict.fromkeys(asked) if pk in rows][:MOST]
        self.fresh = bool(self.jobs) and all("fresh" in job.artifacts for job in self.jobs)
        self.obstacle = self._obstacle()

    def _obstacle(self) -> str:
        for job in self.jobs[1:]:
            first = self.jobs[0]
            one, other = f"“{job.title}” ({job.pk})", f"“{first.title}” ({first.pk})"
            if {job.kind, first.kind} == set(COMPARED):
                lineups, players = (other, one) if job.evolves else (one, other)
                return f"{lineups} searches lineups and {players} training settings."
            if measures.game(job) != measures.game(first):
                return f"{one} was played in another game than {other}{', or with other settings' * job.evolves}."
            if measures.question(job) != measures.question(first):
                return (
                    f"{one} pushes other {self.words['objectives']} than {other}, so their edges lie on other axes and "
                    "no volume measures both."
                )
        if self.breeds and len(self.jobs[0].config["objectives"]) == 1:
            return "With one goal there is no edge to compare; what is best stands on each search’s own page."
        return ""

    @property
    def breeds(self) -> bool:
        """Whether players are compared, not lineups."""
        return bool(self.jobs) and self.jobs[0].evolves

    @property
    def words(self) -> dict[str, str]:
        """What is compared, as the page calls it."""
        lineups = ("Lineups", "lineup", "battles", "objectives")
        names = ("Players", "player", "episodes", "goals") if self.breeds else lineups
        return dict(zip(("many", "one", "played", "objectives"), names, strict=True))

    @property
    def cautions(self) -> list[str]:
        """What makes a difference besides how the searches looked."""
        if self.breeds:
            return self._cautions_of_players()
        found = []
        if len({_baselines(job) for job in self.jobs}) > 1:
            found.append(
                "Each met baseline teams of its own, and strength is told by those: a larger volume may only mean "
                "weaker baselines. Compare searches with the same seed, the same seed of the draw, or baselines of "
                "your own."
            )
        if len({job.game_version_id for job in self.jobs}) > 1:
            found.append("They were played on different game data.")
        rules = [{**job.config["lineups"], "baselines": None} for job in self.jobs]
        if any(each != rules[0] for each in rules):
            found.append("They follow different lineup rules.")
        return found

    def _cautions_of_players(self) -> list[str]:
        """A player that has learned longer is better whatever chose its settings."""
        moves = {(str(job.config["task"]["steps"]), job.config["networks"] != "fresh") for job in self.jobs}
        kinds = {job.config["task"]["learner"]["kind"] for job in self.jobs}
        found = ["Their players learn from different numbers of moves, or begin differently."] * (len(moves) > 1)
        return found + ["Their players learn in different ways."] * (len(kinds) > 1)

    @property
    def measurable(self) -> bool:
        return len(self.jobs) > 1 and not self.obstacle

    @cached_property
    def box(self) -> Box | None:
        return measures.box_of(self.jobs[0]) if self.jobs else None

    @cached_property
    def sides(self) -> list[Side]:
        """The searches that have an edge; empty where they cannot be measured alike."""
        if not self.measurable or self.box is None:
            return []
        found = []
        for place, job in enumerate(self.jobs, 1):
            digest = front.artifact(job, "fresh" if self.fresh else "front", None) or front.artifact(
                job, "front", job.tick
            )
            if digest:
                found.append(Side(place, job, digest, self.box))
        return found

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
        line = lines.pop() if len(lines) == 1 else None
        return {
            "x": x._replace(line=None)._asdict(),
            "y": y._replace(line=line)._asdict(),
            "many": self.words["many"],
            "jobs": [
                {
                    "place": side.place,
                    "name": f"{side.job.pk}: {side.method}",
                    "front": self._picture(side),
                    "rounds": measures.rounds_of(side.job, side.box),
                }
                for side in self.sides
            ],
        }

    def _picture(self, side: Side) -> str:
        link = reverse("studies:front", args=[self.project.slug, side.job.pk])
        query = "of=fresh" if self.fresh else f"tick={side.job.tick}" if not side.job.artifacts.get("front") else ""
        return f"{link}?{query}" if query else link
