"""Who may play in an evaluation of a project: the form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.utils.html import escape

from engine.catalog import PLAYERS
from engine.config import Study
from engine.config.evaluate import EvaluateConfig
from webapp.games.called import asked_for, called
from webapp.games.commands import is_program
from webapp.games.fields import NumberField
from webapp.games.models import Simulator
from webapp.games.simulators import by_moves, obstacle
from webapp.projects.models import Project
from webapp.studies.intake import Body, Intake, Refers
from webapp.studies.models import Job
from webapp.studies.study_form import Gone, StudyForm
from webapp.training import games
from webapp.training.entrants import (
    ROLE,
    deleted,
    deleted_words,
    foreign,
    game_of,
    limits_of,
    maker,
    plays,
    script_plays,
)

GAMES = {offer.key: offer.title for offer in games.OFFERS.values() if offer.for_two}
"""Games for two on the menu, by the engine's names."""
USUAL = "pong-two-seats"
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
            data["game"] = game = {**game, "name": asked_for(game["name"], body.project, body.user)}
        study, wrong = body.loaded(data)
        if isinstance(study, EvaluateConfig):
            wrong += [*_unfit(study, body.project), *foreign(study.policies, study.game.name, body.project)]
        body.refuse(wrong)
        assert study is not None
        return study, {}


def _unfit(study: EvaluateConfig, project: Project) -> Iterator[tuple[str, str]]:
    """What speaks against the game: anything but the menu's and the project's own could be a program."""
    if study.game.name in GAMES:
        able = games.OFFERS[study.game.name].settings
        why = f"there is no such setting; there are {', '.join(able)}"
        yield from ((f"game.settings.{name}", why) for name in study.game.settings if name not in able)
        return
    row = by_moves(project).filter(reference=study.game.name).first()
    if row is None:
        yield "game.name", f"policies play each other in {', '.join(GAMES)}, or in a simulator of the project"
    elif why := obstacle(row):
        yield "game.name", why


class Players(forms.CheckboxSelectMultiple):
    """Boxes that say in which of the form's games their players can play: ``able``, by player."""

    able: Mapping[str, Sequence[str]] = {}

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """With the games, for the page's script."""
        option = super().create_option(name, value, *args, **kwargs)
        option["attrs"]["data-games"] = " ".join(self.able.get(str(value), ()))
        return option


class EvaluationForm(StudyForm):
    """Which policies play each other, in which game, and how often."""

    game = forms.ChoiceField(label="Game")
    policies = forms.MultipleChoiceField(
        label="Who plays", widget=Players(attrs={"class": "form-check-input"}),
        help_text="Two at least; every one plays every other one. Trainings are those of this project that ended.",
        error_messages={"required": "Choose two at least."},
    )  # fmt: skip
    episodes: Any = NumberField(
        label="Episodes of each pair", whole=True, low=2, high=10_000, required=False, usual=100,
        help_text="Half of them on either seat. More make the ranges narrower.",
    )  # fmt: skip
    tells: ClassVar[bool] = True
    usual: ClassVar[Mapping[str, Any]] = {"game": USUAL}

    def prepare(self) -> None:
        trained = _trained(self.project)
        self.entrants = {**_scripts(), **{name: entrant for name, (entrant, _) in trained.items()}}
        own = {row.called: row for row in by_moves(self.project) if not obstacle(row)}
        menu = {**GAMES, **{called: str(row) for called, row in own.items()}}
        self.offer("game", menu.items())
        self.able = self._able({**dict.fromkeys(GAMES), **own}, {name: game for name, (_, game) in trained.items()})
        self.short = dict(filter(all, ((game, self._missing(game, title)) for game, title in menu.items())))
        self.fields["game"].help_text = escape(" ".join(self.short.values()))  # the page takes it as it is
        home = {name: f"trained in {games.title_of(game, self.project)}" for name, (_, game) in trained.items()}
        players: Any = self.fields["policies"]
        players.choices = [
            (name, f"{entrant['title']}, {home.get(name) or self._plays_in_words(name)}")
            for name, entrant in self.entrants.items()
        ]
        players.widget.able = self.able

    def _able(self, offered: Mapping[str, Simulator | None], trained_in: Mapping[str, str]) -> dict[str, list[str]]:
        """The games on offer that each player can play, as far as anybody but the engine can tell."""

        def fits(name: str, game: str) -> bool:
            return plays(trained_in[name], game) if name in trained_in else script_plays(name, game)

        engines = {called: row.reference if row else called for called, row in offered.items()}
        return {name: [called for called, game in engines.items() if fits(name, game)] for name in self.entrants}

    def _missing(self, game: str, title: str) -> str:
        """What is missing where fewer than two can play this game; empty where nothing is."""
        able = [self.entrants[name]["title"] for name, found in self.able.items() if game in found]
        if len(able) > 1:
            return ""
        who = f"only {able[0]}" if able else "nobody"
        return f"{title}: {who} can play it so far. Two are needed: train an agent in it."

    def _plays_in_words(self, script: str) -> str:
        known = [title for game, title in GAMES.items() if game in self.able[script]]
        return "plays every game" if len(known) == len(GAMES) else f"plays {', '.join(known)}"

    def clean_policies(self) -> list[str]:
        """Two at least."""
        chosen: list[str] = self.cleaned_data["policies"]
        if len(chosen) < 2:
            raise forms.ValidationError(self.short.get(self.cleaned_data.get("game", ""), "Choose two at least."))
        return chosen

    @classmethod
    def played(cls, job: Job) -> tuple[Mapping[str, Any], Mapping[str, Mapping[str, Any]]]:
        """The game of a job, and the players that its form let somebody choose, by name."""
        return job.config["game"], job.config["policies"]

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Also its game as the menu has it, and who played, as far as they are offered."""
        chosen = [name for name in dict.fromkeys(cls._offered_names(job)) if name]
        return {**super().typed_of(job), "game": called(cls.played(job)[0]["name"], job.project), "policies": chosen}

    @classmethod
    def _offered_names(cls, job: Job) -> list[str]:
        """What this form calls those who played in a job; empty for who is not offered."""
        offered = cls(None, project=job.project, kind=job.kind).entrants
        by_player = {_who(entrant): name for name, entrant in reversed([*offered.items()])}
        players = cls.played(job)[1].items()
        return [name if name in offered else by_player.get(_who(player), "") for name, player in players]

    @classmethod
    def _not_offered(cls, job: Job) -> list[Mapping[str, Any]]:
        """Those who played in a job and cannot be chosen here."""
        found = zip(cls._offered_names(job), cls.played(job)[1].values(), strict=True)
        return [player for name, player in found if not name]

    @classmethod
    def gone(cls, job: Job) -> Gone:
        """Saved agents that played, and that somebody has deleted."""
        field = cls.base_fields["policies"].label
        return Gone(deleted_words(deleted(cls._not_offered(job), job.project), f"Choose others under “{field}”"))

    @classmethod
    def left_out(cls, job: Job) -> bool:
        """Whether its game was set in a way that is not asked for here, or somebody who played is not offered."""
        game, missing = cls.played(job)[0], cls._not_offered(job)
        unknown = any(not deleted([player], job.project) for player in missing)
        return unknown or any(v for k, v in game.items() if k != "name")

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        typed = self.cleaned_data
        return {
            **self.typed(name="title", episodes="episodes", seed="seed"),
            "game": typed["game"],
            "policies": {name: self.entrants[name] for name in typed["policies"]},
        }


def _who(player: Mapping[str, Any]) -> str:
    """What tells a player from others: a script's name, or the hash of a policy."""
    return str(player.get("policy") or player.get("player"))


def _scripts() -> dict[str, dict[str, Any]]:
    """Those that play a game of the menu."""
    able = {key: entry.label for key, entry in PLAYERS.items() if any(script_plays(key, game) for game in GAMES)}
    return {key: {"kind": "scripted", "player": key, "title": label} for key, label in able.items()}


def _trained(project: Project) -> dict[str, tuple[dict[str, Any], str]]:
    """What the latest trainings left that may fit such a game, each policy by the number of its job, and the engine's
    name of the game that it was trained in."""
    found: dict[str, tuple[dict[str, Any], str]] = {}
    for job in project.jobs.listed().filter(status__in=("finished", "stopped")).exclude(artifacts={})[:LATEST]:
        for role, digest in job.artifacts.items() if _may_fit(job) else ():
            kind, _, policy = role.partition("/")
            if kind == ROLE:
                name = f"job-{job.pk}-{policy}" if policy else f"job-{job.pk}"
                title = f"{job.title}: {policy}" if policy else job.title
                entrant = {
                    "kind": "frozen",
                    "policy": digest,
                    "title": f"{title} (job {job.pk})"[:120],
                    **limits_of(job),
                }
                found[name[:40]] = entrant, game_of(job)
    return found


def _may_fit(job: Job) -> bool:
    """Whether a job's policies can play a game of the menu, or come from a program, of which the engine will tell."""
    game = game_of(job)
    return is_program(game) or any(maker(game) == maker(each) for each in GAMES)
