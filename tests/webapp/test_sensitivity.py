"""Sensitivities on the site: what they cost is said first, what they found is told where nothing was found."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.config.sensitivity import SensitivityConfig
from tests.factories import Studio, ready_studio, search_job, signed_in, studio
from tests.webapp.experiments import NOTHING, experiment, table
from tests.webapp.sensitivities import over
from tests.webapp.test_gates import over as judged
from webapp.api import tokens
from webapp.reports.content import content
from webapp.sensitivity.figures import UNMEASURED, Screen, measured
from webapp.sensitivity.reading import rows_of
from webapp.studies.models import Job, Status

FOUND = {("piece", 3.0): 3, ("piece", 5.0): 18, ("piece", 8.0): 20}
SENTENCE = "A piece 5 points too strong or too weak is found in 18 of 20 plantings (70 to 97 %)."


@pytest.fixture
def team(db: None) -> Studio:
    return ready_studio()


@pytest.fixture
def designer(team: Studio) -> Client:
    return signed_in(team.designer)


def form(team: Studio) -> str:
    return reverse("studies:ask", args=[team.project.slug, "sensitivity"])


def page(job: Job) -> str:
    return reverse("studies:job", args=[job.project.slug, job.pk])


def text(client: Client, address: str, **query: Any) -> str:
    answer = client.get(address, query)
    assert answer.status_code == 200
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).replace("\xa0", " ").split())


def started(team: Studio, designer: Client, **typed: Any) -> Job:
    answer = designer.post(form(team), {"agreed": "on", **typed})
    assert answer.status_code == 302, answer.content.decode()
    return Job.objects.filter(kind="sensitivity").latest("pk")


def worth(team: Studio, designer: Client) -> Job:
    """An experiment that is over and named nothing."""
    designer.post(reverse("studies:ask", args=[team.project.slug, "worth"]), {"battles": "150000", "matters": "3"})
    changes = {"status": Status.FINISHED, "artifacts": {"table": table(NOTHING)}, "finished_at": timezone.now(),
               "counters": {"battles": 150_000, "seconds": 60.0}}  # fmt: skip
    Job.objects.filter(kind="worth").update(**changes)
    return Job.objects.get(kind="worth")


@pytest.fixture
def done(team: Studio, designer: Client) -> Job:
    """A sensitivity that is over."""
    return over(started(team, designer, plantings="20", battles="150000"), FOUND, beside=True)


def test_it_says_what_it_costs_and_starts_once_somebody_agreed(team: Studio, designer: Client) -> None:
    answer = designer.post(form(team), {"plantings": "20", "battles": "20000", "sizes": "5; 8.5"})
    assert answer.status_code == 422
    assert not Job.objects.filter(kind="sensitivity").exists()
    most = SensitivityConfig(game={"simulator": "-"}, plantings=20, battles=20_000, sizes=(5, 8.5)).most
    said = unescape(answer.content.decode())
    assert f"40 plantings: {most:,} battles at most" in said
    assert "not known: no experiment on this game has been played here yet" in said
    job = started(team, designer, plantings="20", battles="20000", sizes="5; 8.5", side="weak", title="How hard?")
    assert (job.title, job.config["sizes"], job.config["side"], job.config["plantings"]) == ("How hard?", [5.0, 8.5],
                                                                                            "weak", 20)  # fmt: skip
    assert job.config["game"]["simulator"] == job.game_version.simulator.reference
    assert job.lineup_rules is not None


def test_the_time_it_takes_is_told_by_experiments_that_were_played(team: Studio, designer: Client) -> None:
    worth(team, designer)
    said = unescape(designer.post(form(team), {"plantings": "50"}).content.decode()).replace("\xa0", " ")
    assert re.search(r"150 plantings: [\d,]+ battles at most, .* h.* by what was played here", said)


def test_as_usual_the_smallest_effect_and_two_larger_ones_are_planted(team: Studio, designer: Client) -> None:
    config = started(team, designer, matters="2").config
    assert config["sizes"] == [2.0, 5.0, 8.0]
    assert (config["plantings"], config["battles"], config["planted"], config["through"]) == (100, 400_000, ["piece"],
                                                                                              "numbers")  # fmt: skip


def test_an_experiment_leads_to_the_form_with_its_battles_data_and_rules(team: Studio, designer: Client) -> None:
    job = worth(team, designer)
    assert f"{form(team)}?experiment={job.pk}" in designer.get(page(job)).content.decode()
    assert "Measure the sensitivity" not in text(signed_in(team.producer), page(job))
    assert f'<option value="{job.pk}" selected>' in designer.get(f"{form(team)}?experiment={job.pk}").content.decode()
    own = started(team, designer, experiment=job.pk).config
    assert (own["battles"], own["matters"], own["lineups"]) == (150_000, 3.0, job.config["lineups"])
    assert own["game"] == job.config["game"]


def test_that_of_an_experiment_on_single_pieces_is_not_that_of_one_on_pairs_too(team: Studio, designer: Client) -> None:
    ask = reverse("studies:ask", args=[team.project.slug, "worth"])
    for typed in ({}, {"singles": "on"}):
        designer.post(ask, {"battles": "2000", **typed})
    pairs, singles = Job.objects.filter(kind="worth").order_by("pk")
    job = started(team, designer, experiment=str(singles.pk))
    assert job.config["pairs"] is False
    found = [Screen.of(each) for each in (job, singles, pairs)]
    assert all(found)
    assert [found[0].same(each) for each in found[1:]] == [True, False]  # type: ignore[union-attr,arg-type]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"sizes": "many"}, "Give numbers of points"),
        ({"sizes": "5, 5"}, "twice"),
        ({"sizes": "90"}, "between 0.5 and 40"),
        ({"plantings": "1"}, "from 4"),
        (
            {"plantings": "2000", "planted": ["piece", "pair"], "sizes": "5"},
            "2,000 of 2 kinds in 1 size are 4,000 experiments, more than 2,400",
        ),
        ({"battles": "10"}, "2,000"),
        ({"experiment": "999"}, "999"),
    ],
)
def test_what_is_wrong_stands_at_its_field(team: Studio, designer: Client, typed: dict[str, Any], said: str) -> None:
    answer = designer.post(form(team), {"agreed": "on", **typed})
    assert answer.status_code == 422
    assert said in unescape(answer.content.decode())
    assert not Job.objects.filter(kind="sensitivity").exists()


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"game": {"simulator": "command:sh -c reboot"}}, "config.game.simulator"),
        ({"planted": ["nothing"]}, "config.planted.0"),
        ({"sizes": [0.1]}, "config.sizes.0"),
        ({"sizes": [3, 5, 8], "plantings": 2_000}, "config.plantings"),
        ({"lineups": {"budget_high": 1}}, "config.lineups.budget_high"),
        ({"objectives": {}}, "config.objectives"),
    ],
)
def test_a_script_plants_nothing_but_in_the_project_s_own(team: Studio, config: dict[str, Any], place: str) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    address = f"/api/v1/projects/{team.project.slug}/jobs"

    def post(config: dict[str, Any]) -> Any:
        body = json.dumps({"kind": "sensitivity", "config": config})
        return client.post(address, body, content_type="application/json")

    refused = post(config)
    assert refused.status_code == 422
    assert place in {problem["place"] for problem in refused.json()["problems"]}
    assert post({"battles": 5_000, "plantings": 10}).status_code == 201


def test_its_page_tells_its_team_what_was_found_and_nobody_else(team: Studio, done: Job) -> None:
    for user in (team.owner, team.designer, team.producer, team.engineer):
        said = text(signed_in(user), page(done))
        assert SENTENCE in said
        assert "In 2 of 60 plantings something innocent was confirmed (1 to 11 %)." in said
        assert "Warhorn 2 times 0.1 -0.9 to 1.1 innocent" in said.replace("\u2212", "-")
        assert "did not finish 1 of " in said, "of the battles that measured effects"
        assert "Marrow Duke 2 times 7.0 6.0 to 8.0 unfair already" in said
        assert "How hard did we look" in text(signed_in(user), reverse("studies:jobs", args=[team.project.slug]))
    assert signed_in(team.stranger).get(page(done)).status_code == 404


def test_while_it_runs_its_page_says_how_far_it_is(team: Studio, designer: Client) -> None:
    job = started(team, designer, plantings="20")
    running = {"status": Status.RUNNING, "tick": 0, "ticks": 60, "counters": {"battles": 0, "seconds": 5.0}}
    Job.objects.filter(pk=job.pk).update(**running)
    said = text(designer, page(job))
    assert "0 plantings of 60, 0 battles so far of" in said
    assert "The first planting is under way" in said


def test_a_lost_table_is_told(team: Studio, designer: Client, done: Job) -> None:
    Job.objects.filter(pk=done.pk).update(artifacts={"table": "0" * 64})
    assert "The table was lost from the store" in text(designer, page(done))


def test_every_planting_can_be_taken_away(team: Studio, designer: Client, done: Job) -> None:
    answer = designer.get(reverse("studies:results", args=[team.project.slug, done.pk]))
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert len(rows) == 60
    assert {row["found"] for row in rows} == {"True", "False"}
    assert [float(row["wanted"]) for row in rows[:2]] == [3.0, -3.0]
    assert float(rows[0]["effect"]) == pytest.approx(3.0)
    assert {row["through"] for row in rows} == {"outcomes"}
    assert rows_of(None) == []


def test_where_nothing_was_found_the_pages_say_how_hard_one_looked(team: Studio, designer: Client) -> None:
    job = worth(team, designer)
    assert "Nothing found; sensitivity not measured." in text(designer, page(job))
    sensitivity = started(team, designer, experiment=job.pk, plantings="20")
    assert "Breaks are being planted" in text(designer, page(job))
    over(sensitivity, FOUND)
    said = text(designer, page(job))
    assert SENTENCE in said
    assert "not measured" not in said


def test_suspects_and_reports_tell_the_same(db: None) -> None:
    team = studio()
    designer = signed_in(team.designer)
    search = search_job(team.project, rows=20)
    beside = experiment(search, NOTHING)
    suspects = reverse("suspects:page", args=[team.project.slug, search.pk])
    assert "Nothing found; sensitivity not measured." in text(designer, suspects)
    assert any(UNMEASURED in said for said in content(search)["untested"])
    over(started(team, designer, experiment=beside.pk, plantings="20"), FOUND)
    assert measured(beside)
    assert SENTENCE in text(designer, suspects)
    assert SENTENCE in " ".join(content(search)["untested"]).replace("\xa0", " ")
    experiment(search)
    Job.objects.filter(pk=beside.pk).delete()
    assert "Breaks" not in text(designer, suspects)


@pytest.mark.parametrize(
    "other", [{"battles": "90000"}, {"matters": "4"}], ids=["other battles", "another smallest effect"]
)
def test_a_sensitivity_of_another_budget_or_line_says_nothing_of_an_experiment(
    team: Studio, designer: Client, other: dict[str, str]
) -> None:
    job = worth(team, designer)
    over(started(team, designer, experiment=job.pk, plantings="4", **other), {})
    assert measured(job) is None


def test_one_that_was_stopped_tells_what_it_counted_and_one_of_other_rules_nothing(
    team: Studio, designer: Client
) -> None:
    job = worth(team, designer)
    own = over(started(team, designer, experiment=job.pk, plantings="20"), FOUND)
    Job.objects.filter(pk=own.pk).update(status=Status.STOPPED)
    assert measured(job) == own
    Job.objects.filter(pk=own.pk).update(config={**own.config, "lineups": {**own.config["lineups"], "budget_low": 5}})
    assert measured(job) is None


def test_a_gate_tells_how_hard_its_screen_looked(team: Studio, designer: Client) -> None:
    designer.post(reverse("studies:ask", args=[team.project.slug, "gate"]), {"search": "0", "screen": "100000"})
    gate = judged(Job.objects.get(kind="gate"))
    assert "How hard did the screen look?" in text(designer, page(gate))
    assert "is not measured" in text(designer, page(gate))
    over(started(team, designer, experiment=gate.pk, plantings="20"), FOUND)
    assert SENTENCE in text(designer, page(gate))
