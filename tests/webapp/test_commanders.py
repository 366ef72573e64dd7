"""Lineups that an agent plays, on the site: who may lead, what the pages say of it, and what of the script's verdicts
stays."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.arrays import pack, unpack
from engine.change.table import FINDINGS
from engine.config.study import STUDY
from engine.games.herobattle.spec import game_spec
from tests.factories import Studio, game_version, search_job, signed_in, studio
from tests.webapp.agents import ada, trained_at_pong
from tests.webapp.replays import finished, shortlist
from webapp.agents import keeping
from webapp.agents.models import Agent
from webapp.api import tokens
from webapp.changes import picking, starting
from webapp.changes.proposing import offered as proposed
from webapp.changes.reading import read
from webapp.changes.sentences import head, rest
from webapp.gates.archive import exploits
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies import commanders, throughput
from webapp.studies.form_values import first_values, values_of
from webapp.studies.forms import NewJobForm
from webapp.studies.models import Job, Status

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Studio:
    return studio()


@pytest.fixture
def agent(team: Studio) -> Agent:
    return ada(team.project)


def form_of(team: Studio, **typed: Any) -> NewJobForm:
    """The New job form of a project with game data."""
    if not team.project.versions.exists():
        game_version(team.project)
    NewJobForm(None, project=team.project, user=team.designer)
    filled = {**first_values(team.project), **{name: str(value) for name, value in typed.items()}}
    return NewJobForm(filled, project=team.project, user=team.designer)


def plain(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", markup)).replace("\xa0", " ").split())


def shown(user: Any, where: str) -> str:
    answer = signed_in(user).get(where)
    assert answer.status_code == 200
    return plain(answer.content.decode())


def of(job: Job, name: str = "under", app: str = "changes") -> str:
    return reverse(f"{app}:{name}", args=[job.project.slug, job.pk])


def led_search(project: Project, agent: Agent) -> Job:
    """A finished search that the agent played."""
    job = search_job(project)
    found = commanders.offered(project)[0].config
    assert found.policy == agent.policy
    config = {**job.config, "game": {**job.config["game"], "commander": found.model_dump(mode="json")}}
    Job.objects.filter(pk=job.pk).update(config=STUDY.validate_python(config).model_dump(mode="json"))
    return Job.objects.select_related("project", "game_version__simulator").get(pk=job.pk)


def by_script(led: Job) -> Job:
    """Another search, which the script played."""
    game = {name: value for name, value in led.config["game"].items() if name != "commander"}
    row = Job.objects.get(pk=led.pk)
    row.pk, row.config = None, {**led.config, "game": game}
    row.save()
    return row


def test_agents_that_command_herobattle_are_offered_with_the_pace_they_learned_at(team: Studio) -> None:
    first, quick = ada(team.project), ada(team.project, "Quick", seed=6, every=2)
    keeping.keep(trained_at_pong(team.project), team.designer, "", "Pong player", sampled=False)
    gone = ada(team.project, "Gone", seed=7)
    Agent.objects.filter(pk=gone.pk).update(deleted_at=gone.created_at)
    found = commanders.offered(team.project)
    assert [(each.name, each.config.every, each.config.policy) for each in found] == [
        ("Quick", 2, quick.policy), ("Ada", 4, first.policy),
    ]  # fmt: skip
    assert shown(team.designer, found[0].address).startswith("Quick")


def test_a_search_names_its_commander_by_what_it_learned(team: Studio, agent: Agent) -> None:
    form = form_of(team, commander=agent.pk, measure="", line="")
    assert form.is_valid(), form.errors
    for study in (form.search(None), form.sample()):
        assert study.game.commander is not None
        assert (study.game.commander.policy, study.game.commander.title) == (agent.policy, "Ada")
    assert form.experiment_beside(form.search(None), None) is None
    assert "battles that the script fights" in form.experiment_obstacle()
    script = form_of(team, measure="", line="")
    assert script.is_valid()
    assert "commander" not in script.search(None).model_dump_json()


def test_an_agent_that_was_deleted_and_a_game_that_nobody_leads_are_told_at_the_field(
    team: Studio, agent: Agent
) -> None:
    job = led_search(team.project, agent)
    assert values_of(job)["commander"] == str(agent.pk)
    Agent.objects.filter(pk=agent.pk).update(deleted_at=agent.created_at)
    assert values_of(job)["commander"] == "deleted"
    assert form_of(team, commander="deleted").errors["commander"] == [commanders.GONE]
    page = shown(team.designer, of(job, "job", "studies"))
    assert "both sides led by Ada, an agent that was deleted since" in page
    other = ada(team.project, "Bob", seed=8)
    version = job.game_version
    assert version is not None
    type(version.simulator).objects.filter(pk=version.simulator_id).update(reference="python:any.game:make")
    assert commanders.OTHER_GAME in form_of(team, commander=other.pk, version=version.pk).errors["commander"]


def test_pages_and_files_say_who_played(team: Studio, agent: Agent) -> None:
    job = led_search(team.project, agent)
    for name in ("job", "explore"):
        assert "played by Ada" in shown(team.designer, of(job, name, "studies")), name
    jobs = shown(team.designer, reverse("studies:jobs", args=[team.project.slug]))
    assert "played by Ada" in jobs
    text = signed_in(team.designer).get(of(job, "export-csv", "studies")).content.decode()
    assert f"Both sides led by: Ada (policy {agent.policy[:12]})" in text
    assert "played by" not in shown(team.designer, of(by_script(job), "job", "studies"))


def test_how_fast_battles_are_is_told_by_those_of_the_same_commander(team: Studio, agent: Agent) -> None:
    led = led_search(team.project, agent)
    script = by_script(led)
    for job, other in ((led, script), (script, led)):
        same = Job.objects.filter(kind="search", **commanders.alike(job.config))
        assert list(same) == [job]
        assert other not in throughput._done(job)


def test_a_gate_whose_battles_the_script_leads_takes_nothing_that_an_agent_found(team: Studio, agent: Agent) -> None:
    led = led_search(team.project, agent)
    shortlist(led, 2)
    spec = game_spec()
    assert exploits(team.project, spec, 3).exploits == []
    Job.objects.filter(pk=led.pk).update(config=by_script(led).config)
    assert len(exploits(team.project, spec, 3).exploits) == 2


def api(team: Studio) -> Client:
    return Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})


def test_scripts_name_agents_of_their_own_project_only(redis_server: str, team: Studio, agent: Agent) -> None:
    search = led_search(team.project, agent)
    elsewhere = ada(studio("another").project, "Eve", seed=9)
    told = commanders.offered(team.project)[0].config.model_dump(mode="json")
    where = f"/api/v1/projects/{team.project.slug}/jobs"
    body = {"kind": "search", "config": {"game": {"commander": told}, "ticks": 2}}
    answer = api(team).post(where, body, content_type="application/json")
    assert answer.status_code == 201, answer.content
    job = Job.objects.exclude(pk=search.pk).get(kind="search")
    assert job.config["game"]["commander"]["policy"] == agent.policy
    assert not Job.objects.filter(accompanies=job).exists()
    strange = told | {"policy": elsewhere.policy}
    body["config"] = {"game": {"commander": strange}}
    refused = api(team).post(where, body, content_type="application/json")
    assert refused.status_code == 422
    assert commanders.NOT_KEPT[1:] in refused.content.decode()
    shortlist(search)
    body = {"kind": "change", "search": search.pk, "config": {"change": {"battle.field": 9.0}}}
    answer = api(team).post(where, body, content_type="application/json")
    assert answer.status_code == 201, answer.content
    assert Job.objects.get(kind="change").config["game"]["commander"]["policy"] == agent.policy


def replayed(team: Studio, agent: Agent) -> Job:
    search = search_job(team.project)
    shortlist(search)
    answer = signed_in(team.designer).post(of(search), {"agent": str(agent.pk)})
    assert answer.status_code == 302
    job = Job.objects.get(parent=search, kind="change")
    assert job.title == "Under Ada: Which teams are unfair?"
    waiting = shown(team.designer, of(job, "job", "studies"))
    assert "What Ada makes of it" in waiting, "nothing was changed, so nothing is told of a change"
    assert "What the change does" not in waiting
    return finished(job)


def with_verdicts(job: Job, before: list[str], after: list[str], over: bool = False) -> Job:
    """The replay, with other verdicts in its table, and with whole ranges ``over`` the line or across it."""
    bundle = unpack(store().get(job.artifacts["table"]))
    arrays = {name: array.copy() for name, array in bundle.arrays.items()}
    for name, told in (("verdict_before", before), ("verdict_after", after)):
        arrays[name][:] = [FINDINGS.index(each) for each in told]
    arrays["over_after"][:] = over
    Job.objects.filter(pk=job.pk).update(artifacts={**job.artifacts, "table": store().put(pack(bundle.meta, arrays))})
    return Job.objects.select_related("project", "game_version__simulator", "parent").get(pk=job.pk)


def test_a_shortlist_is_replayed_under_an_agent_in_a_click_and_told_in_a_sentence(team: Studio, agent: Agent) -> None:
    job = replayed(team, agent)
    assert (job.config["change"], job.config["under"]["policy"]) == ({}, agent.policy)
    for before, after, said in (
        (["confirmed"] * 3, ["confirmed", "refuted", "close"],
         "1 of the 3 confirmed lineups stays over the line under Ada, 1 falls under it, 1 cannot be told."),
        (["confirmed", "confirmed", "more"], ["confirmed", "confirmed", "confirmed"],
         "All 2 confirmed lineups stay over the line under Ada."),
        (["close"] * 3, ["refuted"] * 3,
         "Fresh battles under the script confirm none of these lineups, so there is nothing to keep."),
    ):  # fmt: skip
        found = read(with_verdicts(job, before, after))
        assert found is not None
        assert head(found).lower() == said.lower()
    page = shown(team.designer, of(job, "job", "studies"))
    assert "What Ada makes of it" in page
    assert "Under the script" in page
    assert "Save as a new data version" not in page
    only_theirs = read(with_verdicts(job, ["confirmed", "more", "more"], ["weak", "confirmed", "refuted"]))
    assert only_theirs is not None
    assert "1 lineup that fresh battles under the script do not confirm is" in rest(only_theirs)[0]
    assert "1 is too weak there to count" in head(only_theirs)
    unsure = read(with_verdicts(job, ["confirmed"] * 3, ["close", "more", "refuted"], over=True))
    assert unsure is not None
    assert head(unsure).endswith("1 falls under it, 2 are over the line but may be weak.")


def test_what_an_agent_found_is_replayed_under_the_script_in_a_click_and_told_in_a_sentence(
    team: Studio, agent: Agent
) -> None:
    search = led_search(team.project, agent)
    shortlist(search)
    ada(team.project, "Bea", seed=6)
    page = shown(team.designer, of(search))
    assert "Is it unfair under the script, too?" in page
    assert "once led by Ada, as the search played, and once led by whom you choose" in page
    form = signed_in(team.designer).get(of(search)).content.decode()
    assert re.findall(r"<option value=[^>]*>([^<]*)", form) == ["The game’s own script", "Bea"]
    assert "replay its lineups under the script" in shown(team.designer, of(search, "job", "studies"))
    refused = signed_in(team.designer).post(of(search), {"agent": str(agent.pk)})
    assert refused.status_code == 422, "she led it already"
    assert signed_in(team.designer).post(of(search), {"agent": "script"}).status_code == 302
    job = Job.objects.get(parent=search, kind="change")
    assert job.title == "Under the script: Which teams are unfair?"
    assert (job.config["under"], job.config["game"]["commander"]["policy"]) == ({"kind": "script"}, agent.policy)
    assert "What the script makes of it" in shown(team.designer, of(job, "job", "studies"))
    job = finished(job)
    found = read(with_verdicts(job, ["confirmed"] * 3, ["confirmed", "refuted", "close"]))
    assert found is not None
    assert head(found).lower() == (
        "1 of the 3 confirmed lineups stays over the line under the script, 1 falls under it, 1 cannot be told."
    )
    none = read(with_verdicts(job, ["close"] * 3, ["confirmed", "refuted", "close"]))
    assert none is not None
    assert head(none) == "Fresh battles under Ada confirm none of these lineups, so there is nothing to keep."
    assert rest(none)[0] == "1 lineup that fresh battles under Ada do not confirm is over the line under the script."
    page = shown(team.designer, of(job, "job", "studies"))
    assert "Under Ada" in page
    assert "Under the script" in page
    rows = signed_in(team.designer).get(of(job, "results", "studies")).content.decode().splitlines()
    assert rows[1].endswith("Ada,the script")
    assert "What others made of it" in shown(team.designer, of(search))


def test_where_the_script_led_it_is_no_choice(team: Studio, agent: Agent) -> None:
    search = search_job(team.project)
    shortlist(search)
    assert signed_in(team.designer).post(of(search), {"agent": "script"}).status_code == 422
    assert not Job.objects.filter(kind="change").exists()


def test_a_replay_under_an_agent_is_no_change_that_could_be_saved_or_proposed(team: Studio, agent: Agent) -> None:
    job = replayed(team, agent)
    assert job.parent is not None
    assert proposed(job.parent) == []
    client = signed_in(team.designer)
    assert client.post(of(job, "save")).status_code == 404
    assert client.post(of(job, "search")).status_code == 404
    assert "Under Ada" not in shown(team.designer, of(job.parent, "page"))
    listed = shown(team.designer, of(job.parent))
    assert "What agents made of it" in listed
    rows = signed_in(team.designer).get(of(job, "results", "studies")).content.decode().splitlines()
    assert rows[0].endswith("before_led_by,after_led_by")
    assert rows[1].endswith(",Ada")


def test_without_an_agent_or_lineups_the_page_says_what_to_do(team: Studio) -> None:
    search = search_job(team.project)
    assert "keeps no agent that commands Herobattle" in shown(team.designer, of(search))
    agent = ada(team.project)
    assert "Nothing is on the shortlist of this search" in shown(team.designer, of(search))
    client = signed_in(team.designer)
    for typed, said in (({"agent": "0"}, "Choose an agent"), ({"agent": str(agent.pk)}, "there is no lineup")):
        answer = client.post(of(search), typed)
        assert answer.status_code == 422
        assert said in plain(answer.content.decode())
    assert not Job.objects.filter(kind="change").exists()


def test_what_fresh_battles_confirmed_is_replayed_before_the_shortlist(
    team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = search_job(team.project)
    shortlist(search, 2)
    listed = picking.lineups(search)
    assert picking.found(search) == listed
    explored = picking.explored(search)
    worst = np.flatnonzero(explored.core["verdict"] == 2)[-3:]
    monkeypatch.setattr(picking, "_confirmed", lambda found: np.isin(np.arange(len(found.core["id"])), worst))
    found = picking.found(search)
    assert len(found) == 5
    assert {each["name"] for each in listed} <= {each["name"] for each in found[3:]}


def test_a_replay_of_what_an_agent_played_is_under_that_agent_first(team: Studio, agent: Agent) -> None:
    job = led_search(team.project, agent)
    study = starting.config(job, {"marrow-duke.cost": 400.0}, [{"teams": [{"slots": {}}]}])
    assert study.game.commander is not None
    assert study.changed.commander == study.game.commander
    assert job.status == Status.FINISHED
