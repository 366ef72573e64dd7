"""The New job page: every question makes a search that the engine takes, and nothing typed is lost or misread."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.arrays import pack, unpack
from engine.config import FAIRNESS, LineupConfig, ObjectiveConfig, ObjectiveSetConfig
from engine.events import Finished
from engine.games.herobattle.spec import game_spec
from engine.lineups.objectives import check
from engine.lineups.rules import feasibility
from engine.lineups.schema import battles_of_lineup
from engine.simulators.contract import Metric
from engine.store import FolderStore
from engine.study.lineups import planned, sample
from tests.factories import Studio, game_version, ready_studio, signed_in, studio
from webapp.balance import lines
from webapp.balance.models import Draft, LineupRules, ObjectiveSet
from webapp.balance.saving import save
from webapp.games.models import Simulator
from webapp.lib.storage import store
from webapp.studies import line_origin, plans, previews, random_lineups
from webapp.studies.explore_source import Median
from webapp.studies.form_values import first_values, values_of
from webapp.studies.forms import NewJobForm
from webapp.studies.models import Job, JobEvent, Status
from webapp.studies.questions import QUESTIONS, with_line

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Studio:
    return ready_studio()


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def filled(team: Studio, **typed: Any) -> dict[str, Any]:
    return {**first_values(team.project), **{name: str(value) for name, value in typed.items()}}


def form_of(team: Studio, **typed: Any) -> NewJobForm:
    return NewJobForm(filled(team, **typed), project=team.project, user=team.designer)


def address(name: str, team: Studio) -> str:
    return reverse(f"studies:{name}", args=[team.project.slug])


@pytest.mark.parametrize("key", QUESTIONS)
def test_every_question_is_a_search_the_engine_can_run(team: Studio, key: str) -> None:
    form = form_of(team, question=key, measure="", line="")
    assert form.is_valid(), form.errors
    search = form.search(None)
    check(game_spec(), search.objectives, search.lineups.teams)
    assert feasibility(game_spec(), search.lineups) == []
    sample = form.sample()
    assert (sample.count, sample.pool.kind) == (200, "local")
    assert all(o.threshold is None for o in sample.objectives.objectives)


@pytest.mark.parametrize("key", QUESTIONS)
def test_every_question_can_be_played(team: Studio, key: str, tmp_path: Path) -> None:
    form = form_of(team, question=key, measure="", line="")
    assert form.is_valid(), form.errors
    config = form.sample().model_copy(update={"count": 10, "replicates": 2})
    *_, last = sample(config, FolderStore(tmp_path))
    assert isinstance(last, Finished), last
    found = unpack(FolderStore(tmp_path).get(last.artifacts["sample"])).arrays
    assert (found["status"] == 0).all()
    assert np.isfinite(found["objective"]).all()


def test_a_sample_of_which_nothing_could_be_played_ends_and_says_so(
    client: Client, team: Studio, tmp_path: Path
) -> None:
    never = ObjectiveConfig(name="never", title="Never", formula="0 / (mean(cost) - mean(cost))")
    form = form_of(team)
    assert form.is_valid()
    config = form.sample().model_copy(
        update={"count": 10, "replicates": 2, "objectives": ObjectiveSetConfig(objectives=(never,))}
    )
    *_, last = sample(config, store())
    assert isinstance(last, Finished), last
    client.post(address("preview", team), filled(team))
    Job.objects.update(status=Status.FINISHED, artifacts=last.artifacts, metrics={"failed": 10.0})
    answer = client.post(address("preview", team), filled(team)).json()["sample"]
    assert (answer["state"], answer["text"][:53]) == ("failed", "None of the 10 random lineups gave a number that can ")


@pytest.mark.parametrize("key", QUESTIONS)
def test_questions_use_the_names_a_game_has_for_its_numbers(key: str) -> None:
    metrics = tuple(Metric(name, name.title(), "%", "higher") for name in ("life", "gold", "victory"))
    other = replace_spec(side_metrics=metrics, strength="life", resources="gold", win="victory")
    question = QUESTIONS[key]
    rules = question.lineups(LineupConfig())
    check(other, question.objectives(other), rules.teams)


def replace_spec(**changes: Any) -> Any:
    return msgspec.structs.replace(game_spec(), **changes)


def test_the_question_about_unfairness_is_the_paper_s(team: Studio) -> None:
    assert QUESTIONS["unfair"].objectives(game_spec()) == FAIRNESS


def test_the_line_moves_and_other_lines_go_unless_they_are_one_s_own() -> None:
    two = ObjectiveSetConfig(
        objectives=(*FAIRNESS.objectives[:1], FAIRNESS.objectives[1].model_copy(update={"threshold": 9.0}))
    )
    moved = with_line(two, "gap", 30.0)
    assert [o.threshold for o in moved.objectives] == [None, 30.0]
    assert [o.threshold for o in with_line(two, "gap", 30.0, keep=True).objectives] == [2.0, 30.0]


def test_battles_are_counted_as_the_engine_plans_them(team: Studio) -> None:
    form = form_of(team)
    assert form.is_valid()
    search, plan = form.search(None), form.plan(None)
    assert plan.lineups * battles_of_lineup(search.lineups, plan.replicates) == planned(search, 3) == 1_920_000


def test_slow_games_get_fewer_lineups_in_the_same_time() -> None:
    rules = LineupConfig()
    fast, slow = plans.plan(plans.EFFORTS["quick"], rules, 50_000), plans.plan(plans.EFFORTS["quick"], rules, 10)
    assert fast == plans.EFFORTS["quick"].plan
    assert slow.lineups < 200
    assert slow.population % 2 == 0
    assert plans.plan(plans.EFFORTS["deep"], rules, 10).lineups > slow.lineups
    for effort in plans.EFFORTS.values():
        assert plans.plan(effort, rules, plans.SLOW - 1).lineups <= effort.plan.lineups


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(35, 51, "35 to 50 s"), (35, 36, "35 s"), (110, 140, "1 min 50 s to 2 min"), (3000, 8000, "50 min to 2 h 15 min")],
)
def test_spans_of_time_in_words(low: float, high: float, words: str) -> None:
    assert plans.span(low, high).replace("\u00a0", " ") == words


# The form.


@pytest.mark.parametrize(
    ("field", "typed", "says"),
    [
        ("line", "two", "not a number"),
        ("line", "1.234.5", "not a number"),
        ("population", "2", "from 4"),
        ("rounds", "0", "from 1"),
        ("rounds", "1.5", "whole number"),
        ("replicates", "1", "from 2"),
        ("seed", "-3", "at least 0"),
        ("population", "20000", "from 4 to 10,000"),
        ("version", "999999", "choice"),
        ("rules", "x", "choice"),
        ("effort", "forever", "choice"),
        ("question", "why", "choice"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(team: Studio, field: str, typed: str, says: str) -> None:
    form = form_of(team, **{field: typed})
    assert not form.is_valid()
    assert says in " ".join(form.errors[field])


def test_decimal_commas_are_numbers(team: Studio) -> None:
    form = form_of(team, line="2,5")
    assert form.is_valid(), form.errors
    assert form.main.threshold == 2.5


def test_rules_that_cannot_be_met_say_why(team: Studio) -> None:
    impossible = LineupConfig(budget_low=1e6).model_dump(mode="json")
    rules = save(LineupRules, team.project, "Impossible", impossible, team.designer)
    form = form_of(team, rules=rules.pk)
    assert not form.is_valid()
    assert form.errors["rules"]


def test_own_objectives_must_fit_the_rules(team: Studio) -> None:
    usual = first_values(team.project)["rules"]
    one = ObjectiveSetConfig(objectives=(ObjectiveConfig(name="x", title="X", formula="mean(strength_vs_teams)"),))
    own = save(ObjectiveSet, team.project, "Mine", one.model_dump(mode="json"), team.designer)
    alone = save(LineupRules, team.project, "Alone", LineupConfig(teams=1).model_dump(mode="json"), team.designer)
    assert form_of(team, question="own", objectives=own.pk, measure="", rules=usual).is_valid()
    form = form_of(team, question="own", objectives=own.pk, measure="", rules=alone.pk)
    assert not form.is_valid()
    assert "strength_vs_teams" in form.errors["objectives"][0]


def test_rows_of_other_projects_are_no_choice(team: Studio) -> None:
    other = studio("elsewhere")
    theirs = game_version(other.project)
    assert not form_of(team, version=theirs.pk).is_valid()


def test_a_clone_s_form_makes_the_same_search(team: Studio) -> None:
    form = form_of(team, question="first", measure="seat", line="12.5", effort="quick", seed="7", population="40")
    assert form.is_valid(), form.errors
    search = form.search(None)
    job = Job(config=search.model_dump(mode="json"), template="first", **ids(form))
    again = NewJobForm(values_of(job), project=team.project, user=team.designer)
    assert again.is_valid(), again.errors
    assert again.search(None) == search


def test_a_clone_offers_its_own_numbers_beside_the_usual_efforts(client: Client, team: Studio) -> None:
    form = form_of(team, population="40", rounds="60")
    assert form.is_valid()
    job = Job(config=form.search(None).model_dump(mode="json"), template="unfair", **ids(form))
    typed = filled(team, **values_of(job))
    assert [typed[name] for name in plans.PLAN] == ["40", "60", "4"]
    efforts = client.post(address("preview", team), typed).json()["efforts"]
    assert [plain(effort["text"]).partition(",")[0] for effort in efforts.values()] == [
        "6",
        "20",
        "200",
        "2",
    ]  # thousands of lineups: quick, usual, deep, and the clone's own
    assert efforts["own"]["text"].startswith("2,400 lineups")


def test_a_clone_of_a_usual_effort_is_that_effort_and_leaves_the_numbers_open(client: Client, team: Studio) -> None:
    form = form_of(team, effort="quick")
    assert form.is_valid()
    job = Job(config=form.search(None).model_dump(mode="json"), template="unfair", **ids(form))
    typed = values_of(job)
    assert (typed["effort"], typed.keys() & set(plans.PLAN)) == ("quick", set())
    answer = client.post(address("preview", team), {**filled(team, **typed), "effort": "deep"}).json()
    assert "own" not in answer["efforts"]
    assert ["Lineups", "200,000"] in answer["before"]["rows"]


def ids(form: NewJobForm) -> dict[str, Any]:
    refers = form.refers()
    return {"game_version": refers["game_version"], "lineup_rules": refers["lineup_rules"],
            "objective_set": form.cleaned_data["objectives"]}  # fmt: skip


# The sample.

MEASURE = ObjectiveConfig(name="advantage", title="Advantage", formula="1", unit="×", toward="more unfair", high=4.0)


def sample_with(values: list[float]) -> random_lineups.RandomLineups:
    return random_lineups.RandomLineups({"advantage": np.array(values)}, {"advantage": (0.0, 4.0)}, 0, Median(21.0), 96)


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_a_sample_that_ran_out_of_time_blames_no_game() -> None:
    sample = Job(kind="sample", status=Status.FINISHED, config={"count": 200})
    told = previews._played(sample, sample_with([1.0] * 111))
    assert told == "111 of 200 random lineups in the time there was; the machine is busy or battles are slow"


def test_a_sensible_line_is_called_so_with_its_interval() -> None:
    sample = sample_with([1.0] * 187 + [2.5] * 13)
    advice = random_lineups.advice(sample, MEASURE, 2.0)
    assert advice["level"] == "good"
    assert "Of 200 random lineups, 13 are over it: 6 % (4 to 11 %)." in plain(advice["text"])


@pytest.mark.parametrize(("over", "level"), [(50, "good"), (51, "many"), (1, "good"), (0, "none")])
def test_the_warnings_begin_above_a_quarter_and_at_none(over: int, level: str) -> None:
    sample = sample_with(list(np.linspace(0.5, 1.9, 200 - over)) + list(np.linspace(2.0, 3.0, over)))
    assert random_lineups.advice(sample, MEASURE, 2.0)["level"] == level


def test_a_line_that_is_too_near_or_too_far_comes_with_a_better_one() -> None:
    sample = sample_with(list(np.linspace(1.0, 3.0, 200)))
    for line in (1.1, 3.5):
        better = random_lineups.advice(sample, MEASURE, line)["better"]
        assert 0 < random_lineups.over(sample.values["advantage"], MEASURE, better) <= 10


def test_lineups_at_the_cap_are_counted_and_no_line_is_proposed_there() -> None:
    sample = sample_with([1.0] * 120 + [4.0] * 80)
    assert plain(random_lineups.at_the_cap(sample, MEASURE)).startswith("At the cap of 4.0×: 80 of 200 (33 to 47 %).")
    advice = random_lineups.advice(sample, MEASURE, 2.0)
    assert (advice["level"], advice["better"]) == ("many", None)


@pytest.mark.parametrize("line", [None, 0.97, 2.0, 3.99, 7.0])
@pytest.mark.parametrize("values", [[1.0] * 200, [i / 50 for i in range(200)], [0.0, 1e-9], [5.0], [-3, -2, 1e6]])
def test_every_lineup_is_in_the_histogram_and_the_line_is_an_edge(values: list[float], line: float | None) -> None:
    array = np.array(values, dtype=float)
    free = MEASURE.model_copy(update={"high": None})
    bars = random_lineups.histogram(array, free, line, (None, None))
    assert sum(bars["counts"]) == len(array)
    assert len(bars["counts"]) < 60
    if line is not None and bars["edges"][0] <= line <= bars["edges"][-1]:
        assert min(abs(edge - line) for edge in bars["edges"]) < 1e-6 * max(1.0, abs(line), np.ptp(array))


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (np.linspace(0.0, 60.0, 200), 31.0),  # shares: none below 0 %
        (1.0 + np.linspace(0.0, 1.0, 200) ** 2, 1.93),  # ratios: none below 1×
        (np.linspace(0.0, 100.0, 200) ** 0.5 * 10, 33.3),  # up to 100 %
        (np.array([0.0] * 150 + [45.0] * 50), 44.9),
        (np.array([0.0]), None),
        (np.array([100.0]), None),
    ],
)
def test_no_bar_begins_below_the_least_value_or_ends_beyond_the_largest(values: Any, line: float | None) -> None:
    free = MEASURE.model_copy(update={"low": None, "high": None})
    edges = np.array(random_lineups.histogram(values, free, line, (0.0, 100.0))["edges"])
    low, high = (values.min(), values.max()) if len(values) > 1 else (0.0, 100.0)
    assert edges[0] >= low - 1e-9
    assert edges[-1] <= high + 1e-9
    widths = np.diff(edges)
    assert (widths > 0).all()
    if len(values) > 100:
        assert widths.max() <= 1.4 * np.median(widths), "no bar is much wider than the others"


def test_what_lies_under_a_line_that_is_the_most_is_told_so() -> None:
    down = MEASURE.model_copy(update={"direction": "min", "high": None, "low": 0.0, "toward": "more useless"})
    sample = sample_with([5.0] * 10 + [50.0] * 190)
    text = plain(random_lineups.advice(sample, down, 12.0)["text"])
    assert text.startswith("Of 200 random lineups, 10 are under it: 5 %")
    many = plain(random_lineups.advice(sample_with([0.0] * 120 + [50.0] * 80), down, 0.0)["text"])
    assert "over" not in many
    assert "many are at the floor" in many


def test_nobody_is_asked_for_a_line_that_random_lineups_can_propose() -> None:
    """Five in a hundred of them are over it, also where two digits would move it past nearly all."""
    values = np.linspace(0.5, 2.1, 200)
    assert 6 <= random_lineups.over(values, MEASURE, random_lineups.suggestion(values, MEASURE)) <= 10


def test_a_minimised_measure_has_its_line_below() -> None:
    down = MEASURE.model_copy(update={"direction": "min", "high": None, "low": 0.0})
    values = np.linspace(1.0, 3.0, 200)
    line = random_lineups.suggestion(values, down)
    assert 0 < random_lineups.over(values, down, line) <= 10


# Whose line it is.


def proposed(client: Client, team: Studio, **typed: Any) -> dict[str, Any]:
    """The preview once 200 random lineups are played, from 0 to 3."""
    found = filled(team, **typed)
    client.post(address("preview", team), found)
    for job in Job.objects.filter(kind="sample", artifacts={}):
        finished_sample(job, lambda name: np.linspace(0.0, 3.0, 200))
    answer: dict[str, Any] = client.post(address("preview", team), found).json()
    return answer


def test_a_form_says_whether_its_line_is_proposed_or_kept_or_of_its_objectives(client: Client, team: Studio) -> None:
    answer = proposed(client, team, measure="", line="")
    assert answer["fill"] == {"measure": "advantage", "line": "2.9", "line_from": "proposed"}
    lines.keep(team.project, team.designer, "unfair", "gap", 40.0)
    answer = proposed(client, team, measure="", line="")
    assert answer["fill"] == {"measure": "gap", "line": "40", "line_from": "kept"}
    assert first_values(team.project)["line_from"] == "kept"
    answer = proposed(client, team, question="own", measure="", line="")
    assert answer["fill"]["line_from"] == "objectives"
    page = client.get(address("new", team)).content.decode()
    told = re.search(r'<script id="line-words" type="application/json">(.*?)</script>', page)
    assert told is not None
    assert json.loads(told[1]) == line_origin.WORDS
    assert '<input type="hidden" name="line_from" value="kept"' in page


def test_a_line_of_too_few_random_lineups_is_the_question_s_usual_one(team: Studio) -> None:
    form = form_of(team, measure="", line="")
    assert form.is_valid()
    sample = Job.objects.create(project=team.project, kind="sample", title="Sample", config={}, status=Status.FAILED)
    previews.settle(form, sample)
    assert (form.cleaned_data["line"], form.origin) == (2.0, "usual")


def test_a_draft_and_a_clone_remember_whose_line_they_have(client: Client, team: Studio) -> None:
    client.post(
        address("preview", team), filled(team, measure="advantage", line="2.5", line_from="typed") | {"keep": "1"}
    )
    assert Draft.objects.get().form["line_from"] == "typed"
    assert 'name="line_from" value="typed"' in client.get(address("new", team)).content.decode()
    form = form_of(team, measure="advantage", line="2.5")
    assert form.is_valid()
    job = Job.objects.create(
        project=team.project, kind="search", title="x", config=form.search(None).model_dump(mode="json")
    )
    assert values_of(job)["line_from"] == "cloned"


def test_the_page_asks_for_the_line_in_the_words_of_its_question(client: Client, team: Studio) -> None:
    assert proposed(client, team, measure="", line="")["over"] == "over the line"
    assert proposed(client, team, question="useless", measure="", line="")["over"] == "useless"
    page = client.get(address("new", team)).content.decode()
    assert "A lineup is <span data-over>over the line</span> when its" in page


# The page.


def finished_sample(job: Job, values: Callable[[str], np.ndarray], strength: float = 21.0, error: float = 1.0) -> None:
    """What the worker would have left behind."""
    names = [o["name"] for o in job.config["objectives"]["objectives"]]
    columns = np.stack([values(name) for name in names], axis=1)
    meta = {
        "objectives": names,
        "median_baseline": {"value": strength, "error": error, "samples": 8},
        "battles_each": 96,
    }
    digest = store().put(pack(meta, {"objective": columns, "status": np.zeros(len(columns), np.uint8)}))
    Job.objects.filter(pk=job.pk).update(status=Status.FINISHED, artifacts={"sample": digest}, tick=2)
    for tick, (battles, seconds) in enumerate([(9600, 3.0), (19200, 3.4)], 1):
        body = {"counters": {"battles": battles, "seconds": seconds}}
        JobEvent.objects.create(job=job, sequence=90 + tick, kind="progressed", tick=tick, at=job.created_at, body=body)


def test_the_page_opens_fills_itself_in_and_keeps_what_is_typed(client: Client, team: Studio) -> None:
    assert "Which teams are unfair?" in client.get(address("new", team)).content.decode()
    assert not Draft.objects.exists()
    answer = client.post(address("preview", team), filled(team, line="2.7", keep=1)).json()
    assert (answer["errors"], answer["sample"]["state"]) == ({}, "playing")
    assert Draft.objects.get().form["line"] == "2.7"
    assert 'value="2.7"' in client.get(address("new", team)).content.decode()


def test_the_preview_counts_the_sample_and_estimates_the_time(client: Client, team: Studio) -> None:
    client.post(address("preview", team), filled(team, measure="advantage", line="2"))
    job = Job.objects.get(kind="sample")
    finished_sample(job, lambda name: np.linspace(0.5, 2.1, 200))
    answer = client.post(address("preview", team), filled(team, measure="advantage", line="2")).json()
    assert Job.objects.filter(kind="sample").count() == 1
    assert answer["sample"]["state"] == "ready"
    assert answer["sample"]["chart"]["over"] == int((np.linspace(0.5, 2.1, 200) >= 2.0).sum())
    assert answer["sample"]["advice"]["level"] == "good"
    assert plain(answer["before"]["time"]).startswith("about ")
    assert ["Battles", "1,920,000"] in answer["before"]["rows"]
    moved = client.post(address("preview", team), filled(team, line="1.2")).json()
    assert Job.objects.filter(kind="sample").count() == 1  # the line changes nothing that is played
    assert moved["sample"]["advice"]["level"] == "many"


def test_a_slow_sample_shows_what_it_has_so_far_and_judges_nothing_by_a_few(client: Client, team: Studio) -> None:
    client.post(address("preview", team), filled(team))
    job = Job.objects.get(kind="sample")
    finished_sample(job, lambda name: np.linspace(0.5, 2.1, 6))
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING)
    slow = {"counters": {"battles": 480, "seconds": 40.0}}
    job.events.filter(tick=1).update(body={"counters": {"battles": 48, "seconds": 4.0}})
    job.events.filter(tick=2).update(body=slow)
    answer = client.post(address("preview", team), filled(team)).json()
    assert answer["sample"]["state"] == "playing"
    assert answer["sample"]["text"].startswith("6 of 200 random valid lineups so far")
    assert (answer["sample"]["advice"]["level"], answer["sample"]["advice"]["better"]) == ("few", None)
    assert plain(answer["before"]["time"]) == "about 27 min"
    rows = dict(answer["before"]["rows"])
    usual = dict(rows["Fresh battles at the end"])["The edge again"].removeprefix("about ").split(", at")[0]
    battles, edge = int(rows["Battles"].replace(",", "")), int(usual.replace(",", ""))
    assert 12 * 2 * 600 < battles + edge < 12 * 2 * 1200
    assert 0.2 * battles < edge < battles, "the edge costs much where a search is small"
    assert answer["before"]["long"] == ""
    own = client.post(address("preview", team), filled(team, population=200, rounds=100, replicates=4)).json()
    assert "This takes about 45 h" in plain(own["before"]["long"])
    Job.objects.filter(pk=job.pk).update(status=Status.STOPPED, message="The time for it was up.")
    ended = client.post(address("preview", team), filled(team)).json()["sample"]
    assert plain(ended["text"]).startswith("6 of 200 random lineups in the time there was")


def test_a_game_beside_the_engine_waits_for_its_speed_or_for_typed_numbers(client: Client, team: Studio) -> None:
    Simulator.objects.update(reference="builtin:wesnoth")
    typed = filled(team, measure="advantage", line="2")
    assert form_of(team).is_valid()
    client.post(address("preview", team), typed)
    assert Job.objects.get(kind="sample").config["replicates"] == 2
    assert client.post(address("new", team), typed).status_code == 302
    waiting = Job.objects.get(kind="search")
    assert "How fast this game plays is being measured" in waiting.message
    assert (
        client.post(
            address("new", team), filled(team, measure="advantage", line="2", population=20, rounds=9, replicates=2)
        ).status_code
        == 302
    )
    assert Job.objects.filter(kind="search").latest("pk").awaits is None


def test_a_question_without_a_usual_line_gets_one_from_the_sample(client: Client, team: Studio) -> None:
    first = client.post(address("preview", team), filled(team, question="first", measure="", line="")).json()
    assert first["fill"] is None  # no line of its own that the sample would call a far one
    Job.objects.all().delete()
    typed = filled(team, question="price", measure="", line="")
    assert client.post(address("preview", team), typed).json()["fill"] is None
    finished_sample(Job.objects.get(kind="sample"), lambda name: np.linspace(10, 30, 200))
    fill = client.post(address("preview", team), typed).json()["fill"]
    assert (fill["measure"], fill["line"]) == ("value", "29")
    assert client.post(address("new", team), typed).status_code == 302
    job = Job.objects.get(kind="search")
    assert job.config["objectives"]["objectives"][0]["threshold"] == 29.0


def test_start_makes_the_job_that_was_described_and_forgets_the_draft(client: Client, team: Studio) -> None:
    client.post(address("preview", team), filled(team, keep=1))
    answer = client.post(address("new", team), filled(team, effort="quick", seed="11"))
    job = Job.objects.get(kind="search")
    assert answer["Location"] == reverse("studies:job", args=[team.project.slug, job.pk])
    assert (job.title, job.template, job.created_by) == ("Which teams are unfair?", "unfair", team.designer)
    assert (job.config["ticks"], job.config["seed"], job.config["pool"]["kind"]) == (30, 11, "ray")
    assert job.config["game"]["spec"] == job.game_version.spec_hash
    assert not Draft.objects.exists()


def test_errors_keep_what_was_typed_and_stand_at_their_fields(client: Client, team: Studio) -> None:
    answer = client.post(address("new", team), filled(team, population="3", line="2.25"))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'value="2.25"' in page
    assert 'value="3"' in page
    assert "from 4 to 10,000" in page
    assert not Job.objects.exists()


def test_a_game_that_is_not_installed_is_not_started(client: Client, team: Studio) -> None:
    Simulator.objects.update(status=Simulator.Status.MISSING, message="Install it with apt.")
    answer = client.post(address("new", team), filled(team))
    assert answer.status_code == 422
    assert "Install it with apt." in answer.content.decode()


def test_a_project_without_game_data_is_shown_the_way(client: Client, team: Studio) -> None:
    team.project.versions.all().delete()
    assert "This project has no game data yet" in client.get(address("new", team)).content.decode()


@pytest.mark.parametrize(
    "junk", [{"question": "\x01"}, {"line": "9" * 5000}, {"version": "9" * 400}, {}, {"rules": ["1", "2"]}]
)
def test_junk_is_answered_and_never_a_crash(client: Client, team: Studio, junk: dict[str, Any]) -> None:
    assert client.post(address("preview", team), {**junk, "keep": "1"}).status_code == 200
    assert client.post(address("new", team), junk).status_code == (422 if junk else 400)
    assert client.get(address("new", team)).status_code == 200


def test_a_draft_of_a_deleted_row_still_opens(client: Client, team: Studio) -> None:
    Draft.objects.create(project=team.project, user=team.designer, form={"rules": "99999", "line": "3", "version": "x"})
    assert client.get(address("new", team)).status_code == 200


def test_a_failed_sample_says_why_and_can_be_played_again(client: Client, team: Studio) -> None:
    client.post(address("preview", team), filled(team))
    Job.objects.update(status=Status.FAILED, message="The simulator hangs.")
    answer = client.post(address("preview", team), filled(team)).json()["sample"]
    assert (answer["state"], "The simulator hangs." in answer["text"]) == ("failed", True)
    again = client.post(address("preview", team), filled(team, again=1)).json()["sample"]
    assert again["state"] == "playing"


def test_what_the_median_baseline_team_has_left_is_not_rounded_away(client: Client, team: Studio) -> None:
    client.post(address("preview", team), filled(team))
    job = Job.objects.get(kind="sample")
    for strength, error, said in ((21.3, 1.0, "21 %"), (0.251, 0.001, "0.251 %"), (0.25, 0.0, "0.25 %")):
        finished_sample(job, lambda name: np.linspace(0.5, 2.1, 200), strength, error)
        told = client.post(address("preview", team), filled(team)).json()["sample"]["strong"]
        assert plain(told).endswith(f"({said} left)."), told
        job.events.all().delete()


@pytest.mark.parametrize("everything", [True, False])
def test_a_measure_that_is_the_same_for_all_gets_no_line_and_says_so(
    client: Client, team: Studio, monkeypatch: pytest.MonkeyPatch, everything: bool
) -> None:
    monkeypatch.setattr("webapp.studies.forms.counted", lambda spec, rules: 175 if everything else None)
    typed = filled(team, measure="", line="")
    client.post(address("preview", team), typed)
    finished_sample(Job.objects.get(kind="sample"), lambda name: np.full(175 if everything else 200, 1.0))
    answer = client.post(address("preview", team), typed).json()
    sample = answer["sample"]
    assert answer["fill"] is None
    who = "All 175 possible lineups" if everything else "All 200 random lineups"
    assert plain(sample["advice"]["text"]) == (
        f"{who} are at 1.0×: this measure is the same for all, so no line parts them. Choose another measure."
    )
    assert (sample["advice"]["better"], sample["cap"]) == (None, "")
    bar, axis = sample["chart"]["edges"], sample["chart"]["span"]
    assert len(bar) == 2
    assert 0 < bar[1] - bar[0] < 0.1 * (axis[1] - axis[0])
    assert bar[0] <= 1.0 <= bar[1]
    assert sample["chart"]["whole"] is everything
    page = client.post(address("new", team), typed).content.decode()
    assert "no line can be proposed" in page
    assert not Job.objects.filter(kind="search").exists()


def test_a_share_of_all_lineups_is_not_called_random_and_has_no_range(
    client: Client, team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.studies.forms.counted", lambda spec, rules: 20)
    typed = filled(team, measure="", line="")
    client.post(address("preview", team), typed)
    finished_sample(Job.objects.get(kind="sample"), lambda name: np.linspace(1.0, 3.0, 20))
    answer = client.post(address("preview", team), typed).json()
    assert answer["fill"]["line_from"] == "all"
    assert line_origin.WORDS["all"] == "Proposed from all lineups that there are."
    near = client.post(address("preview", team), filled(team, measure="advantage", line="1.0")).json()["sample"]
    told = plain(near["advice"]["text"])
    assert told.startswith("Of 20 lineups, 20 are over it: 100 %. ")
    for words in (told, near["text"], plain(near["cap"])):
        assert "random" not in words
    assert plain(near["cap"]) == "At the cap of 4.0×: 0 of 20."


def test_a_sample_without_a_lineup_says_only_what_it_has_told(client: Client, team: Studio) -> None:
    def said(**changes: Any) -> str:
        Job.objects.filter(kind="sample").update(**changes)
        return plain(client.post(address("preview", team), filled(team)).json()["sample"]["text"])

    client.post(address("preview", team), filled(team))
    assert said(status=Status.QUEUED).startswith("Random lineups of your game are played next")
    assert said(status=Status.RUNNING).startswith("Your game is being started")
    assert said(counters={"battles": 1200}).endswith(": 1,200 battles so far.")
