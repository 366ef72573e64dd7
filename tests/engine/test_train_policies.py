"""Trainings with a table of policies: several learners, casts, opponents of evaluations, checkpoints in parts."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from engine import console
from engine.arrays import pack, unpack
from engine.errors import ConfigError
from engine.events import AnyEvent, Failed, Finished, Paused, Progressed
from engine.rl.examine import examine
from engine.rl.policy import Policy
from engine.store import FolderStore
from engine.studies import load
from tests.engine.rounds_told import TIMES
from tests.engine.test_train import control, events, study

TWO: dict[str, Any] = {"left": {"seats": [0]}, "right": {"seats": [1]}}
LEAGUE: dict[str, Any] = {
    "agent": {"seats": [0, 1], "against": ["follower", "random"]},
    "past": {"kind": "snapshots", "of": "agent", "seats": [0, 1]},
    "random": {"kind": "scripted", "player": "random", "seats": [1], "share": 0.5},
    "follower": {"kind": "scripted", "player": "pong-follower", "share": 0},
}
"""One learns on either seat from itself as it is, as it was, and from a script."""
SMALL = {"policy": [16], "critic": [16]}


def pong(policies: dict[str, Any], **more: Any) -> Any:
    """A training on Pong with two seats; of four rounds, two updates of every policy each."""
    game = {"name": "pong-two-seats", "settings": {"points": 1, "max_ticks": 60}}
    return study(**{"game": game, "policies": policies, "steps": 2048, "checkpoint_every": 512, **more})


def learner(kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "fragment": 16, "network": SMALL, **more}


def curve(found: list[AnyEvent]) -> list[tuple[Any, ...]]:
    """What does not depend on the clock, the hashes of all policies included."""
    rows = []
    for e in found:
        if isinstance(e, Progressed):
            kept = {role: digest for role, digest in e.artifacts.items() if role != "checkpoint"}
            told = {k: v for k, v in e.metrics.items() if k.rpartition("/")[2] not in TIMES}
            rows.append((e.tick, e.counters.steps, kept, told))
    return rows


def policy(store: FolderStore, artifacts: Any, name: str) -> Policy:
    return Policy.unpack(store.get(artifacts[f"policy_description/{name}"]), store.get(artifacts[f"policy/{name}"]))


def test_each_policy_learns_from_its_own_seat_and_leaves_its_own_artifacts(store: FolderStore) -> None:
    found = events(pong(TWO), store)
    rounds = [e for e in found if isinstance(e, Progressed)]
    assert [e.counters.steps for e in rounds] == [512, 1024, 1536, 2048]
    for e in rounds:
        assert e.metrics["left/return"] == -e.metrics["right/return"], "what one wins the other loses"
        assert e.metrics["left/staleness_max"] == e.metrics["right/staleness_max"] == 1
    end = found[-1]
    assert isinstance(end, Finished)
    roles = {f"{role}/{name}" for role in ("policy", "policy_description", "onnx") for name in TWO}
    assert end.artifacts.keys() == roles | {"checkpoint"}
    left, right = (policy(store, end.artifacts, name) for name in TWO)
    assert left.version == right.version == 8
    assert not np.array_equal(left.weights, right.weights)
    first = policy(store, rounds[0].artifacts, "left")
    assert not np.array_equal(left.weights, first.weights)
    assert end.summary["updates"] == 16


@pytest.mark.parametrize(
    ("policies", "examined"),
    [
        (TWO, [[0, 1]]),
        ({**TWO, "left": {"seats": [0], "against": ["right"]}}, [[0], [1]]),
        ({**TWO, "past": {"kind": "snapshots", "of": "left"}}, [[0], [1]]),
        (LEAGUE, [[0], [0]]),
    ],
)
def test_policies_whose_battles_would_be_the_same_are_examined_in_the_same(
    store: FolderStore, monkeypatch: Any, policies: dict[str, Any], examined: list[list[int]]
) -> None:
    asked: list[list[int]] = []

    def watched(policies: Any, *args: Any, **more: Any) -> Any:
        asked.append(list(policies))
        return examine(policies, *args, **more)

    monkeypatch.setattr("engine.study.evaluation.examine", watched)
    events(pong(policies, evaluate_every=0), store)
    assert asked == examined


@pytest.mark.parametrize("game", ["pong-two-seats", "connect-four"])
def test_evaluations_from_the_same_battles_are_those_of_one_policy_each(
    store: FolderStore, monkeypatch: Any, game: str
) -> None:
    config = pong(TWO, evaluate_every=1, episodes=20, **({} if game == "pong-two-seats" else {"game": {"name": game}}))
    together = curve(events(config, store))
    alone = [((name,), "") for name in TWO]
    monkeypatch.setattr("engine.study.evaluation.MeasuredPolicies.battles", alone)
    assert together == curve(events(config, store))
    assert {f"{name}/evaluation_return" for name in TWO} <= together[-1][3].keys()


def test_the_command_line_tells_how_each_policy_does(store: FolderStore) -> None:
    config = pong(TWO)
    said = [console.line(e, config.model_dump(mode="json")) for e in events(config, store)]
    (line,) = [line for line in said if "round 2:" in line]
    assert line.index(" a second; left: return ") < line.index("; right: return ")
    assert line.count("on fresh episodes") == 2


@pytest.mark.parametrize("policies", [TWO, LEAGUE])
@pytest.mark.parametrize("sampling", ["synchronous", "asynchronous"])
def test_the_same_study_gives_the_same_curve(store: FolderStore, policies: dict[str, Any], sampling: str) -> None:
    one = curve(events(pong(policies, sampling=sampling), store))
    assert len(one) == 4
    assert curve(events(pong(policies, sampling=sampling), store)) == one


MIXED = {
    "left": {"learner": learner("dqn", warmup=100, capacity=500)},
    "right": {"seats": [1], "learner": learner("ppo", batch=128, normalise_observations=True)},
}


@pytest.mark.parametrize("policies", [TWO, MIXED, LEAGUE])
def test_a_study_that_was_paused_anywhere_goes_on_with_the_same_curve(
    store: FolderStore, policies: dict[str, Any]
) -> None:
    config, calls = pong(policies), 0

    def counted() -> str:
        nonlocal calls
        calls += 1  # a learner with a replay asks before each of its minibatches, too
        return ""

    whole = curve(events(config, store, control=counted))
    at = random.Random(len(policies)).randint(calls * 2 // 5, calls * 4 // 5)
    before = events(config, store, control=control("pause", at))
    end = before[-1]
    assert isinstance(end, Paused)
    after = events(config, store, resume=end.artifacts["checkpoint"])
    assert 0 < len(curve(before)) < 4
    assert curve(before) + curve(after) == whole


def test_a_study_paused_in_an_evaluation_goes_on_where_only_what_events_name_was_kept(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site removes the rest after an hour, and a snapshot that only the checkpoint named was gone."""
    begun = list[int]()
    monkeypatch.setattr(
        "engine.study.evaluation.examine", lambda *args, **more: (begun.append(1), examine(*args, **more))[1]
    )
    config = pong({**LEAGUE, "agent": {"seats": [0, 1], "against": ["past"]}}, evaluate_every=1)
    before = events(config, store, control=lambda: "pause" if len(begun) > 1 else "")
    assert isinstance(before[-1], Paused)
    assert len(curve(before)) == 1, "the second round's evaluation was interrupted"
    named = {
        digest
        for event in before
        for role, digest in getattr(event, "artifacts", {}).items()
        if role != "checkpoint" or event is before[-1]
    }
    store.discard(set(store) - named)
    after = events(config, store, resume=before[-1].artifacts["checkpoint"])
    assert isinstance(after[-1], Finished), after[-1]


def test_a_policy_meets_what_it_was_at_the_end_of_every_earlier_round(store: FolderStore, monkeypatch: Any) -> None:
    met: list[set[str]] = []
    monkeypatch.setattr(
        "engine.study.curve.PolicyCurve.restart",
        lambda self: (met.append({n for e in getattr(self, "episodes", []) for n in e.others}), _restart(self))[1],
    )
    config = pong({**LEAGUE, "random": {**LEAGUE["random"], "share": 0}}, steps=4096)
    rounds = [e for e in events(config, store) if isinstance(e, Progressed)]
    descriptions = [f"agent@{e.artifacts['policy_description']}" for e in rounds]
    snapshots = set().union(*met) - {"agent"}
    assert snapshots <= set(descriptions)
    assert len(snapshots) >= 3
    first = next(names for names in met if names)
    assert first == {"agent"}, "in the first round there is no past"


def _restart(curve: Any) -> None:
    curve.episodes, curve.steps, curve.seconds, curve._metrics = [], 0, dict.fromkeys(curve.spent, 0.0), []


def test_a_frozen_policy_plays_by_its_hash_and_stays_as_it_is(store: FolderStore) -> None:
    end = events(pong(TWO), store)[-1]
    assert isinstance(end, Finished)
    table = {"agent": {"seats": [0]}, "old": {"kind": "frozen", "seats": [1], "policy": "0" * 64}}
    table["old"]["policy"] = end.artifacts["policy_description/right"]
    config = pong(table)
    found = events(config, store)
    assert isinstance(found[-1], Finished)
    assert curve(found) == curve(events(config, store))
    assert {"policy", "policy_description", "onnx", "checkpoint"} == found[-1].artifacts.keys(), (
        "one learns: plain names"
    )


def test_evaluations_are_against_each_opponent_that_was_named(store: FolderStore) -> None:
    last = [e for e in events(pong(LEAGUE, episodes=40), store) if isinstance(e, Progressed)][-1].metrics
    for against in ("", "@random"):
        assert {f"evaluation_return{against}", f"evaluation_score{against}"} <= set(last)
        ends = [last[f"evaluation_win{end}{against}"] for end in ("_low", "", "_high")]
        assert ends == sorted(ends)
    assert last["evaluation_win"] < last["evaluation_win@random"], "the follower, named first, is the better player"


def test_gradients_of_two_policies_travel_side_by_side(store: FolderStore) -> None:
    found = events(pong(TWO, sampling="asynchronous", learner=learner("a3c", fragment=8)), store)
    last = [e for e in found if isinstance(e, Progressed)][-1].metrics
    assert isinstance(found[-1], Finished)
    assert last["updates"] == 2048 / (4 * 8)
    assert {"left/policy_loss", "right/policy_loss"} <= last.keys()


def saved(found: list[AnyEvent]) -> str:
    return next(e.artifacts["checkpoint"] for e in found if isinstance(e, Progressed))


def changed(store: FolderStore, digest: str, change: Any) -> str:
    """A checkpoint with other parts."""
    meta, arrays = unpack(store.get(digest))
    change(meta["parts"])
    return store.put(pack(meta, {name: x for name, x in arrays.items() if name.partition(":")[0] in meta["parts"]}))


def test_a_checkpoint_has_a_part_for_all_that_every_policy_keeps(store: FolderStore) -> None:
    config = pong(MIXED)
    parts = unpack(store.get(saved(events(config, store)))).meta["parts"].keys()
    shared = {f"{part}/{name}" for part in ("learner", "normaliser", "curve") for name in TWO}
    assert parts == shared | {"replay/left", "round"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda parts: parts.update({"mixer": {}}), "parts that this study does not know: mixer"),
        (lambda parts: parts.update({"replay/right": {}}), "a part replay/right that this learner does not know"),
        (lambda parts: parts.pop("normaliser/left"), "lacks the part normaliser/left"),
    ],
)
def test_a_checkpoint_with_unknown_or_missing_parts_is_refused(store: FolderStore, change: Any, said: str) -> None:
    config = pong(MIXED)
    digest = changed(store, saved(events(config, store)), change)
    (failed,) = events(config, store, resume=digest)
    assert isinstance(failed, Failed)
    assert said in failed.message
    assert "start" in failed.message


@pytest.mark.parametrize(
    ("policies", "place", "said"),
    [
        ({"Left!": {}}, "policies.Left!", "begins with a letter"),
        ({"a": {"seats": []}}, "policies.a.seats", "at least 1"),
        ({"a": {"seats": [0, 0]}}, "policies.a.seats.1", "seat 0 stands here twice"),
        ({"a": {"kind": "alien"}}, "policies.a", "its kind must be one of learning, frozen, scripted, snapshots"),
        ({"a": {"share": 0}, "b": {}}, "policies.a.share", "must be drawn"),
        ({"a": {"seats": [1]}}, "policies", "nobody sits on seat 0"),
        ({"a": {"against": ["b"]}}, "policies.a.against", "there is no policy 'b'"),
        ({"a": {}, "b": {"kind": "snapshots", "of": "c"}}, "policies.b.of", "no policy 'c' that learns"),
        ({"a": {"kind": "scripted", "player": "random"}}, "policies", "none of them learns"),
        ({"a": {"learner": {"kind": "ppo", "rate": [0.1, 0.2]}}}, "policies.a.learner.rate", "this is a range"),
        ({"a": {}, "b": {"seats": [1], "learner": learner("ppo", fragment=8)}}, "policies", "fragments of the same"),
        ({"a": {"learner": learner("dqn", capacity=10)}}, "policies.a.learner.capacity", "arrive together"),
    ],
)
def test_what_is_wrong_in_a_table_of_policies_is_named(policies: dict[str, Any], place: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        pong(policies)
    assert [(p.place, said in p.message) for p in caught.value.problems] == [(place, True)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"policies": {"a": {}}}, "policies: pong has 2 seats, and there are policies for 1"),
        ({"policies": {}}, "game.name: pong has 2 seats; take a game with one, or name its policies"),
        ({"policies": {"a": {}, "b": {"kind": "scripted", "player": "chess", "seats": [1]}}},
         "policies.b.player: there is no script 'chess'; there are random, pong-follower, "
         "pong-interceptor, atari-pong-follower, herobattle-itself, hero-hunter"),
        ({"policies": {"a": {}, "b": {"kind": "frozen", "policy": "0" * 64, "seats": [1]}}},
         "policies.b.policy: Artifact 000000000000 is missing"),
        ({"game": "pendulum", "policies": {"a": {"learner": learner("dqn")}}}, "policies.a.learner.kind: DQN needs"),
        ({"game": "pendulum", "policies": {"a": {}, "b": {"kind": "scripted", "player": "pong-follower", "share": 0}}},
         "policies.b.player: this script plays Pong by its eight numbers"),
    ],
)  # fmt: skip
def test_policies_that_do_not_fit_the_game_are_named_before_anything_starts(
    store: FolderStore, change: dict[str, Any], said: str
) -> None:
    (failed,) = events(pong(TWO, **change) if "policies" not in change else pong(**change), store)
    assert isinstance(failed, Failed)
    assert (failed.error, failed.permanent) == ("ConfigError", True)
    assert said in failed.message


def test_a_frozen_policy_of_another_game_is_refused(store: FolderStore) -> None:
    end = events(study(game="cartpole", steps=512), store)[-1]
    assert isinstance(end, Finished)
    table = {"a": {}, "b": {"kind": "frozen", "seats": [1], "policy": end.artifacts["policy_description"]}}
    (failed,) = events(pong(table), store)
    assert isinstance(failed, Failed)
    assert "policies.b.policy: this policy sees or does something else" in failed.message


def test_a_study_without_a_table_is_one_policy_that_learns_on_the_only_seat() -> None:
    plain, named = study(), study(policies={"agent": {}})
    assert plain.learners == named.learners
    for name in ("each", "fragments", "update", "every", "ticks", "seats"):
        assert getattr(plain, name) == getattr(named, name), name
    assert load(json.loads(plain.model_dump_json())) == plain
    assert load(json.loads(pong(LEAGUE).model_dump_json())) == pong(LEAGUE)
