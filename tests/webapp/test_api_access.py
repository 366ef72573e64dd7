"""Who gets into the API: roles as on the pages, tokens that are missing, wrong, over, revoked or of another project,
and nobody by a browser's session."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.factories import PASSWORD, Clock, Studio, maker, person, search_job, studio
from tests.webapp.published import report
from tests.webapp.trainings import finished, of_a_team, trained
from webapp.accounts import throttle
from webapp.accounts.models import Attempts, User
from webapp.api import description, tokens
from webapp.api.models import Token, TokenAudit
from webapp.api.v1 import v1
from webapp.projects.models import Project
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db
MEMBERS = frozenset({"owner", "designer", "engineer", "producer"})
WRITERS = MEMBERS - {"producer"}
EVERYBODY = (*sorted(MEMBERS), "stranger", "maker", "operator")
HEROBATTLE = "herobattle"


def token(user: User, project: Project | None = None) -> str:
    return tokens.make(user, "a build", project, 30)[1]


def ask(method: str, address: str, text: str = "", body: Any = None) -> HttpResponseBase:
    """One request as a script sends it."""
    headers = {"Authorization": f"Bearer {text}"} if text else {}
    sent = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
    answer: HttpResponseBase = getattr(Client(), method)(address, headers=headers, **sent)
    return answer


@dataclass(frozen=True)
class Row:
    """Who gets what: everybody with a token where ``who`` is None."""

    name: str
    method: str
    who: frozenset[str] | None
    arguments: Callable[[Studio], dict[str, Any]]
    body: Any = None


def _none(team: Studio) -> dict[str, Any]:
    return {}


def _project(team: Studio) -> dict[str, Any]:
    return {"project": HEROBATTLE}


def _searched(team: Studio) -> dict[str, Any]:
    return {"project": HEROBATTLE, "number": team.project.jobs.filter(kind="search").earliest("pk").pk}


def _learning(team: Studio) -> dict[str, Any]:
    return {"project": HEROBATTLE, "number": trained(team.project, 1).pk}


def _paused(team: Studio) -> dict[str, Any]:
    job = trained(team.project, 1)
    Job.objects.filter(pk=job.pk).update(status="paused")
    return {"project": HEROBATTLE, "number": job.pk}


def _trained(team: Studio) -> dict[str, Any]:
    return {"project": HEROBATTLE, "number": finished(team.project).pk}


def _reported(team: Studio) -> dict[str, Any]:
    return {
        "project": HEROBATTLE,
        "number": report(team.project.jobs.filter(kind="search").earliest("pk"), team.designer).pk,
    }


ROWS = (
    Row("projects", "get", None, _none),
    Row("project", "get", MEMBERS, _project),
    Row("schema", "get", None, lambda team: {"kind": "evolve"}),
    Row("jobs", "get", MEMBERS, _project),
    Row("jobs", "post", WRITERS, _project, {"kind": "search"}),
    Row("check", "post", WRITERS, _project, {"kind": "search"}),
    Row("job", "get", MEMBERS, _searched),
    Row("stop", "post", WRITERS, _learning),
    Row("pause", "post", WRITERS, _learning),
    Row("resume", "post", WRITERS, _paused),
    Row("clone", "post", WRITERS, _searched, {}),
    Row("recheck", "post", WRITERS, _searched, {"lineups": [0]}),
    Row("gates", "post", WRITERS, _project, {"data": {"warhorn.cost": 120}}),
    Row("events", "get", MEMBERS, _searched),
    Row("results", "get", MEMBERS, _searched),
    Row("rounds", "get", MEMBERS, _searched),
    Row("policy", "get", MEMBERS, _trained),
    Row("onnx", "get", MEMBERS, _trained),
    Row("members", "get", MEMBERS, lambda team: {"project": HEROBATTLE, "number": of_a_team(team.project).pk}),
    Row("reports", "get", MEMBERS, _project),
    Row("report", "get", MEMBERS, _reported),
    Row("report-file", "get", MEMBERS, lambda team: {**_reported(team), "kind": "html"}),
)
EVERY_ROW = pytest.mark.parametrize("row", [pytest.param(row, id=f"{row.name}-{row.method}") for row in ROWS])


@pytest.fixture
def team(redis_server: str) -> Studio:
    made = studio(HEROBATTLE)
    search_job(made.project, rows=40)
    return made


def address(row: Row, team: Studio) -> str:
    return reverse(f"api-v1:{row.name}", kwargs=row.arguments(team))


def test_every_address_of_the_api_has_a_row_here() -> None:
    found = {
        (route.rpartition("/v1")[2], method)
        for route, methods in v1.get_openapi_schema()["paths"].items()
        for method in methods
    }
    assert len(found) == len(ROWS)


@EVERY_ROW
def test_a_token_opens_what_its_owner_s_role_opens_and_no_more(row: Row, team: Studio) -> None:
    people = {**vars(team), "maker": maker(), "operator": person("operator", is_staff=True)}
    wrong = []
    # Writers last: what others are refused must still be there to be refused; each has a job of its own.
    for who in sorted(EVERYBODY, key=lambda who: who in WRITERS):
        code = ask(row.method, address(row, team), token(people[who]), row.body).status_code
        if row.who is None or who in row.who:
            good = code in (200, 201)
        else:
            good = code == (403 if who in MEMBERS else 404)
        wrong += [] if good else [f"{who}: {code}"]
    assert not wrong


@EVERY_ROW
def test_nothing_but_a_token_that_works_opens_anything(row: Row, team: Studio) -> None:
    where = address(row, team)
    texts = {"none": "", "made up": "eqp_0123456789ab_" + "x" * 43, "no token at all": "x", "wrong secret": ""}
    texts["wrong secret"] = token(team.owner)[:-1] + "!"
    over, revoked = token(team.owner), token(team.owner)
    Token.objects.filter(key=over.split("_")[1]).update(expires_at=timezone.now())
    tokens.revoke(Token.objects.get(key=revoked.split("_")[1]), team.owner)
    away = person("away")
    texts |= {"over": over, "revoked": revoked, "switched off": token(away)}
    User.objects.filter(pk=away.pk).update(is_active=False)
    codes = {name: ask(row.method, where, text, row.body).status_code for name, text in texts.items()}
    assert set(codes.values()) == {401}, codes


@EVERY_ROW
def test_a_browser_s_session_opens_nothing(row: Row, team: Studio) -> None:
    client = Client()
    client.force_login(team.owner)
    answer = getattr(client, row.method)(address(row, team), row.body or {}, content_type="application/json")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")


@EVERY_ROW
def test_a_token_of_another_project_finds_nothing(row: Row, team: Studio) -> None:
    other = Project.objects.create(name="Other", slug="other")
    other.memberships.create(user=team.owner, role="owner")
    answer = ask(row.method, address(row, team), token(team.owner, other), row.body)
    if row.who is not None:
        assert answer.status_code == 404
    assert team.project.slug not in answer.getvalue().decode()


def test_a_token_of_one_project_opens_that_one(team: Studio) -> None:
    text = token(team.owner, team.project)
    found = json.loads(ask("get", "/api/v1/projects", text).getvalue())
    assert [project["project"] for project in found] == [HEROBATTLE]
    assert ask("get", f"/api/v1/projects/{HEROBATTLE}/jobs", text).status_code == 200


def test_leaving_a_project_closes_it_to_the_token(team: Studio) -> None:
    text = token(team.designer, team.project)
    team.project.memberships.filter(user=team.designer).delete()
    assert ask("get", f"/api/v1/projects/{HEROBATTLE}/jobs", text).status_code == 404
    assert json.loads(ask("get", "/api/v1/projects", text).getvalue()) == []


def test_a_job_of_another_project_is_not_found_below_this_one(team: Studio) -> None:
    other = Project.objects.create(name="Other", slug="other")
    other.memberships.create(user=team.owner, role="owner")
    number = _searched(team)["number"]
    assert ask("get", f"/api/v1/projects/other/jobs/{number}", token(team.owner)).status_code == 404


def test_guessing_tokens_is_slowed_down_and_silences_no_right_one(
    team: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(throttle, "_now", clock)
    text = token(team.owner)
    wrong = text[:-1] + "!"
    for number in range(throttle.TOKENS.most):
        guess = wrong if number % 2 else f"eqp_{number:012x}_guess"
        assert ask("get", "/api/v1/projects", guess).status_code == 401
    answer = ask("get", "/api/v1/projects", wrong)
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) == 30
    assert ask("get", "/api/v1/projects", text).status_code == 200
    assert ask("get", "/api/v1/projects", token(team.designer)).status_code == 200
    clock.forward(timedelta(seconds=30))
    assert ask("get", "/api/v1/projects", wrong).status_code == 401


def test_wrong_tokens_keep_nobody_from_signing_in(team: Studio) -> None:
    for number in range(throttle.TOKENS.most + 1):
        ask("get", "/api/v1/projects", f"eqp_{number:012x}_guess")
    answer = Client().post("/sign-in/", {"username": team.owner.username, "password": PASSWORD})
    assert answer.status_code == 302


def test_a_token_that_ended_does_not_count_as_a_guess(team: Studio) -> None:
    text = token(team.owner)
    Token.objects.update(expires_at=timezone.now() - timedelta(days=1))
    for _ in range(throttle.TOKENS.most + 1):
        answer = ask("get", "/api/v1/projects", text)
    assert answer.status_code == 401
    assert "This token ended" in answer.getvalue().decode()
    assert not Attempts.objects.exists()


def test_neither_a_session_nor_a_cookie_comes_of_a_script_s_visit(team: Studio) -> None:
    client = Client()
    client.get(f"/api/v1/projects/{HEROBATTLE}", headers={"Authorization": f"Bearer {token(team.owner)}"})
    assert not client.cookies


def test_what_a_token_did_is_written_down_and_so_is_its_last_use(team: Studio) -> None:
    text = token(team.designer)
    made = json.loads(ask("post", f"/api/v1/projects/{HEROBATTLE}/jobs", text, {"kind": "search"}).getvalue())
    ask("post", f"/api/v1/projects/{HEROBATTLE}/jobs/{made['job']}/stop", text)
    lines = list(TokenAudit.objects.order_by("pk").values_list("action", "user__username"))
    assert lines == [(word, "herobattle-designer") for word in ("made", "started", "stopped")]
    assert f"job {made['job']}" in TokenAudit.objects.get(action="stopped").detail
    used = Token.objects.get()
    assert used.used_at is not None
    assert used.used_from == "127.0.0.1"


def test_only_a_hash_of_the_secret_is_kept(team: Studio) -> None:
    text = token(team.owner)
    secret = text.split("_", 2)[2]
    kept = json.dumps(list(Token.objects.values()), default=str) + json.dumps(
        list(TokenAudit.objects.values()), default=str
    )
    assert secret not in kept


def test_what_the_address_itself_gets_wrong_has_the_one_shape_too(team: Studio) -> None:
    text = token(team.owner)
    for method, where, code in (
        ("get", "/api/v1/nowhere", 404),
        ("get", "/api/v2/projects", 404),
        ("delete", "/api/v1/projects", 405),
        ("get", f"/api/v1/projects/{HEROBATTLE}/jobs/99999999999999999999999", 404),
        ("get", f"/api/v1/projects/{HEROBATTLE}/jobs?size=0", 422),
        ("get", f"/api/v1/projects/{HEROBATTLE}/jobs?status=asleep", 422),
        ("get", "/api/v1/schema/nothing", 404),
    ):
        answer = ask(method, where, text)
        found = json.loads(answer.getvalue())
        assert answer.status_code == code, where
        assert found.keys() == {"message", "problems"}
        assert found["message"].endswith(".")


def test_the_description_for_programs_is_open_and_names_the_token(client: Client) -> None:
    found = client.get("/api/v1/openapi.json").json()
    assert found["openapi"].startswith("3.")
    assert found["components"]["securitySchemes"]["Bearer"]["scheme"] == "bearer"


def test_the_description_is_made_once_however_many_ask_and_not_sent_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def schema() -> dict[str, Any]:
        made.append(1)
        time.sleep(0.2)
        return {"openapi": "3.1"}

    description._made.cache_clear()
    monkeypatch.setattr(v1, "get_openapi_schema", schema)
    try:
        with ThreadPoolExecutor(4) as people:
            answers = list(people.map(lambda _: description.description(), range(4)))
        assert (len(made), {each.tag for each in answers}) == (1, {client.get("/api/v1/openapi.json")["ETag"]})
        again = client.get("/api/v1/openapi.json", headers={"If-None-Match": answers[0].tag})
        assert (again.status_code, again.content) == (304, b"")
    finally:
        description._made.cache_clear()
