"""The page that breeds styles of play as a form: whatever was typed, either one search or what is wrong at which
field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings as site

from engine.catalog import built_in
from engine.config import Study, TrainConfig
from engine.config.learners import merged
from engine.config.styles import StylesConfig
from engine.config.whole_updates import that_fit
from webapp.games.fields import NumberField
from webapp.lib.first import first
from webapp.projects.models import Project
from webapp.studies import estimates
from webapp.studies.models import Job
from webapp.styles import budget
from webapp.styles.reward_form import RewardForm
from webapp.styles.scales import OFFERS
from webapp.training import forecast, games, settings
from webapp.training.start_field import StartField

POPULATION, ROUNDS, EPISODES, FRESH = 12, 8, 60, 100
SHARE = 20
"""An agent learns from this part of what a training of its own takes, each round anew."""
START = {"game": first(OFFERS)}
"""What the page offers before anything is typed."""


class StyleForm(RewardForm):
    """``study`` is the search once the form is valid."""

    offers = OFFERS
    game = forms.ChoiceField(choices=[(o.key, o.title) for o in OFFERS.values()], label="Game")
    # None takes a field out of a form that is made from another.
    minutes = sampling = max_staleness = None  # type: ignore[assignment]
    start = StartField(
        "New networks", label="First agents begin with",
        help_text="A saved agent: the first ones are copies of it, each changed a little. Its network may be smaller "
        "than the one chosen here: what is added changes nothing at first.",
    )  # fmt: skip
    steps = NumberField(
        label="Decisions an agent learns from", required=False, whole=True, low=1, high=10**12,
        help_text="In each round; it goes on with what its parent has learned.",
    )  # fmt: skip
    population = NumberField(
        label="Agents", required=False, whole=True, low=4, high=10_000, help_text="Trained in each round."
    )
    rounds = NumberField(
        label="Rounds", required=False, whole=True, low=1, high=1_000_000, help_text="One after another."
    )
    control = forms.BooleanField(
        label="Selection off", required=False,
        help_text="The control of a search: who stays is drawn at random and each agent’s weights are new, so what "
        "selection does can be seen beside it.",
    )  # fmt: skip
    fresh = NumberField(
        label="Fresh episodes at the end", required=False, whole=True, low=0, high=100_000,
        help_text="Those of the last round that no other beats are measured again on so many that the search never "
        "saw. 0: they are not.",
    )  # fmt: skip

    def __init__(self, data: Mapping[str, Any], *, project: Project) -> None:
        super().__init__({**START, **data}, project=project)
        self.as_typed = dict(data)
        self.fields["episodes"].help_text = "Each agent’s, on seeds that it did not learn from, without exploring."
        self.fields["seed"].help_text = "Same seed, same agents."
        self.study: StylesConfig | None = None

    def _groups(self, samplers: int) -> list[settings.SettingGroup]:
        """What is paid for is asked for elsewhere."""
        every = settings.groups(self.offer, self.shown, samplers)[1:]
        return [g._replace(settings=tuple(s for s in g.settings if s.name != settings.REWARDS)) for g in every]

    @property
    def shape(self) -> str:
        known = "" if self.samples is None else "played"
        chosen = (self.offer.key, self.game_name, self.shown.key, self.does, self.scale_chosen, self._said("start"))
        return " ".join((*chosen, known, self._said("example")))

    @property
    def name(self) -> str:
        title = games.title_of(self.game_name, self.project) if self.game_name else self.offer.title
        usual = f"{self.template.one} and {self.template.other.lower()}" if self.template else "Styles of play"
        return self._said("title")[:120] or f"{usual}: {title}"[:120]

    @property
    def usual_steps(self) -> int:
        """Decisions of an agent's training where none are typed."""
        row = built_in(self.game_name) if self.game_name else None
        return (row.bred_steps if row is not None else 0) or max(1, self.shown.steps // SHARE)

    @property
    def described(self) -> StylesConfig | None:
        return self.study

    @property
    def tried(self) -> TrainConfig | None:
        return forecast.training_of(self.study) if self.study is not None else None

    @property
    def unsure(self) -> dict[str, str]:
        return {} if self.samples is not None else {"scale": "What is paid for"}

    @property
    def minutes_typed(self) -> float:
        return 0.0

    def estimate(self, trial: Job | None) -> estimates.Estimate | None:
        assert self.study is not None
        return forecast.estimate(self.study, trial, self.offer.longest, self.project, "agent")

    @property
    def too_few(self) -> str:
        """A warning where agents learn from so few decisions that they may see no episode end."""
        if self.study is None:
            return ""
        task = self.study.task
        longest, usual = games.longest(self.offer, task.game.settings), self.usual_steps // self.shown.battles
        return budget.too_few(task, self.samples, longest, usual)

    def _keep(self, study: Study | None) -> None:
        assert isinstance(study, StylesConfig)
        self.study = study

    def _data(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        own = settings.typed(self.groups, cleaned)
        preset = self.shown.learner.model_dump() | {"rewards": {}}  # which weighs the game's own, where it does
        learner = merged(preset, own.get("learner", {}))
        usual = {"seed": 1, "rounds": ROUNDS, "steps": self.usual_steps, "fresh": FRESH, "population": POPULATION,
                 "episodes": EPISODES}  # fmt: skip
        typed = {name: value if cleaned[name] is None else cleaned[name] for name, value in usual.items()}
        return {
            "kind": "style",
            "name": self.name,
            "seed": typed["seed"],
            "task": {"game": self.game_as_typed, "learner": learner, "steps": typed["steps"],
                     "environments": self._battles(typed["steps"], learner["fragment"]), "style": self.reward},
            "objectives": [{name: value for name, value in goal.items() if name != "field"} for goal in self.goals],
            "behaviour": self.ways,
            "algorithm": {"kind": "nsga2", "population": typed["population"]},
            "ticks": typed["rounds"],
            "episodes": typed["episodes"],
            "fresh": typed["fresh"],
            "selection": not cleaned["control"],
            "pool": {"kind": "ray", "workers": site.CPUS},
            **({"start": self.began.policy} if self.began is not None else {}),
        }  # fmt: skip

    def _battles(self, steps: Any, fragment: Any) -> int:
        """How many battles an agent plays together: the usual number, or fewer in a short training."""
        right = isinstance(steps, int) and isinstance(fragment, int) and fragment > 0
        return that_fit(self.shown.battles, steps, fragment) if right else self.shown.battles
