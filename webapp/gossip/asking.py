"""Which game several agents learn side by side, and how they share it: the form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django import forms
from django.conf import settings

from engine.catalog import GAMES
from engine.config import Study
from engine.config.gossip import MOST, GossipConfig
from webapp.games.fields import NumberField
from webapp.games.simulators import by_moves, obstacle
from webapp.lib.text import seen
from webapp.projects.models import Project
from webapp.studies.intake import Body, Refers
from webapp.training import games
from webapp.training.intake import TrainingIntake
from webapp.training.methods import presets_for

AGENTS, STEPS = 4, 1_000_000
TOPOLOGIES = {
    "ring": "A ring: each from the one before it",
    "exponential": "Each from those 1, 2, 4, 8 and so on before it",
    "bipartite": "Two groups: each exchanges with some of the other group",
    "full": "Everybody with everybody",
    "tree": "A tree: each with the one above it and the two below",
}
WAITS = {
    "step": "They wait for each other: the same seed gives the same agent",
    "some": "They wait for one that is 10 updates behind",
    "never": "Nobody waits: no time is lost on a slow one",
}
STALENESS: Mapping[str, int | None] = {"step": 0, "some": 10, "never": None}


class GossipIntake(TrainingIntake):
    """How the site starts it: in a game for one agent that may be played here."""

    def title(self, game: str) -> str:
        """What it is called where the body says nothing."""
        return f"Side by side: {game}"

    def study(self, body: Body) -> tuple[Study, Refers]:
        """The study itself."""
        study, wrong = body.loaded(self.named(body, ""), self.workers())
        body.refuse([*wrong, *(_unfit(study, body.project) if isinstance(study, GossipConfig) else ())])
        assert study is not None
        return study, {}


def _unfit(study: GossipConfig, project: Project) -> Iterator[tuple[str, str]]:
    """What speaks against the game."""
    for field, why in games.unfit(study.game.name, study.game.settings, project):
        yield f"game.{field}", why
    if games.OFFERS[games.named(study.game.name, project)[0]].sides:
        yield "game.name", "several sides learn in this game, and agents that learn side by side play one each"


def own_games(project: Project) -> dict[str, str]:
    """The project's simulators in which agents can learn now, by the name that the API takes."""
    return {row.called: str(row) for row in by_moves(project) if not obstacle(row)}


class GossipForm(forms.Form):
    """Which game, how many agents, and how they share."""

    folded: ClassVar[tuple[str, ...]] = ("battles", "rate", "seed")
    places: ClassVar[Mapping[str, str]] = {
        "game": "game", "environments": "battles", "learner.rate": "rate", "staleness": "waits", "ordered": "waits",
    }  # fmt: skip
    """Fields by places of the study."""
    title = forms.CharField(label="Name", max_length=120, required=False, validators=[seen])
    game = forms.ChoiceField(label="Game")
    agents: Any = NumberField(label="Agents", whole=True, low=2, high=MOST, required=False)
    topology = forms.ChoiceField(label="Who takes over from whom", choices=list(TOPOLOGIES.items()), initial="ring")
    waits = forms.ChoiceField(label="When one is slower", choices=list(WAITS.items()), initial="step")
    steps: Any = NumberField(
        label="Decisions to learn from", whole=True, low=1, high=10**12, required=False,
        help_text=f"Of all agents together; {STEPS:,} where nothing is typed.",
    )  # fmt: skip
    battles: Any = NumberField(
        label="Battles that each agent plays together", whole=True, low=1, high=100_000, required=False,
        help_text="16 where nothing is typed.",
    )  # fmt: skip
    rate: Any = NumberField(
        label="Learning rate", low=0, high=1, required=False, help_text="As usual for the game where nothing is typed."
    )
    seed: Any = NumberField(label="Seed", whole=True, low=0, required=False)

    def __init__(self, data: Any = None, *, project: Project, kind: str) -> None:
        super().__init__(data, initial={"game": "pong"})
        ready = {offer.name: offer.title for offer in games.ALONE.values() if offer.name}
        self.fields["game"].choices = [*ready.items(), *own_games(project).items()]  # type: ignore[attr-defined]
        self.fields["agents"].help_text = (
            f"{AGENTS} where nothing is typed. Each has a processor of its own as long as there are enough. This site "
            f"has {settings.CPUS}: twice as many agents take twice as long for the same decisions of each."
        )

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        typed, game = self.cleaned_data, self.cleaned_data["game"]
        sees = GAMES[game].sees if game in GAMES else ""
        learner = presets_for("a3c", game, sees)[0].learner.model_dump()
        told = {"name": typed["title"], "environments": typed["battles"], "seed": typed["seed"]}
        return {
            **{key: value for key, value in told.items() if value not in (None, "")},
            "game": game,
            "learner": learner if typed["rate"] is None else {**learner, "rate": typed["rate"]},
            "agents": AGENTS if typed["agents"] is None else typed["agents"],
            "topology": typed["topology"],
            "staleness": STALENESS[typed["waits"]],
            "steps": STEPS if typed["steps"] is None else typed["steps"],
        }
