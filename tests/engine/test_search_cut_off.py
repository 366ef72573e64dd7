"""Searches for lineups that are paused or stopped within a round keep what was played of it, whoever goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.arrays import unpack
from engine.columns import Arrays
from engine.events import AnyEvent, Finished, Paused, Progressed, Stopped
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from tests.engine.cutting import cut_off

POPULATION = 12
STUDY: dict[str, Any] = {
    "name": "small",
    "seed": 3,
    "game": {"simulator": "builtin:herobattle"},
    "ticks": 3,
    "fresh": 2,
    "pool": {"kind": "local", "batch_ms": 20},
    "experiment": 0,
}
SEARCHES: dict[str, dict[str, Any]] = {
    "nsga2": {"algorithm": {"kind": "nsga2"}},
    "steady": {"algorithm": {"kind": "nsga2", "steady": True, "fair": True}},
    "measured again": {"algorithm": {"kind": "nsga2"}, "noise": {"reevaluate": 4, "again": 2}},
    "raced": {"algorithm": {"kind": "nsga2"}, "noise": {"racing": "halving", "most": 16}},
    "nsga3": {"algorithm": {"kind": "nsga3"}},
    "agemoea": {"algorithm": {"kind": "agemoea"}},
    "map-elites": {"algorithm": {"kind": "map-elites"}},
    "random": {"algorithm": {"kind": "random"}},
}


def search(name: str) -> Any:
    """One of the searches, small."""
    changes = SEARCHES[name]
    return load({**STUDY, **changes, "algorithm": {**changes["algorithm"], "population": POPULATION}})


def archive(store: FolderStore, end: AnyEvent) -> Arrays:
    """The lineups that a study leaves at its end."""
    assert isinstance(end, Stopped | Finished), end
    return unpack(store.get(end.artifacts["archive"])).arrays


@pytest.mark.parametrize(
    ("name", "rounds"),
    [("nsga2", 0), ("nsga2", 1), ("steady", 1), ("measured again", 1), ("raced", 1), ("map-elites", 0)],
)
def test_lineups_that_were_played_before_a_pause_stay_where_a_stop_comes_before_any_other(
    name: str, rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, after = FolderStore(tmp_path), POPULATION * rounds + 5
    paused = cut_off(search(name), store, "pause", after, monkeypatch)[-1]
    assert isinstance(paused, Paused)
    stopped = cut_off(search(name), store, "stop", 0, monkeypatch, paused.artifacts["checkpoint"])[-1]
    found, left = archive(store, stopped), unpack(store.get(paused.artifacts["arrived"])).arrays
    assert len(left["id"]) > 0
    assert set(left["id"].tolist()) <= set(found["id"].tolist())
    assert len(found["id"]) == paused.counters.evaluations == stopped.counters.evaluations
    assert stopped.counters.battles == paused.counters.battles
    at = np.searchsorted(found["id"], left["id"])
    for column in ("genome", "objective", "samples", "anchor", "cost"):
        np.testing.assert_array_equal(found[column][at], left[column])


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_is_paused_in_every_round_goes_on_to_the_same_end_and_plays_nothing_twice(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, study, saved = FolderStore(tmp_path), search(name), ""
    whole = list(run(study, store))[-1]
    for _ in range(STUDY["ticks"]):
        paused = cut_off(study, store, "pause", 7, monkeypatch, saved)[-1]
        assert isinstance(paused, Paused)
        saved = paused.artifacts["checkpoint"]
    end = list(run(study, store, saved))[-1]
    assert isinstance(end, Finished)
    assert end.counters.evaluations == whole.counters.evaluations == len(archive(store, end)["id"])
    if name == "steady":  # it learns as lineups come back
        return
    assert end.counters.battles == whole.counters.battles
    assert isinstance(whole, Finished)
    assert {**end.artifacts, "checkpoint": ""} == {**whole.artifacts, "checkpoint": ""}


@pytest.mark.parametrize("command", ["pause", "stop"])
def test_a_search_that_is_cut_off_twice_within_a_round_leaves_what_both_attempts_played_of_it(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, study = FolderStore(tmp_path), search("nsga2")
    first = cut_off(study, store, command, 5, monkeypatch)[-1]
    assert isinstance(first, Paused | Stopped)
    second = cut_off(study, store, "pause", 3, monkeypatch, first.artifacts["checkpoint"])
    assert isinstance(second[-1], Paused)
    assert not any(isinstance(event, Progressed) for event in second)
    assert unpack(store.get(second[-1].artifacts["arrived"])).arrays["id"].tolist() == list(range(8))
    assert second[-1].summary["evaluated"] == 8
