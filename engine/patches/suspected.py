"""What is to be mended, and by which numbers: what an experiment told, and what somebody named."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.config.patch import PatchConfig, Suspect
from engine.errors import ConfigError
from engine.patches.numbers import COST, numbers
from engine.patches.response import Watched
from engine.simulators.contract import GameSpec
from engine.worth.experiment import Experiment
from engine.worth.prices import Held
from engine.worth.screen import WIN

Floats = NDArray[np.float64]
UNKNOWN = 0.1
"""Standard deviation of a pair's worth that nobody measured."""
INFLATED = 0.02
"""What a price does to one piece may differ by so much, at its reach, from what it does on average: a standard
deviation."""


class Suspected:
    """``watched``: the suspects and each of their pieces by itself, in the order of the traits. ``numbers``: those of
    their pieces that may change. ``pairs``: suspects of two pieces that a rule may keep apart; ``intended``: traits
    that are left alone. Raises ConfigError for
    suspects that the rules never field."""

    def __init__(self, experiment: Experiment, spec: GameSpec, config: PatchConfig) -> None:
        self.analysis, self.traits = experiment.analysis, experiment.traits
        self._index = spec.piece_index()
        reported = {f.trait: f for f in self.analysis.findings if f.reported}
        self._found = {t: (f.worth, f.variance / f.battles) for t, f in reported.items()}
        self.intended = {t for each in config.intended if (t := self._place(each)) is not None}
        asked = {self._trait(i, each) for i, each in enumerate(config.suspects)}
        self.suspects = sorted((reported.keys() | asked) - self.intended)
        singles = {trait.pieces[0]: i for i, trait in enumerate(self.traits.single)}
        pieces = sorted({p for t in self.suspects for p in self.traits.all[t].pieces})
        every = sorted({*self.suspects, *(singles[p] for p in pieces)} - self.intended)
        self.watched = [self._watched(trait) for trait in every]
        self.numbers = numbers(spec, config, pieces)
        of_two = [self.traits.all[t].pieces for t in self.suspects if len(self.traits.all[t].pieces) == 2]
        self.pairs = [(a, b) for a, b in of_two] if config.rules else []

    def responses(self) -> dict[int, tuple[Floats, Floats]]:
        """What prices do, as far as the experiment says it: (a, b) and their covariance by the place of the number."""
        found = {}
        for place, number in enumerate(self.numbers):
            curve = self.analysis.curves.get(int(self.traits.rules.category[number.piece]))
            if number.name == COST and curve is not None:
                weights, covariance = curve.of_price(number.reach, self._held(number.piece))
                found[place] = weights, covariance + np.eye(2) * INFLATED**2
        return found

    def _held(self, piece: int) -> Held:
        """How teams hold a piece."""
        single = next(i for i, trait in enumerate(self.traits.single) if trait.pieces == (piece,))
        return Held(float(self.analysis.screen.units[single]), float(self.analysis.prices.leans[single]), single)

    def _trait(self, i: int, suspect: Suspect) -> int:
        found = self._place(suspect)
        if found is None:
            raise ConfigError([(f"suspects.{i}.pieces", "no team can have it under these rules")])
        return found

    def _place(self, suspect: Suspect) -> int | None:
        """The trait of pieces, or of an amount of one, by their ids; None where no team can have it."""
        wanted = tuple(sorted(self._index[piece] for piece in suspect.pieces))
        for trait, each in enumerate(self.traits.all):
            if each.least == suspect.least and tuple(sorted(each.pieces)) == wanted:
                return trait
        return None

    def _watched(self, trait: int) -> Watched:
        """With what the experiment says of its worth."""
        screen, pieces = self.analysis.screen, self.traits.all[trait].pieces
        if trait in self._found:
            return Watched(trait, pieces, *self._found[trait])
        if trait < len(screen.base) and screen.rest[WIN].many[trait] > 1:
            worth = float(screen.outcome()[trait] - screen.base[trait])
            return Watched(trait, pieces, worth, float(screen.variance()[trait] + screen.base_variance[trait]))
        return Watched(trait, pieces, 0.0, UNKNOWN**2)
