"""From the pages that train to a training, or to a search for training settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.config import EvolveConfig, Study, TrainConfig
from webapp.projects.models import Project
from webapp.studies import estimates
from webapp.studies.models import Job
from webapp.training import trials
from webapp.training.evolving import EvolveForm
from webapp.training.forms import TrainForm

if TYPE_CHECKING:
    from webapp.accounts.models import User


class TrainingStart:
    """The Train-an-agent form, filled in: see ``webapp.studies.pending.Start``."""

    form_class: type[TrainForm] = TrainForm

    def __init__(self, project: Project, user: User | None, typed: Mapping[str, str]) -> None:
        self.project = project
        self.form = self.form_class(dict(typed), project=project)
        self.found_out: list[str] = []
        self.form.is_valid()

    @property
    def problems(self) -> list[str]:
        """What is wrong with the form, in sentences."""
        return [str(text) for texts in self.form.errors.values() for text in texts]

    @property
    def waits(self) -> list[str]:
        """What has to be found out first, in sentences."""
        return self.found_out

    def known(self) -> Job | None:
        """The trial that was made for this form."""
        return None if self.form.tried is None else trials.known(self.project, self.form.tried)

    def _tried(self, trial: Job | None) -> bool:
        """Put what a trial found wrong at its fields; whether nothing stands in the way any more."""
        for place, message in estimates.problems(trial):
            self.form.point_at(place, message)
        going = trial is None or not trial.terminal
        self.found_out = [f"{why} is being tried." for why in dict.fromkeys(self.form.unsure.values()) if going]
        return not self.form.errors and not self.found_out

    def study(self, found: Job | None) -> TrainConfig | EvolveConfig | None:
        """The training; None with ``problems`` or ``waits``."""
        config = self.form.config
        if self.form.errors or config is None or not self._tried(found):
            return None
        if config.steps != trials.UNSETTLED:
            return config
        estimate = self.form.estimate(found)
        if estimate is None:
            self._untimed(found)
            return None
        return config.model_copy(update={"steps": trials.budget(config.minutes, estimate.speed)})

    def _untimed(self, trial: Job | None) -> None:
        """Minutes need to be told in decisions, for which a trial is awaited or has failed."""
        if trial is None or not trial.terminal:
            self.found_out = ["How many decisions fit into its minutes is being measured."]
        else:
            why = "How many decisions fit into that could not be measured. Type their number as well."
            self.form.add_error("minutes", why)

    def unfinished(self) -> TrainConfig | EvolveConfig:
        """The training as far as it is known: perhaps without a number of decisions."""
        assert self.form.config is not None
        return self.form.config

    def trial(self) -> tuple[Study, Mapping[str, Any]]:
        """The trial, which points at nothing."""
        assert self.form.tried is not None
        return trials.of(self.form.tried), {}

    def asked(self) -> tuple[str, Mapping[str, Any]]:
        """Its name, and the preset it begins from."""
        return self.form.name, {"template": self.form.shown.key}


class SettingsStart(TrainingStart):
    """The Search-for-good-settings form, filled in."""

    form_class = EvolveForm
    form: EvolveForm

    def study(self, found: Job | None) -> EvolveConfig | None:
        """The search; None with ``problems`` or ``waits``."""
        if self.form.errors or self.form.study is None or not self._tried(found):
            return None
        return self.form.study

    def unfinished(self) -> EvolveConfig:
        """The search: a trial only tells whether it can be done."""
        assert self.form.study is not None
        return self.form.study
