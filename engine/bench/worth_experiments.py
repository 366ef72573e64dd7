"""The experiments that the benchmark of ``engine.worth`` looks at, what they tell, and battles to check it by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.config.worth import WorthConfig
from engine.games.herobattle import HeroBattle
from engine.lineups.pairing_evaluator import PairingEvaluator
from engine.lineups.pairings import draw
from engine.lineups.rules import CompiledRules, compile_rules
from engine.rng import combine64, mix64
from engine.simulators.contract import GameSpec, Patch
from engine.worth.experiment import Experiment
from engine.worth.prices import cost_bounds

AT_ONCE = 512
PART = 200_000
Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Ids = tuple[str, ...]


def played(
    game: HeroBattle,
    battles: int,
    seed: int,
    patch: Patch | None = None,
    apart: Sequence[Sequence[str]] = (),
    matters: float = 3.0,
) -> Experiment:
    """An experiment that is over; ``apart``: pairs of pieces that no team has both of; ``matters``, in points."""
    spec = game.describe().patched(patch or {})
    table = {"simulator": "builtin:herobattle", "patch": patch or {}}
    settings = {"game": table, "battles": battles, "seed": seed, "matters": matters, "lineups": {"apart": apart}}
    config = WorthConfig.model_validate(settings)
    evaluator = PairingEvaluator(config, game)
    x = Experiment(compile_rules(spec, config.pairings), battles, config.matters, seed, cost_bounds(spec))
    while not x.done:
        for answer in evaluator.evaluate(x.ask(AT_ONCE), lambda: False):
            x.tell(answer)
    return x


def signs(x: Experiment, spec: GameSpec) -> dict[Ids, int]:
    """What an experiment tells, by the ids of its pieces: 1 too good, -1 too weak."""
    return {ids(x, spec, f.trait): 1 if f.worth > 0 else -1 for f in x.analysis.findings if f.reported}


def ids(x: Experiment, spec: GameSpec, trait: int) -> Ids:
    one = x.traits.all[trait]
    return tuple(sorted(spec.pieces[p].id for p in one.pieces)) + ((f"{one.least} or more",) if one.least > 1 else ())


def called(x: Experiment, spec: GameSpec, trait: int) -> str:
    return " + ".join(ids(x, spec, trait))


def wins(
    game: HeroBattle, rules: CompiledRules, pieces: Ints, least: Ints, dearer: Floats | None = None, first: int = 0
) -> float:
    """By how much more than half teams win that are drawn so (``pairings.draw``), in parts that fit the memory;
    ``first``: the number of the first battle."""
    spec, won, many = game.describe(), 0.0, 0
    win = [metric.name for metric in spec.side_metrics].index(spec.win)
    for at in range(0, len(pieces), PART):
        own = slice(at, at + PART)
        keys = mix64(combine64(0xFA1E, np.arange(first + at, first + at + len(pieces[own]), dtype=np.uint64)))
        rows, found = draw(rules, keys, pieces[own], least[own], None if dearer is None else dearer[own])
        left, right = (np.ascontiguousarray(rows[found, side]) for side in (0, 1))
        side = game.battles(left, right, keys[found], {}).side
        won, many = won + float(side[:, 0, win].sum()), many + len(side)
    return won / many - 0.5
