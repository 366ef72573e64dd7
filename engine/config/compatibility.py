"""Incompatible settings of a search that can be detected from the study alone; places are paths in the study."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import comb

from engine.config.algorithms import (
    LINEUP_OPERATORS,
    SETTING_OPERATORS,
    Breeding,
    MAPElitesConfig,
    NSGA3Config,
    SearchAlgorithm,
)
from engine.config.base import refuse
from engine.config.noise import BattlesRule, NoiseConfig, StepsRule, StopRule

Misfit = tuple[str, str]
Rules = tuple[StopRule, ...]


def method(algorithm: SearchAlgorithm, aims: Sequence[str], ways: int) -> Iterator[Misfit]:
    """Misfits between an algorithm and the goals of a search. ``aims``: names of the goals; ``ways``: number of
    dimensions of a map of behaviours."""
    if isinstance(algorithm, MAPElitesConfig):
        yield from _map(algorithm, aims, ways)
    if isinstance(algorithm, NSGA3Config) and algorithm.partitions:
        directions = comb(algorithm.partitions + len(aims) - 1, len(aims) - 1)
        if directions > algorithm.population:
            why = (
                f"makes {directions:,} directions, more than the {algorithm.population:,} of a round: give fewer, or 0"
            )
            yield "algorithm.partitions", why


def operators(algorithm: SearchAlgorithm, *, lineups: bool) -> Iterator[Misfit]:
    """Misfits for operators without effect: those for settings in a search of ``lineups``, or the reverse."""
    if not isinstance(algorithm, Breeding):
        return
    here, there = ("lineups", "settings of players") if lineups else ("settings of players", "lineups")
    for name in SETTING_OPERATORS if lineups else LINEUP_OPERATORS:
        if getattr(algorithm, name) != Breeding.model_fields[name].default:
            yield f"algorithm.{name}", f"varies {there}, and here {here} are searched: leave it out"


def _map(algorithm: MAPElitesConfig, aims: Sequence[str], ways: int) -> Iterator[Misfit]:
    if not ways:
        why = "MAP-Elites needs a second goal, or numbers that say how a candidate behaves, to tell candidates apart"
        yield "algorithm.kind", why
    elif len(algorithm.low) not in (0, ways) or len(algorithm.high) != len(algorithm.low):
        yield "algorithm.low", f"give {ways} lower and {ways} upper bounds, or none"
    if algorithm.quality and algorithm.quality not in aims:
        yield "algorithm.quality", f"there is no goal {algorithm.quality!r}; there are {', '.join(aims)}"


def stops(counted: type[BattlesRule] | type[StepsRule]) -> Callable[[Rules], Rules]:
    """A validator that refuses stop rules which can never hold: a study counts battles or steps, never both."""
    unit = counted.model_fields["kind"].default

    def checked(rules: Rules) -> Rules:
        other = [i for i, rule in enumerate(rules) if rule.kind in ("battles", "steps") and rule.kind != unit]
        refuse(
            (f"{i}.kind", f"this study counts {unit}, not {rules[i].kind}: take {unit}, evaluations or minutes")
            for i in other
        )
        return rules

    return checked


def noise(
    chosen: NoiseConfig, algorithm: SearchAlgorithm, aims: int, replicates: int, unbounded: Sequence[str] = ()
) -> Iterator[Misfit]:
    """Misfits of re-evaluation and racing with the algorithm, the number of goals, or the replicates that every
    candidate gets anyway. ``unbounded``: goals without known limits, as far as the study alone tells."""
    if not chosen.used:
        return
    if not algorithm.remeasures:
        yield "noise", "this algorithm's candidates change from round to round: there is nothing to measure again"
    elif chosen.racing != "off":
        yield from _race(chosen, algorithm, aims, replicates)
        if chosen.racing == "bounds" and unbounded:
            why = f"bounds need limits, and those of {unbounded[0]} are not known: give it a floor and a cap"
            yield "noise.racing", why


def _race(chosen: NoiseConfig, algorithm: SearchAlgorithm, aims: int, replicates: int) -> Iterator[Misfit]:
    if not algorithm.races:
        why = "a race can foresee who stays with NSGA-II, the genetic algorithm and random search only; or no racing"
        yield "noise.racing", why
    if algorithm.without_rounds:
        yield "noise.racing", "needs rounds: switch steady state off, or racing"
    if chosen.racing == "tests" and aims > 1:
        why = f"tests tell who is better by one goal, and with {aims} they put nobody out: take halving, or no racing"
        yield "noise.racing", why
    if chosen.most <= replicates:
        why = f"every candidate is measured {replicates} times anyway, so racing would save nothing: give more"
        yield "noise.most", why
