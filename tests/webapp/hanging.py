"""The site with views that misbehave, and little patience: for a server of its own, as it changes the settings."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402
from django.contrib.auth.decorators import login_not_required  # noqa: E402
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402

from webapp.lib.bodies import Bodies  # noqa: E402
from webapp.lib.deadline import Deadline, Handler, may_take  # noqa: E402
from webapp.lib.senders import Senders  # noqa: E402
from webapp.lib.turns import Turns  # noqa: E402

settings.ROOT_URLCONF = __name__
SECONDS = float(os.environ["HANGING_SECONDS"])


def sleeps(request: HttpRequest) -> HttpResponse:
    threading.Event().wait(3600.0)
    return HttpResponse()


@csrf_exempt
def works_on(request: HttpRequest) -> HttpResponse:
    threading.Event().wait(3600.0)
    return HttpResponse()


async def never(request: HttpRequest) -> HttpResponse:
    import asyncio

    await asyncio.Event().wait()
    return HttpResponse()


def stops(request: HttpRequest) -> HttpResponse:
    return HttpResponse(next(iter(())))


@may_take(3600.0)
def makes_a_file(request: HttpRequest) -> HttpResponse:
    time.sleep(3 * SECONDS)
    return HttpResponse("the file")


async def streams(request: HttpRequest) -> StreamingHttpResponse:
    import asyncio

    async def lines() -> AsyncIterator[bytes]:
        for i in range(4):
            yield f"{i}\n".encode()
            await asyncio.sleep(SECONDS)

    return StreamingHttpResponse(lines())


@csrf_exempt
def takes(request: HttpRequest) -> HttpResponse:
    return HttpResponse(str(len(request.body)))


def quick(request: HttpRequest) -> HttpResponse:
    return HttpResponse("quick")


def _open(views: Any) -> Iterator[Any]:
    for view in views:
        yield path(f"{view.__name__}/", login_not_required(view))
        yield path(f"api/{view.__name__}/", login_not_required(view))


urlpatterns = list(_open((sleeps, works_on, never, stops, makes_a_file, streams, takes, quick)))
senders = Senders(lambda request: None)
bodies = Bodies(Turns(Handler(), senders, SECONDS / 4), senders, {}, seconds=6 * SECONDS, silence=2 * SECONDS)
application = Deadline(bodies, SECONDS)
