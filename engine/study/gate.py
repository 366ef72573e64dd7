"""A gate as a study: exploits of earlier builds are replayed, pieces are screened, and a short search looks for more.

Each part is a study of its own (``engine.study.lineups``, ``engine.study.worth``) that runs inside of this one: its
events come out with the gate's counters and rounds, and its checkpoint lies within the gate's. So a part goes on where
it was, and ends as it would have. Battles of the parts have seeds that no study with the gate's own seed has, and the
replay plays replicates that the search never does: an exploit that was found with the same seed meets fresh battles.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from engine.arrays import Bundle, pack, unpack
from engine.catalog import STUDIES
from engine.config.base import Study
from engine.config.gate import GateConfig
from engine.errors import AllFailed, Cancelled
from engine.events import AnyEvent, Counters, Failed, Finished, Incident, Logged, Paused, Progressed, Started, Stopped
from engine.gate import exploits, verdict
from engine.gate.report import Report, encoded
from engine.lineups import pairing_evaluator
from engine.lineups.evaluator import checked
from engine.problem import GIVEN_UP
from engine.rng import combine64
from engine.simulators.loaders import opened
from engine.store import Store
from engine.study import checkpoint, lineups
from engine.study.checkpoint import named
from engine.study.control import Control
from engine.study.drive import FRESH
from engine.study.failures import not_begun, with_failure
from engine.study.session import Session

LINEUPS, PIECES = 0x6A7E, 0x6A7F
"""What the seeds of a gate's parts are made of beside its own."""
REPLAYED = 4 * FRESH
"""The first replicate of exploits: beyond any that a search plays."""
SAID = {
    "replay": "Exploits of earlier builds are played again",
    "screen": "Random teams meet, to see what each piece is worth",
    "search": "A short search looks for lineups over the line",
}
KEPT = {"replay": ("result",), "screen": ("table",), "search": ("fresh", "fresh_elites")}
"""The artifacts of a part that its findings are read from."""
ROLES = {"result": "replayed", "table": "screened", "fresh": "searched", "fresh_elites": "searched_elites"}


class Stage(NamedTuple):
    """A part of a gate as a study of its own, with the rounds and battles that are planned."""

    part: str
    said: str
    config: Study
    run: Any
    ticks: int
    battles: int


class Done(msgspec.Struct):
    """How far a gate is: which stage it is in, what earlier ones left (role to hash, by part) and their totals; the
    totals and the round of the one under way; the lineups that the search evaluated, those of them that failed, and
    those of these that were given up; and the battles of the screen."""

    stage: int = 0
    tick: int = 0
    found: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    counters: Counters = Counters()
    inner: Counters = Counters()
    inner_tick: int = 0
    evaluated: int = 0
    failed: int = 0
    given_up: int = 0
    screen_battles: int = 0


def gate(config: GateConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a gate."""
    return with_failure(_Gate(config, store, control).events(resume))


class _Gate(Session):
    def __init__(self, config: GateConfig, store: Store, control: Control) -> None:
        super().__init__(store, control)
        self.config = config
        self.done, self.saved = Done(), ""
        self.groups: list[exploits.ExploitGroup] = []
        self.barred: list[tuple[str, str]] = []

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config = self.config
        try:
            self._prepare()
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        goes_on = self._restored(resume) if resume else ""
        ticks, battles = (sum(getattr(stage, name) for stage in self.stages) for name in ("ticks", "battles"))
        yield self.say(Started, workers=config.pool.processes, pool=config.pool.kind, ticks=ticks, battles=battles,
                        resumed=bool(resume))  # fmt: skip
        for name, why in () if resume else self.barred:
            yield self.say(Logged, message=f"“{name}” may not be fielded any more: {why}.")
        while self.done.stage < len(self.stages):
            stage = self.stages[self.done.stage]
            if not goes_on:
                yield self.say(Logged, message=stage.said)
            ended = yield from self._part(stage, goes_on)
            if not ended:
                return
            goes_on = ""
        report = self.report()
        yield self.say(Finished, artifacts=self._results(report), summary=_summary(report))

    def _prepare(self) -> None:
        """The game, and the parts as studies. Raises ConfigError with all that is wrong, SimulatorError, Cancelled."""
        config = self.config
        with opened(config.game.simulator, self.stopped) as simulator:
            self.spec = checked(config, simulator).patched(config.game.patch)
            if config.screen:
                pairing_evaluator.checked(config.screening(config.seed), simulator)
        self.groups, self.barred = exploits.grouped(config, self.spec)
        made = {"replay": self._replays, "screen": self._screen, "search": self._search}
        self.stages = [stage for part in config.parts for stage in made[part]()]

    def _seed(self, of: int) -> int:
        return int(combine64(self.config.seed, of)) >> 1

    def _replays(self) -> Iterator[Stage]:
        """A stage for each group of exploits that meet the same baseline teams."""
        for group in self.groups:
            study, many = group.replay(self.config, self._seed(LINEUPS), REPLAYED), len(group.names)
            against = f", against the baseline teams of {group.met}" if group.met else ""
            said, battles = f"{SAID['replay']}{against}.", sum(study.plays) * exploits.battles_each(group.rules)
            yield Stage("replay", said, study, lineups.recheck, min(20, many) + 1, battles)

    def _screen(self) -> Iterator[Stage]:
        study = self.config.screening(self._seed(PIECES))
        from engine.worth.experiment import TICKS  # loads torch, which a gate without a screen does not need

        yield Stage("screen", f"{SAID['screen']}.", study, STUDIES["worth"].load(), TICKS + 1, study.battles)

    def _search(self) -> Iterator[Stage]:
        study = self.config.searching(self._seed(LINEUPS))
        each = exploits.battles_each(self.config.lineups)
        battles = study.ticks * study.algorithm.population * study.replicates * each
        yield Stage("search", f"{SAID['search']}.", study, lineups.run, study.ticks + 1, battles)

    def _part(self, stage: Stage, resume: str) -> Generator[AnyEvent, None, bool]:
        """The events of a part as the gate's own. Returns whether it is over, so that the next one may begin."""
        for event in stage.run(stage.config, self.store, resume, self.control):
            if not isinstance(event, Failed):
                self.done.inner = event.counters
            match event:
                case Progressed():
                    self.done.tick, self.done.inner_tick = self.done.tick + 1, event.tick
                    kept = {role: digest for role, digest in event.artifacts.items() if role == "chunk"}
                    artifacts = {**kept, "checkpoint": self._checkpoint(stage, event.artifacts["checkpoint"])}
                    yield self.say(Progressed, metrics=self._metrics(), artifacts=artifacts)
                case Logged() | Incident():
                    yield self._said(event)
                case Paused():
                    saved = self._checkpoint(stage, event.artifacts.get("checkpoint", ""))
                    yield self.say(Paused, artifacts={"checkpoint": saved})
                case Stopped():
                    report = self.report()
                    self._checkpoint(stage, event.artifacts.get("checkpoint", ""))
                    left = self._results(report)
                    yield self.say(Stopped, reason=event.reason, artifacts=left, summary=_summary(report))
                case Finished():
                    self._count(stage, event.counters.evaluations, event.summary)
                    yield self._over(stage, event.artifacts)
                    return True
                case Failed() if stage.part == "search" and _nothing_measured(event):
                    yield self.say(Logged, message=event.message)
                    yield self._over_without_any(stage)
                    return True
                case Failed():
                    yield msgspec.structs.replace(event, tick=self.done.tick, counters=self._counters)
        return False

    def _count(self, stage: Stage, evaluated: int, summary: Mapping[str, Any]) -> None:
        """What the end of a part says of what it played."""
        done = self.done
        if stage.part == "search":
            done.evaluated, done.failed = evaluated, int(summary["failed"])
            done.given_up = int(summary.get("given_up", 0))
        done.screen_battles += done.inner.battles if stage.part == "screen" else 0

    def _over_without_any(self, stage: Stage) -> AnyEvent:
        """The search is over, as the game finished the battles of none of its first lineups: it found nothing, and what
        other parts found still counts."""
        assert self.config.search is not None
        many, inner = self.config.search.algorithm.population, self.done.inner
        battles = max(inner.battles, stage.battles // (stage.ticks - 1))
        self.done.inner = msgspec.structs.replace(inner, evaluations=max(inner.evaluations, many), battles=battles)
        self._count(stage, many, {"failed": many})
        return self._over(stage, {})

    def _over(self, stage: Stage, artifacts: Mapping[str, str]) -> AnyEvent:
        """A part is over: keep what it left, and forget where in it we were."""
        done = self.done
        before = done.found.setdefault(stage.part, {})
        again = f"_{len(before) + 1}" if before and stage.part == "replay" else ""
        left = {f"{ROLES[role]}{again}": artifacts[role] for role in KEPT[stage.part] if role in artifacts}
        before |= left
        done.counters, done.inner = self._counters, Counters()
        done.stage, done.tick, done.inner_tick = done.stage + 1, done.tick + 1, 0
        self.saved = checkpoint.write(
            self.config, done.tick, {"gate": Bundle(msgspec.to_builtins(done), {})}, self.store
        )
        report = self.report()
        return self.say(Progressed, metrics=self._metrics(report), artifacts=left | self._results(report))

    def report(self) -> Report:
        """The verdict by the parts that are over."""
        read = {
            part: [unpack(self.store.get(left)) for left in kept.values()] for part, kept in self.done.found.items()
        }
        parts = verdict.Parts(
            read, self.groups, self.barred, self._left(), self.done.evaluated, self._counters.battles,
            self.done.screen_battles, self.done.failed, self.done.given_up,
        )  # fmt: skip
        return verdict.read(self.config, self.spec, parts)

    def _left(self) -> Sequence[str]:
        """The parts that are not over."""
        left = {stage.part for stage in self.stages[self.done.stage :]}
        return [part for part in self.config.parts if part in left]

    def _results(self, report: Report) -> dict[str, str]:
        return {"table": self.store.put(pack(encoded(report), {}))} | ({"checkpoint": self.saved} if self.saved else {})

    def _metrics(self, report: Report | None = None) -> dict[str, float]:
        at = self.stages[min(self.done.stage, len(self.stages) - 1)].part
        part = {"part": float(self.config.parts.index(at) + 1), "parts": float(len(self.config.parts))}
        if report is None:
            return part
        counts = {word: float(sum(row.verdict == word for row in report.rows)) for word in ("over", "open")}
        return part | counts

    def _checkpoint(self, stage: Stage, inner: str) -> str:
        """Where the gate is, with the checkpoint of the part that it is in."""
        parts = {"gate": Bundle(msgspec.to_builtins(self.done), {})}
        if inner:
            parts |= named("part", checkpoint.read(stage.config, inner, self.store).parts)
        self.saved = checkpoint.write(self.config, self.done.tick, parts, self.store)
        return self.saved

    def _restored(self, resume: str) -> str:
        """Go on from a checkpoint; that of the part that it was in, if it was in one."""
        saved = checkpoint.read(self.config, resume, self.store)
        self.done, self.saved = msgspec.convert(saved.parts["gate"].meta, Done), resume
        inner = saved.below("part")
        if not inner:
            return ""
        return checkpoint.write(self.stages[self.done.stage].config, self.done.inner_tick, inner, self.store)

    @property
    def _counters(self) -> Counters:
        """Totals of the parts that are over and of the one under way."""
        pairs = zip(msgspec.structs.astuple(self.done.counters), msgspec.structs.astuple(self.done.inner), strict=True)
        return msgspec.structs.replace(Counters(*(a + b for a, b in pairs)), planned=0)

    def _said(self, event: Logged | Incident) -> AnyEvent:
        return msgspec.structs.replace(event, tick=self.done.tick, counters=self._counters)

    def reached(self) -> tuple[int, Counters]:
        return self.done.tick, self._counters


def _nothing_measured(event: Failed) -> bool:
    """Whether a search failed for nothing but that the game finished the battles of no lineup."""
    return event.error == AllFailed.__name__ and GIVEN_UP not in event.message


def _summary(report: Report) -> dict[str, Any]:
    return {"verdict": report.verdict, "sentence": report.sentence}


class Words:
    """What the command line says of gates."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Exploits and battles."""
        return f"{len(study['exploits'])} exploits, about {event.battles:,} battles"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """What is known by now."""
        if "over" not in metrics:
            return f"part {int(metrics['part'])} of {int(metrics['parts'])}"
        return f"{int(metrics['over'])} over the line, {int(metrics['open'])} open"
