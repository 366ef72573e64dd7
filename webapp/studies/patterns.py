"""Patterns that somebody named: what people mean to be so, and what explains the unfair lineups of a search.

The app that knows them puts its ``Source`` here when the site starts (``AppConfig.ready``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.config.patterns import Pattern
from engine.lineups.patterns import Patterns
from engine.simulators.contract import GameSpec
from webapp.games.models import GameVersion
from webapp.lib.words import lower_first, number
from webapp.projects.models import Project
from webapp.studies.models import Job

MEANT = "Meant to be so"


def also(meant: int, of_them: str = "") -> str:
    """ ", 85 meant to be so", after what was counted; " of them" where that holds these. Empty where none is."""
    return f", {number(meant)}{of_them} {lower_first(MEANT)}" if meant else ""


class Named(NamedTuple):
    """A pattern and what people call it."""

    pattern: Pattern
    name: str


class Source(Protocol):
    """Who knows patterns. ``related``: what it looks up of a job, by relations that are read for many jobs at once."""

    related: ClassVar[tuple[str, ...]]

    def intended(
        self, project: Project, version: GameVersion, patch: Mapping[str, float] | None
    ) -> tuple[Pattern, ...]:  # fmt: skip
        """What people of a project mean to be so, in a version of its game; ``patch``: where it is played with other
        numbers than its own."""
        ...

    def explaining(self, search: Job) -> list[Named]:
        """What explains unfair lineups of a search by now, what explains most of it first."""
        ...

    def decided(self, job: Job) -> tuple[Pattern, ...]:
        """What people have decided since to be meant so, on a search or on the search that a job came with."""
        ...

    def state(self, search: Job) -> str:
        """Changes whenever ``explaining`` or ``decided`` does."""
        ...


SOURCES: list[Source] = []


def register(source: Source) -> None:
    """Ask it from now on."""
    SOURCES.append(source)


def pinned(config: Any, project: Project, version: GameVersion | None) -> Any:
    """A study that asks for it with what is meant to be so, of a build in the numbers of that; as it is where it says
    that itself, and any other study. What a job rests on never changes, so its result can be had again."""
    if not config.asks_what_is_meant or config.intended or version is None:
        return config
    patch = config.game.patch if config.of_a_build else None
    meant = config.meant([each for source in SOURCES for each in source.intended(project, version, patch)])
    return config.model_copy(update={"intended": meant}) if meant else config


def intended(job: Job) -> list[Pattern]:
    """What a job took for meant to be so when it was started: it was played by that."""
    return [Pattern.model_validate(each) for each in job.config.get("intended", ())]


def meant_by_now(job: Job) -> list[Pattern]:
    """What is meant to be so when what a job found is told: what it took for that, and what was decided on it since."""
    found = [*intended(job), *(pattern for source in SOURCES for pattern in source.decided(job))]
    return list({pattern.key: pattern for pattern in found}.values())


def explaining(search: Job) -> list[Named]:
    """What explains unfair lineups of a search by now."""
    return [named for source in SOURCES for named in source.explaining(search)]


def state(search: Job) -> list[str]:
    """Changes whenever ``explaining`` or ``meant_by_now`` does."""
    return [source.state(search) for source in SOURCES]


def meant(job: Job, spec: GameSpec, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """bool[n]: which lineups of an artifact are as they are because of something that is meant to be so."""
    patterns = meant_by_now(job)
    if not patterns or "anchor" not in columns or not len(columns["genome"]):
        return np.zeros(len(columns["objective"]), np.bool_)
    return np.asarray(Patterns(spec, patterns).explained(columns["genome"], columns["anchor"]).any(axis=1))
