"""From the New job form to a search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.config import SampleConfig, SearchConfig, study_hash
from engine.config.worth import WorthConfig
from engine.errors import ConfigError
from webapp.games.versions import obstacle
from webapp.projects.models import Project
from webapp.studies import previews, random_lineups
from webapp.studies.forms import NewJobForm
from webapp.studies.models import Job
from webapp.studies.throughput import pace_of

if TYPE_CHECKING:
    from webapp.accounts.models import User


class SearchStart:
    """The New job form, filled in: see ``webapp.studies.pending.Start``."""

    def __init__(self, project: Project, user: User | None, typed: Mapping[str, Any]) -> None:
        self.project = project
        self.form = NewJobForm(typed, project=project, user=user)
        self.found_out: list[str] = []
        self.companion: WorthConfig | None = None
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
        """The random lineups that were played for this form."""
        if self.form.errors or self.form.measured is None:
            return None
        config = study_hash(self.form.sample())
        return Job.objects.for_forms().filter(project=self.project, config_hash=config).first()

    def study(self, found: Job | None) -> SearchConfig | None:
        """The search; None with ``problems`` or ``waits``."""
        form = self.form
        if form.errors or form.measured is None:
            return None
        if reason := obstacle(form.cleaned_data["version"]):
            form.add_error("version", reason)
            return None
        previews.settle(form, found)
        self.found_out = [*self._line(found), *self._pace(found)]
        if form.errors or self.found_out:
            return None
        try:
            search = form.search(pace := pace_of(found))
        except ConfigError as error:  # the pace of a slow game makes its rounds smaller
            form.refuse(error)
            return None
        self.companion = form.experiment_beside(search, pace)
        return search

    def _line(self, sample: Job | None) -> list[str]:
        if not self.form.proposes or self.form.cleaned_data["line"] is not None:
            return []
        if sample is None or not sample.terminal:
            return ["The line is proposed once the random lineups are played."]
        found = previews.sample_of(sample)
        alike = found is not None and random_lineups.flat(found.values[self.form.main.name])
        why = "This measure is the same for all lineups that were played, so no line can be proposed. Choose another."
        few = "Too few random lineups could be played to propose a line. Type one."
        self.form.add_error("line", why if alike else few)
        return []

    def _pace(self, sample: Job | None) -> list[str]:
        """A game beside the engine may be a thousand times slower, and one that an agent plays tens of times, so its
        search's size is found out first."""
        if not self.form.slow or self.form.own_numbers:
            return []
        if pace_of(sample) is not None or (sample is not None and sample.terminal):
            return []
        return ["How fast this game plays is being measured: that decides how far we look."]

    def unfinished(self) -> SearchConfig:
        """The search as far as it is known: perhaps without a line, and as large as in a fast game."""
        return self.form.search(None)

    def trial(self) -> tuple[SampleConfig, Mapping[str, Any]]:
        """The random lineups, and the rows they point at."""
        return self.form.sample(), {**self.form.refers(), "objective_set": None}

    def asked(self) -> tuple[str, Mapping[str, Any]]:
        """Its title, what the form refers to, and the experiment that comes with it once the search is known."""
        beside = {"companion": self.companion} if self.companion else {}
        return self.form.asked.title, {**self.form.refers(), **beside}
