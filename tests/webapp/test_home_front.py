"""Home says what the product is for, and shows the latest edge: to members, and to nobody else."""

from __future__ import annotations

import re

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.arrays import pack, unpack
from tests.factories import Studio, archive, bundle, person, search_job
from tests.webapp.test_compare import another
from tests.webapp.test_explore_shortlist import finished_recheck
from webapp.accounts.models import User
from webapp.lib.storage import store
from webapp.projects.models import Membership, Project, Role
from webapp.studies import explore_source as source
from webapp.studies.explore_recheck import findings
from webapp.studies.last_front import last_front
from webapp.studies.models import Job, Status
from webapp.studies.questions import QUESTIONS, Question

pytestmark = pytest.mark.django_db

SENTENCE = "finds the teams that are unfair, so you can fix them before players find them."
EDGE = "Latest edge"


def home(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.get(reverse("projects:home")).content.decode()


def test_home_says_in_one_sentence_what_the_product_is_for(team: Studio) -> None:
    for user in (team.designer, team.producer, team.stranger):
        assert SENTENCE in home(user)


def test_the_last_edge_is_a_picture_that_leads_to_its_lineups(team: Studio) -> None:
    job = search_job(team.project)
    page = home(team.designer)
    shown = last_front(team.designer)
    assert shown is not None
    plot = re.search(r'<svg class="last-front-plot".*?</section>', page, re.DOTALL)
    assert plot is not None
    drawn = re.findall(r'<path class="(strong|unsure|under)"', plot[0])
    assert sorted(drawn) == sorted(mark.kind for mark in shown.marks)
    assert drawn
    assert {mark.kind for mark in shown.marks} <= {"strong", "unsure", "under"}
    assert all(0 <= float(place[:-1]) <= 100 for mark in shown.marks for place in (mark.left, mark.top))
    assert "Resource advantage (×) → " in page
    assert reverse("studies:explore", args=[team.project.slug, job.pk]) in page


def test_the_picture_comes_with_the_list_of_jobs_when_something_happens(team: Studio) -> None:
    client = Client()
    client.force_login(team.designer)
    address = reverse("projects:home")
    assert '<div id="last-front" hx-swap-oob="innerHTML"></div>' in client.get(
        address, HTTP_HX_REQUEST="true"
    ).content.decode()  # fmt: skip
    job = search_job(team.project)
    changes = client.get(address, HTTP_HX_REQUEST="true").content.decode()
    assert EDGE in changes
    assert f"/jobs/{job.pk}/explore/" in changes


def test_the_caption_tells_of_the_two_numbers_that_are_drawn_and_every_mark_is_as_it_says(team: Studio) -> None:
    job = search_job(team.project)
    shown = last_front(team.designer)
    assert shown is not None
    assert shown.caption == "Each mark is a lineup. No other lineup that was found is both more unfair and stronger."
    assert shown.caption in home(team.designer)
    places = [(float(mark.left[:-1]), -float(mark.top[:-1])) for mark in shown.marks]
    assert not any(a < c and b < d for a, b in places for c, d in places)
    assert len(job.config["objectives"]["objectives"]) == 3  # a third number was searched for


def test_beside_marks_on_fresh_battles_are_only_those_that_were_played_again(team: Studio) -> None:
    """The search may have found others that look further by its own battles: they have no fresh ones to say so."""
    job = search_job(team.project)
    job.artifacts["fresh"] = job.artifacts["front"]
    job.save()
    shown = last_front(team.designer)
    assert shown is not None
    assert shown.caption == "Each mark is a lineup. No other re-tested lineup is both more unfair and stronger."


def test_the_legend_names_the_marks_that_are_drawn_in_the_words_of_the_question(team: Studio) -> None:
    job = search_job(team.project, template="useless")
    shown = last_front(team.designer)
    assert shown is not None
    assert {kind for kind, _ in shown.legend} == {mark.kind for mark in shown.marks}
    assert dict(shown.legend)["strong"] == "Found useless"
    for objective in job.config["objectives"]["objectives"]:
        objective["threshold"] = None
    job.save()
    shown = last_front(team.designer)
    assert shown is not None
    assert shown.legend == []
    assert {mark.kind for mark in shown.marks} == {"fair"}
    assert "no line was set" in home(team.designer)


def test_what_a_re_check_refuted_is_drawn_as_refuted(team: Studio) -> None:
    job = search_job(team.project, rows=200)
    before = last_front(team.designer)
    assert before is not None
    front = unpack(store().get(job.artifacts["front"])).arrays
    rows = front["id"].tolist()
    finished_recheck(job, rows, [1.2, 10.0, 28.0], [0.01, 0.2, 0.2])
    findings(job)
    after = last_front(team.designer)
    assert after is not None
    assert {mark.kind for mark in before.marks} > {"under"}
    assert {mark.kind for mark in after.marks} == {"under"}


def test_a_stranger_and_one_who_made_his_own_project_see_no_one_else_s_edge(team: Studio) -> None:
    search_job(team.project)
    own = Project.objects.create(name="Mine", slug="mine")
    Membership.objects.create(project=own, user=team.stranger, role=Role.OWNER)
    for user in (team.stranger, person("nobody")):
        assert EDGE not in home(user)
    for user in (team.owner, team.producer):
        assert EDGE in home(user)


def _rest(left: str) -> str:
    return f"{100 - float(left.rstrip('%')):.2f}%"


def test_where_strength_does_not_count_all_beyond_the_line_is_tinted(team: Studio) -> None:
    job = search_job(team.project)
    for o in job.config["objectives"]["objectives"]:
        o["strength"] = False
    job.save()
    shown = last_front(team.designer)
    assert shown is not None
    assert (shown.median, shown.tint) == ("", ("0", "0", "100%", shown.line))
    assert "dotted" not in home(team.designer)


def test_the_legend_and_the_tint_are_those_of_the_question_and_of_its_line(team: Studio) -> None:
    job = search_job(team.project, template="useless")
    shown = last_front(team.designer)
    assert shown is not None
    page = home(team.designer)
    assert "Found useless" in page
    assert "over the line and strong" not in page
    assert shown.tint == (shown.median, "0", _rest(shown.median), shown.line), "weak teams over the line are not it"
    assert "dotted: the median baseline team" in page
    for o in job.config["objectives"]["objectives"]:
        o["direction"] = "min"
    job.save()
    shown = last_front(team.designer)
    assert shown is not None
    assert shown.up == "Resource advantage (×) ← more unfair"
    assert shown.tint == ("0", shown.line, shown.median, _rest(shown.line)), (
        "from the line down to the axis, no further"
    )


def test_a_search_without_a_line_speaks_of_none(team: Studio) -> None:
    job = search_job(team.project)
    assert "found by the search" in home(team.designer)
    job.config["objectives"]["objectives"][0]["threshold"] = None
    job.save()
    page = home(team.designer)
    assert EDGE in page
    assert "over the line" not in page
    assert "found by the search" not in page


def test_the_axes_of_the_picture_have_round_numbers_at_equal_distances_where_they_belong(team: Studio) -> None:
    job = search_job(team.project)
    shown = last_front(team.designer)
    assert shown is not None
    for ticks in (shown.ticks_across, shown.ticks_up):
        values = np.array([float(re.sub(r"[^\d.]", "", tick.words)) for tick in ticks])
        places = np.array([float(tick.at[:-1]) for tick in ticks])
        assert 2 <= len(ticks) <= 5
        step = values[1] - values[0]
        assert f"{step:.4e}"[0] in "125"
        assert values % step == pytest.approx(0, abs=1e-6) or (values % step).max() == pytest.approx(step)
        assert np.diff(values) == pytest.approx(step)
        assert np.ptp(np.diff(places)) == pytest.approx(0, abs=0.02)
        assert (places >= 0).all()
        assert (places <= 100).all()
    assert f">{shown.ticks_up[0].words}</text>" in home(team.designer)
    line = job.config["objectives"]["objectives"][0]["threshold"]
    at = np.interp(line, [values[0], values[-1]], [places[0], places[-1]], left=np.nan, right=np.nan)
    assert np.isnan(at) or at == pytest.approx(float(shown.line[:-1]), abs=0.05)


def test_a_lost_edge_gives_way_to_the_one_before_and_home_stays_whole(team: Studio) -> None:
    first = search_job(team.project)
    lost = Job.objects.get(pk=first.pk)
    lost.pk, lost.artifacts = None, {"front": "0" * 64}
    lost.save()
    shown = last_front(team.designer)
    assert shown is not None
    assert shown.job == first
    first.delete()
    assert EDGE not in home(team.designer)


def test_a_search_without_a_round_has_no_edge_yet(team: Studio) -> None:
    job = search_job(team.project)
    Job.objects.filter(pk=job.pk).update(tick=0)
    assert EDGE not in home(team.designer)


def test_one_lineup_alone_stands_well_within_the_picture(team: Studio) -> None:
    job = search_job(team.project, rows=1)
    for o in job.config["objectives"]["objectives"]:
        o["strength"] = False  # no median team beside it
    job.save()
    shown = last_front(team.designer)
    assert shown is not None
    assert [20 < float(mark.left[:-1]) < 80 for mark in shown.marks] == [True]


def test_home_says_that_random_lineups_are_played_before_a_projects_first_search(team: Studio) -> None:
    told = "random lineups are being played"
    sample = Job.objects.create(
        project=team.project, kind="sample", title="Random sample", config={}, status=Status.RUNNING
    )
    assert "Getting ready" in home(team.designer)
    assert told in home(team.designer)
    assert told not in home(team.stranger)
    Job.objects.filter(pk=sample.pk).update(config={"kind": "episodes"})
    assert told not in home(team.designer), "a form of styles has a game for agents played"
    Job.objects.filter(pk=sample.pk).update(config={})
    search_job(team.project)
    assert told not in home(team.designer), "a sample beside a search is somebody's New job page"
    Job.objects.exclude(pk=sample.pk).delete()
    Job.objects.update(status=Status.FINISHED)
    assert "All quiet" in home(team.designer)


def _front_of(job: Job, row: int, **changes: float) -> None:
    """The search found one lineup only, with these values of its columns 0 (up) and 2 (across), and knew no median
    team that would be drawn beside it."""
    found = unpack(bundle(archive(600)))
    arrays = {name: column[row : row + 1].copy() for name, column in found.arrays.items()}
    for name, value in changes.items():
        arrays["objective"][:, {"up": 0, "across": 2}[name]] = value
    job.artifacts["front"] = store().put(pack({**found.meta, "median_baseline": None}, arrays))
    job.save()


@pytest.mark.parametrize(
    ("across", "ticks"),
    [(59.4, "50 60 70"), (100.0, "0 50 100"), (0.0, "0.0 0.5 1.0"), (57.0, "50 55 60")],
)
def test_an_edge_of_one_lineup_has_axes_with_ends_and_a_middle(team: Studio, across: float, ticks: str) -> None:
    job = search_job(team.project)
    line = job.config["objectives"]["objectives"][0]["threshold"]
    _front_of(job, 5, across=across, up=line)
    shown = last_front(team.designer)
    assert shown is not None
    assert len(shown.marks) == 1
    assert shown.caption.startswith("The edge is one lineup, with weakest team’s strength left ")
    assert f" and resource advantage {line:.1f}×: no other lineup that was found is both more unfair" in shown.caption
    assert [tick.words for tick in shown.ticks_across] == [f"{each}\u00a0%" for each in ticks.split()]
    assert len({tick.words for tick in shown.ticks_up}) == len(shown.ticks_up) >= 3


def test_an_edge_of_one_lineup_does_not_take_the_place_of_one_that_shows_something(team: Studio) -> None:
    told = search_job(team.project)
    _front_of(another(told), 5)
    shown = last_front(team.designer)
    assert shown is not None
    assert shown.job == told


@pytest.mark.parametrize("question", [q for q in QUESTIONS.values() if q.key != "own"], ids=lambda q: q.key)
def test_the_caption_compares_in_the_words_of_every_question(team: Studio, question: Question) -> None:
    job = search_job(team.project, template=question.key)
    spec = source.spec(job)
    found = unpack(bundle(archive(600)))
    asked = question.objectives(spec)
    job.config["objectives"] = asked.model_dump(mode="json")
    count = len(asked.objectives)
    told = {
        name: column[:, :count, :count] if name == "covariance" else column[:, :count]
        for name, column in found.arrays.items()
        if name in ("objective", "error", "covariance")
    }
    job.artifacts["front"] = store().put(pack(found.meta, {**found.arrays, **told}))
    job.save()
    shown = last_front(team.designer)
    assert shown is not None
    compared = {
        "unfair": "more unfair and stronger",
        "fielded": "more unfair and stronger",
        "price": "better for its price and stronger",
        "useless": "more useless and dearer",
        "first": "more decided by going first and stronger",
    }[question.key]
    begins = "The edge is one lineup, with " if len(shown.marks) == 1 else "Each mark is a lineup. No "
    assert shown.caption.startswith(begins)
    assert shown.caption.endswith(f"other lineup that was found is both {compared}.")


def test_home_counts_as_running_only_what_runs(team: Studio) -> None:
    job = search_job(team.project)
    jobs = [job, another(job), another(job)]
    Job.objects.update(status=Status.RUNNING)
    assert home(team.designer).count("3 jobs running") == 2, "the heading, and the list"
    Job.objects.filter(pk=jobs[0].pk).update(status=Status.WAITING)
    page = home(team.designer)
    assert page.count("2 running, 1 waiting") == 2
    assert "jobs running" not in page
    assert "3 jobs" not in page


def test_help_says_of_ranges_what_they_do(team: Studio) -> None:
    client = Client()
    client.force_login(team.designer)
    page = client.get(reverse("projects:help")).content.decode()
    assert "four times the battles" not in page, "ranges that hold at every look do not shrink by a root"
    assert "they begin wider than the search’s own ranges" in page
    assert "it ignores that the lineup was selected" in page
    assert "That range is for its pair alone." in page
    assert "the age of the data is one update, never more" in page


def test_the_table_of_lineups_says_that_the_searchs_ranges_leave_out_the_picking(team: Studio) -> None:
    client = Client()
    client.force_login(team.designer)
    page = client.get(reverse("studies:explore", args=[team.project.slug, search_job(team.project).pk]))
    assert "Ranges from the search itself ignore that these lineups were selected" in page.content.decode()
