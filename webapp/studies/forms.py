"""The New job page as a form: whatever was typed, either one search or what is wrong at which field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django import forms
from django.conf import settings

from engine.config import GameConfig, LineupConfig, PoolConfig, SampleConfig, SearchConfig, parse
from engine.config.algorithms import MAPElitesConfig
from engine.config.commander import CommanderConfig
from engine.config.study import FEWEST_MEASURING
from engine.config.worth import WorthConfig
from engine.errors import ConfigError
from engine.lineups.companion import beside, share
from engine.lineups.rules import feasibility
from engine.lineups.schema import battles_of_lineup, unbounded
from engine.simulators.contract import GameSpec
from webapp.balance.feasible import counted
from webapp.balance.forms import sentence
from webapp.balance.models import LineupRules
from webapp.balance.saving import ensure_defaults
from webapp.games.fields import NumberField
from webapp.games.models import GameVersion
from webapp.games.simulators import plays_inside
from webapp.games.specs import patched_spec
from webapp.lib.digits import whole
from webapp.lib.words import number
from webapp.projects.models import Project
from webapp.studies import checks, commanders, companion
from webapp.studies.line_form import LineForm
from webapp.studies.method_form import fields_of
from webapp.studies.methods import LINEUPS
from webapp.studies.plans import EFFORTS, FRESH, OWN, PLAN, Edge, Plan, edge_of, plan

SAMPLE_SIZE = 200


class NewJobForm(LineForm, fields_of(LINEUPS)):  # type: ignore[misc]  # its fields are made from the engine's models
    """``search(pace)`` and ``sample()`` build configurations once the form is valid."""

    menu, usual_population = LINEUPS, 200
    version = forms.ModelChoiceField(GameVersion.objects.none(), label="Game data", empty_label=None)
    commander = forms.ChoiceField(
        label="Who leads both sides", required=False, error_messages={"invalid_choice": commanders.GONE}
    )
    rules = forms.ModelChoiceField(LineupRules.objects.none(), label="Lineup rules", empty_label=None)
    effort = forms.ChoiceField(
        choices=[*((e.key, e.title) for e in EFFORTS.values()), (OWN, "Your own numbers")], initial="usual"
    )

    population = NumberField(label="Lineups in a round", required=False, whole=True, low=4, high=10_000)
    rounds = NumberField(label="Rounds", required=False, whole=True, low=1, high=1_000_000)
    replicates = NumberField(
        label="Replicates", required=False, whole=True, low=2, high=1024,
        help_text="Times each pairing is played, from both seats.",
    )  # fmt: skip
    fresh = NumberField(
        label="Fresh replicates at the end", required=False, whole=True, low=0, high=4096,
        help_text="The final edge is played again this often on battles the search never saw.",
    )  # fmt: skip
    seed = NumberField(
        label="Seed",
        required=False,
        whole=True,
        low=0,
        high=2**53,
        help_text="Same seed, same result, where there are rounds.",
    )
    workers = NumberField(label="Workers", required=False, whole=True, low=1, high=256)
    experiment = forms.ChoiceField(
        choices=[("", "As the question has it"), ("yes", "Yes"), ("no", "No")], required=False
    )
    experiment_battles = NumberField(
        label="Battles to measure the pieces by", required=False, whole=True, low=FEWEST_MEASURING, high=100_000_000,
        help_text="Played after the search, which they change nothing of.",
    )  # fmt: skip

    def __init__(self, data: Mapping[str, Any] | None, *, project: Project, user: Any) -> None:
        super().__init__(data, project=project)
        ensure_defaults(project, user)
        self._offer("version", project.versions.all(), data)
        self._offer("rules", project.lineup_rules.all(), data)
        self._offer("objectives", project.objective_sets.all(), data)
        self.led = {each.key: each for each in commanders.offered(project)}
        offered: Any = self.fields["commander"]
        offered.choices = [("", commanders.SCRIPT), *((each.key, each.name) for each in self.led.values())]
        self.spec: GameSpec | None = None
        self.there_are: int | None = None

    def _offer(self, name: str, rows: Any, data: Mapping[str, Any] | None) -> None:
        """The current rows to choose from, and an older one where that was chosen before it was replaced."""
        field: Any = self.fields[name]
        field.queryset = rows
        chosen = str((data or {}).get(name, ""))
        shown = rows if name == "version" else rows.filter(replaced_by=None)
        old = rows.filter(pk=whole(chosen) or 0)
        field.choices = [(row.pk, str(row)) for row in dict.fromkeys([*shown, *old])]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not {"question", "version", "rules", "objectives"} <= cleaned.keys():
            return cleaned
        try:
            self.spec = patched_spec(cleaned["version"])
        except ConfigError as error:
            self.add_error("version", sentence(error.problems[0].message))
            return cleaned
        if cleaned.get("commander") and not commanders.can_be_led(cleaned["version"].simulator.reference):
            self.add_error("commander", commanders.OTHER_GAME)
        self.lineups = self.asked.lineups(LineupConfig.model_validate(cleaned["rules"].config))
        for _, reason in feasibility(self.spec, self.lineups):
            self.add_error("rules", sentence(reason))
        self._count_lineups(cleaned)
        self.check_objectives(cleaned, self.spec)
        if self.measured is not None:
            names = [o.name for o in self.measured.objectives]
            why = unbounded(self.spec, self.measured, self.lineups.teams)
            self.check_method(names, len(names) - 1, why and f"{sentence(why)} Choose another way to race, or none.")
            self._check_whole()
        return cleaned

    def clean_workers(self) -> int | None:
        """No more than would ever begin to work."""
        count: int | None = self.cleaned_data["workers"]
        if count and count > (most := checks.most_workers()):
            raise forms.ValidationError(f"This site has processors for {most} workers. Type {most} or fewer.")
        return count

    def _count_lineups(self, cleaned: dict[str, Any]) -> None:
        """Find out how many lineups there are, where they can be counted; no round is larger."""
        if "rules" in self.errors:
            return
        assert self.spec is not None
        self.there_are = counted(self.spec, self.lineups)
        if self.there_are == 0:
            self.add_error("rules", "Each rule can be met, but not all of them together: no lineup is left.")
        elif self.there_are and (cleaned.get("population") or 0) > (most := max(4, self.there_are)):
            told = f"The rules leave {number(self.there_are)} lineups. Type {number(most)} or fewer."
            self.add_error("population", told)

    def _check_whole(self) -> None:
        """Report settings of the search that conflict, once each field is valid."""
        if not self.errors:
            try:
                self.search(None)
            except ConfigError as error:
                self.refuse(error)

    def refuse(self, error: ConfigError) -> None:
        """Put what the engine has against the search at its fields."""
        for place, message in error.problems:
            self.add_error(self.field_of(place), self.menu.worded(sentence(message)))

    @property
    def own_numbers(self) -> bool:
        """Whether a number was typed that the efforts would choose."""
        return any(self.cleaned_data.get(name) for name in PLAN)

    def plan(self, pace: float | None) -> Plan:
        """The plan of the chosen effort, with what was typed for specialists in its place."""
        effort = EFFORTS.get(self.cleaned_data["effort"], EFFORTS["usual"])
        found = plan(effort, self.lineups, pace, self.there_are, self.edge)
        usual = {**found.numbers, "population": found.population + found.population % self._step}
        return replace(found, **{name: self.cleaned_data.get(name) or value for name, value in usual.items()})

    @property
    def edge(self) -> Edge:
        """How many lineups the final edge has, as a rule, and the cells of a map."""
        bins = self.method_settings.bins if isinstance(self.method_settings, MAPElitesConfig) else 0
        return edge_of(self.asked.key, len(self.measured.objectives) if self.measured else 0, bins)

    @property
    def _step(self) -> int:
        """What the lineups of a round are a multiple of, for the chosen method."""
        asked = self.method.model.model_fields["population"].metadata
        return next((int(each.multiple_of) for each in asked if hasattr(each, "multiple_of")), 1)

    @property
    def worker_count(self) -> int:
        """How many workers play the battles."""
        return int(self.cleaned_data.get("workers") or settings.CPUS)

    @property
    def leader(self) -> CommanderConfig | None:
        """The agent that leads both sides, where it is not the script."""
        found = self.led.get(self.cleaned_data.get("commander") or "")
        return found.config if found else None

    def _shared(self) -> dict[str, Any]:
        version: GameVersion = self.cleaned_data["version"]
        assert self.measured is not None
        seed = self.cleaned_data.get("seed")
        return {
            "name": self.asked.title,
            "seed": 1 if seed is None else seed,
            "game": GameConfig(
                simulator=version.simulator.reference,
                patch=version.patch,
                spec=version.spec_hash,
                commander=self.leader,
            ),
            "lineups": self.lineups,
        }

    @property
    def fresh_replicates(self) -> int:
        """Fresh replicates of the final edge."""
        typed: int | None = self.cleaned_data.get("fresh")
        return FRESH if typed is None else typed

    def search(self, pace: float | None) -> SearchConfig:
        """The search that Start begins. Raises ConfigError for settings that conflict."""
        chosen = self.plan(pace)
        assert self.measured is not None
        found = {
            **self._shared(),
            "objectives": self.measured,
            "algorithm": self.algorithm_for(chosen.population),
            "noise": self.noise,
            "stop": self.stop,
            "ticks": chosen.rounds,
            "replicates": chosen.replicates,
            "fresh": self.fresh_replicates,
            "pool": PoolConfig(kind="ray", workers=self.worker_count),
        }
        return parse(SearchConfig, found)

    def experiment_obstacle(self) -> str:
        """Why no experiment can come with this search; empty where one can."""
        if self.leader is not None:
            return commanders.NO_EXPERIMENT
        return companion.obstacle(self.lineups, self.spec) if self.spec is not None else ""

    @property
    def ticked(self) -> bool:
        """Whether "Also measure what each piece is worth" is ticked."""
        typed = self.cleaned_data.get("experiment")
        return typed != "no"

    def experiment_share(self, chosen: Plan) -> int:
        """Battles of the experiment that comes with a search of this plan; 0: none does."""
        if not self.ticked or self.experiment_obstacle():
            return 0
        typed: int | None = self.cleaned_data.get("experiment_battles")
        return typed or share(chosen.lineups * battles_of_lineup(self.lineups, chosen.replicates))

    def experiment_beside(self, search: SearchConfig, pace: float | None) -> WorthConfig | None:
        """The experiment that comes with the search that Start begins, if one does."""
        battles = self.experiment_share(self.plan(pace))
        return beside(search, battles) if battles else None

    def sample(self) -> SampleConfig:
        """The random lineups that show where the line falls; the line itself does not change what is played."""
        assert self.offered is not None
        without = [o.model_copy(update={"threshold": None}) for o in self.offered.objectives]
        return SampleConfig(
            **self._shared(),
            objectives=self.offered.model_copy(update={"objectives": tuple(without)}),
            count=min(SAMPLE_SIZE, self.there_are or SAMPLE_SIZE),
            # A slow game's search plays as often.
            replicates=2 if self.slow else SampleConfig.model_fields["replicates"].default,
            pool=PoolConfig(kind="local", workers=1),
        )

    @property
    def slow(self) -> bool:
        """Whether battles are slow, as a rule: the game runs beside the engine, or an agent thinks in them."""
        version: GameVersion = self.cleaned_data["version"]
        return self.leader is not None or not plays_inside(version.simulator)

    def refers(self) -> dict[str, Any]:
        """The rows that a job made from this form points at."""
        typed = self.cleaned_data
        own = typed["question"] == "own"
        return {
            "template": typed["question"],
            "game_version": typed["version"],
            "lineup_rules": typed["rules"],
            "objective_set": typed["objectives"] if own else None,
        }
