"""A line that somebody accepted is an absolute number: no new data, sample or preview moves it."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.config import FAIRNESS
from tests.factories import Studio, ready_studio, signed_in
from tests.webapp.test_jobs_new import finished_sample
from webapp.balance import lines
from webapp.balance.models import Draft, ObjectiveSet
from webapp.games.models import GameVersion
from webapp.studies import line_origin, pending
from webapp.studies.form_values import first_values
from webapp.studies.forms import NewJobForm
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Studio:
    return ready_studio()


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def newer(team: Studio) -> GameVersion:
    """A later version of the data."""
    version = team.project.versions.get(number=14)
    version.pk, version.number, version.content_hash = None, 15, "f" * 64
    version.save()
    return version


def sampled(client: Client, team: Studio, typed: dict[str, str], far: float) -> dict[str, object]:
    """The preview once its random lineups are played; their values end at ``far``."""
    address = reverse("studies:preview", args=[team.project.slug])
    client.post(address, typed)
    for job in Job.objects.filter(kind="sample", artifacts={}):
        finished_sample(job, lambda name: np.linspace(0.0, far, 200))
    found: dict[str, object] = client.post(address, {**typed, "keep": "1"}).json()
    return found


def test_a_line_in_the_project_s_objectives_stays_whatever_the_data(client: Client, team: Studio) -> None:
    strict = [o.model_copy(update={"threshold": 2.75 if o.name == "advantage" else None}) for o in FAIRNESS.objectives]
    config = FAIRNESS.model_copy(update={"objectives": tuple(strict)}).model_dump(mode="json")
    kept = ObjectiveSet.objects.create(project=team.project, name="Ours", config=config, content_hash="a" * 64)
    typed = {**first_values(team.project), "question": "own", "objectives": str(kept.pk), "measure": "", "line": ""}
    for version, far in ((team.project.versions.get(), 3.0), (newer(team), 40.0)):
        answer = sampled(client, team, {**typed, "version": str(version.pk), "seed": str(version.number)}, far)
        assert answer["fill"] == {"measure": "advantage", "line": "2.75", "line_from": "objectives"}
    kept.refresh_from_db()
    assert kept.config == config


def test_a_line_in_a_draft_stays_when_the_data_changes(client: Client, team: Studio) -> None:
    typed = {**first_values(team.project), "line": "2.75"}
    sampled(client, team, typed, 3.0)
    version = newer(team)
    answer = sampled(client, team, {**typed, "version": str(version.pk), "seed": "5"}, 40.0)
    assert answer["fill"] is None, "nothing is put in the place of a line that somebody chose"
    assert Draft.objects.get().form["line"] == "2.75"


def test_a_proposed_line_is_a_number_of_the_job_and_of_its_clone_from_then_on(client: Client, team: Studio) -> None:
    typed = {**first_values(team.project), "question": "price", "measure": "", "line": ""}
    client.post(reverse("studies:new", args=[team.project.slug]), typed)
    finished_sample(Job.objects.get(kind="sample"), lambda name: np.linspace(10, 30, 200))
    pending.settle_all()
    job = Job.objects.get(kind="search")
    line = job.config["objectives"]["objectives"][0]["threshold"]
    assert isinstance(line, float)
    version = newer(team)
    client.post(reverse("studies:clone", args=[team.project.slug, job.pk]))
    cloned = Draft.objects.get().form
    answer = sampled(
        client, team, {**first_values(team.project), **cloned, "version": str(version.pk), "seed": "5"}, 900.0
    )
    assert answer["errors"] == {}
    assert answer["fill"] is None
    assert float(cloned["line"]) == line
    job.refresh_from_db()
    assert job.config["objectives"]["objectives"][0]["threshold"] == line


def started(client: Client, team: Studio, **typed: str) -> Job:
    """A search that was started from the New job page."""
    client.post(reverse("studies:new", args=[team.project.slug]), {**first_values(team.project), **typed})
    return Job.objects.filter(kind="search").latest("pk")


def test_starting_a_search_accepts_its_line_and_new_data_does_not_move_it(client: Client, team: Studio) -> None:
    job = started(client, team, measure="advantage", line="2.3")
    version = newer(team)
    typed = first_values(team.project)
    assert (typed["measure"], typed["line"], typed["line_from"]) == ("advantage", "2.3", f"started:{job.pk}")
    page = client.get(reverse("studies:new", args=[team.project.slug])).content.decode()
    assert f'name="line_from" value="started:{job.pk}"' in page
    blank = {**typed, "version": str(version.pk), "seed": "5", "measure": "", "line": "", "line_from": ""}
    answer = sampled(client, team, blank, 40.0)
    assert answer["fill"] == {"measure": "advantage", "line": "2.3", "line_from": f"started:{job.pk}"}


def test_a_line_that_far_more_than_a_twentieth_are_beyond_is_proposed_with_the_words_that_none_is_nearer(
    client: Client, team: Studio
) -> None:
    address = reverse("studies:preview", args=[team.project.slug])
    typed = {**first_values(team.project), "measure": "", "line": "", "line_from": "anew"}
    client.post(address, typed)
    finished_sample(Job.objects.get(kind="sample"), lambda name: np.r_[np.linspace(0.0, 3.9, 140), np.full(60, 4.0)])
    answer = client.post(address, typed).json()
    assert answer["fill"] == {"measure": "advantage", "line": "4", "line_from": "nearest"}
    assert "60 are over it: 30" in answer["sample"]["advice"]["text"]
    words = line_origin.WORDS["nearest"].replace("\u00a0", " ")
    assert words.endswith("No line has about 5 % of them beyond it; this one comes nearest.")
    assert "nearest" in client.get(reverse("studies:new", args=[team.project.slug])).content.decode()


def test_a_line_is_proposed_anew_only_for_whoever_asks_for_it(client: Client, team: Studio) -> None:
    started(client, team, measure="advantage", line="2.3")
    typed = {**first_values(team.project), "measure": "", "line": "", "line_from": "anew"}
    answer = sampled(client, team, typed, 3.0)
    assert answer["fill"] == {"measure": "advantage", "line": "2.9", "line_from": "proposed"}
    assert first_values(team.project)["line"] == "2.3"


def test_what_was_accepted_last_counts_whether_it_was_started_or_kept(client: Client, team: Studio) -> None:
    started(client, team, measure="advantage", line="2.3")
    lines.keep(team.project, team.designer, "unfair", "advantage", 2.5)
    assert first_values(team.project)["line"] == "2.5"
    assert first_values(team.project)["line_from"] == "kept"
    job = started(client, team, measure="advantage", line="2.7")
    assert first_values(team.project)["line_from"] == f"started:{job.pk}"


def test_a_line_on_another_formula_or_of_another_question_is_not_taken(client: Client, team: Studio) -> None:
    job = started(client, team, measure="advantage", line="2.3")
    other = {**first_values(team.project), "question": "useless", "measure": "", "line": "", "line_from": ""}
    form = NewJobForm(other, project=team.project, user=team.designer)
    assert form.is_valid()
    assert form.cleaned_data["line"] is None
    job.config["objectives"]["objectives"][0]["formula"] = "mean(win)"
    job.save()
    assert first_values(team.project)["line"] == ""


def test_objectives_that_were_saved_after_a_search_bring_their_own_line(client: Client, team: Studio) -> None:
    own = ObjectiveSet.objects.get()
    typed = {"question": "own", "objectives": str(own.pk), "measure": "advantage"}
    job = started(client, team, **typed, line="2.3")
    blank = {**first_values(team.project), **typed, "measure": "", "line": "", "line_from": ""}
    form = NewJobForm(blank, project=team.project, user=team.designer)
    assert form.is_valid()
    assert (form.cleaned_data["line"], form.origin) == (2.3, f"started:{job.pk}")
    lines.keep_in_set(own, team.designer, "advantage", 2.9)
    saved = {**blank, "objectives": str(ObjectiveSet.objects.get(replaced_by=None).pk)}
    form = NewJobForm(saved, project=team.project, user=team.designer)
    assert form.is_valid()
    assert (form.cleaned_data["line"], form.origin) == (2.9, "objectives")


def test_the_page_of_objectives_tells_the_line_that_new_job_begins_with(client: Client, team: Studio) -> None:
    own, page = ObjectiveSet.objects.get(), reverse("balance:objectives", args=[team.project.slug])
    assert "New job begins with" not in client.get(page).content.decode()
    lines.keep(team.project, team.designer, "own", "advantage", 2.25)
    told = client.get(page).content.decode()
    assert "New job begins with 2.25 ×, which was accepted since" in told
    form = NewJobForm(
        {**first_values(team.project), "question": "own", "objectives": str(own.pk), "measure": "", "line": ""},
        project=team.project, user=team.designer,
    )  # fmt: skip
    form.is_valid()
    assert (form.cleaned_data["measure"], form.cleaned_data["line"]) == ("advantage", 2.25)
