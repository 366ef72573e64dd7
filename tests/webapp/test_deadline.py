"""No request hangs, over real HTTP: views that never return, raise what no Future carries, or just take long."""

from __future__ import annotations

import asyncio
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from webapp.lib.deadline import Deadline, Message, Receive, Send

PATIENCE = 120.0
SECONDS = 1.0
"""What a view may take on that site."""


class Hanging:
    """The misbehaving site under uvicorn."""

    def __init__(self, folder: Path) -> None:
        self.log, self.listener = folder / "web.log", socket.create_server(("127.0.0.1", 0))
        command = [sys.executable, "-m", "uvicorn", "tests.webapp.hanging:application"]
        environment = {**os.environ, "EQUIPOISE_VAR": str(folder / "var"), "HANGING_SECONDS": str(SECONDS)}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--fd", str(self.listener.fileno())],
                env=environment, stdout=log, stderr=log, pass_fds=[self.listener.fileno()],
            )  # fmt: skip

    def connect(self) -> HTTPConnection:
        port = self.listener.getsockname()[1]
        return HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def get(self, path: str, **headers: str) -> HTTPResponse:
        connection = self.connect()
        connection.request("GET", path, headers={"Host": "localhost", **headers})
        return connection.getresponse()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hanging]:
    running = Hanging(tmp_path_factory.mktemp("hanging"))
    yield running
    running.process.kill()
    running.process.wait()
    running.listener.close()


@pytest.mark.parametrize("view", ["sleeps", "never"])
def test_a_view_that_never_returns_is_answered_for_and_logged(site: Hanging, view: str) -> None:
    answer = site.get(f"/{view}/")
    page = answer.read().decode()
    assert answer.status == 503
    assert "There was no answer within 1" in page
    assert "<h1>This took too long</h1>" in page
    assert f"method=GET path=/{view}/ seconds=1.0" in site.log.read_text()


def test_who_sent_something_is_told_to_look_whether_it_was_done(site: Hanging) -> None:
    connection = site.connect()
    connection.request("POST", "/works_on/", b"a=b", {"Host": "localhost"})
    answer = connection.getresponse()
    page = answer.read().decode()
    assert answer.status == 503
    assert "What you sent may be done all the same." in page
    assert '<a class="btn btn-primary" href="/works_on/">See what came of it</a>' in page


def test_scripts_are_told_in_their_own_form(site: Hanging) -> None:
    by_page = site.get("/sleeps/", **{"Sec-Fetch-Dest": "empty"})
    by_api = site.get("/api/sleeps/")
    assert "stopped waiting" in json.loads(by_page.read())["error"]
    told = json.loads(by_api.read())
    assert (by_page.status, by_api.status, told["problems"]) == (503, 503, [])
    assert "stopped waiting" in told["message"]


def test_a_stop_iteration_is_an_error_at_once_and_not_a_hanging_request(site: Hanging) -> None:
    answer = site.get("/stops/")
    assert answer.status == 500
    assert "StopIteration" in site.log.read_text()
    assert "path=/stops/" not in site.log.read_text()


def test_a_browser_that_leaves_a_hanging_page_does_not_stop_the_others(site: Hanging) -> None:
    leaving = site.connect()
    leaving.request("GET", "/sleeps/?left", headers={"Host": "localhost"})
    time.sleep(SECONDS / 4)
    leaving.close()
    assert site.get("/quick/").read() == b"quick"


def test_a_view_that_makes_a_file_has_more_time(site: Hanging) -> None:
    answer = site.get("/makes_a_file/")
    assert (answer.status, answer.read()) == (200, b"the file")


def test_a_stream_may_last(site: Hanging) -> None:
    assert site.get("/streams/").read() == b"0\n1\n2\n3\n"


@pytest.mark.parametrize("sent", [b"", b"ab"], ids=["nothing", "half"])
def test_whoever_stops_in_the_middle_of_sending_is_told_and_hung_up_on(site: Hanging, sent: bytes) -> None:
    with socket.create_connection(site.listener.getsockname(), timeout=PATIENCE) as sender:
        sender.sendall(b"POST /takes/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n" + sent)
        answer = b"".join(iter(lambda: sender.recv(65536), b""))  # until the connection ends
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"Nothing more of what was sent came for 2" in answer
    assert "path=/takes/ status=408" in site.log.read_text()
    assert site.get("/quick/").read() == b"quick"


def test_the_time_of_an_upload_does_not_count(site: Hanging) -> None:
    connection = site.connect()
    connection.putrequest("POST", "/takes/")
    connection.putheader("Content-Length", "4")
    connection.endheaders()
    for byte in (b"a", b"b", b"c", b"d"):
        time.sleep(SECONDS)  # longer than a silence in all
        connection.send(byte)
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b"4")


def test_whoever_sends_a_byte_now_and_then_comes_to_an_end_as_well(site: Hanging) -> None:
    with socket.create_connection(site.listener.getsockname(), timeout=PATIENCE) as sender:
        sender.sendall(b"POST /takes/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000\r\n\r\n")
        answer = b""
        for _ in range(int(PATIENCE / SECONDS)):
            sender.sendall(b"x")
            if select.select([sender], [], [], SECONDS)[0]:
                answer = b"".join(iter(lambda: sender.recv(65536), b""))
                break
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"had not come whole after 6" in answer


def test_what_has_no_body_is_timed_from_its_arrival_though_nothing_looks_at_it() -> None:
    async def waits_for_a_thread(scope: Any, receive: Receive, send: Send) -> None:
        await asyncio.Event().wait()

    async def receive() -> Message:
        return {"type": "http.request"}

    told: list[Message] = []

    async def send(message: Message) -> None:
        told.append(message)

    scope = {"type": "http", "method": "GET", "path": "/nowhere/", "query_string": b"", "headers": []}
    asyncio.run(asyncio.wait_for(Deadline(waits_for_a_thread, 0.01)(scope, receive, send), PATIENCE))
    assert told[0]["status"] == 503
