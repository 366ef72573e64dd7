"""The battles of the experiment "what is each piece worth?", stage by stage.

1. *Screen*, two fifths of all battles: random pairings under the rules (``engine.lineups.pairings``), the reference.
2. *Narrow* and *closer*, a tenth each: teams drawn to hold the most surprising traits so far, pieces and pairs side by
   side. A pair counts by its effect beyond its halves, so pairs with even results are not overlooked.
3. *Proof*, three times a tenth: traits that may well matter, on battles that had no part in selecting them. Traits that
   are settled leave the remaining battles to the others.
4. *Prices*, the last tenth: teams that hold a piece at a changed price, drawn as if that were the price.

A stage's battles are decided when the stage before is complete, and depend on its battles only; a battle's number and
the study's seed determine the two teams. So an experiment that continues from its state equals one that was never
interrupted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.errors import Cancelled, ConfigError
from engine.evolution.algorithm import Parts, Progress
from engine.lineups.drawing import TRIES
from engine.lineups.pairings import draw
from engine.lineups.rules import CompiledRules
from engine.problem import Evaluation, Request
from engine.rng import combine64, mix64
from engine.worth.analysis import WorthAnalysis
from engine.worth.stages import PRICES, PROOFS, PlayedStage, Stage
from engine.worth.traits import Traits

BLOCK = 16
"""Battles per request."""
TICKS = 40
SHARES = {"screen": 0.4, "narrow": 0.1, "closer": 0.1, **dict.fromkeys(PROOFS, 0.1), PRICES: 0.1}
"""The stages in order, each with its share of the battles."""
SINGLES = {"screen": 0.48, **dict.fromkeys(PROOFS, 0.13), PRICES: 0.13}
"""The same without pairs."""
_DRAWN, _TURNED, _DEARER = 0xD2A3, 0xD2A4, 0xD2A5


def shares(pairs: bool) -> dict[str, float]:
    """The stages of an experiment, which looks at ``pairs`` or does not, each with its share of the battles."""
    return SHARES if pairs else SINGLES


class Experiment:
    """Requests battles and collects their outcomes, as an ``Algorithm`` does. ``analysis``: the findings so far.
    ``bounds`` float64[pieces, 2]: lowest and highest permitted cost of each piece."""

    def __init__(
        self,
        rules: CompiledRules,
        battles: int,
        matters: float,
        seed: int,
        bounds: NDArray[np.float64],
        stopped: Callable[[], bool] = lambda: False,
        pairs: bool = True,
    ) -> None:
        self.rules, self.battles, self.seed = rules, battles, seed
        self.traits, self.stopped, self.shares = Traits(rules, pairs), stopped, shares(pairs)
        self.analysis = WorthAnalysis(self.traits, matters / 100, seed, bounds, stopped)
        self.tick, self.done = 0, False
        self._open(Stage("screen", 0, self._size("screen")))

    @property
    def played(self) -> int:
        """Number of battles played."""
        return self.stage.first + BLOCK * int(self.received.sum())

    def ask(self, room: int) -> list[Request]:
        """At most ``room`` requests of this stage, or of the next one once this is complete. Raises Cancelled if
        stopped while the next stage is decided."""
        if self.received.all() and not self.done:
            self._decide()
        found: list[Request] = []
        while self._next < len(self.received) and len(found) < room:
            if not self.received[self._next]:
                at = BLOCK * self._next
                first = self.stage.first + at
                found.append(Request(first // BLOCK, self._seated[at : at + BLOCK], first, first + BLOCK, self.seed))
            self._next += 1
        return found

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Record the outcomes of a block. Raises KeyError for one that is not outstanding."""
        block = evaluation.id - self.stage.first // BLOCK
        if not 0 <= block < len(self.received) or self.received[block]:
            raise KeyError(evaluation.id)
        at = slice(BLOCK * block, BLOCK * (block + 1))
        if evaluation.values is not None:
            self._ahead[at] = np.where(self._turned[at, None], -1.0, 1.0) * evaluation.values
        self.received[block] = True
        tick = TICKS * self.played // self.battles
        if tick == self.tick:
            return []
        self.tick = tick
        return [Progress(tick)]

    def state(self) -> Parts:
        """The stages so far and the outcomes of their battles; the teams follow from these."""
        stages = [*(played.stage for played in self.analysis.played), self.stage]
        ahead = [*(played.ahead for played in self.analysis.played), self._ahead]
        plans = [{"name": s.name, "first": s.first, "battles": s.battles, "traits": list(s.traits)} for s in stages]
        meta = {"stages": plans, "tick": self.tick, "done": self.done}
        return {"experiment": Bundle(meta, {"ahead": np.concatenate(ahead), "told": self.received})}

    def load(self, parts: Parts) -> None:
        """Continue from a state."""
        meta, arrays = parts["experiment"]
        stages = [Stage(s["name"], s["first"], s["battles"], tuple(s["traits"])) for s in meta["stages"]]
        for i, stage in enumerate(stages):
            self._open(stage)
            self._ahead[:] = arrays["ahead"][stage.first : stage.first + stage.battles]
            if i < len(stages) - 1:
                self.analysis.take(self._over())
        self.received = np.array(arrays["told"], np.bool_)
        self.tick, self.done = meta["tick"], meta["done"]

    def _size(self, name: str) -> int:
        return max(int(self.shares[name] * self.battles) // BLOCK, 1) * BLOCK

    def _open(self, stage: Stage) -> None:
        """Draw the pairings of a stage. Raises ConfigError where hardly any pairing satisfies the rules, and
        Cancelled."""
        numbers = np.arange(stage.first, stage.first + stage.battles, dtype=np.uint64)
        keys = combine64(combine64(self.seed & 0xFFFFFFFFFFFFFFFF, _DRAWN), numbers)
        dealt = np.resize(np.array(stage.traits or (-1,), np.int64), stage.battles)
        asked, dearer = self.traits.asked(dealt), self._dearer(stage, keys, dealt)
        rows, found = draw(self.rules, keys, *asked, dearer, stopped=self.stopped)
        if dearer.any() and not found.all():  # no team can afford the piece then: draw it at its own price
            dearer = np.where(found, dearer, 0.0)
            rows, found = draw(self.rules, keys, *asked, dearer, stopped=self.stopped)
        if not found.all():
            raise ConfigError([("lineups", f"hardly any two teams keep these rules: {TRIES:,} draws gave none")])
        self.stage, self._rows, self._dealt, self._changed = stage, rows, dealt, dearer
        self._turned = (mix64(combine64(keys, _TURNED)) & np.uint64(1)).astype(np.bool_)
        self._seated = np.where(self._turned[:, None, None], rows[:, ::-1], rows)
        self._ahead = np.full((stage.battles, 2), np.nan)
        self.received, self._next = np.zeros(stage.battles // BLOCK, np.bool_), 0

    def _dearer(self, stage: Stage, keys: NDArray[np.uint64], dealt: NDArray[np.int64]) -> NDArray[np.float64]:
        """The price change of the dealt piece in each battle of a stage."""
        if stage.name != PRICES:
            return np.zeros(stage.battles)
        marks = (mix64(combine64(keys, _DEARER)) >> np.uint64(11)).astype(np.float64) / 2**53
        return self.analysis.prices.dearer(dealt, marks)

    def _over(self) -> PlayedStage:
        return PlayedStage(self.stage, self._rows, self._dealt, self._changed, self._ahead)

    def _decide(self) -> None:
        """A stage is complete: take it into the analysis, and decide the next one."""
        self.analysis.take(self._over())
        try:
            later = self._next_stage()
            if later is not None:
                self._open(later)
        except Cancelled:
            self.analysis.played.pop()
            raise
        self.done = later is None

    def _next_stage(self) -> Stage | None:
        order, first = list(self.shares), self.stage.first + self.stage.battles
        for name in order[order.index(self.stage.name) + 1 :]:
            if chosen := self.analysis.chosen(name, self._size(name)):
                return Stage(name, first, self._size(name), chosen)
        return None
