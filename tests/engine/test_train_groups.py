"""Trainings in which one policy steers several entities together."""

from __future__ import annotations

import io
import random
import zipfile
from typing import Any

import pytest

from engine.config import TrainConfig
from engine.errors import ConfigError
from engine.events import Failed, Finished, Paused, Progressed
from engine.rl.policy import Policy
from engine.store import FolderStore
from engine.studies import load
from engine.study.casting import cast_of
from tests.engine.rounds_told import curve
from tests.engine.test_train import control, events

SMALL = {"policy": [16], "critic": [16]}
STEERING = {"fragment": 16, "minibatch": 16, "warmup": 100, "capacity": 500, "updates": 0.1, "network": SMALL}
COVER = {"name": "navigation", "settings": {"max_ticks": 16}}


def study(**more: Any) -> TrainConfig:
    """Four rounds."""
    config = load({
        "kind": "train", "game": COVER, "learner": {"kind": "masac", **STEERING}, "steps": 512, "samplers": 1,
        "environments": 4, "checkpoint_every": 128, "evaluate_every": 2, "episodes": 4, "pool": {"kind": "local"},
        **more,
    })  # fmt: skip
    assert isinstance(config, TrainConfig)
    return config


@pytest.mark.parametrize("kind", ["masac", "maddpg"])
def test_a_team_learns_as_one_and_each_member_s_policy_can_be_taken_home(store: FolderStore, kind: str) -> None:
    *found, end = events(study(learner={"kind": kind, **STEERING}), store)
    assert isinstance(end, Finished), end
    assert end.counters.steps == 512, "a decision of the whole team is one"
    last = [e for e in found if isinstance(e, Progressed)][-1].metrics
    assert last["evaluation_score"] == pytest.approx(last["evaluation_return"] / 3 / 16, abs=1e-5)
    whole = Policy.stored(store, end.artifacts["policy_description"])
    with zipfile.ZipFile(io.BytesIO(store.get(end.artifacts["members"]))) as archive:
        files = {f"{i}/policy.{ending}" for i in (1, 2, 3) for ending in ("json", "safetensors", "onnx")}
        assert set(archive.namelist()) == files
        each = [Policy.unpack(archive.read(f"{i}/policy.json"), archive.read(f"{i}/policy.safetensors"))
                for i in (1, 2, 3)]  # fmt: skip
    assert [one.pack() for one in each] == [one.pack() for one in whole.members()]


def test_a_team_that_was_paused_anywhere_goes_on_with_the_same_curve(store: FolderStore) -> None:
    config = study(learner={"kind": "masac", "normalise_observations": True, **STEERING})
    whole = curve(events(config, store))
    before = events(config, store, control=control("pause", random.Random(3).randint(3, 8)))
    end = before[-1]
    assert isinstance(end, Paused)
    assert curve(before) + curve(events(config, store, resume=end.artifacts["checkpoint"])) == whole


def test_any_learner_can_steer_a_group_as_one_large_seat(store: FolderStore) -> None:
    policies = {"pair": {"seats": [0, 2], "together": True, "learner": {"kind": "sac", **STEERING}},
                "other": {"seats": [1], "learner": {"kind": "td3", **STEERING}},
                "nobody": {"kind": "scripted", "player": "random", "seats": [1], "share": 0}}  # fmt: skip
    config = study(policies=policies)
    assert config.groups == ((0, 2), (1,))
    assert [[c.policy for c in seat] for seat in cast_of(config).seats] == [["pair"], ["other"]]
    end = events(config, store)[-1]
    assert isinstance(end, Finished), end
    pair = Policy.stored(store, end.artifacts["policy_description/pair"])
    assert [each.name for each in pair.spec.seat.observations] == ["view 1", "view 2", "here"]
    frozen = {"kind": "frozen", "policy": end.artifacts["policy_description/pair"], "seats": [0, 2], "together": True}
    again = study(policies={"pair": frozen, "other": policies["other"]})
    assert isinstance(events(again, store)[-1], Finished)


def test_a_trained_team_is_gone_on_from(store: FolderStore) -> None:
    end = events(study(), store)[-1]
    assert isinstance(end, Finished)
    learner = {"kind": "masac", **STEERING, "network": {"policy": [24], "critic": [8]}}
    after = events(
        study(start=end.artifacts["policy_description"], learner=learner, steps=128, evaluate_every=0), store
    )
    assert isinstance(after[-1], Finished), after[-1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"policies": {"a": {"seats": [0, 1]}, "b": {"seats": [1, 2]}}}, r"policies\.[ab]\.seats: seats 0, 1 are"),
        ({"policies": {"a": {"seats": [0, 1, 1]}, "b": {"seats": [2]}}}, r"policies\.a\.seats\.2: seat 1 stands here"),
    ],
)
def test_a_group_over_two_policies_is_an_error_at_its_seats(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        study(**more)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"game": "navigation-choices"}, "learner.kind: a group steers with numbers, and on seat 0 one of several"),
        ({"game": "navigation-choices", "policies": {"a": {"seats": [0, 1, 2], "learner": {"kind": "maddpg"}}}},
         "policies.a.learner.kind: a group steers with numbers"),
        ({"game": "tanks-two-teams"}, "game.name: tanks has 10 seats; take a game with one"),
    ],
)  # fmt: skip
def test_a_group_that_does_not_fit_its_game_is_an_error_at_its_place(
    store: FolderStore, more: dict[str, Any], said: str
) -> None:
    (failed,) = events(study(steps=20_000, **more), store)
    assert isinstance(failed, Failed)
    assert said in failed.message
