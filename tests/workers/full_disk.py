"""A whole site on a disk of its own that becomes full to the last byte in the middle of a search, and has room again.

``python -m tests.workers.full_disk FOLDER`` as root of a mount namespace: ``FOLDER`` becomes the disk. The test
beside it starts this with ``unshare``, which needs no root.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

from engine.config import GameConfig, NSGA2Config, PoolConfig, SearchConfig
from tests.workers.whole_site import WholeSite, until

DISK, GAME = "700m", "builtin:herobattle-planted:1"
SEARCH = SearchConfig(
    name="full disk", seed=4242, game=GameConfig(simulator=GAME), algorithm=NSGA2Config(population=16), ticks=200,
    replicates=2, fresh=4, pool=PoolConfig(kind="local"),
)  # fmt: skip
PROJECT = """
import sys, django
django.setup()
from webapp.accounts.models import User
from webapp.projects.models import Membership, Project, Role
owner = User.objects.create_user("owner", "owner@studio.example", sys.stdin.read())
Membership.objects.create(project=Project.objects.create(slug="arena", name="Arena"), user=owner, role=Role.OWNER)
"""
START = """
import json, sys, django
django.setup()
from engine.studies import load
from webapp.accounts.models import User
from webapp.projects.models import Project
from webapp.studies import actions
print(actions.submit(Project.objects.get(), User.objects.get(), load(json.load(sys.stdin)), title="Full disk").pk)
"""
PASSWORD = "correct horse"


class Browser:
    """Somebody who is signed in."""

    def __init__(self, site: WholeSite) -> None:
        self.site = site
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def get(self, path: str) -> str:
        with self.opener.open(f"{self.site.address}{path}", timeout=60) as answer:
            return str(answer.read().decode())

    def sign_in(self) -> None:
        token = self.get("sign-in/").split('csrfmiddlewaretoken" value="')[1].split('"')[0]
        form = {"csrfmiddlewaretoken": token, "username": "owner", "password": PASSWORD}
        self.opener.open(f"{self.site.address}sign-in/", urllib.parse.urlencode(form).encode(), timeout=60)
        assert "Sign out" in self.get("")


def in_site(site: WholeSite, program: str, given: str) -> str:
    """What a program prints that has the site's database."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "webapp.settings", "EQUIPOISE_VAR": str(site.layout.var)}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, input=given, stdout=subprocess.PIPE, text=True, check=True).stdout


def start_search(site: WholeSite) -> int:
    """Its number."""
    return int(in_site(site, START, SEARCH.model_dump_json()))


def job(site: WholeSite, number: int) -> tuple[str, int, str]:
    """Status, rounds played and the hash of the front."""
    with sqlite3.connect(f"file:{site.layout.var}/db.sqlite3?mode=ro", uri=True, timeout=30) as database:
        row = database.execute("SELECT status, tick, artifacts FROM studies_job WHERE id = ?", [number]).fetchone()
    return row[0], row[1], json.loads(row[2]).get("front", "")


def fill(file: Path) -> None:
    """Take what is left of the disk."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
    for size in (2**20, 4096, 1):
        try:
            while os.write(descriptor, bytes(size)):
                pass
        except OSError:
            continue
    os.close(descriptor)


def main(folder: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder], check=True)
    site = WholeSite(folder / "var")
    site.output = folder.with_suffix(".output")
    try:
        site.start()
        full_and_free_again(site, folder / "filling")
    finally:
        if site.process is not None and site.process.poll() is None:
            site.stop()


def full_and_free_again(site: WholeSite, filling: Path) -> None:
    in_site(site, PROJECT, PASSWORD)
    browser = Browser(site)
    browser.sign_in()
    disturbed = start_search(site)
    until(lambda: job(site, disturbed)[1] >= 2, "the search to play two rounds")
    fill(filling)
    until(lambda: "full" in site.health()["parts"].get("disk", ""), "the health page to say that the disk is full")
    for path in ("", f"p/arena/jobs/{disturbed}/", "p/arena/data/", "help/"):
        assert f"in {site.layout.var} and they go on by themselves." in browser.get(path), path
    assert "<b>The disk is full.</b>" in Browser(site).get("sign-in/")
    os.kill(site.pid("web"), 9)
    until(lambda: site.health().get("ok") is False, "the web server to come back on a full disk")
    assert job(site, disturbed)[0] not in ("failed", "finished")
    assert site.process is not None
    assert site.process.poll() is None, site.said
    filling.unlink()
    site.until_healthy()
    until(lambda: job(site, disturbed)[0] == "finished", "the search to go on by itself")
    undisturbed = start_search(site)
    until(lambda: job(site, undisturbed)[0] == "finished", "the same search, undisturbed")
    assert job(site, disturbed) == job(site, undisturbed)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
