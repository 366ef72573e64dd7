"""What a removal test rests on, where the API starts one: the project's game data, rules and objectives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from engine.config.removal import RemovalConfig
from engine.lineups.suspected import unfit
from webapp.studies import checks
from webapp.studies.pinned_intake import PinnedIntake
from webapp.studies.pins import BESIDE, Pins


class RemovalIntake(PinnedIntake):
    """How the site starts removal tests."""

    beside: ClassVar[frozenset[str]] = BESIDE

    def unfit(self, study: RemovalConfig, pins: Pins) -> Iterator[tuple[str, str]]:
        """What is wrong with its rules, its objectives, its suspects and their lineups."""
        yield from checks.lineups(study.lineups, pins.spec)
        yield from checks.formulas(study.objectives, pins.spec, study.lineups)
        yield from unfit(study, pins.spec)
