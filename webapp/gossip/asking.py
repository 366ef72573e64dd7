"""Which game several agents learn side by side, and how they share it: the form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django.conf import settings

from engine.catalog import GAMES
from engine.config.gossip import MOST
from webapp.games.fields import NumberField, NumberRange
from webapp.projects.models import Project
from webapp.studies import checks
from webapp.studies.intake import Table
from webapp.studies.models import Job
from webapp.studies.study_form import CardsField
from webapp.training import beginnings, games
from webapp.training.intake import AloneIntake
from webapp.training.learning_form import LayeredForm
from webapp.training.methods import Preset, presets_for

AGENTS, BATTLES, SOME = 4, 16, 10
AS_TUNED = "as usual for the game"
USUAL_ROUNDS, FEW_ROUNDS = 40, 8
TOPOLOGIES = {
    "ring": ("A ring", "Each takes over from the one before it."),
    "exponential": ("A ring with short cuts", "Each takes over from those 1, 2, 4, 8 and so on before it."),
    "bipartite": ("Two groups", "Each exchanges with some of the other group."),
    "full": ("Everybody", "Each takes over from all others."),
    "tree": ("A tree", "Each exchanges with the one above it and the two below."),
}
WAITS = {
    "step": ("They wait for each other", "The same seed gives the same agent, bit for bit."),
    "some": (
        "They wait for neighbours they have long not heard from",
        f"Short waits are spared. Long: for {SOME} updates in a row, or what you type in the details.",
    ),
    "never": ("Nobody waits", "No time is lost on a slow one. No two trainings are quite the same."),
    "repeated": ("Nobody waits, and old messages count again", "Nothing is gained by it. For comparisons."),
}
STALENESS: Mapping[str, int | None] = {"step": 0, "never": None, "repeated": None}


def _tuned(game: str) -> Preset:
    """The settings of A3C for a game: those that somebody tuned for it, or the usual ones."""
    seen = {games.ATARI: games.PICTURES}.get(game, GAMES[game].sees if game in GAMES else "")
    return presets_for("a3c", game, seen)[0]


class GossipIntake(AloneIntake):
    """How the site starts it: in a game for one agent that may be played here."""

    def workers(self) -> int:
        """Agents are the study's own setting."""
        return 0

    def unfit(self, data: Table, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """Also more agents than this site has processes for."""
        yield from super().unfit(data, study, project)
        if study is not None and study.pool.kind != "local":
            yield from checks.too_many("agents", study.agents)

    def title(self, game: str, asked: Table) -> str:
        """What it is called where the body says nothing."""
        return f"Side by side: {game}"


class GossipForm(LayeredForm):
    """Which game, how many agents, and how they share."""

    layers: ClassVar[tuple[str, str]] = AS_TUNED, AS_TUNED

    offered: ClassVar[Mapping[str, str]] = {
        **{offer.name: offer.title for offer in games.ALONE.values() if offer.name and offer.does != games.STEERING},
        **{key: games.OFFERS[key].title for key in (games.ATARI, games.GYMNASIUM)},
    }
    usual: ClassVar[Mapping[str, Any]] = {"game": "pong"}
    groups: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]] = (
        ("Which game, and how many learn it?", ("game", "gymnasium", "atari", "agents")),
        ("Who takes over from whom?", ("topology",)),
        ("What if one is slower?", ("waits",)),
        ("How far?", ("start", "steps", "minutes")),
    )
    folded: ClassVar[tuple[str, ...]] = (
        "behind",
        "fragment",
        "trace",
        "batch",
        "rate",
        "battles",
        "policy",
        "critic",
        "seed",
    )
    places: ClassVar[Mapping[str, str]] = {
        **LayeredForm.places, "environments": "battles", "learner.rate": "rate",
        "learner.fragment": "fragment", "learner.trace": "trace", "learner.batch": "batch", "staleness": "waits",
        "ordered": "waits",
    }  # fmt: skip
    agents: Any = NumberField(label="Agents", whole=True, required=False)
    topology = CardsField(TOPOLOGIES, label="Who takes over from whom", initial="ring")
    waits = CardsField(WAITS, label="When one is slower", initial="step")
    behind: Any = NumberField(
        label="Updates without its neighbours", whole=True, low=1, high=10**6, required=False, usual=SOME,
        help_text="τ: after so many in a row an agent waits to hear from them.",
    )  # fmt: skip
    fragment: Any = NumberField(
        label="Decisions of a return", whole=True, low=1, high=100_000, required=False, usual=AS_TUNED,
        help_text="n: so many are played, in each battle, before what is foreseen counts.",
    )  # fmt: skip
    trace: Any = NumberField(
        label="Share of later steps in a return", low=0, high=1, required=False, usual=AS_TUNED,
        help_text="λ. 1: returns of n steps, as the method was published. Less: returns of fewer steps count, too.",
    )  # fmt: skip
    batch: Any = NumberField(
        label="Decisions of an update", whole=True, low=1, high=10_000_000, required=False, usual=AS_TUNED,
        help_text="Of each agent, at least: whole returns of all its battles.",
    )  # fmt: skip
    battles: Any = NumberField(
        label="Battles that each agent plays together", whole=True, low=1, high=100_000, required=False, usual=16,
    )  # fmt: skip
    rate: Any = NumberField(
        label="Learning rate", low=0, high=1, above=True, required=False, usual=AS_TUNED,
    )  # fmt: skip

    def prepare(self) -> None:
        super().prepare()
        agents: Any = self.fields["agents"]
        most = min(MOST, checks.most_workers())
        agents.span = NumberRange(2, most)
        agents.widget.attrs["placeholder"] = str(AGENTS)
        self.fields["agents"].help_text = (
            f"Each has a processor of its own as long as there are enough. This site has {settings.CPUS}: beyond that, "
            f"more agents make it no faster, and it starts {most} at most."
        )
        self.fields["seed"].help_text = "Same seed, same result, where they wait for each other."
        self.fields["steps"].widget.attrs["placeholder"] = AS_TUNED
        self.fields["steps"].help_text = (
            f"Of all agents together; usually {self.decisions:,}, in Pong {_tuned('pong').steps:,}. Each time one "
            "chooses what to do is a decision."
        )

    def clean(self) -> dict[str, Any]:
        """For how long one goes on without its neighbours is a matter of those that wait for them."""
        cleaned = super().clean()
        if cleaned.get("behind") is not None and cleaned.get("waits", "some") != "some":
            self.add_error("behind", "Leave this empty, or let them wait for neighbours they have long not heard from.")
        return cleaned

    def own(self) -> dict[str, Any]:
        """How many, who takes over from whom, and the learner, tuned for the game where somebody has."""
        typed = self.cleaned_data
        learner = beginnings.going_on(_tuned(typed["game"]), self.begun).learner.model_dump()
        learner["network"] = self.network(learner["network"])
        agents = AGENTS if typed["agents"] is None else typed["agents"]
        return {
            **self.typed(environments="battles"),
            **self._rounds(agents * (typed["battles"] or BATTLES)),
            "learner": learner | self.typed(rate="rate", fragment="fragment", trace="trace", batch="batch"),
            "agents": agents,
            "topology": typed["topology"],
            "staleness": (typed["behind"] or SOME) if typed["waits"] == "some" else STALENESS[typed["waits"]],
            "ordered": typed["waits"] != "repeated",
        }

    @property
    def usual_steps(self) -> int:
        """As many as somebody found enough in this game."""
        return _tuned(self.cleaned_data["game"]).steps

    def _rounds(self, battles: int) -> dict[str, int]:
        """Rounds so long that episodes end in them: where agents wait for each other, all battles begin afresh at the
        end of a round. Of a short training a few rounds at least."""
        longest, steps = games.longest_of(self.game_name, {}), self.cleaned_data["steps"] or self.usual_steps
        if self.cleaned_data["waits"] != "step" or longest * battles <= steps // USUAL_ROUNDS:
            return {}
        return {"checkpoint_every": max(1, min(longest * battles, steps // FEW_ROUNDS)), "evaluate_every": 2}

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Also when one waits for its neighbours, in words."""
        staleness = job.config["staleness"]
        waits = {0: "step", None: "never" if job.config["ordered"] else "repeated"}.get(staleness, "some")
        return {**super().typed_of(job), "waits": waits, "behind": staleness if waits == "some" else ""}
