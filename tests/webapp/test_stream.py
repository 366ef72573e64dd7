"""The event stream over real HTTP: nothing missed and nothing twice, whatever is restarted, and nobody overhears."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client

from deploy.up import valkey
from tests.factories import Studio, studio
from tests.processes import environment
from webapp.accounts.models import User
from webapp.studies import journal, stream
from webapp.studies.journal import Entry
from webapp.studies.models import Job, JobEvent, Status
from workers.collect import references

PATIENCE = 60.0


class Message(NamedTuple):
    kind: str
    id: str
    data: dict[str, Any]


class Server:
    """The site under uvicorn at one address, through restarts; its own Redis, which may be away."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.listener = folder, socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        self.redis_socket = folder / "redis.sock"
        (folder / "redis").mkdir()
        self.parts: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> None:
        web = [sys.executable, "-m", "uvicorn", "webapp.asgi:application", "--fd", str(self.listener.fileno())]
        command = web if name == "web" else valkey.command(self.folder / "redis", self.redis_socket)
        variables = environment(f"unix://{self.redis_socket}?db=0")
        with (self.folder / f"{name}.log").open("ab") as log:
            self.parts[name] = subprocess.Popen(
                command, env=variables, stdout=log, stderr=log, pass_fds=[self.listener.fileno()]
            )

    def kill(self, name: str) -> None:
        part = self.parts.pop(name)
        part.kill()
        part.wait()

    def get(self, path: str, user: User | None = None, **headers: str) -> HTTPConnection:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        if user is not None:
            client = Client()
            client.force_login(user)
            headers["Cookie"] = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
        connection.request("GET", path, headers={"Host": f"localhost:{self.port}", **headers})
        return connection


@pytest.fixture(scope="module")
def server(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("stream"))
    running.start("redis")
    running.start("web")
    yield running
    for name in list(running.parts):
        running.kill(name)
    running.listener.close()


@pytest.fixture
def team(transactional_db: None) -> Studio:
    return studio()


def job_of(team: Studio, **row: Any) -> Job:
    defaults = {"kind": "search", "title": "A search", "config": {}, "config_hash": "", "ticks": 1000}
    return Job.objects.create(project=team.project, status=Status.RUNNING, **{**defaults, **row})


def say(job: Job, number: int = 1) -> None:
    for _ in range(number):
        assert journal.append(job, {}, [Entry("logged", {"message": "a line"})])


class Listener(threading.Thread):
    """A browser: reads until cut off, comes back with the last number it saw, and remembers everything."""

    def __init__(self, server: Server, path: str, user: User, after: str = "") -> None:
        super().__init__(daemon=True)
        self.server, self.path, self.user, self.last = server, path, user, after
        self.cookie = ""
        self.got: list[Message] = []
        self.over = threading.Event()
        client = Client()
        client.force_login(user)
        self.cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"

    def run(self) -> None:
        while not self.over.is_set():
            with contextlib.suppress(OSError):
                self._read()
            time.sleep(0.1)

    def _read(self) -> None:
        headers = {"Cookie": self.cookie, **({"Last-Event-ID": self.last} if self.last else {})}
        connection = self.server.get(self.path, None, **headers)
        answer = connection.getresponse()
        self.connection = connection
        message = {"event": "", "id": "", "data": ""}
        while line := answer.readline():
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name in message:
                message[name] = value
            elif not line.strip() and message["event"]:
                self.last = message["id"] or self.last
                self.got.append(Message(message["event"], message["id"], json.loads(message["data"])))
                message = dict.fromkeys(message, "")

    def events(self) -> list[Message]:
        return [m for m in self.got if m.kind == "event"]

    def until(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < deadline, self.got[-3:]
            time.sleep(0.02)


@pytest.fixture
def listen(server: Server) -> Iterator[Callable[..., Listener]]:
    listeners: list[Listener] = []

    def begin(path: str, user: User, **more: str) -> Listener:
        listener = Listener(server, path, user, **more)
        listener.start()
        listeners.append(listener)
        return listener

    yield begin
    for listener in listeners:
        listener.over.set()


def test_a_job_stream_carries_the_numbers_of_its_events(listen: Callable[..., Listener], team: Studio) -> None:
    job = job_of(team)
    say(job, 3)
    reader = listen(f"/events/?job={job.pk}", team.producer)
    reader.until(lambda: bool(reader.got))
    snapshot = reader.got[0]
    assert (snapshot.kind, snapshot.id, snapshot.data["jobs"][0]["sequence"]) == ("snapshot", "3", 3)
    say(job, 5)
    reader.until(lambda: len(reader.events()) == 5)
    assert [m.id for m in reader.events()] == ["4", "5", "6", "7", "8"]


def test_last_event_id_brings_what_was_missed(listen: Callable[..., Listener], team: Studio) -> None:
    job = job_of(team)
    say(job, stream.PAGE + 30)
    reader = listen(f"/events/?job={job.pk}", team.owner, after="7")
    reader.until(lambda: len(reader.events()) == stream.PAGE + 23)
    assert [int(m.id) for m in reader.events()] == list(range(8, stream.PAGE + 31))


def test_the_project_stream_tells_of_every_job_and_of_no_other_project(
    listen: Callable[..., Listener], team: Studio
) -> None:
    elsewhere = studio("elsewhere")
    mine, theirs = job_of(team), job_of(elsewhere)
    reader = listen(f"/events/?project={team.project.slug}", team.designer)
    reader.until(lambda: bool(reader.got))
    assert [job["job"] for job in reader.got[0].data["jobs"]] == [mine.pk]
    say(theirs)
    later = job_of(team)
    say(later, 2)
    say(mine)
    reader.until(lambda: len(reader.events()) == 3)
    assert [(m.data["job"], m.data["sequence"]) for m in reader.events()] == [
        (later.pk, 1),
        (later.pk, 2),
        (mine.pk, 1),
    ]


def test_ten_readers_miss_nothing_and_get_nothing_twice_over_kills(
    server: Server, listen: Callable[..., Listener], team: Studio
) -> None:
    """Web server and Redis are killed and started again while two jobs are written about."""
    jobs = [job_of(team), job_of(team)]
    readers = [listen(f"/events/?project={team.project.slug}", team.designer) for _ in range(10)]
    for reader in readers:
        reader.until(lambda r=reader: bool(r.got))

    def write(times: int) -> None:
        for _ in range(times):
            for job in jobs:
                say(job)
            time.sleep(0.005)

    write(40)
    server.kill("redis")
    write(40)
    server.kill("web")
    write(40)
    server.start("web")
    write(40)
    server.start("redis")
    write(40)
    for reader in readers:
        reader.until(lambda r=reader: len(r.events()) >= 400)
        told = [(m.data["job"], m.data["sequence"]) for m in reader.events()]
        for job in jobs:
            assert [sequence for pk, sequence in told if pk == job.pk] == list(range(1, 201))
        assert sum(m.kind == "snapshot" for m in reader.got) == 1


def test_an_event_arrives_soon_even_without_redis(
    server: Server, listen: Callable[..., Listener], team: Studio
) -> None:
    server.kill("redis")
    try:
        job = job_of(team)
        reader = listen(f"/events/?job={job.pk}", team.owner)
        reader.until(lambda: bool(reader.got))
        say(job)
        reader.until(lambda: len(reader.events()) == 1)
    finally:
        server.start("redis")


def test_a_reader_that_waits_holds_no_database_connection(
    server: Server, listen: Callable[..., Listener], team: Studio
) -> None:
    job = job_of(team)
    readers = [listen(f"/events/?job={job.pk}", team.owner) for _ in range(5)]
    for reader in readers:
        reader.until(lambda r=reader: bool(r.got))
    database = str(settings.DATABASES["default"]["NAME"])

    def held() -> int:
        folder = Path(f"/proc/{server.parts['web'].pid}/fd")
        return sum(os.readlink(fd) == database for fd in folder.iterdir() if fd.is_symlink())

    readers[0].until(lambda: held() == 0)


def test_one_person_has_so_many_streams_open_and_the_next_is_refused_until_one_ends(
    server: Server, team: Studio
) -> None:
    path = f"/events/?job={job_of(team).pk}"
    mine = [server.get(path, team.designer).getresponse() for _ in range(stream.MOST_OPEN)]
    assert {answer.status for answer in mine} == {200}
    refused = server.get(path, team.designer, **{"Sec-Fetch-Dest": "empty"}).getresponse()
    assert (refused.status, json.load(refused)) == (429, {"error": stream.TOO_MANY})
    assert server.get(f"{path}&poll=1", team.designer).getresponse().status == 200
    assert server.get(path, team.owner).getresponse().status == 200
    mine[0].close()
    deadline = time.monotonic() + PATIENCE
    while server.get(path, team.designer).getresponse().status != 200:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_polling_gives_what_the_stream_would(server: Server, team: Studio) -> None:
    job = job_of(team)
    say(job, 2)

    def poll(query: str) -> dict[str, Any]:
        found: dict[str, Any] = json.load(
            server.get(f"/events/?project={team.project.slug}&poll=1{query}", team.owner).getresponse()
        )
        return found

    first = poll("")
    assert [j["sequence"] for j in first["snapshot"]["jobs"]] == [2]
    say(job)
    second = poll(f"&after={first['cursor']}")
    assert second["snapshot"] is None
    assert [e["sequence"] for e in second["events"]] == [3]
    assert poll(f"&after={second['cursor']}")["events"] == []


@pytest.mark.parametrize(
    ("who", "status"),
    [("owner", 200), ("designer", 200), ("engineer", 200), ("producer", 200), ("stranger", 404), ("nobody", 401)],
)
@pytest.mark.parametrize("what", ["project", "job"])
def test_only_members_listen(server: Server, team: Studio, who: str, status: int, what: str) -> None:
    job = job_of(team)
    query = f"project={team.project.slug}" if what == "project" else f"job={job.pk}"
    user = None if who == "nobody" else getattr(team, who)
    answer = server.get(f"/events/?{query}&poll=1", user, **{"Sec-Fetch-Dest": "empty"}).getresponse()
    assert answer.status == status


@pytest.mark.parametrize("query", ["", "project=none", "job=0", "job=x", "job=99999999999999999999", "project=../.."])
def test_a_stream_of_nothing_is_not_found(server: Server, team: Studio, query: str) -> None:
    assert server.get(f"/events/?{query}", team.owner).getresponse().status == 404


@pytest.mark.parametrize("after", ["x", "-1", "1e9", "9" * 40])
def test_a_number_that_is_none_begins_anew(server: Server, team: Studio, after: str) -> None:
    job = job_of(team)
    answer = server.get(f"/events/?job={job.pk}&poll=1&after={after}", team.owner).getresponse()
    assert json.load(answer)["snapshot"] is not None


def _removed(team: Studio) -> None:
    team.project.memberships.filter(user=team.producer).delete()


def _deactivated(team: Studio) -> None:
    User.objects.filter(pk=team.producer.pk).update(is_active=False)


def _other_password(team: Studio) -> None:
    producer = User.objects.get(pk=team.producer.pk)
    producer.set_password("another long one")
    producer.save()


def _signed_out(team: Studio) -> None:
    Session.objects.all().delete()


@pytest.mark.parametrize("change", [_removed, _deactivated, _other_password, _signed_out])
def test_a_stream_ends_soon_after_the_right_to_read_it(
    server: Server, team: Studio, change: Callable[[Studio], None]
) -> None:
    """A busy stream, so that neither silence nor a look that finds a full page can keep it open."""
    job, over = job_of(team), threading.Event()
    answer = server.get(f"/events/?project={team.project.slug}", team.producer).getresponse()
    assert answer.readline() == b"retry: 2000\n"

    def talk() -> None:
        while not over.wait(0.1):
            say(job)
        connection.close()

    talking = threading.Thread(target=talk)
    talking.start()
    try:
        change(team)
        until = time.monotonic() + PATIENCE
        while answer.readline():
            assert time.monotonic() < until, "the stream goes on"
    finally:
        over.set()
        talking.join()
        answer.close()


def test_the_storage_keeps_what_events_refer_to(team: Studio) -> None:
    job = job_of(team, checkpoint="a" * 64, previous_checkpoint="b" * 64, artifacts={"front": "c" * 64})
    artifacts = {"chunk": "d" * 64, "front": "e" * 64, "checkpoint": "f" * 64}
    journal.append(job, {}, [Entry("progressed", {"metrics": {}, "artifacts": artifacts}, 1)])
    assert JobEvent.objects.count() == 1
    found = set(references())
    assert {digit * 64 for digit in "abcde"} <= found
    assert "f" * 64 not in found
