"""Which game individuals evolve and learn in: the form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django import forms
from django.conf import settings

from engine.catalog import METHODS
from engine.config import Study
from engine.config.aesrl import AESRLConfig
from webapp.games.fields import NumberField
from webapp.games.simulators import by_moves, obstacle
from webapp.lib.text import seen
from webapp.projects.models import Project
from webapp.studies.intake import Body, Refers
from webapp.training import games
from webapp.training.intake import TrainingIntake

DECISIONS, SPREAD = 300_000, 1000.0
USUAL = {"pendulum": 1500.0, "HalfCheetah": 12_000.0, "Hopper": 3600.0, "Walker2d": 5200.0, "Ant": 5800.0,
         "Swimmer": 290.0, "Humanoid": 5800.0}  # fmt: skip
"""Spreads of scores in games whose range the paper names: six times its table 5."""
WAITING = {
    "free": "Nobody: each individual moves the centre as soon as it is back",
    "rounds": "For its round: slower, but the same settings always end the same",
}


class TogetherIntake(TrainingIntake):
    """How the site starts such a training: in a game for one that may be played here and takes numbers."""

    def workers(self) -> int:
        """As many as the site has processors."""
        return int(settings.CPUS)

    def title(self, game: str) -> str:
        """What it is called where the body says nothing."""
        return f"Evolution and learning: {game}"

    def study(self, body: Body) -> tuple[Study, Refers]:
        """The study itself."""
        study, wrong = body.loaded(self.named(body, ""), self.workers())
        body.refuse([*wrong, *(_unfit(study, body.project) if isinstance(study, AESRLConfig) else ())])
        assert study is not None
        return study, {}


def _unfit(study: AESRLConfig, project: Project) -> Iterator[tuple[str, str]]:
    """What speaks against the game."""
    game = study.game
    for field, why in games.unfit(game.name, game.settings, project):
        yield f"game.{field}", why
    offer = games.OFFERS[games.named(game.name, project)[0]]
    if offer.sides:
        yield "game.name", "several agents learn in this game, and here one game is played by one at a time"
    elif games.does(offer, game.name) not in ("", games.STEERING):
        yield "game.name", "one chooses among actions in this game, and here every action is made of numbers"


def spread_of(game: str) -> float:
    """The spread of scores in a game, as far as anybody has said."""
    name = game.removeprefix("gym:").partition("-")[0]
    return USUAL.get(name.lower() if name == "Pendulum" else name, SPREAD)


class TogetherForm(forms.Form):
    """Which game, how, and for how long."""

    folded: ClassVar[tuple[str, ...]] = ("share", "population", "seed")
    places: ClassVar[Mapping[str, str]] = {
        "game": "game", "method.learning_share": "share", "method.population": "population", "method.mean": "spread",
        "method": "method",
    }  # fmt: skip
    """Fields by places of the study."""
    title = forms.CharField(label="Name", max_length=120, required=False, validators=[seen])
    game = forms.ChoiceField(
        label="Game", help_text="Games for one whose actions are numbers, such as how hard to steer."
    )
    environment = forms.CharField(
        label="Name of another Gymnasium game", max_length=80, required=False,
        help_text="Such as HalfCheetah-v5; where the game above is another one.",
    )  # fmt: skip
    method = forms.ChoiceField(label="Method", initial="aes-rl")
    waiting = forms.ChoiceField(
        label="Who waits for whom", choices=list(WAITING.items()), initial="free",
        help_text="With AES-RL and ACEM-RL; the other methods go in rounds.",
    )  # fmt: skip
    steps: Any = NumberField(
        label="Decisions", whole=True, low=1, high=10**9, required=False,
        help_text=f"All that are played, those that measure the centre included; {DECISIONS:,} where nothing is typed.",
    )  # fmt: skip
    spread: Any = NumberField(
        label="Spread of scores", low=0, above=True, required=False,
        help_text="From acting by chance to the best you hope for. An individual a sixth of it better than the centre "
        "draws it two thirds of the way. Known for Pendulum and MuJoCo’s games; elsewhere 1,000 where nothing is "
        "typed.",
    )  # fmt: skip
    share: Any = NumberField(
        label="Share that learns", low=0, high=1, required=False,
        help_text="The others only evolve; 0.5 where nothing is typed. Less where learning leads astray.",
    )  # fmt: skip
    population: Any = NumberField(
        label="Individuals in a round", whole=True, low=2, high=1000, required=False,
        help_text="10 where nothing is typed.",
    )  # fmt: skip
    seed: Any = NumberField(label="Seed", whole=True, low=0, required=False)

    def __init__(self, data: Any = None, *, project: Project, kind: str) -> None:
        super().__init__(data)
        steered = {key: offer.title for key, offer in games.ALONE.items() if offer.does == games.STEERING}
        own = {row.called: str(row) for row in by_moves(project) if not obstacle(row)}
        menu: Any = self.fields["game"]
        menu.choices = [*steered.items(), (games.GYMNASIUM, games.OFFERS[games.GYMNASIUM].title), *own.items()]
        method: Any = self.fields["method"]
        method.choices = [(key, f"{entry.label}: {entry.explanation}") for key, entry in METHODS.items()]

    def clean(self) -> dict[str, Any]:
        """Another game needs its name."""
        cleaned = super().clean() or {}
        if cleaned.get("game") == games.GYMNASIUM and not games.GYMNASIUM_ID.fullmatch(cleaned.get("environment", "")):
            self.add_error("environment", "Write its name with its version, such as HalfCheetah-v5.")
        return cleaned

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        typed = self.cleaned_data
        other = typed["game"] == games.GYMNASIUM
        game = f"gym:{typed['environment']}" if other else typed["game"]
        return {
            **({"name": typed["title"]} if typed["title"] else {}),
            "game": game,
            "steps": typed["steps"] or DECISIONS,
            "spread": typed["spread"] or spread_of(game),
            "seed": 1 if typed["seed"] is None else typed["seed"],
            "method": self._method(typed),
        }

    def _method(self, typed: dict[str, Any]) -> dict[str, Any]:
        kind = typed["method"]
        fields = METHODS[kind].config.model_fields
        told = {"learning_share": typed["share"], "population": typed["population"]}
        told["waiting"] = typed["waiting"] == "rounds"
        return {"kind": kind, **{k: v for k, v in told.items() if v is not None and k in fields}}
