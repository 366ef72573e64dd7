"""What is planted, how often, and of which experiment the sensitivity is: the form, and what the API takes."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.db.models import Q

from engine.config.sensitivity import SensitivityConfig
from webapp.games.fields import NumberField
from webapp.games.numbers import field_text
from webapp.games.versions import current
from webapp.lib.words import number
from webapp.projects.models import Project
from webapp.sensitivity import cost
from webapp.sensitivity.figures import Screen
from webapp.studies import checks
from webapp.studies.models import Job, Status
from webapp.studies.pinned_intake import PinnedIntake
from webapp.studies.pins import Pins
from webapp.studies.study_form import StudyForm

BATTLES, MATTERS, PLANTINGS = 400_000, 3, 100
SIZES = "5, 8"
LATEST = 30
"""Experiments that are offered."""
KINDS = [("piece", "Pieces"), ("pair", "Pairs"), ("triple", "Triples")]
THROUGH = [("numbers", "In the game’s numbers, where they reach so far"), ("outcomes", "In the outcomes of battles")]
SIDES = [("either", "Too strong and too weak by turns"), ("strong", "Too strong"), ("weak", "Too weak")]


class SensitivityIntake(PinnedIntake):
    """How the site starts sensitivities: with game data of the project."""

    def unfit(self, study: SensitivityConfig, pins: Pins) -> list[tuple[str, str]]:
        """Where its rules do not fit the game."""
        return [*checks.lineups(study.pairings, pins.spec)]


class SensitivityForm(StudyForm):
    """What is planted and how often. It says what that costs, and starts once somebody has agreed."""

    folded: ClassVar[tuple[str, ...]] = "battles", "matters", "side", "through", "seed", "title"
    experiment = forms.ChoiceField(
        label="Of which experiment", required=False,
        help_text="Its game data, lineup rules, battles and smallest effect are those of every planting.",
    )  # fmt: skip
    battles: Any = NumberField(
        label="Battles of an experiment", whole=True, low=2_000, high=100_000_000, required=False,
        usual="as the experiment", help_text=f"Where no experiment is chosen, {number(BATTLES)}.",
    )  # fmt: skip
    matters: Any = NumberField(
        label="Smallest effect that matters (points)", low=0.5, high=40, required=False, usual="as the experiment",
        help_text=f"Where no experiment is chosen, {MATTERS}.",
    )  # fmt: skip
    sizes = forms.CharField(
        label="Sizes of the breaks (points)", max_length=100, required=False,
        widget=forms.TextInput(attrs={"placeholder": f"{MATTERS}, {SIZES}"}),
        help_text="Separated by commas; as a rule the first is the smallest effect that matters. A break as small as "
        "the smallest effect is seldom found: nobody can prove that it is larger.",
    )  # fmt: skip
    planted = forms.MultipleChoiceField(
        label="What is planted", choices=KINDS, required=False, initial=["piece"],
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}), help_text="None ticked: pieces.",
    )  # fmt: skip
    side = forms.ChoiceField(label="Too strong or too weak", choices=SIDES, required=False)
    through = forms.ChoiceField(
        label="How pieces are planted", choices=THROUGH, required=False,
        help_text="Pairs and triples are always planted in outcomes: lost battles are turned into won ones.",
    )  # fmt: skip
    plantings: Any = NumberField(
        label="Plantings of each size", whole=True, low=4, high=2_000, required=False, usual=PLANTINGS,
        help_text="Fewer make wider ranges.",
    )  # fmt: skip
    seed: Any = NumberField(
        label="Seed", whole=True, low=0, required=False, usual=1, help_text="The same seed, the same table."
    )
    agreed = forms.BooleanField(
        label="It may take that long", required=False, help_text="What it takes is said here before it starts."
    )

    def prepare(self) -> None:
        self.version = current(self.project)
        self.experiments = {str(job.pk): job for job in _experiments(self.project)}
        experiments = ((key, _called(job)) for key, job in self.experiments.items())
        self.offer("experiment", [("", "None: as typed below"), *experiments])

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Also the experiment that it planted in, if one on offer plays the same data and rules now."""
        config, offered = job.config, cls(None, project=job.project, kind=job.kind).experiments
        same = (key for key, other in offered.items() if _plays_like(other, job))
        lists = {"sizes": ", ".join(field_text(size) for size in config["sizes"]), "planted": config["planted"]}
        return {**super().typed_of(job), **lists, "experiment": next(same, "")}

    @property
    def takes(self) -> str:
        """What it takes if nothing is typed."""
        chosen = self.experiments.get(str(self.initial.get("experiment", "")))
        screen = Screen.of(chosen) if chosen else None
        version = chosen.game_version if chosen else self.version
        battles = screen.battles if screen else BATTLES
        usual = SensitivityConfig.model_validate({"game": {"simulator": "-"}, "battles": battles})
        return f"As usual, that is {cost.words(version, usual)}" if version else ""

    def clean_sizes(self) -> list[float]:
        """Each as a number."""
        parts = [part.strip() for part in self.cleaned_data["sizes"].replace(";", ",").split(",") if part.strip()]
        try:
            return [float(part) for part in parts]
        except ValueError as error:
            raise forms.ValidationError("Give numbers of points, separated by commas: 3, 5, 8.") from error

    def clean(self) -> dict[str, Any]:
        """Whoever has not agreed is told what it takes."""
        typed = super().clean() or self.cleaned_data
        if not self.errors and not typed["agreed"] and (said := self._cost()):
            self.add_error("agreed", f"{said} Tick this box to start it, or ask for fewer plantings.")
        return typed

    def _cost(self) -> str:
        """What it takes as it is typed; empty where something else is wrong with it, which the intake says."""
        chosen = self.experiments.get(self.cleaned_data["experiment"])
        version = chosen.game_version if chosen else self.version
        try:
            config = SensitivityConfig.model_validate({"game": {"simulator": "-"}, **self._numbers()})
        except ValueError:
            return ""
        return cost.words(version, config) if version else ""

    def _numbers(self) -> dict[str, Any]:
        typed = self.cleaned_data
        chosen = self.experiments.get(typed["experiment"])
        screen = Screen.of(chosen) if chosen else None
        battles = typed["battles"] or (screen.battles if screen else BATTLES)
        matters = typed["matters"] or (screen.matters if screen else MATTERS)
        sizes = typed["sizes"] or list(dict.fromkeys((float(matters), *(float(size) for size in SIZES.split(",")))))
        numbers = {"battles": battles, "matters": matters, "sizes": sizes, "planted": typed["planted"]}
        more = {name: typed[name] for name in ("side", "through", "plantings", "seed")}
        return {key: value for key, value in {**numbers, **more}.items() if value not in (None, "", [])}

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        typed = self.cleaned_data
        table = {**self._numbers(), **({"name": typed["title"]} if typed["title"] else {})}
        chosen = self.experiments.get(typed["experiment"])
        if chosen is None or chosen.game_version is None:
            return table
        version, screen = chosen.game_version, Screen.of(chosen)
        assert screen is not None
        game = {"simulator": version.simulator.called, "patch": version.patch, "fidelity": screen.game["fidelity"]}
        return {**table, "game": game, "lineups": screen.lineups, "pairs": screen.pairs}


def _experiments(project: Project) -> list[Job]:
    """Those whose sensitivity can be measured, the newest first: of game data as the project has it."""
    rows = project.jobs.filter(Q(kind="worth") | Q(kind="gate")).exclude(status=Status.FAILED)
    rows = rows.filter(game_version__isnull=False).select_related("game_version__simulator").order_by("-pk")
    return [job for job in rows[:LATEST] if Screen.of(job) and measurable(job)]


def measurable(job: Job) -> bool:
    """Whether a job's experiment plays the numbers of a version of the project."""
    return job.game_version is not None and job.config["game"].get("patch", {}) == job.game_version.patch


def _plays_like(experiment: Job, job: Job) -> bool:
    """Whether an experiment plays the data, rules and pairs of a sensitivity, however many battles either has."""
    own, theirs = Screen.of(job), Screen.of(experiment)
    assert own is not None
    assert theirs is not None
    alike = theirs._replace(battles=own.battles, matters=own.matters)
    return experiment.game_version_id == job.game_version_id and own.same(alike)


def _called(job: Job) -> str:
    screen = Screen.of(job)
    assert screen is not None
    return f"{job.title} (job {job.pk}): {number(screen.battles)} battles, from {number(screen.matters)} points on"
