"""Lineups with something exchanged in them, played on the same luck as they were before (common random numbers)."""

from __future__ import annotations

import msgspec

from engine.config.study import STUDY
from engine.lineups.encoding import Lineups
from engine.lineups.evaluator import LineupEvaluator, Setup
from engine.lineups.matches import PlayedBattles
from engine.problem import ShouldStop
from engine.simulators.conversation import never
from engine.simulators.loaders import heed, load


class SwapEvaluator(LineupEvaluator):
    """Also takes genomes int32[2, teams, slots]: a lineup, and the same with something exchanged, which is what is
    measured. Its battles have the seeds that those of the first have, team for team."""

    def _played(self, genomes: Lineups, first: int, last: int, fidelity: str) -> tuple[Lineups, PlayedBattles]:
        if genomes.ndim < 4:
            return super()._played(genomes, first, last, fidelity)
        before, after = genomes[:, 0], genomes[:, 1]
        return after, self.matches.play(after, first, last, fidelity, before)


def build(payload: bytes, should_stop: ShouldStop = never) -> SwapEvaluator:
    """The evaluator for an encoded ``Setup``; loads the simulator. Raises ConfigError, SimulatorError, Cancelled."""
    setup = msgspec.json.decode(payload, type=Setup)
    return SwapEvaluator(setup, heed(load(STUDY.validate_python(setup.study).game.simulator), should_stop))
