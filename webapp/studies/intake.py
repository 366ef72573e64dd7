"""From a body of the API to a study: what it leaves out is filled in, and the engine's own models and the site's checks
say what is wrong with it, each at its place in the body."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.conf import settings

from engine.catalog import STUDIES
from engine.config import Study, parse
from engine.config.base import M
from engine.config.overrides import placed
from engine.errors import ConfigError
from engine.studies import elsewhere, reading
from webapp.accounts.models import User
from webapp.projects.models import Project
from webapp.studies import checks
from webapp.studies.models import Job

Table = Mapping[str, Any]
Refers = dict[str, Any]
Wrong = list[tuple[str, str]]


@dataclass(frozen=True)
class Body:
    """A study that somebody asks for: its settings, ``changes`` that replace single ones (place to value), and what the
    body says ``beside`` the settings, by name."""

    kind: str
    project: Project
    user: User
    config: Table
    changes: Table
    beside: Table

    def table(self, config: Table) -> dict[str, Any]:
        """Settings with the changes in their places. Raises ConfigError."""
        try:
            return placed(config, self.changes.items())
        except ConfigError as error:
            raise ConfigError((f"set.{p.place}", p.message) for p in error.problems) from error

    def loaded(self, data: dict[str, Any], workers: int = 0) -> tuple[Study | None, Wrong]:
        """The study of a table, and what is wrong with it (``engine.studies.reading``). ``workers``: as many where the
        table says nothing; 0: as the engine does. Raises ConfigError for a study of another kind."""
        if data.setdefault("kind", self.kind) != self.kind:
            self.refuse([("kind", f"the job is to be of kind {self.kind}")])
        pool = data.setdefault("pool", {}) if workers else None
        if isinstance(pool, dict):
            pool.setdefault("workers", workers)
        study, wrong = reading(data, new=True)
        if study is None:
            return None, wrong
        away = getattr(getattr(study, "pool", None), "address", "")
        more: Wrong = [("pool.address", "jobs of this site run on its own Ray: leave it out")] if away else []
        return study, [*wrong, *elsewhere(wrong, [*more, *checks.crowded(study)])]

    def refuse(self, found: Iterable[tuple[str, str]]) -> None:
        """Raise ConfigError for whatever was found, at its place in the body."""
        wrong = [(self._where(place), why) for place, why in found]
        if wrong:
            raise ConfigError(wrong)

    def _where(self, place: str) -> str:
        """A place of the study as a place of the body."""
        return f"{'set' if changed(place, self.changes) else 'config'}.{place}".rstrip(".")


def changed(place: str, changes: Table) -> bool:
    """Whether ``changes`` say what is at a place of the study."""
    return any(place == path or place.startswith(f"{path}.") for path in changes)


def part(model: type[M], data: Any) -> M | None:
    """A part of a study; None where the models have said what is wrong with it."""
    try:
        return parse(model, data)
    except ConfigError:
        return None


class Intake:
    """How the API starts studies of a kind. This one serves a kind that brings none of its own: its settings are all
    there is. ``beside``: what else a body may say."""

    beside: ClassVar[frozenset[str]] = frozenset()

    def first(self, body: Body) -> tuple[Study, Refers]:
        """The study that a body asks for, and the rows that its job points at. Raises ConfigError with all that is
        wrong."""
        return self.study(body)

    def again(self, body: Body, job: Job) -> tuple[Study, Refers]:
        """The same with the settings of another job."""
        return self.study(body)

    def study(self, body: Body) -> tuple[Study, Refers]:
        """The study itself. A game may be a program, so a kind whose settings name one has to look at it first."""
        played = {"game", "task"} & STUDIES[body.kind].config.model_fields.keys()
        if type(self) is Intake and played:
            body.refuse([(min(played), "nobody here looks at what it names, so jobs of this kind do not start here")])
        workers = settings.CPUS if "pool" in STUDIES[body.kind].config.model_fields else 0
        study, wrong = body.loaded(body.table(body.config), workers)
        body.refuse(wrong)
        assert study is not None
        return study, {}
