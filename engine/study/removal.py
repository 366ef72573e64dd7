"""Removal tests as a study: battles with suspects exchanged or banned (``engine.study.removal_course``), and a table of
what they say."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from engine.arrays import Bundle, pack
from engine.columns import Arrays
from engine.config.patterns import Pattern
from engine.config.removal import RemovalConfig, SuspectConfig
from engine.errors import Cancelled, ConfigError, SimulatorError
from engine.events import AnyEvent, Counters, Incident, Started
from engine.evolution.algorithm import Parts
from engine.lineups.baselines import BaselineTeams, resolve
from engine.lineups.encoding import team_keys
from engine.lineups.evaluator import LineupEvaluator, Setup, checked
from engine.lineups.schema import team_name
from engine.lineups.suspected import unfit
from engine.removal.example import Example, recorded
from engine.rng import battle_seeds, combine64
from engine.simulators.contract import GameSpec
from engine.simulators.loaders import opened
from engine.store import Store
from engine.study.checkpoint import Checkpoint
from engine.study.control import Control
from engine.study.drive import FRESH
from engine.study.failures import with_failure
from engine.study.removal_course import EVERYTHING, RemovalCourse
from engine.study.removal_reading import Yardstick
from engine.study.scheduled import Scheduled
from engine.study.session import Totals


def removal(config: RemovalConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a removal study."""
    return with_failure(_Removal(config, store, control).events(resume))


class _Removal(Scheduled):
    evaluator = "swaps"

    schedule: RemovalCourse

    def __init__(self, config: RemovalConfig, store: Store, control: Control) -> None:
        super().__init__(config, config.pool, store, control)
        self.config = config

    def prepare(self, saved: Checkpoint | None) -> None:
        config, game = self.config, self.config.game
        with opened(game.simulator, self.stopped) as simulator:
            self.spec = spec = checked(config, simulator).patched(game.patch)
            if wrong := list(unfit(config, spec)):
                raise ConfigError(wrong)
            if saved:
                self.baselines = BaselineTeams.load(saved.parts["baselines"].meta)
            else:
                self.baselines = resolve(simulator, config.lineups, game.patch, config.seed, game.fidelity)
            problem = LineupEvaluator(self._setup(), simulator).describe()
        yardstick = Yardstick(config, problem, self.baselines, spec, self.store)
        self.schedule = RemovalCourse(config, problem, self.baselines, spec, yardstick)

    def _setup(self) -> Setup:
        return Setup(self.config.yardstick.model_dump(mode="json"), self.baselines.state())

    def payload(self) -> bytes:
        return msgspec.json.encode(self._setup())

    def note(self) -> str:
        """Of baseline teams whose battles were not all finished, where they say what counts as strong."""
        judged = any(objective.strength for objective in self.config.objectives.objectives)
        return self.baselines.note if judged else ""

    def plan(self) -> Totals:
        return Totals(len(self.schedule.stages), self.schedule.battles)

    def parts(self) -> Parts:
        """The baseline teams."""
        return {"baselines": Bundle(msgspec.to_builtins(self.baselines.state()), {})}

    @property
    def cached(self) -> int:
        return self.schedule.cached

    def conclude(self) -> Generator[AnyEvent, None, dict[str, str]]:
        examples, trouble = self._examples()
        if trouble:
            yield self.say(Incident, what="lost-simulator", message=trouble)
        return examples

    def results(self, last: bool) -> dict[str, str]:
        """The table by all stages that are over."""
        return {"table": self.store.put(pack(tabled(self.schedule), {}))}

    def metrics(self) -> dict[str, float]:
        """How many suspects were tested in full by now."""
        results = range(len(self.config.suspects))
        exchanged = sum(self.schedule.result("swap", i) is not None for i in results)
        banned = sum(self.schedule.result("replay", i) is not None for i in results)
        return {"exchanged": float(exchanged), "banned": float(banned)}

    def _examples(self) -> tuple[dict[str, str], str]:
        """A battle to watch of each suspect, and what kept the game from showing one."""
        found, trouble = list[Example | None](), ""
        try:
            with opened(self.config.game.simulator, self.stopped) as simulator:
                for suspect in self.config.suspects:
                    found.append(self._example(simulator, suspect))
        except (SimulatorError, Cancelled) as error:
            trouble = f"No battle could be recorded to be watched: {error}"
        facts = {
            str(i): {**each.facts(), "names": _names(self.spec, self.config.suspects[i])}
            for i, each in enumerate(found)
            if each
        }
        places: Arrays = {f"places_{i}": each.places for i, each in enumerate(found) if each}
        return ({"examples": self.store.put(pack(facts, places))} if facts else {}), trouble

    def _example(self, simulator: Any, suspect: SuspectConfig) -> Example | None:
        """The first of the battles between strongest and weakest team of the first lineup, chosen by its number."""
        if not suspect.genomes:
            return None
        teams = np.array(suspect.genomes[0], np.int32)[list(suspect.anchors[0])]
        keys = team_keys(teams)
        seed = battle_seeds(self.config.seed, combine64(keys[:1], keys[1:]), FRESH, FRESH + 1)[0, 0]
        return recorded(simulator.replay(teams[0], teams[1], int(seed), self.config.game.patch))


def _names(spec: GameSpec, suspect: SuspectConfig) -> list[str]:
    """What the strongest and the weakest team of the first lineup are called."""
    return [team_name(spec, suspect.genomes[0][team]) for team in suspect.anchors[0]]


def called(spec: GameSpec, pattern: Pattern) -> str:
    """ "Frost Captain + Warhorn", "Ash Rider, 2 or more"."""
    names = {piece.id: piece.name for piece in spec.pieces}
    plain = " + ".join(names[piece] for piece in pattern.pieces)
    return f"{plain}, {pattern.least} or more" if pattern.least > 1 else plain


def tabled(course: RemovalCourse) -> dict[str, Any]:
    """The table by all stages that are over: for each suspect its exchanges, the pieces without a neighbour, and what a
    short search finds without it, beside what it finds with everything allowed."""
    config, spec = course.config, course.spec
    objective = config.objectives.objectives[course.yardstick.at]
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
    goal = objective.model_dump(include={"name", "title", "unit", "toward", "direction", "threshold", "low", "high"})
    return {"game": spec.title, "objective": goal, "suspects": suspects, "names": named,
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

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """How far it is."""
        return f"{metrics['exchanged']:.0f} suspects exchanged, {metrics['banned']:.0f} banned"
