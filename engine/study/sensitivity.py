"""The study "how hard did we look": plantings (``engine.sensitivity``), and the table of how many were found."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from engine.arrays import pack
from engine.config.sensitivity import SensitivityConfig
from engine.events import AnyEvent, Counters, Logged, Started
from engine.lineups.pairing_evaluator import checked
from engine.lineups.rules import compile_rules
from engine.runtime.pool import Pool
from engine.sensitivity.course import PlantingCourse
from engine.sensitivity.plan import planned
from engine.sensitivity.table import tabled
from engine.simulators.loaders import opened
from engine.store import Store
from engine.study.checkpoint import Checkpoint
from engine.study.control import Control
from engine.study.failures import with_failure
from engine.study.scheduled import Scheduled
from engine.study.session import Totals

BESIDE = "All breaks are planted. What was confirmed beside them is measured in the game as it is."

LEFT_OUT = (
    "The game did not finish {:,} of {:,} battles that measured effects, which are left out: where it depends on who "
    "plays or wins which these are, so does what was planted and what is called innocent."
)


def sensitivity(config: SensitivityConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a sensitivity."""
    return with_failure(_Sensitivity(config, store, control).events(resume))


class _Sensitivity(Scheduled):
    evaluator = "plantings"

    schedule: PlantingCourse

    def __init__(self, config: SensitivityConfig, store: Store, control: Control) -> None:
        super().__init__(config, config.pool, store, control)
        self.config, self.said = config, False

    def prepare(self, saved: Checkpoint | None) -> None:
        config = self.config
        with opened(config.game.simulator, self.stopped) as simulator:
            self.spec = checked(config.experiment(config.seed), simulator)
        self.schedule = PlantingCourse(config, planned(config, compile_rules(self.spec, config.pairings)))

    def plan(self) -> Totals:
        return Totals(self.config.many, self.config.most)

    def hand_out(self, pool: Pool) -> Iterator[AnyEvent]:
        """Also says when all breaks are planted."""
        if self.schedule.planted and not self.said:
            self.said = True
            yield self.say(Logged, message=BESIDE)
        yield from super().hand_out(pool)

    def results(self, last: bool) -> dict[str, str]:
        """The table of all plantings that are over."""
        return {"table": self.store.put(pack(*tabled(self.schedule, self.spec)))}

    def conclude(self) -> Generator[AnyEvent, None, dict[str, str]]:
        """Also says how many battles the game did not finish by which effects are known."""
        if lost := self.schedule.unfinished:
            yield self.say(Logged, message=LEFT_OUT.format(lost, self.schedule.measured))
        return {}

    def metrics(self) -> dict[str, float]:
        hits = self.schedule.hits
        return {"planted": float(len(hits)), "found": float(sum(hits))}


class Words:
    """Console texts of sensitivities."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Plantings and battles."""
        return f"{event.ticks:,} plantings, {event.battles:,} battles at most"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """What was found so far."""
        if not metrics:
            return "planting"
        return f"{int(metrics['found']):,} of {int(metrics['planted']):,} breaks found"
