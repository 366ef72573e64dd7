"""What an experiment measures: the project's game data under its lineup rules. The form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from django import forms

from engine.config.worth import WorthConfig
from webapp.games.fields import NumberField
from webapp.games.versions import current
from webapp.lib import words
from webapp.projects.models import Project
from webapp.studies import checks
from webapp.studies.models import Job
from webapp.studies.pinned_intake import PinnedIntake
from webapp.studies.pins import Pins
from webapp.studies.study_form import StudyForm

BATTLES, MATTERS = 400_000, 3
BUILT_IN = "builtin:herobattle"


class WorthIntake(PinnedIntake):
    """How the site starts experiments."""

    def unfit(self, study: WorthConfig, pins: Pins) -> Iterator[tuple[str, str]]:
        """What is wrong with its rules."""
        return checks.lineups(study.pairings, pins.spec)


class WorthForm(StudyForm):
    """How long, and from where on an effect matters."""

    folded: ClassVar[tuple[str, ...]] = "title", "singles", "seed"
    battles: Any = NumberField(
        label="Battles", whole=True, low=2_000, high=100_000_000, required=False, usual=BATTLES,
        help_text="More find smaller effects and rarer pairs.",
    )  # fmt: skip
    matters: Any = NumberField(
        label="Smallest effect that matters (points)", low=0.5, high=40, required=False, usual=MATTERS,
        help_text="Points of the chance to win: with 3, 53 % instead of 50 % is worth a change.",
    )  # fmt: skip
    singles = forms.BooleanField(
        label="Single pieces only", required=False,
        help_text="Pairs are not tested then, and each piece gets more of the battles. For games that play slowly.",
    )  # fmt: skip
    seed: Any = NumberField(
        label="Seed", whole=True, low=0, required=False, usual=1, help_text="The same seed, the same table."
    )

    def prepare(self) -> None:
        self.takes = pace(self.project, BATTLES)

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Also whether it looked at single pieces only."""
        return {**super().typed_of(job), "singles": not job.config.get("pairs", True)}

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        typed = self.cleaned_data
        values = {"name": typed["title"], **{name: typed[name] for name in ("battles", "matters", "seed")}}
        kept = {key: value for key, value in values.items() if value not in (None, "")}
        return {**kept, "pairs": False} if typed["singles"] else kept


def pace(project: Project, battles: int) -> str:
    """In which data it plays, and how long so many battles take here: by earlier ones of the kind or of experiments,
    else by whatever was played last."""
    version = current(project)
    return f"Played on {version}. {_pace(project, battles)}" if version is not None else _pace(project, battles)


def _pace(project: Project, battles: int) -> str:
    over = project.jobs.filter(status="finished", counters__battles__gt=0, counters__seconds__gt=0).order_by("-pk")
    earlier = list(over.filter(kind__in=("patch", "worth"))[:5]) or list(over[:1])
    rates = [job.counters["battles"] / job.counters["seconds"] for job in earlier]
    if not rates:
        return _unplayed(project, battles)
    low, high = battles / max(rates), battles / min(rates)
    ends = list(dict.fromkeys((words.about(low), words.about(high))))
    return f"{battles:,} battles take about {' to '.join(ends)}, by what was played here."


def _unplayed(project: Project, battles: int) -> str:
    version = current(project)
    if version is not None and not version.simulator.reference.startswith(BUILT_IN):
        return f"How long {battles:,} battles take is not known: nothing was played here yet."
    return f"On the built-in game {battles:,} battles take one to four minutes."
