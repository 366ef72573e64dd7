"""``/metrics``: who may read it, what it tells, and what it never tells."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from tests.factories import Studio, person, search_job, studio
from webapp.accounts.models import User
from webapp.api import tokens
from webapp.api.models import Token
from webapp.lib import alive
from webapp.lib.visits import REGISTRY, Counted, part_of
from webapp.projects.models import Project
from webapp.studies import stream
from webapp.studies.models import Job, Status

pytestmark = pytest.mark.django_db
Numbers = dict[tuple[str, tuple[str, ...]], float]


@pytest.fixture
def team() -> Studio:
    return studio("secret-project")


@pytest.fixture
def operator() -> User:
    return person("operator", is_staff=True)


def token(user: User, project: Project | None = None) -> str:
    return tokens.make(user, "Prometheus", project, 30)[1]


def ask(text: str, scheme: str = "Bearer") -> Any:
    return Client().get("/metrics", headers={"Authorization": f"{scheme} {text}"})


def numbers(operator: User) -> Numbers:
    client = Client()
    client.force_login(operator)
    answer = client.get("/metrics")
    assert answer["Content-Type"].startswith("text/plain")
    families = text_string_to_metric_families(answer.content.decode())
    return {(s.name, tuple(s.labels.values())): s.value for family in families for s in family.samples}


def test_only_an_operator_s_token_for_every_project_opens_the_numbers(team: Studio, operator: User) -> None:
    assert ask(token(operator)).status_code == 200
    assert ask(token(operator), "bearer").status_code == 200
    for who in (team.owner, team.designer, team.stranger):
        assert ask(token(who)).status_code == 403
    assert ask(token(operator, team.project)).status_code == 403


def test_a_program_that_is_kept_out_is_told_why_as_text(team: Studio, operator: User) -> None:
    for text, why in ((token(team.designer), "Only a site operator"), (token(operator, team.project), "one project")):
        answer = ask(text)
        assert answer["Content-Type"] == "text/plain; charset=utf-8"
        assert why in answer.content.decode()
        assert "<" not in answer.content.decode()


def test_who_is_signed_out_is_sent_to_sign_in_without_what_stood_behind_the_address() -> None:
    answer = Client().get("/metrics?token=secret")
    assert answer.status_code == 302
    assert "secret" not in answer["Location"]


def test_numbers_are_read_and_never_sent(operator: User) -> None:
    answer = Client(enforce_csrf_checks=True).post("/metrics", headers={"Authorization": f"Bearer {token(operator)}"})
    assert answer.status_code == 405


def test_a_token_that_lets_nobody_in_opens_no_numbers(operator: User) -> None:
    over, revoked, wrong = token(operator), token(operator), token(operator)[:-1] + "!"
    Token.objects.filter(key=over.split("_")[1]).update(expires_at=timezone.now())
    tokens.revoke(Token.objects.get(key=revoked.split("_")[1]), operator)
    for text in (over, revoked, wrong, "", "no token at all"):
        answer = ask(text)
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
        assert b"equipoise_" not in answer.content


def test_an_operator_s_session_does_not_help_a_token_that_is_wrong(operator: User) -> None:
    client = Client()
    client.force_login(operator)
    assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_guesses_of_tokens_are_slowed_down(operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def guessed(text: str, address: str) -> Token:
        raise tokens.TooMany(30)

    monkeypatch.setattr(tokens, "holder", guessed)
    answer = ask("eqp_guess")
    assert (answer.status_code, answer["Retry-After"]) == (429, "30")


def test_jobs_are_counted_by_kind_and_state_with_what_they_did(team: Studio, operator: User) -> None:
    search = search_job(team.project, rows=4)
    again = {"project": team.project, "kind": "search", "title": "Again", "config": {}}
    Job.objects.filter(pk=search.pk).update(counters={"battles": 700, "evaluations": 4}, attempt=2)
    Job.objects.create(**again, status=Status.RUNNING, counters={"battles": 50}, attempt=1, lease_until=timezone.now())
    Job.objects.create(**{**again, "kind": "train"}, status=Status.WAITING, counters={"steps": 9000})
    oldest = Job.objects.create(**again)
    Job.objects.filter(pk=oldest.pk).update(created_at=timezone.now() - timedelta(seconds=500))
    found = numbers(operator)
    assert found["equipoise_jobs", ("search", "finished")] == 1
    assert found["equipoise_jobs", ("search", "running")] == 1
    assert found["equipoise_jobs", ("search", "queued")] == 1
    assert found["equipoise_jobs", ("search", "failed")] == 0
    assert found["equipoise_jobs", ("train", "waiting")] == 1
    assert found["equipoise_battles_played", ("search",)] == 750
    assert found["equipoise_candidates_evaluated", ("search",)] == 4
    assert found["equipoise_decisions_made", ("train",)] == 9000
    assert found["equipoise_job_attempts", ("search",)] == 3
    assert found["equipoise_queue_length", ()] == 2
    assert 500 <= found["equipoise_queue_oldest_seconds", ()] < 600
    assert found["equipoise_jobs_without_worker", ()] == 1


def test_a_site_without_jobs_has_an_empty_queue(operator: User) -> None:
    found = numbers(operator)
    assert found["equipoise_queue_length", ()] == found["equipoise_queue_oldest_seconds", ()] == 0


def test_parts_that_give_a_sign_are_up_and_the_others_are_not(operator: User, redis_client: Any) -> None:
    alive.beat("worker-jobs")
    found = numbers(operator)
    up = {part: found["equipoise_up", (part,)] for part in ("redis", "ray", *alive.WORKERS, alive.RECONCILER)}
    assert up == {"redis": 1, "ray": 0, "worker-jobs": 1, "worker-quick": 0, "reconciler": 0}


def test_while_redis_is_away_nothing_is_told_of_workers(operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(question: Any) -> None:
        raise redis.ConnectionError

    monkeypatch.setattr(alive, "ask", away)
    found = numbers(operator)
    assert found["equipoise_up", ("redis",)] == 0
    assert ("equipoise_up", ("worker-jobs",)) not in found


def test_disk_and_streams_are_told(team: Studio, operator: User, settings: Any) -> None:
    client = Client()
    client.force_login(team.owner)
    request = client.get("/").wsgi_request
    reader = stream.Reader(request, team.project, None, None)
    before = numbers(operator)["equipoise_event_streams_open", ()]
    assert stream.places.take(reader)
    found = numbers(operator)
    assert found["equipoise_event_streams_open", ()] == before + 1
    stream.places.leave(reader)
    assert numbers(operator)["equipoise_event_streams_open", ()] == before
    assert found["equipoise_disk_free_bytes", ("var",)] > 0
    assert found["equipoise_disk_reserve_bytes", ()] == settings.DISK_RESERVE


def test_no_name_of_a_project_a_game_a_person_or_a_folder_is_told(team: Studio, operator: User, settings: Any) -> None:
    search_job(team.project, rows=4)
    client = Client()
    client.force_login(operator)
    asyncio.run(_visit(f"/p/{team.project.slug}/"))
    told = client.get("/metrics").content.decode()
    private = (team.project.slug, team.project.name, "Herobattle", "herobattle", team.owner.username, str(settings.VAR))
    assert not [name for name in private if name in told]


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/p/herobattle/", "projects"), ("/metrics", "metrics"), ("/health/", "health"), ("/nowhere", "elsewhere"),
        ("/api/v1/projects", "api-v1"),
    ],
)  # fmt: skip
def test_a_request_is_told_by_its_part_of_the_site(path: str, part: str) -> None:
    assert part_of(path) == part


def test_static_files_are_a_part_of_their_own(settings: Any) -> None:
    assert part_of(f"{settings.STATIC_URL}css/equipoise.css") == "static"


async def _visit(path: str, method: str = "GET", status: int = 200) -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: Any) -> None:
        pass

    await Counted(application)({"type": "http", "path": path, "method": method}, None, send)  # type: ignore[arg-type]


def test_answers_are_counted_once_and_timed() -> None:
    def now(*labels: str) -> float:
        names = dict(zip(("part", "method", "status"), labels, strict=True))
        return REGISTRY.get_sample_value("equipoise_requests_total", names) or 0.0

    def timed() -> float:
        return REGISTRY.get_sample_value("equipoise_request_seconds_count", {"part": "health"}) or 0.0

    before, times = now("health", "GET", "503"), timed()
    asyncio.run(_visit("/health/", status=503))
    assert (now("health", "GET", "503"), timed()) == (before + 1, times + 1)
    strange = now("health", "other", "200")
    asyncio.run(_visit("/health/", method="MADEUP"))
    assert now("health", "other", "200") == strange + 1, "nobody makes up a label of their own"
