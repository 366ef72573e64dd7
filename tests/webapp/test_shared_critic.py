"""Evolution with a shared critic on the site: the form, what the API takes, and the page with its curves."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from engine.config.aesrl import AESRLConfig
from engine.events import Progressed
from engine.studies import load
from engine.study import run
from tests.contracts.asked_kind import AskedKindContract, form, page
from tests.engine.test_aesrl import study
from tests.factories import Studio
from tests.webapp.agents import kept
from tests.webapp.recorded import recorded
from webapp.agents.models import Agent
from webapp.lib.storage import store
from webapp.shared_critic.asking import TogetherForm
from webapp.shared_critic.charts import search
from webapp.shared_critic.menus import spread_of
from webapp.shared_critic.parts import _busy
from webapp.studies import actions, checks
from webapp.studies.journal import Entry, append
from webapp.studies.lines import shown
from webapp.studies.models import Job, Status
from webapp.studies.overview import pace
from webapp.studies.rounds import Columns
from webapp.studies.study_form import LEFT_OUT

pytestmark = pytest.mark.django_db

CHOSEN = {"game": "pendulum", "method": "aes-rl", "waiting": "rounds", "steps": "20000", "share": "0.25",
          "mean": "linear", "baseline": "40", "variance": "fixed", "capacity": "5000", "minutes": "2",
          "remembered": "7", "first": "0.002", "centre": "episodes", "policy": "64 32", "chance": "4000",
          "critic": "48 48"}  # fmt: skip
UNRULED = dict.fromkeys(("mean", "baseline", "variance", "remembered", "share", "capacity", "critic", "chance"), "")
"""Nothing of what only some methods have."""
LEAST = {"game": "pendulum", "method": "aes-rl", "waiting": "free"}

ROUNDS = {"waiting": "rounds"}


class TestTogether(AskedKindContract):
    kind = "aes-rl"
    typed = CHOSEN
    least = LEAST
    title = "Evolution and learning, AES-RL: Pendulum"
    becomes = {
        "steps": 20_000, "spread": 1200, "method.learning_share": 0.25, "method.waiting": True, "minutes": 2,
        "game.name": "gym:Pendulum-v1", "method.mean": {"kind": "linear", "range": 40, "backward": 0},
        "method.variance.kind": "fixed", "learner.capacity": 5000, "learner.warmup": 4000,
        "method.variance.n": 7, "method.variance_at_first": 0.002, "method.centre": "episodes",
        "learner.network.policy": [64, 32], "learner.network.critic": [48, 48],
    }  # fmt: skip
    usually = {
        "steps": 300_000, "method.mean.kind": "relative", "method.waiting": False, "method.centre": "running",
        "method.variance_at_first": 1e-3, "learner.network.policy": [400, 300],
    }  # fmt: skip
    wrong = (
        ({"game": "gymnasium"}, "gymnasium", "with its version"),
        ({"game": "gymnasium", "gymnasium": "os:Env-v0"}, "gymnasium", "with its version"),
        ({"game": "gymnasium", "gymnasium": "CartPole-v1"}, "gymnasium", "One chooses among actions in this game"),
        (
            {"game": "gymnasium", "gymnasium": "Pendolum-v1"},
            "gymnasium",
            "no 'Pendolum-v1'. The nearest names: Pendulum",
        ),
        ({"steps": "4000"}, "steps", "decisions are played by chance: give more than that"),
        (
            {"steps": "10200", "population": "60", "chance": ""},
            "steps",
            "give more than 12,000, or fewer individuals in a round",
        ),
        ({"mean": "relative", "baseline": "0"}, "baseline", "above 0"),
        ({"mean": "relative", "baseline": "-3"}, "baseline", "above 0"),
        ({"mean": "absolute", "baseline": ""}, "baseline", "Type a score below any"),
        ({"mean": "full-move"}, "baseline", "no such number"),
        ({**UNRULED, "method": "cem", "centre": ""} | {"mean": "linear"}, "mean", "Only AES-RL"),
        ({**UNRULED, "method": "cem"}, "centre", "Only AES-RL"),
        ({**UNRULED, "method": "erl", "centre": ""}, "first", "ERL"),
        ({"waiting": "turns"}, "waiting", "Only CEM-RL and the cross-entropy method"),
        ({**UNRULED, "method": "cem-rl", "centre": "", "waiting": "free"}, "waiting", "Only AES-RL and ACEM-RL let"),
        ({**UNRULED, "method": "erl", "centre": "", "first": "", "waiting": "free"}, "waiting", "Choose another"),
        ({**UNRULED, "method": "cem-rl", "centre": "", "share": "0.5"}, "share", "keep such a share"),
        ({**UNRULED, "method": "cem-rl", "centre": "", "baseline": "40"}, "baseline", "such a number"),
        ({**UNRULED, "method": "cem-rl", "centre": "", "lessons": "1"}, "lessons", "wait for the critic"),
        ({**UNRULED, "method": "cem", "centre": "", "capacity": "5000"}, "capacity", "nobody learns"),
        ({**UNRULED, "method": "acem-rl"}, "centre", "Only AES-RL"),
        ({"divided": "printed"}, "divided", "Only CEM-RL and the cross-entropy method"),
        ({**UNRULED, "method": "acem-rl", "centre": "", "baseline": "40"}, "baseline", "by rank"),
        ({"waiting": "x"}, "waiting", "not one of the available"),
        ({"lessons": "0.25"}, "lessons", "Only where nobody waits"),
        ({"variance": "success"}, "remembered", "Only the fixed rule"),
        ({"policy": "0 32"}, "policy", "1"),
        (
            {"mean": "absolute", "baseline": "-20", "variance": "elites", "remembered": ""},
            "variance",
            "Elites are those of",
        ),
        ({"capacity": "100"}, "capacity", "256 decisions"),
        ({"explore": "1"}, "explore", "less than 1"),
        ({**UNRULED, "method": "cem-rl", "centre": "", "explore": "0.2"}, "explore", "all play without noise"),
        ({"workers": "0"}, "workers", f"from 1 to {checks.most_workers()}"),
    )
    asks = {"game": "pendulum", "spread": 1000}
    refused = (
        *(({"game": game}, "config.game.name")
          for game in ("command:sh -c id", "python:os:getcwd", "pong", "pong-two-seats")),
        ({"method": {"mean": {"kind": "relative", "baseline": 0}}}, "config.method.mean.baseline"),
        (
            {"method": {"kind": "cem-rl", "population": 40}, "learner": {"warmup": 600}, "steps": 6000},
            "config.steps",
        ),
    )  # fmt: skip
    games = ("pendulum", "gymnasium")
    not_games = ("cartpole", "pong")

    def played(self, team: Studio) -> Job:
        return recorded(team, study(), "Together")


def test_who_says_nothing_of_waiting_is_asked_for_it(team: Studio) -> None:
    typed = TogetherForm({**LEAST, "waiting": ""}, project=team.project, kind="aes-rl")
    assert set(typed.errors) == {"waiting"}


def test_the_form_shows_what_is_usual(team: Studio, designer: Client) -> None:
    fields = designer.get(form(team, "aes-rl")).context["form"].fields
    empty = {name: fields[name].widget.attrs["placeholder"] for name in ("capacity", "explore", "policy", "critic")}
    assert empty == {"capacity": "200,000", "explore": "0.1", "policy": "usually 400 300", "critic": "usually 400 300"}


def test_a_method_gets_only_what_it_knows(team: Studio) -> None:
    typed = TogetherForm({**LEAST, **ROUNDS, "method": "cem", "population": "6"}, project=team.project, kind="aes-rl")
    assert typed.is_valid(), typed.errors
    assert typed.table()["method"] == {"kind": "cem", "population": 6, "parallel": True}


@pytest.mark.parametrize(
    ("method", "rest"),
    [
        ({"kind": "cem-rl", "parallel": False}, {"method": "cem-rl", "waiting": "turns"}),
        ({"kind": "cem-rl", "parallel": True}, {"method": "cem-rl", "waiting": "rounds"}),
        ({"kind": "cem-rl", "narrow": False}, {"method": "cem-rl", "divided": "printed", **ROUNDS}),
        ({"kind": "cem", "narrow": False}, {"method": "cem", "divided": "printed", **ROUNDS}),
        ({"kind": "acem-rl", "waiting": False}, {"method": "acem-rl", "waiting": "free"}),
        (
            {"kind": "aes-rl", "mean": {"kind": "sigmoid", "range": 40.0, "reading": "code"}},
            {"mean": "sigmoid-code", "baseline": "40"},
        ),
        ({"kind": "aes-rl", "variance": {"kind": "constant"}, "variance_at_first": 1e-4},
         {"variance": "constant", "first": "0.0001"}),
        ({"kind": "aes-rl", "mean": {"kind": "full-move"}, "variance": {"kind": "adaptive", "least": 2}},
         {"mean": "full-move", "variance": "adaptive"}),
        ({"kind": "erl"}, {"method": "erl", **ROUNDS}),
        ({"kind": "cem"}, {"method": "cem", **ROUNDS}),
        ({"kind": "aes-rl", "least_lessons": 0.25}, {"lessons": "0.25"}),
    ],
)  # fmt: skip
def test_every_method_and_what_the_paper_s_tables_switch_can_be_typed_and_is_typed_again(
    team: Studio, method: dict[str, Any], rest: dict[str, str]
) -> None:
    typed = TogetherForm({**LEAST, **rest}, project=team.project, kind="aes-rl")
    assert typed.is_valid(), typed.errors
    config = load(typed.table() | {"kind": "aes-rl"}, new=True)
    assert isinstance(config, AESRLConfig)
    told = config.method.model_dump()
    for name, value in method.items():
        assert (told[name] | value if isinstance(value, dict) else value) == told[name]
    job = Job(project=team.project, config=config.model_dump(mode="json"))
    again = TogetherForm({**TogetherForm.typed_of(job), "start": ""}, project=team.project, kind="aes-rl")
    assert again.is_valid(), again.errors
    assert load(again.table() | {"kind": "aes-rl"}, new=True).model_dump(exclude={"name"}) == config.model_dump(
        exclude={"name"}
    )


def test_run_again_names_every_setting_that_its_form_would_change(team: Studio, designer: Client) -> None:
    """What the API set, and the form has no field for, would be lost without a word."""
    method = {"kind": "aes-rl", "gain": 20, "mean": {"kind": "linear", "range": 40, "backward": 0.5}}
    asked = load(
        {"kind": "aes-rl", "game": "gym:Pendulum-v1", "spread": 1500, "method": method, "chunk": 500}, new=True
    )
    job = actions.submit(team.project, team.designer, asked, title="By the API")
    again = reverse("studies:again", args=[team.project.slug, job.pk])
    said = designer.post(again, follow=True).content.decode()
    for named in ("Gain (was 20, here 50)", "Steps away from what is worse (was 0.5, here 0)",
                  "Updates of the critic at a time (was 500, here 1,000)"):  # fmt: skip
        assert named in said, named
    Job.objects.filter(pk=job.pk).update(config={**job.config, "learner": {**job.config["learner"], "capacity": 10}})
    assert escape(LEFT_OUT) in designer.post(again, follow=True).content.decode(), "what no form takes is not named"


@pytest.mark.parametrize(("method", "estimated"), [({"kind": "aes-rl"}, True), ({"kind": "acem-rl"}, False)])
def test_its_page_speaks_of_an_estimate_of_the_centre_where_there_is_one(
    method: dict[str, Any], estimated: bool, team: Studio, designer: Client
) -> None:
    job = recorded(team, study(method={**method, "population": 4}), "Together")
    content = designer.get(page(job)).content.decode()
    assert ("The centre, as estimated" in content) == estimated
    assert ("the centre, as estimated" in content) == estimated, "in the legend"


def test_run_again_leaves_empty_what_was_as_usual(team: Studio, designer: Client) -> None:
    """So that another game gets its own spread of scores; a number that its rule needs stays."""
    for typed in {}, {"spread": "900"}, {"mean": "absolute", "baseline": -2000.0}:
        designer.post(form(team, "aes-rl"), {**LEAST, **typed})
        job = Job.objects.filter(kind="aes-rl").latest("pk")
        answer = designer.post(reverse("studies:again", args=[team.project.slug, job.pk]), follow=True)
        shown = {name: value for name, value in answer.context["form"].initial.items() if value}
        assert shown == {**LEAST, "centre": "running", "title": job.title, **typed}


def test_run_again_says_which_agent_was_deleted_and_what_to_do_about_it(team: Studio, designer: Client) -> None:
    agent = pendulum_agent(team)
    designer.post(form(team, "aes-rl"), {**LEAST, "start": str(agent.pk)})
    job = Job.objects.filter(kind="aes-rl").latest("pk")
    Agent.objects.update(deleted_at=timezone.now())
    answer = designer.post(reverse("studies:again", args=[team.project.slug, job.pk]), follow=True)
    page = answer.content.decode()
    assert f"It began with “{agent.name}”, which was deleted since. Choose another agent" in page
    assert "The API" not in page, "the page is where it is mended"
    assert f'<option value="{agent.pk}" selected>{agent.name} (deleted)</option>' in page
    shown = {name: value for name, value in answer.context["form"].initial.items() if value}
    refused = designer.post(form(team, "aes-rl"), shown)
    assert f"“{agent.name}” was deleted. Choose another agent or “A new network”" in refused.content.decode()
    designer.post(form(team, "aes-rl"), {**shown, "start": ""})
    anew = Job.objects.filter(kind="aes-rl").latest("pk")
    assert anew.pk != job.pk
    assert {**anew.config, "start": agent.policy} == job.config, "all else is as it was"


def test_its_page_names_the_agent_that_it_began_with(team: Studio, designer: Client) -> None:
    agent = pendulum_agent(team)
    job = recorded(team, study(), "Together")
    Job.objects.filter(pk=job.pk).update(config={**job.config, "start": agent.policy})
    link = f'began with <a href="/p/{team.project.slug}/agents/{agent.pk}/">{agent.name}</a>'
    content = designer.get(page(job)).content.decode()
    assert link in content
    assert f"{link} (deleted)" not in content
    Agent.objects.filter(pk=agent.pk).update(deleted_at=timezone.now())
    assert f"{link} (deleted)" in designer.get(page(job)).content.decode()
    plain = recorded(team, study(), "Alone")
    assert "began with" not in designer.get(page(plain)).content.decode()


def test_what_is_wrong_is_told_in_the_order_of_the_page(team: Studio, designer: Client) -> None:
    typed = {**LEAST, "workers": "x", "steps": "x", "spread": "x", "share": "x"}
    answer = designer.post(form(team, "aes-rl"), typed)
    names = ["How much better can a score get?", "Decisions in all", "Share that learns", "Workers"]
    content = answer.content.decode()
    assert re.findall(r'<li><a href="#id_\w+">([^<]*)</a></li>', content) == names
    assert "<title>Evolution and learning: new training" in content
    said = designer.post(f"{form(team, 'aes-rl')}before/", typed).content.decode()
    assert [said.index(f"{name} " if name.endswith("?") else f"{name}:") for name in names] == sorted(
        said.index(name) for name in names
    )


def test_its_first_rounds_tell_how_long_it_takes_and_what_chance_scores(team: Studio, designer: Client) -> None:
    """A baseline above what chance scored there is refused before anything starts."""
    before = f"{form(team, 'aes-rl')}before/"
    typed = {**LEAST, "mean": "absolute", "baseline": "-1000", "workers": "4"}
    said = designer.post(before, typed).content.decode()
    assert "A few individuals play and learn" in said
    chance = "At least the first 10,000 of 300,000 decisions are played by chance, in whole episodes, before anybody"
    assert f"{chance} learns." in said
    assert "4 workers share" in said
    trial = Job.objects.for_forms().get()
    assert (trial.config["kind"], trial.config["pool"]["workers"], trial.config["learner"]["warmup"]) == (
        "aes-rl",
        1,
        1000,
    )
    for tick in (1, 2, 3):
        counters = {"steps": 1000 * tick, "seconds": 10.0 * tick}
        metrics = {"worst_by_chance": -1200.0}
        body = {"counters": counters, "metrics": metrics}
        append(trial, {}, [Entry("progressed", body, tick)], tick=tick, metrics=metrics, counters=counters)
    Job.objects.filter(pk=trial.pk).update(status=Status.STOPPED)
    said = designer.post(before, typed).content.decode()
    assert "hance alone scored about −1,200 at worst" in said
    answer = designer.post(form(team, "aes-rl"), typed)
    assert set(answer.context["form"].errors) == {"baseline"}
    said = designer.post(before, {**typed, "baseline": "-2000"}).content.decode()
    assert "100 decisions a second on one processor" in said
    assert "min" in said


def test_chance_plays_in_first_rounds_for_a_fixed_baseline_though_nobody_learns(team: Studio, designer: Client) -> None:
    typed = {**LEAST, "mean": "absolute", "baseline": "-1000", "share": "0"}
    designer.post(f"{form(team, 'aes-rl')}before/", typed)
    trial = load(Job.objects.for_forms().get().config)
    assert isinstance(trial, AESRLConfig)
    assert trial.by_chance == 1000
    (told,) = {event.metrics["worst_by_chance"] for event in run(trial.model_copy(update={"steps": 3000}), store())
               if isinstance(event, Progressed) and "worst_by_chance" in event.metrics}  # fmt: skip
    assert told < 0, "as Pendulum pays"


def test_its_page_tells_how_they_score_who_moves_the_centre_and_who_waits(team: Studio, designer: Client) -> None:
    nobody = study(method={"kind": "aes-rl", "least_lessons": 1}, chunk=10)
    shown = designer.get(page(recorded(team, nobody, "Together"))).content.decode()
    for words in (
        "How well they play", "the centre on fresh episodes", "those that only evolve", "Who moves the centre",
        "Chance that the next one learns", "Who waits for what", "Waiting otherwise", "the centre scored",
        "Share of weights whose σ² is at its least", "(95\N{NO-BREAK SPACE}% range",
        "nobody begins to play while the critic is 10 lessons or more short of 1 for each decision since then: it has",
    ):  # fmt: skip
        assert words in shown, words
    assert "4 of 4 rounds" in shown
    assert "The first 60 decisions were played by chance and are not drawn" in shown


def test_shares_are_told_in_per_cent_and_nothing_else_is() -> None:
    rounds: Columns = {"steps": [1.0, 2.0], "seconds": [1.0, 2.0]}
    rounds |= {name: [0.25, 0.5] for name in ("chance_rl", "sigma", "floor")}
    charts = {small.title: small.chart for small in search(rounds, 0.0, 1000, 0.0, learns=True)}
    assert [chart.levels[-1][0] for chart in charts.values()] == ["100\u00a0%", "0.4", "100\u00a0%"], [*charts]
    assert {chart.levels[0][0] for chart in charts.values()} == {"0", "0\u00a0%"}


@pytest.mark.parametrize(("told", "high"), [([None, 8.0, 2.0, 1.0], True), ([0.0, 0.0, 0.5], False), ([], False)])
def test_lessons_of_the_critic_begin_high_only_where_they_do(told: list[float | None], high: bool) -> None:
    rounds: Columns = {"steps": [float(i) for i in range(len(told))], "seconds": [1.0] * len(told)}
    rounds["critic_steps_a_decision"] = told
    texts = [small.text for small in search(rounds, 0.0, 1000, 0.0, learns=True)]
    assert texts == (
        [] if not told else ["The critic learned from those by chance first, so it begins high."] if high else [""]
    )


def test_no_chart_has_rounds_in_which_only_chance_played(team: Studio, designer: Client) -> None:
    job = under_way(team, 2)
    answer = designer.get(page(job))
    assert "The first decisions are played by chance" in answer.content.decode()
    for tick in 3, 4:
        metrics = {"steps_start": 2000.0, "return_es": -9.0, "p_es": 0.5, "p_rl": 0.0, "sigma": 0.1}
        counters = {"steps": 1000 * tick, "seconds": 10.0 * tick}
        append(job, {}, [Entry("progressed", {"counters": counters, "metrics": metrics}, tick)], tick=tick,
               metrics=metrics, counters=counters)  # fmt: skip
    told = designer.get(page(job)).context
    for chart in (*told["courses"], told["movers"], *(small.chart for small in told["search"])):
        assert len(chart.rows) == 2, chart.heads


def test_decisions_beyond_those_that_were_asked_for_are_explained(team: Studio, designer: Client) -> None:
    job = recorded(team, study(method={"kind": "aes-rl"}), "Together")
    for counted in 400, 420:
        Job.objects.filter(pk=job.pk).update(counters={**job.counters, "steps": counted})
        shown = designer.get(page(job)).content.decode()
        assert ("400 decisions were asked for" in shown) == (counted > 400)


def test_the_form_says_which_games_it_knows_what_chance_plays_and_who_waits(team: Studio, designer: Client) -> None:
    fields = designer.get(form(team, "aes-rl")).context["form"].fields
    assert fields["steps"].label == "Decisions in all"
    assert fields["baseline"].label == "Baseline or range of this rule"
    assert fields["chance"].widget.attrs["placeholder"] == "10,000"
    known = fields["spread"].help_text
    for game in ("Pendulum", "HalfCheetah", "Hopper", "Walker2d", "Ant", "Swimmer", "Humanoid"):
        assert (game in known) == (spread_of(f"gym:{game}-v5") != 1000), game
    assert "Nobody" not in " ".join(f"{title} {text}" for name in ("method", "waiting")
                                    for _, title, text, _ in fields[name].cards)  # fmt: skip


def under_way(team: Studio, rounds: int, method: str = "aes-rl", minutes: float = 0) -> Job:
    """So many rounds of 20, of 1,000 decisions each: two by chance that take a second each, where
    somebody learns from them, then 10 s each."""
    chance = 0 if method == "cem" else 2
    learner = {"warmup": 2000, "minibatch": 8, "capacity": 4000, "network": {"policy": [8], "critic": [8]}}
    config = study(method={"kind": method}, steps=20_000, learner=learner, minutes=minutes).model_dump(mode="json")
    job = Job.objects.create(project=team.project, kind="aes-rl", config=config, status=Status.RUNNING, ticks=20)
    for tick in range(1, rounds + 1):
        learned = 1000.0 * max(0, tick - chance) * {"aes-rl": 2.0, "cem-rl": 0.5, "cem": 0.0}[method]
        counters = {"steps": 1000.0 * tick, "seconds": min(tick, chance) + 10.0 * max(0, tick - chance)}
        metrics = {"steps_start": 1000.0 * min(chance, tick), "critic_steps": learned}
        entry = Entry("progressed", {"counters": counters, "metrics": metrics}, tick)
        append(job, {}, [entry], tick=tick, metrics=metrics, counters=counters)
    job.refresh_from_db()
    return job


@pytest.mark.parametrize(("method", "first"), [("aes-rl", 4), ("cem-rl", 4), ("cem", 2)])
def test_time_left_is_told_from_the_pace_once_chance_is_over_and_the_critic_learns(
    team: Studio, method: str, first: int
) -> None:
    assert pace(under_way(team, first - 1, method)).why == "too early to say when it ends", "2 s for 2,000 say nothing"
    for rounds in (first, 6, 15):
        assert pace(under_way(team, rounds, method)).seconds_left == pytest.approx(10.0 * (20 - rounds))


def test_where_a_clock_ends_it_first_time_left_is_the_clock_s(team: Studio) -> None:
    assert pace(under_way(team, 6, minutes=1)).seconds_left == pytest.approx(60 - 42)
    assert pace(under_way(team, 6, minutes=10)).seconds_left == pytest.approx(140)


def test_a_range_is_of_95_percent_only_where_the_game_says_how_far_scores_go(team: Studio, designer: Client) -> None:
    job = recorded(team, study(), "Together")
    cases: tuple[tuple[str, dict[str, float], str, str], ...] = (
        ("gym:HalfCheetah-v5", {"evaluation_return_low": 0.0, "evaluation_return_high": 9.0}, "(range 0.0 to 9.0)",
         "holds only if no episode goes far beyond"),
        ("pendulum", {"evaluation_return_low": 0.0, "evaluation_return_high": 9.0},
         "(95\N{NO-BREAK SPACE}% range 0.0 to 9.0)", ""),
        ("gym:HalfCheetah-v5", {}, "<b>5.0</b>", "No range is known"),
    )  # fmt: skip
    for game, ends, words, more in cases:
        config = {**job.config, "game": {**job.config["game"], "name": game}}
        Job.objects.filter(pk=job.pk).update(
            config=config, metrics={"evaluation_steps": 80, "evaluation_return": 5.0, **ends}
        )
        shown = designer.get(page(job)).content.decode()
        assert words in shown
        said = {sentence for sentence in ("holds only if", "No range is known") if sentence in shown}
        assert said == {sentence for sentence in ("holds only if", "No range is known") if sentence in more}


def test_an_evaluation_is_told_and_drawn_where_it_was_asked_for(team: Studio, designer: Client) -> None:
    """Its answer comes rounds later, and rounds tell it again until the next one."""
    job = under_way(team, 3)
    for tick, asked, score in ((4, 0, 0.0), (5, 3500, -900.0), (6, 3500, -900.0), (7, 6000, -500.0)):
        metrics = {"steps_start": 2000.0, "critic_steps": 9.0, "return_es": -1000.0 + tick, "examined": 50.0}
        ends = {"evaluation_return_low": score - 50, "evaluation_return_high": score + 60} if asked == 6000 else {}
        metrics |= {"evaluation_steps": asked, "evaluation_return": score, **ends} if asked else {}
        counters = {"steps": 1000 * tick, "seconds": 10.0 * tick - 18}
        append(job, {}, [Entry("progressed", {"counters": counters, "metrics": metrics}, tick)], tick=tick,
               metrics=metrics, counters=counters)  # fmt: skip
    answer = designer.get(page(job))
    content = answer.content.decode()
    assert (
        "After 6,000 decisions the centre scored <b>−500.0 (95\N{NO-BREAK SPACE}% range −550.0 to −440.0)</b>"
        in content
    )
    assert "7,000 decisions of 20,000, and 50 of evaluations" in content
    over_decisions, over_time = answer.context["courses"]
    told = {row[0]: row[-1] for row in over_decisions.rows if row[-1]}
    assert told == {"3,500": "−900", "6,000": "−500 (−550 to −440)"}
    assert [row[-1] for row in over_time.rows if row[-1]] == ["−900", "−500 (−550 to −440)"]
    assert [bool(line.band) for line in over_decisions.lines] == [False, True], "only the centre's evaluations"
    assert ", in the shade of its 95&nbsp;% range." in content
    assert [row[0] for row in over_time.rows if row[-1]] == ["0.283", "0.7"], "minutes at which they were asked for"
    assert over_decisions.rows[0][0] == "3,500", "rounds in which only chance played have no rows"


@pytest.mark.parametrize(
    ("typed", "every"),
    [({}, 4), ({"steps": "20000"}, 20), ({"steps": "15000"}, 0),
     ({"game": "gymnasium", "gymnasium": "HalfCheetah-v5", "steps": "100000"}, 20)],
)  # fmt: skip
def test_evaluations_of_a_short_training_take_no_more_decisions_than_the_training(
    team: Studio, typed: dict[str, str], every: int
) -> None:
    asked = TogetherForm({**LEAST, **typed}, project=team.project, kind="aes-rl")
    assert asked.is_valid(), asked.errors
    config = load(asked.table() | {"kind": "aes-rl"}, new=True)
    assert isinstance(config, AESRLConfig)
    assert config.evaluate_every == every


def test_shares_of_the_workers_time_tell_who_waits_for_what_and_sum_up() -> None:
    told = _busy({"busy_es": 0.25, "busy_critic": 0.125, "busy_learning_critic": 0.25, "held": 0.125}, learns=True)
    assert dict(told) == {
        "playing": 0.25, "individuals learning": 0, "the critic learning": 0.375,
        "waiting for the critic to catch up": 0.125,
        "waiting otherwise, or at work on what is not back yet": 0.25,
    }  # fmt: skip
    assert _busy({"return_es": 1.0}, learns=True) == []
    assert [words for words, _ in _busy({"busy_es": 0.25}, learns=False)] == [
        "playing", "waiting otherwise, or at work on what is not back yet",
    ]  # fmt: skip


def test_details_write_numbers_as_pages_do_and_say_in_words_whose_decisions_are_counted(
    team: Studio, designer: Client
) -> None:
    job = recorded(team, study(method={"kind": "aes-rl"}), "Together")
    Job.objects.filter(pk=job.pk).update(metrics={**job.metrics, "return_estimate": -1248.4, "steps_es": 12_000})
    told = dict(designer.get(page(job)).context["specialist"])
    assert told["Estimate of f(μ)"] == "−1,248"
    assert told["Decisions of those that only evolve"] == "12,000"
    assert not any("_" in name or name.endswith((", es", ", rl")) for name in told if name != "p_rl")


@pytest.mark.parametrize(("kind", "noisy"), [("aes-rl", True), ("cem-rl", False), ("cem", False), ("erl", True)])
def test_the_noise_of_actions_stands_among_the_details_of_methods_that_have_it(
    team: Studio, designer: Client, kind: str, noisy: bool
) -> None:
    job = recorded(team, study(method={"kind": kind}), "Together")
    assert ("Noise of actions" in dict(designer.get(page(job)).context["specialist"])) == noisy


def test_while_nobody_has_moved_the_centre_who_waits_has_the_whole_width(team: Studio, designer: Client) -> None:
    job = recorded(team, study(method={"kind": "aes-rl"}), "Together")
    assert '"columns columns-job"' in designer.get(page(job)).content.decode()
    Job.objects.filter(pk=job.pk).update(metrics={**job.metrics, "p_es": 0.0, "p_rl": 0.0})
    assert '"columns columns-job"' not in designer.get(page(job)).content.decode()


def test_shares_of_who_moves_the_centre_are_not_shown_where_it_also_moves_away_from_what_is_worse(
    team: Studio, designer: Client
) -> None:
    """Such a share may be 125 %, and two such sums may cancel."""
    for backward, there in ((0.0, True), (0.25, False)):
        mean = {"kind": "relative", "backward": backward}
        job = recorded(team, study(method={"kind": "aes-rl", "mean": mean}), "Together")
        Job.objects.filter(pk=job.pk).update(metrics={**job.metrics, "p_es": -0.5, "p_rl": 2.5})
        assert ("Who moves the centre" in designer.get(page(job)).content.decode()) == there


def test_lessons_for_each_decision_are_one_number_all_over_the_page_with_the_fewest_as_a_line(
    team: Studio, designer: Client
) -> None:
    job = recorded(team, study(method={"kind": "aes-rl", "least_lessons": 0.75}), "Together")
    metrics = {**job.metrics, "critic_steps_a_decision": 1.9}
    Job.objects.filter(pk=job.pk).update(metrics=metrics)
    answer = designer.get(page(job))
    shown = answer.content.decode()
    assert "is 20 lessons or more short of 0.75 for each decision since then: it has had 1.9 for each so far" in shown
    assert dict(answer.context["specialist"])["Minibatches for each decision that chance did not play"] == "1.9"
    lines = {small.title: small.chart.lines for small in answer.context["search"]}
    fewest, lessons = lines["Lessons of the critic for each decision after those by chance"]
    assert (fewest.mark, lessons.mark) == ("second", "first")
    assert len({y for _, y in fewest.points}) == 1
    for method in ({"kind": "aes-rl", "least_lessons": 0}, {"kind": "aes-rl", "waiting": True, "population": 4}):
        free = recorded(team, study(method=method), "Together")
        lines = {small.title: small.chart.lines for small in designer.get(page(free)).context["search"]}
        assert [line.mark for line in lines["Lessons of the critic for each decision after those by chance"]] == [
            "first"
        ]


@pytest.mark.parametrize(
    ("method", "least"),
    [
        ({"kind": "aes-rl"}, 2e-5),
        ({"kind": "aes-rl", "variance": {"kind": "fixed", "n": 7, "epsilon": 1e-4}}, 7e-4),
        ({"kind": "acem-rl", "population": 4}, 4e-5),
        ({"kind": "aes-rl", "variance": {"kind": "constant"}}, None),
        ({"kind": "cem-rl", "population": 4}, None),
    ],
)
def test_the_spread_of_individuals_is_drawn_over_the_least_that_its_rule_leaves(
    method: dict[str, Any], least: float | None, team: Studio, designer: Client
) -> None:
    job = recorded(team, study(method=method), "Together")
    charts = {small.title: small for small in designer.get(page(job)).context["search"]}
    if (spread := charts.get("How far individuals lie from the centre")) is None:
        assert method["kind"] == "cem-rl"
        return
    assert ("dashed line" in spread.text) == (least is not None)
    marks = {line.name: line.mark for line in spread.chart.lines}
    assert marks.get("The least") == (None if least is None else "second")
    if least is not None:
        at = spread.chart.heads.index("The least")
        assert {cells[at] for cells in spread.chart.rows} == {shown(least**0.5)}


def test_a_page_of_erl_speaks_of_its_best_individual_and_of_no_centre(team: Studio, designer: Client) -> None:
    job = recorded(team, study(method={"kind": "erl"}), "Bred")
    content = designer.get(page(job)).content.decode()
    assert "the best player of the last generation, bred or learned, is what you take away" in content
    assert "Download the agent" in content
    assert "centre" not in content.partition('id="polled-job"')[2].partition("<details")[0].lower()


def test_where_nobody_learns_a_page_speaks_of_no_critic(team: Studio, designer: Client) -> None:
    alone = recorded(team, study(method={"kind": "aes-rl", "learning_share": 0}), "Only evolving")
    answer = designer.get(page(alone))
    shown = answer.content.decode().partition("How well they play")[2].partition("<footer")[0]
    assert "Who moves the centre" in shown
    titles = {small.title for small in answer.context["search"]}
    assert titles == {"How far individuals lie from the centre", "Share of weights at their least spread"}
    for words in ("for the critic", "critic learning", "individuals learning", "Individuals that learned"):
        assert words not in shown, words
    assert "steps_start" not in alone.metrics, "nobody learns from what chance plays"


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ({"kind": "cem-rl", "narrow": False}, ("Variance of the better half", "as the paper prints it")),
        ({"kind": "cem", "parallel": False}, ("One plays after the other.", "one after the other")),
        ({"kind": "cem"}, ("whoever is done waits for the slowest", "side by side (P-CEM-RL)")),
        (
            {"kind": "aes-rl", "mean": {"kind": "sigmoid", "reading": "code"}, "variance": {"kind": "fixed"}},
            ("sigmoid, as in the released code", "fixed, n = 10", "a running estimate"),
        ),
    ],
)
def test_its_page_tells_how_individuals_play_and_by_which_rules(
    team: Studio, designer: Client, method: dict[str, Any], said: tuple[str, ...]
) -> None:
    small = study(method={**method, "population": 4}, steps=200)
    shown = designer.get(page(recorded(team, small, "Together"))).content.decode()
    for words in said:
        assert words in shown, words


def pendulum_agent(team: Studio, head: str = "deterministic", activation: str = "tanh") -> Agent:
    """A saved agent of Pendulum with layers of 8 units."""
    agent = kept(team.project, title=f"{head}, {activation}")
    network = {"policy": [8, 8], "critic": [], "activation": activation, "sharing": "separate"}
    agent.policy = store().put(json.dumps({"kind": head, "network": network}).encode())
    agent.game = {"name": "gym:Pendulum-v1", "settings": {}}
    agent.save()
    return agent


def test_a_saved_agent_begins_with_its_layers_or_larger_ones(team: Studio, designer: Client) -> None:
    agent = pendulum_agent(team)
    for typed, layers in ({}, [8, 8]), ({"policy": "64 8"}, [64, 8]):
        designer.post(form(team, "aes-rl"), {**LEAST, **typed, "start": str(agent.pk)})
        config = Job.objects.filter(kind="aes-rl").latest("pk").config
        assert (config["start"], config["learner"]["network"]["policy"]) == (agent.policy, layers)
        assert config["learner"]["network"]["critic"] == [400, 300]


@pytest.mark.parametrize(
    ("made", "typed", "why"),
    [
        ({}, {"policy": "8 4"}, "Its layers of the policy have 8, 8 units, and here 8, 4"),
        ({"activation": "relu"}, {}, "The activation of its network is relu, and here tanh"),
        ({"head": "squashed"}, {}, "SAC trained it, and here only what TD3 trained goes on learning"),
    ],
)
def test_a_saved_agent_that_does_not_fit_is_refused_at_its_field_before_anything_starts(
    team: Studio, designer: Client, made: dict[str, str], typed: dict[str, str], why: str
) -> None:
    agent = pendulum_agent(team, **made)
    answer = designer.post(form(team, "aes-rl"), {**LEAST, **typed, "start": str(agent.pk)})
    assert answer.status_code == 422
    assert why in " ".join(answer.context["form"].errors["start"])
    assert not Job.objects.listed().filter(kind="aes-rl").exists()


def test_the_spread_of_scores_is_known_of_the_games_of_the_paper() -> None:
    assert spread_of("gym:HalfCheetah-v5") == 12_000
    assert spread_of("pendulum") == spread_of("gym:Pendulum-v1") == 1200
    assert spread_of("gym:Unheard-v0") == 1000
