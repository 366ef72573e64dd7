"""Rosters, match lists and lessons as data: as the paper writes them, what is wrong said at its entry, and the plan."""

from __future__ import annotations

from typing import Any

import pytest

from engine.config import arena_plan
from engine.config.arena import ArenaConfig
from engine.config.courses import PRESETS, Arena
from engine.config.lesson_pace import whole
from engine.config.matches import MatchConfig, Seated
from engine.config.study import study_hash
from engine.errors import ConfigError
from engine.studies import load

FOUR = [[1, 1, 2, 2], [1, 1, 3, 3], [1, 1, 4, 4], [2, 2, 3, 3], [2, 2, 4, 4], [3, 3, 4, 4]]
"""Four policies, round robin, two against two (Fig. 5)."""


def settings(matches: Any, roster: Any, **more: Any) -> dict[str, Any]:
    lesson = {"matches": matches, "steps": 100_000, **more.pop("lesson", {})}
    return {"kind": "arena", "game": "tanks-two-teams", "roster": roster, "lessons": [lesson], **more}


def course(matches: Any, roster: Any, **more: Any) -> ArenaConfig:
    config = load(settings(matches, roster, **more))
    assert isinstance(config, ArenaConfig)
    return config


def faults(matches: Any, roster: Any, **more: Any) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        load(settings(matches, roster, **more))
    return {place: why for place, why in caught.value.problems}


def test_a_match_list_is_read_as_the_paper_writes_it() -> None:
    config = course([[1, 1, 1, 2, 2, 2], [[1, 1, 1], 3, 3, 3]], {1: "ppo", 2: "tanks-static", 3: "random"})
    first, second = config.lessons[0].matches
    assert [one.policy for one in first.seated] == ["1", "1", "1", "2", "2", "2"]
    assert second.seated[0] == Seated("1", (0, 1, 2), True, "who.0")
    assert second.seated[1] == Seated("3", (3,), False, "who.1")
    assert list(config.learners) == ["1"]
    assert load(config.model_dump(mode="json")) == config
    assert study_hash(load(config.model_dump(mode="json"))) == study_hash(config)


def test_entries_stand_for_the_entities_that_a_match_says() -> None:
    match = MatchConfig(who=(("a", "a"), "b", "a"), entities=(3, 1, 0, 2))
    assert [one.entities for one in match.seated] == [(3, 1), (0,), (2,)]


def test_a_name_alone_is_a_learner_a_preset_or_a_script() -> None:
    config = course([["a", "b", "c", "d"]], {"a": "sac", "b": "pong-ppo", "c": "tanks-passive", "d": {}})
    assert {name: learner.kind for name, learner in config.learners.items()} == {"a": "sac", "b": "ppo", "d": "ppo"}
    assert {learner.fragment for learner in config.learners.values()} == {32}, "all look up at once"


@pytest.mark.parametrize(
    ("matches", "more", "place", "why"),
    [
        ([[1, 2, 9]], {}, "lessons.0.matches.0.who.2", "there is no policy '9'"),
        ([[1, [1, 3], 2, 3]], {}, "lessons.0.matches.0.who.1", "by one policy, and this one names '1', '3'"),
        ([[1, [2, 2], 3]], {}, "lessons.0.matches.0.who.1", "is a script and plays one entity at a time"),
        ([[1, [], 2, 3]], {}, "lessons.0.matches.0.who.1", "this group is empty"),
        ([[1, 3], [2, 3]], {"lesson": {"frozen": [3]}}, "lessons.0.matches.1.who", "nobody learns in this match"),
        ([{"who": [1], "entities": [3]}], {}, "lessons.0.matches.0.entities", "1 entity is named, so say 0, once"),
        ([{"who": [1, 2, 3], "entities": [0, 0, 2]}], {}, "lessons.0.matches.0.entities", "each of 0 to 2 once"),
        ([[1, 2]], {}, "roster.3", "it plays in no match"),
        ([[1, 2, 3]], {"lesson": {"steps": None}}, "lessons.0.steps", "say how many decisions it lasts"),
        (
            [[1, 2, 3]], {"lesson": {"steps": None, "until": {"policy": 1}}}, "lessons.0.steps",
            "A condition may never come true",
        ),
        ([[1, 2, 3]], {"lesson": {"until": {"policy": 2}}}, "lessons.0.until.policy", "'2' does not learn"),
        ([[1, 2, 3]], {"lesson": {"frozen": [2]}}, "lessons.0.frozen.0", "there is no policy '2' that learns"),
        ([[1, 2, 3]], {"lesson": {"after": {"pool": [2]}}}, "lessons.0.after.pool.0", "no policy '2' that learns"),
        ([[1, 2, 3]], {"lesson": {"after": {"fork": {"2": 1}}}}, "lessons.0.after.fork.2", "no policy '2' that learns"),
        ([[1, 2, 3]], {"lesson": {"times": 1001}}, "lessons.0.times", "must be 1,000 or less"),
        ([[None, 2]], {}, "lessons.0.matches.0.who.0", "write a policy's name, 24 characters at most, or a list"),
        ([[1, [True]]], {}, "lessons.0.matches.0.who.1", "or a list of names that are steered as one"),
        ([[1, "a" * 25]], {}, "lessons.0.matches.0.who.1", "24 characters at most"),
        ([[1, [[1]]]], {}, "lessons.0.matches.0.who.1", "or a list of names"),
        (
            [[1, 3]], {"lesson": {"after": {"best": {"among": [1, 3, 1]}}}}, "lessons.0.after.best.among.2",
            "named twice",
        ),
        ([[1, 3]], {"lesson": {"after": {"pool": [3, 3]}}}, "lessons.0.after.pool.1", "named twice"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_entry(matches: Any, more: dict[str, Any], place: str, why: str) -> None:
    found = faults(matches, {1: "ppo", 2: "tanks-static", 3: "dqn"}, **more)
    assert why in found[place], found


def test_a_tournament_has_two_players_at_least_and_no_more_than_its_table_can_tell() -> None:
    alone = {"lesson": {"matches": [[1, 1]]}, "tournament": {}}
    assert "the only player of a whole side meets nobody" in faults([[1, 1]], {1: "ppo"}, **alone)["tournament"]
    many = {"lesson": {"times": 200}, "tournament": {"rungs": True}}
    assert (
        "201 players would meet, and its table has room for 100" in faults([[1, 1]], {1: "ppo"}, **many)["tournament"]
    )


def test_settings_that_the_game_refuses_are_said_where_they_stand() -> None:
    lesson = {"settings": {"penalty": 101}, "matches": [{"who": [1, 3], "settings": {"obstacles": "5"}}, [1, 3]]}
    found = faults([], {1: "ppo", 3: "random"}, lesson=lesson)
    assert set(found) == {"lessons.0.settings.penalty", "lessons.0.matches.0.settings.obstacles"}


def test_of_many_unknown_names_the_first_are_said_with_some_of_those_there_are() -> None:
    """A body of 60,000 of them kept the site busy for half a minute."""
    roster = {f"policy-{i}": "ppo" for i in range(200)}
    found = faults([[f"nobody-{k}"] * 1000 for k in range(60)], roster)
    assert 0 < len(found) <= 100
    assert max(map(len, found.values())) < 600
    assert "and 180 more" in next(iter(found.values()))


def test_a_number_and_its_digits_are_one_name_and_none_of_both_is_left_out_silently() -> None:
    found = faults([[1, 2]], {1: "ppo", "1": "tanks-static", 2: "ppo"})
    assert found["roster.1"] == "it stands twice in the roster: leave one of the two out"


def test_a_pool_is_of_policies_that_learn() -> None:
    found = faults([[1, "old"]], {1: "ppo", "old": {"kind": "pool", "of": [1, 7]}})
    assert found == {"roster.old.of.1": "there is no policy '7' that learns"}
    assert "dashes" in faults([[1, "_"]], {1: "ppo", "_": "random"})["roster._"]


def test_the_plan_counts_processes_as_the_paper_does() -> None:
    roster = {1: "ppo", 2: "ppo", 3: "ppo", 4: "ppo"}
    config = course(FOUR, roster)
    how = arena_plan.counted(config.lessons[0].matches)
    assert (how.environments, how.workers, how.processes) == (6, 24, 30)
    assert arena_plan.counted(config.lessons[0].matches, 5).processes == 150
    group = course([[[1, 1, 1]]], {1: "ppo"})
    assert arena_plan.counted(group.lessons[0].matches, 8) == (8, 8), "eight environments, a worker in each (Fig. 12)"
    assert arena_plan.started(course(FOUR, roster, copies=5)) == 5
    assert arena_plan.started(course(FOUR, roster, pool={"kind": "local"})) == 0


def test_the_plan_says_what_a_lesson_amounts_to() -> None:
    small = {"kind": "ppo", "batch": 512}
    config = course([*FOUR[:4], FOUR[5]], {1: {"learner": small}, 2: "random", 3: {"learner": small}, 4: "random"},
                    fragment=16, environments=2, copies=2, lesson={"times": 3})  # fmt: skip
    (one,) = arena_plan.plan(config)
    assert dict(one.pace.workers) == {"1": 6, "3": 6}
    assert one.battles == 2 * 5 * 2
    assert one.pace.fragments == 2, "192 decisions of each in a fragment of a copy, and 512 to learn from"
    assert one.pace.update == 2 * 2 * (192 + 192)
    assert (one.pace.updates, one.pace.decisions) == (65, 65 * one.pace.update)
    assert config.steps == 3 * 65 * one.pace.update <= 3 * one.asked
    assert config.ticks == 3 * one.pace.ticks
    assert arena_plan.steps_of(config, "1") == config.steps // 2


@pytest.mark.parametrize(
    ("asked", "updates", "decisions"),
    [(10_000, 1, 9_216), (20_000, 2, 18_432), (7_000, 1, 6_144), (12_288, 2, 12_288), (1_000_000, 122, 999_424),
     (1_000, 1, 1_024)],
)  # fmt: skip
def test_no_lesson_is_longer_than_asked_for_unless_battles_are_too_many(
    asked: int, updates: int, decisions: int
) -> None:
    roster = {"a": "ppo", "old": {"kind": "pool", "of": ["a"]}, "b": "random"}
    lesson = {"steps": asked}
    config = course([["a", "old"], ["a", "b"]], roster, game="pong-two-seats", copies=2, lesson=lesson)
    (one,) = arena_plan.plan(config)
    assert (one.pace.updates, one.pace.decisions) == (updates, decisions)
    assert config.exact
    free = course([["a", "b"]], {"a": "ppo", "b": "random"}, sampling="asynchronous", lesson=lesson)
    assert not free.exact
    assert free.steps == asked


def test_updates_in_short_lessons_keep_their_size_about_and_leave_little_out() -> None:
    for usual in range(1, 40):
        for room in range(1, 500):
            size, updates = whole(room, usual)
            assert 0.8 * room <= size * updates <= room
            assert 2 / 3 * min(usual, room) <= size <= 1.5 * usual


def test_a_learner_that_would_not_begin_in_the_whole_course_is_refused() -> None:
    late = course([[1, 2]], {1: {"learner": {"kind": "dqn", "warmup": 100_000}}, 2: "random"})
    ((place, why),) = arena_plan.misfits(late)
    assert place == "roster.1.learner.warmup"
    assert "there are 99,840 in all" in why


def test_a_league_has_an_exploiter_of_the_main_agent_and_one_of_everybody_s_earlier_selves() -> None:
    made = PRESETS["league"].made(Arena(2, 1, {"kind": "ppo"}, "random", 1_000_000))
    config = load({"kind": "arena", "game": "pong-two-seats", **made})
    assert isinstance(config, ArenaConfig)
    (lesson,) = config.lessons
    against: dict[str, set[str]] = {name: set() for name in config.learners}
    for match in lesson.matches:
        against[match.policies[0]].add(match.policies[1])
    assert against == {"main": {"past", "exploiter"}, "exploiter": {"main"}, "league-exploiter": {"past"}}
    past: Any = config.roster["past"]
    assert set(past.of) == set(lesson.after.pool) == set(config.learners)
    assert past.choice == "hardest"
