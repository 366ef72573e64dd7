"""The Train-an-agent page as a form: whatever was typed, either one training or what is wrong at which field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings as site
from django.core.exceptions import NON_FIELD_ERRORS

from engine.config import Study, TrainConfig
from engine.config.learners import merged
from engine.errors import ConfigError
from engine.studies import load
from webapp.balance.forms import sentence
from webapp.games.fields import NumberField
from webapp.lib.digits import whole
from webapp.lib.names import NameField
from webapp.projects.models import Project
from webapp.studies import checks, estimates
from webapp.studies.models import Job
from webapp.training import beginnings, games, methods, settings, trials
from webapp.training.game_fields import GameFields
from webapp.training.methods import ALGORITHMS, Preset
from webapp.training.start_field import StartField
from webapp.training.trials import UNSETTLED

EPISODES = 50
WAYS = (
    (
        "synchronous",
        "In step",
        "Samplers wait for each update: decisions reach the learner one update old. "
        "The same seed gives the same agent, bit for bit.",
    ),
    ("asynchronous", "Nobody waits", "Faster on several processors; no two trainings are quite the same."),
)
FIRST = {"sampling": "synchronous"}


class TrainForm(GameFields):
    """``config`` is the training once the form is valid. ``shown``: the algorithm and preset that the page shows, which
    are the nearest that exist when those that were typed do not."""

    algorithm = forms.ChoiceField(choices=[(a.kind, a.title) for a in ALGORITHMS.values()], label="Algorithm")
    preset = forms.CharField(max_length=40, required=False, label="Settings to begin from")
    steps = NumberField(
        label="Decisions to learn from", required=False, whole=True, low=1, high=10**12,
        help_text="Each time the agent chooses what to do is a decision.",
    )  # fmt: skip
    minutes = NumberField(
        label="At most", required=False, low=0.1, high=525_600, unit="minutes",
        help_text="Whichever is over first. Where the clock ends it, another run may differ.",
    )  # fmt: skip
    sampling = forms.ChoiceField(choices=[(key, title) for key, title, _ in WAYS], label="Playing and learning")
    max_staleness = NumberField(
        label="Oldest data learned from", required=False, whole=True, low=0, high=10**6, unit="updates",
        help_text="Older decisions are thrown away. 0: any age.",
    )  # fmt: skip
    episodes = NumberField(
        label="Episodes of an evaluation", required=False, whole=True, low=2, high=100_000,
        help_text="Played on fresh seeds without exploring: the more, the narrower the range.",
    )  # fmt: skip
    seed = NumberField(
        label="Seed", required=False, whole=True, low=0, high=2**53, help_text="Same seed, same agent (in step)."
    )
    start = StartField()
    title = NameField(120, label="Name", required=False)

    def __init__(self, data: Mapping[str, Any], *, project: Project) -> None:
        super().__init__({**FIRST, **data}, project=project)
        self.as_typed = dict(data)
        self.data = {"algorithm": methods.first(self.offer, self.does), **self.data}
        if self.starts is not None:
            self.starts.offer(project, self._said("start"))
        self.shown = self._shown()
        count = whole(self._said("samplers"), 4096) or site.CPUS
        self.groups = self._groups(count)
        for group in self.groups:
            self.fields |= {setting.name: setting.field for setting in group.settings}
        self.config: TrainConfig | None = None

    @property
    def starts(self) -> StartField | None:
        """The menu of saved agents that this can begin with; None where the form has none."""
        field = self.fields.get("start")
        return field if isinstance(field, StartField) else None

    @property
    def began(self) -> Any:
        """The saved agent that was chosen to begin with, if any."""
        return None if self.starts is None else self.starts.chosen

    def _groups(self, samplers: int) -> Sequence[settings.SettingGroup]:
        return settings.groups(self.offer, self.shown, samplers)

    @property
    def shape(self) -> str:
        """What decides which choices and settings the page shows."""
        begun = self._said("start")
        return " ".join((self.offer.key, self.shown.key, self.does, str(self.groups[0].settings[1].default), begun))

    @property
    def kind(self) -> str:
        """The algorithm that the page shows."""
        return self.shown.kind

    def _shown(self) -> Preset:
        kind = self._said("algorithm")
        if kind not in ALGORITHMS or methods.misfit(kind, self.does, self.offer):
            kind = methods.first(self.offer, self.does)
        presets = methods.presets_for(kind, self.offer.key, self.offer.sees)
        found = next((p for p in presets if p.key == self._said("preset")), presets[0])
        return beginnings.going_on(found, self.began)

    @property
    def described(self) -> Study | None:
        """What the form describes, once nothing is wrong with it."""
        return self.config

    @property
    def tried(self) -> TrainConfig | None:
        """The training of which a trial tells how long this takes."""
        return self.config

    @property
    def needs_trial(self) -> bool:
        """Whether only a trial tells if this can be done."""
        return not self.offer.name

    @property
    def unsure(self) -> dict[str, str]:
        """What has to be tried before the start, in words, by the field that asks for it."""
        return {} if self.offer.name else {self.game_field: "Whether this game works here"}

    @property
    def minutes_typed(self) -> float:
        """Minutes after which it ends; 0: no limit."""
        return self.config.minutes if self.config is not None else 0.0

    def estimate(self, trial: Job | None) -> estimates.Estimate | None:
        """How long it takes, by its trial or by earlier ones; None while nothing is known."""
        assert self.config is not None
        return trials.estimate(self.config, trial, self.offer.longest, self.project)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        self._check(cleaned)
        found = self._loaded(self._as_typed(cleaned))
        self._check_start(found)
        if not self.errors:
            self._keep(found)
        return cleaned

    def _as_typed(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        """The value of every field. One that is wrong goes to the engine as it was typed: with something else in its
        place, what is right might seem wrong."""
        wrong = {name: self._said(name) for name in self.errors if name in self.fields}
        return {**dict.fromkeys(self.fields), **cleaned, **wrong}

    def _check(self, cleaned: dict[str, Any]) -> None:
        """Say whatever is wrong with what was typed."""
        self.check_game(cleaned)
        if reason := methods.misfit(self._said("algorithm"), self.does, self.offer):
            self.add_error("algorithm", reason)
        if self.game_name:
            self.check_hands(self.game_as_data)

    @property
    def game_as_data(self) -> dict[str, Any]:
        """The game with its settings; without the limits of its players."""
        own = settings.typed(self.groups, getattr(self, "cleaned_data", {})).get("game", {})
        return {"name": self.game_name, **own}

    @property
    def hands(self) -> dict[str, str]:
        """What the page says of the limits of players, as ``hands_in_words``."""
        return self.hands_in_words(self.game_as_data)

    def _check_start(self, study: Any) -> None:
        if self.began is not None:
            learner = None if study is None else getattr(study, "task", study).learner
            for why in beginnings.misfits(self.began, self.game_name, learner):
                self.add_error("start", why)

    def _keep(self, study: Study | None) -> None:
        """What the form describes, once nothing is wrong with it."""
        assert isinstance(study, TrainConfig)
        self.config = study

    def _loaded(self, cleaned: dict[str, Any]) -> Study | None:
        """The study; None after each problem was said at its field."""
        try:
            study = load(self._data(cleaned), new=True)
            if wrong := [*checks.crowded(study)]:
                raise ConfigError(wrong)
        except ConfigError as error:
            for problem in error.problems:
                self.point_at(problem.place, problem.message)
            return None
        return study

    def _data(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        """The engine's settings as nested data, defaults included."""
        by_clock = cleaned["minutes"] is not None and cleaned["steps"] is None
        sampling = {s.key: s.default for s in self.groups[0].settings}
        base = {
            "kind": "train",
            "name": self.name,
            "game": {"name": self.game_name},
            "learner": self.shown.learner.model_dump(),
            "steps": cleaned["steps"] or (UNSETTLED if by_clock else self.shown.steps),
            "minutes": cleaned["minutes"] or 0,
            "sampling": cleaned["sampling"],
            "seed": 1 if cleaned["seed"] is None else cleaned["seed"],
            "episodes": cleaned["episodes"] or EPISODES,
            "pool": {"kind": "ray"},
            **({} if cleaned["max_staleness"] is None else {"max_staleness": cleaned["max_staleness"]}),
        }
        start = {"start": self.began.policy} if self.began is not None else {}
        if self.offer.policies:
            base["policies"] = {side: {**policy, **start} for side, policy in self.offer.policies.items()}
        else:
            base |= start
        own = settings.typed(self.groups, cleaned)
        own["game"] = {"settings": own["game"]["settings"]} if "game" in own else {}
        own["game"] |= self.limits({"name": self.game_name, **own["game"]}) if self.game_name else {}
        return merged(base | sampling, own)

    @property
    def name(self) -> str:
        """What the training is called."""
        title = games.title_of(self.game_name, self.project) if self.game_name else self.offer.title
        usual = title if self.offer.sides else f"An agent for {title}"
        return self._said("title")[:120] or usual[:120]

    def point_at(self, place: str, message: str) -> None:
        """Show a problem of the engine's at the field it is about. One of the whole stands above the form, unless a
        field is wrong already: the whole may be wrong only because of it."""
        if place in ("game", "game.name"):
            name: str | None = self.game_field
        elif place in ("learner", "learner.kind"):
            name = "algorithm"
        else:
            name = self._nearest(place)
        if name is None and self.errors.keys() - {NON_FIELD_ERRORS}:
            return
        if name is None or name not in self.errors:  # of a number's several readings the first is told
            self.add_error(name, sentence(message))

    def _nearest(self, place: str) -> str | None:
        parts = place.split(".")
        while parts:
            at = ".".join(parts)
            inside = [name for name in self.fields if name == at or name.startswith(f"{at}.")]
            if inside:
                return next((name for name in inside if name.endswith(".critic")), inside[0])
            parts.pop()
        return None
