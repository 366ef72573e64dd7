"""Plays plantings: a break is made and measured, and an experiment is run on the game that has it.

A request is a planting, or a pattern whose effect in the game as it is is to be measured. Its answer depends on the
study and the request alone, so plantings are spread over workers, each a whole experiment.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.config.sensitivity import HELD, SensitivityConfig
from engine.errors import Cancelled, ConfigError
from engine.lineups.pairing_evaluator import PairingEvaluator, checked
from engine.lineups.rules import compile_rules
from engine.problem import Capabilities, Evaluation, Objective, Problem, Request, ShouldStop
from engine.rl.devices import on_threads
from engine.sensitivity.effects import Ground, PartSize
from engine.sensitivity.plan import ALONG, Planting
from engine.sensitivity.planted import Break
from engine.sensitivity.tuning import Tuning
from engine.simulators.contract import LineupSimulator
from engine.simulators.conversation import never
from engine.simulators.loaders import heed, load
from engine.worth.experiment import BLOCK, Experiment
from engine.worth.prices import cost_bounds
from engine.worth.stages import PRICES

Genome = NDArray[np.int32]
PLANTED = ("effect", "low", "high", "chance", "place", "value")
"""Of a planting: the effect that was planted and its range; the chance with which outcomes are turned; the number that
was changed and what it is now (``engine.sensitivity.tuning.Tuned``)."""
METRICS = (*PLANTED, "unfinished", "measured")
"""Also how many battles the game did not finish, of those that measured effects."""
CONFIRMED = ("first", "second", "least", "sign")
"""Columns of an answer's ``values``: a row for each trait that the experiment confirmed."""
HUNDREDTHS = 10_000
_AFTER = 100
"""What is added to a planting's seed for the battles that measure its break."""


class AskedPattern(NamedTuple):
    """A genome in words: the pattern, and the target (0: its effect is measured, in the direction of ``sign``)."""

    pieces: tuple[int, ...]
    least: int
    target: float
    sign: int

    @classmethod
    def of(cls, genome: Genome) -> AskedPattern:
        """From int32[ALONG + 3]."""
        *pieces, least, hundredths, sign = genome.tolist()
        return cls(tuple(p for p in pieces if p >= 0), least, hundredths / HUNDREDTHS, sign)

    def genome(self) -> Genome:
        """The inverse."""
        pieces = (*self.pieces, -1, -1, -1)[:ALONG]
        return np.array([*pieces, self.least, round(self.target * HUNDREDTHS), self.sign], np.int32)


class PatternSpace:
    """A space of single genomes, which are given."""

    can = Capabilities()

    def sample(self, rng: np.random.Generator, n: int) -> Genome:
        """Empty patterns."""
        return np.stack([AskedPattern((), 1, 0.0, 1).genome()] * n)

    def keys(self, genomes: Genome) -> NDArray[np.uint64]:
        """Their first numbers; nothing is remembered by them."""
        return genomes[:, 0].astype(np.uint64)


class PlantingEvaluator:
    """Holds a simulator, but no state on which a result depends."""

    def __init__(self, config: SensitivityConfig, simulator: LineupSimulator) -> None:
        self.config, self.simulator = config, simulator
        self.spec = checked(config.experiment(0), simulator)
        self.rules = compile_rules(self.spec, config.pairings)
        self.bounds = cost_bounds(self.spec)

    def close(self) -> None:
        """Release the simulator."""
        if close := getattr(self.simulator, "close", None):
            close()

    def describe(self) -> Problem:
        return Problem(PatternSpace(), (Objective("effect", "Effect"),), METRICS, noun="planting")

    def initialize(self, rng: np.random.Generator) -> Genome:
        return np.asarray(PatternSpace().sample(rng, 1)[0])

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation]:
        """One after the other, on one thread."""
        heed(self.simulator, should_stop)
        for request in requests:
            asked = AskedPattern.of(request.genome)
            try:
                with on_threads(1):
                    answer = self._planted if asked.target else self._measured
                    found = answer(request, asked, should_stop)
            except Cancelled:
                return
            yield found

    def _measured(self, request: Request, asked: AskedPattern, should_stop: ShouldStop) -> Evaluation:
        """The effect of a pattern in the game as it is."""
        ground = Ground(self.config.experiment(request.seed), self.simulator, self.rules)
        many = 2 * self.config.precise
        effect = ground.effect(
            asked.pieces, asked.least, asked.sign, Break(asked.pieces), many, request.seed, should_stop
        )
        metrics = np.array([*effect, 0.0, -1, np.nan, ground.unfinished, ground.played])
        return _answer(request, metrics, np.zeros((0, len(CONFIRMED))), ground.played)

    def _planted(self, request: Request, asked: AskedPattern, should_stop: ShouldStop) -> Evaluation:
        """A planting, and what an experiment says of the game that has it."""
        ground = Ground(self.config.experiment(request.seed), self.simulator, self.rules)
        kind = next(kind for kind, many in HELD.items() if many == len(asked.pieces))
        planting = Planting(request.id, kind, asked.pieces, asked.sign, abs(asked.target), request.seed)
        tuned = Tuning(self.config, self.spec, ground).tuned(planting, should_stop)
        many, seed = self.config.precise, request.seed + _AFTER
        effect = ground.effect(asked.pieces, 1, asked.sign, tuned.broken, many, seed, should_stop)
        x = self._experiment(ground.player(tuned.broken), request.seed, should_stop)
        measured = ground.unfinished, ground.played
        metrics = np.array([*effect, tuned.broken.chance, tuned.place, tuned.value, *measured])
        return _answer(request, metrics, _confirmed(x), ground.played + x.played)

    def _experiment(self, player: PairingEvaluator, seed: int, should_stop: ShouldStop) -> Experiment:
        """An experiment, played to the end of its proof: prices confirm nothing. Raises Cancelled."""
        config, pace = self.config, PartSize()
        x = Experiment(self.rules, config.battles, config.matters, seed, self.bounds, should_stop, config.pairs)
        while True:
            if should_stop():
                raise Cancelled("The experiment was asked to stop")
            asked, began = x.ask(max(pace.many // BLOCK, 1)), time.monotonic()
            if x.done or x.stage.name == PRICES:
                return x
            for answer in player.evaluate(asked, should_stop):
                x.tell(answer)
            pace.took(BLOCK * max(len(asked), 1), time.monotonic() - began)


def _confirmed(x: Experiment) -> NDArray[np.float64]:
    """The traits that an experiment confirmed, as CONFIRMED [n, 4]."""
    rows = []
    for finding in x.analysis.findings:
        if finding.reported:
            trait = x.traits.all[finding.trait]
            first, second = (*trait.pieces, -1)[:2]
            rows.append((first, second, trait.least, 1 if finding.worth > 0 else -1))
    return np.array(rows, np.float64).reshape(-1, len(CONFIRMED))


def _answer(request: Request, metrics: NDArray[np.float64], values: NDArray[np.float64], battles: int) -> Evaluation:
    return Evaluation(
        request.id, metrics[:1], np.zeros((1, 1)), 1, metrics, cost=battles, context=request.context, values=values
    )


def build(payload: bytes, should_stop: ShouldStop = never) -> PlantingEvaluator:
    """The evaluator for a study given as JSON; loads the simulator. Raises ConfigError, SimulatorError, Cancelled."""
    config = SensitivityConfig.model_validate(msgspec.json.decode(payload))
    simulator = heed(load(config.game.simulator), should_stop)
    try:
        return PlantingEvaluator(config, simulator)
    except ConfigError:
        if close := getattr(simulator, "close", None):
            close()
        raise
