"""What forecasts are told of a team: its pieces, how many of each, and the kind of slot a piece sits in."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine.config import LineupConfig
from engine.games.herobattle.spec import game_spec
from engine.lineups.pairings import draw
from engine.lineups.rules import CompiledRules, compile_rules
from engine.simulators.adapters.wesnoth import catalog
from engine.simulators.contract import Category, Distinct, GameSpec, Piece, Rules, Slot
from engine.worth import expectations
from engine.worth import forecast as forecasts
from engine.worth.analysis import WorthAnalysis
from engine.worth.forecast import EncodedTeams, Kinds, fitted
from engine.worth.prices import cost_bounds
from engine.worth.stages import PlayedStage, Stage
from engine.worth.traits import Traits
from tests.engine.sample_simulators import SPEC

RULES = LineupConfig(teams=2, cost_tolerance=None)
FRONT, REAR, FLAG = 0, 1, 2
HEROES = 6


def ranks() -> GameSpec:
    """A hero in front, another one in the rear or nobody, and a flag; all cost the same."""
    of = {"hero": HEROES, "flag": 3}
    return GameSpec(
        name="ranks", title="Ranks", version="1",
        categories=tuple(Category(c, c, c) for c in of),
        pieces=tuple(Piece(f"{c}{i}", f"{c} {i}", c, 5.0) for c, many in of.items() for i in range(many)),
        slots=(Slot("front", "Front", category="hero"), Slot("rear", "Rear", category="hero", optional=True),
               Slot("flag", "Flag", category="flag")),
        side_metrics=SPEC.side_metrics, rules=Rules(distinct=(Distinct("hero", "team"),)),
    )  # fmt: skip


def pairings(rules: CompiledRules, battles: int) -> NDArray[np.int32]:
    rng, none = np.random.default_rng(1), np.full((battles, 1), -1, np.int32)
    rows: NDArray[np.int32] = draw(rules, rng.integers(0, 2**63, battles, dtype=np.uint64), none, none).rows
    return rows


@pytest.mark.parametrize("spec", [game_spec(), SPEC])
def test_where_each_piece_sits_in_one_kind_of_slot_a_forecast_is_told_nothing_of_slots(spec: GameSpec) -> None:
    rules = compile_rules(spec, RULES)
    kinds, teams = Kinds.of(rules), EncodedTeams.of(rules, pairings(rules, 50)[:, 0])
    many = int((~rules.is_count).sum()) + int(rules.is_count.sum())
    assert (kinds.many, len(kinds.slots)) == (0, 0)
    assert teams.piece.shape == (50, many), "a column for each piece slot and one for each amount"
    made = forecasts.Forecast(len(spec.pieces), kinds.many, torch.Generator().manual_seed(1))
    assert len(made.held) == 2 * len(spec.pieces) + 1


def test_so_it_is_with_units_of_wesnoth() -> None:
    kinds = {(slot.category, slot.group or slot.id) for slot in catalog._SLOTS if slot.kind == "piece"}
    assert len(kinds) == len({category for category, _ in kinds})


def test_slots_that_may_be_exchanged_are_one_kind_and_others_of_the_same_pieces_are_not() -> None:
    kinds = Kinds.of(compile_rules(ranks(), RULES))
    assert (kinds.slots.tolist(), kinds.number.tolist(), kinds.many) == ([FRONT, REAR], [0, 1], 2)
    rules, rows = compile_rules(ranks(), RULES), np.array([[2, 4, 7], [4, 2, 7], [2, -1, 7]], np.int32)
    told = [frozenset(row) - {len(rules.price)} for row in EncodedTeams.of(rules, rows).piece.tolist()]
    assert len(set(told)) == 3
    assert told[0] & told[1] == {2, 4, 7}, "a piece is the same piece wherever it sits"
    assert told[2] < told[0]


def test_a_forecast_learns_what_a_piece_does_in_one_kind_of_slot_and_not_in_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forecasts, "STEPS", (200, 200))
    rules = compile_rules(ranks(), RULES)
    rows = pairings(rules, 4_000)
    ahead = np.where(rows[:, :, FRONT] == 1, 0.3, 0.0) - np.where(rows[:, :, REAR] == 1, 0.3, 0.0)
    outcome = np.repeat((ahead[:, 0] - ahead[:, 1])[:, None], 2, axis=1)
    both, first, second = expectations.paired(rows)
    teams, half = EncodedTeams.of(rules, both), slice(0, 2_000)
    made = fitted(len(rules.price), Kinds.of(rules).many, teams, first[half], second[half], outcome[half], 1)
    rest = outcome[2_000:, 0] - made.of(teams, first[2_000:], second[2_000:])[:, 0]
    assert rest.var() < 0.1 * outcome[2_000:, 0].var()


def test_what_a_slot_brings_whatever_sits_in_it_is_no_pieces_worth_and_what_a_piece_brings_in_one_slot_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second hero wins 15 points more, whoever it is; hero 1 wins 30 points more, in front only."""
    monkeypatch.setattr(forecasts, "STEPS", (150, 150))
    for name in ("EXPECTED", "FEWEST"):
        monkeypatch.setattr(expectations, name, 30_000)
    spec, battles, rng = ranks(), 5_000, np.random.default_rng(2)
    rules = compile_rules(spec, RULES)
    rows = pairings(rules, battles)
    own = 0.15 * (rows[:, :, REAR] >= 0) + 0.3 * (rows[:, :, FRONT] == 1)
    lead = own[:, 0] - own[:, 1]
    ahead = np.stack([(rng.random(battles) < 0.5 + lead) - 0.5, lead + 0.01 * rng.normal(size=battles)], axis=1)
    analysis, no = WorthAnalysis(Traits(rules), 0.03, 1, cost_bounds(spec)), np.full(battles, -1, np.int64)
    analysis.take(PlayedStage(Stage("screen", 0, battles), rows, no, np.zeros(battles), ahead))
    worth = (analysis.screen.outcome() - analysis.screen.base)[:HEROES]
    in_front = np.mean(rows[:, :, FRONT][(rows[:, :, :2] == 1).any(axis=2)] == 1)
    true = np.where(np.arange(HEROES) == 1, 1.0, 0.0) * 0.3 * in_front
    expected = true - true.mean()
    assert np.abs(worth - expected).max() < 4 * np.sqrt(analysis.screen.variance()[:HEROES]).max()
    assert worth[1] > 0.08
