"""The Search-for-good-settings page as a form: the Train-an-agent form with ranges, what is good, and how it is
searched."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django import forms
from django.conf import settings as site

from engine.config import EvolveConfig, Study, TrainConfig, parse
from engine.config.learners import merged
from engine.config.rl import NetworkConfig
from engine.config.train import TrainGame
from engine.config.whole_episodes import EPISODES as ENDED
from engine.errors import ConfigError
from webapp.games.fields import NumberField
from webapp.lib.digits import whole
from webapp.projects.models import Project
from webapp.studies import estimates
from webapp.studies.method_form import MethodForm, fields_of, typed_of_method
from webapp.studies.models import Job
from webapp.studies.setting_fields import Setting, settings_of, typed_of, values_typed
from webapp.training import forecast, games, goals, hands, methods, settings
from webapp.training.forms import TrainForm
from webapp.training.games import ALONE, OFFERS
from webapp.training.goals import GoalsForm
from webapp.training.methods import PRESET_LIST
from webapp.training.ranges import RangeField, has_range, number_text, opened, ranges_in
from webapp.training.searching import PLAYERS, in_players

POPULATION, ROUNDS, STEPS, EPISODES, FRESH = 8, 10, 5_000, 20, 50
START = {"learner.rate": "0.0001 to 0.01", "learner.entropy_weight": "0 to 0.03"}
"""What the page offers before anything is typed: both can be searched with every algorithm but DQN, which has the
first."""
CERTAIN = ("return", "length")
"""What every game tells."""
SPECIALIST = frozenset({"trace", "trace_clip", "rho_clip", "asynchronous", "decay", "epsilon", "alpha", "beta"})
"""Settings of learners whose words are those of their papers: they stand under Details."""
NO_RANGE = "Nothing is left to search. Write at least one setting as a range, such as 0.0001 to 0.01."


def _networks() -> tuple[Setting, ...]:
    """How networks are handed on, where that is not the method's own business."""
    found = {s.key: s for s in settings_of(EvolveConfig) if s.key in ("networks", "network_noise")}
    handed = forms.ChoiceField(
        label="Networks of new players", required=False,
        choices=[("fresh", "Fresh: each learns from nothing"), ("best", "As the better parent has it"),
                 ("single_point", "First layers of one parent, the rest of the other’s")],
        help_text="Handed on, what was learned is not lost; then a player is more than its settings.",
    )  # fmt: skip
    inherited = forms.ChoiceField(
        label="What was learnt is inherited", required=False,
        choices=[("on", "Yes: as training left it"), ("off", "No: as the parent began")],
        help_text="Where networks are handed on.",
    )  # fmt: skip
    noise = found["network_noise"]
    noise.field.help_text = "In standard deviations of fresh weights; 0: training alone changes them. From 0 to 10."
    return (
        found["networks"]._replace(field=handed),
        noise,
        Setting("learnt_is_inherited", "learnt_is_inherited", inherited, "on"),
    )


NETWORKS = _networks()
_NetworkFields: Any = type("_NetworkFields", (forms.Form,), {s.name: s.field for s in NETWORKS})


class EvolveForm(GoalsForm, MethodForm, TrainForm, fields_of(PLAYERS), _NetworkFields):  # type: ignore[misc]
    """``study`` is the search once the form is valid."""

    offers = ALONE
    game = forms.ChoiceField(choices=[(o.key, o.title) for o in ALONE.values()], label="Game")
    menu, usual_population = PLAYERS, POPULATION
    # None takes a field out of a form that is made from another.
    minutes = sampling = max_staleness = start = None  # type: ignore[assignment]
    steps = RangeField(  # type: ignore[assignment]
        label="Decisions each player learns from", required=False, max_length=60,
        help_text="In each round; may be a range, such as 2000 to 8000. Population based training goes on from round "
        "to round.",
    )  # fmt: skip
    population = NumberField(
        label="Players", required=False, whole=True, low=2, high=10_000, help_text="Trained in each round."
    )
    rounds = NumberField(
        label="Rounds", required=False, whole=True, low=1, high=1_000_000, help_text="Of the search, one after another."
    )
    environments = RangeField(
        label="Battles at once", required=False, max_length=60,
        help_text="Which a player learns from side by side. From 1 to 100,000; may be a range.",
    )  # fmt: skip
    fresh = NumberField(
        label="Fresh episodes at the end", required=False, whole=True, low=0, high=100_000,
        help_text="The best players are measured again on so many that the search never saw. 0: they are not.",
    )  # fmt: skip

    def __init__(self, data: dict[str, Any], *, project: Project) -> None:
        super().__init__(data, project=project)
        self.fields["episodes"].help_text = "Each player’s, on seeds that it did not learn from, without exploring."
        self.fields["seed"].help_text = "Same seed, same result, where there are rounds."
        self.study: EvolveConfig | None = None

    def _groups(self, samplers: int) -> list[settings.SettingGroup]:
        learning, network, *others = settings.groups(self.offer, self.shown, samplers)[1:]
        learning = opened(learning, type(self.shown.learner))
        mine, theirs = ([s for s in learning.settings if (s.key in SPECIALIST) is fine] for fine in (False, True))
        fine = settings.SettingGroup("Learning, finer", tuple(theirs))
        usual = learning._replace(settings=tuple(mine))
        return [usual, opened(network, NetworkConfig), *([fine] if theirs else []), *others]

    @property
    def shape(self) -> str:
        return f"{self.offer.key} {self.shown.key} {self.does}"

    @property
    def name(self) -> str:
        return self._said("title")[:120] or f"Settings for {self.title_of_game}"[:120]

    @property
    def title_of_game(self) -> str:
        """The game as people read it."""
        return games.title_of(self.game_name, self.project) if self.game_name else self.offer.title

    @property
    def described(self) -> EvolveConfig | None:
        return self.study

    @property
    def tried(self) -> TrainConfig | None:
        return forecast.training_of(self.study) if self.study is not None else None

    @property
    def needs_trial(self) -> bool:
        return super().needs_trial or not self.known_signals

    @property
    def unsure(self) -> dict[str, str]:
        if self.known_signals:
            return super().unsure
        asked = {name: aim.measure for name, aim in self.goals.items()} | (self.ways if self._maps else {})
        why = "Whether this game tells that"
        return super().unsure | {name: why for name, measure in asked.items() if measure not in CERTAIN}

    @property
    def minutes_typed(self) -> float:
        return next((rule.most for rule in self.stop if rule.kind == "minutes"), 0.0) if self.study else 0.0

    @cached_property
    def known_signals(self) -> tuple[str, ...]:
        """What episodes of this game tell; nothing while that is not known."""
        own = settings.typed(self.groups, self.cleaned_data).get("game", {})
        try:
            game = parse(TrainGame, {"name": self.game_name, **own})
        except ConfigError:
            return ()
        return goals.signals_of(self.project, game.model_dump(mode="json"))

    def estimate(self, trial: Job | None) -> estimates.Estimate | None:
        assert self.study is not None
        return forecast.estimate(self.study, trial, self.offer.longest, self.project)

    @property
    def _maps(self) -> bool:
        return self.method.leaves == "grid"

    @property
    def _bred(self) -> bool:
        """Whether networks are handed on, and not by the method itself."""
        return self.method.kind != PLAYERS.usual and self.cleaned_data.get("networks") not in (None, "", "fresh")

    def _check(self, cleaned: dict[str, Any]) -> None:
        super()._check(cleaned)
        self.check_goals(self.known_signals, self.title_of_game, ways=self._maps)
        aims = [aim.measure for aim in self.goals.values()]
        self.check_method(aims, len(self.ways) or len(self.goals) - 1, self.unbounded)
        learning = [setting.name for group in self.groups for setting in group.settings]
        ranges = has_range([settings.typed(self.groups, cleaned), *map(cleaned.get, ("steps", "environments"))])
        if not ranges and not self._bred and not self.errors.keys() & set(learning):
            self.add_error("learner.rate", NO_RANGE)
        self._check_network(cleaned)
        if cleaned.get("steps") == 0 and not self._bred:
            why = "Without decisions nothing is learned. Type how many, or hand networks on: then they alone are bred."
            self.add_error("steps", why)
        if self.noise.racing != "off" and self.noise.most <= (cleaned.get("episodes") or EPISODES):
            why = "Each player is measured on as many anyway, so racing would save nothing. Type more."
            self.add_error("noise-most", why)

    def _check_network(self, cleaned: Mapping[str, Any]) -> None:
        """Say at its field which number of a network is a range although networks are handed on."""
        trains = self.method.kind == PLAYERS.usual
        free = "choose another method" if trains else "fresh networks"
        why = f"Players hand this on to one another, so it is one for all. Type a number, or {free}."
        for setting in self.groups[1].settings if trains or self._bred else ():
            if has_range(cleaned.get(setting.name)):
                self.add_error(setting.name, why)

    def _keep(self, study: Study | None) -> None:
        assert isinstance(study, EvolveConfig)
        self.study = study

    @property
    def usual_steps(self) -> int:
        """Decisions to learn from where nothing is typed: where the usual few would end next to no episode, enough to
        end one in every battle. Who never sees an end does not learn what is won by it."""
        longest = self.offer.longest
        return STEPS if ENDED * longest <= STEPS else longest * self.shown.battles

    def _data(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        own = settings.typed(self.groups, cleaned)
        learner = merged(self.shown.learner.model_dump(), own.get("learner", {}))
        inherited = {"learnt_is_inherited": cleaned["learnt_is_inherited"] != "off"}
        networks = values_typed(NETWORKS, cleaned) | inherited if self._bred else {}
        game = {"name": self.game_name, **own.get("game", {})}
        usual = {"seed": 1, "rounds": ROUNDS, "steps": self.usual_steps, "fresh": FRESH}
        typed = {name: value if cleaned[name] is None else cleaned[name] for name, value in usual.items()}
        return {
            "kind": "evolve",
            "name": self.name,
            "seed": typed["seed"],
            "task": {"game": game | (self.limits(game) if self.game_name else {}), "learner": learner,
                     "steps": typed["steps"], "environments": cleaned["environments"] or self.shown.battles},
            "objectives": [aim.model_dump() for aim in self.goals.values()],
            "behaviour": tuple(self.ways.values()) if self._maps else (),
            **networks,
            "algorithm": self.method_settings and self.method_settings.model_dump(),
            "ticks": typed["rounds"],
            "episodes": cleaned["episodes"] or EPISODES,
            "fresh": typed["fresh"],
            "noise": self.noise.model_dump(),
            "stop": [rule.model_dump() for rule in self.stop],
            "pool": {"kind": "ray", "workers": site.CPUS},
        }  # fmt: skip

    def point_at(self, place: str, message: str) -> None:
        place = place.removeprefix("task.")
        if place.startswith("algorithm") and self.method_settings is None:
            return  # it was said at the method's own fields
        super().point_at(self.field_of(place) or self._field_below(place), in_players(message))

    def _field_below(self, place: str) -> str:
        """The field of a goal, of a kind of play or of the rounds; any other place stays as it is."""
        first, _, rest = place.partition(".")
        number = whole(rest.partition(".")[0]) or 0
        fields = {"objectives": list(self.goals), "behaviour": list(self.ways), "ticks": ["rounds"]}.get(first, [])
        return fields[number] if number < len(fields) else place


def values_of(job: Job, project: Project) -> dict[str, str]:
    """The form that would have made ``job``: what "Run again with changes" starts from."""
    config, task = job.config, job.config["task"]
    offer, beside = games.named(task["game"]["name"], project)
    kind = task["learner"]["kind"]
    preset = PRESET_LIST.get(job.template)
    chosen = preset if preset is not None and preset.kind == kind else PRESET_LIST[f"{kind}-{methods.USUAL}"]
    groups = settings.groups(OFFERS[offer], chosen, 1)[1:]
    inherited = {"learnt_is_inherited": "on" if config.get("learnt_is_inherited", True) else "off"}
    found = {
        "game": offer,
        offer: beside,
        "algorithm": kind,
        "preset": chosen.key,
        **settings.texts(groups, {"learner": task["learner"], "game": task["game"]}),
        **ranges_in(task["learner"], settings.LEARNER),
        **typed_of_method(PLAYERS, config),
        **typed_of(NETWORKS, {**config, **inherited}),
        "population": config["algorithm"]["population"],
        "rounds": config["ticks"],
        "steps": number_text(task["steps"]),
        "environments": "" if task["environments"] == chosen.battles else number_text(task["environments"]),
        "episodes": config["episodes"],
        "fresh": config["fresh"],
        "seed": config["seed"],
        **goals.values_of(config),
        **hands.typed(task["game"]),
        "title": job.title,
    }
    return {name: str(value) for name, value in found.items() if str(value)}
