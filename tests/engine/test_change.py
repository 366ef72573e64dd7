"""Changes replayed: the same table after any interruption, ranges that hold, what is wrong said at its field."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.catalog import STUDIES
from engine.change.both_versions import replaced
from engine.change.replay import FRESH
from engine.change.table import FINDINGS, KEPT, REFITTED, UNFIT
from engine.config import ChangeConfig
from engine.config.study import study_hash
from engine.differences import difference
from engine.errors import ConfigError
from engine.events import AnyEvent, Failed, Finished, Paused, Progressed, Started, Stopped
from engine.formula_terms import Apart, Parts
from engine.store import FolderStore
from engine.studies import load
from engine.study.change import Words
from engine.verdicts import Sample
from tests.engine.sample_simulators import SPEC as TUG_OF_WAR

TUG = "python:tests.engine.sample_simulators:TugOfWar"
UNFAIR = {
    "objectives": [
        {"name": "gap", "title": "Gap", "formula": "strongest(strength) - weakest(strength)", "threshold": 10.0},
        {"name": "weakest", "title": "Weakest", "formula": "weakest(strength_vs_baselines)"},
        {"name": "ratio", "title": "Ratio", "formula": "strongest(resources) / max(weakest(resources), 1)", "high": 9},
    ]
}
BASE = [{"slots": {"hero": f"hero-{i}", "soldier": "soldier-0", "soldiers": 2}} for i in (1, 2, 3)]


def team(hero: int, soldier: int = 0, soldiers: int = 2, **charms: str) -> dict[str, Any]:
    slots = {"hero": f"hero-{hero}", "soldier": f"soldier-{soldier}", "soldiers": soldiers}
    return {"slots": {**slots, **{name.replace("_", "-"): charm for name, charm in charms.items()}}}


LINEUPS = [
    {"teams": [team(5), team(0)], "name": "Far apart"},
    {"teams": [team(5, 1), team(4, 1)]},
    {"teams": [team(5, 0, 3), team(2, 0, 3)]},
    {"teams": [team(3), team(2)]},
    {"teams": [team(5, 2), team(1, 2)], "anchors": [0, 1]},
]


def config(**more: Any) -> ChangeConfig:
    made = load({"kind": "change", "game": {"simulator": TUG}, "change": {"hero-5.power": 11.0}, "replayed": LINEUPS,
                 "lineups": {"teams": 2, "cost_tolerance": 1.0, "baselines": {"kind": "pasted", "teams": BASE}},
                 "objectives": UNFAIR, "replicates": 32, "pool": {"kind": "local"}, **more})  # fmt: skip
    assert isinstance(made, ChangeConfig)
    return made


def run(study: ChangeConfig, store: FolderStore, resume: str = "", control: Any = lambda: "") -> list[AnyEvent]:
    return list(STUDIES["change"].load()(study, store, resume, control))


def table(store: FolderStore, event: AnyEvent) -> Bundle:
    assert not isinstance(event, Failed), event
    return unpack(store.get(event.artifacts["table"]))  # type: ignore[union-attr]


def commanded(study: ChangeConfig, store: FolderStore, command: str, tick: int) -> AnyEvent:
    """The last event of a study that is told something once so many parts are over."""
    said: list[Any] = [""]
    last: Any = None
    for last in STUDIES["change"].load()(study, store, "", lambda: said[0]):
        if isinstance(last, Progressed) and last.tick == tick:
            said[0] = command
    return last  # type: ignore[no-any-return]


def words(bundle: Bundle, column: str = "verdict_after") -> list[str]:
    return [FINDINGS[v] for v in bundle.arrays[column].tolist()]


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[AnyEvent], Bundle]:
    store = FolderStore(tmp_path_factory.mktemp("whole"))
    events = run(config(), store)
    return events, table(store, events[-1])


@pytest.fixture(autouse=True)
def _here(whole: tuple[list[AnyEvent], Bundle], played_here: None) -> None:
    """After ``whole``, whose game is played in a process of its own, games are played in this one."""


def test_weakening_the_hero_brings_its_lineups_under_the_line(whole: tuple[list[AnyEvent], Bundle]) -> None:
    events, bundle = whole
    started, end = events[0], events[-1]
    assert isinstance(started, Started)
    assert isinstance(end, Finished)
    assert bundle.meta["changes"] == [
        {"path": "hero-5.power", "piece": "Hero 5", "title": "Power", "unit": "", "before": 25.0, "after": 11.0}
    ]
    assert words(bundle, "verdict_before")[0] == "confirmed"
    assert words(bundle)[0] == "refuted"
    columns = bundle.arrays
    assert columns["after"][0, 0] < 10 < columns["before"][0, 0]
    assert bundle.meta["lineups"][0]["name"] == "Far apart"
    assert bundle.meta["lineups"][1]["name"] == "Hero 5 · Hero 4"
    assert end.counters.battles <= started.battles
    assert bundle.meta["fresh"]
    assert bundle.meta["over"]


def test_ranges_hold_what_they_are_of_and_the_difference_is_after_less_before(
    whole: tuple[list[AnyEvent], Bundle],
) -> None:
    columns = whole[1].arrays
    for name in ("before", "after", "change"):
        value, low, high = (columns[f"{name}{end}"] for end in ("", "_low", "_high"))
        assert (low <= value + 1e-9).all(), name
        assert (value <= high + 1e-9).all(), name
    np.testing.assert_allclose(columns["change"], columns["after"] - columns["before"])


def test_a_lineup_that_the_change_does_not_touch_does_not_change(whole: tuple[list[AnyEvent], Bundle]) -> None:
    columns = whole[1].arrays
    assert not columns["change"][3].any(), "common seeds, so the battles are the same"
    assert (columns["change_low"][3] <= 0).all()
    assert (columns["change_high"][3] >= 0).all()


def test_first_numbers_come_before_the_fresh_ones_and_fill_in_part_by_part(
    whole: tuple[list[AnyEvent], Bundle],
) -> None:
    progressed = [e for e in whole[0] if isinstance(e, Progressed)]
    assert [e.tick for e in progressed] == list(range(1, len(progressed) + 1))
    assert len(progressed) <= config().ticks
    assert progressed[0].counters.battles < 0.1 * progressed[-1].counters.battles


@pytest.mark.parametrize("tick", [2, 7])
def test_wherever_it_is_interrupted_it_ends_with_the_same_table(
    whole: tuple[list[AnyEvent], Bundle], store: FolderStore, tick: int
) -> None:
    study = config(pool={"kind": "local", "batch_ms": 1})
    paused = commanded(study, store, "pause", tick)
    assert isinstance(paused, Paused)
    same(table(store, run(study, store, paused.artifacts["checkpoint"])[-1]), whole[1])


def test_killed_after_any_part_it_goes_on_from_its_checkpoint(
    whole: tuple[list[AnyEvent], Bundle], store: FolderStore
) -> None:
    for event in run(config(), store):
        if isinstance(event, Progressed) and event.tick in (1, 9):
            same(table(store, run(config(), store, event.artifacts["checkpoint"])[-1]), whole[1])


def same(found: Bundle, expected: Bundle) -> None:
    assert found.meta == expected.meta
    for name, column in expected.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], column, err_msg=name)


def test_stopped_it_keeps_what_it_has(store: FolderStore) -> None:
    stopped = commanded(config(pool={"kind": "local", "batch_ms": 1}), store, "stop", 3)
    assert isinstance(stopped, Stopped)
    bundle = table(store, stopped)
    assert not bundle.meta["over"]
    assert np.isfinite(bundle.arrays["first_before"]).any()


def test_settled_lineups_are_left_alone(store: FolderStore) -> None:
    bundle = table(store, run(config(replicates=256), store)[-1])
    told = [word in ("confirmed", "refuted", "weak", "close") for word in words(bundle)]
    assert any(told)
    for word, samples in zip(words(bundle), bundle.arrays["samples"].tolist(), strict=True):
        assert samples in (16, 32, 64, 128, 256)
        assert samples == 256 or word != "more"
    assert bundle.arrays["samples"].min() < 256


def test_a_dearer_piece_makes_teams_illegal_and_they_are_refitted(store: FolderStore) -> None:
    rules = {"teams": 2, "cost_tolerance": 0.3, "budget_high": 22, "baselines": {"kind": "pasted", "teams": BASE}}
    study = config(change={"hero-5.cost": 18.0}, lineups=rules)
    bundle = table(store, run(study, store)[-1])
    fit = bundle.arrays["fit"].tolist()
    assert fit[3] == KEPT
    assert REFITTED in fit
    for i, told in enumerate(bundle.meta["lineups"]):
        assert bool(told["refitted"]) == (fit[i] == REFITTED)
    changed = bundle.meta["lineups"][fit.index(REFITTED)]["refitted"][0]
    assert {"team", "slot", "before", "after"} == changed.keys()


def test_a_refit_is_told_by_pieces_with_their_counts() -> None:
    spec = TUG_OF_WAR
    row = {slot.id: s for s, slot in enumerate(spec.slots)}
    before = np.zeros((2, len(spec.slots)), np.int32)
    after = before.copy()
    count = next(slot for slot in spec.slots if slot.kind == "count")
    before[1, row[count.id]], after[1, row[count.id]] = 2, 3
    (told,) = replaced(spec, before, after)
    name = spec.pieces[before[1, row[count.of]]].name
    assert (told["team"], told["before"], told["after"]) == (1, f"{name} ×2", f"{name} ×3")
    after[1, row[count.of]] = -1
    assert replaced(spec, before, after)[0]["after"] == "nothing"


def test_what_cannot_be_refitted_is_played_before_only(store: FolderStore) -> None:
    rules = {"teams": 2, "cost_tolerance": None, "budget_low": 17, "baselines": {"kind": "pasted", "teams": BASE}}
    study = config(change={f"soldier-{i}.cost": 0.0 for i in range(3)} | {f"charm-{i}.cost": 0.0 for i in range(4)}
                   | {"hero-5.cost": 10.0, "hero-4.cost": 18.0}, lineups=rules)  # fmt: skip
    bundle = table(store, run(study, store)[-1])
    unfit = bundle.arrays["fit"] == UNFIT
    if unfit.any():
        assert np.isnan(bundle.arrays["after"][unfit]).all()
        assert np.isfinite(bundle.arrays["before"][unfit]).all()


def test_each_field_says_what_is_wrong_with_it(store: FolderStore) -> None:
    def wrong(**more: Any) -> str:
        last = run(config(**more), store)[-1]
        assert isinstance(last, Failed)
        return last.message

    both = wrong(change={"hero-5.powr": 3.0, "hero-4.power": 300.0}, replayed=[{"teams": [team(5)]}])
    assert "change.hero-5.powr: the game has no such number; did you mean hero-5.power?" in both
    assert "change.hero-4.power: 300 is outside 0 to 100" in both
    assert "replayed.0.teams: a lineup is 2 teams here, not 1" in both
    assert "changes nothing" in wrong(change={"hero-5.power": 25.0})
    assert "not a piece of this game" in wrong(replayed=[{"teams": [team(5), team(9)]}])
    with pytest.raises(ConfigError, match="two of its teams"):
        config(replayed=[{"teams": [team(5), team(1)], "anchors": [0, 2]}])
    with pytest.raises(ConfigError, match="more than 100,000"):
        config(replayed=LINEUPS * 40, replicates=4096)


def test_later_changes_have_a_smaller_share_of_the_error(store: FolderStore) -> None:
    first, tenth = (table(store, run(config(tried=k), store)[-1]) for k in (0, 9))
    sure = [sum(word in ("confirmed", "refuted") for word in words(each)) for each in (first, tenth)]
    assert sure[1] <= sure[0]
    assert study_hash(config(tried=0)) != study_hash(config(tried=9))


def test_a_lineup_whose_battles_fail_is_told_and_the_others_go_on(store: FolderStore) -> None:
    game = {"simulator": "python:tests.engine.tugs_of_war:HeroZeroFailing"}
    bundle = table(store, run(config(game=game), store)[-1])
    assert bundle.arrays["failed"].tolist() == [1, 0, 0, 0, 0]
    assert np.isfinite(bundle.arrays["after"][1:]).all()


def sample(values: Sequence[float], weight: float = 1.0, low: float = 0.0, high: float = 100.0) -> Sample:
    v = np.asarray(values, dtype=float)[:, None]
    error = np.array([v.std(ddof=1) / np.sqrt(len(v))])
    one = np.array([True])
    return Sample(v.mean(axis=0), error, len(v), v, np.array([low]), np.array([high]), ~one, one, np.array([8]), weight)


def test_differences_of_the_same_replicates_hold_the_truth_for_sums() -> None:
    rng, missed = np.random.default_rng(11), 0
    for _ in range(100):
        luck = rng.exponential(10, 32)
        before, after = sample(30 + luck, high=200), sample(22 + luck + rng.normal(0, 2, 32), high=200)
        ends = difference(before, after, 0)
        missed += not ends.low <= -8 <= ends.high
        alone = sum(s.range(0).high - s.range(0).low for s in (before, after))
        assert ends.high - ends.low < alone, "what luck does to both versions is not in the difference"
    assert missed <= 9


RATIO = Apart("strongest(resources) / max(weakest(resources), 50)", {"resources"}, set(), 2, 0.0, 4.0)


def ratio(strongest: NDArray[np.float64], weakest: NDArray[np.float64]) -> Sample:
    """A ratio kept between 0 and 4, of replicates with two battles that bring a team 1000 or nothing."""
    own = [strongest if "strongest" in term.name else weakest for term in RATIO.terms]
    parts = Parts.make(RATIO, np.stack(own, axis=1), np.zeros(len(own)), np.full(len(own), 1000.0))
    no, ends, mean = np.array([False]), (np.array([0.0]), np.array([4.0])), np.array([parts.value])
    values = np.full((len(strongest), 1), parts.value)
    return Sample(mean, np.array([0.1]), len(values), values, *ends, no, no, np.array([2]), 1.0, (parts,))


def test_differences_of_ratios_hold_the_truth_of_wins_that_are_rare() -> None:
    rng, missed, widest = np.random.default_rng(24), 0, 0.0
    for _ in range(100):
        strongest, weakest = rng.random((2, 24, 2))
        before, after = (
            ratio(1000 * (strongest < 0.5).mean(axis=1), 1000 * (weakest < chance).mean(axis=1))
            for chance in (0.05, 0.2)
        )
        ends = difference(before, after, 0)
        missed += not ends.low <= 2.5 - 4.0 <= ends.high
        widest = max(widest, ends.high - ends.low)
    assert missed <= 9, "of 100 ranges of 95 %"
    assert widest < 8, "something is known"


def test_differences_of_gaps_are_of_pairs_of_replicates() -> None:
    gap = Apart("strongest(resources) - weakest(resources)", {"resources"}, set(), 2)
    rng = np.random.default_rng(5)
    luck = rng.uniform(0, 500, 24)

    def of(more: float) -> Sample:
        values = luck + more - rng.uniform(0, 50, 24)
        parts = Parts.make(gap, values[:, None], np.array([-1000.0]), np.array([1000.0]))
        return sample(values, low=-1000.0, high=1000.0)._replace(plain=np.array([False]), parts=(parts,))

    before, after = of(0.0), of(300.0)
    ends = difference(before, after, 0)
    assert ends.low < 300 < ends.high
    assert ends.high - ends.low < sum(s.range(0).high - s.range(0).low for s in (before, after))


def test_differences_of_ratios_hold_the_truth_of_many_more_battles(tmp_path: Path) -> None:
    study = {"change": {"hero-5.power": 19.0}, "pool": {"kind": "local"}}
    store = FolderStore(tmp_path)
    true = table(store, run(config(**study, replicates=512, seed=999, replayed=LINEUPS[:4]), store)[-1]).arrays
    missed = 0
    for seed in range(6):
        bundle = table(store, run(config(**study, replicates=16, seed=seed, replayed=LINEUPS[:4]), store)[-1])
        for i in range(4):
            low, high = (bundle.arrays[f"change_{end}"][i, 2] for end in ("low", "high"))
            missed += not low <= true["change"][i, 2] <= high
    assert missed <= 4, "of 24 ranges of 95 %"


def test_fresh_replicates_are_those_of_no_search() -> None:
    assert FRESH == 1_000_000
    assert config(replicates=100).looks == (8, 16, 32, 100)
    assert config(replicates=9).looks == (9,)
    assert config().looks == (8, 16, 32)


def test_the_command_line_tells_how_far_it_is(whole: tuple[list[AnyEvent], Bundle]) -> None:
    started, *_, end = whole[0]
    assert isinstance(started, Started)
    assert isinstance(end, Finished)
    assert Words().planned(started, config().model_dump()).startswith("5 lineups, ")
    assert " over the line" in Words().round(end.summary, {})


def test_two_workers_give_the_same_table(whole: tuple[list[AnyEvent], Bundle], store: FolderStore) -> None:
    study = config(pool={"kind": "local", "batch_ms": 500})
    same(table(store, run(study, store)[-1]), whole[1])
