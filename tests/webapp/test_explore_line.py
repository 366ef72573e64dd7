"""A line that is moved in the explorer: verdicts, files, and what a project keeps of it."""

from __future__ import annotations

import csv
import io
from html import unescape

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.test import Client

from engine.config import ObjectiveSetConfig
from tests.factories import Studio, search_job, signed_in
from tests.webapp.test_explore_shortlist import finished_recheck
from webapp.accounts.models import User
from webapp.balance.models import KeptLine, ObjectiveSet
from webapp.balance.saving import ensure_defaults, newest
from webapp.lib.words import lower_first
from webapp.studies import explore_build as build
from webapp.studies import explore_source as source
from webapp.studies.explore_line import asked, moved
from webapp.studies.form_values import first_values
from webapp.studies.forms import NewJobForm
from webapp.studies.models import Job
from webapp.studies.questions import QUESTIONS, verdict_words
from webapp.studies.result_rows import LineupRows
from webapp.studies.verdict_words import BELOW_ALONE, LINE_ALONE

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(team: Studio) -> Job:
    return search_job(team.project, rows=900)


NOT_SENSIBLE = ("1e308", "-1e308", "1e13", "1e-320", "-1e-320")


def by(user: User) -> Client:
    return signed_in(user)


def keep(user: User, job: Job, objective: str = "advantage", line: str = "2.65") -> int:
    answer = by(user).post(f"/p/herobattle/jobs/{job.pk}/explore/line/", {"objective": objective, "line": line})
    return int(answer.status_code)


def test_verdicts_by_a_line_at_the_jobs_own_are_the_jobs_own(job: Job) -> None:
    explored = build.build(job)
    again = moved(explored, {"advantage": 2.0 + 1e-9})
    np.testing.assert_array_equal(again.core["verdict"], explored.core["verdict"])
    assert again.meta["moved"] == {"advantage": 2.0 + 1e-9}
    assert moved(explored, {}) is explored


def test_a_line_further_out_has_fewer_over_it_and_the_job_keeps_its_own(job: Job) -> None:
    explored = build.build(job)
    further = moved(explored, {"advantage": 2.6})
    over = further.core["verdict"] > 0
    np.testing.assert_array_equal(over, explored.core["value"][0].astype(float) >= 2.6)
    assert 0 < over.sum() < (explored.core["verdict"] > 0).sum()
    assert explored.meta["objectives"][0]["threshold"] == 2.0
    words = np.array(further.meta["sure"])[further.core["sure"]]
    assert "Confirmed" not in words
    assert set(words[over]) <= {"Over, weak", "Not sure yet", "Found by the search"}


def test_an_address_moves_only_lines_that_the_job_has_and_only_to_numbers(job: Job) -> None:
    meta = build.build(job).meta
    assert asked(QueryDict("line-advantage=2.5&line-gap=30&line-nothing=1"), meta) == {"advantage": 2.5}
    assert asked(QueryDict("line-advantage=2"), meta) == {}
    for wrong in ("far", "nan", "inf", *NOT_SENSIBLE):
        with pytest.raises(ValueError, match="line-advantage"):
            asked(QueryDict(f"line-advantage={wrong}"), meta)


def test_a_file_says_that_its_line_was_moved_and_a_wrong_one_is_refused(team: Studio, job: Job) -> None:
    client, address = by(team.producer), f"/p/herobattle/jobs/{job.pk}/export.csv"
    lines = list(csv.DictReader(io.StringIO(client.get(f"{address}?line-advantage=2.6").content.decode("utf-8-sig"))))
    assert lines
    assert all(float(line["Resource advantage (×)"]) >= 2.6 for line in lines)
    assert "Resource advantage at 2.6; the job’s own is 2" in lines[0]["Source"]
    refused = client.get(f"{address}?line-advantage=far")
    assert refused.status_code == 400
    assert "line-advantage" in refused.content.decode()


def test_who_may_write_keeps_a_line_and_nobody_else(team: Studio, job: Job) -> None:
    assert keep(team.designer, job) == keep(team.owner, job) == 200
    assert keep(team.producer, job) == 403
    assert keep(team.stranger, job) == 404
    assert keep(team.designer, job, line="nan") == keep(team.designer, job, objective="gap") == 400
    assert [(k.question, k.objective, k.line) for k in KeptLine.objects.all()] == [("unfair", "advantage", 2.65)]


@pytest.mark.parametrize("line", NOT_SENSIBLE)
def test_a_line_where_none_can_be_is_refused_by_the_explorer_and_by_the_form(team: Studio, job: Job, line: str) -> None:
    sent = {"objective": "advantage", "line": line}
    answer = by(team.designer).post(f"/p/herobattle/jobs/{job.pk}/explore/line/", sent)
    assert answer.status_code == 400
    assert "No line can be there" in answer.json()["error"]
    assert not KeptLine.objects.exists()
    with pytest.raises(ValidationError, match="too large, or too near to zero"):
        NewJobForm.base_fields["line"].clean(line)


def test_a_line_with_every_lineup_on_one_side_is_refused_in_a_sentence(team: Studio, job: Job) -> None:
    objectives = job.config["objectives"]["objectives"]
    objectives[2] |= {"threshold": 50.0}  # a share of strength that is left
    job.save()
    for objective, line, why in (
        ("weakest", "-1", "0 at least"), ("weakest", "100.5", "100 at most"), ("advantage", "-1", "0 at least"),
    ):  # fmt: skip
        sent = {"objective": objective, "line": line}
        answer = by(team.designer).post(f"/p/herobattle/jobs/{job.pk}/explore/line/", sent)
        assert answer.status_code == 400
        assert why in answer.json()["error"], answer.json()
    assert not KeptLine.objects.exists()
    assert keep(team.designer, job, "weakest", "99") == 200


def test_a_line_at_or_near_zero_is_kept(team: Studio, job: Job) -> None:
    for line in ("0", "0.000001", "3.5"):
        assert keep(team.designer, job, line=line) == 200
        assert NewJobForm.base_fields["line"].clean(line) == KeptLine.objects.get().line == float(line)


def test_later_searches_begin_with_the_kept_line_and_other_questions_do_not(team: Studio, job: Job) -> None:
    ensure_defaults(team.project, team.designer)
    keep(team.designer, job)
    assert first_values(team.project)["line"] == "2.65"
    form = NewJobForm(
        {**first_values(team.project), "measure": "", "line": ""}, project=team.project, user=team.designer
    )
    assert form.is_valid()
    assert form.cleaned_data["line"] == 2.65
    other = {**first_values(team.project), "question": "fielded", "measure": "", "line": ""}
    form = NewJobForm(other, project=team.project, user=team.designer)
    assert form.is_valid()
    assert form.cleaned_data["line"] != 2.65


def test_a_line_of_the_projects_own_objectives_is_kept_in_them(team: Studio, job: Job) -> None:
    _, own = ensure_defaults(team.project, team.designer)
    Job.objects.filter(pk=job.pk).update(objective_set=own, template="own")
    assert keep(team.designer, job) == 200
    now = newest(ObjectiveSet.objects.get(pk=own.pk))
    assert now.pk != own.pk
    assert now.config["objectives"][0]["threshold"] == 2.65
    assert not KeptLine.objects.exists()


@pytest.mark.parametrize("question", ["price", "useless", "first"])
def test_each_question_has_words_of_its_own_for_its_verdicts(question: str) -> None:
    words = verdict_words(question, ObjectiveSetConfig.model_construct(objectives=()))
    assert words is QUESTIONS[question].words
    assert not any("the line" in text for text in (*words.verdicts, words.over, words.weak, words.corner))


@pytest.mark.parametrize("question", QUESTIONS)
def test_only_a_whole_range_under_the_line_is_called_under_it_without_on_average(team: Studio, question: str) -> None:
    job = search_job(team.project, rows=200)
    Job.objects.filter(pk=job.pk).update(template=question)
    job.refresh_from_db()
    before = build.build(job)
    value, half = before.core["value"][0], before.core["half"][0]
    across = int(np.flatnonzero((before.core["verdict"] == 0) & (value + half >= 2.0))[0])
    finished_recheck(job, [30], [1.7, 30.0, 28.0], [0.05, 1.0, 1.0])
    words, address = verdict_words(question, source.objectives(job)), f"/p/herobattle/jobs/{job.pk}"
    assert words.under == f"On average {lower_first(words.refuted)}"
    read = by(team.producer).get(f"{address}/export.csv?show=under").content.decode("utf-8-sig")
    how = {int(line["Lineup"]): line["How sure"] for line in csv.DictReader(io.StringIO(read))}
    assert how.pop(30) == words.refuted
    assert how[across] == words.under
    assert set(how.values()) == {words.under}
    rows = {row["lineup"]: row["sure"] for row in LineupRows(job, "all", team.producer).page(0, 200)}
    assert {lineup: rows[lineup] for lineup in how} == how
    page = unescape(by(team.producer).get(f"{address}/explore/").content.decode())
    assert page.count(f"<span>{words.under}") == 2, "in the legend and in the filter"
    assert f"<span>{words.refuted}" not in page
    offline = by(team.producer).get(f"{address}/export.html?show=under").content.decode()
    assert f'"verdicts": ["{words.under}"' in offline


def test_programs_are_told_no_verdict_where_there_is_no_line(team: Studio, job: Job) -> None:
    for objective in job.config["objectives"]["objectives"]:
        objective["threshold"] = None
    job.save()
    row = LineupRows(job, "all", team.producer).page(0, 1)[0]
    assert (row["verdict"], row["sure"]) == (None, None)


def test_words_speak_of_strength_only_where_it_is_measured(job: Job) -> None:
    objectives = ObjectiveSetConfig.model_validate(job.config["objectives"])
    without = objectives.model_copy(update={"objectives": objectives.objectives[:2]})
    assert verdict_words("own", objectives).strong == "Over the line and strong"
    assert verdict_words("own", without).strong == "Found over the line"


def test_where_the_line_is_the_most_what_counts_is_below_it(job: Job) -> None:
    objectives = ObjectiveSetConfig.model_validate(job.config["objectives"])
    down = [o.model_copy(update={"direction": "min"}) for o in objectives.objectives]
    most = objectives.model_copy(update={"objectives": tuple(down)})
    words = verdict_words("own", most)
    assert (words.over, words.refuted) == ("below the line", "Above the line")
    assert verdict_words("useless", most) is QUESTIONS["useless"].words
    both = objectives.model_copy(update={"objectives": (*down[:1], *objectives.objectives[1:])})
    assert verdict_words("own", both).over == "below the line", "the objective without a line says nothing of it"


def test_every_word_for_how_sure_is_explained_in_help(team: Studio) -> None:
    page = unescape(by(team.designer).get("/help/").content.decode()).lower()
    for words in (*(q.words for q in QUESTIONS.values()), LINE_ALONE, BELOW_ALONE):
        for text in words.verdicts[1:]:
            assert not text.startswith("Found") or "<b>found</b>, in the name of a verdict" in page
        assert not any("urely" in text for text in (*words.verdicts, *words.moved_sure)), (
            "the search alone makes nothing sure"
        )
    for how in ("found by the search", "on fresh battles", "confirmed", "needs more battles", "too close to tell"):
        assert how in page
