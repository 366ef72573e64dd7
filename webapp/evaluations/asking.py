"""Who may play in an evaluation of a project: the form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from django import forms

from engine.catalog import PLAYERS
from engine.config import Study
from engine.config.evaluate import EvaluateConfig
from webapp.games.called import reference_of
from webapp.games.commands import is_program
from webapp.games.fields import NumberField
from webapp.games.simulators import by_moves, obstacle
from webapp.projects.models import Project
from webapp.studies.intake import Body, Intake, Refers
from webapp.studies.models import Job
from webapp.training import games

TWO_SEATS = "pong-two-seats"
GAMES = {TWO_SEATS: games.OFFERS[TWO_SEATS].title}
"""Games for two on the menu, by the engine's names."""
ALIKE = frozenset({TWO_SEATS, "pong", "vector-pong", "builtin:pong", "builtin:pong-two-seats"})
"""Games whose agents see and do what is seen and done in one of these."""
ROLE = "policy_description"
LATEST = 30
"""Trainings that are offered."""


class EvaluationIntake(Intake):
    """How the site starts evaluations: in a game that may be played here, by policies of the project's own jobs."""

    def study(self, body: Body) -> tuple[Study, Refers]:
        """The study itself."""
        data = body.table(body.config)
        game = data.get("game")
        if isinstance(game, str):
            data["game"] = game = {"name": game}
        if isinstance(game, dict) and isinstance(game.get("name"), str):
            data["game"] = game = {**game, "name": reference_of(game["name"], body.project)}
        study, wrong = body.loaded(data)
        if isinstance(study, EvaluateConfig):
            wrong += [*_unfit(study, body.project), *_foreign(study, body.project)]
        body.refuse(wrong)
        assert study is not None
        return study, {}


def _unfit(study: EvaluateConfig, project: Project) -> Iterator[tuple[str, str]]:
    """What speaks against the game: anything but the menu's and the project's own could be a program."""
    if study.game.name in GAMES:
        able = games.OFFERS["pong"].settings
        why = f"there is no such setting; there are {', '.join(able)}"
        yield from ((f"game.settings.{name}", why) for name in study.game.settings if name not in able)
        return
    row = by_moves(project).filter(reference=study.game.name).first()
    if row is None:
        yield "game.name", f"policies play each other in {', '.join(GAMES)}, or in a simulator of the project"
    elif why := obstacle(row):
        yield "game.name", why


def _foreign(study: EvaluateConfig, project: Project) -> Iterator[tuple[str, str]]:
    """Scripts that do not exist, and policies that no job of the project has left."""
    own = {digest for job in project.jobs.all() for role, digest in job.artifacts.items() if role.startswith(ROLE)}
    for name, policy in study.policies.items():
        if policy.kind == "scripted" and policy.player not in PLAYERS:
            yield f"policies.{name}.player", f"there is no such script; there are {', '.join(PLAYERS)}"
        if policy.kind == "frozen" and policy.policy not in own:
            yield f"policies.{name}.policy", "no job of this project has such a policy"


class EvaluationForm(forms.Form):
    """Which policies play each other, in which game, and how often."""

    title = forms.CharField(label="Name", max_length=120, required=False)
    game = forms.ChoiceField(label="Game")
    policies = forms.MultipleChoiceField(
        label="Who plays", widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}),
        help_text="Two at least; every one plays every other one. Trainings are those of this project that ended.",
        error_messages={"required": "Choose two at least."},
    )  # fmt: skip
    episodes: Any = NumberField(
        label="Episodes of each pair", whole=True, low=2, high=10_000, required=False,
        help_text="Half of them on either seat; 100 where nothing is typed. More make the ranges narrower.",
    )  # fmt: skip
    seed: Any = NumberField(label="Seed", whole=True, low=0, required=False, help_text="The same seed, the same table.")
    usual: ClassVar[dict[str, Any]] = {"game": TWO_SEATS}

    def __init__(self, data: Any = None, *, project: Project, kind: str) -> None:
        super().__init__(data, initial=self.usual)
        self.entrants = {**_scripts(), **_trained(project)}
        own = [(row.called, str(row)) for row in by_moves(project) if not obstacle(row)]
        self.fields["game"].choices = [*GAMES.items(), *own]  # type: ignore[attr-defined]
        self.fields["policies"].choices = [  # type: ignore[attr-defined]
            (name, entrant["title"]) for name, entrant in self.entrants.items()
        ]

    def clean_policies(self) -> list[str]:
        """Two at least."""
        chosen: list[str] = self.cleaned_data["policies"]
        if len(chosen) < 2:
            raise forms.ValidationError("Choose two at least.")
        return chosen

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        typed = self.cleaned_data
        told = {"name": typed["title"], "episodes": typed["episodes"], "seed": typed["seed"]}
        return {
            **{key: value for key, value in told.items() if value not in (None, "")},
            "game": typed["game"],
            "policies": {name: self.entrants[name] for name in typed["policies"]},
        }


def _scripts() -> dict[str, dict[str, Any]]:
    return {key: {"kind": "scripted", "player": key, "title": entry.label} for key, entry in PLAYERS.items()}


def _trained(project: Project) -> dict[str, dict[str, Any]]:
    """What the latest trainings left that may fit such a game, each policy by the number of its job."""
    found: dict[str, dict[str, Any]] = {}
    for job in project.jobs.listed().filter(status__in=("finished", "stopped")).exclude(artifacts={})[:LATEST]:
        for role, digest in job.artifacts.items() if _may_fit(job) else ():
            kind, _, policy = role.partition("/")
            if kind == ROLE:
                name = f"job-{job.pk}-{policy}" if policy else f"job-{job.pk}"
                title = f"{job.title}: {policy}" if policy else job.title
                found[name[:40]] = {"kind": "frozen", "policy": digest, "title": f"{title} (job {job.pk})"[:120]}
    return found


def _may_fit(job: Job) -> bool:
    """Whether a job's policies come from such a game, or from a program, of which the engine will tell."""
    game = (job.config.get("task") or job.config).get("game", {}).get("name", "")
    return game in ALIKE or is_program(game)
