"""What a removal test rests on, where the API starts one: the project's game data, rules and objectives."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings

from engine.catalog import STUDIES
from engine.config import Study
from engine.config.removal import RemovalConfig
from engine.lineups.patterns import strangers
from webapp.studies import checks
from webapp.studies.intake import Body, Intake, Refers
from webapp.studies.models import Job
from webapp.studies.pins import BESIDE, Pins, pins_of, pins_of_job


class RemovalIntake(Intake):
    """How the site starts removal tests."""

    beside: ClassVar[frozenset[str]] = BESIDE

    def first(self, body: Body) -> tuple[Study, Refers]:
        """With what the project has now."""
        return _tested(body, pins_of(body))

    def again(self, body: Body, job: Job) -> tuple[Study, Refers]:
        """With what the other one rested on."""
        return _tested(body, pins_of_job(job, body.user))


def _tested(body: Body, pins: Pins) -> tuple[Study, Refers]:
    """A test on the project's game data, and the rows it rests on."""
    data = body.table(pins.filled({"name": STUDIES["removal"].label, **body.config}))
    pins.named(data["game"], body)
    study, wrong = body.loaded(data, settings.CPUS)
    if isinstance(study, RemovalConfig):
        wrong += [*pins.changed(study), *checks.lineups(study.lineups, pins.spec)]
        wrong += [*checks.formulas(study.objectives, pins.spec, study.lineups)]
        named = strangers(pins.spec, [each.pattern for each in study.suspects], "suspects")
        wrong += [(place.replace(".pieces", ".pattern.pieces"), why) for place, why in named]
    body.refuse(wrong)
    assert study is not None
    return study, {"game_version": pins.version, "lineup_rules": pins.rules, "template": "removal"}
