"""The Search-for-good-settings page as a form: the Train-an-agent form with ranges, and how they are searched."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings as site

from engine.config import EvolveConfig
from webapp.games.fields import NumberField
from webapp.projects.models import Project
from webapp.studies.models import Job
from webapp.training import games, methods, searching, settings
from webapp.training.forms import TrainForm
from webapp.training.games import OFFERS
from webapp.training.methods import PRESET_LIST
from webapp.training.ranges import opened, ranges_in

POPULATION, ROUNDS, STEPS, EPISODES, FRESH = 8, 10, 5_000, 20, 50
START = {"learner.rate": "0.0001 to 0.01", "learner.entropy_weight": "0 to 0.03"}
"""What the page offers before anything is typed: both can be searched with every algorithm but DQN, which has the
first."""
_WAYS = (("max", "More is better"), ("min", "Less is better"))
_PLACES = {"algorithm": "method", "ticks": "rounds", "objectives": "goal"}
NO_RANGE = "Nothing is left to search. Write at least one setting as a range, such as 0.0001 to 0.01."


class EvolveForm(TrainForm):
    """``study`` is the search once the form is valid."""

    # None takes a field out of a form that is made from another.
    minutes = sampling = max_staleness = None  # type: ignore[assignment]
    method = forms.ChoiceField(choices=[(m.kind, m.title) for m in searching.MENU.values()], label="Search method")
    population = NumberField(
        label="Players", required=False, whole=True, low=2, high=10_000, help_text="Trained in each round."
    )
    rounds = NumberField(
        label="Rounds", required=False, whole=True, low=1, high=1_000_000, help_text="Search steps, one after another."
    )
    goal = forms.CharField(
        label="What is good?", required=False, max_length=80,
        help_text="return (the sum of rewards), score, win, length, reward.NAME, or a signal of the game.",
    )  # fmt: skip
    goal_way = forms.ChoiceField(choices=_WAYS, required=False, label="Which way")
    second = forms.CharField(
        label="And what else?", required=False, max_length=80, help_text="A second goal; empty: there is one."
    )
    second_way = forms.ChoiceField(choices=_WAYS, required=False, label="Which way, second goal")
    behaviour = forms.CharField(
        label="Kinds of play, for MAP-Elites", required=False, max_length=200,
        help_text="What tells players apart, such as length. Several: put spaces between them.",
    )  # fmt: skip

    def __init__(self, data: dict[str, Any], *, project: Project) -> None:
        super().__init__({"method": searching.FIRST[0], **data}, project=project)
        self.fields["steps"].label = "Moves each player learns from"
        self.fields["steps"].help_text = "In each round. Population based training goes on from round to round."
        self.study: EvolveConfig | None = None

    def _groups(self, samplers: int) -> list[settings.Group]:
        learning, *others = settings.groups(self.offer, self.shown, samplers)[1:]
        return [opened(learning, type(self.shown.learner)), *others]

    @property
    def shape(self) -> str:
        return f"{self.offer.key} {self.shown.key} {self.does}"

    @property
    def name(self) -> str:
        title = games.title_of(self.game_name) if self.game_name else self.offer.title
        return self._said("title")[:100] or f"Settings for {title}"[:100]

    @property
    def chosen(self) -> str:
        """The search method that the page shows."""
        return self._said("method") if self._said("method") in searching.MENU else searching.FIRST[0]

    def plan(self) -> tuple[int, int, int]:
        """Players, rounds and moves as typed, or as they are when nothing is."""
        found = getattr(self, "cleaned_data", {})
        usual = {"population": POPULATION, "rounds": ROUNDS, "steps": STEPS}
        players, rounds, steps = (int(found.get(name) or value) for name, value in usual.items())
        return players, rounds, steps

    def _build(self, cleaned: dict[str, Any]) -> None:
        if not any(isinstance(cleaned.get(s.name), list) and s.key != "conv" for s in self.groups[0].settings):
            self.add_error("learner.rate", NO_RANGE)
            return
        found = self._loaded(cleaned)
        assert found is None or isinstance(found, EvolveConfig)
        self.study = found

    def _data(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        players, rounds, steps = self.plan()
        own = settings.typed(self.groups, cleaned)
        learner = settings.merged(self.shown.learner.model_dump(), own.get("learner", {}))
        return {
            "kind": "evolve",
            "name": self.name,
            "seed": 1 if cleaned["seed"] is None else cleaned["seed"],
            "task": {"game": {"name": self.game_name, **own.get("game", {})}, "learner": learner,
                     "steps": steps, "environments": self.shown.battles},
            "objectives": self._goals(cleaned),
            "behaviour": (cleaned["behaviour"] or "length").split() if self.chosen == "map-elites" else (),
            "algorithm": {"kind": self.chosen, "population": players},
            "ticks": rounds,
            "episodes": cleaned["episodes"] or EPISODES,
            "fresh": FRESH,
            "pool": {"kind": "ray", "workers": site.CPUS},
        }  # fmt: skip

    @staticmethod
    def _goals(cleaned: dict[str, Any]) -> list[dict[str, str]]:
        asked = ((cleaned["goal"] or "return", cleaned["goal_way"]), (cleaned["second"], cleaned["second_way"]))
        return [{"measure": measure, "direction": way or "max"} for measure, way in asked if measure]

    def point_at(self, place: str, message: str) -> None:
        place = place.removeprefix("task.")
        if place == "algorithm.population":
            place = "population"
        elif place.startswith("objectives.1"):
            place = "second"
        first, _, _ = place.partition(".")
        super().point_at(_PLACES.get(first, place), message)


def values_of(job: Job, project: Project) -> dict[str, str]:
    """The form that would have made ``job``: what "Ask again with changes" starts from."""
    config, task = job.config, job.config["task"]
    offer, beside = games.named(task["game"]["name"], project)
    kind = task["learner"]["kind"]
    preset = PRESET_LIST.get(job.template)
    chosen = preset if preset is not None and preset.kind == kind else PRESET_LIST[f"{kind}-{methods.USUAL}"]
    groups = settings.groups(OFFERS[offer], chosen, 1)[1:]
    goals = [(goal["measure"], goal["direction"]) for goal in config["objectives"]]
    found = {
        "game": offer,
        offer: beside,
        "algorithm": kind,
        "preset": chosen.key,
        **settings.texts(groups, {"learner": task["learner"], "game": task["game"]}),
        **ranges_in(task["learner"], settings.LEARNER),
        "method": config["algorithm"]["kind"],
        "population": config["algorithm"]["population"],
        "rounds": config["ticks"],
        "steps": task["steps"],
        "episodes": config["episodes"],
        "seed": config["seed"],
        "behaviour": " ".join(config["behaviour"]),
        "title": job.title,
        **dict(zip(("goal", "goal_way"), goals[0], strict=True)),
        **(dict(zip(("second", "second_way"), goals[1], strict=True)) if len(goals) > 1 else {}),
    }
    return {name: str(value) for name, value in found.items() if str(value)}
