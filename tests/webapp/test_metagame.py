"""Round robins on the site: which teams meet, what the page says of them, and who sees it."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from engine.arrays import pack, unpack
from engine.config import parse
from engine.config.metagame import MetagameConfig
from tests.engine.test_metagame import LADDER, RING, ladder
from tests.factories import Studio, maker, search_job, signed_in, studio
from tests.webapp.first_rounds import counted
from tests.webapp.round_robins import bundle, over
from webapp.api import tokens
from webapp.lib.figures import share_text
from webapp.lib.storage import store
from webapp.metagame import reading
from webapp.metagame.parts import Meeting
from webapp.metagame.reading import RoundRobinResult
from webapp.metagame.teams import MOST, shortlisted, teams_of
from webapp.studies import estimates
from webapp.studies.models import Job, ShortlistEntry, Status
from webapp.studies.study_form import LEFT_OUT


@pytest.fixture
def team(db: None) -> Studio:
    return studio()


@pytest.fixture
def designer(team: Studio) -> Client:
    return signed_in(team.designer)


@pytest.fixture
def search(team: Studio) -> Job:
    """A search with two lineups on its shortlist, and one that was taken off."""
    job = search_job(team.project, rows=20)
    genomes = unpack(store().get(job.artifacts["archive"])).arrays["genome"].tolist()
    for lineup in range(3):
        ShortlistEntry.objects.create(job=job, individual=lineup, reason="strong", genome=genomes[lineup])
    ShortlistEntry.objects.create(job=job, individual=2, action="withdraw", genome=genomes[2])
    ShortlistEntry.objects.create(job=job, individual=2, action="remark", reason="hm", genome=genomes[2])
    return job


def form(team: Studio) -> str:
    return reverse("studies:ask", args=[team.project.slug, "metagame"])


def page(job: Job) -> str:
    return reverse("studies:job", args=[job.project.slug, job.pk])


@pytest.fixture
def met(team: Studio, designer: Client, search: Job) -> Job:
    """A round robin that is over: rock, paper, scissors."""
    designer.post(form(team), {"search": search.pk, "battles": "100"})
    return over(Job.objects.get(kind="metagame"))


def test_the_teams_of_the_shortlist_and_the_baselines_meet(team: Studio, designer: Client, search: Job) -> None:
    answer = designer.post(form(team), {"search": search.pk, "battles": "60", "seed": "7"})
    job = Job.objects.get(kind="metagame")
    assert answer["Location"] == page(job)
    assert (job.config["battles"], job.config["seed"], job.title) == (60, 7, f"Who beats whom: {search.title}")
    assert job.config["teams"] == json.loads(json.dumps(teams_of(search)))
    assert len(shortlisted(search)) == 2
    sides = {tuple(row) for genome in shortlisted(search) for row in genome}
    baselines = [each for each in job.config["teams"] if each["name"].startswith("Baseline: ")]
    assert baselines
    assert len(job.config["teams"]) == len(sides) + len(baselines)
    assert job.config["game"]["patch"] == search.game_version.patch
    assert job.game_version == search.game_version


def test_no_more_teams_meet_than_a_map_can_show(search: Job) -> None:
    genomes = unpack(store().get(search.artifacts["archive"])).arrays["genome"].tolist()
    for lineup, genome in enumerate(genomes):
        ShortlistEntry.objects.create(job=search, individual=lineup, reason="more", genome=genome)
    teams = teams_of(search)
    assert len(teams) <= MOST
    assert teams[-1]["name"].startswith("Baseline: ")


def test_the_shortlist_leads_to_the_form_with_its_search_chosen(team: Studio, designer: Client, search: Job) -> None:
    state = reverse("studies:explore-state", args=[team.project.slug, search.pk])
    assert f'href="{form(team)}?search={search.pk}"' in designer.get(state).json()["html"]
    assert form(team) not in signed_in(team.producer).get(state).json()["html"]
    content = designer.get(f"{form(team)}?search={search.pk}").content.decode()
    assert f'<option value="{search.pk}" selected>' in content
    assert "2 lineups" in content


def test_it_runs_again_with_the_search_whose_teams_met(team: Studio, designer: Client, search: Job) -> None:
    designer.post(form(team), {"search": search.pk, "battles": "60", "seed": "7"})
    first = Job.objects.get(kind="metagame")
    again = reverse("studies:again", args=[team.project.slug, first.pk])
    filled = designer.post(again, follow=True).context["form"].initial
    assert (filled["search"], filled["battles"]) == (str(search.pk), "60")
    designer.post(form(team), filled)
    assert Job.objects.filter(kind="metagame").latest("pk").config == first.config
    ShortlistEntry.objects.filter(individual=1).delete()
    answer = designer.post(again, follow=True)
    assert answer.context["form"].initial["search"] == ""
    assert escape(LEFT_OUT) in answer.content.decode()


def test_without_a_shortlist_the_form_says_where_to_get_one(team: Studio, designer: Client) -> None:
    search_job(team.project, rows=20)
    assert "No search has a shortlist yet" in designer.get(form(team)).content.decode()


@pytest.mark.parametrize(
    ("typed", "said"), [({"battles": "1"}, "2"), ({"search": "999"}, "999"), ({"search": ""}, "Choose a search")]
)
def test_what_is_wrong_stands_at_its_field(
    team: Studio, designer: Client, search: Job, typed: dict[str, str], said: str
) -> None:
    answer = designer.post(form(team), {"search": search.pk, **typed})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Job.objects.filter(kind="metagame").exists()


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"game": {"simulator": "command:sh -c reboot"}}, "config.game.simulator"),
        ({"game": {"simulator": "python:os:system"}}, "config.game.simulator"),
        ({"teams": []}, "config.teams"),
        ({"teams": [{"slots": {"hero": "nobody"}}, {"slots": {}}]}, "config.teams.0.slots.hero"),
        ({"lineups": {}}, "config.lineups"),
    ],
)
def test_a_script_plays_nothing_but_the_project_s_own(
    team: Studio, search: Job, config: dict[str, Any], place: str
) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    address, own = f"/api/v1/projects/{team.project.slug}/jobs", {"teams": teams_of(search)}
    answer = client.post(address, {"kind": "metagame", "config": {**own, **config}}, content_type="application/json")
    assert answer.status_code == 422
    assert place in {problem["place"] for problem in answer.json()["problems"]}
    assert client.post(address, {"kind": "metagame", "config": own}, content_type="application/json").status_code == 201


def test_its_page_tells_its_team_who_beats_whom_and_nobody_else(team: Studio, met: Job) -> None:
    for user, status in ((team.owner, 200), (team.producer, 200), (team.stranger, 404)):
        answer = signed_in(user).get(page(met))
        assert answer.status_code == status
        if status == 200:
            content = answer.content.decode()
            assert "Mostly rock-paper-scissors: " in content
            assert escape("(<b>Warhorn</b>) beats Team ") in content
            assert "which is stronger on the whole; this closes 1 cycle of three." in content
            assert "<b>Warhorn</b>" not in content
            assert "If everybody picked as well as can be" in content
            assert content.count("surely beats</span>") == 3
            assert content.count('<span class="visually-hidden">the same team</span>') == 3
            assert not {"nash", "hodge", "antisymmetric", "equilibrium", "cyclic"} & set(content.lower().split())


def test_every_pair_is_told_with_its_range_without_a_pointer(
    designer: Client, met: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = (
        designer.get(page(met)).content.decode().partition("The pairs with their ranges")[2].partition("</details>")[0]
    )
    assert told.startswith("</summary>"), "all of them"
    found = RoundRobinResult(bundle(RING)).furthest
    assert told.count('<th scope="row">') == len(found) == 3
    shares = [pair["share"] for pair in found]
    assert shares == sorted(shares, reverse=True)
    first = share_text(found[0]["share"], found[0]["low"], found[0]["high"])
    assert f"<b>{first.value}</b>" in told
    assert first.range in told
    monkeypatch.setattr(reading, "LISTED", 2)
    assert "the 2 furthest from even of 3; the CSV has all" in designer.get(page(met)).content.decode()


def test_only_who_may_write_starts_one(team: Studio, search: Job) -> None:
    for user, status in ((team.producer, 403), (team.stranger, 404)):
        assert signed_in(user).post(form(team), {"search": search.pk}).status_code == status
    assert not Job.objects.filter(kind="metagame").exists()


def test_a_search_of_another_project_is_no_choice(team: Studio, search: Job) -> None:
    stranger = maker()
    other = stranger.memberships.first()
    assert other is not None
    address = reverse("studies:ask", args=[other.project.slug, "metagame"])
    answer = signed_in(stranger).post(address, {"search": search.pk})
    assert answer.status_code == 422
    assert search.title not in answer.content.decode()


def test_the_list_of_jobs_says_what_decides(team: Studio, met: Job, designer: Client) -> None:
    content = designer.get(reverse("studies:jobs", args=[team.project.slug])).content.decode()
    assert "Mostly rock-paper-scissors" in content


def test_the_form_tells_how_long_it_takes_once_a_few_battles_were_played(
    team: Studio, designer: Client, search: Job
) -> None:
    before, typed = f"{form(team)}before/", {"search": search.pk, "battles": "20000"}
    assert before in designer.get(form(team)).content.decode(), "the page asks for it"
    assert "A few battles are played" in designer.post(before, typed).content.decode()
    trial = Job.objects.for_forms().get()
    first, pairs = parse(MetagameConfig, trial.config), len(teams_of(search)) * (len(teams_of(search)) - 1) // 2
    assert trial.game_version == search.game_version
    assert (first.pool.processes, first.ticks) == (1, 10)
    assert first.battles * pairs <= 20_000
    rounds = [{"battles": 100 * tick, "seconds": 5.0 + tick} for tick in range(1, first.ticks + 1)]
    rounds[-1]["seconds"] += 30.0  # the last table is no part of the pace
    counted(trial, *rounds)
    asked = MetagameConfig.model_validate({**trial.config, "battles": 20_000, "pool": {}})
    found = estimates.estimate(asked, estimates.known(asked, team.project), team.project)
    each = 20_000 * pairs / 100 / min(2, settings.CPUS)
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(8 + 0.85 * each), pytest.approx(8 + 1.5 * each))
    assert "100 battles a second on one processor" in designer.post(before, typed).content.decode()


@pytest.mark.parametrize(
    ("teams", "simulator", "battles"), [(2, "", 20_000), (64, "", 8), (40, "", 24), (2, "command:play", 200)]
)
def test_first_rounds_are_as_long_as_the_game_and_the_teams_want(teams: int, simulator: str, battles: int) -> None:
    named = [{"name": f"Team {i}", "slots": {}} for i in range(teams)]
    game = {"simulator": simulator or "builtin:herobattle"}
    first = Meeting().first_rounds(MetagameConfig.model_validate({"game": game, "teams": named}))
    assert parse(MetagameConfig, first.model_dump(mode="json")).battles == battles


def test_before_the_first_table_and_where_it_was_lost_the_page_says_so(met: Job, designer: Client) -> None:
    Job.objects.filter(pk=met.pk).update(artifacts={"table": "0" * 64})
    assert "The table was lost" in designer.get(page(met)).content.decode()
    Job.objects.filter(pk=met.pk).update(artifacts={}, status=Status.RUNNING)
    assert "The first table appears when a tenth" in designer.get(page(met)).content.decode()


def test_the_pairs_are_taken_away_as_rows_and_as_csv_without_formulas(team: Studio, met: Job) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.producer, 'ci', None, 30)[1]}"})
    where = f"/api/v1/projects/{team.project.slug}/jobs/{met.pk}/results"
    rows = client.get(where).json()["rows"]
    assert {(row["first"], row["second"]) for row in rows} == {
        ("Frost Captain", "<b>Warhorn</b>"), ("<b>Warhorn</b>", "=Bows"), ("=Bows", "Frost Captain"),
    }  # fmt: skip
    assert {row["verdict"] for row in rows} == {"beats"}
    lines = list(csv.DictReader(io.StringIO(client.get(f"{where}?as=csv").content.decode())))
    assert len(lines) == 3
    assert "'=Bows" in {line["first"] for line in lines}


def test_teams_of_one_name_have_their_numbers_in_the_rows() -> None:
    best = np.array([[0.5, 0.9, 0.9], [0.1, 0.5, 0.6], [0.1, 0.4, 0.5]])
    found = RoundRobinResult(bundle(best, names=("A", "A", "B")))
    names = [(row["first"], row["second"]) for row in found.rows()]
    assert {("Team 1 (A)", "Team 2 (A)"), ("Team 1 (A)", "B")} < set(names)
    assert len(set(names)) == len(names) == 3


def test_the_sentence_says_ladder_rings_and_when_it_is_too_early() -> None:
    names = tuple("ABCDEFGH")
    steps = RoundRobinResult(bundle(ladder(LADDER), 100, names))
    assert "% of what decides is strength, 0.1\N{NO-BREAK SPACE}% (0.0 to 0.6" in steps.sentence, "digits alike"
    assert len(steps.tiers) > 2
    assert steps.tiers[0][0].name == "A"
    assert not steps.rings
    assert any("is never needed" in line for line in steps.pointless)
    best = np.array([[0.5, 0.9, 0.9], [0.1, 0.5, 0.6], [0.1, 0.4, 0.5]])
    twice = RoundRobinResult(bundle(best, names=("A", "A", "B")))
    assert twice.dominant == ["Team 1 (A) surely beats every other team."]
    assert twice.picked[0].steady == "the same in at least 95\N{NO-BREAK SPACE}% of re-drawn round robins"
    even = np.full((3, 3), 0.5)
    assert RoundRobinResult(bundle(even, 4)).sentence.startswith(("Nothing is told", "Too early"))
    two = np.array([[0.5, 0.9], [0.1, 0.5]])
    assert "needs three" in RoundRobinResult(bundle(two, 30, ("A", "B"))).sentence
    mixed = ladder(LADDER / 2)
    mixed[:3, :3] = RING
    assert RoundRobinResult(bundle(mixed, 60, names)).sentence.startswith("Mostly a ladder: ")


def test_the_page_says_how_many_meetings_the_game_did_not_finish(met: Job, designer: Client) -> None:
    assert "did not finish" not in designer.get(page(met)).content.decode()
    meta, arrays = unpack(store().get(met.artifacts["table"]))
    met.artifacts["table"] = store().put(pack({**meta, "unfinished": 41}, arrays))
    met.save()
    assert "The game did not finish 41 of 600 meetings" in designer.get(page(met)).content.decode()
