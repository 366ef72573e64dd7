"""Removal tests as a study: battles with suspects exchanged or banned (``engine.study.removal_course``), and a table of
what they say."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from engine.arrays import Bundle, pack
from engine.catalog import EVALUATORS
from engine.columns import Arrays
from engine.config.patterns import Pattern
from engine.config.removal import RemovalConfig, SuspectConfig
from engine.errors import Cancelled, ConfigError, EngineError, SimulatorError
from engine.events import AnyEvent, Counters, Finished, Incident, Logged, Paused, Progressed, Started, Stopped
from engine.lineups.baselines import BaselineTeams, resolve
from engine.lineups.encoding import team_keys
from engine.lineups.evaluator import LineupEvaluator, Setup, checked
from engine.lineups.patterns import Patterns, strangers
from engine.lineups.schema import team_name
from engine.removal.example import Example, recorded
from engine.rng import battle_seeds, combine64
from engine.runtime.pool import Pool, open_pool
from engine.simulators.contract import GameSpec
from engine.simulators.loaders import heed, load
from engine.store import Store
from engine.study import checkpoint
from engine.study.control import Command, Control
from engine.study.drive import FRESH, finished
from engine.study.failures import not_begun, with_failure
from engine.study.progress_throttle import ProgressThrottle
from engine.study.removal_course import EVERYTHING, Course
from engine.study.removal_reading import Yardstick


def removal(config: RemovalConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a removal study."""
    return with_failure(_Removal(config, store, control).events(resume))


class _Removal:
    def __init__(self, config: RemovalConfig, store: Store, control: Control) -> None:
        self.config, self.store, self.control = config, store, control
        self.throttle, self.before_s, self.began = ProgressThrottle(), 0.0, time.monotonic()

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config = self.config
        try:
            self._prepare(resume)
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        payload = msgspec.json.encode(Setup(config.yardstick.model_dump(mode="json"), self.baselines.state()))
        with open_pool(config.pool, EVALUATORS["swaps"], payload, should_stop=self._stopped) as pool:
            workers = config.pool.workers if config.pool.kind == "ray" else 1
            course = self.course
            yield self._say(Started, workers=workers, pool=config.pool.kind, ticks=len(course.stages),
                            battles=course.battles, resumed=bool(resume))  # fmt: skip
            try:
                command = yield from self._drive(pool)
            except EngineError:
                yield from self._troubles(pool)
                raise
        if command == "pause":
            yield self._say(Paused, artifacts={"checkpoint": self._checkpoint()})
        elif command == "stop":
            yield self._say(Stopped, reason="Stopped by request.", artifacts=self._results(), summary={})
        else:
            examples, trouble = self._examples()
            if trouble:
                yield self._say(Incident, what="lost-simulator", message=trouble)
            yield self._say(Finished, artifacts=self._results() | examples, summary=self._metrics())

    def _stopped(self) -> bool:
        return bool(self.control())

    def _prepare(self, resume: str) -> None:
        """The course as it begins, or as it was left. Raises ConfigError, SimulatorError, StoreError, Cancelled."""
        config, simulator = self.config, load(self.config.game.simulator)
        heed(simulator, self._stopped)
        saved = checkpoint.read(config, resume, self.store) if resume else None
        try:
            spec = checked(config, simulator).patched(config.game.patch)
            fit(config, spec)
            if saved:
                self.baselines = BaselineTeams.load(saved.parts["baselines"].meta)
            else:
                game = config.game
                self.baselines = resolve(simulator, config.lineups, game.patch, config.seed, game.fidelity)
            setup = Setup(config.yardstick.model_dump(mode="json"), self.baselines.state())
            problem = LineupEvaluator(setup, simulator).describe()
        finally:
            if close := getattr(simulator, "close", None):
                close()
        self.spec = spec
        told = Yardstick(config, problem, self.baselines, spec, self.store)
        self.course = Course(config, problem, self.baselines, spec, told)
        if saved:
            self.course.load(saved.parts)
            self.before_s = saved.parts["time"].meta["seconds"]

    def _drive(self, pool: Pool) -> Generator[AnyEvent, None, Command]:
        """Until every stage is over. Returns the command that ended it before."""
        course = self.course
        while not course.done:
            if command := self.control():
                return command
            if requests := course.ask(pool.room):
                pool.submit(requests)
            for evaluation in finished(pool, self.control):
                if course.tell(evaluation):
                    self.throttle.restart()
                    yield self._say(Progressed, metrics=self._metrics(), artifacts=self._results())
            if self.throttle.due():
                yield self._say(Logged, message="")
            yield from self._troubles(pool)
        return ""

    def _results(self) -> dict[str, str]:
        """The table by all stages that are over, and where to go on from."""
        return {"table": self.store.put(pack(tabled(self.course), {})), "checkpoint": self._checkpoint()}

    def _metrics(self) -> dict[str, float]:
        """How many suspects were tested in full by now."""
        results = range(len(self.config.suspects))
        exchanged = sum(self.course.result("swap", i) is not None for i in results)
        banned = sum(self.course.result("replay", i) is not None for i in results)
        return {"exchanged": float(exchanged), "banned": float(banned)}

    def _checkpoint(self) -> str:
        own = {"baselines": Bundle(msgspec.to_builtins(self.baselines.state()), {}),
               "time": Bundle({"seconds": self._seconds}, {})}  # fmt: skip
        return checkpoint.write(self.config, self.course.tick, {**self.course.state(), **own}, self.store)

    def _examples(self) -> tuple[dict[str, str], str]:
        """A battle to watch of each suspect, and what kept the game from showing one."""
        simulator, found, trouble = load(self.config.game.simulator), list[Example | None](), ""
        heed(simulator, self._stopped)
        try:
            for suspect in self.config.suspects:
                found.append(self._example(simulator, suspect))
        except (SimulatorError, Cancelled) as error:
            trouble = f"No battle could be recorded to be watched: {error}"
        finally:
            if close := getattr(simulator, "close", None):
                close()
        told = {
            str(i): {**each.told(), "names": _names(self.spec, self.config.suspects[i])}
            for i, each in enumerate(found)
            if each
        }
        places: Arrays = {f"places_{i}": each.places for i, each in enumerate(found) if each}
        return ({"examples": self.store.put(pack(told, places))} if told else {}), trouble

    def _example(self, simulator: Any, suspect: SuspectConfig) -> Example | None:
        """The first of the battles between strongest and weakest team of the first lineup, chosen by its number."""
        if not suspect.genomes:
            return None
        teams = np.array(suspect.genomes[0], np.int32)[list(suspect.anchors[0])]
        keys = team_keys(teams)
        seed = battle_seeds(self.config.seed, combine64(keys[:1], keys[1:]), FRESH, FRESH + 1)[0, 0]
        return recorded(simulator.replay(teams[0], teams[1], int(seed), self.config.game.patch))

    @property
    def _seconds(self) -> float:
        return self.before_s + time.monotonic() - self.began

    def _troubles(self, pool: Pool) -> Iterator[AnyEvent]:
        for trouble in pool.incidents():
            yield self._say(Incident, what=trouble.what, message=trouble.message)

    def _say(self, kind: Any, **fields: Any) -> AnyEvent:
        counters = Counters(battles=self.course.played, cached=self.course.cached, seconds=self._seconds)
        event: AnyEvent = kind(tick=self.course.tick, at=time.time(), counters=counters, **fields)
        return event


def fit(config: RemovalConfig, spec: GameSpec) -> None:
    """Raise ConfigError for a study that does not fit its game, with all that is wrong."""
    wrong = [(place.replace(".pieces", ".pattern.pieces"), text)
             for place, text in strangers(spec, [each.pattern for each in config.suspects], "suspects")]  # fmt: skip
    if all(objective.threshold is None for objective in config.objectives.objectives):
        wrong.append(("objectives", "one of them needs a line: what is left is told by what is over it"))
    for i, suspect in enumerate(config.suspects):
        shape = (len(suspect.genomes), config.lineups.teams, len(spec.slots))
        try:
            lineups = np.array(suspect.genomes, np.int32).reshape(shape)
        except ValueError:
            wrong.append((f"suspects.{i}.genomes", f"each is {shape[1]} teams of {shape[2]} numbers"))
            continue
        wrong += _strange(lineups, suspect, spec, f"suspects.{i}.genomes")
    if wrong:
        raise ConfigError(wrong)


def _strange(lineups: Any, suspect: SuspectConfig, spec: GameSpec, place: str) -> Iterator[tuple[str, str]]:
    """Lineups with numbers that stand for nothing, or whose team does not hold the suspect."""
    pieces = [s for s, slot in enumerate(spec.slots) if slot.kind == "piece"]
    known = ((lineups[..., pieces] >= -1) & (lineups[..., pieces] < len(spec.pieces))).all(axis=(1, 2))
    held = Patterns(spec, [suspect.pattern]).explained(lineups, np.array(suspect.anchors, np.int64).reshape(-1, 2))
    for i, (real, holds) in enumerate(zip(known.tolist(), held[:, 0].tolist(), strict=True)):
        if not real:
            yield f"{place}.{i}", "a number in it stands for no piece of this game"
        elif not holds:
            yield f"{place}.{i}", f"its {suspect.pattern.side} team does not hold the suspect"


def _names(spec: GameSpec, suspect: SuspectConfig) -> list[str]:
    """What the strongest and the weakest team of the first lineup are called."""
    return [team_name(spec, suspect.genomes[0][team]) for team in suspect.anchors[0]]


def called(spec: GameSpec, pattern: Pattern) -> str:
    """ "Frost Captain + Warhorn", "Ash Rider, 2 or more"."""
    names = {piece.id: piece.name for piece in spec.pieces}
    plain = " + ".join(names[piece] for piece in pattern.pieces)
    return f"{plain}, {pattern.least} or more" if pattern.least > 1 else plain


def tabled(course: Course) -> dict[str, Any]:
    """The table by all stages that are over: for each suspect its exchanges, the pieces without a neighbour, and what a
    short search finds without it, beside what it finds with everything allowed."""
    config, spec = course.config, course.spec
    objective = config.objectives.objectives[course.told.at]
    pieces = [piece.id for piece in spec.pieces]
    suspects = [
        {
            "key": suspect.pattern.key,
            "name": called(spec, suspect.pattern),
            "rows": (course.result("swap", i) or {}).get("rows", []),
            "alone": [[pieces[piece], why] for piece, why in course.exchanged[i].alone] if suspect.genomes else [],
            "lineups": len(suspect.genomes),
            "without": course.result("replay", i),
            "impossible": course.impossible[i],
        }
        for i, suspect in enumerate(config.suspects)
    ]
    named = {piece.id: piece.name for piece in spec.pieces}
    told = objective.model_dump(include={"name", "title", "unit", "toward", "direction", "threshold", "low", "high"})
    return {"game": spec.title, "objective": told, "suspects": suspects, "names": named,
            "everything": course.result("replay", EVERYTHING), "rounds": config.rounds,
            "searched": config.population * config.rounds}  # fmt: skip


class Words:
    """What the command line says of removal studies."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Suspects and battles."""
        count = len(study["suspects"])
        return f"{count} suspect{'' if count == 1 else 's'}, {event.battles:,} battles at most"

    def done(self, counters: Counters) -> str:
        """Battles."""
        return f"{counters.battles:,} battles"

    def round(self, metrics: Mapping[str, float]) -> str:
        """How far it is."""
        return f"{metrics['exchanged']:.0f} suspects exchanged, {metrics['banned']:.0f} banned"
