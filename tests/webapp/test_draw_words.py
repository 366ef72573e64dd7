"""What captions say of draws, and of ranges of values without declared ends."""

from __future__ import annotations

import numpy as np

from engine.catalog import Signal
from webapp.agents.captions import Figures, Measure, half_won


def test_a_win_of_half_is_a_draw() -> None:
    assert half_won(np.array([1.0, 0.5, 0.0]))
    assert not half_won(np.array([1.0, 0.0, np.nan]))


def test_figures_name_the_measures_whose_ranges_are_no_95_percent_ranges() -> None:
    found = [Measure(name, Signal(words), 0.5, 0.4, 0.6) for name, words in (("dealt", "deals"), ("paces", "goes"))]
    assert Figures(found, {}, [], (), "commanders").every.undeclared == ["goes"]
