"""What a study would only be refused for once it runs, found before a job is made of it. Places are the study's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

from engine.config import EvolveConfig, LineupConfig, ObjectiveSetConfig, PastedBaselines, SearchConfig
from engine.config.algorithms import MAPElitesConfig, NSGA3Config
from engine.errors import ConfigError, Problem
from engine.formula import parse
from engine.lineups.rules import feasibility
from engine.lineups.schema import team_row, variables
from engine.simulators.contract import GameSpec
from webapp.lib.words import number
from webapp.studies.methods import METHODS


def lineups(rules: LineupConfig, spec: GameSpec) -> Iterator[Problem]:
    """Rules that no lineup of the game can meet, and baseline teams that are none of its teams."""
    for field, reason in feasibility(spec, rules):
        yield Problem(f"lineups.{field}", reason)
    baselines = rules.baselines
    for i, team in enumerate(baselines.teams if isinstance(baselines, PastedBaselines) else ()):
        try:
            team_row(spec, team, f"lineups.baselines.teams.{i}.slots.")
        except ConfigError as error:
            yield from error.problems


def formulas(objectives: ObjectiveSetConfig, spec: GameSpec, rules: LineupConfig) -> Iterator[Problem]:
    """Formulas that the game has no numbers for."""
    team, lineup = (set(names) for names in variables(spec, rules.teams))
    texts = [(f"objectives.objectives.{i}.formula", o.formula) for i, o in enumerate(objectives.objectives)]
    texts += [(f"objectives.constraints.{i}", text) for i, text in enumerate(objectives.constraints)]
    for place, text in texts:
        try:
            parse(text, team, lineup)
        except ConfigError as error:
            yield Problem(place, f"{error.problems[0].message} ({text})")


def method(study: SearchConfig | EvolveConfig) -> Iterator[Problem]:
    """What of a method's settings does not fit what is searched, or each other."""
    algorithm, noise = study.algorithm, study.noise
    if isinstance(study, SearchConfig):
        aims = [o.name for o in study.objectives.objectives]
        ways = len(aims) - 1
        if algorithm.kind not in METHODS:
            yield Problem("algorithm.kind", "population based training needs players that train; choose another method")
            return
    else:
        aims = [aim.measure for aim in study.objectives]
        ways = len(study.behaviour) or len(aims) - 1
    if isinstance(algorithm, MAPElitesConfig):
        yield from _map(algorithm, aims, ways)
    if isinstance(algorithm, NSGA3Config):
        yield from _directions(algorithm, len(aims))
    known = METHODS.get(algorithm.kind)
    if noise.used and known is not None and not known.remeasures:
        yield Problem("noise", f"with {known.title} there is nothing to measure again; leave it out")
    elif noise.racing != "off" and getattr(algorithm, "steady", False):
        yield Problem("noise.racing", "racing needs rounds: choose no racing, or no steady state")
    elif noise.racing != "off" and (known is None or not known.races):
        yield Problem("noise.racing", "this method cannot foresee who stays; choose NSGA-II, the genetic algorithm "
                                      "or random search, or no racing")  # fmt: skip


def _map(algorithm: MAPElitesConfig, aims: Sequence[str], ways: int) -> Iterator[Problem]:
    if not ways:
        yield Problem("algorithm.kind", "MAP-Elites needs a second objective to spread candidates along")
    elif len(algorithm.low) not in (0, ways) or len(algorithm.high) != len(algorithm.low):
        yield Problem("algorithm.low", f"give {ways} lower and {ways} upper bounds, or none")
    if algorithm.quality and algorithm.quality not in aims:
        yield Problem("algorithm.quality", f"there is no objective {algorithm.quality!r}; there are {', '.join(aims)}")


def _directions(algorithm: NSGA3Config, many: int) -> Iterator[Problem]:
    directions = comb(algorithm.partitions + many - 1, many - 1) if algorithm.partitions else 0
    if directions > algorithm.population:
        yield Problem("algorithm.partitions", f"that makes {number(directions)} directions, more than a round has "
                                              "candidates; choose fewer, or 0")  # fmt: skip
