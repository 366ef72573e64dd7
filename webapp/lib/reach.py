"""Who can reach the site: people at this machine alone, or others too.

A password that everybody knows is for the first case only, so any sign of the second counts, in the settings as in a
request: a proxy on this machine makes every visitor look like somebody at this machine.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.http.request import split_domain_port

_OF_BROWSERS = frozenset(
    {"host", "connection", "keep-alive", "user-agent", "referer", "origin", "cookie", "authorization", "date", "expect",
     "te", "trailer", "transfer-encoding", "upgrade", "http2-settings", "upgrade-insecure-requests", "range",
     "cache-control", "pragma", "priority", "purpose", "x-purpose", "x-moz", "dnt", "save-data", "device-memory", "dpr",
     "downlink", "ect", "rtt", "width", "viewport-width", "alt-used", "available-dictionary", "dictionary-id",
     "ping-from", "ping-to", "service-worker", "last-event-id", "idempotency-key", "x-csrftoken", "x-requested-with"}
)  # fmt: skip
_OF_BROWSERS_BEGIN = ("accept", "access-control-request-", "content-", "hx-", "if-", "sec-")
"""What a browser, curl, and the scripts of our pages send by themselves. Proxies have new names all the time, so these
are listed instead: whatever else a request carries may have been added on its way."""


def is_local(host: str) -> bool:
    """Whether a host name or address, without a port, means the machine that uses it."""
    name = host.strip().strip("[]").lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def settings_let_others_in(
    https: bool, hosts: Iterable[str], origins: Iterable[str], environment: Mapping[str, str]
) -> bool:
    """Whether a setting makes sense only where other machines reach the site: HTTPS, which a proxy adds, a name or an
    origin that is not this machine's, or addresses whose forwarded headers uvicorn is to believe."""
    names = [*hosts, *(urlsplit(origin).hostname or "" for origin in origins)]
    return https or bool(environment.get("FORWARDED_ALLOW_IPS")) or not all(map(is_local, names))


def came_from_outside(request: HttpRequest) -> bool:
    """Whether a request shows that it may come from another machine: by its address, by the name it asks for, by the
    page it was sent from, or by a header that no browser sends, as proxies leave. HTTP/1.0 and whole addresses in the
    request line (which ``deploy.up.web`` notes) are spoken to proxies or by them, and every browser names a host."""
    scope = getattr(request, "scope", {})
    if scope.get("http_version") == "1.0" or scope.get("absolute_form") or "HTTP_HOST" not in request.META:
        return True
    try:
        host = split_domain_port(request.get_host())[0]
    except DisallowedHost:
        return True
    senders = [request.META[name] for name in ("HTTP_ORIGIN", "HTTP_REFERER") if name in request.META]
    hosts = [host, request.META.get("REMOTE_ADDR") or "", *map(_host_of, senders)]
    if request.headers.get("Sec-Fetch-Site") == "cross-site":  # also where the other page hides what it is
        return True
    return not all(map(is_local, hosts)) or not all(map(_of_a_browser, _header_names(request)))


def _host_of(address: str) -> str:
    """The host of an address; empty where there is none to be read."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _header_names(request: HttpRequest) -> Iterator[str]:
    """All that were sent: Django itself leaves out those with an underscore."""
    yield from (name.lower() for name in request.headers)
    for name, _ in getattr(request, "scope", {}).get("headers", ()):
        yield name.decode("latin1").lower()


def _of_a_browser(name: str) -> bool:
    return name in _OF_BROWSERS or name.startswith(_OF_BROWSERS_BEGIN)
