"""The smallest change that works: the right number moves the right way, and nothing depends on who plays when."""

from __future__ import annotations

import functools
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.arrays import Bundle, unpack
from engine.catalog import STUDIES
from engine.confidence import Range
from engine.config.patch import PatchConfig
from engine.errors import Cancelled, ConfigError
from engine.events import AnyEvent, Failed, Finished, Logged, Paused, Progressed, Stopped
from engine.lineups.drawing import costs
from engine.lineups.named import unknown
from engine.lineups.pairing_evaluator import PairingEvaluator
from engine.lineups.pairings import PairingSpace
from engine.lineups.rules import compile_rules
from engine.patches import proposals, trials
from engine.patches.adversary import legal, pairings
from engine.patches.finder import Finder
from engine.patches.numbers import Number, numbers
from engine.patches.response import Response, Watched
from engine.patches.space import FREE, Patch, PatchSpace
from engine.patches.suspected import INFLATED, Suspected
from engine.patches.table import tabled
from engine.patches.trials import Trials
from engine.problem import PatchedContext
from engine.simulators.contract import Battles
from engine.simulators.contract import Patch as Changes
from engine.store import FolderStore
from engine.studies import load
from engine.study.patch import NOTHING_FREE, NOTHING_STANDS_OUT, why_nothing
from engine.worth import analysis as worth_analysis
from engine.worth import changed_prices, expectations
from engine.worth import forecast as forecasts
from engine.worth.prices import Curve, Held, Own
from engine.worth.proof import Finding
from engine.worth.screen import Screen
from engine.worth.traits import Traits
from tests.engine.sample_simulators import SPEC, Rows, Seeds
from tests.engine.test_worth import CHARM, HERO, SOLDIER, Fair


class Mendable(Fair):
    """Each unit of power that a patch adds to a piece brings its teams two points."""

    def play(self, left: Rows, right: Rows, seeds: Seeds, patch: Changes) -> Battles:
        game, plain = SPEC.patched(patch), self.planted
        more = {
            (i,): 2.0 * (new.attributes["power"] - old.attributes["power"])
            for i, (new, old) in enumerate(zip(game.pieces, SPEC.pieces, strict=True))
            if new != old
        }
        self.planted = {**plain, **{pieces: points + plain.get(pieces, 0.0) for pieces, points in more.items()}}
        try:
            return super().play(left, right, seeds, patch)
        finally:
            self.planted = plain


STRONG = Mendable({(HERO + 1,): 15.0})
BATTLES = 30_000


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer pairings for what forecasts expect, fewer steps of learning, shorter searches."""
    monkeypatch.setattr(forecasts, "STEPS", (100, 300))
    monkeypatch.setattr(expectations, "EXPECTED", 60_000)
    monkeypatch.setattr(worth_analysis, "EXPECTED", (60_000, 10_000))
    monkeypatch.setattr(worth_analysis, "CLOSELY", 3_000)
    monkeypatch.setattr(changed_prices, "TURNS", 10_000)
    monkeypatch.setattr(worth_analysis, "ROUGHLY", 1_000)
    monkeypatch.setattr(trials, "EXPECTED", 10_000)
    monkeypatch.setattr(trials, "REFERENCE", 5_000)
    monkeypatch.setattr(proposals, "ROUNDS", 8)


@pytest.fixture
def roughly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rough forecasts, for what holds however good they are."""
    monkeypatch.setattr(forecasts, "STEPS", (20, 60))
    monkeypatch.setattr(expectations, "EXPECTED", 20_000)
    monkeypatch.setattr(worth_analysis, "EXPECTED", (20_000, 5_000))


def config(battles: int = BATTLES, **more: Any) -> PatchConfig:
    found = load({
        "kind": "patch", "game": {"simulator": "python:tests.engine.test_patches:Mendable"}, "battles": battles,
        "lineups": {"cost_tolerance": None}, "pool": {"kind": "local"}, "may": ["attributes"], "matters": 8, **more,
    })  # fmt: skip
    assert isinstance(found, PatchConfig)
    return found


def whole(game: Fair, study: PatchConfig, backwards: bool = False, cut: int = 0) -> Finder:
    """A search, played to its end; ``backwards``: every step in the opposite order; ``cut``: it goes on from its state
    whenever so many blocks have been played."""
    evaluator, since = PairingEvaluator(study, game), 0
    x = Finder(SPEC, study)
    while not x.done:
        asked = x.ask(cut or 100_000)
        for answer in list(evaluator.evaluate(asked, lambda: False))[:: -1 if backwards else 1]:
            x.tell(answer)
        since += len(asked)
        if cut and since >= cut and not x.done:
            state, x, since = x.state(), Finder(SPEC, study), 0
            x.load(state)
    assert x.played <= study.battles
    return x


SUSPECTED: dict[str, Any] = {"battles": 25_000, "suspects": [{"pieces": ["hero-1"]}]}


@functools.cache
def undisturbed() -> Finder:
    """A search with rough forecasts that nothing disturbs; others are compared with it."""
    return whole(STRONG, config(**SUSPECTED))


def best(x: Finder) -> dict[str, Any]:
    meta, _ = tabled(x.course)
    return dict(meta["patches"][0])


def same(one: Finder, other: Finder) -> None:
    (meta, columns), (meta_too, columns_too) = (tabled(x.course) for x in (one, other))
    assert meta == meta_too
    for name, column in columns.items():
        np.testing.assert_array_equal(column, columns_too[name])


def test_what_is_too_good_is_made_as_much_worse_as_it_is_too_good() -> None:
    patch = best(whole(STRONG, config(suspects=[{"pieces": ["hero-1"]}])))
    assert patch["verdict"] == "works"
    ((change,), apart) = patch["changes"], patch["apart"]
    assert (change["path"], apart) == ("hero-1.power", [])
    # 15 points are some seven units of power; within what matters, 8 points, is enough.
    assert 13 - 11.5 < change["after"] < 13 - 3.5
    assert patch["words"] == [f"Hero 1: Power {change['after']:g} instead of 13"]
    (now,) = patch["worths"]
    assert now[1] < now[0] < now[2]
    assert now[1] > -0.08
    assert now[2] < 0.08


@pytest.mark.usefixtures("roughly")
@pytest.mark.parametrize("battles", [25_000, 50_000])
def test_it_plays_no_more_than_was_asked_for_however_many_are_to_be_mended(battles: int) -> None:
    many = [{"pieces": [f"hero-{i}"]} for i in range(3)] + [{"pieces": ["hero-4", "soldier-2"]}]
    x = whole(STRONG, config(battles, suspects=many, most=2))
    assert x.course.candidates
    assert x.course.proofs


def test_what_is_too_weak_is_made_better() -> None:
    patch = best(whole(Mendable({(CHARM + 3,): -14.0}), config(largest=1.0, suspects=[{"pieces": ["charm-3"]}])))
    assert [change["path"] for change in patch["changes"]] == ["charm-3.power"]
    assert patch["changes"][0]["after"] > patch["changes"][0]["before"]


def test_of_two_that_are_unfair_together_a_rule_and_weaker_halves_are_offered_with_what_each_leaves() -> None:
    x = whole(Mendable({(HERO + 4, SOLDIER + 2): 30.0}), config(40_000, suspects=[{"pieces": ["hero-4", "soldier-2"]}]))
    meta, _ = tabled(x.course)
    ways = {patch["way"]: patch for patch in meta["patches"]}
    assert ways["rules"]["apart"] == [["hero-4", "soldier-2"]]
    assert "Hero 4 and Soldier 2 may not be in one team" in ways["rules"]["words"]
    names = [each["name"] for each in meta["watched"]]
    pair = names.index("Hero 4 + Soldier 2")
    assert ways["rules"]["worths"][pair][0] is None
    assert ways["attributes"]["worths"][names.index("Hero 4")][0] is not None


def test_of_a_fair_game_nothing_is_changed_and_the_largest_effects_that_stay_open_are_told() -> None:
    x = whole(Mendable(), config(25_000))
    assert x.done
    meta, _ = tabled(x.course)
    assert (meta["patches"], why_nothing(x.course)) == ([], NOTHING_STANDS_OUT)
    assert x.played < 25_000
    names = [piece.name for piece in SPEC.pieces]
    single, pair = (meta["left_open"][of] for of in ("single piece", "pair"))
    assert single["name"].partition(", ")[0] in names
    assert 0 < abs(single["points"]) < abs(pair["points"]), "of a pair fewer battles tell"
    assert set(pair["name"].split(" + ")) <= set(names)


@pytest.mark.usefixtures("roughly")
def test_pieces_and_numbers_that_are_to_stay_as_they_are_do() -> None:
    x = whole(STRONG, config(25_000, fixed=["hero-1"], suspects=[{"pieces": ["hero-1"]}]))
    assert not x.course.candidates
    assert why_nothing(x.course) == NOTHING_FREE
    meta, _ = tabled(x.course)
    assert "left_open" not in meta, "something stands out"
    assert (meta["free"], meta["takes"]) == (False, 0)
    kept = numbers(SPEC, config(categories=["charm"]), range(13))
    assert {SPEC.pieces[number.piece].category for number in kept} == {"charm"}
    assert {number.name for number in numbers(SPEC, config(may=["cost"]), range(13))} == {"cost"}


def test_an_amount_that_is_meant_to_be_so_is_left_alone() -> None:
    study = config(intended=[{"pieces": ["soldier-0"], "least": 3}], suspects=[{"pieces": ["hero-1"]}])
    x = Finder(SPEC, study)
    traits = x.experiment.traits
    amount = next(i for i, each in enumerate(traits.all) if each.pieces == (SOLDIER,) and each.least == 3)
    told = [Finding(amount, 900, 0.1, 0.2, Range(0.05, 0.15), 9.0, reported=True)]
    x.experiment.analysis = cast(Any, SimpleNamespace(findings=told, screen=SimpleNamespace(base=[], rest=None)))
    known = Suspected(x.experiment, SPEC, study)
    assert known.intended == {amount}
    assert [traits.all[t].pieces for t in known.suspects] == [(HERO + 1,)]
    assert {number.piece for number in known.numbers} == {HERO + 1}


@pytest.mark.usefixtures("roughly")
def test_a_search_that_goes_on_from_its_state_is_the_one_that_was_never_interrupted() -> None:
    same(undisturbed(), whole(STRONG, config(**SUSPECTED), cut=300))


@pytest.mark.usefixtures("roughly")
def test_it_does_not_depend_on_the_order_in_which_battles_are_over() -> None:
    same(undisturbed(), whole(STRONG, config(**SUSPECTED), backwards=True))


def play(x: Finder, evaluator: PairingEvaluator) -> None:
    """To the end."""
    while not x.done:
        for answer in evaluator.evaluate(x.ask(10_000), lambda: False):
            x.tell(answer)


@pytest.mark.usefixtures("roughly")
def test_who_stops_while_it_is_decided_what_is_next_can_go_on() -> None:
    study, stop = config(25_000, suspects=[{"pieces": ["hero-1"]}]), [False]
    x, evaluator = Finder(SPEC, study, lambda: stop[0]), PairingEvaluator(study, STRONG)
    while not x.experiment.done:
        for answer in evaluator.evaluate(x.ask(10_000), lambda: False):
            x.tell(answer)
    state = x.state()
    again = Finder(SPEC, study)
    again.load(state)
    assert again.ask(5)
    stop[0] = True
    with pytest.raises(Cancelled):
        play(x, evaluator)
    later = Finder(SPEC, study)
    later.load(x.state())
    assert later.ask(5)


NUMBERS = [Number(f"p{i}.power", i, "power", "Power", "", 10.0, 0.5, -10, 10, 20.0) for i in range(4)]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), most=st.integers(1, 4))
def test_patches_have_few_changes_within_their_bounds_and_survive_the_way_to_genomes(seed: int, most: int) -> None:
    space, rng = PatchSpace(NUMBERS, [(0, 1)], most), np.random.default_rng(seed)
    genomes = space.sample(rng, 20)
    for _ in range(5):
        genomes = space.offspring(rng, genomes, genomes[rng.permutation(20)])
    for genome in genomes:
        patch = space.patch(genome)
        assert patch.changes <= most
        assert all(NUMBERS[place].least <= level <= NUMBERS[place].most for place, level in patch.levels)
        assert all(level for _, level in patch.levels)
        np.testing.assert_array_equal(space.genome(patch), genome)
        used = genome[genome[:, 0] != FREE, 0].tolist()
        assert used == sorted(set(used))


@settings(max_examples=30, deadline=None)
@given(slope=st.floats(-0.3, 0.3), bend=st.floats(-0.1, 0.1), worth=st.floats(-0.1, 0.1))
def test_measurements_teach_what_a_number_does(slope: float, bend: float, worth: float) -> None:
    response = Response([Watched(0, (0,), 0.0, 0.01)], NUMBERS, 0.03, {})
    response.observed(0, worth, 1e-6)
    for level in (-10, -5, 5, 10):
        x = level / 10
        response.measured(0, Patch(((0, level),)), slope * x + bend * x * x, 1e-6)
    found, deviation = response.worth(0, Patch(((0, 4),)))
    assert abs(found - (worth + slope * 0.4 + bend * 0.16)) < 0.015
    assert deviation < 0.02


def test_a_worth_that_is_surely_small_leaves_less_than_one_that_is_just_small_enough() -> None:
    even, edge = (Response([Watched(0, (0,), w, 0.01**2)], NUMBERS, 0.03, {}) for w in (0.0, 0.029))
    far = Response([Watched(0, (0,), 0.07, 0.01**2)], NUMBERS, 0.03, {})
    assert even.left(Patch()) < edge.left(Patch()) < far.left(Patch())
    assert even.sure(Patch()) > 0.9 > edge.sure(Patch()) > far.sure(Patch())


def test_a_searched_team_meets_only_teams_of_about_its_cost_that_share_no_piece_that_may_not_repeat() -> None:
    rules = compile_rules(SPEC, config(lineups={"cost_tolerance": 0.2}).pairings)
    drawn = PairingSpace(rules).sample(np.random.default_rng(1), 200).reshape(-1, 5)
    teams = legal(rules, drawn[:10])
    assert len(teams) == 10
    rows = pairings(rules, teams, drawn, 4)
    assert rows.shape == (10, 4, 2, 5)
    mine, theirs = costs(rules, rows[:, :, 0].reshape(-1, 5)), costs(rules, rows[:, :, 1].reshape(-1, 5))
    assert (np.maximum(mine, theirs) <= np.minimum(mine, theirs) * 1.2 + 1e-9).all()
    assert (rows[:, :, 0, 0] != rows[:, :, 1, 0]).all()


def test_what_a_price_does_to_a_piece_that_comes_in_amounts_is_what_the_experiment_says_of_so_much_gold() -> None:
    traits = Traits(compile_rules(SPEC, config().pairings))
    single = [trait.pieces[0] for trait in traits.single].index(SOLDIER)
    own = {single: Own(0.01, 0.0, np.zeros((3, 3)))}
    curve = Curve(np.array([-0.2, 0.05, 0.03]), np.zeros((3, 3)), 90.0, 0.05, own)
    units, leans = np.full(len(traits.single), 3.0), np.full(len(traits.single), 0.5)
    known = cast(Suspected, Suspected.__new__(Suspected))
    known.traits, known.numbers = (
        traits,
        [Number("soldier-0.cost", SOLDIER, "cost", "Cost", "", 2.0, 1.0, -2, 10, 20.0)],
    )
    analysis = SimpleNamespace(
        curves={traits.rules.category[SOLDIER]: curve},
        prices=SimpleNamespace(leans=leans),
        screen=SimpleNamespace(units=units),
    )
    known.analysis = cast(Any, analysis)
    weights, covariance = known.responses()[0]
    moved, _, _ = curve.at(np.array([3.0 * 10.0]), Held(3.0, 0.5, single))
    assert float(weights.sum()) == pytest.approx(float(moved[0]))
    np.testing.assert_allclose(covariance, np.eye(2) * INFLATED**2)


def test_of_what_nobody_can_pay_no_pairing_is_drawn() -> None:
    """Thousands would take minutes if each was looked for."""
    rules = compile_rules(SPEC, config().pairings)
    price, made = Number("hero-1.cost", HERO + 1, "cost", "Cost", "", 11.0, 1.0, -11, 60, 20.0), dict[int, Any]()
    for level in (30, 60):
        drawing = Trials(rules, Traits(rules), cast(Screen, None), [price], 1, lambda: False)
        made[level] = drawing.draw(Patch(((0, level),)), HERO + 1, 4_000, 1)
    assert made[30].whole
    assert not made[60].found.any()
    assert len(made[60].rows) == 4_000


def test_a_battle_with_a_change_is_the_one_without_where_the_change_is_none() -> None:
    study = config(25_000)
    x, evaluator = Finder(SPEC, study), PairingEvaluator(study, STRONG)
    (request,) = x.ask(1)
    plain, same_, other = (
        next(iter(evaluator.evaluate([request._replace(context=PatchedContext(changes=c))], lambda: False))).values
        for c in ({}, {"hero-1.power": 13.0}, {f"hero-{i}.power": 60.0 for i in range(3)})
    )
    np.testing.assert_array_equal(plain, same_)
    assert (plain != other).any()


def run(study: PatchConfig, store: FolderStore, resume: str = "", control: Any = lambda: "") -> list[AnyEvent]:
    return list(STUDIES["patch"].load()(study, store, resume, control))


def table(store: FolderStore, event: Any) -> Bundle:
    return unpack(store.get(event.artifacts["table"]))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Battles of studies are played in this process."""
    monkeypatch.setattr("engine.lineups.pairing_evaluator.load", lambda reference: STRONG)
    monkeypatch.setattr("engine.simulators.loaders.load", lambda reference: STRONG)


@pytest.mark.usefixtures("here", "roughly")
def test_the_study_says_what_it_does_and_ends_with_a_table(tmp_path: Path) -> None:
    store, study = FolderStore(tmp_path), config(25_000, suspects=[{"pieces": ["hero-1"]}])
    events = run(study, store)
    end = events[-1]
    assert isinstance(end, Finished)
    ticks = [event.tick for event in events if isinstance(event, Progressed)]
    assert ticks == sorted(set(ticks))
    assert any(isinstance(event, Logged) and "adversary" in event.message for event in events)
    meta, columns = table(store, end)
    assert len(meta["patches"]) == len(columns["worst"]) > 1
    assert meta["patches"][-1]["words"] == []
    paused = [*iterate(study, store, "pause", 30)][-1]
    assert isinstance(paused, Paused)
    again = table(store, run(study, store, resume=paused.artifacts["checkpoint"])[-1])
    assert again.meta == meta


def iterate(study: PatchConfig, store: FolderStore, command: str, after: int) -> list[AnyEvent]:
    """What a study says until a command that comes after so many looks."""
    looks = iter(range(after))
    return run(study, store, control=lambda: "" if next(looks, None) is not None else command)


@pytest.mark.usefixtures("here", "roughly")
def test_a_study_that_is_stopped_keeps_what_it_has(tmp_path: Path) -> None:
    assert isinstance(iterate(config(25_000), FolderStore(tmp_path), "stop", 5)[-1], Stopped)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"fixed": ["nobody"]}, "fixed.0"),
        ({"suspects": [{"pieces": ["hero-1", "nobody"]}]}, "suspects.0.pieces"),
        ({"categories": ["tanks"]}, "categories.0"),
    ],
)
def test_what_the_game_has_not_is_said_at_its_place(change: dict[str, Any], place: str, tmp_path: Path) -> None:
    study = config(25_000, **change)
    assert [where for where, _ in unknown(study, SPEC)] == [place]
    *_, failed = run(study, FolderStore(tmp_path))
    assert isinstance(failed, Failed)
    with pytest.raises(ConfigError):
        load({"kind": "patch", "game": {"simulator": "builtin:herobattle"}, "may": []})
