"""What a study would only be refused for once it runs, found before a job is made of it: by the forms and by the API.
Places are the study's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb
from typing import Any

from django.conf import settings

from engine.config import LineupConfig, ObjectiveSetConfig, PastedBaselines, Study
from engine.config.algorithms import MAPElitesConfig, NSGA3Config, SearchAlgorithm
from engine.config.noise import NoiseConfig
from engine.errors import ConfigError, Fault
from engine.formula import goal, parse
from engine.lineups.rules import feasibility
from engine.lineups.schema import team_row, unreachable_lines, variables
from engine.simulators.contract import GameSpec
from engine.studies import load
from webapp.lib.words import number, plural
from webapp.studies.methods import Menu, Method

WORKERS_A_PROCESSOR = 4
"""Workers, or samplers, that somebody can mean to have for each processor: two find room, others wait for theirs."""


def most_workers() -> int:
    """Workers that one job may ask for."""
    return int(settings.CPUS) * WORKERS_A_PROCESSOR


def crowded(study: Study) -> Iterator[Fault]:
    """More workers, or samplers, than this site has processors for."""
    asked = {"pool.workers": getattr(getattr(study, "pool", None), "workers", 0)}
    if "samplers" in type(study).model_fields:
        asked["samplers"] = getattr(study, "samplers", 0)
    for place, count in asked.items():
        yield from too_many(place, count)


def too_many(place: str, processes: int) -> Iterator[Fault]:
    """More processes than one job may have here."""
    if processes > most_workers():
        yield Fault(place, f"must be {most_workers()} or less: this site has {plural(settings.CPUS, 'processor')}")


def lineups(rules: LineupConfig, spec: GameSpec) -> Iterator[Fault]:
    """Rules that no lineup of the game can meet, and baseline teams that are none of its teams."""
    for field, reason in feasibility(spec, rules):
        yield Fault(f"lineups.{field}", reason)
    baselines = rules.baselines
    for i, team in enumerate(baselines.teams if isinstance(baselines, PastedBaselines) else ()):
        try:
            team_row(spec, team, f"lineups.baselines.teams.{i}.slots.")
        except ConfigError as error:
            yield from error.problems


def formulas(objectives: ObjectiveSetConfig, spec: GameSpec, rules: LineupConfig) -> Iterator[Fault]:
    """Formulas that the game has no numbers for."""
    team, lineup = (set(names) for names in variables(spec, rules.teams))
    texts = [(f"objectives.objectives.{i}.formula", o.formula, goal) for i, o in enumerate(objectives.objectives)]
    texts += [(f"objectives.constraints.{i}", text, parse) for i, text in enumerate(objectives.constraints)]
    for place, text, read in texts:
        try:
            read(text, team, lineup)
        except ConfigError as error:
            yield Fault(place, f"{error.problems[0].message} ({text})")


def lines(objectives: ObjectiveSetConfig, spec: GameSpec, rules: LineupConfig) -> Iterator[Fault]:
    """Lines with every lineup on one side."""
    for place, message in unreachable_lines(spec, objectives, rules.teams):
        yield Fault(place, message)


def method(
    menu: Menu, algorithm: SearchAlgorithm, noise: NoiseConfig, aims: Sequence[str], ways: int, unbounded: str
) -> Iterator[Fault]:
    """What of a method's settings does not fit what is searched, or each other, in the words of ``menu``. ``aims``:
    names of what is searched for; ``ways``: in how many numbers a map tells candidates apart; ``unbounded``: why no
    race by bounds is possible, if so."""
    kind = str(getattr(algorithm, "kind", ""))
    if kind not in menu.methods:
        yield Fault("algorithm.kind", "This method needs players that train. Choose another.")
        return
    found = list(_noise(menu.methods[kind], algorithm, noise, len(aims), unbounded))
    if isinstance(algorithm, MAPElitesConfig):
        found += _map(algorithm, aims, ways)
    if isinstance(algorithm, NSGA3Config):
        found += _directions(algorithm, len(aims))
    for place, message in found:
        yield Fault(place, menu.worded(message))


def _noise(
    chosen: Method, algorithm: SearchAlgorithm, noise: NoiseConfig, aims: int, unbounded: str
) -> Iterator[Fault]:
    if noise.used and not algorithm.remeasures:
        yield Fault("noise", f"With {chosen.title} there is nothing to measure again. Leave it out.")
    elif noise.racing != "off" and not algorithm.races:
        yield Fault("noise.racing", f"{chosen.title} cannot foresee who stays. Choose another method, or no racing.")
    elif noise.racing != "off" and algorithm.without_rounds:
        yield Fault("noise.racing", "Racing needs rounds. Choose no racing, or no steady state.")
    elif noise.racing == "tests" and aims > 1:
        why = "Tests tell who is better by one objective; by several they put nobody out. Choose no racing."
        yield Fault("noise.racing", why)
    elif noise.racing == "bounds" and unbounded:
        yield Fault("noise.racing", unbounded)


def _map(algorithm: MAPElitesConfig, aims: Sequence[str], ways: int) -> Iterator[Fault]:
    if not ways:
        why = "This question has one objective. MAP-Elites needs a second one to spread lineups along."
        yield Fault("algorithm.kind", why)
    elif len(algorithm.low) not in (0, ways) or len(algorithm.high) != len(algorithm.low):
        yield Fault("algorithm.low", f"Type {ways} lower and {ways} upper bounds, or none at all.")
    if algorithm.quality and algorithm.quality not in aims:
        yield Fault("algorithm.quality", "Choose one of the question’s objectives.")


def _directions(algorithm: NSGA3Config, many: int) -> Iterator[Fault]:
    directions = comb(algorithm.partitions + many - 1, many - 1) if algorithm.partitions else 0
    if directions > algorithm.population:
        why = f"That makes {number(directions)} directions, more than a round has lineups. Type fewer, or 0."
        yield Fault("algorithm.partitions", why)


def repeats(config: Mapping[str, Any]) -> bool:
    """Whether the study of a job gives the same end wherever it was interrupted; not known of an earlier version's."""
    try:
        return load(config).repeats
    except ConfigError:
        return False
