"""A fair price holds whichever way the battles would have ended that the game did not finish, or is not told."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.confidence import Range
from engine.worth.hidden_prices import Moves, Priced, moves
from engine.worth.prices import Curve, Fair, Held, Reach, curve, fair
from engine.worth.table import WorthRow, _fair
from engine.worth.verdicts import BEYOND, FINE, HIDDEN, PRICED, UNTRIED

Floats = NDArray[np.float64]
REACH, SLOPE = Reach(-90.0, 90.0), -0.002


def battles(seed: int, share: float, pieces: int = 6, each: int = 300) -> tuple[Priced, Floats]:
    """Battles at changed prices of which so large a ``share`` was not finished: those that were lost at a higher price
    before others; and how each ended, or would have."""
    rng = np.random.default_rng(seed)
    dealt = np.repeat(np.arange(pieces), each)
    gold, lean = rng.uniform(-90, 90, len(dealt)), np.linspace(-1, 1, pieces)[dealt]
    won = (rng.random(len(dealt)) < 0.5 + SLOPE * gold).astype(float) - 0.5
    off = rng.random(len(dealt)) < np.where((won < 0) & (gold > 0), 4 * share, 0)
    low, high = np.where(off, -0.5, won), np.where(off, 0.5, won)
    return Priced(dealt, gold, lean, low, high, ~off), won


def fitted(priced: Priced, outcome: Floats) -> Curve:
    found = curve(priced.pieces, priced.gold, priced.lean, outcome, 90.0)
    assert found is not None
    return found


def off_by(priced: Priced) -> Moves:
    ended = priced.ended()
    found = moves(priced, fitted(ended, ended.low).weights, 90.0)
    assert found is not None
    return found


def departs(priced: Priced, outcome: Floats, piece: int) -> tuple[float, Floats]:
    """The slope of a piece's own battles beyond the curve, by plain least squares, and the curve's weights."""
    weights, own = fitted(priced, outcome).weights, priced.pieces == piece
    x = np.column_stack([priced.gold / 90, (priced.gold / 90) ** 2, priced.gold / 90 * priced.lean])[own]
    x, left = x - x.mean(axis=0), outcome[own] - outcome[own].mean()
    return float(x[:, 0] @ (left - x @ weights) / (x[:, 0] @ x[:, 0])), weights


@pytest.mark.parametrize("trusted", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("ending", ["as they would have", "won", "lost", "dear ones won", "by chance"])
def test_however_they_would_have_ended_the_curve_is_no_further_off_than_is_said(trusted: float, ending: str) -> None:
    priced, outcome = battles(1, 0.05)
    ends = {"won": 0.5, "lost": -0.5, "dear ones won": np.where(priced.gold > 45, 0.5, -0.5), "by chance": np.where(
        np.random.default_rng(2).random(len(outcome)) < 0.5, 0.5, -0.5)}  # fmt: skip
    every, ended = np.where(priced.finished, outcome, ends.get(ending, outcome)), priced.ended()
    gold, may = np.linspace(-90, 90, 25), off_by(priced)
    for piece in range(6):
        held, lean = Held(1.0, float(np.linspace(-1, 1, 6)[piece]), piece), np.linspace(-1, 1, 6)[piece]
        x = np.column_stack([gold / 90, (gold / 90) ** 2, gold / 90 * lean])
        (own, all_), (seen, some) = departs(priced, every, piece), departs(ended, ended.low, piece)
        moved = x @ (all_ - some) + trusted * (own - seen) * x[:, 0]
        assert (np.abs(moved) <= may.at(gold, held) + 1e-12).all()


def test_the_less_was_left_out_the_less_is_hidden_and_nothing_where_all_were_finished() -> None:
    sizes = [float(off_by(battles(1, share)[0]).at(np.array([45.0]), Held(1.0, 0.2, 3))[0]) for share in (0.002, 0.05)]
    assert 0 < sizes[0] < 0.1 * sizes[1]
    priced, outcome = battles(1, 0.0)
    assert moves(priced, fitted(priced, outcome).weights, 90.0) is None


def test_a_curve_of_which_the_game_finished_too_few_battles_may_be_anything() -> None:
    priced, _ = battles(1, 0.05)
    may = moves(priced, None, 90.0)
    assert may is not None
    assert np.isinf(may.at(np.array([-45.0, 0.0, 45.0]), Held(1.0, 0.0, 3))).all()


@pytest.mark.parametrize(("share", "why"), [(0.03, PRICED), (0.1, BEYOND)])
def test_breaking_off_what_is_lost_at_high_prices_moves_no_fair_price_out_of_its_range(share: float, why: int) -> None:
    priced, _ = battles(3, share, pieces=2, each=50_000)
    ended, true, held = priced.ended(), 100.0 + 0.05 / -SLOPE, Held(1.0, -1.0, 0)

    def of(hidden: Any) -> Fair:
        ends = Range(0.049, 0.051)
        return fair(100.0, REACH, Range(0, 1e6), 0.05, ends, fitted(ended, ended.low), 2.58, held, hidden)

    assert of(None).why == PRICED
    assert not of(None).holds(true), "by those that were finished alone"
    honest = of(off_by(priced).at)
    assert honest.why == why
    assert honest.holds(true) == (why == PRICED)


def told(row: WorthRow, curves: dict[int, Curve], off: dict[int, Moves]) -> int:
    """Why the table has no fair price for the only piece of a game; PRICED where it has one."""
    rules = SimpleNamespace(category=np.array([0]), price=np.array([100.0]))
    prices = SimpleNamespace(reach=lambda i: REACH, leans=np.zeros(1))
    analysis = SimpleNamespace(
        screen=SimpleNamespace(rules=rules, units=np.ones(1)), prices=prices, curves=curves, off=off,
        traits=SimpleNamespace(all=[SimpleNamespace(pieces=(0,))]), bounds=np.array([[0.0, 1e6]]),
    )  # fmt: skip
    levels = SimpleNamespace(base=np.zeros(1))
    return _fair(cast(Any, analysis), cast(Any, levels), 0, row).why


def test_where_they_hide_too_much_the_table_says_that_they_are_why_there_is_no_price() -> None:
    steep = {0: Curve(np.array([-0.18, 0.0, 0.0]), np.zeros((3, 3)), 90.0)}
    row, much = WorthRow(900, 0.02, 0.01, 0.03, 0.0, FINE), Moves(np.full(3, 0.3), 90.0, {})
    assert told(row, steep, {}) == PRICED
    assert told(row, steep, {0: much._replace(weights=np.full(3, 0.01))}) == PRICED
    assert told(row, steep, {0: much}) == HIDDEN
    assert told(row._replace(low=-0.29, high=0.33, hidden=0.3), steep, {}) == HIDDEN, "they hide its worth"
    assert told(row._replace(worth=0.5, low=0.49, high=0.51), steep, {0: much}) == BEYOND, "whatever they hide"
    assert told(row, {}, {0: much}) == HIDDEN
    assert told(row._replace(worth=math.nan), {}, {}) == UNTRIED
