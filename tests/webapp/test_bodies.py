"""What the site takes from whom, over real HTTP: nothing is kept of a body that is refused."""

from __future__ import annotations

import asyncio
import json
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from tests.factories import person, studio
from tests.processes import environment
from webapp.accounts.models import User
from webapp.api import tokens
from webapp.api.body import MOST_BYTES
from webapp.lib import bodies
from webapp.lib.senders import Senders

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 60.0
FORM = "application/x-www-form-urlencoded"
LARGE = "Content-Length: 60000"
"""As much as a stranger may send, and no small form."""


@pytest.fixture(scope="module")
def address(django_db_setup: None) -> Iterator[tuple[str, int]]:
    """The site under its own web server."""
    listener = socket.create_server(("127.0.0.1", 0))
    command = [sys.executable, "-m", "deploy.up.web", str(listener.fileno())]
    server = subprocess.Popen(command, env=environment(settings.REDIS_URL), pass_fds=[listener.fileno()])
    yield listener.getsockname()
    server.kill()
    server.wait()
    listener.close()


@pytest.fixture
def sender(address: tuple[str, int]) -> Iterator[socket.socket]:
    """A connection to the site."""
    with socket.create_connection(address, timeout=PATIENCE) as connection:
        yield connection


def signed_in(user: User) -> str:
    """The header of a browser in which somebody is signed in."""
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    return f"Cookie: {name}={client.cookies[name].value}"


def head(path: str, *lines: str) -> bytes:
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Type: {FORM}", *lines, "", ""]).encode()


def answer(sender: socket.socket) -> bytes:
    """All that comes until the connection ends."""
    return b"".join(iter(lambda: sender.recv(65536), b""))


def chunks_taken(sender: socket.socket, most: int) -> int:
    """How many of ``most`` chunks of 64 kB the server takes before it hangs up."""
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    for count in range(most):
        try:
            sender.sendall(chunk)
        except OSError:
            return count
    return most


@pytest.mark.parametrize(
    "path", ["/sign-in/", "/nowhere/", "/p/herobattle/data/import/", "/health/", "/api/v1/projects"]
)
def test_a_stranger_who_says_that_much_will_come_is_refused_before_any_of_it(sender: socket.socket, path: str) -> None:
    began = time.monotonic()
    sender.sendall(head(path, "Content-Length: 99999999999"))
    assert answer(sender).startswith(b"HTTP/1.1 413 ")
    assert time.monotonic() - began < bodies.SILENCE  # it was not waited for


def test_a_made_up_session_opens_no_larger_door(sender: socket.socket) -> None:
    cookie = f"Cookie: {settings.SESSION_COOKIE_NAME}={'a' * 32}"
    sender.sendall(head("/p/herobattle/data/import/", cookie, "Content-Length: 70000"))
    assert b"without being signed in" in answer(sender)


def test_a_stranger_whose_body_does_not_say_how_long_it_is_is_cut_off(sender: socket.socket) -> None:
    sender.sendall(head("/sign-in/", "Transfer-Encoding: chunked"))
    assert chunks_taken(sender, 2000) < 1000  # what is taken after the second chunk is dropped


@pytest.mark.parametrize("path", ["/projects/new/", "/p/herobattle/data/import/"])
def test_people_may_send_what_the_form_takes_and_no_more(address: tuple[str, int], path: str) -> None:
    session = signed_in(studio().owner)
    for size, status in ((70_000, b"403"), (16 * 2**20, b"413")):  # 403: without the form's token
        with socket.create_connection(address, timeout=PATIENCE) as sender:
            sender.sendall(head(path, session, f"Content-Length: {size}", "Connection: close") + b"x" * 70_000)
            assert answer(sender)[9:12] == status, (path, size)


def test_a_script_with_a_token_may_send_what_the_api_takes_and_is_told_in_its_form(address: tuple[str, int]) -> None:
    text = tokens.make(person("ines"), "a build", None, 30)[1]
    for authorization, size, said in (
        (f"Bearer {text}", MOST_BYTES + 1, "At most 512 kB can be sent here at a time."),
        (f"Bearer {text}x", 70_000, "At most 64 kB can be sent here without being signed in."),
    ):
        connection = HTTPConnection(*address, timeout=PATIENCE)
        headers = {"Host": "localhost", "Authorization": authorization, "Content-Length": str(size)}
        connection.request("POST", "/api/v1/projects/x/jobs", headers=headers)
        told = connection.getresponse()
        assert (told.status, json.loads(told.read())["message"]) == (413, said)


def test_more_bodies_from_one_address_than_anybody_sends_at_once_are_refused(address: tuple[str, int]) -> None:
    waiting = [socket.create_connection(address, timeout=PATIENCE) for _ in range(bodies.MOST_AT_ONCE + 1)]
    try:
        for sender in waiting:
            sender.sendall(head("/sign-in/", LARGE) + b"a=")
        refused = select.select(waiting, [], [], bodies.SECONDS / 2)[0]
        assert [answer(sender)[9:12] for sender in refused] == [b"429"]
        connection = HTTPConnection(*address, timeout=PATIENCE)
        connection.request("GET", "/sign-in/", headers={"Host": "localhost"})
        assert connection.getresponse().status == 200
    finally:
        for sender in waiting:
            sender.close()


@pytest.fixture
def strangers(address: tuple[str, int]) -> Iterator[list[socket.socket]]:
    """All the room that anybody has, taken by bodies that do not come whole."""
    waiting = [socket.create_connection(address, timeout=PATIENCE) for _ in range(bodies.MOST_AT_ONCE + 1)]
    for sender in waiting:
        sender.sendall(head("/api/v1/projects/x/jobs", LARGE) + b"a=")
    assert select.select(waiting, [], [], bodies.SECONDS / 2)[0]  # one more than there is room for was refused
    yield waiting
    for sender in waiting:
        sender.close()


def test_strangers_who_send_slowly_keep_nobody_who_is_known_at_their_address_from_sending(
    strangers: list[socket.socket], address: tuple[str, int]
) -> None:
    team = studio()
    token = tokens.make(person("ines"), "a build", None, 30)[1]
    for path, shown, status in (
        ("/projects/new/", signed_in(team.owner), b"403"),  # 403: without the form's token
        ("/api/v1/projects/x/jobs", f"Authorization: Bearer {token}", b"404"),
        ("/projects/new/", f"Cookie: {settings.SESSION_COOKIE_NAME}={'a' * 32}", b"429"),
        ("/api/v1/projects/x/jobs", f"Authorization: Bearer {token}x", b"429"),
    ):
        with socket.create_connection(address, timeout=PATIENCE) as sender:
            sender.sendall(head(path, shown, LARGE, "Connection: close") + b"a" * 60_000)
            assert answer(sender)[9:12] == status, (path, shown)


def test_people_who_are_known_have_a_bounded_room_too(strangers: list[socket.socket], address: tuple[str, int]) -> None:
    session = signed_in(studio().owner)
    waiting = [socket.create_connection(address, timeout=PATIENCE) for _ in range(bodies.MOST_AT_ONCE + 1)]
    try:
        for sender in waiting:
            sender.sendall(head("/projects/new/", session, LARGE) + b"a=")
        refused = select.select(waiting, [], [], bodies.SECONDS / 2)[0]
        assert [answer(sender)[9:12] for sender in refused] == [b"429"]
    finally:
        for sender in waiting:
            sender.close()


def test_half_sent_bodies_of_strangers_keep_nobody_at_their_address_from_signing_in(
    strangers: list[socket.socket], address: tuple[str, int]
) -> None:
    half = [socket.create_connection(address, timeout=PATIENCE) for _ in range(bodies.MOST_AT_ONCE)]
    try:
        for sender in half:
            sender.sendall(head("/sign-in/", "Content-Length: 10") + b"username=")
        with socket.create_connection(address, timeout=PATIENCE) as sender:
            sender.sendall(head("/sign-in/", "Content-Length: 4", "Connection: close") + b"a=bc")
            assert answer(sender)[9:12] == b"403"  # without the form's token
    finally:
        for sender in half:
            sender.close()


def test_of_small_bodies_on_their_way_the_oldest_makes_way_and_there_are_never_more_than_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bodies, "MOST_AT_ONCE", 2)

    async def room() -> list[int]:
        gate = bodies.Bodies(application, Senders(lambda request: None), {})
        senders = [asyncio.ensure_future(gate(half_sent(), never, told.append_later)) for told in answers]
        done, _ = await asyncio.wait(senders, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
        for sender in senders:
            sender.cancel()
        return [senders.index(each) for each in done]

    answers = [Answer() for _ in range(3)]
    assert asyncio.run(room()) == [0]
    assert [each.status for each in answers] == [429, 0, 0]


class Answer:
    """What comes back to one sender."""

    status = 0

    async def append_later(self, message: Any) -> None:
        self.status = message.get("status", self.status)


async def application(scope: Any, receive: Any, send: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def never() -> Any:
    await asyncio.Event().wait()


def half_sent() -> dict[str, Any]:
    headers = [(b"content-length", b"10"), (b"host", b"localhost")]
    return {"type": "http", "method": "POST", "path": "/sign-in/", "headers": headers, "client": ("192.0.2.1", 1)}
