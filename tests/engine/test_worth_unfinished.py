"""What a game breaks off makes no piece look good or weak: what is told holds whichever way that would have ended."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.rng import combine64
from engine.simulators.contract import FAILED, Battles
from engine.worth import analysis as worth_analysis
from engine.worth import changed_prices, expectations, hidden
from engine.worth import forecast as forecasts
from engine.worth.analysis import WorthAnalysis
from engine.worth.findings_in_words import lines
from engine.worth.missing import missing
from engine.worth.proof import Finalist, Finding
from engine.worth.stages import PROOFS, PlayedStage, Stage
from engine.worth.table import tabled
from engine.worth.verdicts import FINE, OPEN
from tests.engine.sample_simulators import SPEC, Rows, Seeds
from tests.engine.test_worth import HERO, charms, screened, told, whole
from tests.engine.tugs_of_war import Fair

PIECE = 7


class BreakingOff(Fair):
    """Breaks off battles: those that teams with a hero lose, or one in two hundred, whoever plays."""

    def __init__(self, planted: dict[tuple[int, ...], float], hero: int = -1) -> None:
        super().__init__(planted)
        self.hero = hero

    def twist(self, found: Battles, left: Rows, right: Rows, seeds: Seeds) -> None:
        lost = found.side[:, :, 2] == 0
        off = (lost[:, 0] & (left[:, 0] == self.hero)) | (lost[:, 1] & (right[:, 0] == self.hero))
        seldom = combine64(seeds, 9) % np.uint64(200) == 0
        found.status[off if self.hero >= 0 else seldom] = FAILED


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer pairings for what forecasts expect, and fewer steps of learning."""
    monkeypatch.setattr(forecasts, "STEPS", (50, 200))
    monkeypatch.setattr(expectations, "EXPECTED", 60_000)
    monkeypatch.setattr(worth_analysis, "EXPECTED", (60_000, 10_000))
    monkeypatch.setattr(worth_analysis, "CLOSELY", 3_000)
    monkeypatch.setattr(changed_prices, "TURNS", 10_000)
    monkeypatch.setattr(worth_analysis, "ROUGHLY", 1_000)


def proved(wins: NDArray[np.float64]) -> Finding:
    """What is read from a proof of one piece, whose teams won so: not a number where a battle was not finished."""
    analysis = WorthAnalysis(
        cast(Any, SimpleNamespace(single=(), amounts=(), halves=np.empty((0, 2), np.int64))), 0.03, 1, np.empty((0, 2))
    )
    finalists = [Finalist(PIECE, 0.1, 1e-4, expected=0.0, line=0.0, doubt=0.0)]
    analysis.__dict__.update(screen=SimpleNamespace(left=lambda rows, ahead: ahead), finalists=finalists)
    many, ahead = len(wins), np.stack([wins - 0.5, wins - 0.5], axis=1)
    rows, dealt = np.empty((many, 2, 1), np.int32), np.full(many, PIECE)
    analysis.take(PlayedStage(Stage(PROOFS[0], 0, many), rows, dealt, np.zeros(many), ahead))
    return analysis.findings[0]


def drawn(chance: float, battles: int = 4_000) -> NDArray[np.float64]:
    return (np.random.default_rng(1).random(battles) < chance).astype(float)


@pytest.mark.parametrize("kept", [1.0, 0.0])
def test_a_piece_of_which_a_quarter_of_the_battles_that_end_one_way_is_missing_is_not_told(kept: float) -> None:
    wins = drawn(0.5)
    off = (wins != kept) & (np.random.default_rng(2).random(len(wins)) < 0.25)
    found = proved(np.where(off, np.nan, wins))
    assert proved(wins[~off]).reported, "by those that were finished alone it would be"
    assert not found.reported
    assert found.range.low < 0 < found.range.high


def test_one_battle_in_two_hundred_that_is_missing_costs_little() -> None:
    wins = drawn(0.6)
    found, every = proved(np.where(np.arange(len(wins)) % 200 == 0, np.nan, wins)), proved(wins)
    assert found.reported
    assert every.range.low - 0.006 < found.range.low < every.range.low
    assert every.range.high < found.range.high < every.range.high + 0.006
    assert (every.hidden, found.battles) == (0.0, 3_980)


def test_a_piece_of_which_no_battle_was_finished_may_be_anything() -> None:
    found = proved(np.full(500, np.nan))
    assert not found.reported
    assert (found.battles, *found.range) == (0, -1.0, 1.0)


@given(st.lists(st.tuples(st.floats(-0.5, 0.5), st.booleans(), st.sampled_from([-0.5, 0.0, 0.5])), min_size=1))
def test_however_they_would_have_ended_the_mean_of_all_is_no_further_off_than_is_said(
    battles: list[tuple[float, bool, float]],
) -> None:
    forecast, finished, outcome = (np.array(each) for each in zip(*battles, strict=True))
    rest = outcome - forecast
    ways = hidden.Ways(
        np.where(finished, rest, np.nan),
        np.where(finished, rest, hidden.LOST - forecast),
        np.where(finished, rest, hidden.WON - forecast),
    ).at(np.ones(len(rest), np.bool_))
    assert all(ways.lost <= rest + 1e-12)
    assert all(ways.won >= rest - 1e-12)
    if finished.any():
        assert abs(float(rest.mean() - ways.rest.mean())) <= ways.hidden + 1e-12
    if finished.all():
        assert ways.hidden == 0.0
        assert len(ways.least) == len(ways.most) == 1


def test_a_game_that_breaks_off_what_a_hero_loses_makes_neither_that_hero_good_nor_others_weak() -> None:
    losses = whole(BreakingOff({}, hero=HERO + 3), 8_000)
    bundle = Bundle(*tabled(losses.analysis, SPEC, over=True))
    assert not told(losses)
    assert bundle.arrays["verdict"][HERO + 3] == OPEN
    assert set(bundle.arrays["verdict"].tolist()) <= {FINE, OPEN}
    assert bundle.arrays["worth"][HERO + 3] > 0.2, "as those that were finished say"
    assert bundle.arrays["low"][HERO + 3] < 0 < bundle.arrays["high"][HERO + 3]
    needed = missing(bundle)[HERO + 3]
    assert (needed.more, needed.hidden) == (0, bundle.arrays["hidden"][HERO + 3])
    said = lines(bundle)
    assert "what is told and every range hold whichever way these would have ended" in said[0]
    assert any("is told by no number of battles, for those that the game did not finish" in line for line in said)


def test_no_effect_is_beyond_what_outcomes_permit_though_most_battles_were_broken_off() -> None:
    analysis = screened(charms(), lambda rows: 0.4 * (rows[:, 0] == 0), 2_000)
    screen, off = analysis.played[0], np.random.default_rng(2).random(2_000) < 0.8
    analysis.played[0] = screen._replace(ahead=np.where(off[:, None], np.nan, screen.ahead))
    meta, columns = tabled(analysis, charms(), over=True)
    pair, known = meta["furthest_pair"], np.isfinite(columns["low"])
    assert -1 <= pair["low"] < pair["extra"] < pair["high"] <= 1
    assert max(-pair["low"], pair["high"]) == 1, "what its halves bring is hardly known"
    for name in ("low", "high", "hidden"):
        assert np.abs(columns[name][known]).max() <= 1
    assert (columns["low"][known] < columns["worth"][known]).all()
    assert (columns["worth"][known] < columns["high"][known]).all()


def test_what_a_game_breaks_off_now_and_then_hides_no_planted_cause() -> None:
    x = whole(BreakingOff({(HERO + 1,): 20.0}), 8_000)
    hides = tabled(x.analysis, SPEC)[1]["hidden"][: len(x.traits.single)]
    assert told(x)[(HERO + 1,)] == 1
    assert hides.min() > 0
    assert np.median(hides) < 0.01
