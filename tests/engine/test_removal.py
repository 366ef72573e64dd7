"""Removal tests: exchanging a suspect, banning it, and the same table whoever plays when."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.catalog import STUDIES
from engine.config import LineupConfig
from engine.config.removal import RemovalConfig, SuspectConfig
from engine.errors import ConfigError
from engine.events import AnyEvent, Failed, Finished, Paused, Progressed, Started, Stopped
from engine.formula_terms import Apart, Parts
from engine.games.herobattle.spec import game_spec
from engine.lineups.encoding import LineupSpace
from engine.lineups.matches import Matches
from engine.lineups.patterns import Patterns
from engine.lineups.rules import compile_rules
from engine.removal.averages import AveragedLineups, change, level
from engine.removal.example import recorded
from engine.removal.neighbours import exchanges, keeps
from engine.simulators.contract import Frame
from engine.store import FolderStore
from engine.studies import load
from engine.study.removal import Words
from engine.verdicts import Sample
from tests.engine.broken_game import GAME, broken
from tests.engine.sample_simulators import TugOfWar

DUKE, HORN, CAPTAIN = "marrow-duke", "warhorn", "frost-captain"
SMALL = {"replicates": 8, "population": 12, "rounds": 4, "fresh": 8}


@cache
def sampled() -> NDArray[np.int32]:
    """Random lineups of the game."""
    return LineupSpace(compile_rules(game_spec(), LineupConfig())).sample(np.random.default_rng(5), 4_000)


def lineups_with(pattern: dict[str, Any], count: int = 6) -> dict[str, Any]:
    """A suspect with random lineups of which some team holds it; that team counts as the strongest."""
    spec = game_spec()
    suspect = SuspectConfig.model_validate({"pattern": pattern})
    drawn = sampled()
    held = Patterns(spec, [suspect.pattern]).held(drawn)[..., 0]
    chosen = np.flatnonzero(held.any(axis=1))[:count]
    assert len(chosen) == count
    teams = held[chosen].argmax(axis=1)
    anchors = [(int(t), int((t + 1) % 3)) for t in teams]
    return {"pattern": pattern, "genomes": drawn[chosen].tolist(), "anchors": anchors}


def config(**more: Any) -> RemovalConfig:
    told = {"kind": "removal", "game": {"simulator": GAME}, "pool": {"kind": "local"}, **SMALL,
            "suspects": [lineups_with({"pieces": [DUKE]})], **more}  # fmt: skip
    found = load(told)
    assert isinstance(found, RemovalConfig)
    return found


def run(study: RemovalConfig, store: FolderStore, resume: str = "", control: Any = lambda: "") -> list[AnyEvent]:
    return list(STUDIES["removal"].load()(study, store, resume, control))


def table(store: FolderStore, event: AnyEvent) -> Bundle:
    return unpack(store.get(event.artifacts["table"]))  # type: ignore[union-attr]


def commanded(command: str, looks: int) -> Any:
    quiet = iter(range(looks))
    return lambda: "" if next(quiet, None) is not None else command


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


def test_exchanging_and_banning_a_broken_piece_takes_the_unfairness_away(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, {DUKE: 0.6})
    started, *_, end = run(config(replicates=16), store)
    assert isinstance(started, Started)
    assert isinstance(end, Finished)
    assert end.counters.battles <= started.battles
    assert started.ticks == end.tick == 5
    (told,) = table(store, end).meta["suspects"]
    as_it_is, *swapped = told["rows"]
    assert (told["key"], told["name"], as_it_is["lineups"]) == (DUKE, "Marrow Duke", 6)
    assert swapped
    for row in swapped:
        ((piece, other),) = row["swaps"]
        assert piece == DUKE != other
        assert row["change"][2] < 0, "its whole range says that the exchange takes from it"
        assert row["value"][0] == pytest.approx(row["before"][0] + row["change"][0])
    everything = table(store, end).meta["everything"]
    assert everything["furthest"][0] > told["without"]["furthest"][0]
    assert everything["confirmed"] >= told["without"]["confirmed"]


def test_a_pair_is_exchanged_half_by_half_and_whole_and_banned_together(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, {}, pair=(CAPTAIN, HORN))
    pair = lineups_with({"pieces": [CAPTAIN, HORN]}, 3)
    *_, end = run(config(suspects=[pair]), store)
    assert isinstance(end, Finished)
    (told,) = table(store, end).meta["suspects"]
    pieces = [{piece for piece, _ in row["swaps"]} for row in told["rows"]]
    assert pieces[0] == pieces[-1] == set()
    assert {CAPTAIN} in pieces
    assert {HORN} in pieces
    assert told["rows"][-1]["change"][0] < 0
    assert told["without"] is not None
    assert not told["impossible"]


@pytest.mark.parametrize("looks", [3, 25])
def test_wherever_it_is_interrupted_it_ends_with_the_same_table(
    store: FolderStore, tmp_path: Path, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, {DUKE: 0.6})
    whole, other = run(config(), store)[-1], FolderStore(tmp_path / "other")
    *_, paused = run(config(), other, control=commanded("pause", looks))
    assert isinstance(paused, Paused)
    last = run(config(), other, paused.artifacts["checkpoint"])[-1]
    assert isinstance(last, Finished)
    assert table(other, last).meta == table(store, whole).meta
    assert last.counters.battles == whole.counters.battles  # type: ignore[union-attr]


def test_one_that_was_killed_goes_on_from_its_last_part(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, {DUKE: 0.6})
    every = run(config(), store)
    parts = [event for event in every if isinstance(event, Progressed)]
    assert len(parts) == 5
    last = run(config(), store, parts[1].artifacts["checkpoint"])[-1]
    assert table(store, last).meta == table(store, every[-1]).meta


def test_one_that_is_stopped_keeps_what_it_has(store: FolderStore) -> None:
    *_, end = run(config(rounds=0), store, control=commanded("stop", 4))
    assert isinstance(end, Stopped)
    assert table(store, end).meta["suspects"][0]["without"] is None


def test_what_cannot_be_left_out_or_exchanged_is_said(store: FolderStore) -> None:
    suspect = {"pattern": {"pieces": [DUKE]}}
    *_, end = run(config(suspects=[suspect], lineups={"required": [DUKE]}), store)
    (told,) = table(store, end).meta["suspects"]
    assert told["impossible"] == "The rules want it in every lineup."
    assert (told["rows"], told["without"], told["lineups"]) == ([], None, 0)


def test_a_game_that_shows_battles_leaves_one_to_watch(store: FolderStore) -> None:
    *_, end = run(config(rounds=0), store)
    assert isinstance(end, Finished)
    meta, arrays = unpack(store.get(end.artifacts["examples"]))
    example = meta["0"]
    assert len(example["names"]) == 2
    assert arrays["places_0"].shape == (len(example["ticks"]), len(example["units"]), 3)
    assert any("wins" in event or event == "Draw" for event in example["events"][-1])
    assert {unit["side"] for unit in example["units"]} == {"left", "right"}


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"suspects": [{"pattern": {"pieces": ["nobody"]}}]}, "suspects.0.pattern.pieces.0"),
        ({"suspects": [{"pattern": {"pieces": [DUKE]}, "genomes": [[[0] * 8] * 2], "anchors": [[0, 1]]}]}, "genomes"),
        ({"suspects": [{"pattern": {"pieces": [DUKE]}, "genomes": [[[10**12] * 8] * 3], "anchors": [[0, 1]]}]},
         "genomes"),
        ({"suspects": [{"pattern": {"pieces": [DUKE]}, "genomes": [[[0] * 8] * 3], "anchors": [[0, 1]]}]},
         "its strongest team does not hold the suspect"),
        ({"suspects": [{"pattern": {"pieces": [DUKE]}, "genomes": [[[0] * 8] * 3], "anchors": [[0, 1]]}]},
         "does not fit; it takes"),
        ({"suspects": [{"pattern": {"pieces": [DUKE]}, "genomes": [[[0] * 3] * 8], "anchors": [[0, 7]]}]},
         "each is 3 teams of"),
        ({"objectives": {"objectives": [{"name": "gap", "title": "Gap", "formula": "mean(strength)"}]}},
         "one of them needs a line"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_game_is_named(store: FolderStore, more: dict[str, Any], place: str) -> None:
    end = run(config(**more), store)[-1]
    assert isinstance(end, Failed)
    assert place in end.message


@pytest.mark.parametrize(
    ("suspects", "why"),
    [
        ([], "at least"),
        ([{"pattern": {"pieces": [DUKE]}}] * 2, "each suspect is tested once"),
        ([{"pattern": {"pieces": [DUKE]}, "genomes": [[[0]]]}], "each lineup needs its strongest"),
        ([{"pattern": {"pieces": [DUKE]}, "genomes": [[[0]]], "anchors": [[0, 1]]}], "numbers of teams of the lineup"),
    ],
)
def test_a_study_that_is_none_is_refused(suspects: list[Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        config(suspects=suspects)


def test_neighbours_cost_as_much_keep_the_rules_and_are_no_suspects() -> None:
    spec, rules = game_spec(), compile_rules(game_spec(), LineupConfig())
    index = spec.piece_index()
    suspect = SuspectConfig.model_validate(lineups_with({"pieces": [DUKE]}))
    first = exchanges(spec, rules, suspect, frozenset())
    ((_, nearest),) = first.played[0].pieces
    for each in first.played:
        ((piece, other),) = each.pieces
        assert abs(spec.pieces[other].cost - spec.pieces[piece].cost) <= 0.1 * spec.pieces[piece].cost
        for twin in each.twins:
            assert keeps(spec, rules, twin)
            assert not (twin[:, 0] == index[DUKE]).any()
    without = exchanges(spec, rules, suspect, frozenset([nearest]))
    assert nearest not in [other for each in without.played for _, other in each.pieces]
    everybody = frozenset(range(len(spec.pieces)))
    assert exchanges(spec, rules, suspect, everybody).alone == [(index[DUKE], "nothing of its kind costs as much")]


def test_a_twin_meets_the_luck_that_the_lineup_met() -> None:
    lineup, other = np.array([[[0, 6, 1, -1, -1], [1, 7, 2, 9, -1]], [[0, 6, 1, -1, -1], [2, 7, 2, 9, -1]]], np.int32)
    matches = Matches(TugOfWar(), lineup[:1], {}, seed=3)
    alone = matches.play(lineup[None], 0, 4)
    again = matches.play(lineup[None], 0, 4, seeded=lineup[None])
    assert (again.versus == alone.versus).all()
    assert again.cached == again.requested
    assert not (matches.play(other[None], 0, 4, seeded=lineup[None]).versus == alone.versus).all()

    class Seeds(TugOfWar):
        def play(self, left: Any, right: Any, seeds: Any, patch: Any) -> Any:
            seen.append(seeds)
            return super().play(left, right, seeds, patch)

    seen: list[Any] = []
    fresh = Matches(Seeds(), lineup[:1], {}, seed=3)
    fresh.play(lineup[None], 0, 4)
    fresh.play(other[None], 0, 4, seeded=lineup[None])
    half = len(seen) // 2
    first, second = (set(np.concatenate(part).tolist()) for part in (seen[:half], seen[half:]))
    assert second < first, "the battles of the team that stayed are remembered, the others have the same seeds"


def averaged(values: NDArray[np.float64], low: float, high: float, battles: int) -> AveragedLineups:
    """Lineups whose objective is a sum: values [lineups, replicates]."""
    one, ends = np.array([True]), (np.array([low]), np.array([high]))
    samples = [
        Sample(v.mean()[None], np.array([np.nan]), len(v), v[:, None], *ends, ~one, one, np.array([4])) for v in values
    ]
    return AveragedLineups(samples, battles)


@pytest.mark.parametrize("noise", ["normal", "skewed"])
def test_ranges_of_averages_cover_the_truth(noise: str) -> None:
    rng, missed = np.random.default_rng(3), 0
    for _ in range(200):
        draw = rng.normal(size=(5, 16)) if noise == "normal" else rng.exponential(size=(5, 16)) - 1
        found = level(averaged(2 + draw, -20.0, 40.0, 60))
        missed += not found.low <= 2 <= found.high
    assert missed <= 16


def test_luck_that_both_share_drops_out_of_a_change() -> None:
    rng = np.random.default_rng(4)
    luck = rng.normal(size=(4, 16))
    before, after = (averaged(v, -5.0, 5.0, 80) for v in (2 + luck, 1 + luck + 0.01 * rng.normal(size=(4, 16))))
    found = change(before, after)
    apart = level(before)
    assert found.mean == pytest.approx(-1, abs=0.05)
    assert found.high - found.low < (apart.high - apart.low)


CAPPED = Apart("strongest(resources) / max(weakest(resources), 50)", {"resources"}, set(), 2, 0.0, 4.0)
SEATS = Apart("abs(mean(win_first) - mean(win_second))", {"win_first", "win_second"}, set(), 1)


def formulas(apart: Apart, terms: list[NDArray[np.float64]], least: float, most: float) -> AveragedLineups:
    """Lineups whose objective is made of these terms, [lineups, replicates] each, between ``least`` and ``most``."""
    no, one = np.array([False]), np.array([4])
    samples = []
    for values in np.stack(terms, axis=-1):
        parts = Parts.make(apart, values, np.full(len(terms), least), np.full(len(terms), most))
        ends = parts.apart.ends(parts.low, parts.high)
        low, high = (np.array([end]) for end in ends)
        told = np.array([parts.value])
        samples.append(Sample(told, told, len(values), values[:, :1], low, high, no, no, one, 1.0, (parts,)))
    return AveragedLineups(samples, 4 * len(samples))


@pytest.mark.parametrize(
    ("strongest", "weakest", "after", "lineups", "replicates"),
    [(0.15, 0.05, 0.12, 25, 32), (1.0, 0.08, 0.4, 4, 8)],
    ids=["rare wins", "a constant over rare wins"],
)
def test_ranges_of_ratios_over_lineups_hold_the_truth_of_wins_that_are_rare(
    strongest: float, weakest: float, after: float, lineups: int, replicates: int
) -> None:
    rng, missed = np.random.default_rng(8), np.zeros(3)
    truth = [min(strongest / max(chance, 0.05), 4.0) for chance in (weakest, after)]
    for _ in range(40):
        both = [
            formulas(
                CAPPED, [1000 * rng.binomial(4, p, (lineups, replicates)) / 4 for p in (strongest, chance)], 0, 1000
            )
            for chance in (weakest, after)
        ]
        found = [*map(level, both), change(*both)]
        missed += [
            not each.low - 1e-9 <= true <= each.high + 1e-9
            for each, true in zip(found, (*truth, truth[1] - truth[0]), strict=True)
        ]
    assert (missed <= 6).all(), "of 40 ranges of 95 %"


def test_what_averages_would_cancel_is_averaged_lineup_by_lineup() -> None:
    rng = np.random.default_rng(6)
    seats = rng.binomial(4, [[[0.9]], [[0.1]]], (2, 2, 64)) / 4
    gap = np.stack([seats[0, 0] - seats[1, 0], seats[1, 1] - seats[0, 1]])
    found = level(formulas(SEATS, [gap], -1.0, 1.0))
    assert found.mean == pytest.approx(0.8, abs=0.1)
    assert 0.4 < found.low < 0.8 < found.high


def test_frames_without_places_cannot_be_drawn_and_long_battles_are_thinned() -> None:
    assert recorded([]) is None
    assert recorded([Frame(0, ({"name": "Hero"},))]) is None
    frames = [
        Frame(i, ({"x": i, "y": 0.0, "life": 1.0, "name": "Hero", "side": "left"},), (f"{i}",)) for i in range(999)
    ]
    found = recorded(frames)
    assert found is not None
    assert len(found.ticks) <= 401
    assert found.ticks[-1] == 998
    assert [event for events in found.events for event in events] == [str(i) for i in range(999)]


def test_the_command_line_says_how_far_it_is() -> None:
    words = Words()
    assert (
        words.planned(Started(workers=1, pool="local", ticks=5, battles=12_000), {"suspects": [1]})
        == "1 suspect, 12,000 battles at most"
    )
    assert words.round({"exchanged": 2.0, "banned": 1.0}, {}) == "2 suspects exchanged, 1 banned"
