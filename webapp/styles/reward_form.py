"""What agents of a search for styles are paid for, as a part of its form: a scale or formulas of one's own, goals, and
what sample episodes of the game say of them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django import forms

from engine.catalog import built_in
from engine.config.evolve import AimConfig
from engine.config.style_reward import STYLE, WINNING, StyleReward
from engine.config.style_templates import TEMPLATES, Template
from engine.styles.preview import Samples, problems
from webapp.agents import data
from webapp.balance.forms import sentence
from webapp.games.fields import NumberField
from webapp.games.models import GameVersion
from webapp.lib.digits import whole
from webapp.lib.words import one_of
from webapp.studies.models import Job
from webapp.styles import example, sample_episodes, scales
from webapp.styles.goal_fields import GoalFields
from webapp.styles.scales import FURTHEST, MIDDLE, OWN
from webapp.training.forms import TrainForm
from webapp.training.ranges import RangeField

FORMULAS = (WINNING, STYLE)
NOT_WRITTEN = "Write what is paid for in each decision, such as 2 * moved − 1."
TOO_FEW_GOALS = "Write at least two goals: agents that no other beats in both stay, so they end up different."


class RewardForm(GoalFields, TrainForm):
    """``samples``: sample episodes of its game, once there are any."""

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
    example = forms.CharField(required=False, widget=forms.HiddenInput)
    """The mark of the example that the page began with: what somebody cleared since stays cleared."""

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
        return self._in_game(self.template)

    def _in_game(self, template: Template) -> dict[str, Any]:
        row = built_in(self.game_name) if self.game_name else None
        return template.settings(self.game_signals.names, row.weights if row is not None else {})

    @property
    def untouched(self) -> bool:
        """Whether fields for formulas of one's own hold what the page began with."""
        return self._said("example") == example.mark(self._own_texts)

    @property
    def _own_texts(self) -> dict[str, str]:
        return {name: self._said(name) for name in example.OWN_FIELDS}

    def _begin(self) -> None:
        """Fill in an example where nobody wrote formulas of one's own; another game has another one."""
        begun = bool(self._said("example")) or any(self._own_texts.values())
        if begun and not self.untouched:
            self.data = {**self.data, "example": self._said("example") or example.WRITTEN}
            return
        scale, known = example.first_scale(self.game_signals), (self.game_signals, self.samples)
        filled = example.of_scale(self._in_game(scale)) if scale else example.of_measures(*known)
        nothing = dict.fromkeys(example.OWN_FIELDS, "")
        self.data = {**self.data, **nothing, **filled, "example": example.mark(filled)}

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

    @property
    def aims(self) -> list[AimConfig]:
        """Goals as the engine has them, whether or not it takes them: for what sample episodes say."""
        return [
            AimConfig.model_construct(measure=goal["measure"], formula=goal.get("formula", "")) for goal in self.goals
        ]

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
        strange = scales.unmeasured(self.ways, self.game_signals)
        if strange:
            measured = ", ".join(word.name for word in self.game_signals.measures)
            self.add_error("behaviour", f"This game does not measure {one_of(strange)}. It measures {measured}.")

    def clean(self) -> dict[str, Any]:
        if not self.template:
            self._begin()  # what the game tells is known only now
        cleaned = super().clean()
        known, style = self.samples, StyleReward.model_construct(**self.reward)
        for place, message in problems(style, self.aims, known) if known else self._strange(style):
            self.point_at(place, message)
        return cleaned

    def _strange(self, style: StyleReward) -> list[tuple[str, str]]:
        """What is wrong with formulas while no sample episodes are played."""
        known = self.game_signals
        return [*scales.strange(style, known), *scales.strange_goals(self.aims, known)]

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
