"""What each piece is worth: what is planted is named, what is fair is not, and nothing depends on who plays when."""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.catalog import STUDIES
from engine.config import LineupConfig
from engine.config.worth import WorthConfig
from engine.errors import Cancelled, ConfigError, SimulatorError
from engine.events import AnyEvent, Failed, Finished, Logged, Paused, Progressed, Stopped
from engine.lineups import pairing_evaluator
from engine.lineups.pairing_evaluator import PairingEvaluator
from engine.lineups.pairings import PairingSpace, draw
from engine.lineups.rules import compile_rules
from engine.problem import Request
from engine.simulators.contract import Battles, Category, Distinct, GameSpec, Piece, Rules, Slot
from engine.store import FolderStore
from engine.studies import load
from engine.study import worth
from engine.worth import analysis as worth_analysis
from engine.worth import changed_prices, expectations, interplay
from engine.worth import forecast as forecasts
from engine.worth.analysis import WorthAnalysis
from engine.worth.estimates import predicting
from engine.worth.experiment import BLOCK, Experiment, shares
from engine.worth.findings_in_words import lines
from engine.worth.missing import missing
from engine.worth.prices import cost_bounds
from engine.worth.stages import PlayedStage, Stage
from engine.worth.table import tabled
from engine.worth.traits import Traits
from engine.worth.verdicts import (
    ALONE,
    ANYWHERE,
    FINE,
    OPEN,
    PRICED,
    TOO_GOOD,
    TOO_WEAK,
    UNFINISHED,
    UNTESTED,
)
from tests.engine.sample_simulators import SPEC
from tests.engine.tugs_of_war import Fair

HERO, SOLDIER, CHARM = 0, 6, 9
"""The first of the pieces of each category."""
CHARMS = 6
"""The first charm of the game of charms."""
RULES, BOUNDS = compile_rules(SPEC, LineupConfig(teams=2, cost_tolerance=None)), cost_bounds(SPEC)


class Crowds(Fair):
    """Three soldiers and more, of whatever kind, are worth less than fewer."""

    def _bonus(self, teams: NDArray[np.int32]) -> NDArray[np.float64]:
        return np.where(teams[:, 2] >= 3, -0.1, 0.0)


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer pairings for what forecasts expect, and fewer steps of learning."""
    monkeypatch.setattr(forecasts, "STEPS", (100, 400))
    monkeypatch.setattr(expectations, "EXPECTED", 60_000)
    monkeypatch.setattr(worth_analysis, "EXPECTED", (60_000, 10_000))
    monkeypatch.setattr(worth_analysis, "CLOSELY", 3_000)
    monkeypatch.setattr(changed_prices, "TURNS", 10_000)
    monkeypatch.setattr(worth_analysis, "ROUGHLY", 1_000)


@pytest.fixture
def roughly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rough forecasts, for what holds however good they are."""
    monkeypatch.setattr(forecasts, "STEPS", (20, 60))
    monkeypatch.setattr(expectations, "EXPECTED", 20_000)
    monkeypatch.setattr(worth_analysis, "EXPECTED", (20_000, 5_000))


def config(battles: int, seed: int = 1) -> WorthConfig:
    game = {"simulator": "python:tests.engine.tugs_of_war:Fair"}
    lineups = {"cost_tolerance": None}
    found = load({"kind": "worth", "seed": seed, "game": game, "battles": battles, "lineups": lineups,
                  "pool": {"kind": "local"}})  # fmt: skip
    assert isinstance(found, WorthConfig)
    return found


def whole(game: Fair, battles: int, seed: int = 1, backwards: bool = False, cut: int = 0) -> Experiment:
    """An experiment, played to its end; ``backwards``: every stage in the opposite order; ``cut``: it goes on from its
    state whenever so many blocks have been played."""
    evaluator, made = (
        PairingEvaluator(config(battles, seed), game),
        lambda: Experiment(RULES, battles, 3.0, seed, BOUNDS),
    )
    x, since = made(), 0
    while not x.done:
        asked = x.ask(cut or 10_000)
        for answer in list(evaluator.evaluate(asked, lambda: False))[:: -1 if backwards else 1]:
            x.tell(answer)
        since += len(asked)
        if cut and since >= cut and not x.done:
            state, x, since = x.state(), made(), 0
            x.load(state)
    return x


def told(x: Experiment) -> dict[tuple[int, ...], int]:
    """By pieces whether what was told is too good or too weak."""
    return {x.traits.all[f.trait].pieces: int(np.sign(f.worth)) for f in x.analysis.findings if f.reported}


def test_who_meets_whom_on_the_screen_is_any_team_of_the_rules_on_either_side() -> None:
    x = Experiment(RULES, 20_000, 3.0, 1, BOUNDS)
    genomes = np.concatenate([request.genome for request in x.ask(10_000)])
    reference = PairingSpace(RULES).sample(np.random.default_rng(1), len(genomes))
    for side in (0, 1):
        seen, expected = (x.traits.held(rows[:, side]).toarray().mean(axis=0) for rows in (genomes, reference))
        assert np.abs(seen - expected).max() < 5 * np.sqrt(0.5 / len(genomes))


def test_planted_pieces_and_pairs_are_named_too_strong_and_too_weak_alike_and_nothing_else() -> None:
    x = whole(Fair({(HERO + 1,): 15.0, (CHARM + 3,): -14.0, (HERO + 4, SOLDIER + 2): 24.0}), 48_000)
    found = told(x)
    assert found[(HERO + 1,)] == 1
    assert found[(CHARM + 3,)] == -1
    assert found[HERO + 4, SOLDIER + 2] == 1
    # A half that is often in a broken pair is itself worth something.
    assert set(found) <= {(HERO + 1,), (CHARM + 3,), (HERO + 4, SOLDIER + 2), (HERO + 4,), (SOLDIER + 2,)}


def test_without_pairs_single_pieces_get_their_battles_and_no_pair_is_looked_at() -> None:
    game = Fair({(HERO + 1,): 15.0, (HERO + 4, SOLDIER + 2): 24.0})
    evaluator, x = PairingEvaluator(config(16_000), game), Experiment(RULES, 16_000, 3.0, 1, BOUNDS, pairs=False)
    while not x.done:
        for answer in evaluator.evaluate(x.ask(10_000), lambda: False):
            x.tell(answer)
    assert told(x)[(HERO + 1,)] == 1
    assert all(len(trait.pieces) == 1 for trait in x.traits.all)
    assert [p.stage.name for p in x.analysis.played][:2] == ["screen", "proof-1"]
    assert x.analysis.played[0].stage.battles == 0.48 * 16_000
    assert (tabled(x.analysis, SPEC)[1]["piece"][:, 1] == -1).all()


def test_shares_of_the_battles_are_whole_with_and_without_pairs() -> None:
    assert [sum(shares(pairs).values()) for pairs in (True, False)] == pytest.approx([1, 1])


@pytest.mark.parametrize("seed", [1, 2])
def test_of_a_fair_game_nothing_is_told(seed: int) -> None:
    assert not told(whole(Fair(), 8_000, seed))


def test_that_many_of_any_kind_are_worse_than_few_is_no_kinds_fault() -> None:
    x = whole(Crowds(), 32_000)
    screen, crowds = (
        x.analysis.screen,
        [i for i, t in enumerate(x.traits.amounts, len(x.traits.single)) if t.least == 3],
    )
    assert crowds
    assert (screen.outcome()[crowds] < -0.03).all()
    assert np.abs(screen.outcome()[crowds] - screen.base[crowds]).max() < 0.03
    assert not told(x)


def charms(*, copies: int = 4, banners: int = 1) -> GameSpec:
    """A hero, two charms or fewer, and a banner or none; pieces of a category cost the same."""
    of = {"hero": 6, "charm": copies, "banner": banners}
    return GameSpec(
        name="charms", title="Charms", version="1",
        categories=tuple(Category(c, c, c) for c in of),
        pieces=tuple(Piece(f"{c}{i}", f"{c} {i}", c, 5.0) for c, many in of.items() for i in range(many)),
        slots=(Slot("h", "h", category="hero"), Slot("c1", "c1", category="charm", optional=True, group="c"),
               Slot("c2", "c2", category="charm", optional=True, group="c"),
               Slot("b", "b", category="banner", optional=True)),
        side_metrics=SPEC.side_metrics, rules=Rules(distinct=(Distinct("charm", "team"),)),
    )  # fmt: skip


def screened(spec: GameSpec, chance: Callable[[NDArray[np.int32]], NDArray[np.float64]], battles: int) -> WorthAnalysis:
    """What is read from a screen in which a team's chance to win is even, and as much more as it has more of this."""
    rules = compile_rules(spec, LineupConfig(teams=2, cost_tolerance=None))
    rng, none = np.random.default_rng(1), np.full((battles, 1), -1, np.int32)
    rows = draw(rules, rng.integers(0, 2**63, battles, dtype=np.uint64), none, none).rows
    lead = chance(rows[:, 0]) - chance(rows[:, 1])
    ahead = np.stack([(rng.random(battles) < 0.5 + lead) - 0.5, lead + 0.01 * rng.normal(size=battles)], axis=1)
    analysis = WorthAnalysis(Traits(rules), 0.03, 1, cost_bounds(spec))
    no = np.full(battles, -1, np.int64)
    analysis.take(PlayedStage(Stage("screen", 0, battles), rows, no, np.zeros(battles), ahead))
    return analysis


def test_pairs_are_all_that_a_team_can_hold_in_their_order() -> None:
    """Two heroes fit into one slot only, and so do two banners; hero 1 and charm 2 may not stand together."""
    apart = (("charm2", "hero1"),)
    rules = compile_rules(charms(banners=2), LineupConfig(teams=2, cost_tolerance=None, apart=apart))
    traits = Traits(rules)
    kind = [0] * 6 + [1] * 4 + [2] * 2
    wanted = [
        (a, b) for a, b in combinations(range(12), 2) if (kind[a] != kind[b] or kind[a] == 1) and (a, b) != (1, 8)
    ]
    assert [t.pieces for t in traits.pairs] == wanted
    assert [tuple(traits.single[i].pieces[0] for i in both) for both in traits.halves.tolist()] == wanted
    assert not Traits(rules, pairs=False).pairs


def test_a_pair_of_copies_is_no_better_than_the_average_pair_though_both_slots_filled_win_more() -> None:
    analysis = screened(charms(), lambda rows: 0.1 * (rows[:, 1:3] >= 0).all(axis=1), 6_000)
    own = [i for i, t in enumerate(analysis.traits.pairs) if min(t.pieces) >= CHARMS and max(t.pieces) < CHARMS + 4]
    (base, variance), halves = analysis.screen.pair_base(), analysis.lines(np.array(own) + analysis._first, 0)
    true = 0.1 * (1 - together(analysis))
    assert np.abs(base[own] - true).max() < 0.03
    assert np.sqrt(variance[own]).max() < 0.02
    assert np.abs(halves[2] - true).max() < 0.06
    assert analysis.screen.tested[np.array(own) + analysis._first].all()


def together(analysis: WorthAnalysis) -> float:
    """How many teams have two charms."""
    pairs = analysis.screen.pairs[0].many[6:10, 6:10]
    return float((pairs.sum() - np.trace(pairs)) / 2 / (2 * analysis.screen.battles))


def test_a_planted_pair_is_beyond_the_average_pair_of_its_categories() -> None:
    analysis = screened(charms(), lambda rows: 0.2 * ((rows[:, 1:3] == 6) | (rows[:, 1:3] == 7)).all(axis=1), 6_000)
    where = [t.pieces for t in analysis.traits.pairs].index((6, 7))
    worth, extra = analysis._pairs(np.array([where + analysis._first]))
    assert worth.mean[0] > 0.1
    assert extra.mean[0] > 0.05


def test_what_forecasts_expect_of_a_pair_is_what_they_expect_of_teams_drawn_to_hold_it() -> None:
    analysis = screened(charms(), lambda rows: 0.2 * ((rows[:, 1:3] == 6) | (rows[:, 1:3] == 7)).all(axis=1), 6_000)
    pairs = np.flatnonzero(analysis.screen.tested[analysis._first :])[:8] + analysis._first
    known, drawn = analysis.screen._expected_pairs.at(*analysis.halves(pairs).T), analysis.screen.expectations
    given = drawn.given(pairs, 20_000, 9)[0]
    assert (np.abs(known.mean - given.mean) < 5 * np.sqrt(known.variance + given.variance)).all()
    assert np.sqrt(known.variance).max() < 0.02


def test_of_pairs_that_the_table_does_not_list_the_furthest_effect_is_told() -> None:
    analysis = screened(charms(), lambda rows: 0.3 * ((rows[:, 1:3] == 6) | (rows[:, 1:3] == 7)).all(axis=1), 6_000)
    found = interplay.furthest(analysis, ())
    assert found is not None
    assert analysis.traits.all[found.trait].pieces == (6, 7)
    assert found.low < found.extra < found.high
    other = interplay.furthest(analysis, [found.trait])
    assert other is not None
    assert max(-other.low, other.high) < max(-found.low, found.high)
    meta, columns = tabled(analysis, charms())
    assert meta["furthest_pair"] == {"piece": [6, 7], "extra": found.extra, "low": found.low, "high": found.high}
    assert (columns["piece"][:, 1] < 0).all()


@pytest.mark.usefixtures("roughly")
def test_of_pairs_whose_battles_all_ended_alike_the_rarest_are_known_least(monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = screened(charms(copies=9), lambda rows: 0.0 * rows[:, 0], 4_000)
    screen = analysis.played[0]
    analysis.played[0] = screen._replace(ahead=np.zeros_like(screen.ahead))
    found = interplay.furthest(analysis, ())
    monkeypatch.setattr(interplay, "LOOKED_AT", 10_000)
    assert found == interplay.furthest(analysis, ())


@pytest.mark.usefixtures("roughly")
def test_where_the_rules_let_nothing_be_tested_it_is_not_said_that_nothing_stands_out() -> None:
    spec = charms(copies=1, banners=1)
    meta, columns = tabled(screened(spec, lambda rows: 0.0 * rows[:, 0], 500), spec, over=True)
    assert lines(Bundle(meta, columns))[0] == "Nothing stands out.", "heroes were tested"
    untested = {**columns, "verdict": np.full_like(columns["verdict"], UNTESTED)}
    assert lines(Bundle(meta, untested))[0] == "Nothing could be tested."


@pytest.mark.usefixtures("roughly")
def test_the_only_piece_of_its_category_has_nothing_to_be_compared_with() -> None:
    analysis = screened(charms(), lambda rows: 0.1 * (rows[:, 3] >= 0), 2_000)
    banner = next(i for i, t in enumerate(analysis.traits.single) if t.pieces == (10,))
    assert not analysis.screen.tested[banner]
    assert analysis.screen.tested[:banner].all()
    assert banner not in [candidate.trait for _, candidate in analysis._single_candidates()]
    pair = [t.pieces for t in analysis.traits.pairs].index((6, 10)) + analysis._first
    assert analysis.screen.tested[pair]
    assert analysis._half_matters(pair)


@pytest.mark.usefixtures("roughly")
def test_the_only_pair_of_its_two_categories_is_not_tested() -> None:
    analysis = screened(charms(copies=2), lambda rows: 0.1 * (rows[:, 1:3] >= 0).all(axis=1), 1_000)
    pair = [t.pieces for t in analysis.traits.pairs].index((6, 7)) + analysis._first
    assert not analysis.screen.tested[pair]


@pytest.mark.usefixtures("roughly")
def test_two_pieces_that_the_rules_always_put_together_are_not_tested_nor_their_pairs() -> None:
    of = {"hero": [50.0, 10.0, 10.0], "weapon": [50.0, 90.0, 90.0]}
    spec = GameSpec(
        name="tied", title="Tied", version="1", categories=tuple(Category(c, c, c) for c in of),
        pieces=tuple(Piece(f"{c}{i}", f"{c} {i}", c, cost) for c, costs in of.items() for i, cost in enumerate(costs)),
        slots=tuple(Slot(c, c, category=c) for c in of), side_metrics=SPEC.side_metrics,
        rules=Rules(budget_low=100, budget_high=105),
    )  # fmt: skip
    analysis = screened(spec, lambda rows: 0.2 * (rows[:, 0] == 0), 2_000)
    tied, pairs = {0, 3}, [(i + analysis._first, set(t.pieces)) for i, t in enumerate(analysis.traits.pairs)]
    assert [t.pieces[0] in tied for t in analysis.traits.single] == (~analysis.screen.tested[:6]).tolist()
    assert not {analysis.traits.all[c.trait].pieces[0] for _, c in analysis._single_candidates()} & tied
    assert not any(analysis.screen.tested[i] for i, pieces in pairs if pieces & tied)


def test_the_luck_of_a_piece_that_hardly_ever_occurs_does_not_move_what_others_are_compared_with() -> None:
    of = {"hero": [10.0] * 4 + [70.0], "weapon": [100.0] * 9 + [70.0], "charm": [100.0] * 9 + [70.0]}
    spec = GameSpec(
        name="rare", title="Rare", version="1", categories=tuple(Category(c, c, c) for c in of),
        pieces=tuple(Piece(f"{c}{i}", f"{c} {i}", c, cost) for c, costs in of.items() for i, cost in enumerate(costs)),
        slots=tuple(Slot(c, c, category=c) for c in of), side_metrics=SPEC.side_metrics,
        rules=Rules(budget_low=209, budget_high=211),
    )  # fmt: skip
    analysis = screened(spec, lambda rows: 0.6 * (rows[:, 0] == 4), 1_500)
    screen = analysis.screen
    assert 1 < screen.rest[0].many[4] < 30, "it occurs, but too seldom to be tested"
    assert screen.outcome()[4] > 0.4, "and always wins"
    assert np.abs(screen.base[:4]).max() < 0.02
    assert np.sqrt(screen.base_variance[:4]).max() < 0.02
    assert screen.tested[:5].tolist() == [True] * 4 + [False]
    assert analysis.prices._farthest[int(screen.rules.category[0])] < 0.1, "so no prices are tried that are far off"


@pytest.mark.usefixtures("roughly")
def test_the_more_is_proved_the_more_is_allowed_for_what_effects_are_compared_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = Fair({(HERO + 1,): 15.0, (CHARM + 3,): -14.0})
    many = whole(game, 8_000).analysis.finalists
    monkeypatch.setattr(worth_analysis, "FINALISTS", 1)
    (one,) = whole(game, 8_000).analysis.finalists
    assert len(many) > 1
    beside = next(f for f in many if f.trait == one.trait)
    assert beside.doubt > one.doubt


def test_a_table_has_every_piece_with_a_range_around_its_worth_and_a_verdict() -> None:
    x = whole(Fair({(HERO + 1,): 15.0, (CHARM + 3,): -14.0}), 32_000)
    meta, columns = tabled(x.analysis, SPEC)
    assert [p["name"] for p in meta["pieces"]][HERO + 1] == "Hero 1"
    alone = {int(p): i for i, (p, other) in enumerate(columns["piece"]) if other < 0 and columns["least"][i] == 1}
    assert sorted(alone) == list(range(13))
    known = np.isfinite(columns["low"])
    assert known[: len(alone)].all()
    assert (columns["low"] <= columns["worth"])[known].all()
    assert (columns["worth"] <= columns["high"])[known].all()
    assert columns["verdict"][alone[HERO + 1]] == TOO_GOOD
    assert columns["verdict"][alone[CHARM + 3]] == TOO_WEAK
    assert UNTESTED not in columns["verdict"]
    assert (columns["verdict"][[alone[p] for p in range(SOLDIER, CHARM)]] == FINE).all()


@pytest.mark.usefixtures("roughly")
def test_a_table_that_was_read_before_prices_were_played_keeps_no_later_one_from_having_them() -> None:
    evaluator, x = PairingEvaluator(config(2_000), Fair()), Experiment(RULES, 2_000, 3.0, 1, BOUNDS)
    while not x.done:
        for answer in evaluator.evaluate(x.ask(10_000), lambda: False):
            x.tell(answer)
        if not x.done:
            assert not x.analysis.curves
    assert ("prices" in [p.stage.name for p in x.analysis.played]) == bool(x.analysis.curves)


@pytest.mark.usefixtures("roughly")
def test_a_table_says_of_each_row_that_is_not_settled_what_would_settle_it_and_of_no_other() -> None:
    analysis = whole(Fair({(HERO + 1,): 15.0}), 8_000).analysis
    bundle = Bundle(*tabled(analysis, SPEC))
    assert bundle.meta["finalists"] == len(analysis.finalists) > 1, "of these some may not be played"
    waiting = np.flatnonzero(bundle.arrays["verdict"] == OPEN).tolist()
    assert waiting
    assert sorted(missing(bundle)) == waiting
    said = "\n".join(lines(bundle))
    assert "Hero 1: too good for its price, +" in said
    assert "; its fair price " in said
    assert f"Not settled: {len(waiting)} of {len(bundle.arrays['verdict'])}." in said


@pytest.mark.usefixtures("roughly")
def test_that_nothing_stands_out_is_told_with_the_largest_effects_of_a_piece_and_of_a_pair_left_open() -> None:
    analysis = screened(charms(), lambda rows: 0.0 * rows[:, 0], 2_000)
    said = lines(Bundle(*tabled(analysis, charms())))
    assert said[0] == "Nothing is proved yet."
    assert said[1].startswith("The largest effect of a single piece that these battles do not rule out: ")
    assert said[2].startswith("The largest effect of a pair that these")
    assert " + " in said[2]
    over = lines(Bundle(*tabled(analysis, charms(), over=True)))
    assert over[:3] == ["Nothing stands out.", *said[1:3]], "though nothing was worth proving"
    assert any(line.startswith("Not settled: ") for line in over), "and what is needed is told"


@pytest.mark.parametrize(("why", "opened", "said"), [
    (PRICED, 0, "is 12.9 (11 to 14)"),
    (PRICED, 2, "is 12.9 (11 to 14 or more)"),
    (ANYWHERE, 0, "cannot be measured: no price that the game permits is ruled out"),
])  # fmt: skip
def test_the_fair_price_of_what_stands_out_is_told_or_why_there_is_none(why: int, opened: int, said: str) -> None:
    told = {"worth": 0.067, "low": 0.041, "high": 0.09, "fair": 12.9, "fair_low": 11.0, "fair_high": 14.0}
    columns = {name: np.array([value]) for name, value in told.items()}
    marks = {"why": why, "fair_open": opened, "verdict": TOO_GOOD, "least": 1}
    columns |= {name: np.array([mark], np.uint8) for name, mark in marks.items()} | {"piece": np.array([[0, -1]])}
    meta = {"pieces": [{"id": "a", "name": "A"}], "matters": 0.03, "proved": True}
    assert lines(Bundle(meta, columns))[0].endswith(f"(+4.1 to +9.0); its fair price {said}")


@pytest.mark.usefixtures("roughly")
def test_why_something_is_not_tested_is_told_and_counted() -> None:
    """Few random teams, of which those with hero 1 crash the game."""
    analysis = screened(charms(copies=9), lambda rows: 0.0 * rows[:, 0], 600)
    screen = analysis.played[0]
    failed = (screen.rows[:, :, 0] == 1).any(axis=1)
    analysis.played[0] = screen._replace(ahead=np.where(failed[:, None], np.nan, screen.ahead))
    bundle = Bundle(*tabled(analysis, charms(copies=9)))
    why = bundle.arrays["untested"].tolist()
    assert why[1] == UNFINISHED
    assert why[15] == ALONE, "the banner"
    assert set(why) == {0, UNFINISHED, ALONE}
    rare, unfinished, *_ = bundle.meta["untested_pairs"]
    assert rare > 0, "some two charms are in a handful of teams"
    assert unfinished >= 10, "hero 1 with each charm and the banner, and what its opponents had"
    said = lines(bundle)
    assert f"Not tested: {rare} pairs, too rare for this many battles." in said
    assert f"Not tested: 1 piece or amount and {unfinished} pairs, in too few battles that the game finished." in said


def test_a_strength_that_is_as_good_as_none_predicts_nothing() -> None:
    win = np.array([0.5, -0.5, 0.5])
    assert predicting(win, win * 1e-323) == 0.0
    assert predicting(win, win * 0.0) == 0.0


@pytest.mark.usefixtures("roughly")
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_what_strength_is_counted_in_changes_nothing(scale: float) -> None:
    usual, other = (screened(charms(), lambda rows: 0.1 * (rows[:, 0] == 1), 600) for _ in range(2))
    screen = other.played[0]
    other.played[0] = screen._replace(ahead=screen.ahead * [1.0, scale])
    for j in (0, 1):
        np.testing.assert_allclose(other.screen.outcome(j), usual.screen.outcome(j), atol=1e-4)
    (_, columns), (_, same) = tabled(usual, charms()), tabled(other, charms())
    np.testing.assert_array_equal(columns["untested"], same["untested"])


@settings(max_examples=50, deadline=None)
@given(st.floats(-300, 300))
def test_a_lead_predicts_the_win_in_whatever_it_is_counted(power: float) -> None:
    win, lead = np.array([0.5, -0.5, 0.5, 0.0]), np.array([3.0, -1.0, 1.0, 0.25])
    assert predicting(win, lead * 10**power) * 10**power == pytest.approx(predicting(win, lead))


def test_more_strength_than_can_be_reckoned_with_is_refused_where_it_is_told() -> None:
    class Huge(Fair):
        def battles(self, *given: Any, **more: Any) -> Battles:
            found = super().battles(*given, **more)
            found.side[3, 1, [metric.name for metric in SPEC.side_metrics].index(SPEC.strength)] = -1.5e308
            return found

    evaluator, x = PairingEvaluator(config(2_000), Huge()), Experiment(RULES, 2_000, 3.0, 1, BOUNDS)
    with pytest.raises(SimulatorError, match=r"Battle 3 ended with −1.5e\+308 strength left on the right side"):
        list(evaluator.evaluate(x.ask(1), lambda: False))


def same(one: Experiment, other: Experiment) -> None:
    (meta, columns), (meta_too, columns_too) = (tabled(x.analysis, SPEC) for x in (one, other))
    assert meta == meta_too
    for name, column in columns.items():
        np.testing.assert_array_equal(column, columns_too[name])


STRONG = Fair({(HERO + 1,): 12.0})


@functools.cache
def undisturbed() -> Experiment:
    """An experiment with rough forecasts that nothing disturbs; others are compared with it."""
    return whole(STRONG, 2_000)


@pytest.mark.usefixtures("roughly")
def test_an_experiment_that_goes_on_from_its_state_is_the_one_that_was_never_interrupted() -> None:
    same(undisturbed(), whole(STRONG, 2_000, cut=50))


@pytest.mark.usefixtures("roughly")
def test_it_does_not_depend_on_the_order_in_which_battles_are_over() -> None:
    same(undisturbed(), whole(STRONG, 2_000, backwards=True))


def test_battles_that_cannot_be_finished_are_left_out() -> None:
    x = whole(Fair({(HERO + 1,): 16.0}, failing=True), 24_000)
    assert (HERO + 1,) not in told(x), "had it lost the fifth that is missing, it would be no better than others"
    finished = np.isfinite(x.analysis.played[0].ahead[:, 0]).mean()
    assert 0.7 < finished < 0.9
    assert x.analysis.screen.battles == int(np.isfinite(x.analysis.played[0].ahead[:, 0]).sum())


@pytest.mark.usefixtures("roughly")
def test_what_a_game_did_not_finish_is_counted_and_said_before_all_that_rests_on_the_rest() -> None:
    some, every = whole(Fair(failing=True), 2_000), whole(Fair(), 2_000)
    many = sum(int(np.isnan(p.ahead[:, 0]).sum()) for p in some.analysis.played)
    said = f"The game did not finish {many:,} of {some.played:,} battles"
    assert lines(Bundle(*tabled(some.analysis, SPEC)))[0].startswith(said)
    assert not any("finish" in line for line in lines(Bundle(*tabled(every.analysis, SPEC))))


def test_a_block_is_told_once() -> None:
    x, evaluator = Experiment(RULES, 2_000, 3.0, 1, BOUNDS), PairingEvaluator(config(2_000), Fair())
    (answer,) = evaluator.evaluate(x.ask(1), lambda: False)
    x.tell(answer)
    with pytest.raises(KeyError):
        x.tell(answer)


@pytest.mark.usefixtures("roughly")
def test_who_stops_while_it_is_decided_what_is_next_can_go_on() -> None:
    stop = [False]
    x = Experiment(RULES, 2_000, 3.0, 1, BOUNDS, stopped=lambda: stop[0])
    evaluator = PairingEvaluator(config(2_000), Fair())
    for answer in evaluator.evaluate(x.ask(10_000), lambda: False):
        x.tell(answer)
    stop[0] = True
    with pytest.raises(Cancelled):
        x.ask(1)
    assert not x.analysis.played
    stop[0] = False
    assert x.ask(1)


def test_a_battle_is_the_same_in_any_batch() -> None:
    evaluator, rows = PairingEvaluator(config(2_000), Fair()), Experiment(RULES, 2_000, 3.0, 1, BOUNDS).ask(3)
    together = list(evaluator.evaluate(rows, lambda: False))
    for request, answer in zip(rows, together, strict=True):
        (alone,) = evaluator.evaluate([request], lambda: False)
        np.testing.assert_array_equal(alone.values, answer.values)
        assert answer.cost == BLOCK
    later = Request(9, rows[0].genome, 16_000, 16_000 + BLOCK, 1)
    (fresh,) = evaluator.evaluate([later], lambda: False)
    assert (fresh.values != together[0].values).any()


def run(study: WorthConfig, store: FolderStore, resume: str = "", control: Any = lambda: "") -> list[AnyEvent]:
    return list(STUDIES["worth"].load()(study, store, resume, control))


def table(store: FolderStore, event: Any) -> Bundle:
    return unpack(store.get(event.artifacts["table"]))


@pytest.mark.usefixtures("roughly")
def test_the_study_ends_with_a_table_and_says_how_far_it_is(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    events = run(config(2_000), store)
    end = events[-1]
    assert isinstance(end, Finished)
    ticks = [event.tick for event in events if isinstance(event, Progressed)]
    assert ticks == sorted(set(ticks))
    assert end.counters.battles <= 2_000
    assert len(table(store, end).arrays["worth"]) >= 13
    said = [event.message for event in events if isinstance(event, Logged) and event.message]
    assert any("the result follows" in words for words in said)
    assert len(said) == len(set(said)), "each says what it is about"


@pytest.mark.usefixtures("played_here", "roughly")
def test_a_paused_study_goes_on_to_the_same_table(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    expected = table(store, run(config(2_000), store)[-1])
    told: list[AnyEvent] = []
    for event in STUDIES["worth"].load()(config(2_000), store, "", lambda: "pause" if len(told) > 3 else ""):
        told.append(event)
    paused = told[-1]
    assert isinstance(paused, Paused)
    assert paused.counters.battles < 2_000
    found = table(store, run(config(2_000), store, resume=paused.artifacts["checkpoint"])[-1])
    np.testing.assert_array_equal(found.arrays["worth"], expected.arrays["worth"])


@pytest.mark.usefixtures("played_here", "roughly")
def test_a_study_that_is_stopped_keeps_what_it_has(tmp_path: Path) -> None:
    calls = [0]

    def control() -> str:
        calls[0] += 1
        return "stop" if calls[0] > 5 else ""

    *_, stopped = run(config(2_000), FolderStore(tmp_path), control=control)
    assert isinstance(stopped, Stopped)


@pytest.mark.usefixtures("played_here", "roughly")
def test_who_stops_while_the_table_is_worked_out_gets_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopping: list[bool] = []

    def cut_off(*_: Any) -> None:
        stopping.append(True)
        raise Cancelled("The drawing of teams was asked to stop")

    monkeypatch.setattr("engine.study.worth.tabled", cut_off)
    *_, stopped = run(config(2_000), FolderStore(tmp_path), control=lambda: "stop" if stopping else "")
    assert isinstance(stopped, Stopped)
    assert set(stopped.artifacts) == {"checkpoint"}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"game": {"simulator": "builtin:herobattle", "patch": {"nobody.cost": 5.0}}}, "game.patch.nobody.cost"),
        ({"game": {"simulator": "builtin:herobattle", "fidelity": "rough"}}, "game.fidelity"),
        ({"game": {"simulator": "builtin:herobattle", "spec": "0" * 64}}, "game.spec"),
        ({"lineups": {"budget_high": 10}}, "lineups.budget_high"),
    ],
)
def test_what_keeps_a_game_from_being_measured_is_said_at_its_place(
    change: dict[str, Any], place: str, tmp_path: Path
) -> None:
    study = load({"kind": "worth", "game": {"simulator": "builtin:herobattle"}, "battles": 2_000, **change})
    assert isinstance(study, WorthConfig)
    with pytest.raises(ConfigError) as caught:
        pairing_evaluator.checked(study, pairing_evaluator.load(study.game.simulator))
    assert place in {problem.place for problem in caught.value.problems}
    *_, failed = worth.worth(study, FolderStore(tmp_path), "", lambda: "")
    assert isinstance(failed, Failed)
