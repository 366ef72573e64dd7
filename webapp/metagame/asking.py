"""Which teams play each other: the form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from django import forms

from engine.catalog import STUDIES
from engine.config.metagame import MetagameConfig
from engine.errors import ConfigError, StoreError
from engine.lineups.schema import team_row
from webapp.games.fields import NumberField
from webapp.lib.words import plural
from webapp.metagame.teams import MOST, shortlisted, teams_of
from webapp.studies.models import Job
from webapp.studies.pinned_intake import PinnedIntake
from webapp.studies.pins import Pins
from webapp.studies.study_form import StudyForm

BATTLES = 200
LATEST = 30
"""Searches that are offered."""


class MetagameIntake(PinnedIntake):
    """How the site starts round robins: with game data of the project."""

    beside: ClassVar[frozenset[str]] = frozenset({"game_version"})

    def unfit(self, study: MetagameConfig, pins: Pins) -> Iterator[tuple[str, str]]:
        """What is wrong with its teams."""
        for i, team in enumerate(study.teams):
            try:
                team_row(pins.spec, team, f"teams.{i}.slots.")
            except ConfigError as error:
                yield from error.problems


class MetagameForm(StudyForm):
    """Whose teams meet, and how often."""

    folded: ClassVar[tuple[str, ...]] = "title", "seed"
    tells: ClassVar[bool] = True
    search = forms.ChoiceField(
        label="Teams of which shortlist",
        help_text="Every team of the shortlisted lineups plays every other one, and the search’s baseline teams: "
        f"{MOST} teams at most.",
        error_messages={"required": "Choose a search with a shortlist."},
    )
    battles: Any = NumberField(
        label="Battles of each pair", whole=True, low=2, high=100_000, required=False, usual=BATTLES,
        help_text="Half of them from either seat. More make the ranges narrower.",
    )  # fmt: skip
    seed: Any = NumberField(
        label="Seed", whole=True, low=0, required=False, usual=1, help_text="The same seed, the same table."
    )

    def prepare(self) -> None:
        searches = self.project.jobs.filter(kind="search", shortlist__isnull=False).distinct().order_by("-pk")[:LATEST]
        self.searches = {str(job.pk): job for job in searches if shortlisted(job)}
        choices = [(key, f"{job.title} (job {key}): {_many(job)}") for key, job in self.searches.items()]
        self.offer("search", choices)
        if not choices:
            said = "No search has a shortlist yet. Open what a search found, and put lineups on its list."
            self.fields["search"].help_text = said

    def clean_search(self) -> Job:
        """The search, and its teams in ``teams``."""
        job = self.searches[self.cleaned_data["search"]]
        try:
            self.teams = teams_of(job)
        except StoreError as error:
            raise forms.ValidationError(str(error)) from error
        if len(self.teams) < 2:
            raise forms.ValidationError("Two teams are needed: put another lineup on the shortlist.")
        return job

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        typed, job = self.cleaned_data, self.cleaned_data["search"]
        name = typed["title"] or f"{STUDIES['metagame'].label}: {job.title}"[:120]
        told = {"name": name, **{key: typed[key] for key in ("battles", "seed")}}
        game = {"simulator": job.game_version.simulator.called, "patch": job.game_version.patch}
        return {**{key: value for key, value in told.items() if value not in (None, "")}, "game": game,
                "teams": self.teams}  # fmt: skip

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Also the search whose teams they were, if one on offer has the same ones now."""
        offered = cls(None, project=job.project, kind=job.kind).searches
        same = (key for key, search in offered.items() if _gives(search, job))
        return {**super().typed_of(job), "search": next(same, "")}

    @classmethod
    def left_out(cls, job: Job) -> bool:
        """Whether no search on offer has its teams now."""
        return not cls.typed_of(job)["search"]


def _gives(search: Job, job: Job) -> bool:
    """Whether the teams of a search are those of a round robin, in the same game data."""
    try:
        return search.game_version_id == job.game_version_id and teams_of(search) == job.config["teams"]
    except StoreError:
        return False


def _many(job: Job) -> str:
    return plural(len(shortlisted(job)), "lineup")
