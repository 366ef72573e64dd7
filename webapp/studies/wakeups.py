"""Who waits for news of which project: one Redis connection a web process, however many event streams are open."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Iterator
from weakref import WeakKeyDictionary

import redis.asyncio
from django.conf import settings

from webapp.lib.wake import PATTERN

RETRY = 1.0
PROBE = 5.0


class Wakeups:
    """The readers of one event loop. While Redis is away nobody is woken, and readers look by themselves."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._listener: asyncio.Task[None] | None = None
        self.connected = False

    @contextlib.contextmanager
    def waiting(self, project: int) -> Iterator[asyncio.Event]:
        """An event that is set at each wake-up of ``project``; the reader clears it before it looks."""
        channel, event = PATTERN.replace("*", str(project)), asyncio.Event()
        self._waiting[channel].add(event)
        if self._listener is None or self._listener.done():
            self._listener = asyncio.create_task(self._listen())
        try:
            yield event
        finally:
            self._waiting[channel].discard(event)
            if not self._waiting[channel]:
                del self._waiting[channel]
            if not self._waiting:
                self._listener.cancel()
                self._listener = None

    async def _listen(self) -> None:
        while True:
            with contextlib.suppress(redis.RedisError, OSError):
                await self._subscribe()
            self.connected = False
            await asyncio.sleep(RETRY)

    async def _subscribe(self) -> None:
        async with (
            redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2) as client,
            client.pubsub() as subscription,
        ):
            async with asyncio.timeout(PROBE):  # a server that hangs takes the connection and never greets
                await subscription.psubscribe(PATTERN)
            self.connected = True
            for events in self._waiting.values():  # something may have happened while nobody listened
                for event in events:
                    event.set()
            while True:
                message = await subscription.get_message(ignore_subscribe_messages=True, timeout=PROBE)
                if message is None:
                    await subscription.ping()  # a connection that died without a word shows itself here
                elif message["type"] == "pmessage":
                    for event in self._waiting.get(message["channel"].decode(), ()):
                        event.set()


_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Wakeups] = WeakKeyDictionary()


def wakeups() -> Wakeups:
    """The wake-ups of the running event loop."""
    return _of_loop.setdefault(asyncio.get_running_loop(), Wakeups())
