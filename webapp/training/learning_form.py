"""The form of trainings of several agents that each play for themselves: which game, from where, and how far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django import forms

from webapp.accounts.models import User
from webapp.balance.forms import sentence
from webapp.games.fields import NumberField
from webapp.games.simulators import by_moves
from webapp.lib.digits import whole
from webapp.studies import kinds
from webapp.studies.models import Job
from webapp.studies.setting_fields import NumbersField
from webapp.studies.study_form import Gone, Represented, StudyForm
from webapp.training import beginnings, games
from webapp.training.games import ATARI, ATARI_NAME, GYMNASIUM, GYMNASIUM_ID
from webapp.training.start_field import StartField


class Beside(forms.TextInput):
    """A box that the page shows beside some of the games only."""

    def __init__(self, games: str) -> None:
        super().__init__(attrs={"data-beside": games, "autocomplete": "off"})


class LearningForm(StudyForm):
    """``offered``: games by key. ``decisions``: those where nothing is typed."""

    offered: ClassVar[Mapping[str, str]] = {}
    decisions: ClassVar[int] = 1_000_000
    names_changes: ClassVar[bool] = True
    places: ClassVar[Mapping[str, str]] = {"game": "game", "start": "start"}
    game = forms.ChoiceField(label="Game")
    gymnasium = forms.CharField(
        label="Its name in Gymnasium", max_length=80, required=False, widget=Beside(GYMNASIUM),
        help_text="With its version, such as HalfCheetah-v5.",
    )  # fmt: skip
    atari = forms.CharField(
        label="Atari game", max_length=60, required=False, widget=Beside(ATARI), help_text="Such as pong or breakout."
    )
    start = StartField()
    steps: Any = NumberField(label="Decisions to learn from", whole=True, low=1, high=10**12, required=False)
    minutes: Any = NumberField(
        label="At most", low=0.1, high=525_600, unit="minutes", required=False,
        help_text="Whichever is over first. Where the clock ends it, another run may differ.",
    )  # fmt: skip

    def prepare(self) -> None:
        self.offer("game", [*self.offered.items(), *games.own(self.project).items()])
        self.fields["steps"].widget.attrs["placeholder"] = f"{self.decisions:,}"
        self.fields["title"].widget.attrs["placeholder"] = "named after the game"
        self.fields["minutes"].widget.attrs["placeholder"] = "no limit"
        menu: Any = self.fields["start"]
        self.starts: StartField = menu
        self.starts.offer(self.project, str((self.data if self.is_bound else self.initial).get("start", "")))
        if not self.starts.offers:
            del self.fields["start"]
        for name in (GYMNASIUM, ATARI):
            if name not in self.offered:
                del self.fields[name]

    def clean(self) -> dict[str, Any]:
        """A game of Gymnasium or Atari needs its name; an agent begins one of its own game."""
        cleaned = super().clean() or {}
        game = cleaned.get("game")
        if game == GYMNASIUM and not GYMNASIUM_ID.fullmatch(cleaned.get(GYMNASIUM, "")):
            self.add_error(GYMNASIUM, "Type a name of Gymnasium with its version, such as HalfCheetah-v5.")
        if game == ATARI and not ATARI_NAME.fullmatch(cleaned.get(ATARI, "")):
            self.add_error(ATARI, "Type the name of an Atari game in small letters, such as pong.")
        if self.begun is not None and self.errors.keys().isdisjoint(("game", GYMNASIUM, ATARI, "start")):
            for why in beginnings.misfits(self.begun, games.full_name(self.game_name), None):
                self.add_error("start", why)
        return cleaned

    def point_at(self, place: str, why: str) -> None:
        """What is wrong with a game whose name was typed stands at that name."""
        typed = self.cleaned_data.get("game")
        if place.startswith("game.name") and typed in (GYMNASIUM, ATARI) and typed in self.fields:
            self.add_error(typed, sentence(why))
        else:
            super().point_at(place, why)

    @property
    def begun(self) -> Any:
        """The saved agent that it begins with, if any."""
        return self.starts.chosen

    @property
    def game_name(self) -> str:
        """The game that was chosen, as the API takes it."""
        typed = self.cleaned_data
        beside = {GYMNASIUM: "gym:", ATARI: "ale:"}.get(typed["game"])
        return typed["game"] if beside is None else beside + typed[typed["game"]]

    @property
    def usual_steps(self) -> int:
        """Decisions in the chosen game where nothing is typed."""
        return self.decisions

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        return {
            **self.typed(name="title", seed="seed", minutes="minutes"),
            "game": self.game_name,
            "steps": self.cleaned_data["steps"] or self.usual_steps,
            **({} if self.begun is None else {"start": self.begun.policy}),
            **self.own(),
        }

    def own(self) -> dict[str, Any]:
        """What the kind asks for beside that."""
        return {}

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Its game as it is chosen, and the agent that it began with."""
        offer, beside = games.named(job.config["game"]["name"], job.project)
        game = {"game": offer, offer: beside} if offer in (GYMNASIUM, ATARI) else {"game": job.config["game"]["name"]}
        if offer == games.SIMULATOR and beside:
            game = {"game": by_moves(job.project).get(pk=int(beside)).called}
        elif offer in cls.offered:
            game["game"] = offer
        minutes = job.config.get("minutes") or ""
        started = beginnings.number_of(beginnings.agent_of(job.config, job.project))
        return {**super().typed_of(job), **game, "minutes": minutes, "start": started}

    @classmethod
    def gone(cls, job: Job) -> Gone:
        """The agent that it began with, where nobody keeps it."""
        return Gone(beginnings.gone(job.config, job.project), ("start",))

    @classmethod
    def represented(cls, job: Job) -> Represented:
        """Without an agent to begin with where nobody keeps it."""
        config = beginnings.without(job.config) if cls.gone(job).said else job.config
        return Represented(Job(project=job.project, kind=job.kind, game_version=job.game_version, config=config))

    def before(self, study: Any, user: User, **refers: Any) -> dict[str, Any]:
        """Also that they have to share processors, where they have to, and that episodes may not end."""
        parts = kinds.parts_of(self.kind)
        return {**super().before(study, user, **refers), "crowded": parts.crowded(study), "short": parts.short(study)}


class LayeredForm(LearningForm):
    """Also asks for the layers of the networks. An agent that it begins with may get larger ones. ``layers``: those of
    policy and critic where nothing is typed, as the empty boxes show them."""

    layers: ClassVar[tuple[str, str]] = "", ""
    places: ClassVar[Mapping[str, str]] = {
        **LearningForm.places, "learner.network.policy": "policy", "learner.network.critic": "critic",
        "learner.network": "critic", "learner.normalise_observations": "start",
    }  # fmt: skip
    policy: Any = NumbersField(
        label="Layers of the policy", required=False,
        help_text="Units in each, such as 64 64. Where nothing is typed, those of the agent that it begins with; else "
        "as usual.",
    )  # fmt: skip
    critic: Any = NumbersField(label="Layers of the critic", required=False, help_text="Units in each.")

    def prepare(self) -> None:
        super().prepare()
        for name, usual in zip(("policy", "critic"), self.layers, strict=True):
            self.fields[name].widget.attrs["placeholder"] = f"usually {usual}" if whole(usual[:1], 9) else usual

    def network(self, usual: Mapping[str, Any]) -> dict[str, Any]:
        """The usual network with the layers that were typed; a critic on top of the policy has its layers, too."""
        typed = {name: units for name, units in self.typed(policy="policy", critic="critic").items() if units}
        if "policy" in typed and "critic" not in typed and usual["sharing"] == "top":
            typed["critic"] = [*typed["policy"], *usual["critic"][len(usual["policy"]) :]]
        return {**usual, **typed}

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Also its layers."""
        network = job.config["learner"]["network"]
        return {**super().typed_of(job), **{name: as_units(network[name]) for name in ("policy", "critic")}}


def as_units(layers: Iterable[int]) -> str:
    """The units of layers as they are typed."""
    return " ".join(map(str, layers))
