"""Courses in one process: who learns from whom, what a lesson's end does, that settings reach their own match, and that
a course that was interrupted anywhere ends as one that never was."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml

from engine import console
from engine.arrays import unpack
from engine.config.arena import ArenaConfig
from engine.config.arena_plan import without_groups
from engine.config.base import parse
from engine.config.lessons import UntilConfig
from engine.config.tournament import TournamentConfig
from engine.config.train import TrainGame
from engine.errors import ConfigError
from engine.events import AnyEvent, Failed, Finished, Logged, Paused, Progressed, Started, Stopped
from engine.games.pong.game import VectorPong
from engine.job_folder import with_stored_starts
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.groups import Grouped
from engine.mdp.interface import members_of
from engine.rl.policy import Policy
from engine.rl.sampler import Episode, opposing, sides_of
from engine.simulators import references
from engine.store import FolderStore
from engine.studies import load
from engine.study import checkpoint, run
from engine.study.arena import _Arena
from engine.study.course import Course, PupilCurve, Recent, beginner
from engine.study.course_artifacts import twins
from engine.study.course_checks import check
from engine.study.course_words import happened
from engine.study.lessons import Known, Lesson, Matches, cast_of, sampler, seating
from engine.study.sampler_pool import LocalSamplers
from engine.study.tournament import Tournament, paired
from tests.engine.sample_games import orchard
from tests.engine.test_train import control
from tests.engine.test_train_policies import curve

SMALL = {"policy": [16], "critic": [16]}
PPO = {"learner": {"kind": "ppo", "batch": 64, "minibatch": 32, "network": SMALL}}
DQN = {"learner": {"kind": "dqn", "warmup": 100, "capacity": 2000, "minibatch": 16, "network": SMALL}}
SAC = {"learner": {"kind": "sac", "warmup": 64, "capacity": 2000, "minibatch": 16, "network": SMALL}}
PONG = {"name": "pong-two-seats", "settings": {"points": 1, "max_ticks": 40}}
SELDOM = {"learner": {**SAC["learner"], "updates": 0.05}}
"""For tests of who meets whom, which need no good players."""
TANKS = {"name": "tanks-two-teams", "settings": {"max_ticks": 20}}


def course(roster: Any, lessons: list[dict[str, Any]], **more: Any) -> ArenaConfig:
    usual = {"game": PONG, "fragment": 16, "environments": 2, "pool": {"kind": "local"}, "checkpoint_every": 128}
    config = load({"kind": "arena", "roster": roster, "lessons": lessons, **usual, **more})
    assert isinstance(config, ArenaConfig)
    return config


def lesson(*matches: Any, steps: int = 256, **more: Any) -> dict[str, Any]:
    return {"matches": list(matches), "steps": steps, **more}


LEAGUE: dict[str, Any] = {1: PPO, 2: DQN, 3: "random", "old": {"kind": "pool", "of": [1]}}
TWO_LESSONS = [
    lesson([1, 2], [3, 2], steps=384, title="Both", after={"pool": [1]}),
    lesson(["old", 2], [1, 2], steps=256, frozen=[1]),
]


def policy(store: FolderStore, artifacts: Any, name: str) -> Policy:
    return Policy.unpack(store.get(artifacts[f"policy_description/{name}"]), store.get(artifacts[f"policy/{name}"]))


def rounds(found: list[AnyEvent]) -> list[Progressed]:
    return [e for e in found if isinstance(e, Progressed)]


def said(found: list[AnyEvent]) -> str:
    return " ".join(e.message for e in found if isinstance(e, Logged))


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> tuple[FolderStore, list[AnyEvent]]:
    """Two lessons, held without interruption."""
    store = FolderStore(tmp_path_factory.mktemp("league"))
    return store, list(run(course(LEAGUE, TWO_LESSONS), store))


def test_every_lesson_has_its_own_matches_and_leaves_its_policies(league: tuple[FolderStore, list[AnyEvent]]) -> None:
    store, found = league
    start, end = found[0], found[-1]
    assert isinstance(start, Started)
    assert isinstance(end, Finished), end
    told = rounds(found)
    assert [e.metrics["lesson"] for e in told].count(1.0) == 2
    assert {name.partition("/")[0] for e in told[:2] for name in e.artifacts} >= {"policy", "policy_description"}
    assert "1/staleness_mean" in told[0].metrics
    assert "1/staleness_mean" not in told[-1].metrics, "it only played in the second lesson"
    assert end.artifacts["policy/1"] == end.artifacts["policy/1@1"], "frozen, it stayed as it was"
    assert end.artifacts["policy/2"] == end.artifacts["policy/2@2"] != end.artifacts["policy/2@1"]
    assert end.counters.steps == 640
    assert "Lesson 1 of 2, “Both”: 384 decisions" in said(found)
    assert "Among the earlier selves from now on, to be played against: 1." in said(found)
    assert policy(store, end.artifacts, "2").spec.kind == "q"


def test_who_joins_the_pool_is_met_as_it_was_before_a_copy_took_its_place(store: FolderStore) -> None:
    """An exploiter that begins anew from the main agent leaves in the pool what it had learned against it."""
    after = {"pool": ["b"], "fork": {"b": "a"}}
    roster = {"a": PPO, "b": PPO, "c": "random", "old": {"kind": "pool", "of": ["b"]}}
    found = list(run(course(roster, [lesson(["a", "b"], ["a", "c"], after=after), lesson(["a", "old"])]), store))
    assert isinstance(found[-1], Finished)
    kept: dict[str, str] = {}
    for event in rounds(found):
        kept |= event.artifacts
    assert kept["opponent/b@1"] == kept["policy/b@1"] != kept["policy/a@1"]
    assert found[-1].artifacts["policy/b"] == kept["policy/a@1"], "it goes on as a copy"


NAMED: dict[str, tuple[Any, ...]] = {
    "the pool is empty": (lesson(["a", "old"], ["a", "c"], ["b", "a"], frozen=["b"]),),
    "frozen from the start": (lesson(["a", "b"], ["a", "c"], frozen=["b", "c"]), lesson(["a", "old"])),
    "into the pool frozen": (
        lesson(["a", "b"], ["a", "c"], frozen=["b"], after={"pool": ["b"]}), lesson(["a", "old"], ["b", "a"]),
    ),
    "into the pool as a copy": (
        lesson(["a", "b"], ["a", "c"], after={"pool": ["b"], "fork": {"b": "a"}}), lesson(["a", "old"]),
    ),
    "a copy of one that did not learn": (
        lesson(["a", "b"], ["a", "c"], frozen=["c"], after={"pool": ["b"], "fork": {"b": "c"}}), lesson(["a", "old"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NAMED)
def test_events_name_every_policy_that_a_lesson_needs_before_it_needs_it(
    store: FolderStore, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site removes what only the checkpoint names."""
    needed: list[set[str]] = []

    class Noted(Lesson):
        def __init__(self, config: ArenaConfig, number: int, known: Known) -> None:
            super().__init__(config, number, known)
            needed.append({*known.present.values()}.union(*known.past.values()))

    monkeypatch.setattr("engine.study.arena.Lesson", Noted)
    lessons = [*NAMED[case], *([lesson(["a", "old"])] if len(NAMED[case]) == 1 else [])]
    roster = {"a": PPO, "b": PPO, "c": PPO, "old": {"kind": "pool", "of": ["b"]}}
    named: set[str] = set()
    for event in run(course(roster, lessons), store):
        assert not rounds([event]) or named.issuperset(needed[-1])
        named |= {digest for role, digest in getattr(event, "artifacts", {}).items() if role != "checkpoint"}
    assert len(needed) == 2


@pytest.mark.parametrize("sampling", ["synchronous", "asynchronous"])
def test_a_lesson_lasts_as_long_as_its_plan_says(store: FolderStore, sampling: str) -> None:
    """250 decisions are seven fragments; two are a batch, so the last one would not fit."""
    config = course({1: PPO, 3: "random"}, [lesson([1, 3], steps=250, times=2)], sampling=sampling)
    end = list(run(config, store))[-1]
    assert isinstance(end, Finished), end
    assert end.counters.steps == 2 * 192
    assert config.steps == (384 if sampling == "synchronous" else 500)


def test_the_command_line_tells_the_plan_and_how_each_policy_does(
    league: tuple[FolderStore, list[AnyEvent]],
) -> None:
    study = course(LEAGUE, TWO_LESSONS).model_dump(mode="json")
    lines = [console.line(e, study) for e in league[1]]
    assert "2 lessons, 640 decisions (AI Arena would start 6 processes: 2 environments and 4 workers; here" in lines[0]
    assert any("; 1: " in line and "; 2: " in line for line in lines)


@pytest.mark.parametrize("place", [3, 5, 8])
def test_a_course_that_was_paused_anywhere_goes_on_with_the_same_policies(
    league: tuple[FolderStore, list[AnyEvent]], store: FolderStore, place: int
) -> None:
    config, whole = course(LEAGUE, TWO_LESSONS), curve(league[1])
    before = list(run(config, store, control=control("pause", place)))
    end = before[-1]
    assert isinstance(end, Paused)
    after = list(run(config, store, end.artifacts["checkpoint"]))
    assert curve(before) + curve(after) == whole
    assert 0 <= len(curve(before)) < len(whole)


def test_a_course_that_does_not_wait_and_is_paused_in_its_first_round_goes_on_with_what_it_learned(
    store: FolderStore,
) -> None:
    config = course({1: PPO}, [lesson([1, 1], steps=2000)], sampling="asynchronous", checkpoint_every=2000)
    *_, end = run(config, store, control=control("pause", 6))
    assert isinstance(end, Paused)
    assert (end.tick, end.counters.steps > 0) == (0, True)
    found = list(run(config, store, end.artifacts["checkpoint"]))
    assert found[0].counters.steps == end.counters.steps
    assert "Lesson 1 of 1" not in said(found), "it goes on"
    last = rounds(found)[-1]
    assert last.counters.steps == last.metrics["1/learned"] <= 2000


def test_while_a_pool_is_empty_its_seat_is_who_they_were_when_the_lesson_began_also_after_a_pause(
    store: FolderStore,
) -> None:
    config = course({1: PPO, "old": {"kind": "pool", "of": [1]}}, [lesson([1, "old"], steps=384)])
    whole = list(run(config, store))
    before: list[AnyEvent] = []
    for event in run(config, store, control=lambda: "pause" if rounds(before) else ""):
        before.append(event)
    assert isinstance(before[-1], Paused)
    after = list(run(config, store, before[-1].artifacts["checkpoint"]))
    assert curve(before) + curve(after) == curve(whole)


@pytest.mark.parametrize("after", [1, 2])
def test_a_checkpoint_that_does_not_say_who_played_when_its_lesson_began_goes_on(
    league: tuple[FolderStore, list[AnyEvent]], store: FolderStore, after: int
) -> None:
    config = course(LEAGUE, TWO_LESSONS)
    found: list[AnyEvent] = []
    for event in run(config, store, control=lambda: "pause" if len(rounds(found)) >= after else ""):
        found.append(event)
    tick, parts = checkpoint.read(config, found[-1].artifacts["checkpoint"], store)  # type: ignore[union-attr]
    assert bool(parts["round"].meta.pop("present")) == (after == 1), "the second lesson is not under way yet"
    rest = list(run(config, store, checkpoint.write(config, tick, parts, store)))
    assert curve(found) + curve(rest) == curve(league[1])


@pytest.mark.parametrize("command", ["pause", "stop"])
def test_a_course_that_goes_on_and_is_ended_at_once_says_nothing_of_decisions_since(
    store: FolderStore, command: str
) -> None:
    config = course({1: PPO, 2: DQN}, [lesson([1, 2], steps=2000)], checkpoint_every=400)
    found: list[AnyEvent] = []
    for event in run(config, store, control=lambda: "pause" if rounds(found) else ""):
        found.append(event)
    end = found[-1]
    assert isinstance(end, Paused)
    assert end.tick > 0
    again = list(run(config, store, end.artifacts["checkpoint"], control=lambda: command))  # type: ignore[arg-type,return-value]
    assert "decisions since" not in said(again)
    assert again[-1].tick == end.tick


def test_a_stopped_course_keeps_its_policies(store: FolderStore) -> None:
    found = list(run(course(LEAGUE, TWO_LESSONS), store, control=control("stop", 4)))
    end = found[-1]
    assert isinstance(end, Stopped)
    assert "Stopped in lesson 1 of 2, after 192 of its 384 decisions." in said(found)
    assert "has learned from all" not in said(found), "most of it is still ahead"
    assert {"policy/1", "policy/2", "onnx/1", "checkpoint"} <= end.artifacts.keys()


def test_a_lost_copy_in_a_later_lesson_changes_nothing(
    league: tuple[FolderStore, list[AnyEvent]], store: FolderStore, monkeypatch: Any
) -> None:
    class Losing(LocalSamplers):
        left = 2

        def lost(self) -> str:
            if self._begun is not None and self._begun[1] >= 2 and type(self).left:
                type(self).left -= 1
                return "killed"
            return ""

    monkeypatch.setattr("engine.study.lessons.LocalSamplers", Losing)
    found = list(run(course(LEAGUE, TWO_LESSONS), store))
    assert Losing.left == 0

    def kept(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        return [(*row[:3], {k: v for k, v in row[3].items() if k != "lost"}) for row in rows]

    assert kept(curve(found)) == kept(curve(league[1]))


def test_of_a_prioritised_pool_those_are_met_who_are_not_beaten(store: FolderStore) -> None:
    pool = {"kind": "pool", "of": [1], "choice": "hardest"}
    config = course({1: PPO, 2: DQN, "old": pool}, [lesson([1, "old"], [2, "old"])])
    faced = {"1": {"1@a": (20.0, 20.0, 20.0), "1@b": (20.0, 5.0, 20.0)}, "2": {"1@a": (20.0, 2.0, 20.0)}}
    known = Known({}, {"1": ("a", "b", "c")}, faced)
    told, seats = config.lessons[0], [seating(match, config) for match in config.lessons[0].matches]
    specs = VectorPong(seats=(0, 1)).spec.seats
    first, second = (cast_of(config, told, each, specs, known).seats[1] for each in seats)
    assert {c.policy: c.share for c in first} == {"1@b": 0.5, "1@c": 0.5}, "it always beats a; c is not known yet"
    assert len({c.share for c in second}) == 1, "of equals all"
    (new,) = cast_of(config, told, seats[0], specs, Known({}, {})).seats[1]
    assert (new.policy, new.of) == ("old", "1"), "while there are none, the policy itself"


def test_a_course_counts_who_beat_which_earlier_self_and_goes_on_with_that(store: FolderStore) -> None:
    config = course(LEAGUE, TWO_LESSONS)
    noted = Course(config)
    met = Episode(0, 0, 9, np.zeros(1), 1.0, 0.0, np.empty(0), "1", ("1@a",))
    noted.note("1", [met, met._replace(seed=1, win=0.0), met._replace(seed=2, others=("3",))], np.ones(1))
    assert noted.faced == {}, "as long as the lesson lasts, its opponents are as likely as at its beginning"
    noted.end(10, 1)
    noted.note("1", [met], np.ones(1))
    again = Course(config)
    again.load(noted.part())
    again.end(10, 2)
    assert again.faced == {"1": {"1@a": (2.0, 1.5, 3.0)}}, "half of what is older counts, but all of them were meetings"
    older = again.part()
    older.meta["faced"] = {"1": {"1@a": [2.0, 1.5]}}
    again.load(older)
    assert again.faced == {"1": {"1@a": (2.0, 1.5, 2.0)}}, "a checkpoint that did not tell how many goes on"


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_group_goes_on_with_the_same_weights_once_its_course_was_killed(store: FolderStore, rounds: int) -> None:
    """MASAC steers two entities beside SAC, which meets its earlier selves in the second lesson."""
    rare = {**SAC["learner"], "updates": 0.1}
    team, old = {"learner": {**rare, "kind": "masac"}}, {"kind": "pool", "of": ["solo"], "choice": "hardest"}
    roster = {"team": team, "solo": {"learner": rare}, "old": old}
    lessons = [
        lesson([["team", "team"], "solo"], steps=512, after={"pool": ["solo"]}),
        lesson([["team", "team"], "old"], [["team", "team"], "solo"], steps=512),
    ]  # fmt: skip
    game = {"name": "navigation", "settings": {"max_ticks": 8}}
    config = course(roster, lessons, game=game, checkpoint_every=192)
    whole = list(run(config, store))
    assert isinstance(whole[-1], Finished), whole[-1]
    told = next(e for e in run(config, store) if isinstance(e, Progressed) and e.tick >= rounds)
    end = list(run(config, store, told.artifacts["checkpoint"]))[-1]
    assert isinstance(end, Finished), end
    names = ("policy/team", "policy/solo", "policy/solo@1")
    assert {n: end.artifacts[n] for n in names} == {n: whole[-1].artifacts[n] for n in names}


def test_the_best_takes_the_place_of_the_others(store: FolderStore) -> None:
    best = {"best": {"among": ["a", "b"], "measure": "return", "of": 100}}
    found = list(run(course({"a": PPO, "b": PPO, 3: "random"}, [lesson(["a", 3], ["b", 3], after=best)]), store))
    end = found[-1]
    assert isinstance(end, Finished), end
    last = rounds(found)[-1].artifacts
    assert last["policy/a@1"] != last["policy/b@1"]
    assert end.artifacts["policy/a"] == end.artifacts["policy/b"]
    winner = "a" if "a was best, and b goes on from its network" in said(found) else "b"
    assert f"{winner} was best" in said(found)
    assert end.artifacts["policy/a"] == last[f"policy/{winner}@1"]


def test_of_equally_good_ones_each_goes_on_from_its_own_network(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all draw, nothing that one of them learned is better than what another did."""
    means = {"a": 0.5, "b": 0.5, "c": 0.1}
    monkeypatch.setattr(Recent, "mean", lambda self, policy, *_, **__: means[policy])
    matches, roster = ([name, "other"] for name in means), {name: PPO for name in means} | {"other": "random"}
    best = {"best": {"among": list(means), "measure": "return", "of": 100}}
    config = course(roster, [lesson(*matches, after=best)])
    found = list(run(config, store))
    end, last = found[-1], rounds(found)[-1].artifacts
    assert isinstance(end, Finished), end
    assert "a and b did equally well, and c goes on from a's network." in said(found)
    went_on = {name: end.artifacts[f"policy/{name}"] for name in means}
    assert went_on == {"a": last["policy/a@1"], "b": last["policy/b@1"], "c": last["policy/a@1"]}
    assert list(happened(["a", "b", "c"], ["a", "b", "c"], config.lessons[0])) == [
        "a, b and c did equally well, so each goes on from its own network."
    ]


def test_a_copy_s_schedule_goes_on_to_the_end_of_what_it_is_to_learn_from(store: FolderStore) -> None:
    """Its rate falls to 0 with the course, not with what the other one was to learn from."""
    falling = {"learner": {**PPO["learner"], "schedule": "linear"}}
    two = [lesson(["a", 3], steps=512, after={"fork": {"b": "a"}}), lesson(["b", 3], steps=256)]
    config = course({"a": falling, "b": falling, 3: "random"}, two, checkpoint_every=64)
    found = list(run(config, store))
    assert isinstance(found[-1], Finished), found[-1]
    assert found[-1].artifacts["policy/b"] != found[-1].artifacts["policy/a"], "it has learned"
    middle = next(e for e in rounds(found) if e.metrics["lesson"] == 2)
    made = _Arena(config, store, lambda: "")
    made._prepare(begun=True)
    made.restore(middle.artifacts["checkpoint"])
    copy = made.policies["b"].learner
    assert 0.1 < copy.left < 0.33, "512 decisions of the other one are behind it, and of its own 256 some are left"


def test_the_best_of_a_lesson_takes_the_place_of_those_alone_that_learned_in_it(store: FolderStore) -> None:
    best = {"best": {"among": ["a", "b", "c"], "measure": "return", "of": 100}}
    table = {
        "kind": "arena", "game": PONG, "fragment": 16, "environments": 2, "pool": {"kind": "local"},
        "checkpoint_every": 128, "roster": {"a": PPO, "b": PPO, "c": PPO},
        "lessons": [lesson(["a", "b"], frozen=["b"], after=best), lesson(["c", "a"])],
    }  # fmt: skip
    with pytest.raises(ConfigError) as refused:
        load(table, new=True)
    assert [p.place for p in refused.value.problems] == [f"lessons.0.after.best.among.{i}" for i in (1, 2)]
    assert all("does not learn in this lesson" in p.message for p in refused.value.problems)
    found = list(run(load(table), store))
    first = next(e for e in rounds(found) if e.metrics["lesson_over"]).artifacts["checkpoint"]
    made = _Arena(load(table), store, lambda: "")  # type: ignore[arg-type]
    made._prepare(begun=True)
    begun = {name: policy.learner.weights() for name, policy in made.policies.items()}
    made.restore(first)
    for name in ("b", "c"):
        np.testing.assert_array_equal(made.policies[name].learner.weights(), begun[name])
    assert "only a learned in this lesson: each goes on from its own network." in said(found)


def test_of_several_groups_the_one_that_cannot_be_is_named(store: FolderStore) -> None:
    """The first two entities choose one of several ways, the others steer."""
    match = {"who": [["a", "a"], ["b", "b"], "c"], "entities": [2, 3, 0, 1, 4]}
    game = {"name": "python:engine.bench.orchard:Orchard"}
    with pytest.raises(ConfigError) as refused:
        check(course({"a": SAC, "b": SAC, "c": SAC}, [lesson(match, steps=20_000)], game=game), store)
    assert [p.place for p in refused.value.problems] == ["lessons.0.matches.0.who.1"]


def test_team_mates_are_nobody_that_was_played_against() -> None:
    who = ["a", "a@1", "b", "c"]
    assert opposing(who, 0, [0, 0, 1, 1]) == ("b", "c")
    assert opposing(who, 2, [0, 0, 1, 1]) == ("a", "a@1")
    assert opposing(who, 0, [0, 0, 0, 0]) == ()
    assert opposing(who, 1, [0, 1, 2, 3]) == ("a", "b", "c")
    game = references.make(parse(TrainGame, TANKS), 1)
    assert sides_of(game.spec) == [0] * 5 + [1] * 5
    game.close()


def test_a_copy_of_somebody_who_does_not_enter_the_tournament_enters_it() -> None:
    weights = {"a": b"same", "b": b"same", "c": b"same"}
    policies: Any = {name: SimpleNamespace(learner=SimpleNamespace(policy=lambda name=name: SimpleNamespace(
        pack=lambda: (b"", weights[name])))) for name in weights}  # fmt: skip
    config: Any = SimpleNamespace(roster=dict.fromkeys(weights), left_out=frozenset({"a"}))
    assert twins(config, policies) == {"c": "b"}


def test_a_copy_begins_where_the_other_is(store: FolderStore) -> None:
    two = [
        lesson(["a", 3], after={"fork": {"b": "a"}}), lesson(["b", "a"], frozen=["b"]),
    ]  # fmt: skip
    end = list(run(course({"a": PPO, "b": PPO, 3: "random"}, two), store))[-1]
    assert isinstance(end, Finished), end
    assert end.artifacts["policy/b"] == end.artifacts["policy/a@1"] != end.artifacts["policy/a"]


def test_a_lesson_ends_early_once_its_condition_holds(store: FolderStore) -> None:
    until = {"policy": 1, "measure": "score", "reaches": -1000, "of": 4}
    found = list(run(course({1: PPO, 3: "random"}, [lesson([1, 3], steps=100_000, until=until)]), store))
    assert "Lesson 1 of 1 ended by its condition, after " in said(found)
    assert " decisions: 1 had a score of " in said(found)
    assert isinstance(found[-1], Finished)
    assert found[-1].counters.steps < 2000


def test_a_condition_that_never_holds_ends_with_the_limit(store: FolderStore) -> None:
    until = {"policy": 1, "measure": "win", "reaches": 1, "of": 100_000}
    found = list(run(course({1: PPO, 3: "random"}, [lesson([1, 3], until=until)]), store))
    few = "fewer than 100,000 battles of 1 had ended."
    assert f"Lesson 1 of 1 ended at its limit, after 256 decisions: {few}" in said(found)
    assert isinstance(found[-1], Finished)
    assert found[-1].counters.steps == 256


@pytest.mark.parametrize("share", [2, 70, -0.1])
def test_a_share_of_wins_that_nobody_can_have_is_refused_where_it_is_typed(share: float) -> None:
    table = {"policy": "a", "reaches": share}
    with pytest.raises(ConfigError, match=r"reaches: nobody wins .* % of episodes: give a share from 0 to 1"):
        parse(UntilConfig, table, new=True)
    assert parse(UntilConfig, table).reaches == share, "what was saved earlier is read as it is"
    assert parse(UntilConfig, table | {"measure": "score"}, new=True).reaches == share


@pytest.mark.parametrize("sampling", ["synchronous", "asynchronous"])
def test_a3c_with_a_memory_learns_beside_ppo_however_it_is_sampled(store: FolderStore, sampling: str) -> None:
    """Asynchronous A3C sends gradients, which the sampler makes of all matches of a copy."""
    a3c = {"learner": {"kind": "a3c", "batch": 64, "network": {**SMALL, "lstm": 8}}}
    config = course({1: PPO, 2: a3c, 3: "random"}, [lesson([1, 2], [2, 3], steps=384)], sampling=sampling)
    end = list(run(config, store))[-1]
    assert isinstance(end, Finished), end
    assert all(policy(store, end.artifacts, name).version > 0 for name in ("1", "2"))


def made(config: ArenaConfig, store: FolderStore, number: int = 0) -> Matches:
    whole = sampler(Lesson(config, number, Known({}, {})), store, 0)
    assert isinstance(whole, Matches)
    return whole


def test_settings_reach_their_own_match_in_every_copy(store: FolderStore) -> None:
    """The reference code gives the second match's settings to the first one's copy."""
    matches = [
        {"who": [1] * 5 + [2] * 5, "settings": {"penalty": penalty}} for penalty in (0.0, 0.3)
    ]  # fmt: skip
    config = course(
        {1: PPO, 2: "tanks-static"}, [lesson(*matches, settings={"obstacles": 3})], game=TANKS, copies=2
    )  # fmt: skip
    for copy in range(config.copies):
        whole = sampler(Lesson(config, 0, Known({}, {})), store, copy)
        assert isinstance(whole, Matches)
        games: list[Any] = [match.mdp for match in whole._matches]
        assert [game._bad for game in games] == [0.0, 0.3]
        assert {game._obstacles for game in games} == {3}
        whole.close()


def test_entries_steer_the_entities_that_their_match_says(store: FolderStore) -> None:
    match = {"who": [[1, 1], 2, 1, 1, 1, 2, 2, 2, 2], "entities": [3, 0, 9, 1, 2, 4, 5, 6, 7, 8]}
    config = course({1: SAC, 2: "tanks-static"}, [lesson(match)], game=TANKS)
    with pytest.raises(ConfigError) as refused:
        check(config, store)
    why = "'1' steers single entities here, and a group of 2 where it was named first: take another policy for one"
    assert [(problem.place, problem.message) for problem in refused.value.problems] == [
        ("lessons.0.matches.0.who.2", f"{why} of the two")
    ], "told once, at the first entry"
    alone = {"who": [1, 2, 2, 2, 2, 2, 2, 2, 2, 2], "entities": [7, 0, 1, 2, 3, 4, 5, 6, 8, 9]}
    whole = made(course({1: SAC, 2: "tanks-static"}, [lesson(alone)], game=TANKS), store)
    (one,) = whole._matches
    assert one._seats.cast.places("1") == (7,)  # type: ignore[union-attr]


def test_a_wrong_setting_is_said_where_it_was_written() -> None:
    both = [1] * 5 + [2] * 5
    written = (
        ("game.settings.penalty", {"game": {"name": "tanks-two-teams", "settings": {"penalty": 101}}}, {}, {}),
        ("lessons.0.settings.penalty", {"game": TANKS}, {"penalty": 101}, {}),
        ("lessons.0.matches.0.settings.penalty", {"game": TANKS}, {"penalty": 0.1}, {"penalty": 101}),
    )
    for place, more, of_lesson, of_match in written:
        held = lesson({"who": both, "settings": of_match}, settings=of_lesson)
        with pytest.raises(ConfigError) as refused:
            course({1: PPO, 2: "tanks-static"}, [held], **more)
        assert [problem.place for problem in refused.value.problems] == [place]


def test_the_course_that_the_guide_shows_fits_its_game(store: FolderStore) -> None:
    guide = (Path(__file__).parents[2] / "engine" / "README.md").read_text(encoding="utf-8")
    (shown,) = (text for text in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL) if text.startswith("kind: arena\n"))
    config = load(yaml.safe_load(shown))
    assert isinstance(config, ArenaConfig)
    assert set(check(config, store).seats) == {"1", "squad"}


@pytest.mark.parametrize("kind", ["sac", "masac", "maddpg"])
def test_a_group_is_steered_as_one(store: FolderStore, kind: str) -> None:
    game = {"name": "navigation", "settings": {"max_ticks": 8}}
    one_large = {"learner": {**SAC["learner"], "kind": kind}}
    config = course({1: one_large}, [lesson([[1, 1, 1]], steps=128)], game=game)
    whole = made(config, store)
    (one,) = whole._matches
    assert isinstance(one.mdp, Grouped)
    (seat,) = one.mdp.spec.seats
    assert len(members_of(seat)) == 3
    whole.close()
    end = list(run(config, store))[-1]
    assert isinstance(end, Finished), end
    assert np.isfinite(end.summary["1/return"])


def test_scripts_know_which_entity_they_play(store: FolderStore) -> None:
    """The fixed assignment in navigation: each goes to the target of its own number."""
    game = {"name": "navigation", "settings": {"max_ticks": 60}}
    numbered, still = (
        list(
            run(
                course(
                    {1: PPO, 2: script},
                    [lesson([1, 2, 2], steps=1024)],
                    game=game,
                    checkpoint_every=1024,
                    environments=4,
                ),
                store,
            )
        )[-1]
        for script in ("navigation-numbered", "navigation-still")
    )
    assert isinstance(numbered, Finished), numbered
    assert numbered.summary["1/score"] > still.summary["1/score"] + 0.2, "two of three targets are covered"


def test_learners_of_every_kind_learn_in_one_battle(store: FolderStore, monkeypatch: Any) -> None:
    """Seats that choose, steer, do both, and choose with numbers of their own: one game, four learners."""
    monkeypatch.setattr("engine.simulators.references.load_game", lambda *args, **more: VectorFromMDP(orchard()))
    recurrent = {"learner": {**PPO["learner"], "network": {**SMALL, "lstm": 8}}}
    impala = {"learner": {"kind": "impala", "batch": 64, "network": SMALL}}
    roster = {"h": recurrent, "p": impala, "d": DQN, "c": SAC}
    config = course(roster, [lesson(["h", "p", "d", "c"], steps=1024)], game="python:none:none", environments=4)
    end = list(run(config, store))[-1]
    assert isinstance(end, Finished), end
    for name in roster:
        assert policy(store, end.artifacts, name).version > 0
        assert f"{name}/return" in end.summary


def test_two_commanders_learn_from_one_another_and_meet_in_a_tournament(store: FolderStore) -> None:
    tournament = {"kind": "round-robin", "episodes": 2}
    config = course({"red": PPO, "blue": PPO}, [lesson(["red", "blue"], steps=512)], game="commanders-two-seats",
                    tournament=tournament)  # fmt: skip
    first = {name: beginner(config, name, seat).policy() for name, seat in check(config, store).seats.items()}
    end = list(run(config, store))[-1]
    assert isinstance(end, Finished), end
    for name, was in first.items():
        last = policy(store, end.artifacts, name)
        assert last.version > 0
        assert (last.weights != was.weights).any()
    assert unpack(store.get(end.artifacts["table"])).meta["missing"] == 0


@pytest.mark.parametrize(
    ("roster", "matches", "game", "place", "why"),
    [
        ({1: SAC, 3: "random"}, [[3] * 4 + [[1, 1]] + [3] * 4], TANKS, "who.4", "opponents are not steered as one"),
        ({1: PPO, 3: "random"}, [[1] * 5 + [3] * 6], TANKS, "who.10", "names 11 entities, and tanks"),
        ({1: PPO}, [[1] * 9], TANKS, "who", "names 9 entities, and tanks"),
        ({1: SAC, 3: "random"}, [[3, 1]], PONG, "who.1", "'1' learns by SAC, whose actions are numbers; here they are"),
        ({1: DQN, 3: "random"}, [[1] * 5 + [3] * 5], TANKS, "who.0", "by DQN, whose actions are a single choice"),
        (
            {1: {"learner": {**SAC["learner"], "kind": "masac"}}, 3: "random"}, [[[1] * 5, *[3] * 5]],
            {**TANKS, "name": "image-tanks-two-teams"}, "who.0", "by MASAC, which looks at numbers; here are pictures",
        ),
        ({1: PPO}, [[[1, 1]]], {"name": "connect-four"}, "who.0", "take turns"),
        ({1: PPO}, [[[1, 1]]], PONG, "who.0", "a group steers with numbers"),
        ({1: PPO, 2: "tanks-static"}, [[1, 2]], PONG, "who.1", "player: "),
        ({1: PPO, 2: "nobody"}, [[1, 2]], PONG, "who.1", "there is no script 'nobody'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_its_game_is_said_at_its_entry(
    store: FolderStore, roster: Any, matches: Any, game: Any, place: str, why: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        check(course(roster, [lesson(*matches)], game=game), store)
    found = dict(caught.value.problems)
    assert why in found[f"lessons.0.matches.0.{place}"], found
    (failed,) = run(course(roster, [lesson(*matches)], game=game), store)
    assert isinstance(failed, Failed)


def test_a_policy_goes_on_only_from_one_of_its_kind(store: FolderStore) -> None:
    config = course({1: PPO, 2: DQN}, [lesson([1, 2], after={"fork": {"2": 1}})])
    with pytest.raises(ConfigError, match="'2' cannot go on from '1': their learners have other settings"):
        check(config, store)


class Idle:
    """A player of one's own; how often any has ``acted``."""

    acted = 0

    def __init__(self, seat: Any) -> None:
        self.memory: dict[str, tuple[int, ...]] = {}
        self._action = seat.action

    def __call__(self, batch: Any) -> Any:
        from engine.mdp.trajectory import Decision

        Idle.acted += len(batch.keys)
        return Decision(self._action.idle(len(batch.keys)))


def test_a_player_of_one_s_own_plays(store: FolderStore) -> None:
    own, before = {"kind": "own", "factory": "tests.engine.test_arena:Idle"}, Idle.acted
    end = list(run(course({1: PPO, 2: own}, [lesson([1, 2])]), store))[-1]
    assert isinstance(end, Finished), end
    assert Idle.acted - before >= end.counters.steps, "it decides as often as who learns"


def no_player(seat: Any) -> None:
    """A factory that makes nothing."""


def forgetful(seat: Any) -> Any:
    """A factory of what can be called, but is no player."""
    return lambda batch: None


class Undecided(Idle):
    """A player that gives nothing back."""

    def __call__(self, batch: Any) -> Any:
        return None


class Confused(Idle):
    """A player that breaks off."""

    def __call__(self, batch: Any) -> Any:
        raise ValueError("left or right?")


class Stray(Idle):
    """A player whose actions are not those of its game."""

    def __call__(self, batch: Any) -> Any:
        return super().__call__(batch)._replace(actions=np.full(len(batch.keys), 99, np.int64))


@pytest.mark.parametrize(("factory", "why"), [
    ("Nobody", "it did not make a player: AttributeError"),
    ("no_player", "it made None that cannot be called with a batch, which is no player"),
    ("forgetful", "it made an object of type function without a table “memory”"),
    ("Undecided", "gave back None; it must be a Decision"),
    ("Confused", r"test_arena:Confused could not decide: ValueError: left or right\?"),
    ("Stray", "the player of tests.engine.test_arena:Stray gave back actions that have choice 99 in row 0"),
])  # fmt: skip
def test_a_factory_of_one_s_own_that_makes_no_player_is_an_error_at_its_entry_before_the_start(
    store: FolderStore, factory: str, why: str
) -> None:
    own = {"kind": "own", "factory": f"tests.engine.test_arena:{factory}"}
    config = course({1: PPO, 2: own}, [lesson([1, 2])])
    with pytest.raises(ConfigError, match=why) as caught:
        check(config, store)
    assert [place for place, _ in caught.value.problems] == ["roster.2.factory"]
    (failed,) = run(config, store)
    assert isinstance(failed, Failed)


def test_a_player_of_one_s_own_that_breaks_off_later_says_so(store: FolderStore) -> None:
    late = {"kind": "own", "factory": "tests.engine.test_arena:Tired"}
    end = list(run(course({1: PPO, 2: late}, [lesson([1, 2])]), store))[-1]
    assert isinstance(end, Failed)
    assert "test_arena:Tired could not decide: ValueError: too tired" in end.message


class Tired(Idle):
    """A player that breaks off after a while."""

    left = 5

    def __call__(self, batch: Any) -> Any:
        self.left -= 1
        if not self.left:
            raise ValueError("too tired")
        return super().__call__(batch)


def test_a_saved_policy_that_does_not_fit_its_seat_is_an_error_at_its_entry(
    league: tuple[FolderStore, list[AnyEvent]],
) -> None:
    store, found = league
    saved = {"kind": "frozen", "policy": found[-1].artifacts["policy_description/1"]}  # type: ignore[attr-defined]
    check(course({1: PPO, 2: saved}, [lesson([1, 2])]), store)
    with pytest.raises(ConfigError) as caught:
        check(course({1: SAC, 2: saved}, [lesson([1] * 5 + [2] * 5)], game=TANKS), store)
    ((place, why),) = caught.value.problems
    assert place == "lessons.0.matches.0.who.5"
    assert why.startswith("roster.2.policy: this policy sees or does something else")


def test_a_checkpoint_of_another_course_is_refused(store: FolderStore) -> None:
    config = course({1: PPO, 3: "random"}, [lesson([1, 3], steps=128)])
    end = list(run(config, store))[-1]
    assert isinstance(end, Finished)
    assert {"course", "round", "learner/1"} <= checkpoint.read(config, end.artifacts["checkpoint"], store).parts.keys()
    other = course({1: PPO, 3: "random"}, [lesson([1, 3], steps=256)])
    (failed,) = run(other, store, end.artifacts["checkpoint"])
    assert isinstance(failed, Failed)


def test_policies_meet_in_a_tournament_and_the_table_says_who_beats_whom(store: FolderStore) -> None:
    told = {"kind": "round-robin", "episodes": 8, "rungs": True}
    two = [lesson(["a", "b"], ["b", 3], after={"pool": ["a"]}), lesson(["a", "b"], frozen=["b"])]
    config = course({"a": PPO, "b": PPO, 3: "random"}, two, tournament=told)
    found = list(run(config, store))
    end = found[-1]
    assert isinstance(end, Finished), end
    table = unpack(store.get(end.artifacts["table"]))
    names = [team["name"] for team in table.meta["teams"]]
    assert names == ["a", "b", "3", "a@1"], "b did not change after the first lesson"
    assert table.meta["missing"] == 0
    shares = table.arrays["share"]
    np.testing.assert_allclose((shares + shares.T)[~np.eye(4, dtype=bool)], 1.0)
    assert table.arrays["meetings"].sum() == 4 * 12
    assert table.arrays["picked"].sum() == pytest.approx(1)
    pairs = [e for e in found if isinstance(e, Progressed) and "share" in e.metrics]
    assert len(pairs) == 6
    paused = list(run(config, store, pairs[2].artifacts["checkpoint"]))[-1]
    assert isinstance(paused, Finished)
    assert paused.artifacts["table"] == end.artifacts["table"], "from its third pair on it ends the same"
    head, *places = console.found(config, end.artifacts, store)[:5]
    assert head.startswith("Tournament, the strongest first, with ranges of 95 %: wins of the battles against")
    assert len(places) == 4
    called = r"(a|b|3|a after lesson 1)"
    score = r"\d+ % \(\d+ to \d+ %\)"
    assert all(re.match(rf"[1-4]\. {called}: {score}; .*Elo points", place) for place in places), places
    won = [e.message for e in found if isinstance(e, Logged) and e.message.startswith("Tournament: ")]
    assert len(won) == 6
    assert all(re.fullmatch(rf"Tournament: {called} won {score} against {called}\.", each) for each in won), won
    assert console.found(config, {}, store) == [], "a course without a tournament says nothing"


def test_what_policies_learn_from_is_stored_once_for_all_pairs_of_a_tournament(store: FolderStore) -> None:
    """Each pair wrote all replays anew: with many players a tournament took hours and filled disks."""
    roster = {"a": DQN, "b": PPO, "c": "random"}
    config = course(roster, [lesson(["a", "b"], ["a", "c"])], tournament={"episodes": 2, "rungs": True})
    found = list(run(config, store))
    end = found[-1]
    assert isinstance(end, Finished), end
    pairs = [e for e in found if isinstance(e, Progressed) and "share" in e.metrics]
    assert len(pairs) == 3
    assert len({event.artifacts["learners"] for event in (*pairs, end)}) == 1
    assert {"learner/a", "learner/b"} <= set(checkpoint.read(config, end.artifacts["learners"], store).parts)
    for event in pairs:
        parts = checkpoint.read(config, event.artifacts["checkpoint"], store).parts
        assert set(parts) == {"round", "course", "tournament"}
    further = list(run(config, store, pairs[0].artifacts["checkpoint"]))[-1]
    assert isinstance(further, Finished), further
    assert {**further.artifacts, "checkpoint": ""} == {**end.artifacts, "checkpoint": ""}, "which holds seconds played"


def test_one_network_enters_a_tournament_once_and_its_copy_is_named(store: FolderStore) -> None:
    """Under two names it would be ranked twice, and meet itself."""
    one = [lesson(["a", "b"], ["b", 3], after={"fork": {"b": "a"}})]
    config = course({"a": PPO, "b": PPO, 3: "random"}, one, tournament={"episodes": 8, "rungs": True})
    found = list(run(config, store))
    end = found[-1]
    assert isinstance(end, Finished), end
    names = [team["name"] for team in unpack(store.get(end.artifacts["table"])).meta["teams"]]
    assert names == ["a", "3", "b@1"], "b was another one until it became a copy"
    assert "b has the same network as a, which alone enters." in said(found)


def test_who_only_wins_or_only_loses_has_no_elo_points_and_leaves_all_others_theirs() -> None:
    whole = Tournament(TournamentConfig(episodes=40), 1, ["a", "b", "best", "worst"])
    even, won = np.tile([0.0, 0.5, 1.0, 0.5], 5), np.ones(20)
    by_pair = {(0, 1): even, (0, 2): 1 - won, (0, 3): won, (1, 2): 1 - won, (1, 3): won, (2, 3): won}
    whole.results = [((a, b), shares) for (a, b), shares in by_pair.items()]
    told = whole.table()[1]
    assert np.isnan(told["rating"]).tolist() == [False, False, True, True]
    assert (told["rating_low"] < told["rating"])[:2].all()
    assert (told["rating"] < told["rating_high"])[:2].all()
    assert np.isfinite([told[f"rating{end}"][:2] for end in ("_low", "_high")]).all()
    assert told["standing"].argmax() == 2
    whole.results = [(pair, np.round(shares)) for pair, shares in whole.results if pair != (0, 1)]
    assert np.isnan(whole.table()[1]["rating"]).all(), "nobody took a share and gave one back"


def test_where_not_all_met_each_player_has_a_range_of_its_own_battles() -> None:
    whole = Tournament(TournamentConfig(kind="swiss", episodes=100), 1, ["a", "b", "c", "d", "e"])
    whole.results = [((0, 1), np.tile([0.5, 1.0], 25)), ((2, 3), np.tile([0.0, 1.0], 25)), ((0, 2), np.ones(50))]
    columns = whole.table()[1]
    assert columns["own"].tolist() == pytest.approx([0.875, 0.25, 0.25, 0.5, np.nan], nan_ok=True)
    assert (columns["own_low"] < columns["own"])[:4].all()
    assert (columns["own"] < columns["own_high"])[:4].all()
    assert np.isnan(columns["own_low"][4]), "it met nobody"


def test_a_tournament_that_is_stopped_tells_of_all_pairs_that_met(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where tables take so long that only the first one was written while pairs met."""
    monkeypatch.setattr("engine.study.tournament.MEETING", 1e9)
    three = {"a": PPO, "b": "random", "c": "pong-follower"}
    config = course(three, [lesson(["a", "b"], ["a", "c"])], tournament={"episodes": 2})
    seen: list[AnyEvent] = []

    def stop() -> Any:
        met = sum(isinstance(event, Progressed) and "pairs" in event.metrics for event in seen)
        return "stop" if met == 2 else ""

    for event in run(config, store, control=stop):
        seen.append(event)
    tables = [event.artifacts["table"] for event in seen if isinstance(event, Progressed) and "pairs" in event.metrics]
    assert len(tables) == 2
    assert len({*tables}) == 1, "the second pair did not bring a table"
    end = seen[-1]
    assert isinstance(end, Stopped)
    assert end.artifacts["table"] != tables[0]
    meta, columns = unpack(store.get(end.artifacts["table"]))
    assert (columns["meetings"].sum(), meta["missing"]) == (4, 1), "a pair stands in both of its rows"


def test_while_a_pool_is_empty_its_seat_teaches_nobody(store: FolderStore) -> None:
    """It doubled the batches of the policy that sat opposite, which its plan and its schedules did not know."""
    roster = {"p": PPO, "q": PPO, "old": {"kind": "pool", "of": ["p"]}, "luck": "random"}
    config = course(roster, [lesson(["p", "old"], ["q", "luck"], steps=1024)])
    end = list(run(config, store))[-1]
    told = [e for e in run(config, store) if isinstance(e, Progressed)][-1]
    assert isinstance(end, Finished)
    assert end.counters.steps == config.steps
    assert told.metrics["p/learned"] == told.metrics["q/learned"] == config.steps / 2


def test_nobody_wins_where_all_are_on_one_side(store: FolderStore) -> None:
    game = {"name": "navigation", "settings": {"max_ticks": 8}}
    until = {"policy": "a", "reaches": 0.5}
    after = {"best": {"among": ["a", "b"], "measure": "win"}}
    config = course({"a": PPO, "b": PPO}, [lesson(["a", "a", "b"], until=until, after=after)], game=game)
    with pytest.raises(ConfigError) as refused:
        check(config, store)
    places = [problem.place for problem in refused.value.problems]
    assert places == ["lessons.0.until.measure", "lessons.0.after.best.measure"]


def test_a_team_that_the_game_plays_against_can_win(store: FolderStore) -> None:
    game = {"name": "tanks", "settings": {"max_ticks": 20}}
    until = {"policy": "a", "reaches": 0.5}
    assert check(course({"a": PPO}, [lesson(["a"] * 5, until=until)], game=game), store).longest == 20


def test_when_time_is_up_a_course_says_in_which_lesson(store: FolderStore) -> None:
    each = lesson(["a", "b"], times=1000, steps=128)
    told = list(run(course({"a": PPO, "b": "random"}, [each], minutes=0.02), store))
    assert isinstance(told[-1], Finished)
    (said,) = (e.message for e in told if isinstance(e, Logged) and e.message.startswith("Time is up"))
    under_way = re.fullmatch(r"Time is up in lesson (\d+) of 1000\.", said)
    assert under_way is not None
    assert 1 <= int(under_way[1]) < 1000


def test_a_lesson_that_the_clock_cuts_off_is_not_told_as_over_nor_by_what_it_ended(store: FolderStore) -> None:
    until = {"policy": "a", "measure": "score", "reaches": 1000, "of": 100}
    cut = course({"a": PPO, "b": "random"}, [lesson(["a", "b"], steps=10_000, until=until)], minutes=1e-7)
    last = [event.metrics for event in run(cut, store) if isinstance(event, Progressed)][-1]
    assert last["lesson_over"] == 0
    assert "lesson_reached" not in last
    whole = course({"a": PPO, "b": "random"}, [lesson(["a", "b"], steps=128, until=until)])
    last = [event.metrics for event in run(whole, store) if isinstance(event, Progressed)][-1]
    assert (last["lesson_over"], last["lesson_reached"]) == (1, 0)


def test_without_waiting_a_lesson_lasts_until_no_policy_s_update_fits_in(store: FolderStore) -> None:
    """It ended with the first update of any policy where one of each would have been more than was asked for."""
    roster = {name: PPO for name in ("a", "b", "c")}
    matches = [["a", "b"], ["b", "c"], ["c", "a"]]
    config = course(roster, [lesson(*matches, steps=1000)], sampling="asynchronous", environments=1)
    end = list(run(config, store))[-1]
    assert isinstance(end, Finished)
    assert 700 < end.counters.steps <= 1000


def test_two_that_become_copies_of_one_another_change_places(store: FolderStore) -> None:
    config = course({"a": PPO, "b": PPO}, [lesson(["a", "b"], after={"fork": {"a": "b", "b": "a"}})])
    told = [event for event in run(config, store) if isinstance(event, Progressed | Finished)]
    rungs = {
        name: next(e.artifacts[name] for e in told if name in e.artifacts) for name in ("policy/a@1", "policy/b@1")
    }
    end = told[-1].artifacts
    assert (end["policy/a"], end["policy/b"]) == (rungs["policy/b@1"], rungs["policy/a@1"])
    assert end["policy/a"] != end["policy/b"]


def test_where_nobody_ended_an_episode_nobody_is_best_and_all_keep_what_they_learned(store: FolderStore) -> None:
    after = {"best": {"among": ["a", "b"]}}
    config = course({"a": PPO, "b": PPO}, [lesson(["a", "b"], after=after)], game={"name": "pong-two-seats"})
    told = list(run(config, store))
    assert any("None of a and b ended an episode, so nobody goes on" in getattr(e, "message", "") for e in told)
    assert told[-1].artifacts["policy/a"] != told[-1].artifacts["policy/b"]  # type: ignore[union-attr]


def episode(win: float, seed: int, seat: int = 0) -> Episode:
    return Episode(seat, seed, 9, np.array([win]), win, win, np.zeros(0))


def test_the_last_battles_of_a_lesson_are_of_all_its_matches_and_those_of_a_squad_count_once() -> None:
    class Match:
        actors: dict[str, Any] = {}

        def __init__(self, won: list[float], first: int) -> None:
            self.won, self.first = won, first

        def finished(self) -> list[Episode]:
            return [episode(win, self.first + i) for i, win in enumerate(self.won)]

    easy, hard = Match([1.0] * 200, 0), Match([0.0] * 50, 1000)
    for order in ((easy, hard), (hard, easy)):
        recent = Recent(100)
        recent.add("a", Matches(order).finished(), np.ones(1))  # type: ignore[arg-type]
        assert recent.mean("a", "win", 100, whole=True) == pytest.approx(0.8, abs=0.02)
    squads = Recent(100)
    squads.add("a", [episode(float(battle == 0), battle, seat) for seat in range(5) for battle in range(4)], np.ones(1))
    assert len(squads.rows["a"]) == 4
    assert squads.mean("a", "win", 4, whole=True) == 0.25


def test_a_round_tells_ranges_of_what_was_played_by_battles_and_not_by_seats() -> None:
    """Two seats of one battle end alike, and two policies of a battle share one win: neither adds to what is known."""

    def ranges(episodes: list[Episode]) -> dict[str, float]:
        played = PupilCurve(("score",), [1.0], ())
        played.episodes = episodes
        return played.played()

    wins = [float(i % 3 > 0) for i in range(60)]
    alone = ranges([episode(win, i) for i, win in enumerate(wins)])
    squad = ranges([episode(win, i, seat) for i, win in enumerate(wins) for seat in (0, 1)])
    assert 0 < alone["win_low"] < alone["win"] < alone["win_high"] < 1
    assert [squad[f"win{end}"] for end in ("", "_low", "_high")] == [
        alone[f"win{end}"] for end in ("", "_low", "_high")
    ]
    both = ranges([episode(abs(win - seat), i, seat) for i, win in enumerate(wins) for seat in (0, 1)])
    assert both["win"] == 0.5
    spread = ranges([episode(i / 60, i) for i in range(60)])
    assert spread["return_low"] < spread["return"] < spread["return_high"]
    assert "return_low" not in alone, "of few numbers without bounds nothing is known"
    one = ranges([episode(1.0, 0)])
    assert (one["win_low"], one["win_high"]) == (pytest.approx(0.0, abs=0.1), 1.0)
    assert "return_low" not in one
    assert ranges([]) == {}


def test_a_squad_of_earlier_selves_is_one_of_them_and_each_is_met_equally_often(store: FolderStore) -> None:
    """By seats, hardly any battle of five against five had one opponent; by policies, the one with few selves was met
    as often as all of another one's together."""
    roster = {"a": PPO, "b": PPO, "old": {"kind": "pool", "of": ["a", "b"]}}
    config = course(roster, [lesson(["a"] * 5 + ["old"] * 5, ["b"] * 5 + ["old"] * 5)], game=TANKS)
    match = config.lessons[0].matches[0]
    seats = seating(match, config)
    with contextlib.closing(references.make(config.game, 1)) as game:
        specs = game.spec.seats
    names = {"a": tuple(f"{i}" * 64 for i in range(5)), "b": ("9" * 64,)}
    cast = cast_of(config, config.lessons[0], seats, specs, Known({}, names))
    drawn = [cast(battle, 0, {}) for battle in range(3000)]
    assert all(len(set(who[5:])) == 1 for who in drawn)
    shares = Counter(who[5] for who in drawn)
    assert len(shares) == 6
    assert all(abs(count - 500) < 100 for count in shares.values()), shares
    present = {"a": "7" * 64, "b": "8" * 64, "old": ""}
    begun = cast_of(config, config.lessons[0], seats, specs, Known(present, {"a": (), "b": ()}))
    assert {c.policy for c in begun.seats[5]} == {f"a@{'7' * 64}", f"b@{'8' * 64}"}
    assert begun.places("a") == (0, 1, 2, 3, 4), "as they are at its beginning, and nobody learns there"
    none = cast_of(config, config.lessons[0], seats, specs, Known({}, {"a": (), "b": ()}))
    assert all(len(set(none(battle, 0, {})[5:])) == 1 for battle in range(50)), "also as they are"


def test_a_lesson_whose_entities_die_learns_from_no_more_than_its_plan(store: FolderStore) -> None:
    """Who is dead decides nothing, so updates have fewer decisions than planned, and one more might seem to fit in."""
    tanks = {"name": "tanks-two-teams", "settings": {"max_ticks": 84}}
    learner = {"learner": {"kind": "ppo", "batch": 320, "network": SMALL}}
    match = ["a"] * 5 + ["b"] * 5
    config = course({"a": learner, "b": "random"}, [lesson(match, steps=12 * 320 - 1)], game=tanks)
    (end,) = (event for event in run(config, store) if isinstance(event, Finished))
    assert config.steps == 11 * 320
    assert 10 * 320 < end.counters.steps < config.steps


def test_each_round_says_how_many_decisions_each_policy_has_learned_from(store: FolderStore) -> None:
    config = course({"a": PPO, "b": PPO}, [lesson(["a", "b"], times=2), lesson(["a", "b"], frozen=["b"])])
    told = [event for event in run(config, store) if isinstance(event, Progressed)]
    learned = [(event.metrics["a/learned"], event.metrics.get("b/learned")) for event in told]
    assert learned[-1][0] + max(b for _, b in learned if b) == told[-1].counters.steps
    assert learned[-1][1] is None, "who only plays learns nothing"


@pytest.mark.parametrize(("kind", "players"), [("swiss", 5), ("round-robin", 4)])
def test_a_tournament_whose_pairs_always_or_never_win_has_a_table_after_each_pair(kind: Any, players: int) -> None:
    rng = np.random.default_rng(players)
    whole = Tournament(TournamentConfig(kind=kind), 1, [f"player-{i}" for i in range(players)])
    while not whole.over:
        whole.results.append((whole.due(), np.full(50, float(rng.choice([0.0, 0.5, 1.0])))))
        _, columns = whole.table()
        rated = ~np.isnan(columns["rating"])
        assert (columns["rating_low"] <= columns["rating"])[rated].all()
        assert (columns["rating"] <= columns["rating_high"])[rated].all()
    assert (columns["picked_low"] <= columns["picked"]).all()
    assert (columns["picked"] <= columns["picked_high"]).all()
    assert columns["picked"].sum() == pytest.approx(1)


@pytest.mark.parametrize("turned", [False, True])
def test_of_equally_large_groups_the_one_that_won_more_has_elo_points(turned: bool) -> None:
    strong = {2, 3} if turned else {0, 1}
    whole = Tournament(TournamentConfig(kind="round-robin"), 1, list("abcd"))
    while not whole.over:
        first, second = whole.due()
        alike = (first in strong) == (second in strong)
        shares = np.tile([0.0, 1.0], 25) if alike else np.full(50, float(first in strong))
        whole.results.append(((first, second), shares))
    rated = ~np.isnan(whole.table()[1]["rating"])
    assert set(np.flatnonzero(rated).tolist()) == strong


def test_in_a_swiss_tournament_those_meet_who_stand_alike_and_nobody_twice() -> None:
    before: list[list[tuple[int, int]]] = []
    points = np.zeros(7)
    for _ in range(3):
        turn = paired(7, before, points)
        assert len({player for pair in turn for player in pair}) == 6
        for first, second in turn:
            points[min(first, second)] += 1  # who has the lower number wins
        before.append(turn)
    met = [frozenset(pair) for turn in before for pair in turn]
    assert len(set(met)) == len(met)
    assert len({next(p for p in range(7) if all(p not in pair for pair in turn)) for turn in before}) == 3
    assert frozenset((0, 1)) in met, "the two best have met"
    assert paired(2, [[(0, 1)]], np.zeros(2)) == [(0, 1)], "with nobody else left they meet again"


@pytest.mark.parametrize(("players", "drawn"), [(13, False), (40, False), (40, True), (202, True), (3001, True)])
def test_nobody_meets_again_before_half_of_the_others_and_many_are_paired_at_once(players: int, drawn: bool) -> None:
    """Trying every choice takes for ever: of forty in their nineteenth turn it did."""
    before: list[list[tuple[int, int]]] = []
    points, met = np.zeros(players), set[frozenset[int]]()
    for turn in range(min(19, 3 if players > 1000 else players)):
        pairs = paired(players, before, points)
        assert len({player for pair in pairs for player in pair}) == players // 2 * 2
        again = {frozenset(pair) for pair in pairs} & met
        assert not again or turn >= players // 2 - 1, (turn, again)
        met |= {frozenset(pair) for pair in pairs}
        for first, second in pairs:
            points[[first, second]] += 0.5 if drawn else (first < second, second < first)
        before.append(pairs)


def test_a_tournament_needs_two_sides(store: FolderStore) -> None:
    game = {"name": "navigation", "settings": {"max_ticks": 8}}
    config = course({1: PPO, 2: PPO}, [lesson([1, 1, 2])], game=game, tournament={})
    with pytest.raises(ConfigError, match="tournament: policies play each other in games for two"):
        check(config, store)


@pytest.mark.parametrize("sampling", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("kind", ["masac", "maddpg"])
def test_a_group_and_single_entities_learn_in_one_battle_however_it_is_sampled(
    store: FolderStore, kind: str, sampling: str
) -> None:
    """It steers three tanks as one beside TD3 and A3C, against IMPALA: asynchronous A3C sends gradients."""
    team = {"learner": {**SAC["learner"], "kind": kind}}
    td3 = {"learner": {**SAC["learner"], "kind": "td3"}}
    a3c, impala = ({"learner": {"kind": kind, "batch": 64, "network": SMALL}} for kind in ("a3c", "impala"))
    match = [["team"] * 3, "td3", "a3c", *["impala"] * 5]
    roster = {"team": team, "td3": td3, "a3c": a3c, "impala": impala}
    config = course(roster, [lesson(match, steps=2000)], game=TANKS, sampling=sampling, copies=2)
    end = list(run(config, store))[-1]
    assert isinstance(end, Finished), end
    for name in roster:
        assert policy(store, end.artifacts, name).version > 0
        assert np.isfinite(end.summary[f"{name}/return"])


def test_a_group_with_a_memory_meets_everybody_in_the_tournament(store: FolderStore) -> None:
    recurrent = {"learner": {**PPO["learner"], "network": {**SMALL, "lstm": 4}}}
    match, told = [["a"] * 5, ["b"] * 5], {"episodes": 2, "rungs": True}
    config = course({"a": recurrent, "b": "random"}, [lesson(match, steps=1000)], game=TANKS, tournament=told)
    found = list(run(config, store))
    assert isinstance(found[-1], Finished), found[-1]
    assert len(unpack(store.get(found[-1].artifacts["table"])).meta["teams"]) >= 2


@pytest.mark.parametrize("kind", ["masac", "maddpg"])
def test_a_group_meets_its_earlier_selves(store: FolderStore, kind: str) -> None:
    roster = {"team": {"learner": {**SELDOM["learner"], "kind": kind}}, "old": {"kind": "pool", "of": ["team"]},
              "luck": "random"}  # fmt: skip
    sides = [["team"] * 5, *["luck"] * 5], [["old"] * 5, ["team"] * 5]
    config = course(roster, [lesson(sides[0], steps=640, after={"pool": ["team"]}), lesson(sides[1], steps=640)],
                    game=TANKS)  # fmt: skip
    assert isinstance(list(run(config, store))[-1], Finished)


def test_a_group_in_a_game_for_one_steers_no_side_and_wrong_entities_are_said_beside_a_tournament() -> None:
    alone = course({"a": PPO}, [lesson([["a"]], steps=128)], game={"name": "pong", "settings": {"max_ticks": 20}})
    assert "does not enter the tournament" in without_groups(alone)
    few = {"who": [["a"] * 5, ["b"] * 5], "entities": [0, 1, 2, 3, 4]}
    with pytest.raises(ConfigError) as wrong:
        course({"a": PPO, "b": PPO}, [lesson(few)], game=TANKS, tournament={})
    assert "lessons.0.matches.0.entities" in {problem.place for problem in wrong.value.problems}


def test_who_steers_less_than_a_side_does_not_enter_the_tournament_and_the_others_meet(store: FolderStore) -> None:
    team = {"learner": {**SELDOM["learner"], "kind": "masac"}}
    match = [["team"] * 3, "sac", "sac", *["luck"] * 5]
    roster, told = {"team": team, "sac": SELDOM, "luck": "random"}, {"episodes": 2, "rungs": True}
    config = course(roster, [lesson(match, steps=1000)], game=TANKS, tournament=told)
    found = list(run(config, store))
    assert isinstance(found[-1], Finished), found[-1]
    assert "team steers a group that is not a whole side, and does not enter the tournament" in said(found)
    table = unpack(store.get(found[-1].artifacts["table"]))
    assert [team["name"] for team in table.meta["teams"]] == ["sac", "luck"]
    assert config.entrants == 3, "and its earlier self, where that is another one"
    with pytest.raises(ConfigError, match="tournament: the only player of a whole side meets nobody"):
        course({"team": team, "sac": SELDOM}, [lesson([["team"] * 3, *["sac"] * 7])], game=TANKS, tournament=told | {
            "rungs": False})  # fmt: skip


def test_who_steers_a_whole_side_as_one_meets_everybody_with_all_of_it_on_either_side(store: FolderStore) -> None:
    """As it is and as it was, against another group, a saved one, single entities, and chance that steers a group."""
    team = {"learner": {**SELDOM["learner"], "kind": "masac"}}
    match = [["team"] * 5, ["other"] * 5]
    before = list(run(course({"team": team, "other": team}, [lesson(match, steps=1000)], game=TANKS), store))[-1]
    assert isinstance(before, Finished), before
    kept = {"kind": "frozen", "policy": before.artifacts["policy_description/other"]}
    roster = {"team": team, "sac": SELDOM, "kept": kept, "luck": "random"}
    lessons = [lesson([["team"] * 5, ["kept"] * 5], [*["sac"] * 5, ["luck"] * 5], steps=1000, times=2)]
    config = course(roster, lessons, game=TANKS, tournament={"episodes": 2, "rungs": True})
    assert config.left_out == frozenset()
    found = list(run(config, store))
    end = found[-1]
    assert isinstance(end, Finished), end
    assert "does not enter" not in said(found)
    table = unpack(store.get(end.artifacts["table"]))
    names = [each["name"] for each in table.meta["teams"]]
    assert names == ["team", "sac", "kept", "luck", "team@1", "sac@1"]
    assert table.meta["missing"] == 0


def test_a_group_in_another_order_than_the_game_s_is_no_whole_side() -> None:
    team, order = {"learner": {**SAC["learner"], "kind": "masac"}}, [1, 0, 2, 3, 4, 5, 6, 7, 8, 9]
    match = {"who": [["team"] * 5, *["luck"] * 5]}
    for given, left_out in ((match, set()), ({**match, "entities": order}, {"team"})):
        assert course({"team": team, "luck": "random"}, [lesson(given)], game=TANKS).left_out == left_out


def test_a_policy_in_a_folder_begins_a_course_on_the_command_line(store: FolderStore, tmp_path: Path) -> None:
    end = list(run(course({1: PPO, 3: "random"}, [lesson([1, 3], steps=128)]), store))[-1]
    assert isinstance(end, Finished)
    policy_ = Policy.unpack(store.get(end.artifacts["policy_description"]), store.get(end.artifacts["policy"]))
    policy_.save(tmp_path / "kept")
    told = {"kind": "arena", "roster": {"a": {**PPO, "start": str(tmp_path / "kept")}, "b": "random"}}
    stored = with_stored_starts(told, store.address)
    config = course(stored["roster"], [lesson(["a", "b"], steps=128)])
    assert config.starts == {"a": ("roster.a.start", end.artifacts["policy_description"])}
    assert isinstance(list(run(config, store))[-1], Finished)
