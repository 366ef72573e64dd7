"""The study "what each piece is worth": battles of an experiment (``engine.worth``), and the table of its findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.arrays import pack, unpack
from engine.config.worth import WorthConfig
from engine.events import AnyEvent, Counters, Logged, Started
from engine.lineups.pairing_evaluator import checked
from engine.lineups.rules import compile_rules
from engine.rl.devices import on_threads
from engine.runtime.pool import Pool
from engine.simulators.loaders import opened
from engine.store import Store
from engine.study.checkpoint import Checkpoint
from engine.study.control import Control
from engine.study.failures import with_failure
from engine.study.scheduled import Scheduled
from engine.study.session import Totals
from engine.worth.experiment import TICKS, Experiment
from engine.worth.findings_in_words import lines
from engine.worth.prices import cost_bounds
from engine.worth.stages import PRICES, PROOFS
from engine.worth.table import tabled
from engine.worth.traits import Trait

SAID = {
    "screen": "Random teams of equal cost have met. Which pairs bring more together than each alone is looked at next.",
    "narrow": "The pairs that surprised most are looked at again.",
    "closer": "What may matter is proved next, on fresh battles.",
    PRICES: "Pieces are played at other prices, to see what a price does.",
}
"""Log messages at the end of each stage; for the last one, at its beginning."""
SINGLES = "Random teams of equal cost have met. What may matter is proved next, on fresh battles."
"""At the end of the screen, where no pairs are looked at."""
PLAYED = {
    "screen": "The first battles are played",
    "narrow": "The second look at pairs is played",
    "closer": "The closer look is played",
    **{name: f"Part {i} of {len(PROOFS)} of the proof is played" for i, name in enumerate(PROOFS, 1)},
    PRICES: "The battles at other prices are played",
}
"""What is over when the result of a stage is worked out; read in the log also when all is over."""


def worth(config: WorthConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for an experiment."""
    return with_failure(_Worth(config, store, control).events(resume))


def table_lines(config: WorthConfig, artifacts: Mapping[str, str], store: Store) -> list[str]:
    """What its table says, in lines for the command line; none before there is one."""
    if "table" not in artifacts:
        return []
    return lines(unpack(store.get(artifacts["table"])), config.intended)


class _Worth(Scheduled):
    evaluator = "pairings"

    schedule: Experiment

    def __init__(self, config: WorthConfig, store: Store, control: Control) -> None:
        super().__init__(config, config.pool, store, control)
        self.config, self.tabled, self.table = config, 0, ""

    def events(self, resume: str) -> Iterator[AnyEvent]:
        """The study; decisions are computed on one thread."""
        with on_threads(1):
            yield from super().events(resume)

    def prepare(self, saved: Checkpoint | None) -> None:
        config = self.config
        with opened(config.game.simulator, self.stopped) as simulator:
            self.spec = checked(config, simulator)
        rules, bounds = compile_rules(self.spec, config.pairings), cost_bounds(self.spec)
        self.schedule = Experiment(
            rules, config.battles, config.matters, config.seed, bounds, self.stopped, config.pairs
        )

    def plan(self) -> Totals:
        return Totals(TICKS, self.config.battles)

    def hand_out(self, pool: Pool) -> Iterator[AnyEvent]:
        """Also says when a stage is over."""
        x, stage = self.schedule, self.schedule.stage
        if x.received.all():
            yield self.say(Logged, message=f"{PLAYED[stage.name]}: the result follows.")
        yield from super().hand_out(pool)
        if x.stage != stage and not x.done:
            yield self.say(Logged, message=self._said(stage.name))

    def _said(self, over: str) -> str:
        if self.schedule.stage.name == PRICES:
            return SAID[PRICES]
        return SINGLES if over == "screen" and not self.config.pairs else SAID.get(over, "")

    def results(self, last: bool) -> dict[str, str]:
        """The table of all complete stages."""
        analysis = self.schedule.analysis
        if len(analysis.played) > self.tabled:
            self.tabled = len(analysis.played)
            self.table = self.store.put(pack(*tabled(analysis, self.spec, self.schedule.done)))
        return {"table": self.table} if self.table else {}

    def metrics(self) -> dict[str, float]:
        analysis = self.schedule.analysis
        if not analysis.played:
            return {}
        findings = analysis.findings if analysis.proving else []
        named = [analysis.traits.all[finding.trait] for finding in findings if finding.reported]
        return {"looked_at": float(len(analysis.traits.all)), "told": float(sum(not self._meant(t) for t in named))}

    def _meant(self, trait: Trait) -> bool:
        """Whether somebody means a trait to be as it is."""
        pieces = {self.spec.pieces[piece].id for piece in trait.pieces}
        return any(set(each.pieces) == pieces and each.least == trait.least for each in self.config.intended)


class Words:
    """Console texts of experiments."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Battles."""
        return f"{event.battles:,} battles"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """The findings so far."""
        count = int(metrics.get("told", 0))
        return f"{count} of {int(metrics['looked_at']):,} pieces and pairs stand out" if metrics else "screening"
