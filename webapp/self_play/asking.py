"""Which game a population learns by playing against itself: the form, and what the API takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django import forms

from engine.catalog import GAMES
from engine.config.evaluate import SavedConfig
from engine.config.self_play import SelfPlayConfig
from engine.config.whole_episodes import battles_that_end
from webapp.accounts.models import User
from webapp.evaluations.asking import EvaluationForm
from webapp.games.fields import NumberField
from webapp.games.numbers import field_text
from webapp.projects.models import Project
from webapp.studies.intake import Table
from webapp.studies.models import Job
from webapp.studies.setting_fields import is_range, range_text
from webapp.training import games
from webapp.training.entrants import foreign, plays
from webapp.training.intake import GameIntake
from webapp.training.learned import whole_batches
from webapp.training.methods import presets_for
from webapp.training.ranges import HOW, RangeField, has_range, read

POPULATION, ROUNDS, STEPS, MEETINGS = 8, 20, 150_000, 30
RATE, ENTROPY = "0.0001 to 0.01", "0 to 0.03"
NO_RANGE = "One of the two must be a range, such as 0.0001 to 0.01: members differ by their settings."
OPPONENTS = {
    "hardest": "Whoever they beat least",
    "mostly-latest": "Mostly the latest, at times earlier ones",
    "uniform": "Latest and earlier ones, equally often",
    "latest": "Only the latest",
}


class SelfPlayIntake(GameIntake):
    """How the site starts self-play: in a game for two that may be played here."""

    within = "task"

    def title(self, game: str, asked: Table) -> str:
        """What it is called where the body says nothing."""
        return f"Self-play: {game}"

    def unfit(self, data: Table, study: Any, project: Project) -> Iterator[tuple[str, str]]:
        """Also games that are not for two, and what speaks against the players outside."""
        yield from super().unfit(data, study, project)
        if isinstance(study, SelfPlayConfig):
            offer = games.OFFERS[games.named(study.task.game.name, project)[0]]
            if offer.key != games.SIMULATOR and not _suits(offer.key):
                yield "task.game.name", f"members meet in games for two that act at once: {', '.join(_offered())}"
            yield from _strangers(study, project)


def _strangers(study: SelfPlayConfig, project: Project) -> Iterator[tuple[str, str]]:
    """Who of the players outside may not play: saved agents of another game, and whom the project does not have."""
    saved = {agent.policy: agent for agent in project.agents.kept()}
    game, others = study.task.game.name, study.opponents.others
    agents = {name: saved[o.policy] for name, o in others.items() if isinstance(o, SavedConfig) and o.policy in saved}
    for name, agent in agents.items():
        if not plays(agent.game["name"], game):
            yield f"opponents.others.{name}.policy", f"“{agent.name}” plays another game"
    for place, why in foreign({name: o for name, o in others.items() if name not in agents}, game, project):
        yield f"opponents.others.{place.removeprefix('policies.')}", why


def _suits(game: str) -> bool:
    return game in GAMES and GAMES[game].for_two and GAMES[game].squad == 1 and not GAMES[game].turns


def _offered() -> list[str]:
    return [name for name in GAMES if _suits(name)]


class SelfPlayForm(EvaluationForm):
    """Which game, against whom, and for how long."""

    folded: ClassVar[tuple[str, ...]] = ("rate", "entropy", "episodes", "seed")
    places: ClassVar[Mapping[str, str]] = {
        "task.game.name": "game", "task.game": "game", "task.steps": "steps", "task.learner.rate": "rate",
        "ticks": "rounds", "task.learner.entropy_weight": "entropy", "algorithm.population": "population",
        "opponents.others": "policies", "opponents.choice": "opponents",
    }  # fmt: skip
    """Fields by places of the study."""
    policies = forms.MultipleChoiceField(
        label="Also against", required=False, widget=EvaluationForm.base_fields["policies"].widget,
        help_text="Trained agents and scripts that do not learn; a fifth of all battles. They show how strong members "
        "are beside each other.",
    )  # fmt: skip
    opponents = forms.ChoiceField(
        label="Members play against", choices=list(OPPONENTS.items()), initial="hardest",
        help_text="Members as they are now, and as they were after earlier rounds. With the latest alone it is quick, "
        "but may run in circles.",
    )  # fmt: skip
    population: Any = NumberField(
        label="Members", whole=True, low=2, high=200, required=False, usual=POPULATION,
        help_text="In each round, those that lag go on from better ones.",
    )  # fmt: skip
    rounds: Any = NumberField(label="Rounds", whole=True, low=1, high=10_000, required=False, usual=ROUNDS)
    steps: Any = NumberField(
        label="Decisions a member learns from", whole=True, low=1, high=10**9, required=False, usual=STEPS,
        help_text="In each round.",
    )  # fmt: skip
    episodes: Any = NumberField(
        label="Meetings that measure a member", whole=True, low=2, high=10_000, required=False, usual=MEETINGS,
        help_text="In each round. A meeting is two battles, one from each seat.",
    )  # fmt: skip
    rate = RangeField(
        label="Learning rate", required=False, max_length=60, help_text=HOW,
        widget=forms.TextInput(attrs={"placeholder": RATE}),
    )  # fmt: skip
    entropy = RangeField(
        label="Reward for trying things out", required=False, max_length=60,
        help_text=HOW, widget=forms.TextInput(attrs={"placeholder": ENTROPY}),
    )  # fmt: skip
    field_order = ("title", "game", "opponents", "policies", "population", "rounds", "steps")

    def before(self, study: Any, user: User, **refers: Any) -> dict[str, Any]:
        """Also how many decisions a member really learns from."""
        found, whole = super().before(study, user, **refers), whole_batches(study.task, "a member")
        return {**found, "note": f"{found.get('note', '')} {whole}".strip()} if whole else found

    def prepare(self) -> None:
        super().prepare()
        field: Any = self.fields["game"]
        field.choices = [(key, title) for key, title in field.choices if key not in GAMES or _suits(key)]
        field.help_text = ""
        self._offer_agents(self.project)

    def _offer_agents(self, project: Project) -> None:
        """Saved agents stand among the players outside, and play as they do everywhere."""
        players: Any = self.fields["policies"]
        agents = {f"agent-{agent.pk}": agent for agent in project.agents.kept()}
        self.able |= {
            name: [game for game in GAMES if plays(agent.game["name"], game)] for name, agent in agents.items()
        }
        self.entrants |= {name: agent.config.model_dump(mode="json") for name, agent in agents.items()}
        home = {name: games.title_of(agent.game["name"], project) for name, agent in agents.items()}
        saved = [(name, f"{agent.name}, saved agent of {home[name]}") for name, agent in agents.items()]
        players.choices = [*players.choices, *saved]
        players.widget.able = self.able

    def clean_policies(self) -> list[str]:
        """Any number."""
        chosen: list[str] = self.cleaned_data["policies"]
        return chosen

    def clean(self) -> dict[str, Any]:
        """At least one range."""
        cleaned = super().clean() or {}
        for name, usual in (("rate", RATE), ("entropy", ENTROPY)):
            if name in cleaned and cleaned[name] is None:
                cleaned[name] = read(usual)
        if {"rate", "entropy"} <= cleaned.keys() and not has_range([cleaned["rate"], cleaned["entropy"]]):
            self.add_error("rate", NO_RANGE)
        return cleaned

    def table(self) -> dict[str, Any]:
        """The study, as a body of the API would have it."""
        typed, game = self.cleaned_data, self.cleaned_data["game"]
        offer = games.OFFERS.get(game)
        preset = presets_for("ppo", game, offer.sees if offer else "")[0]
        learner = {**preset.learner.model_dump(), "rate": typed["rate"], "entropy_weight": typed["entropy"]}
        usual = {"rounds": ROUNDS, "steps": STEPS, "episodes": MEETINGS, "seed": 1, "population": POPULATION}
        values = {name: value if typed[name] is None else typed[name] for name, value in usual.items()}
        others = {name: self.entrants[name] for name in typed["policies"]}
        battles = battles_that_end(values["steps"], offer.longest if offer else 0, preset.battles)
        return {
            **self.typed(name="title"),
            "task": {"game": game, "learner": learner, "steps": values["steps"], "environments": battles},
            "opponents": {"choice": typed["opponents"], "others": others},
            "algorithm": {"kind": "pbt", "population": values["population"]},
            "ticks": values["rounds"],
            "episodes": values["episodes"],
            "seed": values["seed"],
        }

    @classmethod
    def played(cls, job: Job) -> tuple[Mapping[str, Any], Mapping[str, Mapping[str, Any]]]:
        """Its game, and who played from outside."""
        return job.config["task"]["game"], job.config["opponents"]["others"]

    @classmethod
    def typed_of(cls, job: Job) -> dict[str, Any]:
        """Also its ranges."""
        learner = job.config["task"]["learner"]
        ranges = {"rate": learner["rate"], "entropy": learner["entropy_weight"]}
        texts = {name: range_text(value) if is_range(value) else field_text(value) for name, value in ranges.items()}
        return {**super().typed_of(job), **texts}
