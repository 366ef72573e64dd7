"""How many views are at work at a time, and whose: one sender's flood leaves turns for everybody else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from django.http import HttpRequest

from webapp.lib import senders, turns
from webapp.lib.deadline import Deadline, Message
from webapp.lib.senders import Senders
from webapp.lib.turns import Turns

PATIENCE = 60.0


class Browser:
    """One request: what the server hands over, and what comes back. ``person``: whose session it shows."""

    def __init__(self, path: str = "/", person: int | None = None, address: str = "192.0.2.1") -> None:
        headers = [] if person is None else [(b"cookie", str(person).encode())]
        self.scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "client": (address, 1)}
        self.scope["query_string"] = b""
        self.gone, self.status, self._asked = asyncio.Event(), 0, False

    async def receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request"}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.status = message.get("status", self.status)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self.gone.set()  # as servers do: nothing more comes after the answer


class Site:
    """Views that are at work until ``finish``."""

    def __init__(self, seconds: float = PATIENCE, left: float = PATIENCE) -> None:
        self.begun: list[Browser] = []
        self.most = 0
        self._ends: dict[int, asyncio.Event] = {}
        self._browsers: dict[int, Browser] = {}
        self._tasks: list[asyncio.Task[None]] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(senders, "THREADS", 1)
            who = Senders(_sender)
        self._gate = Deadline(Turns(self._view, who, left), seconds)

    async def _view(self, scope: Any, receive: Any, send: Any) -> None:
        if (await receive())["type"] == "http.disconnect":
            return
        browser = scope["browser"]
        self.begun.append(browser)
        self._ends[id(browser)] = asyncio.Event()
        self.most = max(self.most, len(self._ends))
        await self._ends[id(browser)].wait()
        del self._ends[id(browser)]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] == "/stream":
            await receive()
        await send({"type": "http.response.body", "body": b""})

    def come(self, *browsers: Browser) -> None:
        for each in browsers:
            scope = {**each.scope, "browser": each}
            self._tasks.append(asyncio.ensure_future(self._gate(scope, each.receive, each.send)))

    def finish(self, browser: Browser) -> None:
        self._ends[id(browser)].set()

    async def until(self, fact: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not fact():
                await asyncio.sleep(0.001)

    async def settle(self) -> None:
        """All that can begin has begun: whoever comes last from elsewhere has, and the one thread that asks who sends a
        request asked of those who came before first."""
        last = Browser(person=0, address="198.51.100.7")
        self.come(last)
        await self.until(lambda: last in self.begun)
        self.finish(last)
        await self.until(lambda: last.status == 200)
        self.begun.remove(last)

    async def close(self) -> None:
        for each in self._tasks:
            each.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _sender(request: HttpRequest) -> int | None:
    """Whose session it is; 0 is a made-up one."""
    return int(request.headers["Cookie"]) or None


def play(scene: Callable[[Site], Awaitable[None]], **limits: float) -> None:
    async def whole() -> None:
        site = Site(**limits)
        try:
            await scene(site)
        finally:
            await site.close()

    asyncio.run(whole())


@pytest.mark.parametrize("person", [1, None, 0], ids=["signed in", "anonymous", "made-up sessions"])
def test_a_flood_of_one_sender_leaves_turns_for_others(person: int | None) -> None:
    async def scene(site: Site) -> None:
        flood = [Browser("/nowhere/", person) for _ in range(100)]
        site.come(*flood)
        await site.until(lambda: bool(site.begun))
        for other in (Browser(person=2), Browser(person=3), Browser(address="192.0.2.2"), Browser("/health/")):
            site.come(other)
            await site.until(lambda other=other: other in site.begun)  # type: ignore[misc]
        assert site.most <= 3 + 4

    play(scene)


def test_however_many_people_come_views_at_work_are_bounded_and_the_health_page_answers() -> None:
    async def scene(site: Site) -> None:
        site.come(*(Browser(person=1 + i) for i in range(200)))
        site.come(*(Browser(address=f"192.0.2.{i}") for i in range(200)))
        health = Browser("/health/", address="203.0.113.1")
        site.come(health)
        await site.until(lambda: health in site.begun)
        await site.until(lambda: len(site.begun) == 8 + 4 + 1)
        assert site.most == 8 + 4 + 1

    play(scene)


def test_who_waits_has_their_turn_after_one_of_each_other_sender_not_after_all_of_a_flood() -> None:
    async def scene(site: Site) -> None:
        floods = [Browser(person=1 + i % 4) for i in range(400)]
        site.come(*floods)
        await site.until(lambda: len(site.begun) == 8)
        late = Browser(person=9)
        site.come(late)
        await site.settle()
        for _ in range(5):
            site.finish(next(each for each in site.begun if not each.status))
            await site.settle()
        assert late in site.begun

    play(scene)


def test_a_request_whose_sender_leaves_before_its_turn_never_begins_and_takes_no_turn() -> None:
    async def scene(site: Site) -> None:
        working, waiting, last = ([Browser(person=1) for _ in range(n)] for n in (3, 20, 1))
        site.come(*working)
        await site.until(lambda: len(site.begun) == 3)
        site.come(*waiting, *last)
        await site.settle()
        for each in waiting:
            each.gone.set()
        await site.settle()
        site.finish(working[0])
        await site.until(lambda: last[0] in site.begun)
        assert not set(waiting) & set(site.begun)

    play(scene)


def test_a_request_that_waited_too_long_for_its_turn_is_told_so_and_never_begins() -> None:
    async def scene(site: Site) -> None:
        working, late = [Browser(person=1) for _ in range(3)], Browser(person=1)
        site.come(*working)
        await site.until(lambda: len(site.begun) == 3)
        site.come(late)
        await site.until(lambda: late.status == 503)
        site.finish(working[0])
        await site.settle()
        assert late not in site.begun

    play(scene, seconds=3.0)


def test_a_view_that_nobody_waits_for_keeps_its_turn_until_it_ends_for_it_is_still_at_work() -> None:
    async def scene(site: Site) -> None:
        working, next_ = [Browser(person=1) for _ in range(3)], Browser(person=1)
        site.come(*working)
        await site.until(lambda: len(site.begun) == 3)
        for each in working:
            each.gone.set()
        site.come(next_)
        await site.settle()
        assert next_ not in site.begun
        site.finish(working[1])
        await site.until(lambda: next_ in site.begun)

    play(scene)


def test_a_view_that_never_ends_does_not_keep_its_turn_for_good() -> None:
    async def scene(site: Site) -> None:
        hanging, next_ = [Browser(person=1) for _ in range(3)], Browser(person=1)
        site.come(*hanging)
        await site.until(lambda: len(site.begun) == 3)
        for each in hanging:
            each.gone.set()
        site.come(next_)
        await site.until(lambda: next_ in site.begun)

    play(scene, left=0.05)


def test_an_answer_that_is_on_its_way_has_no_turn() -> None:
    async def scene(site: Site) -> None:
        streams, page = [Browser("/stream", person=1) for _ in range(3)], Browser(person=1)
        site.come(*streams)
        await site.until(lambda: len(site.begun) == 3)
        for each in streams:
            site.finish(each)
        site.come(page)
        await site.until(lambda: page in site.begun)
        assert not any(each.gone.is_set() for each in streams)

    play(scene)


def test_a_sender_for_whom_too_much_waits_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MOST_WAITING", 2)

    async def scene(site: Site) -> None:
        flood = [Browser(person=1) for _ in range(3 + 2 + 1)]
        for each in flood:
            site.come(each)
            await site.settle()
        assert [each.status for each in flood] == [0] * 5 + [429]

    play(scene)
