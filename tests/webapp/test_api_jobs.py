"""Jobs through the API: bodies become the jobs that the forms would make, or all that is wrong is told at its place."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from engine.config import study_hash
from engine.config.genes import genes
from engine.studies import load
from tests.factories import Studio, archive, bundle, game_version, search_job, studio
from tests.webapp.evolutions import evolution, evolved
from tests.webapp.trainings import config, finished, learn, trained, training
from webapp.accounts.models import User
from webapp.api import kinds, tokens
from webapp.api.body import MOST_BYTES
from webapp.api.models import TokenAudit
from webapp.balance import lines
from webapp.balance.models import LineupRules, ObjectiveSet
from webapp.balance.saving import ensure_defaults, save
from webapp.games.models import GameVersion, Simulator
from webapp.lib import once
from webapp.lib.storage import store
from webapp.shared_critic.asking import TOO_HIGH
from webapp.studies import explore_build as build
from webapp.studies.explore_shortlist import decide
from webapp.studies.form_values import first_values
from webapp.studies.forms import NewJobForm
from webapp.studies.models import Job, Status
from webapp.training import beginnings

pytestmark = pytest.mark.django_db
JOBS = "/api/v1/projects/herobattle/jobs"
EVOLVE = {
    "kind": "evolve",
    "config": {"task": {"game": "cartpole", "learner": {"preset": "cartpole-ppo"}, "steps": 640}, "ticks": 2},
    "set": {"task.learner.rate": [0.0001, 0.01, "log"], "task.learner.entropy_weight": [0, 0.03]},
}

LEARNER = {"kind": "ppo", "rate": [0.0001, 0.01]}


class Script:
    """What a script sees of the API."""

    def __init__(self, team: Studio, user: User | None = None) -> None:
        text = tokens.make(user or team.designer, "ci", None, 30)[1]
        self.client = Client(headers={"Authorization": f"Bearer {text}"})

    def get(self, address: str, code: int = 200) -> Any:
        answer = self.client.get(address)
        assert answer.status_code == code, answer.getvalue()
        return answer.json() if answer["Content-Type"].startswith("application/json") else answer

    def post(self, address: str, body: Any = None, code: int = 201, key: str = "") -> Any:
        headers = {"Idempotency-Key": key} if key else {}
        answer = self.client.post(address, body, content_type="application/json", headers=headers)
        assert answer.status_code == code, answer.getvalue()
        return answer.json()

    def wrong(self, body: Any, code: int = 422) -> dict[str, str]:
        """Address to message of what speaks against a body."""
        before = Job.objects.count()
        found = self.post(JOBS, body, code)
        assert found["message"]
        assert Job.objects.count() == before
        return {problem["place"]: problem["message"] for problem in found["problems"]}


@pytest.fixture
def team(redis_server: str) -> Studio:
    made = studio()
    game_version(made.project)
    return made


@pytest.fixture
def script(team: Studio) -> Script:
    return Script(team)


@pytest.mark.parametrize(
    ("body", "place", "words"),
    [
        ({"kind": "search", "config": {"ticks": True}}, "config.ticks", "Must be a whole number, not 'true'."),
        ({"kind": "search", "set": {"cache": 1}}, "set.cache", "Must be true or false, not '1'."),
        ({"kind": "train", "config": {"game": "pong", "minutes": False}}, "config.minutes", "Must be a number, not"),
        ({"kind": "train", "config": {"game": "pong", "name": "\u3164"}}, "config.name", "something that one can see"),
    ],
)
def test_true_is_no_number_one_is_not_true_and_a_blank_is_no_name(
    team: Studio, body: dict[str, Any], place: str, words: str
) -> None:
    assert words in Script(team).wrong(body)[place]


def test_a_kind_alone_asks_the_usual_question_of_the_newest_data(team: Studio, script: Script) -> None:
    found = script.post(JOBS, {"kind": "search"})
    job = Job.objects.get(pk=found["job"])
    rules, _ = ensure_defaults(team.project, None)
    assert (job.kind, job.status, job.template, job.created_by) == ("search", Status.QUEUED, "unfair", team.designer)
    assert (job.game_version, job.lineup_rules, job.objective_set) == (team.project.versions.get(), rules, None)
    assert job.title == "Which teams are unfair?"
    assert job.config["game"]["spec"] == team.project.versions.get().spec_hash
    assert job.config == load(job.config).model_dump(mode="json")


def test_what_is_checked_is_not_started_and_what_comes_back_can_be(script: Script) -> None:
    body = {"kind": "search", "set": {"algorithm.population": 50}}
    found = script.post(f"{JOBS}/check", body, 200)
    assert Job.objects.count() == 0
    assert (found["kind"], found["config"]["algorithm"]["population"], found["plan"]) == ("search", 50, [])
    started = script.post(JOBS, {"config": found["config"]})
    assert started["config"] == found["config"]
    assert script.post(JOBS, body)["config"] == found["config"]


def test_a_check_says_all_that_is_wrong_as_starting_does(script: Script) -> None:
    body = {"kind": "train", "config": {"game": "pong", "learner": {"kind": "ppo", "rate": -1}, "steps": 0}}
    wrong = script.wrong(body)
    found = script.post(f"{JOBS}/check", body, 422)
    assert {problem["place"]: problem["message"] for problem in found["problems"]} == wrong
    assert set(wrong) == {"config.learner.rate", "config.steps"}


def test_the_check_of_a_course_has_its_plan_and_that_its_samplers_share_processors(script: Script) -> None:
    lesson = {"matches": [["left", "luck"]] * 3, "steps": 50_000, "times": 2}
    config = {
        "game": "pong-two-seats", "roster": {"left": "ppo", "luck": "random"}, "lessons": [lesson], "copies": 40,
        "tournament": {"kind": "round-robin"},
    }  # fmt: skip
    found = script.post(f"{JOBS}/check", {"kind": "arena", "config": config}, 200)
    assert Job.objects.count() == 0
    lines = found["plan"]
    assert lines[0].startswith("2 lessons, ")
    assert any(line.startswith("Lesson 1, 2 times: ") for line in lines)
    assert any(line.startswith("Tournament: 1 pair of 2 players") for line in lines)
    assert any(line.startswith("AI Arena would start ") for line in lines)
    assert len(found["notes"]) == 1
    assert "processor" in found["notes"][0]


def test_what_only_the_first_rounds_tell_is_said_before_they_are_played(team: Studio, script: Script) -> None:
    method = {"kind": "aes-rl", "mean": {"kind": "absolute", "baseline": 0}}
    body = {"kind": "aes-rl", "config": {"game": "gym:Pendulum-v1", "method": method, "steps": 20_000}}
    assert TOO_HIGH in script.post(f"{JOBS}/check", body, 200)["notes"]
    body["config"] |= {"method": {"kind": "aes-rl"}, "spread": 900}
    assert TOO_HIGH not in script.post(f"{JOBS}/check", body, 200)["notes"]


@pytest.mark.parametrize(("game", "told"), [("gym:MountainCarContinuous-v0", True), ("pong", False)])
def test_whether_an_agent_fits_a_game_of_others_is_told_at_the_start_and_the_check_says_so(
    team: Studio, script: Script, game: str, told: bool
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(beginnings, "unfit", lambda *_: ())
        body = {"kind": "train", "config": {"game": game, "learner": {"kind": "ppo"}, "start": "a" * 64}}
        notes = script.post(f"{JOBS}/check", body, 200)["notes"]
    assert any("the agent that it begins with fits" in note for note in notes) == told


def test_the_answer_says_where_the_job_is_and_how_it_stands(script: Script) -> None:
    answer = script.client.post(JOBS, {"kind": "search"}, content_type="application/json")
    found = answer.json()
    assert answer["Location"] == f"{JOBS}/{found['job']}"
    assert script.get(answer["Location"]) == found
    assert (found["status"], found["tick"], found["share"], found["exit_code"]) == ("queued", 0, 0.0, None)


def test_set_replaces_single_settings_also_those_of_the_project(script: Script) -> None:
    settings = {"algorithm.population": 50, "ticks": 20, "lineups.teams": 2, "objectives.objectives.0.threshold": 3}
    job = Job.objects.get(pk=script.post(JOBS, {"kind": "search", "set": settings})["job"])
    assert (job.config["algorithm"]["population"], job.ticks, job.config["lineups"]["teams"]) == (50, 20, 2)
    assert job.config["objectives"]["objectives"][0]["threshold"] == 3
    assert (job.template, job.lineup_rules) == ("unfair", None)  # other rules than the project's


def test_rules_and_objectives_of_the_project_are_chosen_by_number(team: Studio, script: Script) -> None:
    rules = save(LineupRules, team.project, "Pairs", {"teams": 2}, team.owner)
    _, objectives = ensure_defaults(team.project, None)
    body = {"kind": "search", "lineup_rules": rules.pk, "objective_set": objectives.pk, "game_version": 14}
    job = Job.objects.get(pk=script.post(JOBS, body)["job"])
    assert (job.lineup_rules, job.objective_set, job.template) == (rules, objectives, "own")
    assert job.config["lineups"]["teams"] == 2


def test_the_study_of_the_command_line_s_readme_is_a_body(script: Script) -> None:
    config = {"name": "first-look", "seed": 7, "game": {"simulator": "builtin:herobattle"},
              "lineups": {"teams": 3, "baselines": {"kind": "drawn", "count": 3}},
              "algorithm": {"kind": "nsga2", "population": 200}, "ticks": 100, "pool": {"workers": 2}}  # fmt: skip
    job = Job.objects.get(pk=script.post(JOBS, {"kind": "search", "config": config})["job"])
    assert (job.title, job.config["seed"], job.config["pool"]["workers"]) == ("first-look", 7, 2)


def test_a_patch_has_to_be_a_version_of_the_project(team: Studio, script: Script) -> None:
    patch = {"marrow-duke.cost": 700.0}
    game = {"simulator": "builtin:herobattle", "patch": patch}
    assert list(script.wrong({"kind": "search", "config": {"game": game}})) == ["config.game.patch"]
    first = team.project.versions.get()
    GameVersion.objects.create(project=team.project, simulator=first.simulator, number=15, label="Dearer", patch=patch,
                               spec_hash=first.spec_hash, content_hash="x")  # fmt: skip
    job = Job.objects.get(pk=script.post(JOBS, {"kind": "search", "config": {"game": game}})["job"])
    assert job.game_version is not None
    assert (job.game_version.number, job.config["game"]["patch"]) == (15, patch)
    assert "Game data" in script.wrong({"kind": "search", "set": {"game.patch": {}}})["set.game.patch"]


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({}, {"kind"}),
        ({"kind": "recheck"}, {"kind"}),
        ({"kind": "search", "hope": 1, "game_version": 0}, {"hope", "game_version"}),
        ({"kind": "search", "game_version": 3}, {"game_version"}),
        ({"kind": "search", "lineup_rules": 2**30, "question": "why"}, {"lineup_rules", "question"}),
        ({"kind": "search", "lineup_rules": 1, "config": {"lineups": {}}}, {"lineup_rules"}),
        ({"kind": "search", "config": {"kind": "train"}}, {"config.kind"}),
        ({"kind": "search", "config": {"ticks": 0, "seed": "x", "algorithm": {"kind": "nsga2", "population": 3}}},
         {"config.ticks", "config.seed", "config.algorithm.population"}),
        ({"kind": "search", "config": {"tics": 3}, "set": {"algorithm.popluation": 3, "noise.again": 0}},
         {"config.tics", "set.algorithm.popluation", "set.noise.again"}),
        ({"kind": "search", "set": {"a..b": 1, "ticks.x": 2, "": 3}}, {"set.a..b", "set."}),
        ({"kind": "search", "config": {"game": "pong"}}, {"config.game"}),
        ({"kind": "search", "config": {"game": {"simulater": "x"}}}, {"config.game.simulater"}),
        ({"kind": "search", "set": {"game.fidelity": "sketch"}}, {"set.game.fidelity"}),
        ({"kind": "search", "set": {"pool.address": "10.0.0.1:6379"}}, {"set.pool.address"}),
        ({"kind": "search", "config": {"lineups": {"banned": ["nobody"]}}}, {"config.lineups.banned"}),
        ({"kind": "search", "config": {"lineups": {"baselines": {"kind": "pasted", "teams": [
            {"slots": {"hero": "nobody", "soldiers": 10**12}}]}}}}, None),
        ({"kind": "search", "config": {"objectives": {"objectives": [
            {"name": "a", "title": "A", "formula": "x + 1"}]}}}, {"config.objectives.objectives.0.formula"}),
        ({"kind": "search", "config": {"objectives": {"objectives": [
            {"name": "a", "title": "A", "formula": "1"}]}}}, {"config.objectives.objectives.0.formula"}),
        ({"kind": "search", "config": {"objectives": {"objectives": [
            {"name": "a", "title": "A", "formula": "mean(win)", "threshold": 1e999}]}}},
         {"config.objectives.objectives.0.threshold"}),
        ({"kind": "search", "config": {"objectives": {"objectives": [
            {"name": "a", "title": "A", "formula": "mean(win)", "threshold": 0.5},
            {"name": "b", "title": "B", "formula": "100 * mean(win)", "direction": "min", "threshold": 150},
            {"name": "c", "title": "C", "formula": "sum(resources)", "threshold": 1e300}]}}},
         {"config.objectives.objectives.1.threshold", "config.objectives.objectives.2.threshold"}),
        ({"kind": "search", "set": {"algorithm": {"kind": "pbt"}}}, {"set.algorithm.kind"}),
        ({"kind": "search", "set": {"algorithm": {"kind": "pso"}, "noise.racing": "halving"}}, {"config.noise"}),
        ({"kind": "search", "set": {"algorithm": {"kind": "nsga3"}, "noise.racing": "halving"}}, {"set.noise.racing"}),
        ({"kind": "search", "set": {"algorithm.steady": True, "noise.racing": "halving"}}, {"set.noise.racing"}),
        ({"kind": "search", "set": {"algorithm": {"kind": "nsga3", "partitions": 99}}}, {"set.algorithm.partitions"}),
        ({"kind": "search", "set": {"algorithm": {"kind": "map-elites", "quality": "x", "low": [0]}}},
         {"set.algorithm.quality", "set.algorithm.low"}),
        ({"kind": "search", "lineup_rules": True, "game_version": "1", "objective_set": 1.0},
         {"lineup_rules", "game_version", "objective_set"}),
        ({"kind": "train", "game_version": 1, "config": {"game": "cartpole"}}, {"game_version"}),
        ({"kind": "train", "config": {"game": "pong", "learner": {"preset": ["pong-ppo"]}}}, {"config.learner"}),
        ({"kind": "train", "config": {"game": "pong", "start": "ab" * 32}}, {"config.start"}),
        ({"kind": "train", "config": {"game": "pong-two-seats", "policies": {
            "left": {"start": "ab" * 32}, "right": {"seats": [1]}}}}, {"config.policies.left.start"}),
        ({"kind": "train", "config": {"game": "pong-two-seats"}}, {"config.policies"}),
        ({"kind": "train", "config": {"game": "connect-four", "policies": {"one": {}}}}, {"config.policies"}),
        ({"kind": "train", "config": {"game": "pong", "policies": {"a": {}, "b": {"seats": [1]}}}},
         {"config.policies"}),
        ({"kind": "train", "config": {"game": "pong-two-seats", "policies": {
            "left": {}, "right": {"kind": "scripted", "seats": [1], "player": "chess"}}}},
         {"config.policies.right.player"}),
        ({"kind": "train", "config": {"game": "connect-four", "policies": {
            "one": {}, "two": {"kind": "scripted", "seats": [1], "player": "pong-follower"}}}},
         {"config.policies.two.player"}),
        ({"kind": "train", "config": {"game": {"name": "pong", "settings": {"points": 0, "rewards": ["beauty"]}}}},
         {"config.game.settings.points", "config.game.settings.rewards.0"}),
        ({"kind": "evolve", "config": {"task": {"game": {"name": "pong", "settings": {"points": [0, 5]}},
                                                 "learner": {"kind": "ppo", "rate": [0.001, 0.01]}}}},
         {"config.task.game.settings.points"}),
        ({"kind": "train", "config": {"game": "command:sh -c reboot"}}, {"config.game.name"}),
        ({"kind": "train", "config": {"game": "python:os:system"}}, {"config.game.name"}),
        ({"kind": "train", "config": {"game": "gym:antigravity:X-v0"}}, {"config.game.name"}),
        ({"kind": "train", "config": {"game": {"name": "gym:Hopper-v5", "settings": {"xml_file": "/etc/passwd"}}}},
         {"config.game.settings.xml_file"}),
        ({"kind": "train", "config": {"game": "pendulum", "learner": "cartpole-dqn"}}, {"config.learner.kind"}),
        ({"kind": "evolve", "config": {"task": {"game": "cartpole"}}}, {"config.task"}),
        ({"kind": "evolve", "config": {"task": {"game": "cartpole", "learner": {"preset": "cartpole-ppo", "rate": 9}}}},
         {"config.task.learner.rate"}),
        ({"kind": "evolve", "config": {"task": {"game": "reboot", "learner": {"kind": "ppo", "rate": [0.01, 1]}},
                                         "objectives": [{"measure": ""}], "seed": [1, 9]}},
         {"config.task.game.name", "config.objectives.0.measure", "config.seed"}),
        ({"kind": "evolve", "config": {"task": {"game": "pong", "steps": [1000, 2000], "learner": "pong-ppo"},
                                         "objectives": [{"measure": "kills"}], "behaviour": ["moved", "jumps"]}},
         {"config.objectives.0.measure", "config.behaviour.1"}),
        ({"kind": "evolve", "config": {"task": {"game": "pong", "steps": [1000, 2000], "learner": "pong-ppo"},
                                         "objectives": [{"measure": "a", "formula": "score - kills"}]}},
         {"config.objectives.0.formula"}),
        ({"kind": "evolve", "config": {"task": {"game": "pong", "steps": [1000, 2000], "learner": "pong-ppo"},
                                         "objectives": [{"measure": "a", "formula": "score / 0"}]}},
         {"config.objectives.0.formula"}),
        ({"kind": "style", "config": {"task": {"game": "pong", "style": {"winning": "score", "style": "moved",
                                      "w1": [0, 1], "w2": [0, 1]}}, "behaviour": ["moved"],
                                      "objectives": [{"measure": "score"}, {"measure": "a", "formula": "score / 0"}]}},
         {"config.objectives.1.formula"}),
        ({"kind": "style", "config": {"task": {"game": "pong", "style": {"winning": "score", "style": "moved",
                                      "w1": [0, 1], "w2": [0, 1]}}, "behaviour": ["jumps"],
                                      "objectives": [{"measure": "score"}, {"measure": "kills"}]}},
         {"config.objectives.1.measure", "config.behaviour.0"}),
        ({"kind": "search", "config": {"ticks": 0, "lineups": {"banned": ["nobody"]}, "objectives": {"objectives": [
            {"name": "a", "title": "A", "formula": "x + 1"}]}}, "set": {"noise.racing": "tests", "noise.most": 4}},
         {"config.ticks", "config.lineups.banned", "config.objectives.objectives.0.formula", "set.noise.most"}),
        ({"kind": "search", "set": {"algorithm.fair": True}}, {"set.algorithm.fair"}),
        ({"kind": "evolve", "config": {"task": {"game": "cartpole", "learner": {"kind": "ppo", "rate": [0.1, 0.01]}}}},
         {"config.task.learner.rate"}),
        ({"kind": "evolve", "config": {"task": {"game": "cartpole", "learner": {
            "kind": "ppo", "rate": [0, 1e999], "batch": [1, 10**400], "reuse": 1e999}}}},
         {"config.task.learner.rate", "config.task.learner.batch", "config.task.learner.reuse"}),
    ],
)  # fmt: skip
def test_everything_that_is_wrong_is_told_at_its_place(body: dict[str, Any], places: set[str], script: Script) -> None:
    found = script.wrong(json.dumps(body).replace("Infinity", "1e999"))
    if places is not None:
        assert set(found) == places
    assert all(message.endswith((".", "?")) for message in found.values())


def test_a_range_where_none_may_be_is_told_so_plainly(script: Script) -> None:
    body = {"kind": "search", "set": {"algorithm.mutation": [0.1, 0.9]}}
    assert "cannot choose its own settings" in script.wrong(body)["set.algorithm.mutation"]
    train = {"kind": "train", "config": {"game": "cartpole", "learner": {"kind": "ppo", "rate": [0.001, 0.1]}}}
    assert "is a range" in next(iter(script.wrong(train).values()))


def test_ranges_become_genes_from_the_config_and_from_set(script: Script) -> None:
    job = Job.objects.get(pk=script.post(JOBS, EVOLVE)["job"])
    assert {gene.place: gene.log for gene in genes(load(job.config))} == {
        "task.learner.rate": True, "task.learner.entropy_weight": False
    }  # fmt: skip
    assert (job.kind, job.template, job.config["task"]["game"]["name"]) == ("evolve", "cartpole-ppo", "gym:CartPole-v1")


def test_a_training_is_what_the_form_would_have_made(script: Script) -> None:
    body = {"kind": "train", "config": {"game": "cartpole", "learner": "cartpole-ppo", "steps": 5000}}
    job = Job.objects.get(pk=script.post(JOBS, body)["job"])
    assert (job.kind, job.template, job.title) == ("train", "cartpole-ppo", "An agent for CartPole")
    assert job.config == load(job.config).model_dump(mode="json")


def test_a_training_uses_policies_of_its_own_project_that_learned_its_game(team: Studio, script: Script) -> None:
    pong = config(game={"name": "pong"}, learner="pong-ppo")
    for project, digest, plain in (
        (team.project, "a" * 64, pong),
        (team.project, "b" * 64, config()),
        (studio("other").project, "c" * 64, pong),
    ):
        training(project, status=Status.FINISHED, artifacts={"policy_description": digest}, config=plain)

    def body(digest: str) -> dict[str, Any]:
        policies = {"left": {}, "right": {"kind": "frozen", "seats": [1], "policy": digest}}
        return {"kind": "train", "config": {"game": "pong-two-seats", "learner": "pong-ppo", "policies": policies}}

    assert "was trained in CartPole" in script.wrong(body("b" * 64))["config.policies.right.policy"]
    assert "No job of this project" in script.wrong(body("c" * 64))["config.policies.right.policy"]
    job = script.post(JOBS, body("a" * 64))["job"]
    foreign = {"set": {"policies.right.policy": "c" * 64}}
    (told,) = script.post(f"{JOBS}/{job}/clone", foreign, 422)["problems"]
    assert told["place"] == "set.policies.right.policy"


def test_a_goal_that_the_game_is_known_not_to_tell_is_refused(team: Studio, script: Script) -> None:
    job = evolution(team.project)
    seat = {"seat": {"rewards": ["points"], "signals": []}}
    row = trained(team.project, 1)
    Job.objects.filter(pk=row.pk).update(
        config={**row.config, "game": job.config["task"]["game"]},
        artifacts={"policy_description": store().put(json.dumps(seat).encode())},
    )
    body = {"set": {"objectives.0.measure": "beauty"}}
    found = script.post(f"{JOBS}/{job.pk}/clone", body, 422)["problems"]
    assert [problem["place"] for problem in found] == ["set.objectives.0.measure"]
    assert "return" in found[0]["message"]


def test_a_game_that_cannot_be_played_starts_nothing(team: Studio, script: Script) -> None:
    Simulator.objects.update(status=Simulator.Status.MISSING, message="It is not installed.")
    assert "It is not installed." in script.wrong({"kind": "search"})["game_version"]
    Job.objects.filter(pk=search_job_of(team).pk).update(status=Status.FINISHED)
    number = Job.objects.get().pk
    assert "not installed" in script.post(f"{JOBS}/{number}/clone", {}, 422)["problems"][0]["message"]


def search_job_of(team: Studio) -> Job:
    """A finished search of the version that is there."""
    version = team.project.versions.get()
    GameVersion.objects.filter(pk=version.pk).delete()
    return search_job(team.project, rows=40)


def test_a_job_is_steered_as_from_its_page(script: Script) -> None:
    number = script.post(JOBS, {"kind": "search"})["job"]
    assert script.post(f"{JOBS}/{number}/pause", code=200)["status"] == "paused"
    assert script.post(f"{JOBS}/{number}/resume", code=200)["status"] == "queued"
    ended = script.post(f"{JOBS}/{number}/stop", code=200)
    assert (ended["status"], ended["exit_code"]) == ("stopped", 0)
    assert script.post(f"{JOBS}/{number}/stop", code=409)["message"] == "This job has ended already."
    told = script.get(f"{JOBS}/{number}/events")
    assert [event["status"] for event in told["events"]] == ["queued", "paused", "queued", "stopped"]


def test_a_clone_is_the_same_but_for_what_was_set(team: Studio, script: Script) -> None:
    first = Job.objects.get(pk=script.post(JOBS, {"kind": "search", "question": "price"})["job"])
    same = Job.objects.get(pk=script.post(f"{JOBS}/{first.pk}/clone", {})["job"])
    other = Job.objects.get(pk=script.post(f"{JOBS}/{first.pk}/clone", {"set": {"seed": 2}})["job"])
    refers = ("template", "game_version", "lineup_rules", "objective_set", "title")
    assert all(getattr(job, name) == getattr(first, name) for job in (same, other) for name in refers)
    assert (same.config_hash, other.config) == (first.config_hash, {**first.config, "seed": 2})
    evolve = script.post(JOBS, EVOLVE)["job"]
    again = Job.objects.get(pk=script.post(f"{JOBS}/{evolve}/clone", {"set": {"ticks": 3}})["job"])
    assert (again.ticks, again.template) == (3, "cartpole-ppo")


@pytest.mark.parametrize(
    "wanted",
    [
        {"kind": "gossip", "config": {"game": "pong"}},
        {"kind": "aes-rl", "config": {"game": "pendulum", "spread": 5}},
        {"kind": "self-play", "config": {"task": {"game": "pong-two-seats"}}, "set": {"task.learner": LEARNER}},
    ],
    ids=lambda wanted: wanted["kind"],
)
def test_a_training_that_begins_with_no_preset_can_be_cloned(script: Script, wanted: dict[str, Any]) -> None:
    first = script.post(JOBS, wanted)
    again = script.post(f"{JOBS}/{first['job']}/clone", {"set": {"seed": 2}})
    assert again["config"] == first["config"] | {"seed": 2}


def test_a_search_that_was_made_by_the_form_can_be_cloned(team: Studio, script: Script) -> None:
    job = search_job_of(team)
    Job.objects.filter(pk=job.pk).update(kind="recheck")
    assert "Only a search" in script.post(f"{JOBS}/{job.pk}/clone", {}, 409)["message"]
    Job.objects.filter(pk=job.pk).update(kind="search")
    assert Job.objects.get(pk=script.post(f"{JOBS}/{job.pk}/clone", {})["job"]).config["seed"] == job.config["seed"]


def test_a_request_that_is_sent_again_starts_one_job(team: Studio, script: Script) -> None:
    first = script.post(JOBS, {"kind": "search"}, key="build 7")
    again = script.post(JOBS, {"kind": "search"}, 200, "build 7")
    assert (again["job"], again["status"]) == (first["job"], "queued")
    clone = f"{JOBS}/{first['job']}/clone"
    assert script.post(clone, {"set": {"seed": 2}}, key="build 8")["job"] != first["job"]
    for address, body in ((JOBS, {"kind": "search", "set": {"seed": 3}}), (clone, {"kind": "search"})):
        found = script.post(address, body, 422, "build 7")
        assert f"started job {first['job']} with another request" in found["message"]
    assert len(script.post(JOBS, {"kind": "search"}, 422, "x" * 201)["problems"]) == 1
    assert TokenAudit.objects.filter(action="started").count() == Job.objects.listed().count() == 2


def test_what_was_refused_may_be_mended_and_sent_with_the_same_key(script: Script) -> None:
    script.post(JOBS, {"kind": "search", "set": {"ticks": 0}}, 422, "build 7")
    script.post(JOBS, {"kind": "search", "set": {"ticks": 5}}, 201, "build 7")


def test_a_key_is_one_person_s_in_one_project(team: Studio, script: Script) -> None:
    other = Script(team, team.engineer)
    mine, theirs = (each.post(JOBS, {"kind": "search"}, key="1")["job"] for each in (script, other))
    assert mine != theirs
    assert len({script.post(JOBS, {"kind": "search"})["job"] for _ in range(2)}) == 2


def test_of_two_requests_of_one_key_that_arrive_at_once_one_starts_a_job(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = script.post(JOBS, {"kind": "search"}, key="1")["job"]
    real, looks = once._made, list[Any]()

    def late(*given: Any) -> Job | None:
        looks.append(given)
        return None if len(looks) == 1 else real(*given)

    monkeypatch.setattr(once, "_made", late)
    assert script.post(JOBS, {"kind": "search"}, 200, "1")["job"] == first
    assert Job.objects.listed().count() == Job.objects.filter(kind="worth").count() == 1


@pytest.mark.parametrize(
    ("kind", "place"), [("search", "pool.workers"), ("train", "samplers"), ("evolve", "pool.workers")]
)
def test_more_workers_than_the_site_has_room_for_are_refused(
    team: Studio, script: Script, settings: Settings, kind: str, place: str
) -> None:
    settings.CPUS = 2
    train = {"kind": "train", "config": {"game": "cartpole", "learner": {"preset": "cartpole-ppo"}}}
    body = {"search": {"kind": "search"}, "train": train, "evolve": EVOLVE}[kind]
    told = script.post(JOBS, body | {"set": {**EVOLVE["set"], place: 1024} if kind == "evolve" else {place: 1024}}, 422)
    assert {"place": f"set.{place}", "message": "Must be 8 or less: this site has 2 processors."} in told["problems"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"kind": "search", "config": {f"wrong{i}": 1 for i in range(10_000)}}, 422),
        ({f"wrong{i}": 1 for i in range(10_000)}, 422),
        ({"kind": "search", "config": {f"text{i}": "\a" for i in range(10_000)}}, 400),
    ],
)
def test_of_very_many_mistakes_the_first_are_told_and_how_many_more_there_are(
    script: Script, body: dict[str, Any], code: int
) -> None:
    problems = script.post(JOBS, body, code)["problems"]
    assert len(problems) == 51
    assert problems[-1]["place"] == ""
    assert re.fullmatch(r"And 9,95\d more\.", problems[-1]["message"])


def test_a_place_with_an_endless_name_is_told_in_short(script: Script) -> None:
    body = {"kind": "search", "config": {"a" * 200_000: {}, **{f"{'b' * 5000}{i}": 1 for i in range(50)}}}
    told = json.dumps(script.post(JOBS, body, 422))
    assert len(told) < 20_000


def test_a_number_too_long_to_be_read_is_refused_in_words(team: Studio, script: Script) -> None:
    (problem,) = script.post(JOBS, {"kind": "search", "set": {"seed": 1e308}}, 422)["problems"]
    assert problem == {"place": "set.seed", "message": "Must have fewer digits, not '1e+308'."}


def test_lineups_that_a_job_plays_again_already_are_answered_with_that_job(team: Studio, script: Script) -> None:
    where = f"{JOBS}/{search_job_of(team).pk}/recheck"
    first = script.post(where, {"lineups": [3, 12], "replicates": 64})["job"]
    assert script.post(where, {"lineups": [3, 12], "replicates": 32}, 200)["job"] == first
    assert script.post(where, {"lineups": [12, 3], "replicates": 64}, 200, "a key")["job"] == first
    assert script.post(where, {"lineups": [12, 13], "replicates": 32})["job"] != first
    assert script.post(where, {"lineups": [3, 12], "replicates": 128})["job"] != first
    Job.objects.filter(parent__isnull=False).update(status=Status.FINISHED)
    assert script.post(where, {"lineups": [3, 12], "replicates": 64})["job"] != first


def test_the_shortlist_is_played_again_and_says_what_was_found(team: Studio, script: Script) -> None:
    job = search_job_of(team)
    where = f"{JOBS}/{job.pk}"
    assert "Nothing on the shortlist" in script.post(f"{where}/recheck", {}, 409)["message"]
    decide(job, build.explored(job), team.designer, 12, "add", "Too strong")
    started = script.post(f"{where}/recheck", {}, key="nightly 5")
    assert script.post(f"{where}/recheck", {}, 200, "nightly 5")["job"] == started["job"]
    again = Job.objects.get(pk=started["job"])
    assert (again.kind, again.parent, len(again.config["genomes"]), again.config["replicates"]) == (
        "recheck", job, 1, 32
    )  # fmt: skip
    columns = {name: column[[12]] for name, column in archive(40).items()}
    columns |= {"objective": np.array([[3.5, 60.0, 60.0]]), "error": np.full((1, 3), 0.01), "samples": np.array([32])}
    Job.objects.filter(pk=again.pk).update(status=Status.FINISHED, artifacts={"result": store().put(bundle(columns))})
    (row,) = script.get(f"{where}/results?of=shortlist")["rows"]
    assert (row["lineup"], row["finding"], row["fresh"]) == (12, "confirmed", True)
    now = build.explored(Job.objects.get(pk=job.pk))
    metrics, verdict = script.get(where)["metrics"], now.core["verdict"]
    assert (metrics["confirmed"], metrics["replayed"]) == (1, 1)
    assert (metrics["strong"], metrics["over"]) == ((verdict == 2).sum(), (verdict > 0).sum())
    assert metrics["worst"] == pytest.approx(3.5)
    front = script.get(f"{where}/results")["rows"]
    assert {each["finding"] for each in front} <= {None, "confirmed"}
    assert script.post(f"{where}/recheck", {"again": True, "replicates": 64})["config"]["replicates"] == 64


def test_lineups_are_played_again_by_their_numbers(team: Studio, script: Script) -> None:
    where = f"{JOBS}/{search_job_of(team).pk}/recheck"
    found = script.post(where, {"lineups": [3, 17, 3]})["config"]
    assert found["genomes"] == archive(40)["genome"][[3, 17]].tolist()
    assert found["anchors"] == archive(40)["anchor"][[3, 17]].tolist()
    later = script.post(where, {"lineups": [3]})["config"]
    assert later["first"] >= found["first"] + found["replicates"]
    wrong = script.post(where, {"lineups": [3, 99], "again": True}, 422)["problems"]
    assert [problem["place"] for problem in wrong] == ["lineups.1", "again"]
    assert [p["place"] for p in script.post(where, {"replicates": [2, 4]}, 422)["problems"]] == ["replicates"]
    training = trained(team.project, 1)
    assert "Only what a search" in script.post(f"{JOBS}/{training.pk}/recheck", {}, 409)["message"]
    assert "shortlist" in script.get(f"{JOBS}/{evolved(team.project).pk}/results?of=shortlist", 404)["message"]


def test_jobs_are_listed_newest_first_page_by_page(team: Studio, script: Script) -> None:
    numbers = [script.post(JOBS, {"kind": "search"})["job"] for _ in range(3)]
    trained(team.project, 1)
    first = script.get(f"{JOBS}?size=2&kind=search")
    assert [job["job"] for job in first["jobs"]] == numbers[:0:-1]
    assert (first["count"], first["page"], first["pages"]) == (3, 1, 2)
    assert [job["job"] for job in script.get(f"{JOBS}?size=2&kind=search&page=2")["jobs"]] == numbers[:1]
    assert script.get(f"{JOBS}?page=9")["jobs"] == []
    assert [job["kind"] for job in script.get(f"{JOBS}?status=running")["jobs"]] == ["train"]


def test_events_come_in_order_and_none_twice(team: Studio, script: Script) -> None:
    job = trained(team.project, 5)
    where = f"{JOBS}/{job.pk}/events"
    first = script.get(f"{where}?limit=3")
    assert ([e["sequence"] for e in first["events"]], first["next"], first["more"]) == ([1, 2, 3], 3, True)
    second = script.get(f"{where}?after=3")
    assert ([e["sequence"] for e in second["events"]], second["more"]) == ([4, 5], False)
    assert script.get(f"{where}?after=5") == {"events": [], "next": 5, "more": False}
    learn(job, 6)
    assert script.get(f"{where}?after=5")["events"][0]["metrics"]["return"] == 60.0


def test_every_point_in_time_is_written_alike(team: Studio, script: Script) -> None:
    job = trained(team.project, 2)
    Job.objects.filter(pk=job.pk).update(started_at=job.created_at, finished_at=job.created_at)
    detail, (listed,) = script.get(f"{JOBS}/{job.pk}"), script.get(JOBS)["jobs"]
    version = script.get("/api/v1/projects/herobattle")["game_versions"][0]
    told = script.get(f"{JOBS}/{job.pk}/events")["events"]
    times = [row[name] for row in (detail, listed) for name in ("created", "started", "ended")]
    times += [version["created"], *(event["at"] for event in told)]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z", time) for time in times), times
    waiting = script.post(JOBS, {"kind": "search"})
    assert (waiting["started"], waiting["ended"]) == (None, None)


def test_the_front_and_the_archive_come_as_rows_and_as_csv(team: Studio, script: Script) -> None:
    job = search_job_of(team)
    where = f"{JOBS}/{job.pk}/results"
    front, archive = script.get(where), script.get(f"{where}?of=archive&limit=7&offset=35")
    assert (archive["count"], len(archive["rows"])) == (40, 5)
    assert 0 < front["count"] < 40
    row = front["rows"][0]
    assert set(row["objectives"]) == {"advantage", "gap", "weakest"}
    assert row["objectives"]["gap"]["low"] < row["objectives"]["gap"]["mean"] < row["objectives"]["gap"]["high"]
    assert len(row["teams"]) == 3
    assert row["teams"][0]["slots"]["hero"]
    lines = script.get(f"{where}?as=csv").getvalue().decode("utf-8-sig").splitlines()
    assert len(lines) == front["count"] + 1
    assert script.get(f"{JOBS}/{job.pk}")["results"] == ["results", "rounds"]


def test_a_team_of_the_results_can_be_a_baseline_team_of_the_next_search(team: Studio, script: Script) -> None:
    job = search_job_of(team)
    teams = [{"slots": team["slots"]} for team in script.get(f"{JOBS}/{job.pk}/results")["rows"][0]["teams"]]
    script.post(JOBS, {"kind": "search", "config": {"lineups": {"baselines": {"kind": "pasted", "teams": teams}}}})


def test_a_search_that_has_found_nothing_yet_has_no_rows(script: Script) -> None:
    number = script.post(JOBS, {"kind": "search"})["job"]
    assert script.get(f"{JOBS}/{number}/results") == {"of": "front", "rows": [], "count": 0, "offset": 0}
    assert len(script.get(f"{JOBS}/{number}/results?of=archive&as=csv").getvalue().splitlines()) == 1
    number = script.post(JOBS, EVOLVE)["job"]
    assert script.get(f"{JOBS}/{number}/results")["rows"] == []
    script.get(f"{JOBS}/{number}/policy.zip", 404)


def test_players_come_with_the_settings_they_were_trained_with(team: Studio, script: Script) -> None:
    job = evolved(team.project)
    where = f"{JOBS}/{job.pk}"
    front, archive = script.get(f"{where}/results"), script.get(f"{where}/results?of=archive")
    assert archive["count"] >= 12
    row = front["rows"][0]
    assert set(row["settings"]) == {"task.learner.rate", "task.learner.entropy_weight"}
    assert set(row["goals"]) == {"return", "length"}
    assert row["fresh"]
    lines = script.get(f"{where}/results?as=csv").getvalue().decode().splitlines()
    assert len(lines) == front["count"] + 1
    assert "policy.zip" in script.get(where)["results"]
    assert script.get(f"{where}/policy.zip").getvalue()[:2] == b"PK"
    assert "Keep its agent" in script.get(f"{where}/policy.onnx", 404)["message"]


def test_a_training_gives_its_rounds_its_agent_and_its_graph(team: Studio, script: Script) -> None:
    where = f"{JOBS}/{finished(team.project).pk}"
    assert script.get(where)["results"] == ["rounds", "policy.zip", "policy.onnx"]
    assert script.get(where)["exit_code"] == 0
    assert script.get(f"{where}/rounds")["tick"][-1] == 40
    assert len(script.get(f"{where}/rounds?as=csv").getvalue().splitlines()) == 41
    assert script.get(f"{where}/policy.onnx").getvalue() == b"a graph"
    assert "…/rounds" in script.get(f"{where}/results", 404)["message"]


@pytest.mark.parametrize(("permanent", "code"), [(True, 2), (False, 1)])
def test_a_failed_job_s_exit_code_says_whether_to_try_again(
    permanent: bool, code: int, team: Studio, script: Script
) -> None:
    job = trained(team.project, 1, status=Status.FAILED)
    job.events.create(sequence=9, kind="failed", at=job.started_at, body={"message": "No.", "permanent": permanent})
    assert script.get(f"{JOBS}/{job.pk}")["exit_code"] == code


@pytest.mark.parametrize(
    ("sent", "code", "words"),
    [
        (b"{", 400, "line 1, column 2"),
        (b"[]", 400, "no table"),
        (b"\xff", 400, "UTF-8"),
        (b'{"kind": "search", "config": {"ticks": 3}, "config": {"ticks": 4}}', 400, "“config” twice"),
        (b'{"kind": "search", "config": {"ticks": 3, "seed": 1, "ticks": 3}}', 400, "“ticks” twice"),
        (b'{"config": {"seed": ' + b"9" * 5000 + b"}}", 400, "number that nobody can read"),
        (b'{"config": ' + b"[" * 100_000, 400, "inside each other"),
        (b'{"config": ' + b'{"a":' * 60 + b"1" + b"}" * 60 + b"}", 400, "inside each other"),
        (b'{"question": "' + b"x" * MOST_BYTES + b'"}', 413, "512 kB"),
    ],
)  # fmt: skip
def test_a_body_that_cannot_be_read_is_refused_in_a_sentence(
    sent: bytes, code: int, words: str, script: Script
) -> None:
    found = script.post(JOBS, sent, code)
    assert words in found["message"]
    assert found["problems"] == []


def test_each_entry_of_a_body_that_is_no_number_in_json_is_named_at_its_place(script: Script) -> None:
    sent = b"""{"kind": "starts", "config": {"game": {"name": "half-field"}, "scheduler": {"high": -Infinity},
        "tasks": [{"name": "a"}, {"name": "b", "settings": {"ball_x_min": NaN, "apart": Infinity}, "hard": true}]}}"""
    found = script.post(JOBS, sent, 400)
    assert "which is no number in JSON" in found["message"]
    assert {problem["place"]: problem["message"] for problem in found["problems"]} == {
        "config.scheduler.high": "-Infinity is no number in JSON. Write a number, or leave this out.",
        "config.tasks.1.settings.ball_x_min": "NaN is no number in JSON. Write a number, or leave this out.",
        "config.tasks.1.settings.apart": "Infinity is no number in JSON. Write a number, or leave this out.",
    }
    assert "no table" in script.post(JOBS, b"NaN", 400)["message"]


def test_a_number_too_large_for_any_computer_is_named_at_its_place(script: Script) -> None:
    sent = b"""{"kind": "starts", "config": {"game": {"name": "half-field"}, "tasks": [
        {"name": "b", "settings": {"ball_x_min": 1e999}, "hard": true}]}}"""
    assert [problem["place"] for problem in script.post(JOBS, sent, 422)["problems"]] == [
        "config.tasks.0.settings.ball_x_min"
    ]


def test_a_body_has_to_say_that_it_is_json(script: Script) -> None:
    answer = script.client.post(JOBS, {"kind": "search"})
    assert answer.status_code == 415
    assert "Content-Type: application/json" in answer.json()["message"]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@hypothesis_settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    place=st.sampled_from([
        "kind", "config", "set", "question", "game_version", "config.game", "config.name", "config.lineups",
        "config.objectives", "config.algorithm", "config.pool", "config.task", "config.learner", "config.stop",
        "set.game.patch", "set.lineups.baselines", "set.task.learner.rate", "set.game.settings",
    ]),
    kind=st.sampled_from(["search", "train", "evolve"]),
    value=ANYTHING,
)  # fmt: skip
def test_no_body_is_answered_with_a_fault_of_the_site(place: str, kind: str, value: Any, script: Script) -> None:
    first, _, rest = place.partition(".")
    body = {"kind": kind, first: {rest: value} if rest else value}
    answer = script.client.post(JOBS, json.dumps(body), content_type="application/json")
    assert answer.status_code in (201, 400, 422)


def test_the_schema_of_a_study_has_titles_bounds_and_marks_what_may_be_a_range(script: Script) -> None:
    evolve = script.get("/api/v1/schema/evolve")
    rate = evolve["$defs"]["PPOConfig"]["properties"]["rate"]
    assert (rate["title"], rate["x-range"], rate["anyOf"][0]["maximum"]) == ("Learning rate", True, 1.0)
    batch = evolve["$defs"]["PPOConfig"]["properties"]["batch"]
    assert (batch["anyOf"][0]["type"], batch["description"]) == ("integer", "decisions")
    for kind in ("search", "train"):
        assert "x-range" not in json.dumps(script.get(f"/api/v1/schema/{kind}"))
    train = script.get("/api/v1/schema/train")["$defs"]["PPOConfig"]["properties"]["rate"]
    assert (train["type"], train["title"], train["default"]) == ("number", "Learning rate", 0.002)


def test_a_kind_that_its_settings_do_not_start_is_not_said_to_be_none(script: Script) -> None:
    """Measurements, for one, are made from an agent."""
    said = script.client.get("/api/v1/schema/measure").json()["message"]
    assert said.startswith("No such kind of study is started by its settings; these are: search, train, ")


def test_what_the_schema_calls_a_range_is_what_becomes_a_gene() -> None:
    told = {n: each["anyOf"][0] for n, each in kinds.schema("evolve")["$defs"]["PPOConfig"]["properties"].items()
            if each.get("x-range")}  # fmt: skip
    ranges = {n: [each.get("minimum", each.get("exclusiveMinimum")), each["maximum"]] for n, each in told.items()}
    task = {"game": {"name": "gym:CartPole-v1"}, "learner": {"kind": "ppo", **ranges}}
    assert {gene.place for gene in genes(load({"kind": "evolve", "task": task}))} == {f"task.learner.{n}" for n in told}


def test_one_project_tells_what_a_study_can_be_started_with(team: Studio, script: Script) -> None:
    found = script.get("/api/v1/projects/herobattle")
    rules, objectives = ensure_defaults(team.project, None)
    assert found["game_versions"][0]["number"] == 14
    assert found["game_versions"][0]["playable"]
    assert [row["number"] for row in found["lineup_rules"]] == [rules.pk]
    assert [row["number"] for row in found["objective_sets"]] == [ObjectiveSet.objects.get().pk] == [objectives.pk]
    assert "gym:CartPole-v1" in found["games"]


def test_a_form_s_job_and_the_api_s_are_the_same_work(team: Studio, script: Script) -> None:
    ensure_defaults(team.project, None)
    lines.keep(team.project, team.designer, "unfair", "advantage", 1.5)
    typed = {**first_values(team.project), "population": "50", "rounds": "20", "replicates": "4", "fresh": "16"}
    form = NewJobForm(typed, project=team.project, user=team.designer)
    assert form.is_valid(), form.errors
    body = {"kind": "search", "set": {"algorithm.population": 50, "ticks": 20}}
    by_api = Job.objects.get(pk=script.post(JOBS, body)["job"])
    assert by_api.config_hash == study_hash(form.search(None))
    assert by_api.config["objectives"]["objectives"][0]["threshold"] == 1.5


def test_a_search_by_the_api_has_the_line_of_its_question_while_the_project_keeps_none(
    team: Studio, script: Script
) -> None:
    job = Job.objects.get(pk=script.post(JOBS, {"kind": "search"})["job"])
    assert job.config["objectives"]["objectives"][0]["threshold"] == 2.0
