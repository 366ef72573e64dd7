"""A replay or a minibatch that this machine has no memory for is refused at its field, before anything is played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import machine
from engine.config.rl import PPOConfig, SACConfig
from engine.errors import ConfigError
from engine.events import Failed
from engine.mdp.interface import ArraySpec, Continuous, SeatSpec
from engine.rl.factory import make_learner
from engine.rl.memory import check_memory, transition_bytes
from engine.store import FolderStore
from engine.studies import load
from engine.study import run

SEEN = ArraySpec("state", (3,))
PICTURE = ArraySpec("picture", (4, 8, 8), "uint8")
STEERED = Continuous((-1.0,), (1.0,), (1,))


def seat(*observations: ArraySpec) -> SeatSpec:
    return SeatSpec(observations, STEERED)


def with_memory(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(machine, "memory", lambda: size)


@settings(max_examples=20)
@given(st.lists(st.sampled_from([SEEN, PICTURE]), min_size=1, max_size=3))
def test_what_a_decision_takes_is_never_more_than_a_replay_keeps_of_it(seen: list[ArraySpec]) -> None:
    named = [ArraySpec(f"{i}", one.shape, one.dtype) for i, one in enumerate(seen)]
    learner = make_learner(SACConfig(capacity=8, minibatch=1), SeatSpec(tuple(named), STEERED), 1, 20_000)
    columns = {f"{at}.{one.name}": np.zeros((1, *one.shape), one.dtype) for one in named for at in ("s", "next")}
    numbers = {name: np.zeros((1, 1) if name == "action" else 1, np.float32) for name in ("action", "reward", "factor")}
    learner.replay.add(columns | numbers)  # type: ignore[attr-defined]
    kept = sum(column.nbytes for column in learner.replay.columns.values()) // 8  # type: ignore[attr-defined]
    assert kept - 4 == transition_bytes(learner.model.spec.seat)  # type: ignore[attr-defined]


def test_the_largest_replay_that_fits_is_named_and_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with_memory(monkeypatch, 10**9)
    with pytest.raises(ConfigError) as refused:
        make_learner(SACConfig(capacity=100_000_000), seat(SEEN), 1, 20_000)
    (fault,) = refused.value.problems
    assert fault.place == "learner.capacity"
    assert "100,000,000 decisions take at least 3.2 GB of memory, and this machine has 1.0" in fault.message
    most = 10**9 // transition_bytes(seat(SEEN))
    assert f"{most:,} are the most" in fault.message
    check_memory(SACConfig(capacity=most), seat(SEEN))
    with pytest.raises(ConfigError, match="capacity"):
        check_memory(SACConfig(capacity=most + 1), seat(SEEN))
    with pytest.raises(ConfigError, match="each of 2 tasks"):
        check_memory(SACConfig(capacity=most), seat(SEEN), replays=2)


def test_a_minibatch_is_counted_with_what_its_layers_give(monkeypatch: pytest.MonkeyPatch) -> None:
    with_memory(monkeypatch, 10**9)
    wide: dict[str, Any] = {"policy": (2048, 2048), "critic": (2048,)}
    check_memory(SACConfig(minibatch=50_000, network=wide), seat(SEEN))
    with pytest.raises(ConfigError, match=r"minibatch: 100,000 decisions take at least 1\.6 GB"):
        check_memory(SACConfig(minibatch=100_000, network=wide), seat(SEEN))


def test_a_learner_without_a_replay_is_none_of_its_business(monkeypatch: pytest.MonkeyPatch) -> None:
    with_memory(monkeypatch, 1)
    check_memory(PPOConfig(), seat(SEEN))


@pytest.mark.parametrize(
    "study",
    [
        {"kind": "train", "game": "gym:Pendulum-v1", "learner": {"kind": "td3"}},
        {"kind": "aes-rl", "game": "gym:Pendulum-v1", "spread": 1000},
    ],
)
def test_every_study_says_it_at_the_field_before_anything_is_played(
    study: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_memory(monkeypatch, 10**6)
    (failed,) = run(load({**study, "pool": {"kind": "local"}}), FolderStore(tmp_path))
    assert isinstance(failed, Failed)
    assert failed.permanent
    assert failed.message.startswith("learner.capacity: ")
    assert "learner.minibatch" not in failed.message or study["kind"] == "aes-rl"


def test_a_container_has_what_it_is_limited_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(machine, "_LIMIT", limit)
    whole = machine.memory()
    for text, expected in (("max", whole), ("1048576", 1 << 20), (f"{whole * 2}", whole)):
        limit.write_text(text)
        assert machine.memory() == expected
