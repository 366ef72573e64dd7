"""Which breaks are planted: patterns that the experiment can test, in turn, each size as often as any other.

The plan follows from the settings, the rules and the seed alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.config.sensitivity import HELD, Kind, SensitivityConfig
from engine.errors import ConfigError
from engine.lineups.pairings import PairingSpace
from engine.lineups.rules import CompiledRules
from engine.rng import combine64, generator
from engine.worth.analysis import RARE
from engine.worth.experiment import shares
from engine.worth.traits import Traits
from engine.worth.verdicts import NEEDED

DRAWN = 20_000
"""Pairings by which it is judged how often the rules field a pattern."""
ALONG = 3
"""Most pieces of a pattern."""
_PLANTED = 0x5E45
Pattern = tuple[int, ...]


class Planting(NamedTuple):
    """A break: teams that hold all ``pieces`` are to win ``size`` (a share) more often, or less where ``sign`` is -1,
    than the pattern's line (``engine.sensitivity.effects``). ``seed``: of its experiment."""

    number: int
    kind: Kind
    pieces: Pattern
    sign: int
    size: float
    seed: int

    @property
    def target(self) -> float:
        """The effect that is wanted."""
        return self.sign * self.size


def planned(config: SensitivityConfig, rules: CompiledRules) -> list[Planting]:
    """All plantings, in order. Raises ConfigError where the experiment could test nothing of a kind."""
    patterns = {kind: list(_testable(config, rules, kind)) for kind in config.planted}
    wrong = [
        (f"planted.{i}", f"so short an experiment can test no {kind} under these rules")
        for i, kind in enumerate(config.planted)
        if not patterns[kind]
    ]
    if wrong:
        raise ConfigError(wrong)
    found: list[Planting] = []
    for kind, size in config.cells:
        order = generator(config.seed, "sensitivity", kind, round(100 * size))
        for i, pieces in enumerate(_in_turn(patterns[kind], config.plantings, order)):
            number = len(found)
            seed = int(combine64(combine64(config.seed, _PLANTED), number)) >> 1
            found.append(Planting(number, kind, pieces, _sign(config, i), size / 100, seed))
    return found


def _sign(config: SensitivityConfig, turn: int) -> int:
    return {"strong": 1, "weak": -1, "either": 1 - 2 * (turn % 2)}[config.side]


def _in_turn(patterns: Sequence[Pattern], many: int, order: np.random.Generator) -> list[Pattern]:
    """So many patterns, none of them again before all others."""
    found: list[Pattern] = []
    while len(found) < many:
        found += [patterns[i] for i in order.permutation(len(patterns))]
    return found[:many]


def _testable(config: SensitivityConfig, rules: CompiledRules, kind: Kind) -> Iterator[Pattern]:
    """The patterns of a kind of which the experiment's screen meets enough teams."""
    traits = Traits(rules)
    rng = generator(config.seed, "sensitivity", "drawn")
    rows = PairingSpace(rules).sample(rng, DRAWN)
    teams = rows.reshape(-1, rows.shape[-1])
    held = traits.held(teams)[:, : len(traits.single)].toarray() > 0
    each = 2 * shares(config.pairs)["screen"] * config.battles / len(teams)
    if kind == "piece":
        yield from ((traits.single[i].pieces[0],) for i in _apart(held) if held[:, i].sum() * each >= NEEDED)
    elif kind == "pair":
        together = held.T.astype(np.float32) @ held.astype(np.float32)
        place = {t.pieces[0]: i for i, t in enumerate(traits.single)}
        for pair in traits.pairs:
            a, b = (place[piece] for piece in pair.pieces)
            if together[a, b] * each >= RARE and together[a, b] < min(together[a, a], together[b, b]):
                yield pair.pieces
    else:
        yield from _triples(traits, held, rng)


def _apart(held: NDArray[np.bool_]) -> list[int]:
    """The pieces that some teams have and some have not, each by itself and not always with the same other one."""
    many = held.sum(axis=0)
    together = held.T.astype(np.float32) @ held.astype(np.float32)
    same = (together == many) & (together == many[:, None])
    return [i for i in range(held.shape[1]) if 0 < many[i] < len(held) and same[i].sum() == 1]


def _triples(traits: Traits, held: NDArray[np.bool_], rng: np.random.Generator) -> Iterator[Pattern]:
    """Triples that stand in teams of the rules: one of each of some teams."""
    rich = np.flatnonzero(held.sum(axis=1) >= HELD["triple"])
    found: dict[Pattern, None] = {}
    for row in rng.permutation(rich)[: DRAWN // 10]:
        three = rng.choice(np.flatnonzero(held[row]), HELD["triple"], replace=False)
        found[tuple(sorted(traits.single[i].pieces[0] for i in three))] = None
    yield from found
