"""Studies of a project's game data that the API starts: what a body leaves out comes from the project."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from django.conf import settings

from engine.catalog import STUDIES
from engine.config import Study
from webapp.studies.intake import Body, Intake, Refers
from webapp.studies.models import Job
from webapp.studies.pins import Pins, pins_of, pins_of_job


class PinnedIntake(Intake):
    """How the site starts them."""

    beside: ClassVar[frozenset[str]] = frozenset({"game_version", "lineup_rules"})

    def first(self, body: Body) -> tuple[Study, Refers]:
        """With what the project has now."""
        return self.pinned(body, pins_of(body))

    def again(self, body: Body, job: Job) -> tuple[Study, Refers]:
        """With what the other one rested on."""
        return self.pinned(body, pins_of_job(job, body.user))

    def pinned(self, body: Body, pins: Pins) -> tuple[Study, Refers]:
        """A study on the project's game data, and the rows it rests on. Raises ConfigError with all that is wrong."""
        row = STUDIES[body.kind]
        filled = pins.filled({"name": row.label, **body.config})
        known = {*row.config.model_fields, *body.config}
        data = body.table({name: value for name, value in filled.items() if name in known})
        pins.named(data["game"], body)
        study: Any
        study, wrong = body.loaded(data, settings.CPUS)
        if study is not None:
            wrong += dict.fromkeys([*pins.changed(study), *self.unfit(study, pins)])
        body.refuse(wrong)
        assert study is not None
        refers = {"game_version": pins.version, "lineup_rules": pins.rules}
        return study, {**{name: refers[name] for name in refers if name in self.beside}, "template": body.kind}

    def unfit(self, study: Any, pins: Pins) -> Iterable[tuple[str, str]]:
        """What the game has against a study, each at its place."""
        return ()
