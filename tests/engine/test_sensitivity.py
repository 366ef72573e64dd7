"""How hard did we look: breaks are planted as large as they are wanted, and what experiments find is counted."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.arrays import Bundle, unpack
from engine.catalog import STUDIES
from engine.config.sensitivity import SensitivityConfig
from engine.errors import ConfigError, EvaluationError
from engine.events import AnyEvent, Failed, Finished, Paused, Progressed, Started, Stopped
from engine.indicators import wilson
from engine.lineups.pairings import PairingSpace
from engine.lineups.rules import compile_rules
from engine.problem import Evaluation, Request
from engine.sensitivity import evaluator as evaluators
from engine.sensitivity.course import Named, PlantingCourse, found
from engine.sensitivity.effects import Ground
from engine.sensitivity.evaluator import CONFIRMED, AskedPattern, PlantingEvaluator
from engine.sensitivity.plan import Planting, planned
from engine.sensitivity.planted import Break, PlantedGame
from engine.sensitivity.table import tabled
from engine.sensitivity.tuning import Tuning
from engine.simulators.contract import FAILED, OK, Battles
from engine.store import FolderStore
from engine.studies import load
from engine.study import sensitivity
from engine.study.sensitivity import Words
from engine.worth import analysis as worth_analysis
from engine.worth import changed_prices, expectations
from engine.worth import forecast as forecasts
from tests.engine.planted_games import CHARM, HERO, SOLDIER, Numbers
from tests.engine.sample_simulators import SPEC

NUMBERS = "python:tests.engine.planted_games:Numbers"


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer pairings for what forecasts expect, and fewer steps of learning."""
    monkeypatch.setattr(forecasts, "STEPS", (20, 60))
    monkeypatch.setattr(expectations, "EXPECTED", 20_000)
    monkeypatch.setattr(worth_analysis, "EXPECTED", (20_000, 5_000))
    for name in ("CLOSELY", "ROUGHLY"):
        monkeypatch.setattr(worth_analysis, name, 500)
    monkeypatch.setattr(changed_prices, "TURNS", 500)


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


def config(**more: Any) -> SensitivityConfig:
    given = {"kind": "sensitivity", "game": {"simulator": NUMBERS}, "battles": 4_000, "sizes": [20], "plantings": 4,
             "lineups": {"cost_tolerance": None}, "pool": {"kind": "local"}}  # fmt: skip
    made = load({**given, **more})
    assert isinstance(made, SensitivityConfig)
    return made


def plan(**more: Any) -> list[Planting]:
    made = config(**more)
    return planned(made, compile_rules(SPEC, made.pairings))


def ground(game: Numbers, **more: Any) -> Ground:
    made = config(**more)
    return Ground(made.experiment(1), game, compile_rules(SPEC, made.pairings))


def never() -> bool:
    return False


def run(study: SensitivityConfig, store: FolderStore, resume: str = "", control: Any = lambda: "") -> list[AnyEvent]:
    return list(STUDIES["sensitivity"].load()(study, store, resume, control))


def table(store: FolderStore, event: Any) -> Bundle:
    return unpack(store.get(event.artifacts["table"]))


def problems(**more: Any) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        config(**more)
    return {problem.place: problem.message for problem in caught.value.problems}


def test_the_plan_follows_from_the_seed_and_takes_every_piece_before_it_takes_one_again() -> None:
    every = plan(plantings=26, sizes=[3, 5], planted=["piece", "pair", "triple"])
    assert every == plan(plantings=26, sizes=[3, 5], planted=["piece", "pair", "triple"])
    assert every != plan(plantings=26, sizes=[3, 5], planted=["piece", "pair", "triple"], seed=2)
    assert [p.number for p in every] == list(range(26 * 6))
    assert len({p.seed for p in every}) == len(every)
    for at in range(0, 52, 26):
        pieces = [p.pieces for p in every[at : at + 26]]
        assert sorted(pieces[:13]) == sorted(pieces[13:]) == [(i,) for i in range(13)]
    assert {len(p.pieces) for p in every} == {1, 2, 3}
    assert {p.size for p in every} == {0.03, 0.05}
    assert sum(p.sign for p in every) == 0


@pytest.mark.parametrize(("side", "signs"), [("strong", {1}), ("weak", {-1}), ("either", {1, -1})])
def test_breaks_are_too_strong_or_too_weak_as_somebody_wants(side: str, signs: set[int]) -> None:
    assert {p.sign for p in plan(side=side)} == signs


def test_only_what_the_rules_field_is_planted() -> None:
    rules = compile_rules(SPEC, config(lineups={"cost_tolerance": None, "banned": ["hero-2"]}).pairings)
    study = config(plantings=200, planted=["piece", "pair", "triple"], lineups={"cost_tolerance": None,
                                                                              "banned": ["hero-2"]})  # fmt: skip
    every = planned(study, rules)
    assert all(HERO + 2 not in p.pieces for p in every)
    assert all(sum(piece < SOLDIER for piece in p.pieces) <= 1 for p in every), "a team has one hero"


def test_what_no_experiment_can_test_is_refused_at_its_place() -> None:
    made = config(planted=["triple"])
    rules = compile_rules(SPEC, made.pairings)
    nothing = rules._replace(pool_size=np.where(np.arange(len(rules.pool_size)) > 2, 0, rules.pool_size))
    with pytest.raises(ConfigError, match="can test no triple") as caught:
        planned(made, nothing)
    assert [problem.place for problem in caught.value.problems] == ["planted.0"]


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"sizes": [5, 0.1]}, "sizes.1"),
        ({"sizes": [5, 5]}, "sizes.1"),
        ({"planted": ["piece", "piece"]}, "planted.1"),
        ({"plantings": 2}, "plantings"),
        ({"plantings": 801, "sizes": [3, 5, 8]}, "plantings"),
        ({"planted": []}, "planted"),
        ({"side": "both"}, "side"),
        ({"planted": ["piece", "pair"], "pairs": False}, "planted.1"),
    ],
)
def test_settings_that_make_no_sense_are_refused_at_their_places(more: dict[str, Any], place: str) -> None:
    assert place in problems(**more)


@pytest.mark.parametrize(("pieces", "target"), [((HERO + 1,), 0.08), ((HERO + 4,), -0.06), ((CHARM,), 0.05)])
def test_a_number_is_changed_until_the_measured_effect_is_the_wanted_one(
    pieces: tuple[int, ...], target: float
) -> None:
    own = ground(Numbers())
    sign = 1 if target > 0 else -1
    tuned = Tuning(config(battles=80_000), SPEC, own).tuned(Planting(0, "piece", pieces, sign, abs(target), 7), never)
    ((path, value),) = tuned.broken.changes.items()
    piece = SPEC.pieces[pieces[0]]
    assert path == f"{piece.id}.power"
    assert tuned.value == value
    assert value - piece.attributes["power"] == pytest.approx(100 * target, abs=2.2)
    effect = own.effect(pieces, 1, sign, tuned.broken, 40_000, 99, never)
    assert effect.size == pytest.approx(target, abs=0.022)
    assert effect.low < effect.size < effect.high


@pytest.mark.parametrize(
    ("kind", "pieces", "target"),
    [("piece", (SOLDIER,), -0.09), ("pair", (HERO + 1, CHARM), 0.1), ("triple", (HERO, SOLDIER + 1, CHARM + 2), -0.1)],
)
def test_outcomes_are_turned_until_the_measured_effect_is_the_wanted_one(
    kind: Any, pieces: tuple[int, ...], target: float
) -> None:
    own, sign = ground(Numbers()), 1 if target > 0 else -1
    study = config(battles=80_000, through="outcomes")
    tuned = Tuning(study, SPEC, own).tuned(Planting(0, kind, pieces, sign, abs(target), 7), never)
    assert tuned.place == -1
    assert 0 < tuned.broken.chance * sign < 1
    effect = own.effect(pieces, 1, sign, tuned.broken, 40_000, 99, never)
    assert effect.size == pytest.approx(target, abs=0.025)


def test_where_no_number_reaches_the_effect_outcomes_are_turned() -> None:
    tuned = Tuning(config(battles=40_000), SPEC, ground(Numbers())).tuned(
        Planting(0, "piece", (SOLDIER,), -1, 0.12, 7), never
    )
    assert not tuned.broken.changes, "a soldier has two points of power to lose"
    assert tuned.broken.chance < 0


@pytest.mark.parametrize("drawn", [True, False])
def test_what_cannot_be_made_as_large_as_was_wanted_is_not_planted(drawn: bool) -> None:
    """A game whose battles are all drawn, and one that finishes none."""

    class Stuck(Numbers):
        def battles(self, *given: Any, **more: Any) -> Battles:
            found = super().battles(*given, **more)
            found.side[:, :, 2] = 0.5
            found.status[:] = OK if drawn else FAILED
            return found

    tuning = Tuning(config(battles=4_000, through="outcomes"), SPEC, ground(Stuck()))
    with pytest.raises(EvaluationError, match="as large as was wanted" if drawn else "no battle of them ends"):
        tuning.tuned(Planting(0, "piece", (1,), 1, 0.08, 7), never)


@pytest.mark.parametrize("chance", [0.4, -0.4])
def test_a_turned_outcome_leaves_all_other_teams_alone(chance: float) -> None:
    rules = compile_rules(SPEC, config().pairings)
    rows = PairingSpace(rules).sample(np.random.default_rng(1), 4_000)
    left, right = np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])
    seeds, game = np.arange(4_000, dtype=np.uint64), Numbers()
    broken = PlantedGame(game, rules, Break((HERO + 1, CHARM), {}, chance), win=2)
    plain, turned = game.battles(left, right, seeds, {}), broken.battles(left, right, seeds, {})
    holds = [(t[:, 0] == HERO + 1) & (t[:, [3, 4]] == CHARM).any(axis=1) for t in (left, right)]
    changed = (plain.side != turned.side).any(axis=(1, 2))
    assert changed.any()
    assert not changed[holds[0] == holds[1]].any()
    np.testing.assert_array_equal(turned.side[changed], plain.side[changed][:, ::-1])
    own = np.where(holds[0], turned.side[:, 0, 2], turned.side[:, 1, 2])[changed]
    assert (own == (1.0 if chance > 0 else 0.0)).all()
    half = len(seeds) // 2
    again = broken.battles(left[half:], right[half:], seeds[half:], {})
    np.testing.assert_array_equal(again.side, turned.side[half:], "a battle is the same in any batch")


def test_an_effect_is_measured_against_what_the_pattern_is_compared_with() -> None:
    game = Numbers({(HERO + 1,): 12.0, (HERO + 2, CHARM): 20.0})
    own = ground(game)
    nothing = Break(())
    single = own.effect((HERO + 1,), 1, 1, nothing, 40_000, 3, never)
    assert single.size == pytest.approx(0.12 * 5 / 6, abs=0.03), "the average hero is a sixth of the way"
    alone, both = (own.effect(pieces, 1, 1, nothing, 40_000, 5, never) for pieces in ((HERO + 2,), (HERO + 2, CHARM)))
    assert alone.size < both.size
    fair = own.effect((HERO + 3, CHARM + 3), 1, 1, nothing, 40_000, 5, never)
    assert fair.size == pytest.approx(-0.04, abs=0.02), "others are better"


def test_an_answer_depends_on_its_request_alone() -> None:
    study = config()
    evaluator = PlantingEvaluator(study, Numbers())
    requests = [
        Request(p.number, AskedPattern(p.pieces, 1, p.target, p.sign).genome(), 0, 1, p.seed) for p in plan()[:2]
    ]
    together = list(evaluator.evaluate(requests, never))
    (alone,) = PlantingEvaluator(study, Numbers()).evaluate(requests[1:], never)
    np.testing.assert_array_equal(alone.metrics, together[1].metrics)
    np.testing.assert_array_equal(alone.values, together[1].values)
    assert alone.cost == together[1].cost


def test_a_genome_says_what_was_asked() -> None:
    for asked in (
        AskedPattern((3, 9), 1, -0.055, -1),
        AskedPattern((4,), 3, 0.0, 1),
        AskedPattern((1, 2, 12), 1, 0.4, 1),
    ):
        assert AskedPattern.of(asked.genome()) == asked


def test_who_is_stopped_in_a_planting_answers_nothing() -> None:
    looks = iter(range(40))
    evaluator = PlantingEvaluator(config(), Numbers())
    requests = [
        Request(p.number, AskedPattern(p.pieces, 1, p.target, p.sign).genome(), 0, 1, p.seed) for p in plan()[:1]
    ]
    assert not list(evaluator.evaluate(requests, lambda: next(looks, None) is None))


def test_what_is_found_is_told_by_kind_and_direction() -> None:
    def planting(kind: Any, pieces: tuple[int, ...], sign: int = 1) -> Planting:
        return Planting(0, kind, pieces, sign, 0.05, 1)

    assert found(planting("piece", (3,)), [Named((3,), 2, 1)])
    assert not found(planting("piece", (3,)), [Named((3,), 1, -1), Named((3, 4), 1, 1), Named((4,), 1, 1)])
    assert found(planting("pair", (3, 9), -1), [Named((3, 9), 1, -1)])
    assert not found(planting("pair", (3, 9)), [Named((3,), 1, 1)])
    assert found(planting("triple", (1, 3, 9)), [Named((3, 9), 1, 1)])
    assert not found(planting("triple", (1, 3, 9)), [Named((3, 8), 1, 1)])


def answer(number: int, told: list[tuple[int, int, int, int]], effect: float = 0.2) -> Evaluation:
    metrics = np.array([effect, effect - 0.01, effect + 0.01, 0.0, -1, np.nan, 3, 1_000])
    return Evaluation(number, metrics[:1], np.zeros((1, 1)), 1, metrics, cost=10,
                      values=np.array(told, float).reshape(-1, len(CONFIRMED)))  # fmt: skip


def told_course() -> PlantingCourse:
    """Four plantings of pieces: two are found, one confirms two charms beside it, one could not be made."""
    study = config(side="strong")
    heroes = [Planting(i, "piece", (HERO + i,), 1, 0.2, i) for i in range(4)]
    course = PlantingCourse(study, heroes)
    course.ask(10)
    beside = [(CHARM, -1, 1, 1), (CHARM + 1, -1, 1, 1)]
    for number, told in enumerate([[(HERO, -1, 1, 1)], [(HERO + 1, -1, 1, 1), *beside], []]):
        course.tell(answer(number, told))
    course.tell(answer(3, [])._replace(status="failed"))
    return course


def test_an_innocent_is_what_is_fair_by_battles_of_its_own() -> None:
    course = told_course()
    (cell,) = tabled(course, SPEC)[0]["cells"]
    assert (cell["planted"], cell["found"], cell["lost"], cell["innocent"]) == (3, 2, 1, None)
    assert (cell["low"], cell["high"]) == wilson(2, 3)
    asked = course.ask(10)
    assert [AskedPattern.of(request.genome) for request in asked] == [AskedPattern((CHARM,), 1, 0.0, 1),
                                                              AskedPattern((CHARM + 1,), 1, 0.0, 1)]  # fmt: skip
    for request, effect in zip(asked, (0.01, 0.25), strict=True):
        course.tell(answer(request.id, [], effect))
    assert course.done
    meta, columns = tabled(course, SPEC)
    assert meta["cells"][0]["innocent"] == 1
    assert [each["innocent"] for each in meta["beside"]] == [True, False]
    assert columns["innocent"].tolist() == [0, 1, 0, -1]
    assert columns["found"].tolist() == [1, 1, 0, -1]


def test_a_course_that_goes_on_from_its_state_asks_for_what_is_missing() -> None:
    course = told_course()
    other = PlantingCourse(course.config, course.plantings)
    other.load(course.state())
    assert [request.id for request in other.ask(10)] == [4, 5]
    assert other.confirmed == course.confirmed
    assert other.played == course.played
    assert (other.unfinished, other.measured) == (course.unfinished, course.measured) == (9, 3_000)
    with pytest.raises(KeyError):
        other.tell(answer(0, []))


def test_battles_that_measured_effects_and_were_not_finished_are_counted_and_told(store: FolderStore) -> None:
    class SometimesStuck(Numbers):
        def battles(self, *given: Any, **more: Any) -> Battles:
            found = super().battles(*given, **more)
            found.status[:2] = FAILED
            return found

    own = ground(SometimesStuck())
    own.effect((1,), 1, 1, Break((1,)), 100, 5, never)
    assert 4 <= own.unfinished < own.played <= 200, "two of each part"
    study = sensitivity._Sensitivity(config(), store, lambda: "")
    study.schedule = told_course()
    (said,) = study.conclude()
    assert "did not finish 9 of 3,000 battles that measured effects, which are left out" in said.message
    assert tabled(study.schedule, SPEC)[0]["unfinished"] == 9
    study.schedule.unfinished = 0
    assert not [*study.conclude()]


def test_large_breaks_are_found_small_ones_are_not_and_the_study_says_how_many(store: FolderStore) -> None:
    events = run(config(sizes=[30, 0.5], battles=4_000, side="strong"), store)
    started, end = events[0], events[-1]
    assert isinstance(started, Started)
    assert isinstance(end, Finished)
    assert started.ticks == 8
    assert [event.tick for event in events if isinstance(event, Progressed)] == list(range(1, 9))
    large, small = table(store, end).meta["cells"]
    assert (large["planted"], large["found"]) == (4, 4)
    assert (small["planted"], small["found"]) == (4, 0)
    assert large["effect_low"] < 0.32
    assert large["effect_high"] > 0.28
    assert small["innocent"] == 0
    assert end.counters.battles <= started.battles
    assert end.summary == {"planted": 8.0, "found": 4.0}
    assert Words().round(end.summary, {}) == "4 of 8 breaks found"


@pytest.fixture
def told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Experiments that confirm a charm, whatever was planted."""
    monkeypatch.setattr(evaluators, "_confirmed", lambda x: np.array([[CHARM + 1, -1, 1, 1]], float))
    monkeypatch.setattr(PlantingEvaluator, "_experiment", lambda *_: SimpleNamespace(played=100))


@pytest.mark.usefixtures("told_at_once", "played_here")
@pytest.mark.parametrize(("game", "innocent"), [("Unfair", False), ("Numbers", True)])
def test_what_is_unfair_already_is_no_innocent(game: str, innocent: bool, store: FolderStore) -> None:
    study = config(game={"simulator": NUMBERS.replace("Numbers", game)}, battles=8_000, through="outcomes")
    meta = table(store, run(study, store)[-1]).meta
    (charm,) = meta["beside"]
    assert charm["pieces"] == [CHARM + 1]
    assert charm["innocent"] is innocent
    assert charm["low"] < charm["effect"] < charm["high"]
    assert meta["cells"][0]["innocent"] == (charm["times"] if innocent else 0)


@pytest.mark.usefixtures("told_at_once", "played_here")
def test_a_killed_and_a_paused_study_end_with_the_table_of_one_that_was_left_alone(store: FolderStore) -> None:
    study = config(battles=2_000)
    whole = run(study, store)
    expected = table(store, whole[-1])
    killed = next(event for event in whole if isinstance(event, Progressed) and event.tick == 2)
    told: list[AnyEvent] = []
    for event in STUDIES["sensitivity"].load()(study, store, "", lambda: "pause" if len(told) > 1 else ""):
        told.append(event)
    assert isinstance(told[-1], Paused)
    assert told[-1].tick < 4
    for saved in (killed, told[-1]):
        again = table(store, run(study, store, resume=saved.artifacts["checkpoint"])[-1])  # type: ignore[union-attr]
        assert again.meta == expected.meta
        for name, column in expected.arrays.items():
            np.testing.assert_array_equal(column, again.arrays[name])


@pytest.mark.usefixtures("told_at_once")
def test_a_stopped_study_keeps_what_it_counted(store: FolderStore) -> None:
    told: list[AnyEvent] = []
    study = config(battles=2_000)
    for event in STUDIES["sensitivity"].load()(study, store, "", lambda: "stop" if len(told) > 1 else ""):
        told.append(event)
    assert isinstance(told[-1], Stopped)
    assert sum(cell["planted"] for cell in table(store, told[-1]).meta["cells"]) == 1


def test_a_study_that_cannot_be_played_says_why(store: FolderStore) -> None:
    (failed,) = run(config(game={"simulator": NUMBERS, "patch": {"nobody.cost": 1.0}}), store)
    assert isinstance(failed, Failed)
    assert "nobody" in failed.message


def test_the_same_plan_and_breaks_as_ever() -> None:
    """The first plantings of seed 1, and what it takes to make the first."""
    first, *others = plan(sizes=[8], plantings=13)[:4]
    tuned = Tuning(config(battles=20_000, sizes=[8]), SPEC, ground(Numbers())).tuned(first, never)
    assert [(p.pieces[0], p.sign) for p in (first, *others)] == [(3, 1), (7, -1), (0, 1), (10, -1)]
    assert tuned.broken.changes == {"hero-3.power": pytest.approx(30.226, abs=0.001)}
