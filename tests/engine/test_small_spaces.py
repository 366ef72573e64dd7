"""Games with so few lineups that all of them can be played: each counts once, none is played twice while another was
never played, and a search that has played them all ends and says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.arrays import unpack
from engine.config import LineupConfig, SampleConfig, SearchConfig
from engine.events import AnyEvent, Finished, Logged, Progressed
from engine.games.herobattle.spec import game_spec
from engine.lineups.encoding import LineupSpace
from engine.lineups.rules import CompiledRules, compile_rules
from engine.lineups.size import every_lineup, space_size
from engine.simulators.contract import Category, GameSpec, Metric, Piece, Rules, Slot
from engine.store import FolderStore
from engine.studies import load
from engine.study.lineups import run, sample
from tests.engine.broken_rules import violations
from tests.engine.test_lineups_size import RULES, SMALL, brute

KEPT = {"hero": 2, "skill": 3, "equipment": 2, "soldier": 3}
BANNED = [
    piece.id
    for category, count in KEPT.items()
    for piece in [p for p in game_spec().pieces if p.category == category][count:]
]
FEW = {"teams": 1, "banned": BANNED, "cost_tolerance": None}
"""Lineup rules of herobattle that leave few enough lineups to be listed."""


def size_of_few() -> int:
    return int(space_size(compile_rules(game_spec(), LineupConfig.model_validate(FEW))).lineups)


def study(kind: str, **more: object) -> SearchConfig | SampleConfig:
    base = {"kind": kind, "name": "few", "game": {"simulator": "builtin:herobattle"}, "lineups": FEW, "replicates": 2}
    made = load({**base, "pool": {"kind": "local"}, **more})
    assert isinstance(made, SearchConfig | SampleConfig)
    return made


def played(events: list[AnyEvent], store: FolderStore, role: str) -> np.ndarray:
    last = events[-1]
    assert isinstance(last, Finished), last
    return np.asarray(unpack(store.get(last.artifacts[role])).arrays["genome"])


def distinct(genomes: np.ndarray) -> int:
    return len(np.unique(genomes.reshape(len(genomes), -1), axis=0))


@pytest.mark.parametrize("config", RULES, ids=range(len(RULES)))
def test_the_list_has_every_lineup_once_and_each_keeps_the_rules(config: LineupConfig) -> None:
    rules = compile_rules(SMALL, config)
    space = LineupSpace(rules)
    assert space.every is not None
    assert len(space.every) == distinct(space.every) == brute(rules)
    assert not violations(space.every, space.rules).any()
    assert (space.canonical(space.every) == space.every).all()


def counted_twice() -> CompiledRules:
    """Two interchangeable slots with counts, in which the same piece may stand twice."""
    spec = GameSpec(
        name="ranks", title="Ranks", version="1", categories=(Category("pike", "Pike", "Pikes"),),
        pieces=(Piece("a", "A", "pike", 1.0), Piece("b", "B", "pike", 1.0)),
        slots=(
            Slot("left", "Left", category="pike", group="ranks"),
            Slot("lefts", "How many", kind="count", of="left", low=1, high=2),
            Slot("right", "Right", category="pike", group="ranks"),
            Slot("rights", "How many", kind="count", of="right", low=1, high=2),
        ),
        side_metrics=(Metric("strength", "Strength"), Metric("resources", "Resources"), Metric("win", "Win")),
        rules=Rules(),
    )  # fmt: skip
    return compile_rules(spec, LineupConfig(teams=1))


def test_the_same_pieces_and_counts_in_unordered_slots_are_one_lineup() -> None:
    rules = counted_twice()
    assert space_size(rules).lineups == brute(rules) == 10  # four ways to fill a slot, two of them at a time
    space = LineupSpace(rules)
    swapped = np.array([[[0, 2, 0, 1]], [[0, 1, 0, 2]]], np.int32)
    assert len(set(space.keys(space.canonical(swapped)).tolist())) == 1


def test_a_space_too_large_to_list_is_not_listed_and_its_draws_stay_as_they_were() -> None:
    rules = compile_rules(game_spec(), LineupConfig())
    assert every_lineup(rules) is None
    space = LineupSpace(rules)
    drawn = space.sample(np.random.default_rng(5), 50)
    assert (space.distinct(np.random.default_rng(5), 50) == drawn).all()


@pytest.mark.parametrize("count", [40, 400])
def test_random_lineups_repeat_nothing_and_are_no_more_than_there_are(tmp_path: Path, count: int) -> None:
    store = FolderStore(tmp_path)
    there_are = size_of_few()
    events = list(sample(study("sample", count=count), store))
    found = played(events, store, "sample")
    assert len(found) == distinct(found) == min(count, there_are)


@pytest.mark.parametrize("kind", ["nsga2", "random", "ga", "map-elites"])
def test_a_search_plays_every_lineup_once_then_ends_and_says_so(tmp_path: Path, kind: str) -> None:
    store, there_are = FolderStore(tmp_path), size_of_few()
    algorithm: dict[str, object] = {"kind": kind, "population": 20}
    objectives = {"objectives": [{"name": "left", "title": "Left", "formula": "mean(strength_vs_baselines)"}]}
    one = {"objectives": objectives} if kind == "ga" else {}
    events = list(run(study("search", algorithm=algorithm, ticks=50, fresh=0, **one), store))
    rounds = sum(isinstance(event, Progressed) for event in events)
    assert rounds == -(-there_are // 20)
    found = played(events, store, "archive")
    assert distinct(found) == there_are
    assert len(found) - there_are < 20, "only the last round is filled up"
    said = [event.message for event in events if isinstance(event, Logged)]
    assert any(f"All {there_are:,} lineups that the rules allow were played." in line for line in said)


def test_a_search_with_a_round_for_all_is_over_after_it(tmp_path: Path) -> None:
    store, there_are = FolderStore(tmp_path), size_of_few()
    algorithm = {"kind": "nsga2", "population": there_are}
    events = list(run(study("search", algorithm=algorithm, ticks=9, fresh=0), store))
    assert sum(isinstance(event, Progressed) for event in events) == 1
    assert len(played(events, store, "archive")) == there_are


def test_a_search_of_a_small_space_goes_on_after_a_pause_as_if_nothing_had_happened(tmp_path: Path) -> None:
    config = study("search", algorithm={"kind": "nsga2", "population": 20}, ticks=50, fresh=0)
    whole, parts = FolderStore(tmp_path / "whole"), FolderStore(tmp_path / "parts")
    expected = played(list(run(config, whole)), whole, "archive")
    checkpoint = ""
    for event in stopped_after(run(config, parts), 2):
        if isinstance(event, Progressed):
            checkpoint = event.artifacts["checkpoint"]
    found = played(list(run(config, parts, checkpoint)), parts, "archive")
    assert (found == expected).all()


def stopped_after(events: Iterator[AnyEvent], rounds: int) -> Iterator[AnyEvent]:
    for event in events:
        yield event
        rounds -= isinstance(event, Progressed)
        if not rounds:
            return
