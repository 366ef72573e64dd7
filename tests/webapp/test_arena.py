"""Courses on the site: the form, what the API takes, and the page with lessons, curves and the tournament."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from engine.arrays import Bundle, pack
from engine.config import arena_plan, parse
from engine.config.arena import ArenaConfig
from engine.config.first_rounds import LESSON_S, Round, rehearsal, timed
from engine.config.tournament import TournamentConfig
from engine.events import Progressed
from engine.standings import standings
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from engine.study.tournament import Tournament
from tests.contracts.asked_kind import AskedKindContract, form, page
from tests.engine.test_arena import DQN, PPO, course, lesson
from tests.factories import Studio, signed_in
from tests.webapp.recorded import recorded
from webapp.agents.keeping import keep
from webapp.agents.left import left_by
from webapp.agents.models import Agent
from webapp.api import tokens
from webapp.arena import player_fields, reading, typed
from webapp.arena.asking import ArenaForm
from webapp.arena.curves import course_lines
from webapp.arena.known_courses import ROUNDING, learner_for, own_typed, preset_of
from webapp.arena.lesson_fields import HELD, set_in
from webapp.arena.reading import CourseReading, RosterPlayer, latest
from webapp.arena.selves import Selves
from webapp.arena.standings import against_points, agent_records, first_in_words, in_figures, unrated
from webapp.arena.watching import past_recording, recording
from webapp.lib.storage import store
from webapp.lib.words import NBSP, about
from webapp.studies import actions
from webapp.studies.estimates import FASTER, SLOWER
from webapp.studies.journal import Entry, append
from webapp.studies.lines import LEFT, RIGHT
from webapp.studies.models import Job, Status
from webapp.studies.table_rows import latest as latest_table
from webapp.training.games import OFFERS

pytestmark = pytest.mark.django_db

MINE = {
    "game": "pong-two-seats", "plan": "own", "name1": "main", "plays1": "learn:ppo", "name2": "rival",
    "plays2": "learn:dqn", "name3": "old", "plays3": "past", "name4": "luck", "plays4": "script:random",
    "who1": "main vs luck, rival vs luck", "steps1": "300000", "until1": "70", "who2": "main vs old, main vs rival",
    "steps2": "400000", "copies": "3", "battles": "4", "seed": "7", "learner": "ppo",
}  # fmt: skip

COVERING = {
    "game": "navigation", "name1": "main", "plays1": "learn:ppo", "name2": "rival", "plays2": "learn:ppo",
    "who1": "[[main, main, rival]]", "until1": "0.9", "plays3": "", "name3": "", "plays4": "", "name4": "",
    "who2": "", "steps2": "",
}  # fmt: skip
"""What is typed instead for a game that nobody wins."""
COVERED: dict[str, Any] = {"game": "navigation", "roster": {"1": "ppo", "2": "ppo"}}
TOGETHER: dict[str, Any] = {"matches": [[1, 1, 2]], "steps": 100_000}

NEVER = {"policy": "main", "reaches": 1, "of": 100_000}
"""A condition of more episodes than are played."""


def held(team: Studio) -> Job:
    """Two lessons and a tournament, ended."""
    roster: dict[str, Any] = {"main": PPO, "rival": DQN, "luck": "random", "old": {"kind": "pool", "of": ["main"]}}
    lessons = [
        lesson(["main", "luck"], ["rival", "luck"], title="Warm up", after={"pool": ["main"]}),
        lesson(["main", "old"], ["main", "rival"], until=NEVER, frozen=["rival"]),
    ]  # fmt: skip
    config = course(roster, lessons, tournament={"kind": "round-robin", "episodes": 4, "rungs": True})
    return recorded(team, config, "Four of them")


class TestCourse(AskedKindContract):
    kind = "arena"
    typed = MINE
    least = {"game": "pong-two-seats", "plan": "ladder"}
    title = "Lessons: Pong for two"
    becomes = {
        "roster.main.learner.kind": "ppo", "roster.rival.learner.kind": "dqn", "roster.old.of": ["main", "rival"],
        "roster.luck.player": "random", "copies": 3, "environments": 4, "seed": 7,
    }  # fmt: skip
    usually = {"roster.agent.learner.kind": "ppo", "tournament.kind": "swiss"}
    wrong = (
        ({"who1": "main"}, "who1", "Write who plays whom like"),
        ({"who1": "[[1, 2]"}, "who1", "Write who plays whom like"),
        ({"who1": "[" * 1900}, "who1", "Write who plays whom like"),
        ({"settings1": "points 3, points 4"}, "settings1", "points is set twice"),
        ({"settings1": "points (1"}, "settings1", "Write each setting with its value"),
        ({"who1": "main vs nobody, main vs luck"}, "who1", "no player 'nobody'"),
        ({"who1": '[["main", "luck", "luck"]]'}, "who1", "list names 3 entities, and Pong for two has 2"),
        ({"who1": '[["main", "luck"], [["main", "main"]]]'}, "who1", "opponents are not steered as one"),
        ({"steps2": ""}, "steps2", "how many decisions it lasts"),
        ({"settings2": "points"}, "settings2", "Write each setting with its value"),
        ({"settings1": "wind 3"}, "settings1", "There is no such setting"),
        ({"who1": "main vs luck (wind 3), rival vs luck"}, "who1", "There is no such setting"),
        ({"copies2": "rival"}, "copies2", "Write who becomes a copy of whom"),
        ({"copies2": "rival from main, rival from old"}, "copies2", "cannot become a copy of both main and old"),
        ({"copies2": "main from main"}, "copies2", "cannot become a copy of itself"),
        ({"who3": "", "steps3": "5000"}, "who3", "Say who plays whom in lesson 3"),
        ({"copies2": "rival from main"}, "copies2", "their learners have other settings"),
        ({"only2": "nobody"}, "only2", "no player 'nobody' that learns"),
        (
            {"then1": "best", "plays2": "script:random", "who1": "main vs luck, main vs rival", "who2": "main vs old"},
            "then1",
            "Only main learns",
        ),
        ({"plays2": "learn:sac", "who2": "main vs old"}, "plays2", "SAC"),
        (
            {"game": "image-tanks-two-teams", "plays1": "learn:masac", "plays2": "learn:ppo"},
            "plays1",
            "looks at numbers, and this game shows",
        ),
        ({"game": "image-tanks-two-teams", "plan": "ladder", "learner": "maddpg"}, "learner", "looks at numbers"),
        ({**COVERING, "meetings": "swiss"}, "meetings", "this game has no two sides"),
        ({**COVERING, "until1": "70 %"}, "until1", "is not a number"),
        ({"game": "x"}, "game", ""),
        ({"game": "navigation", "plan": "league"}, "plan", "needs a game with two sides"),
        ({"name1": "Main!"}, "name1", "letters from a to z"),
        ({"name2": "main"}, "name2", "Player 1 has this name, too"),
        ({"plays1": "learn:dqn", "until1": "", "steps1": "600", "steps2": "600"}, "steps1", "are played by chance"),
    )
    asks = {
        "game": "pong-two-seats", "roster": {"1": "ppo", "2": "random"},
        "lessons": [{"matches": [[1, 2]], "steps": 100_000}],
    }  # fmt: skip
    refused = (
        ({"roster": {"1": {"learner": {"kind": "ppo", "rewards": {"gold": {"weight": 2}}}}, "2": "random"}},
         "config.roster.1.learner.rewards.gold"),
        ({"game": "command:rm -rf"}, "config.game.name"),
        ({"roster": {"1": "ppo", "2": {"kind": "own", "factory": "os:system"}}}, "config.roster.2.factory"),
        ({"roster": {"1": "ppo", "2": "tanks-static"}}, "config.roster.2.player"),
        ({"roster": {"1": {"start": "e" * 64}, "2": "random"}}, "config.roster.1.start"),
        ({"roster": {"1": "ppo", "2": {"kind": "frozen", "policy": "e" * 64}}}, "config.roster.2.policy"),
        ({"lessons": [{"matches": [[1, 2, 2]], "steps": 1000}]}, "config.lessons.0.matches.0.who.2"),
        (
            {"lessons": [{"matches": [{"who": [1, 2], "settings": {"wind": 3}}], "steps": 1000}]},
            "config.lessons.0.matches.0.settings.wind",
        ),
        ({"roster": {"1": "sac", "2": "random"}}, "config.lessons.0.matches.0.who.0"),
        ({**COVERED, "lessons": [{**TOGETHER, "until": {"policy": "1"}}]}, "config.lessons.0.until.measure"),
        (
            {**COVERED, "lessons": [{**TOGETHER, "after": {"best": {"among": ["1", "2"], "measure": "win"}}}]},
            "config.lessons.0.after.best.measure",
        ),
        ({**COVERED, "lessons": [TOGETHER], "tournament": {}}, "config.tournament"),
        (
            {"game": "image-tanks-two-teams", "roster": {"1": "masac", "2": "random"},
             "lessons": [{"matches": [[[1] * 5, [2] * 5]], "steps": 100_000}]},
            "config.lessons.0.matches.0.who.0",
        ),
    )  # fmt: skip
    games = ("pong-two-seats", "tanks-two-teams", "navigation", "connect-four")
    not_games = ("pong", "maze", "gymnasium")

    def played(self, team: Studio) -> Job:
        return held(team)


def test_the_plan_stands_beside_the_form_before_the_start(team: Studio, designer: Client) -> None:
    before = designer.post(f"{form(team, 'arena')}before/", MINE).content.decode()
    plan, _, details = before.partition("Details for specialists")
    for told in ("2 lessons, 680,064 decisions at most", "Lesson 1: 287,232 decisions at most"):
        assert told in plan, told
    for told in ("AI Arena would start 18 processes for that: 6 environments", "Here 3 processes play, and one learns"):
        assert told in details, told
    assert "process" not in plan.replace("processor", "")
    ladder = {"game": "pong-two-seats", "plan": "ladder", "steps": "120000", "copies": "2", "battles": "8"}
    before = designer.post(f"{form(team, 'arena')}before/", ladder).content.decode()
    assert (
        "11 lessons, 112,128 decisions at most. You asked for 120,000; each lesson ends with the last whole" in before
    )
    short = designer.post(f"{form(team, 'arena')}before/", {**ladder, "steps": "1200"}).content.decode()
    assert "play fewer battles together, or make lessons longer" in short


def test_each_lesson_is_played_before_the_start_to_tell_how_long_it_takes(team: Studio, designer: Client) -> None:
    """A few updates of each, in one process; what a lesson ends with, and where its players began, takes no time."""
    at = f"{form(team, 'arena')}before/"
    lessons = {**MINE, "plays2": "learn:ppo", "until1": "", "copies": "2", "meetings": "swiss+rungs"}
    assert "Lessons are played for a few seconds each" in designer.post(at, lessons).content.decode()
    played = Job.objects.for_forms().get(config__kind="arena")
    config = load(played.config)
    assert isinstance(config, ArenaConfig)
    assert [one.pace.ticks for one in arena_plan.plan(config)] == [3, 3]
    assert {"main", "rival", "old", "luck"} == config.roster.keys()
    assert config.tournament is not None
    assert config.tournament.pairs(config.entrants) == 1
    for tick, (number, seconds, steps) in enumerate(
        [(1, 9, 1000), (1, 10, 2000), (2, 15, 3000), (2, 19, 4000), (0, 22, 4000)], 1
    ):
        metrics = {"lesson": number or 2, **({} if number else {"pairs": 1.0})}
        metrics |= {"learning_seconds": 0.75, "sampling_seconds": 0.25} if number == 2 else {}
        told = {"counters": {"seconds": seconds, "steps": steps}, "metrics": metrics}
        append(played, {}, [Entry("progressed", told, tick)], tick=tick, metrics=told["metrics"])
    Job.objects.filter(pk=played.pk).update(status="finished")
    before = designer.post(at, lessons).content.decode()
    decisions = [one.pace.decisions for one in arena_plan.plan(load(_table(lessons, team)))]  # type: ignore[arg-type]
    shared = min(2, settings.CPUS)
    for place, each in enumerate((0.001 / shared, 0.003 + 0.001 / shared)):
        low, high = (about(LESSON_S + factor * each * decisions[place]) for factor in (FASTER, SLOWER))
        assert f"{low} to {high}" in before, (low, high, before)
    pairs = 3 * 3
    low, high = (about(factor * 3 * pairs) for factor in (FASTER, SLOWER))
    assert f"Tournament: at most 9 pairs of 7 players, {low} to {high}." in before
    assert "a few rounds of each lesson on one processor" in before


def _table(typed_: dict[str, str], team: Studio) -> dict[str, Any]:
    made = ArenaForm(typed_, project=team.project, kind="arena")
    assert made.is_valid()
    return {"kind": "arena", **made.table()}


TEAM = {
    **MINE, "game": "tanks-two-teams", "plays1": "learn:masac", "plays2": "learn:ppo", "who1": "main vs luck",
    "who2": "main vs old, rival vs main (penalty 0.1)", "plays3": "past:1", "until1": "",
}  # fmt: skip
"""A player that steers a team as one, and its earlier selves."""


@pytest.mark.parametrize("plan", ["ladder", "league"])
def test_in_a_course_from_the_list_who_learns_as_a_team_steers_its_side_as_one(plan: str, team: Studio) -> None:
    table = _table({"game": "tanks-two-teams", "plan": plan, "learner": "masac", "steps": "3000000"}, team)
    study = load(table, new=True)
    assert isinstance(study, ArenaConfig)
    for each in study.lessons:
        for match in each.matches:
            assert all(one.together is (one.policy != "script") for one in match.seated), match.who
            assert {len(one.entities) for one in match.seated if one.together} == {5}
    assert preset_of(study.model_dump(mode="json"), OFFERS["tanks-two-teams"]) is not None, "it is known again"
    alone = _table({"game": "tanks-two-teams", "plan": plan, "learner": "ppo", "steps": "3000000"}, team)
    assert not any(isinstance(entry, list) for each in alone["lessons"] for who in each["matches"] for entry in who)


def test_who_learns_as_a_team_steers_the_side_that_was_typed_for_it_as_one(team: Studio) -> None:
    first, second = _table(TEAM, team)["lessons"]
    assert first["matches"] == [[["main"] * 5, *["luck"] * 5]]
    assert second["matches"][0] == [["main"] * 5, ["old"] * 5]
    assert second["matches"][1] == {"who": [*["rival"] * 5, ["main"] * 5], "settings": {"penalty": 0.1}}
    listed = _table({**TEAM, "who1": f"[[{', '.join(['main'] * 5 + ['luck'] * 5)}]]"}, team)["lessons"][0]
    assert listed["matches"] == [["main"] * 5 + ["luck"] * 5], "a list says itself who is steered as one"


def test_a_course_whose_teams_steer_their_sides_as_one_is_edited_side_by_side(team: Studio) -> None:
    study = load(_table(TEAM, team), new=True)
    found = own_typed(study.model_dump(mode="json"), OFFERS["tanks-two-teams"], team.project)
    assert [found["who1"], found["who2"]] == ["main vs luck", "main vs old, rival vs main (penalty 0.1)"]
    listed = f"[[{', '.join(['main'] * 5 + ['luck'] * 5)}]]"
    study = load(_table({**TEAM, "who1": listed}, team), new=True)
    found = own_typed(study.model_dump(mode="json"), OFFERS["tanks-two-teams"], team.project)
    assert found["who1"].startswith("[["), "nobody steers that side as one"


def test_the_best_is_chosen_of_those_who_learn_in_a_lesson(team: Studio) -> None:
    both = _table({**MINE, "then1": "best"}, team)["lessons"][0]["after"]
    assert both["best"] == {"among": ["main", "rival"]}
    for more, who in (({"who1": "main vs luck"}, "Only main learns"), ({"only1": "rival"}, "Only main learns"),
                      ({"who1": "luck vs main", "only1": "main"}, "Nobody learns")):  # fmt: skip
        made = ArenaForm({**MINE, "then1": "best", **more}, project=team.project, kind="arena")
        assert not made.is_valid()
        assert str(made.errors["then1"][0]).startswith(f"{who} in this lesson, so there is no best of several.")


def test_first_rounds_of_any_course_can_be_held() -> None:
    """Also where only earlier selves let anybody meet in the end, and where somebody who only plays comes late."""
    alone = course({"agent": PPO, "past": {"kind": "pool", "of": ["agent"]}}, [lesson(["agent", "past"], times=5)],
                   tournament={"kind": "swiss", "rungs": True})  # fmt: skip
    late = course({"a": PPO, "b": PPO, "s": "random"},
                  [lesson(["a", "s"], frozen=["b"]), *[lesson(["a", "s"])] * 7, lesson(["a", "b"])])  # fmt: skip
    for study in (alone, late):
        assert load(rehearsal(study).model_dump(mode="json")).name.startswith("speed of")


def test_a_course_begins_fast_enough_to_be_measured(tmp_path: Path) -> None:
    """First rounds of a course end by themselves, also where a learner would wait long for its first decisions."""
    slow = {"learner": {**DQN["learner"], "warmup": 3000, "capacity": 5000}}
    each = lesson(["main", "old"], ["slow", "old"], steps=10_000, times=3, after={"pool": ["main"]})
    study = course({"main": PPO, "slow": slow, "old": {"kind": "pool", "of": ["main"]}}, [each, each])
    first = load(rehearsal(study).model_dump(mode="json"))
    told = [event for event in run(first, FolderStore(tmp_path)) if isinstance(event, Progressed)]
    lessons = [event.metrics["lesson"] for event in told]
    assert lessons == sorted(lessons)
    assert (lessons.count(2), 3 <= lessons.count(1) <= 12) == (3, True), "the first lasts until it learns"


def test_the_time_of_each_lesson_is_told_once_a_course_like_it_was_held(team: Studio, designer: Client) -> None:
    at = f"{form(team, 'arena')}before/"
    designer.post(form(team, "arena"), MINE)
    job = Job.objects.get(kind="arena")
    for tick, (number, seconds, steps) in enumerate([(1, 20, 1000), (1, 30, 2000), (2, 60, 3000), (2, 70, 4000)], 1):
        told = {"counters": {"seconds": seconds, "steps": steps}, "metrics": {"lesson": number}}
        append(job, {}, [Entry("progressed", told, tick)], tick=tick, metrics=told["metrics"])
    Job.objects.filter(pk=job.pk).update(status="finished")
    before = designer.post(at, {**MINE, "steps1": "100000"}).content.decode()
    assert "As fast as earlier ones." in before
    ((low, high),) = re.findall(r"Lesson 1: .* decisions at most, .* at once, (\d+)\smin to (\d+)\smin\.", before)
    assert (int(low), int(high)) == (15, 19), "100,000 decisions of 0.01 s, and a start of 15 s"
    asked = designer.post(at, {**MINE, "steps1": "100000", "meetings": "round-robin"}).content.decode()
    assert "As fast as earlier ones." not in asked, "in none of them did anybody meet at the end"


def test_a_round_tells_its_lesson_s_pace_its_start_and_the_pairs() -> None:
    rounds = [Round(1, False, 12.0, 1000), Round(1, False, 22.0, 2000), Round(2, False, 40.0, 3000)]
    met = [Round(2, True, 43.0, 3000), Round(2, True, 48.0, 3000)]
    told = timed([*rounds, *met])
    assert told.decision == {1: 0.01}
    assert told.starts == pytest.approx([2.0, 8.0]), "the second lesson goes as fast as the first one"
    assert told.pairs == pytest.approx([3.0, 5.0])
    alone = timed([Round(1, False, 60.0, 3000), Round(2, False, 180.0, 9000)])
    assert alone.decision == {1: 0.02, 2: 0.02}
    assert alone.starts == [], "a lesson of one round does not tell what of it was its start"
    assert timed([Round(1, False, 20.0, 1000), Round(2, False, 60.0, 3000)]).decision == {}, "it may be mostly start"


def test_lessons_in_which_battles_may_not_end_are_said_before_the_start(team: Studio, designer: Client) -> None:
    """A usual league and a usual ladder play as few battles together as let each of them end."""
    before = f"{form(team, 'arena')}before/"
    usual = {"game": "pong-two-seats", "plan": "league", "copies": "2"}
    for plan in ("league", "ladder"):
        said = designer.post(before, {**usual, "plan": plan}).content.decode()
        assert "each battle goes on for" not in said
    short = designer.post(before, {**usual, "battles": "16"}).content.decode()
    assert re.search(r"In lesson 1 each battle goes on for 1,\d{3} decisions, and one can last 6,000\.", short)


def test_a_player_of_whom_no_battle_ended_since_is_not_told_as_of_the_last_round() -> None:
    columns = {"tick": [1.0, 2.0, 3.0], "main/win": [0.5, None, None], "other/win": [None, 0.25, 0.75]}
    main, other = (RosterPlayer(name, "", True) for name in ("main", "other"))
    assert latest(columns, main) == "wins 50\N{NO-BREAK SPACE}% in round 1; no battle of its own ended since"
    assert latest(columns, other) == "wins 75\N{NO-BREAK SPACE}%"
    met = {name: [*values, None] for name, values in columns.items()} | {"pairs": [None, None, None, 1.0]}
    assert latest(met | {"tick": [1.0, 2.0, 3.0, 4.0]}, other) == "wins 75\N{NO-BREAK SPACE}%", (
        "pairs of a tournament are no rounds"
    )


def test_what_first_rounds_refuse_is_said_at_its_field_and_nothing_starts(team: Studio, designer: Client) -> None:
    wrong = {**MINE, "settings1": "points 3, max_ticks 40"}
    assert designer.post(f"{form(team, 'arena')}before/", wrong).status_code == 200
    played = Job.objects.for_forms().get(config__kind="arena")
    places = "lessons.0.settings.max_ticks: must be 1 or more; lessons.0.matches.0.who.0: does not fit"
    body = {"places": places, "message": "It does not fit."}
    append(played, {}, [Entry("failed", body, 0)], status=Status.FAILED, message="It does not fit.")
    answer = designer.post(form(team, "arena"), wrong)
    assert answer.status_code == 422
    errors = answer.context["form"].errors
    assert errors["settings1"] == ["max_ticks: Must be 1 or more."]
    assert errors["who1"] == ["Match 1: Does not fit."]
    assert not Job.objects.filter(kind="arena").exists()
    lost = {"places": "", "message": "The game went away."}
    append(played, {}, [Entry("failed", lost, 1)], message="The game went away.")
    assert designer.post(form(team, "arena"), wrong).status_code == 302, "what may go well another time is tried"


def test_a_pool_may_have_the_earlier_selves_of_one_player(team: Studio, designer: Client) -> None:
    designer.post(form(team, "arena"), {**MINE, "plays3": "hardest:1"})
    first = Job.objects.get(kind="arena")
    assert first.config["roster"]["old"] == {"kind": "pool", "of": ["main"], "choice": "hardest"}
    answer = designer.post(reverse("studies:again", args=[team.project.slug, first.pk]), follow=True)
    assert answer.context["form"].initial["plays3"] == "hardest:1"
    assert not ArenaForm.left_out(first)


@pytest.mark.parametrize("plan", [{"plan": "ladder", "steps": "3000000"}, {"plan": "ladder", "steps": "20000"}, MINE])
def test_a_course_runs_again_without_numbers_that_nobody_typed(
    team: Studio, designer: Client, plan: dict[str, str]
) -> None:
    sent = {"game": "pong-two-seats", **plan, "copies": "", "battles": ""}
    assert designer.post(form(team, "arena"), sent).status_code == 302
    job = Job.objects.get(kind="arena")
    shown = ArenaForm.typed_of(job)
    assert (shown["copies"], shown["battles"]) == ("", "")
    assert not shown.keys() & player_fields.STEPS.keys()
    assert not ArenaForm.left_out(job)
    typed_too = {**sent, "copies": "1", "battles": "5", "rate": "0.0123"}
    assert designer.post(form(team, "arena"), typed_too).status_code == 302
    again = Job.objects.filter(kind="arena").latest("pk")
    shown = ArenaForm.typed_of(again)
    assert (shown["copies"], shown["battles"], shown["rate"]) == (1, 5, 0.0123)
    assert not ArenaForm.left_out(again)


@pytest.mark.parametrize("steps", ["1000000", "3000000", "123456"])
def test_a_course_of_the_list_runs_again_with_the_decisions_that_were_asked_for(
    team: Studio, designer: Client, steps: str
) -> None:
    designer.post(form(team, "arena"), {"game": "pong-two-seats", "plan": "ladder", "steps": steps})
    job = Job.objects.get(kind="arena")
    asked = int(str(ArenaForm.typed_of(job)["steps"]))
    assert asked == int(steps) or (steps == "123456" and abs(asked - 123456) < ROUNDING)


def test_in_pong_who_learns_by_ppo_takes_many_small_steps(team: Studio, designer: Client) -> None:
    """With one step for each batch nobody wins a point in a million decisions."""
    designer.post(form(team, "arena"), {"game": "pong-two-seats", "plan": "ladder"})
    learner = Job.objects.get(kind="arena").config["learner"]
    assert (learner["reuse"], learner["minibatch"], learner["rate"]) == (4, 1024, 1e-3)
    other = learner_for("ppo", OFFERS["commanders-two-seats"])
    assert (other["reuse"], other["minibatch"]) == (4, 1024)


@pytest.mark.parametrize("plan", ["league", "ladder", "best"])
def test_a_course_of_the_list_runs_again_as_itself(team: Studio, designer: Client, plan: str) -> None:
    designer.post(form(team, "arena"), {"game": "tanks-two-teams", "plan": plan, "learner": "sac", "steps": "500000"})
    first = Job.objects.get(kind="arena")
    answer = designer.post(reverse("studies:again", args=[team.project.slug, first.pk]))
    filled = designer.get(answer["Location"]).context["form"].initial
    assert filled["plan"] == plan
    designer.post(answer["Location"], {name: value for name, value in filled.items() if value is not None})
    assert Job.objects.filter(kind="arena").latest("pk").config == first.config


PLAIN = {"reuse": 1, "minibatch": 0, "max_gradient": 0.0}
"""Steps of PPO as the form had them once: its own, whatever fits the game."""


@pytest.mark.parametrize(("game", "more"), [("tanks-two-teams", {}), ("pong-two-seats", {"rate": 3e-4})])
@pytest.mark.parametrize("plan", ["ladder", "own"])
def test_a_course_whose_ppo_takes_other_steps_than_are_usual_now_runs_again_with_them(
    team: Studio, designer: Client, game: str, more: dict[str, float], plan: str
) -> None:
    steps = PLAIN | more
    asked = {**MINE, "plays2": "learn:ppo"} if plan == "own" else {"plan": plan}
    designer.post(form(team, "arena"), {**asked, "game": game, "learner": "ppo"})
    usual = Job.objects.get(kind="arena")
    first = actions.submit(team.project, team.designer, load(_with(usual.config, steps)), title="Earlier")
    answer = designer.post(reverse("studies:again", args=[team.project.slug, first.pk]), follow=True)
    assert "more than this form has room for" not in answer.content.decode()
    filled = answer.context["form"].initial
    assert filled["plan"] == plan
    assert {name: float(filled[name]) for name in steps} == steps
    designer.post(answer.redirect_chain[-1][0], {name: value for name, value in filled.items() if value is not None})
    second = Job.objects.filter(kind="arena").latest("pk")
    assert second.pk != first.pk
    kept = [one["learner"] or second.config["learner"] for one in second.config["roster"].values() if "learner" in one]
    assert kept
    assert all({name: learner[name] for name in steps} == steps for learner in kept)


def _with(config: dict[str, Any], steps: dict[str, float]) -> dict[str, Any]:
    """A course whose PPO has other settings; a fragment of its own has no part in it."""
    changed = steps | {"fragment": 32}
    roster = {
        name: {**one, "learner": one["learner"] | changed} if one.get("learner") else one
        for name, one in config["roster"].items()
    }
    return {**config, "roster": roster, "learner": config["learner"] | changed}


def test_what_is_wrong_with_a_lesson_says_with_which(team: Studio, designer: Client) -> None:
    answer = designer.post(form(team, "arena"), {**MINE, "who2": "main vs nobody, main vs rival"})
    assert ">Who plays whom in lesson 2</a>" in answer.content.decode()


FOUR = [["main"] * 5 + ["luck"] * 5, ["main"] * 5 + ["luck"] * 6, ["rival"] * 5 + ["luck"] * 5, [["main"] * 5] * 2]
TANKS_TYPED = {**MINE, "game": "tanks-two-teams", "plays2": "learn:ppo", "settings2": ""}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"who1": json.dumps(FOUR)}, ["Match 2, entry 11: This list names 11 entities, and Tanks, two teams has 10."]),
        ({"who1": json.dumps(FOUR[:2])}, ["Match 2, entry 11: This list names 11 entities"]),
        ({"who1": json.dumps(FOUR[1:2])}, ["Entry 11: This list names 11 entities, and Tanks, two teams has 10."]),
        (
            {"who1": "main vs luck, main vs nobody, rival vs luck, rival vs main"},
            ["Match 2: There is no player 'nobody'; there are main, rival, old, luck."],
        ),
        (
            {"who1": "main vs luck, rival vs luck (wind 3), rival vs main (wind 4), main vs main"},
            ["Match 2, wind: There is no such setting", "Match 3, wind: There is no such setting"],
        ),
        ({"who1": "main vs luck (wind 3)"}, ["wind: There is no such setting"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_match_says_in_which_and_at_which_entry(
    team: Studio, designer: Client, changed: dict[str, str], said: list[str]
) -> None:
    answer = designer.post(form(team, "arena"), {**TANKS_TYPED, "plays3": "past", **changed})
    errors = answer.context["form"].errors["who1"]
    assert len(errors) == len(said), errors
    for told, began in zip(sorted(errors), sorted(said), strict=True):
        assert told.startswith(began), told


def test_steps_of_ppo_are_refused_at_their_fields(team: Studio, designer: Client) -> None:
    wrong = {"game": "pong-two-seats", "plan": "ladder", "learner": "ppo", "rate": "7"}
    answer = designer.post(form(team, "arena"), wrong)
    assert answer.status_code == 422
    assert [*answer.context["form"].errors] == ["rate"]


MISTAKES: tuple[tuple[dict[str, str], set[str]], ...] = (
    (
        {"name2": "Rival!", "until1": "170", "settings1": "points 3, points 4", "steps2": ""},
        {"name2", "until1", "settings1", "steps2"},
    ),
    (
        {"rate": "-1", "copies2": "rival", "who1": "main vs nobody, main vs luck", "settings2": "wind 3"},
        {"rate", "copies2", "who1", "settings2"},
    ),
    (
        {"who1": "main vs nobody, main vs luck", "settings2": "wind 3", "only2": "stranger"},
        {"who1", "settings2", "only2"},
    ),
    (
        {"who1": "main", "name3": "main", "plays2": "learn:sac", "who2": "main vs rival"},
        {"who1", "name3", "plays2"},
    ),
    ({"name1": "Main?", "who1": "Main? vs luck"}, {"name1"}),
    ({"name1": "???", "who1": "??? vs luck", "who2": "??? vs old, ??? vs rival"}, {"name1"}),
    ({"copies": "0", "battles": "many", "who2": "main vs"}, {"copies", "battles", "who2"}),
)
"""Mistakes of several kinds at once, and the fields at which they are: none is only the consequence of another."""


def test_saved_agents_are_looked_up_as_often_for_ten_players_as_for_four(team: Studio) -> None:
    counted = []
    more: dict[str, str]
    for more in ({}, {f"plays{i}": "script:random" for i in range(5, 11)}):
        with CaptureQueriesContext(connection) as captured:
            shown = ArenaForm({**MINE, **more}, project=team.project, kind="arena")
            assert len([*shown.players]) == (10 if more else 4)
        counted.append(len(captured))
    assert counted[0] == counted[1]


@pytest.mark.parametrize(("typed_wrong", "fields"), MISTAKES)
def test_all_mistakes_of_a_course_are_told_at_once_each_at_its_field(
    typed_wrong: dict[str, str], fields: set[str], team: Studio, designer: Client
) -> None:
    answer = designer.post(form(team, "arena"), {**MINE, **typed_wrong})
    assert answer.status_code == 422
    assert {*answer.context["form"].errors} == fields
    assert all(answer.context["form"][name].value() == text for name, text in typed_wrong.items()), "nothing is lost"
    assert not team.project.jobs.exists()


EVERYTHING: dict[str, Any] = {
    "roster": {
        "main": {"learner": {"kind": "sac"}}, "rival": {"learner": {"kind": "sac"}},
        "old": {"kind": "pool", "of": ["main", "rival"], "choice": "hardest"}, "still": "tanks-static",
    },
    "lessons": [
        {
            "title": "Gently", "steps": 200_000, "times": 2, "settings": {"obstacles": 3},
            "matches": [
                {"who": ["main"] * 5 + ["still"] * 5, "settings": {"penalty": 0.1}}, ["rival"] * 5 + ["still"] * 5,
            ],
        },
        {
            "steps": 300_000, "until": {"policy": "rival", "reaches": 0.6}, "frozen": ["main"],
            "matches": [["main"] * 5 + ["rival"] * 5], "after": {"fork": {"main": "rival"}, "pool": ["main", "rival"]},
        },
        {
            "steps": 100_000, "after": {"best": {"among": ["main", "rival"]}},
            "matches": [{"who": ["main"] * 4 + ["rival"] + ["old"] * 5, "entities": [*range(5, 10), *range(5)]}],
        },
    ],
    "tournament": {"kind": "swiss", "rungs": True},
}  # fmt: skip


def started(team: Studio, **more: Any) -> Job:
    learner = learner_for("ppo", OFFERS["tanks-two-teams"])
    told = {"kind": "arena", "game": "tanks-two-teams", "learner": learner, "copies": 2, **EVERYTHING, **more}
    config = load(told)
    return actions.submit(team.project, team.designer, config, title="All of it")


def test_lessons_of_one_s_own_are_written_whole_and_run_again_as_they_were(team: Studio, designer: Client) -> None:
    first = started(team)
    answer = designer.post(reverse("studies:again", args=[team.project.slug, first.pk]), follow=True)
    assert "more than this form has room for" not in answer.content.decode()
    filled = answer.context["form"].initial
    assert filled["who1"] == "main vs still (penalty 0.1), rival vs still"
    assert (filled["settings1"], filled["times1"], filled["lesson_title1"]) == ("obstacles 3", 2, "Gently")
    assert (filled["only2"], filled["copies2"], filled["then2"], filled["then3"]) == (
        "main", "main from rival", "pool", "best",
    )  # fmt: skip
    assert "entities: [5, 6" in filled["who3"]
    assert filled["meetings"] == "swiss+rungs"
    sent = {name: value for name, value in filled.items() if value is not None}
    designer.post(answer.redirect_chain[-1][0], sent)
    second = Job.objects.filter(kind="arena").latest("pk")
    assert second.pk != first.pk
    assert second.config == first.config | {"pool": second.config["pool"], "name": second.config["name"]}


def test_who_sees_pictures_looks_through_convolutions_and_meets_nobody_who_sees_numbers(
    team: Studio, designer: Client
) -> None:
    designer.post(form(team, "arena"), {"game": "image-tanks-two-teams", "plan": "ladder", "learner": "ppo"})
    config = Job.objects.get(kind="arena").config
    assert len(config["roster"]["agent"]["learner"]["network"]["conv"]) == 4
    assert config["roster"]["script"]["player"] == "random"
    own = {**MINE, "game": "image-tanks-two-teams", "plays2": "learn:sac"}
    designer.post(form(team, "arena"), own)
    second = Job.objects.filter(kind="arena").latest("pk")
    assert all(second.config["roster"][name]["learner"]["network"]["conv"] for name in ("main", "rival"))
    assert not ArenaForm.left_out(second)


def test_where_nobody_wins_a_lesson_may_end_by_score_and_says_so(team: Studio, designer: Client) -> None:
    shown = designer.post(form(team, "arena"), {**MINE, **COVERING, "action": "draw"}).content.decode()
    assert "Lesson 1 ends once the first who learns scores" in shown
    assert "until the first who learns scores 0.9" in shown
    designer.post(form(team, "arena"), {**MINE, **COVERING})
    job = Job.objects.get(kind="arena")
    until = job.config["lessons"][0]["until"]
    assert (until["policy"], until["measure"], until["reaches"]) == ("main", "score", 0.9)
    assert ArenaForm.typed_of(job)["until1"] == 0.9
    assert not ArenaForm.left_out(job)


@pytest.mark.parametrize("more", [
    {"fragment": 16}, {"game": {"name": "tanks-two-teams", "settings": {"penalty": 0.2}}},
    {"lessons": [EVERYTHING["lessons"][0]] * (HELD - 1) + EVERYTHING["lessons"][1:], "tournament": None},
])  # fmt: skip
def test_a_course_with_more_than_the_form_has_room_for_says_so(
    team: Studio, designer: Client, more: dict[str, Any]
) -> None:
    again = reverse("studies:again", args=[team.project.slug, started(team, **more).pk])
    assert "more than this form has room for" in designer.post(again, follow=True).content.decode()


def test_where_not_all_met_the_strongest_is_who_is_so_by_all_results_together() -> None:
    """Who met weaker ones has more wins; pairs that did not meet count for nobody."""
    names = ("weak", "strong", "never lost", "never won")
    columns = {"standing": [0.7, 0.5, 0.9, 0.1], "rating": [-100.0, 100.0, np.nan, np.nan],
               "strength": [-0.3, 0.3, 9.0, -9.0]}  # fmt: skip
    ends = ("standing_low", "standing_high", "rating_low", "rating_high", "picked", "picked_low", "picked_high")
    arrays = {name: np.array(values) for name, values in (columns | dict.fromkeys(ends, [0.0] * 4)).items()}
    arrays["share"] = np.array([[0.5, 0.2, 0.5, 1.0], [0.8, 0.5, 0.0, 0.5], [0.5, 1.0, 0.5, 0.5], [0.0] * 4])
    arrays["meetings"] = np.array([[0, 50, 0, 50], [50, 0, 50, 0], [0, 50, 0, 0], [50, 0, 0, 0]])
    table = Bundle({"teams": [{"name": name} for name in names], "missing": 2}, arrays)
    shown = standings(table)
    assert [each.name for each in shown] == ["never lost", "strong", "weak", "never won"]
    assert [each.share for each in shown] == pytest.approx([1.0, 0.4, 0.6, 0.0])
    table.meta["missing"] = 0
    assert [each.name for each in standings(table)] == ["never lost", "weak", "strong", "never won"]


def test_who_lost_to_the_best_does_not_come_first_of_a_swiss_tournament() -> None:
    """A and B are alike, X beats Y, A beats X, B beats Y: X has a share of a half, and no Elo points."""
    whole = Tournament(TournamentConfig(kind="swiss"), 1, ["X", "A", "Y", "B"])
    for first, second, share in (("A", "B", 0.5), ("X", "Y", 1.0), ("X", "A", 0.0), ("B", "Y", 1.0)):
        pair = whole.entrants.index(first), whole.entrants.index(second)
        whole.results.append((pair, np.tile([share, min(1.0, 2 * share)] if share != 0.5 else [0.0, 1.0], 25)))
    table = Bundle(*whole.table())
    assert [each.name for each in standings(table)][2:] == ["X", "Y"]
    assert standings(table)[0].name in "AB"


def test_an_agent_kept_after_a_lesson_tells_what_it_had_learned_from_and_the_others(
    team: Studio, designer: Client
) -> None:
    job = held(team)
    first, last = (keep(job, team.designer, of, "", False) for of in ("main@1", "main"))
    told = agent_records(job)
    assert first.origin["steps"] == told["main@1"].learned
    assert last.origin["steps"] == told["main"].learned == told["main@2"].learned
    assert 0 < first.origin["steps"] < last.origin["steps"] < job.counters["steps"], "the others learned, too"
    page = designer.get(reverse("agents:agent", args=[team.project.slug, first.pk])).content.decode()
    assert "The same agent at other times" in page
    assert "Main after lesson 1, this one" in page
    assert f'href="{reverse("agents:agent", args=[team.project.slug, last.pk])}">Main</a>' in page
    assert "in the tournament" in page
    assert "There are none" not in page
    assert "Rival" not in page


def test_a_saved_agent_plays_in_a_course_as_it_is(team: Studio, designer: Client) -> None:
    agent = keep(held(team), team.designer, "main", "Ada", False)
    designer.post(form(team, "arena"), {**MINE, "name4": "ada", "plays4": f"agent:{agent.pk}",
                                        "who1": "main vs ada, rival vs ada"})  # fmt: skip
    job = Job.objects.filter(kind="arena").latest("pk")
    assert job.config["roster"]["ada"] == {"kind": "frozen", "policy": agent.policy, "sampled": False}
    answer = designer.post(reverse("studies:again", args=[team.project.slug, job.pk]), follow=True)
    assert answer.context["form"].initial["plays4"] == f"agent:{agent.pk}"


def test_run_again_says_which_player_was_deleted_and_what_to_do_about_it(team: Studio, designer: Client) -> None:
    agent = keep(held(team), team.designer, "main", "Ada", False)
    designer.post(form(team, "arena"), {**MINE, "name4": "ada", "plays4": f"agent:{agent.pk}",
                                        "who1": "main vs ada, rival vs ada"})  # fmt: skip
    job = Job.objects.filter(kind="arena").latest("pk")
    Agent.objects.update(deleted_at=timezone.now())
    answer = designer.post(reverse("studies:again", args=[team.project.slug, job.pk]), follow=True)
    page = answer.content.decode()
    assert "“Ada” was deleted since. Choose who plays instead, or put it back on the page of agents." in page
    assert "The API" not in page


def test_a_saved_agent_with_limits_that_draws_its_actions_does_so_in_a_course_and_where_it_is_watched(
    team: Studio, designer: Client
) -> None:
    done = held(team)
    quick = keep(done, team.designer, "main", "Ada", False)
    late = keep(done, team.designer, "main", "Ada, by chance", True)
    Agent.objects.filter(pk=late.pk).update(game={**late.game, "limits": {"delay": 6, "apart": 2}})
    designer.post(form(team, "arena"), {**MINE, "name4": "ada", "plays4": f"agent:{late.pk}",
                                        "who1": "main vs ada, rival vs ada"})  # fmt: skip
    job = Job.objects.filter(kind="arena").latest("pk")
    own = {"sampled": True, "limits": {"delay": 6, "apart": 2}}
    assert job.config["roster"]["ada"] == {"kind": "frozen", "policy": late.policy, **own}
    answer = designer.post(reverse("studies:again", args=[team.project.slug, job.pk]), follow=True)
    assert answer.context["form"].initial["plays4"] == f"agent:{late.pk}" != f"agent:{quick.pk}"
    designer.post(reverse("arena:watch", args=[team.project.slug, job.pk, 0]))
    Job.objects.filter(pk=job.pk).update(artifacts=done.artifacts)
    designer.post(reverse("arena:watch", args=[team.project.slug, job.pk, 0]))
    watched = Job.objects.for_forms().latest("pk").config
    assert watched["opponent"].items() >= own.items()


def test_the_page_tells_lessons_who_plays_whom_and_who_beats_whom(team: Studio, designer: Client) -> None:
    job = held(team)
    content = designer.get(page(job)).content.decode()
    for told in ("1. Warm up", "main against luck", "until main wins 100", "Then main joins the earlier selves",
                 "Rival only plays", "Who plays whom", "Learns by DQN", "Earlier selves of main", "Script: Random",
                 "Who beats whom", "Strength, Elo points", "Main after lesson 1"):  # fmt: skip
        assert told in content, told
    assert content.count('class="lines-chart"') == 2, "wins and returns stand beside each other"
    assert "no bound" not in content
    csv = designer.get(reverse("studies:results", args=[team.project.slug, job.pk])).content.decode()
    assert csv.splitlines()[0] == "first,second,verdict,share,low,high,battles"
    assert len(csv.splitlines()) == 1 + 6


def test_the_page_is_with_the_lesson_that_is_under_way(team: Studio, designer: Client) -> None:
    """Once a lesson is over the next one goes on, also before its first round tells anything."""
    config = course(
        {"a": PPO, "b": PPO, "c": "random"}, [lesson(["a", "b"], title="One"), lesson(["a", "c"], title="Two")]
    )
    job = recorded(team, config, "Two", rounds=3)
    last = Job.objects.get(pk=job.pk)
    over = {
        tick: metrics for tick, metrics in last.events.filter(kind="progressed").values_list("tick", "body__metrics")
    }
    first = [tick for tick, metrics in over.items() if metrics["lesson_over"]]
    for tick, metrics in over.items():
        Job.objects.filter(pk=job.pk).update(status="running", tick=tick, metrics=metrics)
        shown = CourseReading(Job.objects.get(pk=job.pk))
        assert shown.now.title == ("Two" if first and tick >= first[0] else "One")
    assert first


@pytest.mark.parametrize(("metrics", "told"), [
    ({"lesson": 1, "lesson_over": 0}, ["not to its end", ""]),
    ({"lesson": 1, "lesson_over": 1}, ["over", ""]),
    ({"lesson": 3, "lesson_over": 1}, ["over", "2 of 10 held"]),
    ({"lesson": 3, "lesson_over": 0}, ["over", "1 of 10 held"]),
    ({"lesson": 11, "lesson_over": 1}, ["over", "over"]),
    ({"lesson": 11, "pairs": 2, "pairs_in_all": 4}, ["over", "over"]),
])  # fmt: skip
def test_a_course_that_was_stopped_says_how_much_of_each_lesson_was_held(
    team: Studio, designer: Client, metrics: dict[str, int], told: list[str]
) -> None:
    config = course({"main": PPO, "luck": "random"}, [lesson(["main", "luck"]), lesson(["main", "luck"], times=10)])
    job = actions.submit(team.project, team.designer, config, title="Stopped")
    Job.objects.filter(pk=job.pk).update(status="stopped", tick=5, metrics=metrics)
    timeline = designer.get(page(job)).content.decode().partition('<ol class="lessons">')[2].partition("</ol>")[0]
    heads = re.findall(r"<h3>(.*?)</h3>", timeline)
    assert [re.sub("<[^>]*>", "", head).partition("Lesson")[2].strip() for head in heads][:2] == told


@pytest.mark.parametrize(("times", "told", "said"), [
    (1, [{"lesson_reached": 1.0, "lesson_decisions": 840.0, "lesson_stands": 0.75}],
     "The condition came true after 840 decisions: 75 %."),
    (1, [{"lesson_reached": 0.0, "lesson_decisions": 900.0, "lesson_stands": 0.25}],
     "It ended at its limit after 900 decisions: 25 %."),
    (1, [{"lesson_reached": 0.0, "lesson_decisions": 900.0}],
     "It ended at its limit after 900 decisions: too few battles over to tell."),
    (3, [{"lesson_reached": 0.0, "lesson_decisions": 900.0}, {"lesson_reached": 1.0, "lesson_decisions": 90.0}],
     "The condition came true in 1 of 2."),
])  # fmt: skip
def test_a_lesson_that_is_over_says_whether_its_condition_came_true(
    team: Studio, designer: Client, times: int, told: list[dict[str, float]], said: str
) -> None:
    until = {"policy": "main", "reaches": 0.7}
    config = course({"main": PPO, "luck": "random"}, [lesson(["main", "luck"], times=times, until=until)])
    job = actions.submit(team.project, team.designer, config, title="Conditions")
    for tick, more in enumerate(told, 1):
        metrics = {"lesson": float(tick), "lesson_over": 1.0, **more}
        body = {"counters": {"seconds": 1, "steps": 900 * tick}, "metrics": metrics}
        append(job, {}, [Entry("progressed", body, tick)], tick=tick, metrics=metrics)
    content = html.unescape(designer.get(page(job)).content.decode()).replace("\xa0", " ")
    assert f"<b>{said}</b>" in content


def test_a_long_course_shows_its_lessons_in_portions_and_is_read_once_for_a_page(
    team: Studio, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [lesson(["main", "luck"], title=f"Number {i}") for i in range(1, 1001)]
    job = actions.submit(team.project, team.designer, course({"main": PPO, "luck": "random"}, many), title="Long")
    Job.objects.filter(pk=job.pk).update(status="running", tick=150, metrics={"lesson": 150, "lesson_over": 0})
    reads: list[Any] = []
    monkeypatch.setattr(reading, "parse", lambda *asked: reads.append(asked) or parse(*asked))

    def shown(query: str = "") -> tuple[list[int], str]:
        reads.clear()
        text = designer.get(f"{page(job)}{query}").content.decode()
        assert len(reads) == 1
        return [int(number) for number in re.findall(r"<h3>(\d+)\. Number", text)], text

    now, text = shown()
    assert now == [*range(101, 201)], "those around the lesson that is under way"
    assert "Lessons 101 to 200 of 1,000" in text
    assert 'href="?lessons=1#lessons-title">Earlier lessons' in text
    assert 'href="?lessons=3#lessons-title">Later lessons' in text
    last, text = shown("?lessons=10")
    assert last == [*range(901, 1001)]
    assert "Later lessons" not in text
    assert f'hx-get="{page(job)}?lessons=10"' in text, "it stays there while it asks for itself anew"
    assert shown("?lessons=none")[0] == [*range(1, 101)]


def test_a_course_of_few_lessons_has_no_portions(team: Studio, designer: Client) -> None:
    assert "Earlier lessons" not in designer.get(page(held(team))).content.decode()


def test_settings_are_read_as_they_are_typed() -> None:
    assert typed.settings("a 1, b -0.5, c 1e3, d yes, e far") == {"a": 1, "b": -0.5, "c": 1000.0, "d": True, "e": "far"}
    assert typed.settings("a 1_0, b ٣") == {"a": "1_0", "b": "٣"}, "no numbers as people write them"
    assert typed.settings("a=1, b = -0.5, c d=e") == {"a": 1, "b": -0.5, "c": "d=e"}
    assert typed.settings(f"a {'9' * 30}") == {"a": "9" * 30}


def test_a_match_of_the_lesson_is_watched_with_its_players_as_they_are_now(team: Studio, designer: Client) -> None:
    job = held(team)
    names = {"main against old": (0, "main@1"), "main against rival": (1, "rival")}
    for words, (place, other) in names.items():
        address = reverse("arena:watch", args=[team.project.slug, job.pk, place])
        assert f'aria-label="Watch {words}"' in designer.get(page(job)).content.decode()
        answer = designer.post(address)
        recorded_ = Job.objects.for_forms().latest("pk")
        assert answer["Location"] == reverse("agents:battles", args=[team.project.slug, recorded_.pk])
        assert recorded_.config["agents"][0]["policy"] == job.artifacts["policy_description/main"]
        assert recorded_.config["opponent"]["policy"] == job.artifacts[f"policy_description/{other}"]
    assert designer.post(reverse("arena:watch", args=[team.project.slug, job.pk, 9])).status_code == 404


def watched_past(team: Studio, designer: Client, job: Job, number: int, place: int) -> tuple[str, ...]:
    """Which policies of a job play in a match of a lesson that is over, and what both sides are called."""
    address = reverse("arena:watch-past", args=[team.project.slug, job.pk])
    answer = designer.post(address, {"lesson": number, "match": place})
    found = Job.objects.for_forms().latest("pk")
    assert answer["Location"] == reverse("agents:battles", args=[team.project.slug, found.pk])
    assert found.parent == job
    sides = found.config["agents"][0], found.config["opponent"]
    roles = {digest: role.partition("/")[2] for role, digest in job.artifacts.items() if "policy_description/" in role}
    return tuple(text for side in sides for text in (roles.get(side.get("policy", ""), ""), side["title"]))


def test_a_match_of_a_lesson_that_is_over_is_watched_with_its_players_as_they_were(
    team: Studio, designer: Client
) -> None:
    job = held(team)
    known = {role: f"{i:064x}" for i, role in enumerate(
        f"policy_description/{name}" for name in ("main", "main@1", "main@2", "rival", "rival@1"))}  # fmt: skip
    Job.objects.filter(pk=job.pk).update(artifacts=job.artifacts | known)
    job = Job.objects.get(pk=job.pk)
    for number, place, seen in (
        (1, 0, ("main@1", "main after lesson 1", "", "luck")),
        (1, 1, ("rival@1", "rival after lesson 1", "", "luck")),
        (2, 0, ("main@2", "main after lesson 2", "main@1", "old (main after lesson 1)")),
        (2, 1, ("main@2", "main after lesson 2", "rival@1", "rival after lesson 1")),
    ):
        assert watched_past(team, designer, job, number, place) == seen
    text = designer.get(page(job)).content.decode()
    assert 'aria-label="Watch main against old in lesson 2"' in text
    assert "Watch main against old in lesson 2" not in signed_in(team.producer).get(page(job)).content.decode()
    address = reverse("arena:watch-past", args=[team.project.slug, job.pk])
    for number, place, status in ((3, 0, 404), (0, 0, 404), (1, 2, 404), ("x", 0, 400), (1, "", 400)):
        assert designer.post(address, {"lesson": number, "match": place}).status_code == status


def test_every_match_of_a_lesson_with_many_can_be_watched(team: Studio, designer: Client) -> None:
    matches = [{"who": ["main", "luck"], "settings": {"points": 1 + i}} for i in range(14)]
    many = lesson(*matches, times=2, after={"pool": ["main"]}, steps=4000)
    config = course({"main": PPO, "luck": "random"}, [many])
    job = actions.submit(team.project, team.designer, config, title="Many")
    metrics = {"lesson": 1.0, "lesson_over": 1.0}
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING, tick=3, metrics=metrics)
    content = designer.get(page(job)).content.decode()
    timeline, _, now = content.partition('id="who-title"')
    assert re.findall(r'name="match" value="(\d+)"', timeline) == [str(i) for i in range(14)]
    assert "and 8 more" in timeline.partition("<details")[2]
    assert re.findall(r"/matches/(\d+)/watch/", now) == [str(i) for i in range(14)]
    assert "and 2 more matches" in now
    assert signed_in(team.producer).get(page(job)).content.decode().count(">Watch<") == 0


def test_lessons_that_are_held_several_times_are_watched_one_by_one_while_others_go_on(
    team: Studio, designer: Client
) -> None:
    again = lesson(["main", "old"], times=4, after={"pool": ["main"]})
    config = course({"main": PPO, "old": {"kind": "pool", "of": ["main"]}}, [again])
    job = actions.submit(team.project, team.designer, config, title="Ladder")
    known = {f"policy_description/main@{i}": f"{i}" * 64 for i in (1, 2)} | {"policy_description": "9" * 64}
    metrics = {"lesson": 3, "lesson_over": 0}
    Job.objects.filter(pk=job.pk).update(status="running", tick=5, metrics=metrics, artifacts=known)
    job = Job.objects.get(pk=job.pk)
    text = designer.get(page(job)).content.decode()
    assert re.findall(r"<option value=\"(\d)\".*?>As in lesson \d", text) == ["1", "2"]
    assert "1 to 4. Lesson" in text
    first = ("main@1", "main after lesson 1", "main@1", "old (main after lesson 1)")
    assert watched_past(team, designer, job, 1, 0) == first, "nobody has kept what it began the lesson as"
    second = ("main@2", "main after lesson 2", "main@1", "old (main after lesson 1)")
    assert watched_past(team, designer, job, 2, 0) == second


def test_whoever_reads_who_plays_whom_reads_which_earlier_selves_a_pool_stands_for(
    team: Studio, designer: Client
) -> None:
    pool, both = {"pool": ["main"]}, {"pool": ["main", "rival"]}
    lessons = [lesson(["main", "old"], ["rival", "old"], times=times, after=after)
               for times, after in ((3, pool), (1, {}), (2, both), (2, {}))]  # fmt: skip
    roster = {"main": PPO, "rival": PPO, "old": {"kind": "pool", "of": ["main", "rival"]}}
    config = course(roster, lessons)
    job = actions.submit(team.project, team.designer, config, title="Many selves")
    for done, whom in (
        (0, "main as it began lesson 1 or rival as it began lesson 1"), (1, "main after lesson 1"),
        (5, "main after lessons 1 to 3 and 5 or rival after lesson 5"),
        (7, "main after lessons 1 to 3 and 5 to 6 or rival after lessons 5 to 6"),
    ):  # fmt: skip
        metrics = {"lesson": done, "lesson_over": 1}
        Job.objects.filter(pk=job.pk).update(status="running", tick=done, metrics=metrics)
        content = designer.get(page(job)).content.decode()
        assert content.count(f'>Old<span class="second muted d-block">{whom}</span>') == 2, whom


def test_a_sentence_names_few_stretches_of_lessons(team: Studio) -> None:
    each = [lesson(["main", "old"], after={"pool": ["main"] if i % 2 else []}) for i in range(14)]
    config = course({"main": PPO, "old": {"kind": "pool", "of": ["main"]}}, each)
    assert isinstance(config, ArenaConfig)
    assert Selves(config, {}).words("old", 14) == "main after lessons 2, 4, 6, 8 and 2 more"


def test_who_goes_on_as_another_one_is_watched_as_that_one(team: Studio) -> None:
    """A copy is the other one's network; of the best of several nobody has kept whose it was. Who does not learn in a
    lesson is none of those."""
    best = {"best": {"among": ["a", "b"]}}
    first = lesson(["a", "b"], after={"fork": {"b": "a"}})
    second = lesson(["a", "b"], frozen=["b"], after=best)
    third, fourth = lesson(["a", "b"], after=best), lesson(["a", "b"], frozen=["b"])
    config = course({"a": PPO, "b": PPO}, [first, second, third, fourth])
    assert isinstance(config, ArenaConfig)
    roles = ("a@1", "b@1", "a@2", "a@3", "b@3", "a@4")
    selves = Selves(config, {f"policy_description/{name}": name for name in roles})
    assert selves.at_end("b", 1) == ("b", 1, "b@1")
    assert selves.at_end("b", 2) == ("a", 1, "a@1")
    assert selves.at_end("b", 3) == ("b", 3, "b@3")
    assert selves.at_end("b", 4).policy == ""
    assert selves.at_end("a", 4).policy == "a@4"
    job = actions.submit(team.project, team.designer, config, title="Best")
    job.metrics, job.tick = {"lesson": 4, "lesson_over": 1}, 9
    job.artifacts = {f"policy_description/{name}": f"{i}" * 64 for i, name in enumerate(roles)}
    opponent = past_recording(job, 2, 0).opponent
    assert opponent is not None
    assert opponent.title == "b (a after lesson 1)"
    with pytest.raises(actions.Refused, match="with which b played in lesson 4 was not kept"):
        past_recording(job, 4, 0)


MIXED: tuple[tuple[Any, Any], ...] = (
    (["main"] * 3 + ["rival"] * 2 + ["still"] * 5, [("rival", [3, 4])]),
    (
        ["main", "rival", "main", "rival", "still", "still", "main", "still", "main", "rival"],
        [("rival", [1, 3]), ("still", [4]), ("main", [6, 8]), ("rival", [9])],
    ),
    (
        [["squad"] * 3, "main", "rival", ["squad"] * 3, "still", "still"],
        [("main", [3]), ("rival", [4]), ("still", [8, 9])],
    ),
)


@pytest.mark.parametrize(("who", "beside"), MIXED)
def test_a_match_of_squads_whose_members_differ_is_watched(team: Studio, who: Any, beside: Any) -> None:
    sac = {"learner": {"kind": "sac"}}
    roster = {"main": sac, "rival": sac, "squad": {"learner": {"kind": "masac"}}, "still": "tanks-static"}
    every = ["main", "rival", ["squad"] * 3, "still", "still", "still", "still", "still"]
    config = course(roster, [lesson(who, every, steps=1000)], game={"name": "tanks-two-teams"})
    job = actions.submit(team.project, team.designer, config, title="Squads")
    known = {name: f"{i}" * 64 for i, name in enumerate(("main", "rival", "squad"))}
    job.artifacts = {f"policy_description/{name}": digest for name, digest in known.items()}
    found = recording(job, 0)
    names = {digest: name for name, digest in known.items()} | {"": "still"}
    assert [(names[each.player.policy], list(each.seats)) for each in found.beside] == beside
    taken = {seat for each in found.beside for seat in each.seats}
    for side, player in ((0, found.agents[0]), (5, found.opponent)):
        assert player is not None
        flat = [name for entry in who for name in ([entry] if isinstance(entry, str) else entry)]
        assert {flat[seat] for seat in range(side, side + 5) if seat not in taken} == {names[player.policy]}
    assert found.agents[0].title.startswith(f"{names[found.agents[0].policy]} and")


def test_a_group_of_both_sides_cannot_be_watched(team: Studio) -> None:
    match = {"who": [["squad"] * 3, *["still"] * 7], "entities": [0, 1, 5, 2, 3, 4, 6, 7, 8, 9]}
    roster = {"squad": {"learner": {"kind": "masac"}}, "still": "tanks-static"}
    config = course(roster, [lesson(match, steps=1000)], game={"name": "tanks-two-teams"})
    job = actions.submit(team.project, team.designer, config, title="Squads")
    with pytest.raises(actions.Refused, match="steers entities of both sides"):
        recording(job, 0)


def test_the_agents_of_a_course_are_downloaded_together_also_as_they_were(team: Studio, designer: Client) -> None:
    job = held(team)
    address = reverse("training:policy", args=[team.project.slug, job.pk])
    button = re.search(rf'<a [^>]*href="{address}"[^>]*>', designer.get(page(job)).content.decode())
    assert button is not None
    assert "hidden" not in button[0]
    with zipfile.ZipFile(io.BytesIO(designer.get(address).content)) as taken:
        folders = {name.split("/")[0] for name in taken.namelist()}
    assert folders == {"main", "rival", "main@1", "main@2", "rival@1"}
    assert designer.get(f"{address}?of=rival").status_code == 200
    assert signed_in(team.stranger).get(address).status_code == 404


def test_while_pairs_meet_no_lesson_is_under_way_and_nothing_is_said_of_pairs_that_never_met(
    team: Studio, designer: Client
) -> None:
    job = held(team)
    whole = designer.get(page(job)).content.decode()
    assert "Seen if everybody picks well" in whole
    table = latest_table(job)
    assert table is not None
    nobody = {name: np.full_like(table.arrays[name], np.nan) for name in ("picked", "picked_low", "picked_high")}
    packed = pack({**table.meta, "missing": 1}, table.arrays | nobody)
    artifacts = {**job.artifacts, "table": store().put(packed)}
    Job.objects.filter(pk=job.pk).update(artifacts=artifacts)
    content = designer.get(page(job)).content.decode()
    assert "Seen if everybody picks well" not in content
    assert "Not all pairs met" in content
    wins = content.partition("Wins in its own battles")[2].partition("</table>")[0]
    ranges = re.findall(rf"[\d.]+ to [\d.]+{NBSP}%", wins)
    assert len(ranges) == len(table.meta["teams"]), "shares of wins have ranges here, too"
    metrics = {**job.metrics, "lesson": 2.0, "pairs": 3.0, "pairs_in_all": 10.0}
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING, metrics=metrics)
    content = designer.get(page(job)).content.decode()
    assert "3 of 10 pairs met." in content
    assert "lesson-now" in content.split("Tournament")[0].rsplit("<li", 1)[1]
    assert content.count('class="lesson lesson-now"') == 1


def test_what_an_agent_was_after_a_lesson_can_be_kept(team: Studio) -> None:
    job = held(team)
    names = [left.name for left in left_by(job)]
    assert names == ["main", "main@1", "main@2", "rival", "rival@1"]
    agent = keep(job, team.designer, "rival@1", "", False)
    assert agent.name == "Four of them: rival after lesson 1"
    assert agent.origin["learner"] == "DQN"
    content = signed_in(team.designer).get(reverse("agents:keep", args=[team.project.slug, job.pk])).content.decode()
    assert content.count("<button") == 2 * 5, "one click to keep or to watch each, and nothing to type"
    assert 'type="text"' not in content
    assert "Main after lesson 2" in content
    assert "kept as" in content


def test_agents_are_listed_as_people_count(team: Studio) -> None:
    job = held(team)
    digest = job.artifacts["policy_description/main"]
    job.artifacts = {f"policy_description/{name}": digest for name in ("b", "a@10", "a@2", "a-3", "a", "a-12")}
    assert [left.name for left in left_by(job)] == ["a", "a@2", "a@10", "a-3", "a-12", "b"]
    job.artifacts = {"policy_description": digest, "policy_description/a@1": digest}
    assert [left.called for left in left_by(job)] == ["as it is at the end", "a after lesson 1"]


def test_whoever_looks_for_a_league_or_for_opponents_that_grow_finds_courses(team: Studio, designer: Client) -> None:
    for name in ("training:new", "agents:list"):
        content = designer.get(reverse(name, args=[team.project.slug])).content.decode()
        assert form(team, "arena") in content, name
        assert "league" in content
        assert "opponents that grow" in content


def test_a_lesson_says_which_settings_its_game_has(team: Studio) -> None:
    made = ArenaForm(MINE, project=team.project, kind="arena")
    offered = OFFERS[MINE["game"]].settings
    assert offered
    assert made.fields["settings1"].help_text == set_in(offered)
    assert ", ".join(offered) in set_in(offered)
    assert set_in(()) == "This game has no settings."


def test_a_course_that_has_no_round_yet_says_so(team: Studio, designer: Client) -> None:
    config = course({1: PPO, 2: "random"}, [lesson([1, 2], steps=10**6)], copies=64, pool={"kind": "ray"})
    assert isinstance(config, ArenaConfig)
    job = actions.submit(team.project, team.designer, config, title="Many")
    content = designer.get(page(job)).content.decode()
    assert "The first round is not complete yet" in content
    assert "64 samplers share" in content
    assert 'lesson lesson-ahead"' in content
    assert "lesson-now" not in content
    assert "Who plays whom now" not in content


def test_strength_is_told_with_a_range_or_a_sentence_says_why_there_is_none() -> None:
    def table(*rows: tuple[float, float]) -> Bundle:
        names = [f"p{i}" for i in range(len(rows))]
        own = {"standing": [row[0] for row in rows], "rating": [row[1] for row in rows], "picked": [0.5] * len(rows)}
        columns = {f"{name}{end}": np.array(told) for name, told in own.items() for end in ("", "_low", "_high")}
        return Bundle({"teams": [{"name": name} for name in names], "missing": 0}, columns)

    known, none = (
        in_figures(standings(table(*rows))) for rows in (((0.4, -3.0), (0.6, 3.0)), ((0.2, np.nan), (0.8, np.nan)))
    )
    told = [(each.name, each.rating, each.points_range) for each in known]
    assert told == [("p1", "3", "3 to 3"), ("p0", "−3", "−3 to −3")]
    assert unrated(known, True) == ""
    assert unrated(none, True).startswith("Nobody has Elo points")
    assert unrated(none, False).endswith("The order of the rows counts all results together.")
    last = in_figures(standings(table((0.5, 0.0), (0.5, 0.0), (1.0, np.nan))))
    assert unrated(last, True).startswith("P2 has no Elo points")


def test_who_came_first_is_said_with_its_range_and_whether_that_is_sure() -> None:
    def won(shares: dict[tuple[int, int], float], kind: Any = "round-robin") -> Bundle:
        whole = Tournament(TournamentConfig(kind=kind, episodes=200), 1, ["a", "b", "c", "d"])
        whole.results = [(pair, np.tile([share - 0.1, share + 0.1], 50)) for pair, share in shares.items()]
        return Bundle(*whole.table())

    every = {(0, 1): 0.9, (0, 2): 0.9, (0, 3): 0.9, (1, 2): 0.5, (1, 3): 0.5, (2, 3): 0.5}
    assert first_in_words(won(every)) == f"A came first of 4 in the tournament: won 90{NBSP}% (88 to 92{NBSP}%)"
    unsure = first_in_words(won({**dict.fromkeys(every, 0.5), (0, 3): 0.55}))
    assert unsure.endswith(", and is not surely the strongest")
    some = won({(0, 1): 0.8, (2, 3): 0.8, (0, 2): 0.6, (1, 3): 0.5}, "swiss")
    assert re.fullmatch(r"A came first of 4 in the tournament: \d+ Elo points \(\d+ to \d+\).*", first_in_words(some))
    assert in_figures(standings(some))[0].won == f"70{NBSP}% (67 to 73{NBSP}%)", "also of the battles that it played"


def test_a_program_gets_who_stands_where_with_ranges_beside_the_pairs(team: Studio, designer: Client) -> None:
    job = held(team)
    lines = designer.get(
        reverse("studies:results", args=[team.project.slug, job.pk]) + "?of=standings"
    ).content.decode()
    head, *rows = lines.splitlines()
    assert head == "place,name,share,low,high,rating,rating_low,rating_high,picked,picked_low,picked_high"
    assert [row.split(",")[0] for row in rows] == [str(1 + i) for i in range(len(rows))]
    assert {row.split(",")[1] for row in rows} >= {"main", "rival", "luck", "main@1"}
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    answer = client.get(f"/api/v1/projects/{team.project.slug}/jobs/{job.pk}/results?of=standings").json()
    assert answer["count"] == len(rows)
    assert answer["rows"][0]["low"] <= answer["rows"][0]["share"] <= answer["rows"][0]["high"]


def test_who_is_there_is_told_with_the_range_of_the_last_round() -> None:
    player = RosterPlayer("main", "Learns", True)
    told: dict[str, Any] = {"tick": [1, 2], "main/win": [0.5, 0.63], "main/win_low": [None, 0.4],
                            "main/win_high": [None, 0.8]}  # fmt: skip
    assert latest(told, player) == f"wins 63{NBSP}% (40 to 80{NBSP}%)"
    assert latest({"tick": [1], "main/return": [1.5], "main/return_low": [1.0], "main/return_high": [2.0]}, player) == (
        "return 1.50 (1.00 to 2.00)"
    )
    assert latest({"tick": [1], "main/win": [0.5], "main/win_low": [None], "main/win_high": [None]}, player) == (
        f"wins 50{NBSP}%"
    )


def test_only_one_rule_says_who_is_surely_better_and_elo_points_that_disagree_are_named(
    team: Studio, designer: Client
) -> None:
    """Rock surely beats scissors by a range that holds for all pairs at once; its points are fewer all the same."""
    job = held(team)
    table = latest_table(job)
    assert table is not None
    names = [each["name"] for each in table.meta["teams"]]
    n, nobody = len(names), np.empty((0, 2), np.int64)
    apart = np.where(np.triu(np.ones((n, n)), 1), 0.6, np.where(np.tril(np.ones((n, n)), -1), 0.4, np.nan))
    unsure = {"share": apart, "low": apart - 0.05, "high": apart + 0.05, "least": apart - 0.2, "most": apart + 0.2}
    points = {f"rating{end}": np.arange(n) * 100.0 + by for end, by in (("", 0), ("_low", -9), ("_high", 9))}

    def shown(columns: dict[str, Any]) -> tuple[list[str], str]:
        whole = Bundle(table.meta, {**table.arrays, **unsure, **points, **columns})
        Job.objects.filter(pk=job.pk).update(artifacts={**job.artifacts, "table": store().put(pack(*whole))})
        return against_points(whole), designer.get(page(job)).content.decode()

    said, content = shown({"counter": nobody})
    assert said == []
    assert "surely beats" not in content.partition('id="map-title"')[2], "ranges of one pair, or of points, say nothing"
    assert re.search(r'title="40(\.0)? to 80', content), "the range of a cell is that by which it is framed or not"
    sure = {name: column.copy() for name, column in unsure.items()}
    sure["least"][0, 1], sure["most"][1, 0] = 0.55, 0.45
    said, content = shown({"counter": np.array([[0, 1]]), **sure})
    assert said == [f"{names[0]} surely beats {names[1]}, which has more Elo points."]
    assert said[0] in content
    assert content.count("surely beats</span>") == 1


def test_the_page_says_beside_the_map_who_did_not_enter_the_tournament(
    team: Studio, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = held(team)
    assert "does not enter the tournament" not in designer.get(page(job)).content.decode()
    squad = {"learner": {"kind": "masac"}}
    match = [["squad"] * 3, "luck", "luck", *["luck"] * 5]
    of_squads = course({"squad": squad, "luck": "random"}, [lesson(match)], game={"name": "tanks-two-teams"})
    assert isinstance(of_squads, ArenaConfig)
    said = arena_plan.without_groups(of_squads)
    monkeypatch.setattr(arena_plan, "without_groups", lambda config: said)
    below = designer.get(page(job)).content.decode().partition('id="map-title"')[2]
    assert "squad steers a group that is not a whole side, and does not enter the tournament" in below


def test_curves_show_where_lessons_begin_and_the_ranges_of_rounds_also_as_a_table() -> None:
    columns = {
        "tick": [1.0, 2.0, 3.0, 4.0], "steps": [100.0, 200.0, 400.0, 400.0], "lesson": [1.0, 1.0, 2.0, 2.0],
        "pairs": [None, None, None, 1.0], "a/win": [0.25, 0.5, None, None], "a/win_low": [0.125, 0.25, None, None],
        "a/win_high": [0.5, 0.75, None, None], "b/win": [None, 0.5, 0.75, None],
    }  # fmt: skip
    drawn = course_lines(["a", "b"], columns, "win")
    assert drawn.heads == ["Decisions learned from", "Lesson", "a", "b"]
    assert drawn.rows == [
        ["100", "1", f"25{NBSP}% (12 to 50{NBSP}%)", ""], ["200", "1", f"50{NBSP}% (25 to 75{NBSP}%)", f"50{NBSP}%"],
        ["400", "2", "", f"75{NBSP}%"],
    ], "pairs of the tournament are no rounds, and no range is made up"  # fmt: skip
    half = (LEFT + RIGHT) / 2
    assert [(each.text, each.x, each.x + each.width) for each in drawn.stretches] == [
        ("Lesson 1", LEFT, half), ("Lesson 2", half, RIGHT)
    ]  # fmt: skip
    line, other = drawn.lines
    assert not other.band, "no range is made up"
    (x, high), *_, (last, low) = [tuple(map(float, each.split())) for each in line.band[1:-2].split(" L")]
    assert x == last == round(line.points[0][0], 1)
    assert high < line.points[0][1] < low, "the range is around its line"
    assert line.tips[0].text == f"a, 100: 25{NBSP}% (12 to 50{NBSP}%)"
    assert {text[-2:] for text, _ in drawn.levels} == {f"{NBSP}%"}, "shares of battles won"
    assert not any("%" in text for text, _ in course_lines(["a"], columns | {"a/return": [1.0] * 4}, "return").levels)
    many = {"tick": [*map(float, range(40))], "steps": [10.0 * i for i in range(1, 41)], "a/win": [0.5] * 40,
            "lesson": [float(i + 1) for i in range(40)]}  # fmt: skip
    texts = [each.text for each in course_lines(["a"], many, "win").stretches]
    assert len(texts) == 40
    assert [text for text in texts if text][:2] == ["Lesson 1", "7"], "numbers where there is room"


def test_a_range_that_is_wide_does_not_flatten_the_lines() -> None:
    columns = {"tick": [1.0, 2.0], "steps": [1.0, 2.0], "lesson": [1.0, 1.0], "a/return": [0.0, 10.0],
               "a/return_low": [-1e6, 9.0], "a/return_high": [1e6, 11.0]}  # fmt: skip
    assert course_lines(["a"], columns, "return").frame.up == (-5.0, 15.0)


def test_the_page_draws_the_ranges_that_a_course_tells(team: Studio, designer: Client) -> None:
    content = designer.get(page(held(team))).content.decode()
    assert re.search(r'class="lines-bands"><path class="first"', content)
    assert content.count('class="stretch stretch-even"') == 2, "the second lesson, in both drawings"
    assert "Lesson 2</text>" in content


@pytest.mark.parametrize(
    ("text", "game", "found"),
    [
        ("a vs b", "tanks-two-teams", [["a"] * 5 + ["b"] * 5]),
        ("a, b", "navigation", [["a"] * 3, ["b"] * 3]),
        (
            "a vs b (penalty 0.1, obstacles 3), b vs a",
            "tanks-two-teams",
            [{"who": ["a"] * 5 + ["b"] * 5, "settings": {"penalty": 0.1, "obstacles": 3}}, ["b"] * 5 + ["a"] * 5],
        ),
        ("[[[1, 1, 1]]]", "navigation", [[[1, 1, 1]]]),
        ("[[p, p], a, b]", "navigation", [[["p", "p"], "a", "b"]]),
        ("[[p, p], [a, b]]", "navigation", [["p", "p"], ["a", "b"]]),
    ],
)
def test_match_lists_are_typed_in_words_or_as_the_paper_writes_them(text: str, game: str, found: list[Any]) -> None:
    offer = OFFERS[game]
    assert typed.matches(text, offer) == found
    whole = [match if isinstance(match, dict) else {"who": match} for match in found]
    assert typed.matches(typed.match_list(whole, offer), offer) == found
