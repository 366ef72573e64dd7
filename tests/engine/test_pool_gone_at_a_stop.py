"""Pools that end together with the study that they play for: the round that they have played is complete, or not
counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.arrays import unpack
from engine.errors import ActorLost
from engine.events import Progressed, Stopped
from engine.evorl.record import digests
from engine.runtime.pool import LocalPool
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from engine.study.evolve import apart
from tests.engine.cutting import cut_off
from tests.engine.test_evolve import study


def gone(self: Any, requests: Any) -> None:
    """What a pool says whose Ray has ended."""
    raise ActorLost("Ray has ended.")


def test_a_round_whose_players_are_all_back_is_complete_though_the_pool_ends_with_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, submit, asked = FolderStore(tmp_path), LocalPool.submit, list[int]()

    def once(self: Any, requests: Any) -> None:
        asked.append(len(requests))
        (submit if len(asked) == 1 else gone)(self, requests)

    monkeypatch.setattr(LocalPool, "submit", once)
    events = cut_off(study("nsga2"), store, "stop", 4, monkeypatch)
    end = events[-1]
    assert isinstance(end, Stopped)
    assert asked == [4, 4]
    assert [event.tick for event in events if isinstance(event, Progressed)] == [1]
    named = unpack(store.get(end.artifacts["archive"])).arrays
    assert named["id"].tolist() == [0, 1, 2, 3]
    assert all(digests(named))
    best = [i for i, _ in apart(store.get(end.artifacts["policies"]))]
    assert best == unpack(store.get(end.artifacts["front"])).arrays["id"].tolist()


def test_a_study_whose_pool_ends_without_a_command_can_be_continued_by_another_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalPool, "submit", gone)
    with pytest.raises(ActorLost):
        list(run(study("nsga2"), FolderStore(tmp_path)))


def test_battles_of_a_schedule_that_a_stop_meets_with_its_pool_gone_end_the_study_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def gone_with_a_stop(self: Any, requests: Any) -> None:
        told.append("stop")
        gone(self, requests)

    monkeypatch.setattr(LocalPool, "submit", gone_with_a_stop)
    worth = {"kind": "worth", "game": {"simulator": "builtin:herobattle"}, "pool": {"kind": "local"}}
    events = list(run(load(worth), FolderStore(tmp_path), "", lambda: "stop" if told else ""))
    assert isinstance(events[-1], Stopped)
