"""The lineup evaluator: Lamarckian's bridge for balance work. Requests in, objectives with covariance out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec
import numpy as np

from engine.config.algorithms import Breeding
from engine.config.lineups import Baselines, PastedBaselines
from engine.config.study import STUDY, BalanceStudy
from engine.errors import ConfigError
from engine.lineups.baselines import BaselineTeams
from engine.lineups.encoding import Lineups, LineupSpace
from engine.lineups.matches import Matches, PlayedBattles
from engine.lineups.objectives import Measured, Objectives, check
from engine.lineups.patterns import Patterns, strangers
from engine.lineups.rules import CompiledRules, compile_rules, feasibility
from engine.lineups.schema import OTHER_GAME, check_patch, team_costs, team_row, unbounded, unreachable_lines
from engine.problem import Evaluation, LineupContext, Problem, Request, ShouldStop, failed, of_kind
from engine.simulators.commanded import load_from
from engine.simulators.contract import GameSpec, LineupSimulator, content_hash
from engine.simulators.conversation import never
from engine.simulators.loaders import heed

MEANT = 1.0
"""The violation of a lineup that is meant to be as it is."""


class Setup(msgspec.Struct, frozen=True):
    """Everything from which an actor builds its evaluator: the study as JSON, the resolved baselines, and the address
    of the store that a commander's policy is in."""

    study: dict[str, object]
    baselines: dict[str, object]
    store: str = ""


class LineupEvaluator:
    """Plays lineups on one simulator. Its only state is a cache of matches, on which no result depends."""

    def __init__(self, setup: Setup, simulator: LineupSimulator) -> None:
        study = STUDY.validate_python(setup.study)
        self.simulator = simulator
        self.spec = simulator.describe().patched(study.game.patch)
        self.baselines = BaselineTeams.load(setup.baselines)
        self.space = _space(compile_rules(self.spec, study.lineups), study)
        self.objectives = Objectives(self.spec, study.objectives, study.lineups.teams, len(self.baselines.rows))
        self.intended = Patterns(self.spec, study.intended)
        cache = getattr(study, "cache", True)
        self.matches = Matches(simulator, self.baselines.rows, study.game.patch, study.seed, cache)

    def close(self) -> None:
        """Release the simulator."""
        if close := getattr(self.simulator, "close", None):
            close()

    def describe(self) -> Problem:
        teams = range(self.space.rules.teams)
        metrics = (*(f"cost_{t}" for t in teams), *(f"strength_{t}" for t in teams))
        bounded = self.objectives.bounded
        return Problem(self.space, self.objectives.describe(), metrics, bounded=bounded, noun="lineup")

    def initialize(self, rng: np.random.Generator) -> Lineups:
        return np.asarray(self.space.sample(rng, 1)[0])

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation]:
        heed(self.simulator, should_stop)
        for (first, last, fidelity, *_), group in groupby(sorted(requests, key=_alike), key=_alike):
            if should_stop():
                return
            yield from self._together(list(group), first, last, fidelity)

    def _together(self, requests: list[Request], first: int, last: int, fidelity: str) -> Iterator[Evaluation]:
        genomes, played = self._played(np.stack([request.genome for request in requests]), first, last, fidelity)
        records = [r.record for r in requests if r.record is not None]
        if records and len(records[0]):
            played = played.after(np.stack(records))
        fixed = [_anchors(r) for r in requests]
        anchors = np.array(fixed, dtype=np.int64) if fixed[0] else None
        costs = team_costs(self.spec, genomes)
        measured = self._apart(self.objectives.measure(played, costs, anchors), genomes)
        each, cached = played.requested // len(requests), played.cached
        recorded = played.recorded() if records else None
        limits = self.objectives.limits(costs) if records and self.objectives.bounded else None
        for i, request in enumerate(requests):
            share = cached // len(requests) + (i < cached % len(requests))
            answer = self._answer(request, i, measured, costs, bool(played.broken[i]), each, share)
            if answer.status == "ok" and recorded is not None:
                answer = answer._replace(record=recorded[i])
            if answer.status == "ok" and (limits is not None or anchors is not None):
                answer = answer._replace(values=measured.values[i], limits=None if limits is None else limits[i])
            if answer.status == "ok" and measured.sums is not None:
                answer = answer._replace(sums=measured.sums[i])
            yield answer

    def _played(self, genomes: Lineups, first: int, last: int, fidelity: str) -> tuple[Lineups, PlayedBattles]:
        """The lineups [n, teams, slots] that genomes stand for, and their battles."""
        return genomes, self.matches.play(genomes, first, last, fidelity)

    def _apart(self, measured: Measured, lineups: Lineups) -> Measured:
        """What is meant to be so counts as if it broke a rule: it is never on a front, and nobody descends from it."""
        if not self.intended.patterns:
            return measured
        meant = self.intended.explained(lineups, measured.anchors).any(axis=1)
        return measured._replace(violation=measured.violation + meant * MEANT)

    def _answer(
        self, request: Request, i: int, found: Measured, costs: np.ndarray, broken: bool, cost: int, cached: int
    ) -> Evaluation:
        metrics = np.concatenate([costs[i], found.strength[i]])
        if broken or not np.isfinite(found.mean[i]).all():
            reason = (
                "The simulator could not finish one of its battles."
                if broken
                else f"Its {self._not_a_number(found.mean[i])} is not a number: the formula divides by zero here."
            )
            answer = failed(request, reason, found.mean.shape[1], len(metrics))
            return answer._replace(cost=cost, cached=cached)
        return Evaluation(
            request.id,
            found.mean[i],
            found.covariance[i],
            found.values.shape[1],
            metrics,
            violation=float(found.violation[i]),
            cost=cost,
            cached=cached,
            context=msgspec.structs.replace(
                of_kind(request.context, LineupContext), anchors=tuple(found.anchors[i].tolist())
            ),
        )

    def _not_a_number(self, values: np.ndarray) -> str:
        bad = np.flatnonzero(~np.isfinite(values))
        return str(self.objectives.config.objectives[int(bad[0])].title)


def _alike(request: Request) -> tuple[int, int, str, bool, int]:
    """Requests with the same value can be answered together."""
    known = -1 if request.record is None else len(request.record)
    fidelity = of_kind(request.context, LineupContext).fidelity
    return request.first, request.last, fidelity, bool(_anchors(request)), known


def _anchors(request: Request) -> tuple[int, ...]:
    """The anchors of a request; none where it asks for a record, because all replicates then choose again."""
    return of_kind(request.context, LineupContext).anchors if request.record is None else ()


def _space(rules: CompiledRules, study: object) -> LineupSpace:
    algorithm = getattr(study, "algorithm", None)
    if not isinstance(algorithm, Breeding):
        return LineupSpace(rules)
    return LineupSpace(rules, algorithm.crossover, algorithm.mutation, algorithm.grouping, algorithm.swapping)


def checked(study: BalanceStudy, simulator: LineupSimulator) -> GameSpec:
    """The simulator's game, unpatched, if this study can run on it. Raises ConfigError with every problem."""
    spec = simulator.describe()
    wrong = [(f"game.patch.{path}", text) for path, text in check_patch(spec, study.game.patch)]
    if study.game.spec and study.game.spec != content_hash(spec):
        wrong.append(("game.spec", OTHER_GAME))
    fidelities = [f.name for f in spec.fidelities]
    if study.game.fidelity not in fidelities:
        wrong.append(("game.fidelity", f"the game can be played as {', '.join(fidelities)}"))
    patched = spec.patched(study.game.patch)
    wrong += [(f"lineups.{place}", text) for place, text in feasibility(patched, study.lineups)]
    wrong += _strangers(patched, study.lineups.baselines)
    wrong += strangers(patched, study.intended, "intended")
    try:
        check(spec, study.objectives, study.lineups.teams)
    except ConfigError as error:
        wrong += error.problems
    if study.judges:
        wrong += unreachable_lines(patched, study.objectives, study.lineups.teams)
    noise = getattr(study, "noise", None)
    if noise and noise.racing == "bounds" and (why := unbounded(spec, study.objectives, study.lineups.teams)):
        wrong.append(("noise.racing", why))
    if noise and noise.racing == "bounds" and study.intended:
        wrong.append(("noise.racing", "bounds need conditions that no battle changes: leave racing out, or intended"))
    if wrong:
        raise ConfigError(wrong)
    return spec


def _strangers(spec: GameSpec, baselines: Baselines) -> Iterator[tuple[str, str]]:
    """Problems of pasted teams that are not valid teams of the game, as (place, sentence)."""
    for i, team in enumerate(baselines.teams if isinstance(baselines, PastedBaselines) else ()):
        try:
            team_row(spec, team, f"lineups.baselines.teams.{i}.slots.")
        except ConfigError as error:
            yield from error.problems


def build(payload: bytes, should_stop: ShouldStop = never) -> LineupEvaluator:
    """The evaluator for an encoded ``Setup``; loads the simulator. Raises ConfigError, SimulatorError, Cancelled."""
    setup = msgspec.json.decode(payload, type=Setup)
    return LineupEvaluator(setup, load_from(STUDY.validate_python(setup.study).game, setup.store, should_stop))
