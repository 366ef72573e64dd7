"""A real browser on a real server: Debian's Chromium, driven by Playwright, and the site under uvicorn."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

from engine.bench.explorer import CHROMIUM
from tests.factories import Studio, studio
from tests.processes import environment
from webapp.accounts.models import User

SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync"]  # fmt: skip
PATIENCE_S = 60.0
"""Seconds to wait for what must happen: far beyond what it takes on a busy machine."""
expect.set_options(timeout=1000 * PATIENCE_S)
DESKTOP: ViewportSize = {"width": 1400, "height": 1000}
PHONE: ViewportSize = {"width": 360, "height": 780}

Enter = Callable[..., Page]


@pytest.fixture(scope="package")
def profile(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """Chromium with a profile on disk, at desktop width in light colours. On disk it keeps what it has compiled of the
    scripts, so that a page with charts takes half a processor-second less from its third time on. Playwright keeps an
    event loop in this thread, so Django is told to let the tests' queries through."""
    if not shutil.which(CHROMIUM):
        pytest.fail("Chromium is not installed. Run: sudo apt-get install -y chromium-headless-shell", pytrace=False)
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        kept = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"), executable_path=CHROMIUM, args=SWITCHES,
            base_url=server, viewport=DESKTOP, color_scheme="light",
        )  # fmt: skip
        kept.set_default_timeout(1000 * PATIENCE_S)
        yield kept
        kept.close()
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="package")
def browser(profile: BrowserContext) -> Browser:
    """That Chromium, for whoever needs another profile: of somebody else, of a phone, or without scripts."""
    assert profile.browser is not None
    return profile.browser


@pytest.fixture(scope="package")
def server(django_db_setup: None, redis_server: str) -> Iterator[str]:
    """The site's address; its process sees what a test with ``transactional_db`` writes."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        listener.listen()
        command = [sys.executable, "-m", "deploy.up.web", str(listener.fileno())]
        log = Path(settings.VAR) / "web.log"
        with log.open("wb") as output:
            variables = {**environment(redis_server), "EQUIPOISE_DEMO_PASSWORDS": "1"}
            process = subprocess.Popen(
                command, env=variables, stdout=output, stderr=output, pass_fds=[listener.fileno()]
            )
    address = f"http://127.0.0.1:{port}"
    _wait_until_up(process, address, log)
    yield address
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:  # a browser may still hold an event stream
        process.kill()
        process.wait()


def _wait_until_up(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    """The socket listens already, so the first request waits in it until the site answers."""
    try:
        urllib.request.urlopen(f"{address}/sign-in/", timeout=PATIENCE_S).close()
    except OSError as error:
        process.kill()
        pytest.fail(f"The site did not answer ({error}): {log.read_text()}", pytrace=False)


@pytest.fixture
def site(server: str, transactional_db: None) -> str:
    """The site's address, with an empty database."""
    return server


@pytest.fixture
def team(site: str) -> Studio:
    """A project and its people on that site."""
    return studio()


@pytest.fixture
def context(profile: BrowserContext, site: str) -> Iterator[BrowserContext]:
    """That profile as if it was new: without cookies, tabs or anything that pages have stored."""
    own_tab, *_ = profile.pages
    profile.clear_cookies()
    stored = {"origin": site, "storageTypes": "local_storage,indexeddb,cache_storage,service_workers"}
    session = profile.new_cdp_session(own_tab)
    session.send("Storage.clearDataForOrigin", stored)
    session.detach()
    yield profile
    profile.set_offline(False)
    profile.unroute_all(behavior="ignoreErrors")
    for tab in profile.pages[1:]:
        tab.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A tab that fails its test when a script breaks or the page's policy refuses something."""
    tab = context.new_page()
    complaints: list[str] = []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("console", lambda line: complaints.append(line.text) if "Content Security Policy" in line.text else None)
    yield tab
    assert not complaints, complaints


def let_in(context: BrowserContext, address: str, user: User) -> None:
    """Signs ``user`` in by giving the browser a session, as the sign-in form would."""
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": address}])


@pytest.fixture
def enter(context: BrowserContext, page: Page, site: str) -> Enter:
    """``enter(user, path)``: the page at ``path`` as ``user`` sees it."""

    def open_as(user: User, path: str = "/") -> Page:
        let_in(context, site, user)
        page.goto(path)
        return page

    return open_as
