"""The patterns that suspects are: what people mean to be so, and what explains the unfair lineups of a search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from engine.config.patterns import Pattern
from webapp.games.models import GameVersion
from webapp.projects.models import Project
from webapp.studies import companion
from webapp.studies.models import Job
from webapp.studies.patterns import Named
from webapp.suspects import decisions, intended
from webapp.suspects.reading import fits, read


class Known:
    """As ``webapp.studies.patterns.Source``."""

    related: ClassVar[tuple[str, ...]] = ("decisions", "accompanies__decisions")

    def intended(
        self, project: Project, version: GameVersion, patch: Mapping[str, float] | None
    ) -> tuple[Pattern, ...]:  # fmt: skip
        """By the decisions about suspects."""
        return intended.standing(project, version, patch)

    def explaining(self, search: Job) -> list[Named]:
        """The suspects of its experiment."""
        experiment = companion.of(search)
        over = experiment is not None and "table" in experiment.artifacts
        named = read(experiment).named if experiment is not None and over else []
        return [Named(each.pattern, each.line.name) for each in named if fits(search, each.pattern)]

    def decided(self, job: Job) -> tuple[Pattern, ...]:
        """By the decisions on a search; for its experiment and its tests, the same."""
        search = job.accompanies or job
        return tuple(intended.pattern_of(each) for each in decisions.meant(search)) if search.kind == "search" else ()

    def state(self, search: Job) -> str:
        """The experiment's table, which is there once it has ended, and what is decided to be meant so."""
        experiment = companion.of(search)
        table = "" if experiment is None else str(experiment.artifacts.get("table", ""))
        return " ".join([table, *(pattern.key for pattern in self.decided(search))])
