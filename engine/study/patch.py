"""The smallest change that works, as a study: a search for it (``engine.patches``), and a table of patches."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from engine.arrays import pack
from engine.config.patch import PatchConfig
from engine.errors import ConfigError
from engine.events import AnyEvent, Counters, Logged, Started
from engine.lineups.named import unknown
from engine.lineups.pairing_evaluator import checked
from engine.patches.course import Course
from engine.patches.finder import Finder
from engine.patches.table import tabled
from engine.rl.devices import on_threads
from engine.runtime.pool import Pool
from engine.simulators.loaders import opened
from engine.store import Store
from engine.study.checkpoint import Checkpoint
from engine.study.control import Control
from engine.study.failures import with_failure
from engine.study.scheduled import Scheduled
from engine.study.session import Totals
from engine.worth.experiment import TICKS

SAID = {
    "responses": "What is unfair is known. Now it is measured what each of its numbers does.",
    "candidates": "The most promising changes are played, the same battles for all.",
    "adversary": "An adversary looks for stronger teams than there were before.",
    "proof": "The best changes are proved on fresh battles, and against an adversary that begins anew.",
}
"""What is said when a stage begins."""
NOTHING_STANDS_OUT = "Nothing stands out, so there is nothing to change."
NOTHING_FREE = "Something is unfair, but none of its numbers may change, and no rule may keep it apart."
TOO_FEW = "So much is unfair that these battles are too few to try a change: it takes {:,} at least."


def patch(config: PatchConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a search for changes."""
    return with_failure(_Patching(config, store, control).events(resume))


class _Patching(Scheduled):
    evaluator = "patched"

    schedule: Finder

    def __init__(self, config: PatchConfig, store: Store, control: Control) -> None:
        super().__init__(config, config.pool, store, control)
        self.config, self.table, self.tabled_at = config, "", ""

    def events(self, resume: str) -> Iterator[AnyEvent]:
        """The study; decisions are computed on one thread."""
        with on_threads(1):
            yield from super().events(resume)

    def prepare(self, saved: Checkpoint | None) -> None:
        with opened(self.config.game.simulator, self.stopped) as simulator:
            spec = checked(self.config, simulator)
        if wrong := unknown(self.config, spec):
            raise ConfigError(wrong)
        self.schedule = Finder(spec, self.config, self.stopped)

    def plan(self) -> Totals:
        return Totals(TICKS, self.config.battles)

    def hand_out(self, pool: Pool) -> Iterator[AnyEvent]:
        """Also says when a stage begins."""
        finder, stage = self.schedule, self.schedule.course.stage
        if finder.deciding and self.throttle.due():
            yield self.say(Logged, message="")
        yield from super().hand_out(pool)
        if finder.course.stage != stage:
            yield self.say(Logged, message=SAID[finder.course.stage])

    def conclude(self) -> Generator[AnyEvent, None, dict[str, str]]:
        if not self.schedule.course.candidates:
            yield self.say(Logged, message=why_nothing(self.schedule.course))
        return {}

    def results(self, last: bool) -> dict[str, str]:
        """The patches so far."""
        course = self.schedule.course
        known = f"{course.stage} {len(course.candidates)} {len(course.proofs)}"
        if course.known is not None and known != self.tabled_at:
            self.tabled_at, self.table = known, self.store.put(pack(*tabled(course)))
        return {"table": self.table} if self.table else {}

    def metrics(self) -> dict[str, float]:
        course = self.schedule.course
        if course.known is None:
            return {}
        verdicts = [proof.verdict for _, proof in course.proofs]
        return {
            "suspects": float(len(course.known.suspects)),
            "played": float(len(course.candidates)),
            "work": float(verdicts.count("works")),
        }


def why_nothing(course: Course) -> str:
    """Why no change was tried."""
    if course.takes:
        return TOO_FEW.format(course.takes)
    return NOTHING_FREE if course.known is not None and course.known.watched else NOTHING_STANDS_OUT


class Words:
    """What the command line says of searches for changes."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Battles."""
        return f"{event.battles:,} battles at most"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """What is known by now."""
        if not metrics:
            return "measuring what each piece is worth"
        suspects, played, work = (int(metrics[name]) for name in ("suspects", "played", "work"))
        return f"{suspects} suspects, {played} changes played, {work} proved"
