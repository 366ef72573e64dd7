"""What a gate looks at: the form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django import forms
from django.conf import settings

from engine.config import Study
from engine.config.gate import GateConfig, HuntConfig, ScreenConfig
from engine.errors import ConfigError, shown_faults
from engine.lineups.schema import battles_of_lineup, check_patch, merged_patch, team_row
from engine.simulators.contract import GameSpec
from webapp.balance.saving import ensure_defaults, lineup_config
from webapp.games import build_data, versions
from webapp.games.fields import NumberField
from webapp.games.specs import version_spec
from webapp.games.uploads import TOO_LARGE
from webapp.gates import archive
from webapp.lib.names import NameField
from webapp.lib.words import about, number, plural
from webapp.projects.models import Project
from webapp.studies import search_intake
from webapp.studies.intake import Body, Intake, Refers
from webapp.studies.models import Job, Status
from webapp.studies.pins import BESIDE, Pins, pins_of, pins_of_job
from webapp.studies.study_form import StudyForm

SCREEN, SEARCH = ScreenConfig(), HuntConfig()
DATA = "data"
"""What the body of a gate says of changed numbers: path to value."""


class GateIntake(Intake):
    """How the site starts gates: on the project's game data, with a build's numbers on top where it has some."""

    beside: ClassVar[frozenset[str]] = BESIDE

    def first(self, body: Body) -> tuple[Study, Refers]:
        """With what the project has now."""
        return _gated(body, pins_of(body))

    def again(self, body: Body, job: Job) -> tuple[Study, Refers]:
        """With what the other one rested on, and the numbers that it played."""
        pins = pins_of_job(job, body.user)
        return _gated(body, pins, job.config["game"]["patch"])


def _gated(body: Body, pins: Pins, patch: Mapping[str, float] | None = None) -> tuple[Study, Refers]:
    """A gate on the project's game data, and the rows it rests on."""
    if patch is None:
        patch = build_patch(pins, body.beside.get(DATA) or {})
    spec = version_spec(pins.version).extended(patch).patched(patch)
    filled = pins.filled({"name": "Gate", **body.config})
    if isinstance(filled["game"], dict) and "patch" not in _table(body.config.get("game")):
        filled["game"]["patch"] = dict(patch)
    if "exploits" not in body.config:
        teams = _table(filled["lineups"]).get("teams", 3)
        found = archive.exploits(body.project, spec, teams) if isinstance(teams, int) else archive.FoundExploits([], [])
        filled |= {"exploits": found.exploits} | ({"met": found.met} if found.met else {})
    data = body.table(filled)
    pins.named(data["game"], body)
    study, wrong = body.loaded(data, settings.CPUS)
    wrong += search_intake.strange(data, spec)
    if isinstance(study, GateConfig):
        wrong += [*pins.changed(study, patch), *_unfit(study, spec)]
    body.refuse(wrong)
    assert isinstance(study, GateConfig)
    return study, {**pins.refers(study), "template": "gate"}


def build_patch(pins: Pins, data: Mapping[str, float]) -> dict[str, float]:
    """The patch of the project's data with a build's numbers on top. Raises ConfigError at the places of these."""
    own = version_spec(pins.version)
    wrong = [(f"{DATA}.{path}", message) for path, message in check_patch(own, data)]
    if wrong:
        raise ConfigError(wrong)
    return merged_patch(own, pins.version.patch, data)


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _unfit(study: GateConfig, spec: GameSpec) -> Iterator[tuple[str, str]]:
    """What is wrong with its exploits, and the baseline teams that they met."""
    named = {"met": [each.teams for each in study.met], "exploits": [each.teams for each in study.exploits]}
    for place, several in named.items():
        for i, teams in enumerate(several):
            for k, team in enumerate(teams):
                try:
                    team_row(spec, team, f"{place}.{i}.teams.{k}.slots.")
                except ConfigError as error:
                    yield from error.problems


class GateForm(StudyForm):
    """For how long each part looks; empty: as usual, 0: not at all."""

    folded: ClassVar[tuple[str, ...]] = "screen", "matters", "leaves_open", "search", "seed"
    places: ClassVar[Mapping[str, str]] = {
        "screen.battles": "screen", "screen.matters": "matters", "screen.leaves_open": "leaves_open",
        "search.ticks": "search",
    }  # fmt: skip
    leaves_out: ClassVar[str] = (
        "Its build had numbers of its own, or it was set in a way that is not asked for here. Choose the build’s file "
        "again; the API and the command line take all the rest."
    )
    title = NameField(
        120, label="Build", required=False,
        help_text="What it is called in the list of gates, such as its number.",
    )  # fmt: skip
    numbers = forms.FileField(
        label="Numbers of the build", required=False,
        error_messages={"empty": "This file is empty. Choose another one, or none."},
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.txt,.xlsx,.json", "class": "form-control"}),
        help_text="CSV, XLSX or JSON: a sheet as you import it, or paths and values. They lie on top of the game data, "
        "which stays as it is; no file: the game data alone.",
    )  # fmt: skip
    exploits = forms.BooleanField(label="Play earlier exploits again", required=False, initial=True)
    screen: Any = NumberField(
        label="Battles of the screen", whole=True, low=0, high=100_000_000, required=False, usual=SCREEN.battles,
        help_text="2,000 at least; 0: no screen.",
    )  # fmt: skip
    matters: Any = NumberField(
        label="Smallest effect that matters (points)", low=0.5, high=40, required=False, usual=SCREEN.matters,
        help_text="A piece that is proved to be further from even is over the line.",
    )  # fmt: skip
    leaves_open: Any = NumberField(
        label="Largest effect that may stay open (points)", low=0.5, high=50, required=False, usual=SCREEN.leaves_open,
        help_text="If larger ones are possible, the gate cannot tell.",
    )  # fmt: skip
    search: Any = NumberField(
        label="Rounds of the search", whole=True, low=0, high=1_000_000, required=False, usual=SEARCH.ticks,
        help_text=f"Each of {SEARCH.algorithm.population} lineups; 0: none.",
    )  # fmt: skip
    seed: Any = NumberField(
        label="Seed", whole=True, low=0, required=False, usual=1, help_text="The same seed and data, the same verdict."
    )

    def prepare(self) -> None:
        self.dropped = False
        self.fields["exploits"].help_text = (
            "Lineups that are on a shortlist, then those that fresh battles confirmed, of the newest "
            f"{plural(archive.SEARCHES, 'search', 'searches')}: {archive.MOST} at most. Searches whose lineups have "
            "another number of teams than the project’s rules are left out."
        )
        self.takes = _takes(self.project)

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """How long each part looked; 0 where a part was left out. No page can choose the build's file."""
        skipped = {part: "0" for part in ("screen", "search") if job.config[part] is None}
        return {**super().typed_of(job), **skipped, "exploits": bool(job.config["exploits"])}

    @classmethod
    def left_out(cls, job: Job) -> bool:
        """Whether the game data had numbers of a build on top, or a part was set otherwise than this form sets it."""
        config, usual = job.config, {"screen": SCREEN, "search": SEARCH}
        shown = {"screen": ("battles", "matters", "leaves_open"), "search": ("ticks",)}
        own = job.game_version.patch if job.game_version is not None else {}
        return config["game"].get("patch", {}) != own or any(
            config[part] is not None
            and any(
                value != config[part].get(name, value)
                for name, value in usual[part].model_dump(mode="json").items()
                if name not in names
            )
            for part, names in shown.items()
        )

    def clean_numbers(self) -> dict[str, float]:
        """The numbers of the file, by path; what is wrong with them stands here with its place in the file."""
        file, version = self.cleaned_data["numbers"], versions.current(self.project)
        if self.dropped:
            raise forms.ValidationError(TOO_LARGE)
        if file is None or version is None:
            return {}
        try:
            found = build_data.read(file.read(), version)
            own = version_spec(version)
            wrong = [(path, message) for path, message in check_patch(own, found)]
        except ConfigError as error:
            wrong = [(each.place.removeprefix(DATA).removeprefix("."), each.message) for each in error.problems]
        if wrong:
            raise forms.ValidationError(
                [f"{each.place}: {each.message}" if each.place else each.message for each in shown_faults(wrong)]
            )
        return found

    def beside(self) -> dict[str, Any]:
        """What a body of the API says beside the study."""
        return {DATA: self.cleaned_data["numbers"]}

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        typed = self.cleaned_data
        screen = {"battles": typed["screen"], "matters": typed["matters"], "leaves_open": typed["leaves_open"]}
        values = {
            "name": typed["title"],
            "seed": typed["seed"],
            "screen": None if typed["screen"] == 0 else _said(screen),
            "search": None if typed["search"] == 0 else _said({"ticks": typed["search"]}),
        }
        kept = {key: value for key, value in values.items() if key in ("screen", "search") or value not in (None, "")}
        return kept if typed["exploits"] else {**kept, "exploits": []}


def _takes(project: Project) -> str:
    """What a gate with all that is usual takes, before anybody starts it."""
    rules, _ = ensure_defaults(project, None)
    each = battles_of_lineup(lineup_config(rules), 1)
    battles = SCREEN.battles + SEARCH.ticks * SEARCH.algorithm.population * SEARCH.replicates * each
    exploit = GateConfig.model_fields["replicates"].default * each
    said = f"As usual a gate plays about {number(battles)} battles, and {number(exploit)} more for each exploit"
    last = project.jobs.filter(status=Status.FINISHED, counters__battles__gt=0, counters__seconds__gt=0).first()
    if last is None:
        return f"{said}."
    pace = last.counters["battles"] / last.counters["seconds"]
    return f"{said}: {about(battles / pace)} or more, by what was played here."


def _said(settings_: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings_.items() if value not in (None, "")}
