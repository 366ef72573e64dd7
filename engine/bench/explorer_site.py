"""The site for the explorer's benchmark: the real server on a generated job, with one person signed in."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
_MAKE = """
import json, sys, django
django.setup()
from django.conf import settings
from django.test import Client
from tests.factories import search_job, studio
team = studio()
client = Client()
client.force_login(team.designer)
name = settings.SESSION_COOKIE_NAME
pages = {}
for rows in map(int, sys.argv[1:]):
    project = team.project if not pages else studio(f"herobattle-{rows}").project
    if pages:
        project.memberships.create(user=team.designer, role="designer")
    pages[rows] = f"/p/{project.slug}/jobs/{search_job(project, rows).pk}/explore/"
print(json.dumps({"cookie": {"name": name, "value": client.cookies[name].value}, "pages": pages}))
"""


class Site(NamedTuple):
    """Its address, the cookie of a signed-in designer, and the explorer's path by number of evaluated lineups."""

    address: str
    cookie: dict[str, str]
    pages: dict[int, str]


@contextmanager
def site(*rows: int) -> Iterator[Site]:
    """The site on loopback with one finished job of each size; its data and processes are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="eqp-bench-") as folder:
        environment = {**os.environ, "EQUIPOISE_VAR": folder, "DJANGO_SETTINGS_MODULE": "webapp.settings",
                       "REDIS_URL": f"unix://{folder}/redis.sock?db=0"}  # fmt: skip
        _run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], environment)
        made = json.loads(_run([sys.executable, "-c", _MAKE, *map(str, rows)], environment))
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(64)
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            server = subprocess.Popen(
                [sys.executable, "-m", "deploy.up.web", str(listener.fileno())],
                cwd=ROOT, env=environment, pass_fds=[listener.fileno()],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        try:
            wait_for(f"{address}/sign-in/")
            yield Site(address, made["cookie"], {int(n): path for n, path in made["pages"].items()})
        finally:
            server.terminate()
            try:
                server.wait(5)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _run(command: list[str], environment: dict[str, str]) -> str:
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def wait_for(url: str, patience_s: float = 60.0) -> None:
    """Until ``url`` answers anything. Raises TimeoutError."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(url, timeout=patience_s).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"{url} did not answer within {patience_s:.0f} s")
