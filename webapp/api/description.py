"""``/api/v1/openapi.json``: what the API takes and answers, for programs. Making it costs a second of processor, and it
changes only with the site's version, so it is made once."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from threading import Lock
from typing import Any, NamedTuple

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import condition, require_safe

from webapp.api.v1 import v1

_making = Lock()


class Description(NamedTuple):
    """The description, as it is sent, and its ETag."""

    schema: dict[str, Any]
    content: bytes
    tag: str


def description() -> Description:
    """The one description; whoever asks while it is being made waits for it."""
    with _making:
        return _made()


@cache
def _made() -> Description:
    schema = v1.get_openapi_schema()
    content = json.dumps(schema, cls=DjangoJSONEncoder).encode()
    return Description(schema, content, f'"{sha256(content).hexdigest()[:32]}"')


@cache_control(private=True, no_cache=True)
@require_safe
@condition(etag_func=lambda request: description().tag)
def for_programs(request: HttpRequest) -> HttpResponse:
    """The description; 304 where the program has it already."""
    return HttpResponse(description().content, content_type="application/json; charset=utf-8")
