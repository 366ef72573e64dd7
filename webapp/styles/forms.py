"""The page that breeds styles of play as a form: whatever was typed, either one search or what is wrong at which
field."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django import forms
from django.conf import settings as site

from engine.catalog import built_in
from engine.config import Study, TrainConfig
from engine.config.evolve import AimConfig
from engine.config.learners import merged
from engine.config.style_reward import STYLE, WINNING, StyleReward
from engine.config.style_templates import TEMPLATES, Template
from engine.config.styles import StylesConfig
from engine.config.whole_updates import that_fit
from engine.styles.preview import Samples, problems
from webapp.agents import data
from webapp.balance.forms import sentence
from webapp.games.fields import NumberField
from webapp.games.models import GameVersion
from webapp.lib.digits import whole
from webapp.lib.first import first
from webapp.lib.words import one_of
from webapp.projects.models import Project
from webapp.studies import estimates
from webapp.studies.models import Job
from webapp.styles import budget, sample_episodes, scales
from webapp.styles.goal_fields import GoalFields
from webapp.styles.scales import FURTHEST, MIDDLE, OFFERS, OWN
from webapp.training import forecast, games, settings
from webapp.training.forms import TrainForm
from webapp.training.ranges import RangeField
from webapp.training.start_field import StartField

POPULATION, ROUNDS, EPISODES, FRESH = 12, 8, 60, 100
SHARE = 20
"""An agent learns from this part of what a training of its own takes, each round anew."""
START = {"game": first(OFFERS)}
"""What the page offers before anything is typed."""
FORMULAS = (WINNING, STYLE)
NOT_WRITTEN = "Write what is paid for in each decision, such as 2 * moved − 1."
TOO_FEW_GOALS = "Write at least two goals: agents that no other beats in both stay, so they end up different."


class StyleForm(GoalFields, TrainForm):
    """``study`` is the search once the form is valid. ``samples``: sample episodes of its game, once there are any."""

    offers = OFFERS
    game = forms.ChoiceField(choices=[(o.key, o.title) for o in OFFERS.values()], label="Game")
    # None takes a field out of a form that is made from another.
    minutes = sampling = max_staleness = None  # type: ignore[assignment]
    scale = forms.ChoiceField(
        label="Styles",
        required=False,
        choices=[*((t.key, f"{t.one} ↔ {t.other}") for t in TEMPLATES.values()), (OWN, "Your own")],
    )
    winning = forms.CharField(label="Winning", max_length=500, required=False)
    style = forms.CharField(label="Style", max_length=500, required=False)
    matters = NumberField(
        label="What matters more", required=False, whole=True, low=0, high=FURTHEST,
        help_text="To the left agents play to win and hardly differ; to the right they differ, and some play badly.",
    )  # fmt: skip
    w1 = RangeField(
        label="How much winning matters", required=False, max_length=60,
        help_text="w1: a number, or a range such as 0.5 to 2, of which each agent has a weight of its own.",
    )  # fmt: skip
    w2 = RangeField(
        label="How much the style matters", required=False, max_length=60,
        help_text="w2: a number, or a range such as -0.01 to 0.01. Below 0 the opposite of the style is paid for.",
    )  # fmt: skip
    behaviour = forms.CharField(
        label="Told apart by", max_length=200, required=False,
        help_text="What says how an agent plays: measures of an episode, with spaces between them.",
    )  # fmt: skip
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
        return " ".join((*chosen, known))

    @property
    def name(self) -> str:
        title = games.title_of(self.game_name, self.project) if self.game_name else self.offer.title
        usual = f"{self.template.one} and {self.template.other.lower()}" if self.template else "Styles of play"
        return self._said("title")[:120] or f"{usual}: {title}"[:120]

    @property
    def scale_chosen(self) -> str:
        """The scale that the page shows: where nobody chose one, the first that the game can offer."""
        said = self._said("scale")
        first = (s.template.key for s in scales.known_signals(self.offer.name, None).scales() if not s.missing)
        return said or next(first, OWN)

    @property
    def template(self) -> Template | None:
        """The chosen scale; None where formulas are one's own."""
        return TEMPLATES.get(self.scale_chosen)

    @property
    def _scale(self) -> dict[str, Any]:
        """What the chosen scale asks for in this game."""
        assert self.template is not None
        row = built_in(self.game_name) if self.game_name else None
        return self.template.settings(self.game_signals.names, row.weights if row is not None else {})

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

    @cached_property
    def samples(self) -> Samples | None:
        """Sample episodes of the game as it is chosen; None while they are not played."""
        return sample_episodes.samples_of(self.played)

    @cached_property
    def played(self) -> Job | None:
        """The job of the sample episodes; None where there is none, or nobody can say which game is meant."""
        config = sample_episodes.of_game(self.game_as_typed)
        return None if config is None else sample_episodes.known(self.project, config)

    @property
    def game_as_typed(self) -> dict[str, Any]:
        """The game with its settings, as data."""
        game = data.on(self.game_as_data, self.version)
        return game | self.limits(game) if self.game_name else game

    @cached_property
    def version(self) -> GameVersion | None:
        """The project's data that the game is played on; None where it is played on none."""
        return data.version_of(self.game_name, self.project)

    @property
    def game_signals(self) -> scales.KnownSignals:
        """What the game tells."""
        return scales.known_signals(self.game_name, self.samples)

    @property
    def reward(self) -> dict[str, Any]:
        """The reward of the study, as data: the scale's or one's own, weighed by the slider or by numbers."""
        style = self._scale["task"]["style"] if self.template else self._own_reward()
        slider = self.cleaned_data.get("matters")
        low, high = scales.weights(MIDDLE if slider is None else slider, tuple(style["w2"]))
        w1, w2 = (self.cleaned_data.get(name) for name in ("w1", "w2"))
        return {**style, "w1": 1.0 if w1 is None else w1, "w2": [low, high] if w2 is None else w2}

    def _own_reward(self) -> dict[str, Any]:
        winning, style = (self._said(name) for name in FORMULAS)
        formulas: dict[str, Any] = {WINNING: winning or "score", STYLE: style}
        return {**formulas, "w2": scales.balanced(StyleReward.model_construct(**formulas), self.samples)}

    @property
    def goals(self) -> list[dict[str, Any]]:
        """Goals as data, each with the ``field`` that it stands in."""
        if self.template:
            return [{**goal, "field": "scale"} for goal in self._scale["objectives"]]
        return list(self.own_goals(self.game_signals))

    @property
    def ways(self) -> list[str]:
        """Measures by which styles are told apart."""
        if self.template:
            return list(self._scale["behaviour"])
        typed = self._said("behaviour").replace(",", " ").split()
        return typed or scales.aimed_at(self.aims, self.game_signals) or self.game_signals.behaviour[:2]

    def _check(self, cleaned: dict[str, Any]) -> None:
        super()._check(cleaned)
        missing = {scale.template.key: scale.missing for scale in self.game_signals.scales()}.get(self.scale_chosen, "")
        if missing:
            self.add_error("scale", f"This game does not tell {missing}. Choose another scale, or write formulas.")
        if not self.template:
            self._check_own()

    def _check_own(self) -> None:
        """Say what is missing of one's own formulas, and what the game does not measure."""
        if not self._said(STYLE):
            self.add_error(STYLE, NOT_WRITTEN)
        if len(self.goals) < 2:
            self.add_error("goal-2" if self.goals else "goal-1", TOO_FEW_GOALS)
        for goal in self.goals:
            if goal["measure"] in FORMULAS:
                self.add_error(goal["field"], f"“{goal['measure']}” is what is paid for. Call this goal otherwise.")
        strange = scales.unmeasured(self.ways, self.game_signals) if self.samples is not None else []
        if strange:
            measured = ", ".join(word.name for word in self.game_signals.measures)
            self.add_error("behaviour", f"This game does not measure {one_of(strange)}. It measures {measured}.")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        known, style = self.samples, StyleReward.model_construct(**self.reward)
        for place, message in problems(style, self.aims, known) if known else scales.strange(style, self.game_signals):
            self.point_at(place, message)
        return cleaned

    def _keep(self, study: Study | None) -> None:
        assert isinstance(study, StylesConfig)
        self.study = study

    def _data(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        own = settings.typed(self.groups, cleaned)
        learner = merged(self.shown.learner.model_dump(), own.get("learner", {}))
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

    def point_at(self, place: str, message: str) -> None:
        if place == "objectives" and len(self.goals) < 2:
            return  # it is said already, at the goal that is missing
        name = self._field_of(place)
        if name is None:
            super().point_at(place.removeprefix("task."), message)
        elif name not in self.errors:  # of several about one field the first is told
            self.add_error(name, sentence(scales.worded(place, message)))

    def _field_of(self, place: str) -> str | None:
        """The field of a part of the reward, of a goal or of a number; None for any other place."""
        if place.startswith(("task.style", "objectives", "behaviour")) and self.template:
            return "w2" if place in ("task.style", "task.style.w2") else "w1" if place == "task.style.w1" else "scale"
        parts = place.split(".")
        if place.startswith("task.style"):
            return parts[2] if len(parts) > 2 else "w2"
        if parts[0] == "objectives":
            i = (whole(parts[1]) if len(parts) > 1 else None) or 0
            return self.goals[i]["field"] if i < len(self.goals) else "goal-1"
        plain = {"ticks": "rounds", "behaviour": "behaviour", "algorithm": "population", "task.steps": "steps"}
        return plain.get(place) or plain.get(parts[0])

    @property
    def aims(self) -> list[AimConfig]:
        """Goals as the engine has them, whether or not it takes them: for what sample episodes say."""
        return [
            AimConfig.model_construct(measure=goal["measure"], formula=goal.get("formula", "")) for goal in self.goals
        ]
