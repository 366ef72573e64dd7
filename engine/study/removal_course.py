"""What a removal study plays, stage by stage.

1. *Swap*, for each suspect: the lineups that hold it, as they are and with each exchange (``engine.removal``), on fresh
   battles.
2. *Search* and *replay*, once with everything allowed and once without each suspect: a short search of the same size
   and seed under rules by which nobody may field it, and what it found most unfair once more, on fresh battles. It is
   restricted play (Jaffe, Miller, Andersen, Liu, Karlin and Popović 2012, "Evaluating competitive game balance with
   restricted play", AIIDE), with these departures: (1) what is restricted is what may be fielded, not how an agent
   plays; (2) the loss is not in an agent's chance to win but in how unfair the most unfair lineups are that a search
   still finds; (3) the unrestricted search is given as much, and both are replayed, as neither comes near the best play
   that the paper asks for: a claim is about searches of this size. Baseline teams stay the same in all of them.

A single piece is banned by the rules; teams that hold a pair, or so many of a piece, count as against them and never
make it to a front. Stages follow one another, each decided by what those before it gave, so a study depends neither on
the order of answers nor on interruptions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from engine.arrays import Bundle
from engine.config.algorithms import NSGA2Config
from engine.config.noise import NoiseConfig
from engine.config.patterns import Pattern
from engine.config.removal import REPLAYED, SEARCHED, RemovalConfig
from engine.evolution.algorithm import Algorithm, Individual, Parts, Progress
from engine.lineups.baselines import BaselineTeams
from engine.lineups.encoding import LineupSpace
from engine.lineups.evaluator import MEANT
from engine.lineups.patterns import Patterns
from engine.lineups.rules import compile_rules, feasibility
from engine.lineups.schema import battles_of_replicate
from engine.problem import Evaluation, LineupContext, Problem, Request
from engine.removal.neighbours import Exchange, Exchanges, exchanges
from engine.simulators.contract import GameSpec
from engine.study.checkpoint import named
from engine.study.drive import FRESH, searching
from engine.study.fixed_list import FixedList
from engine.study.removal_reading import Yardstick

EVERYTHING = -1
"""In place of a suspect: nothing is banned."""


class Stage(NamedTuple):
    """``suspect``: its place in the study."""

    what: Literal["swap", "search", "replay"]
    suspect: int


class RemovalCourse:
    """Asks for battles and takes in what they say, as an ``Algorithm`` does. ``results``: what each stage that is over
    gave, as JSON; ``exchanged`` and ``impossible``: by suspect, how it is taken out of its lineups, and why it cannot
    be banned."""

    def __init__(
        self, config: RemovalConfig, problem: Problem, baselines: BaselineTeams, spec: GameSpec, yardstick: Yardstick
    ) -> None:
        self.config, self.problem, self.spec, self.yardstick = config, problem, spec, yardstick
        self.context = LineupContext(config.game.fidelity)
        self.each = battles_of_replicate(config.lineups.teams, len(baselines.rows))
        rules, index = compile_rules(spec, config.lineups), spec.piece_index()
        known = [each.pattern for each in config.suspects] + list(config.intended)
        avoid = frozenset(index[piece] for pattern in known for piece in pattern.pieces)
        self.exchanged: list[Exchanges] = [exchanges(spec, rules, suspect, avoid) for suspect in config.suspects]
        self.impossible = [_impossible(config, spec, suspect.pattern) for suspect in config.suspects]
        self.stages = [*self._swaps(), *self._bans()]
        self.results: list[dict[str, Any]] = []
        self.played = self.cached = 0
        self._open()

    @property
    def tick(self) -> int:
        """Stages that are over."""
        return len(self.results)

    @property
    def done(self) -> bool:
        """Whether all are."""
        return self.tick == len(self.stages)

    @property
    def battles(self) -> int:
        """Of the whole study, at most: a short search may find fewer lineups than are replayed."""
        c = self.config
        swaps = sum(len(each.lineups) for one in self.exchanged for each in one.played)
        swaps += sum(len(c.suspects[s].genomes) for what, s in self.stages if what == "swap")
        searches = sum(what == "search" for what, _ in self.stages)
        a_search = c.population * c.rounds * SEARCHED + REPLAYED * c.fresh
        return self.each * (swaps * c.replicates + searches * a_search)

    def ask(self, room: int) -> list[Request]:
        """Requests of the stage under way."""
        return [] if self.done else self.algorithm.ask(room)

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Take in an evaluation, which may end one stage or several."""
        self.played, self.cached = self.played + evaluation.cost, self.cached + evaluation.cached
        stage, before = self.stages[self.tick], self.tick
        if stage.what == "search":
            evaluation = self._ruled(evaluation, stage.suspect)
        self.algorithm.tell(evaluation)
        if self.algorithm.done:
            self.results.append(self._result(stage))
            self._open()
        return [Progress(self.tick)] if self.tick > before else []

    def state(self) -> Parts:
        """Results, and how far the stage under way is."""
        meta = {"results": self.results, "played": self.played, "cached": self.cached}
        under_way = {} if self.done else named("stage", self.algorithm.state())
        return {"course": Bundle(meta, {}), **under_way}

    def load(self, parts: Parts) -> None:
        """Go on from a state."""
        meta = parts["course"].meta
        self.results, self.played, self.cached = list(meta["results"]), meta["played"], meta["cached"]
        self._open()
        if not self.done:
            below = {key.removeprefix("stage/"): part for key, part in parts.items() if key.startswith("stage/")}
            self.algorithm.load(below)

    def result(self, what: str, suspect: int) -> Mapping[str, Any] | None:
        """What a stage gave, if it is over."""
        pairs = zip(self.stages, self.results, strict=False)
        return next((result for stage, result in pairs if stage == (what, suspect)), None)

    def _swaps(self) -> list[Stage]:
        return [Stage("swap", i) for i, each in enumerate(self.exchanged) if each.played]

    def _bans(self) -> list[Stage]:
        """A search and its replay with everything allowed, and without each suspect that can be banned."""
        able = [i for i, why in enumerate(self.impossible) if not why]
        if not able or not self.config.rounds:
            return []
        return [Stage(what, i) for i in (EVERYTHING, *able) for what in ("search", "replay")]

    def _open(self) -> None:
        """The next stage that has anything to play; one without gives its result at once."""
        while not self.done:
            stage = self.stages[self.tick]
            self.algorithm: Algorithm = self._algorithm(stage)
            if not self.algorithm.done:
                return
            self.results.append(self._result(stage))

    def _algorithm(self, stage: Stage) -> Algorithm:
        if stage.what == "search":
            return self._search(stage.suspect)
        requests = self._twins(stage.suspect) if stage.what == "swap" else self._again()
        return FixedList(requests, max(len(requests), 1))

    def _search(self, suspect: int) -> Algorithm:
        c, rules = self.config, self.config.lineups
        if suspect != EVERYTHING:
            rules = c.without(c.suspects[suspect].pattern)
        problem = self.problem._replace(space=LineupSpace(compile_rules(self.spec, rules)))
        chosen = NSGA2Config(population=c.population)
        return searching(chosen, problem, c.rounds, c.seed, SEARCHED, NoiseConfig(), self.context)

    def _ruled(self, evaluation: Evaluation, suspect: int) -> Evaluation:
        """With what no rule can say: that no team may hold a pair, or so many of a piece."""
        if suspect == EVERYTHING:
            return evaluation
        search = self.algorithm
        genome = search.outstanding[evaluation.id]  # type: ignore[attr-defined]
        held = Patterns(self.spec, [self.config.suspects[suspect].pattern]).held(genome).any()
        return evaluation._replace(violation=evaluation.violation + MEANT) if held else evaluation

    def rows(self, suspect: int) -> list[Exchange]:
        """What is played of a suspect: its lineups as they are, then every exchange."""
        lineups = [np.array(genome, np.int32) for genome in self.config.suspects[suspect].genomes]
        return [Exchange((), list(range(len(lineups))), lineups), *self.exchanged[suspect].played]

    def _twins(self, suspect: int) -> list[Request]:
        own = self.config.suspects[suspect]
        pairs = [
            (np.stack([np.array(own.genomes[i], np.int32), twin]), own.anchors[i])
            for row in self.rows(suspect)
            for i, twin in zip(row.lineups, row.twins, strict=True)
        ]
        return self._requests(pairs, self.config.replicates)

    def _again(self) -> list[Request]:
        """What the search before this stage found most unfair."""
        picks = self.results[-1]["picks"]
        found = [(np.array(genome, np.int32), tuple(anchors)) for genome, anchors in picks]
        return self._requests(found, self.config.fresh)

    def _requests(self, played: Sequence[tuple[Any, tuple[int, ...]]], replicates: int) -> list[Request]:
        """Each once, on fresh battles; who is strongest and who is weakest stays as it was chosen."""
        fidelity, seed, last = self.config.game.fidelity, self.config.seed, FRESH + replicates
        return [
            Request(i, genome, FRESH, last, seed, LineupContext(fidelity, anchors=anchors))
            for i, (genome, anchors) in enumerate(played)
        ]

    def _result(self, stage: Stage) -> dict[str, Any]:
        """What a stage gave, that is over."""
        if stage.what == "search":
            picks = self.yardstick.furthest_first(self.algorithm.front())[:REPLAYED]
            return {"picks": [_picked(each) for each in picks]}
        assert isinstance(self.algorithm, FixedList)
        arrived = self.algorithm.arrived
        if stage.what == "replay":
            return self.yardstick.replayed([arrived[i] for i in sorted(arrived)])
        suspect = self.config.suspects[stage.suspect]
        side = int(suspect.pattern.side == "weakest")
        teams = [np.array(g, np.int32)[a[side]] for g, a in zip(suspect.genomes, suspect.anchors, strict=True)]
        return {"rows": self.yardstick.swapped(self.rows(stage.suspect), arrived, teams)}


def _picked(individual: Individual) -> tuple[Any, Any]:
    context = individual.evaluation.context
    assert isinstance(context, LineupContext)
    return individual.genome.tolist(), list(context.anchors)


def _impossible(config: RemovalConfig, spec: GameSpec, pattern: Pattern) -> str:
    """Why nobody can be kept from fielding a suspect, in a sentence; empty where it can be."""
    needed = {*spec.rules.required, *config.lineups.required} & set(pattern.pieces)
    if needed and len(pattern.pieces) == 1 and pattern.least == 1:
        return "The rules want it in every lineup."
    return next((text[0].upper() + text[1:] + "." for _, text in feasibility(spec, config.without(pattern))), "")
