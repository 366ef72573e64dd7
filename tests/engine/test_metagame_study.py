"""Round robins as a study: the same table whoever plays when, and teams that cannot play are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.arrays import Bundle, unpack
from engine.catalog import STUDIES
from engine.config.metagame import MetagameConfig
from engine.errors import ConfigError
from engine.events import AnyEvent, Failed, Finished, Paused, Progressed, Started, Stopped
from engine.lineups.pairing_evaluator import PairingEvaluator
from engine.metagame.round_robin import RoundRobin
from engine.problem import Evaluation
from engine.store import FolderStore
from engine.studies import load
from engine.study import metagame as metagame_study
from engine.study.metagame import Words, names_of, rows_of
from tests.engine.sample_simulators import SPEC
from tests.engine.tugs_of_war import Ringed

TEAMS = [{"slots": {"hero": f"hero-{i}", "soldier": "soldier-0", "soldiers": 1 + i % 3}} for i in range(5)]


RINGED = "python:tests.engine.tugs_of_war:Ringed"


def config(**more: Any) -> MetagameConfig:
    found = load({"kind": "metagame", "game": {"simulator": RINGED}, "teams": TEAMS, "battles": 40,
                  "pool": {"kind": "local"}, **more})  # fmt: skip
    assert isinstance(found, MetagameConfig)
    return found


def run(study: MetagameConfig, store: FolderStore, resume: str = "", control: Any = lambda: "") -> list[AnyEvent]:
    return list(STUDIES["metagame"].load()(study, store, resume, control))


def table(store: FolderStore, event: AnyEvent) -> Bundle:
    return unpack(store.get(event.artifacts["table"]))  # type: ignore[union-attr]


def interrupted(store: FolderStore, command: str, events: int) -> list[AnyEvent]:
    """What a study says until a command that comes after so many events."""
    said: list[AnyEvent] = []
    for event in STUDIES["metagame"].load()(config(), store, "", lambda: command if len(said) >= events else ""):
        said.append(event)
    return said


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


def test_it_plays_every_pair_from_both_seats_and_shows_the_ring(store: FolderStore) -> None:
    started, *_, end = run(config(), store)
    assert isinstance(started, Started)
    assert (started.battles, started.ticks) == (400, 10)
    assert isinstance(end, Finished)
    meta, columns = table(store, end)
    assert end.counters.battles == 400
    off = ~np.eye(5, dtype=bool)
    assert set(columns["meetings"][off].tolist()) == {20}
    assert meta["cyclic"]["share"] > 0.99
    assert np.abs(columns["rating"]).max() < 5
    assert np.allclose(columns["picked"], 0.2, atol=1e-6)
    assert [team["name"] for team in meta["teams"]] == [f"Hero {i}" for i in range(5)]
    assert meta["teams"][2]["parts"] == ["Hero 2", "Soldier 0 ×3"]
    assert (meta["battles"], meta["missing"], meta["game"]) == (40, 0, "Tug of war")


@pytest.mark.usefixtures("played_here")
@pytest.mark.parametrize("events", [0, 1, 3])
def test_wherever_it_is_interrupted_it_ends_with_the_same_table(
    store: FolderStore, tmp_path: Path, events: int
) -> None:
    whole, other = run(config(), store)[-1], FolderStore(tmp_path / "other")
    *_, paused = interrupted(other, "pause", events)
    assert isinstance(paused, Paused)
    assert paused.counters.battles < 400
    last = run(config(), other, paused.artifacts.get("checkpoint", ""))[-1]
    assert isinstance(last, Finished)
    expected, found = table(store, whole), table(other, last)
    assert found.meta == expected.meta
    for name, column in expected.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], column)


def test_answers_in_any_order_give_the_same_results() -> None:
    study = config()
    robins = [RoundRobin(rows_of(study, SPEC), study.meetings, study.ticks, 1) for _ in range(2)]
    evaluator = PairingEvaluator(study, Ringed())
    for robin, backwards in zip(robins, (False, True), strict=True):
        requests = robin.ask(1000)[:: -1 if backwards else 1]
        ticks = [p.tick for r in requests for e in evaluator.evaluate([r], lambda: False) for p in robin.tell(e)]
        assert ticks == [*range(1, 11)]
        assert robin.done
        assert robin.ask(10) == []
    assert np.array_equal(robins[0].results, robins[1].results)


def test_what_was_not_asked_for_or_comes_twice_is_refused() -> None:
    robin = RoundRobin(rows_of(config(), SPEC), 3, 3, 1)
    assert robin.ticks == 3
    answer = Evaluation(0, np.zeros(2), np.zeros((2, 2)), 2, np.empty(0), values=np.full((2, 2), 0.5))
    assert robin.tell(answer) == []
    assert robin.played == 2
    for wrong in (0, 30, -1):
        with pytest.raises(KeyError):
            robin.tell(answer._replace(id=wrong))


def test_battles_that_fail_are_left_out_and_the_rest_counts(store: FolderStore) -> None:
    *before, end = run(config(game={"simulator": RINGED.replace("Ringed", "SometimesFailing")}), store)
    meta, columns = table(store, end)
    off = ~np.eye(5, dtype=bool)
    assert meta["unfinished"] == 200 - columns["meetings"].sum() // 2 > 0
    said = f"did not finish {meta['unfinished']} of 200 meetings (two battles each), which are left out"
    assert any(said in getattr(event, "message", "") for event in before), "on the command line, too"
    assert (columns["meetings"][off] < 20).any()
    assert (columns["meetings"][off] > 5).all()
    assert columns["share"][0, 1] == 1.0


@pytest.mark.usefixtures("played_here")
def test_the_last_round_is_told_with_what_all_battles_show(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metagame_study, "READ_APART", 1e9)
    *_, last, end = [e for e in run(config(), store) if isinstance(e, Progressed | Finished)]
    assert last.metrics == end.summary


@pytest.mark.usefixtures("played_here")
def test_stopped_early_it_has_a_whole_table_by_fewer_battles(store: FolderStore) -> None:
    *before, end = interrupted(store, "stop", 3)
    assert isinstance(end, Stopped)
    ticks = [event.tick for event in before if isinstance(event, Progressed)]
    assert table(store, end).meta["battles"] == 4 * ticks[-1] == 4 * end.tick


@pytest.mark.usefixtures("played_here")
@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"teams": [*TEAMS, TEAMS[1]]}, "teams.5"),
        ({"teams": [{"slots": {"hero": "nobody", "soldier": "soldier-0"}}, TEAMS[0]]}, "teams.0.slots.hero"),
        ({"game": {"simulator": RINGED, "patch": {"nothing": 1}}}, "game.patch.nothing"),
    ],
)
def test_what_cannot_be_played_is_said_before_anything_is(
    store: FolderStore, change: dict[str, Any], place: str
) -> None:
    events = run(config(**change), store)
    assert isinstance(events[-1], Failed)
    assert place in events[-1].message
    assert len(events) == 1


def test_fewer_than_two_teams_and_more_than_sixty_four_are_refused() -> None:
    for teams in (TEAMS[:1], TEAMS * 13):
        with pytest.raises(ConfigError) as caught:
            config(teams=teams)
        assert caught.value.problems[0].place == "teams"


def test_names_are_never_alike() -> None:
    twins = [{**TEAMS[0], "name": "Twin"}, {**TEAMS[1], "name": "Twin"}, TEAMS[2]]
    study = config(teams=twins)
    assert names_of(study, SPEC, rows_of(study, SPEC)) == ["Twin", "Twin (2)", "Hero 2"]


@pytest.mark.usefixtures("played_here")
def test_the_command_line_says_what_is_planned_and_what_is_sure(store: FolderStore) -> None:
    events, words = run(config(), store), Words()
    assert isinstance(events[0], Started)
    assert words.planned(events[0], config().model_dump()) == "5 teams, 400 battles"
    end = events[-1]
    assert isinstance(end, Finished)
    assert words.round(end.summary, {}) == "10 pairs with a sure winner, 100 % of what decides goes in rings"
