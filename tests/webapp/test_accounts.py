"""Signing in and out, the throttle, the demo's passwords, and the operator's pages about people."""

from __future__ import annotations

import io
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import timedelta
from threading import Event, Thread
from typing import Any

import pytest
import uvicorn
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.test import AsyncRequestFactory, Client, override_settings

from deploy.up.web import Protocol
from tests.factories import PASSWORD, Clock, person, signed_in
from webapp.accounts import throttle, views
from webapp.accounts.demo import DEMO_PASSWORD
from webapp.accounts.forms import PersonForm
from webapp.accounts.models import Attempts, User
from webapp.api import tokens
from webapp.lib.reach import came_from_outside
from webapp.lib.taken import checked_again
from webapp.lib.words import NBSP
from webapp.projects.models import Membership, Project

pytestmark = pytest.mark.django_db
NEW_PERSON = {
    "first_name": "Ines",
    "last_name": "Marrow",
    "username": "ines",
    "email": "Ines@Studio.example",
    "password": "lantern-thief-22",
    "is_active": "on",
}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The throttle's time stands still until it is put forward."""
    found = Clock()
    monkeypatch.setattr(throttle, "_now", found)
    return found


def sign_in(client: Client, name: str, password: str = PASSWORD, **more: str) -> str:
    """Sends the sign-in form; the page that came back, or where it leads."""
    answer = client.post("/sign-in/", {"username": name, "password": password, **more})
    return answer.headers.get("Location") or answer.content.decode()


@pytest.mark.parametrize("name", ["ines", "INES", " ines ", "ines@studio.example", "Ines@Studio.Example"])
def test_name_and_email_sign_in_whatever_the_case_of_their_letters(client: Client, name: str) -> None:
    person("ines")
    assert sign_in(client, name) == "/"
    assert client.get("/").status_code == 200


def test_a_wrong_password_is_answered_like_a_name_nobody_has(client: Client) -> None:
    person("ines")
    page = sign_in(client, "ines", "wrong")
    assert "do not belong together" in page
    assert "do not belong together" in sign_in(client, "nobody", "wrong")
    assert "_auth_user_id" not in client.session


def test_an_email_address_cannot_be_shadowed_by_a_user_name(client: Client) -> None:
    operator = person("operator", is_staff=True)
    client.force_login(operator)
    answer = client.post("/admin-tools/people/new/", {**NEW_PERSON, "username": "ines@studio.example"})
    assert answer.status_code == 422
    assert b"has no @ in it" in answer.content


def test_five_wrong_passwords_make_even_the_right_one_wait(client: Client, clock: Clock) -> None:
    person("ines")
    for _ in range(throttle.NAME_AND_ADDRESS.most):
        sign_in(client, "ines", "wrong")
    assert f"Wait 3{NBSP}min," in sign_in(client, "INES")
    assert f"Wait 3{NBSP}min," in sign_in(client, "ines@studio.example")
    clock.forward(timedelta(minutes=2, seconds=50))
    assert f"Wait 10{NBSP}s," in sign_in(client, "ines")
    clock.forward(timedelta(seconds=10))
    assert sign_in(client, "ines") == "/"


@pytest.mark.django_db(transaction=True)
def test_of_wrong_passwords_that_arrive_together_no_more_are_judged_than_of_those_in_a_row(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    person("ines")
    judge, together = ModelBackend.authenticate, Event()

    def slowly(*args: Any, **named: Any) -> Any:
        together.wait(2)  # none is judged before the others have been let in as well
        return judge(*args, **named)

    def guess(number: int) -> str:
        try:
            return sign_in(Client(), "ines", f"wrong {number}")
        finally:
            connection.close()

    monkeypatch.setattr(ModelBackend, "authenticate", slowly)
    with ThreadPoolExecutor(24) as pool:
        pages = list(pool.map(guess, range(24)))
    assert sum("do not belong together" in page for page in pages) == throttle.NAME_AND_ADDRESS.most
    assert sum("Too many wrong passwords" in page for page in pages) == 24 - throttle.NAME_AND_ADDRESS.most


def test_guesses_from_elsewhere_do_not_lock_somebody_out(clock: Clock) -> None:
    person("ines")
    stranger, ines = Client(REMOTE_ADDR="192.0.2.7"), Client(REMOTE_ADDR="192.0.2.1")
    for _ in range(throttle.NAME_AND_ADDRESS.most):
        sign_in(stranger, "ines", "wrong")
    assert "Wait" in sign_in(stranger, "ines")
    assert sign_in(ines, "ines") == "/"


def test_strangers_who_fail_from_one_address_do_not_lock_out_everybody_there(client: Client, clock: Clock) -> None:
    person("ines")
    for number in range(60):
        sign_in(client, f"guess{number}", "wrong")
    assert sign_in(client, "ines") == "/"


def test_an_address_that_fails_without_end_is_slowed_down_to_seconds_not_locked_out(
    client: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    person("ines")
    monkeypatch.setattr(throttle, "ADDRESS", throttle.Limit("address", 30))  # as with 300, in a tenth of the requests
    for number in range(30):
        assert "do not belong together" in sign_in(client, f"guess{number}", "wrong")
    assert f"Wait 30{NBSP}s," in sign_in(client, "ines")
    clock.forward(timedelta(seconds=30))
    assert sign_in(client, "ines") == "/"


def test_nobody_can_keep_a_person_out_of_a_browser_in_which_they_signed_in_before(client: Client, clock: Clock) -> None:
    person("ines")
    assert sign_in(client, "ines") == "/"
    client.post("/sign-out/")
    stranger = Client()
    for _ in range(throttle.NAME_AND_ADDRESS.most):
        sign_in(stranger, "ines", "wrong")
    assert "Wait" in sign_in(stranger, "ines")
    assert sign_in(client, "ines") == "/"


def keep_out(name: str) -> None:
    """What a stranger does who guesses from more networks than it takes until the name takes no more."""
    for number in range(throttle.NAME.most // throttle.NAME_AND_ADDRESS.most + 5):
        stranger = Client(REMOTE_ADDR=f"198.51.{number}.7")
        while "do not belong together" in sign_in(stranger, name, "wrong"):
            pass


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8:7::1"])
def test_nobody_can_keep_a_person_out_of_a_new_browser(clock: Clock, address: str) -> None:
    person("ines")
    keep_out("ines")
    for _ in range(2):  # what was right costs nothing
        assert sign_in(Client(REMOTE_ADDR=address), "ines") == "/"


def test_one_wrong_password_a_day_from_a_network_is_judged_while_a_name_takes_no_more(clock: Clock) -> None:
    person("ines")
    keep_out("ines")
    for one, other in (("192.0.2.1", "192.0.2.200"), ("2001:db8:7::1", "2001:db8:7:9::1"), ("::1", "::2")):
        assert "do not belong together" in sign_in(Client(REMOTE_ADDR=one), "ines", "wrong")
        assert "Too many wrong passwords" in sign_in(Client(REMOTE_ADDR=other), "ines", "wrong")


@pytest.mark.django_db(transaction=True)
def test_of_first_attempts_from_a_network_that_arrive_together_one_is_judged(clock: Clock) -> None:
    person("ines")
    keep_out("ines")

    def guess(number: int) -> str:
        try:
            return sign_in(Client(REMOTE_ADDR=f"192.0.2.{number}"), "ines", "wrong")
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        pages = list(pool.map(guess, range(12)))
    assert sum("do not belong together" in page for page in pages) == 1


def test_a_browser_somebody_signed_in_at_gives_its_next_visitor_no_more_guesses(client: Client, clock: Clock) -> None:
    person("ines")
    person("tomas")
    sign_in(client, "tomas")
    client.post("/sign-out/")
    for name in ("tomas", "ines"):
        for _ in range(throttle.NAME_AND_DEVICE.most):
            assert "do not belong together" in sign_in(client, name, "wrong")
        assert "Wait" in sign_in(client, name)


def test_a_made_up_mark_of_a_browser_counts_for_nothing(client: Client, clock: Clock) -> None:
    person("ines")
    for _ in range(throttle.NAME_AND_ADDRESS.most):
        client.cookies[settings.DEVICE_COOKIE_NAME] = "made-up:1abc:x"
        sign_in(client, "ines", "wrong")
    assert "Wait" in sign_in(client, "ines")


def test_the_right_password_forgives_earlier_slips(client: Client, clock: Clock) -> None:
    person("ines")
    for _ in range(2):
        for _ in range(throttle.NAME_AND_ADDRESS.most - 1):
            assert "do not belong together" in sign_in(client, "ines", "wrong")
        assert sign_in(client, "ines") == "/"
        client = Client()


def test_what_was_typed_as_a_name_is_not_kept(client: Client, clock: Clock) -> None:
    sign_in(client, "my-secret-passphrase", "wrong")
    assert Attempts.objects.exists()
    assert "secret" not in str(list(Attempts.objects.values()))


def test_the_old_password_is_guessed_at_no_faster_than_at_the_door(client: Client, clock: Clock) -> None:
    client.force_login(person("ines"))
    new = {"new_password1": "lantern-thief-22", "new_password2": "lantern-thief-22"}
    for _ in range(throttle.OLD_PASSWORD.most):
        client.post("/account/password/", {"old_password": "wrong", **new})
    answer = client.post("/account/password/", {"old_password": PASSWORD, **new})
    assert "Too many wrong passwords" in answer.content.decode()


def test_sign_in_leads_back_to_the_page_asked_for_but_never_off_the_site(client: Client) -> None:
    person("ines")
    assert client.get("/projects/new/").headers["Location"] == "/sign-in/?next=/projects/new/"
    assert sign_in(client, "ines", next="/projects/new/") == "/projects/new/"
    client.post("/sign-out/")
    assert sign_in(client, "ines", next="https://elsewhere.example/") == "/"


def test_signing_out_needs_a_post(client: Client) -> None:
    client.force_login(person("ines"))
    assert client.get("/sign-out/")["Location"] == "/"
    assert client.post("/sign-out/").headers["Location"] == "/sign-in/"
    assert "_auth_user_id" not in client.session


AT_HOME = {"headers": {"host": "127.0.0.1:8000"}}


def test_demo_passwords_work_only_while_the_settings_allow_them() -> None:
    User.objects.create_user("designer", "designer@example.com", DEMO_PASSWORD)
    client = Client(**AT_HOME)  # type: ignore[arg-type]
    with override_settings(DEMO_PASSWORDS=False):
        assert "no other can reach the site" in sign_in(client, "designer@example.com", DEMO_PASSWORD)
        assert DEMO_PASSWORD not in client.get("/sign-in/").content.decode()
    with override_settings(DEMO_PASSWORDS=True):
        assert DEMO_PASSWORD in client.get("/sign-in/").content.decode()
        assert sign_in(client, "designer", DEMO_PASSWORD) == "/"


@pytest.mark.parametrize(
    "request_of",
    [
        {"headers": {"host": "balance.example.org"}},
        {"headers": {"host": "127.0.0.1:8000", "x-forwarded-for": "192.0.2.7"}},
        {"headers": {"host": "127.0.0.1:8000", "x-forwarded-proto": "https"}},
        {"headers": {"host": "127.0.0.1:8000", "forwarded": "for=192.0.2.7"}},
        {"headers": {"host": "127.0.0.1:8000", "x-real-ip": "192.0.2.7"}},
        {"headers": {"host": "127.0.0.1:8000", "via": "1.1 proxy"}},
        {"headers": {"host": "127.0.0.1:8000", "origin": "https://balance.example.org"}},
        {"headers": {"host": "127.0.0.1:8000", "referer": "https://balance.example.org/sign-in/"}},
        {"headers": {"host": "127.0.0.1:8000", "referer": "http://[broken"}},
        {"headers": {"host": "127.0.0.1:8000", "sec-fetch-site": "cross-site"}},
        {"headers": {}, "SERVER_NAME": "127.0.0.1"},
        {"headers": {"host": "127.0.0.1:8000"}, "REMOTE_ADDR": "192.0.2.7"},
        {"headers": {"host": "127.0.0.1:8000"}, "REMOTE_ADDR": ""},
    ],
    ids=str,
)
@override_settings(DEMO_PASSWORDS=True, ALLOWED_HOSTS=["*"])
def test_a_request_that_may_come_from_elsewhere_neither_sees_the_demo_password_nor_gets_in_with_it(
    request_of: dict[str, Any],
) -> None:
    User.objects.create_user("designer", "designer@example.com", DEMO_PASSWORD)
    User.objects.create_user("renamed", "renamed@example.com", DEMO_PASSWORD)
    client = Client(**request_of)
    page = client.get("/sign-in/").content.decode()
    assert DEMO_PASSWORD not in page
    assert "Look around as" not in page
    for name in ("designer", "renamed"):
        assert "no other can reach the site" in sign_in(client, name, DEMO_PASSWORD)
    assert "_auth_user_id" not in client.session


@override_settings(DEMO_PASSWORDS=True, ALLOWED_HOSTS=["*"])
def test_a_right_demo_password_that_is_refused_is_no_wrong_one() -> None:
    User.objects.create_user("designer", "designer@example.com", DEMO_PASSWORD)
    client = Client(headers={"host": "balance.example.org"})
    for _ in range(2 * throttle.NAME_AND_ADDRESS.most):
        assert "no other can reach the site" in sign_in(client, "designer", DEMO_PASSWORD)
    for _ in range(throttle.NAME_AND_ADDRESS.most):
        assert "do not belong together" in sign_in(client, "designer", "a guess")
    assert "Too many wrong passwords" in sign_in(client, "designer", DEMO_PASSWORD)


@pytest.mark.parametrize(("version", "outside"), [("1.0", True), ("1.1", False)])
def test_a_proxy_that_adds_no_header_is_known_by_its_http_1_0(version: str, outside: bool) -> None:
    request = AsyncRequestFactory().get("/sign-in/")
    request.META["HTTP_HOST"] = "127.0.0.1:8000"
    request.scope["http_version"] = version
    assert came_from_outside(request) == outside


@pytest.mark.parametrize(
    "name",
    ["X-Host", "X-Scheme", "X-Url-Scheme", "Front-End-Https", "Client-IP", "X-Client-IP", "Fastly-Client-IP",
     "X-ProxyUser-Ip", "X-Amzn-Trace-Id", "Ngrok-Auth-User-Email", "Tailscale-User-Login", "X-Forward-For",
     "X-Forwarded", "X_Forwarded_For", "x_real_ip", "Proxy-Connection", "X-Azure-ClientIP", "X-ARR-LOG-ID",
     "X-Traefik-Router", "X-Varnish", "CDN-Loop", "Akamai-Origin-Hop", "X-Appengine-Country", "X-Cloud-Trace-Context",
     "X-Vercel-Id", "X-NginX-Proxy", "X-Haproxy-Unique-Id", "X-Request-Id", "X-Request-Start", "Traceparent",
     "X-B3-TraceId", "X-Remote-Addr", "Remote-Addr", "SSL-Client-Cert", "X-SSL", "Surrogate-Capability",
     "X-Accel-Internal", "Proxy-Authorization", "HTTP_X_FORWARDED_FOR", "X-Remote-IP", "X-Sucuri-ClientIP",
     "X-Appengine-User-IP", "Max-Forwards", "X-Of-A-Proxy-That-Nobody-Knows-Yet"],
)  # fmt: skip
def test_a_header_that_no_browser_sends_is_a_sign_of_a_proxy_also_with_underscores(name: str) -> None:
    sent = [(b"host", b"127.0.0.1:8000"), (name.lower().encode(), b"anything")]
    scope = {**AsyncRequestFactory().get("/sign-in/").scope, "headers": sent}
    assert came_from_outside(ASGIRequest(scope, io.BytesIO()))
    scope["headers"] = sent[:1]
    assert not came_from_outside(ASGIRequest(scope, io.BytesIO()))


BY_BROWSERS = {
    "chromium, which opens the page": "Host Connection Cache-Control Sec-CH-UA Sec-CH-UA-Mobile Sec-CH-UA-Platform DNT "
    "Upgrade-Insecure-Requests User-Agent Accept Sec-Fetch-Site Sec-Fetch-Mode Sec-Fetch-User Sec-Fetch-Dest "
    "Accept-Encoding Accept-Language Cookie If-None-Match If-Modified-Since",
    "chromium, which signs in": "Host Connection Content-Length Origin Content-Type Referer Sec-GPC Cookie",
    "firefox": "Host User-Agent Accept Accept-Language Accept-Encoding Connection Cookie Upgrade-Insecure-Requests "
    "Sec-Fetch-Dest Sec-Fetch-Mode Sec-Fetch-Site Sec-Fetch-User Priority Pragma Cache-Control TE",
    "safari": "Host User-Agent Accept Accept-Language Accept-Encoding Connection Sec-Fetch-Mode Priority",
    "curl": "Host User-Agent Accept Content-Type Content-Length Expect Upgrade HTTP2-Settings Connection",
    "our pages' scripts": "Host HX-Request HX-Current-URL HX-Target X-CSRFToken X-Requested-With Last-Event-ID",
}


@pytest.mark.parametrize("names", BY_BROWSERS.values(), ids=BY_BROWSERS)
def test_what_browsers_and_our_pages_send_is_no_sign_of_a_proxy(names: str) -> None:
    values = {"host": b"127.0.0.1:8000", "origin": b"http://127.0.0.1:8000", "referer": b"http://127.0.0.1:8000/"}
    sent = [(name.encode(), values.get(name, b"none")) for name in names.lower().split()]
    scope = {**AsyncRequestFactory().get("/sign-in/").scope, "headers": sent}
    assert not came_from_outside(ASGIRequest(scope, io.BytesIO()))


@pytest.mark.parametrize(("target", "said"), [("/sign-in/", b"home"), ("http://127.0.0.1:8000/sign-in/", b"outside")])
def test_a_whole_address_in_the_request_line_is_known_behind_the_web_server(target: str, said: bytes) -> None:
    async def tell(scope: Any, receive: Any, send: Any) -> None:
        body = b"outside" if came_from_outside(ASGIRequest(scope, io.BytesIO())) else b"home"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(tell, http=Protocol, lifespan="off", log_config=None))
    serving = Thread(target=server.run, kwargs={"sockets": [listener]})
    serving.start()
    try:
        with socket.create_connection(listener.getsockname()) as asking:
            asking.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nConnection: close\r\n\r\n".encode())
            answer = b"".join(iter(lambda: asking.recv(4096), b""))
    finally:
        server.should_exit = True
        serving.join()
    assert answer.split(b"\r\n\r\n", 1)[1].find(said) >= 0


def test_nobody_can_choose_the_demo_password(client: Client) -> None:
    client.force_login(person("ines"))
    fields = {"old_password": PASSWORD, "new_password1": DEMO_PASSWORD, "new_password2": DEMO_PASSWORD}
    assert "which everybody knows" in client.post("/account/password/", fields).content.decode()
    assert User.objects.get().check_password(PASSWORD)


def test_a_demo_account_with_a_password_of_its_own_is_an_account_like_others(client: Client) -> None:
    User.objects.create_user("designer", "designer@example.com", PASSWORD)
    with override_settings(DEMO_PASSWORDS=False):
        assert sign_in(client, "designer") == "/"


def test_an_account_that_is_switched_off_cannot_sign_in(client: Client) -> None:
    person("ines", is_active=False)
    assert "do not belong together" in sign_in(client, "ines")


def test_changing_the_password_needs_the_old_one(client: Client) -> None:
    ines = person("ines")
    client.force_login(ines)
    fields = {"old_password": "wrong", "new_password1": "lantern-thief-22", "new_password2": "lantern-thief-22"}
    client.post("/account/password/", fields)
    assert not User.objects.get().check_password("lantern-thief-22")
    answer = client.post("/account/password/", {**fields, "old_password": PASSWORD})
    assert answer.headers["Location"] == "/"
    assert User.objects.get().check_password("lantern-thief-22")
    assert client.get("/").status_code == 200


@pytest.mark.parametrize(("keep", "working"), [({}, False), ({"keeps_tokens": "on"}, True)], ids=["ends", "kept"])
def test_api_tokens_end_with_a_password_change_unless_they_are_kept(
    client: Client, keep: dict[str, str], working: bool
) -> None:
    ines = person("ines")
    text = tokens.make(ines, "a build", None, 30)[1]
    client.force_login(ines)
    fields = {"old_password": PASSWORD, "new_password1": "lantern-thief-22", "new_password2": "lantern-thief-22"}
    page = client.post("/account/password/", {**fields, **keep}, follow=True).content.decode()
    assert ("Your API tokens ended" in page) != working
    assert token_works(text) == working


@pytest.mark.parametrize(("keep", "working"), [({}, False), ({"keeps_tokens": "on"}, True)], ids=["ends", "kept"])
def test_api_tokens_end_with_a_password_from_an_operator_unless_they_are_kept(
    client: Client, keep: dict[str, str], working: bool
) -> None:
    client.force_login(person("operator", is_staff=True))
    ines = person("ines")
    text = tokens.make(ines, "a build", None, 30)[1]
    client.post(f"/admin-tools/people/{ines.pk}/", {**NEW_PERSON, "password": ""})
    assert token_works(text)
    client.post(f"/admin-tools/people/{ines.pk}/", {**NEW_PERSON, **keep})
    assert token_works(text) == working


def test_api_tokens_end_with_a_password_set_on_the_command_line() -> None:
    ines = person("ines")
    text = tokens.make(ines, "a build", None, 30)[1]
    ines.set_password("lantern-thief-22")
    ines.save()
    assert not token_works(text)


def token_works(text: str) -> bool:
    return Client().get("/api/v1/projects", headers={"Authorization": f"Bearer {text}"}).status_code == 200


def test_scripts_of_somebody_signed_out_get_401_instead_of_a_page(client: Client) -> None:
    by_script = client.get("/", headers={"Sec-Fetch-Dest": "empty"})
    by_htmx = client.get("/", headers={"HX-Request": "true"})
    assert (by_script.status_code, by_htmx.status_code) == (401, 401)
    assert by_htmx.headers["HX-Refresh"] == "true"


def test_an_operator_makes_an_account_that_can_sign_in(client: Client) -> None:
    client.force_login(person("operator", is_staff=True))
    assert client.post("/admin-tools/people/new/", NEW_PERSON).headers["Location"] == "/admin-tools/people/"
    ines = User.objects.get(username="ines")
    assert (ines.email, ines.is_staff) == ("ines@studio.example", False)
    assert sign_in(Client(), "ines", NEW_PERSON["password"]) == "/"


def test_people_are_listed_where_they_have_more_projects_than_one_query_can_name(client: Client) -> None:
    operator = person("operator", is_staff=True)
    projects = Project.objects.bulk_create(Project(name=f"Game {i}", slug=f"game-{i}") for i in range(1_100))
    Membership.objects.bulk_create(Membership(project=each, user=operator, role="owner") for each in projects)
    client.force_login(operator)
    assert b"Owner of Game 1099" in client.get("/admin-tools/people/").content


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"password": "ines"}, b"too short"),
        ({"password": ""}, b"required"),
        ({"username": "OPERATOR"}, b"Somebody already has this user name"),
        ({"email": "OPERATOR@studio.example"}, b"Somebody already has an account with this address"),
        ({"email": "nowhere"}, b"valid email"),
    ],
)
def test_a_bad_account_is_told_at_the_field(client: Client, change: dict[str, str], problem: bytes) -> None:
    client.force_login(person("operator", is_staff=True))
    answer = client.post("/admin-tools/people/new/", {**NEW_PERSON, **change})
    assert answer.status_code == 422
    assert problem in answer.content
    assert not User.objects.filter(username="ines").exists()


def test_saving_an_account_without_a_password_keeps_the_old_one(client: Client) -> None:
    client.force_login(person("operator", is_staff=True))
    ines = person("ines")
    client.post(f"/admin-tools/people/{ines.pk}/", {**NEW_PERSON, "password": "", "is_staff": "on"})
    ines.refresh_from_db()
    assert ines.check_password(PASSWORD)
    assert ines.is_staff
    assert ines.first_name == "Ines"


def test_a_new_password_from_an_operator_replaces_the_old_one(client: Client) -> None:
    client.force_login(person("operator", is_staff=True))
    ines = person("ines")
    client.post(f"/admin-tools/people/{ines.pk}/", NEW_PERSON)
    ines.refresh_from_db()
    assert ines.check_password(NEW_PERSON["password"])


def test_an_operator_cannot_take_the_own_rights(client: Client) -> None:
    operator = person("operator", is_staff=True)
    client.force_login(operator)
    answer = client.post(f"/admin-tools/people/{operator.pk}/", {**NEW_PERSON, "password": ""})
    assert answer.status_code == 422
    assert b"Ask another operator" in answer.content
    operator.refresh_from_db()
    assert operator.is_staff
    assert operator.username == "operator"


def test_what_the_signed_in_see_is_kept_by_no_browser(client: Client) -> None:
    client.force_login(person("somebody"))
    for address in ("/", "/help/", "/account/password/", "/nowhere/", "/p/nowhere/"):
        assert client.get(address)["Cache-Control"] == "private, no-store", address
    assert client.post("/sign-out/")["Cache-Control"]


@pytest.mark.parametrize(
    ("taken", "problem"),
    [
        ({"username": "ines"}, b"Somebody already has this user name"),
        ({"email": "ines@studio.example"}, b"Somebody already has an account with this address"),
    ],
)
def test_a_name_that_somebody_takes_while_an_account_is_saved_is_an_error_at_its_field(
    client: Client, monkeypatch: pytest.MonkeyPatch, taken: dict[str, str], problem: bytes
) -> None:
    client.force_login(person("operator", is_staff=True))
    other = person("other")

    def late(form: PersonForm) -> AbstractContextManager[None]:
        User.objects.filter(pk=other.pk).update(**taken)
        return checked_again(form)

    monkeypatch.setattr(views, "checked_again", late)
    for place in ("new", str(person("third").pk)):
        User.objects.filter(pk=other.pk).update(username="other", email="other@studio.example")
        answer = client.post(f"/admin-tools/people/{place}/", NEW_PERSON)
        assert answer.status_code == 422, place
        assert problem in answer.content


def test_whoever_was_switched_off_is_signed_out_for_good_and_has_no_tokens_and_the_page_says_so_before() -> None:
    operator, ines, other = (person(name, is_staff=name == "operator") for name in ("operator", "ines", "mira"))
    browsers = {each: signed_in(each) for each in (ines, other)}
    texts = {each: tokens.make(each, "ci", None, 30)[1] for each in (ines, other)}
    fields = {**NEW_PERSON, "email": ines.email, "password": ""}
    page = signed_in(operator)
    said = page.get(f"/admin-tools/people/{ines.pk}/").content.decode()
    assert "signed out in every browser and their API tokens end" in said
    for active in ({"is_active": ""}, {"is_active": "on"}):
        assert page.post(f"/admin-tools/people/{ines.pk}/", {**fields, **active}).status_code == 302
    assert {each.username: browsers[each].get("/").status_code for each in browsers} == {"ines": 302, "mira": 200}
    assert [tokens.owner(texts[each]) for each in (ines, other)] == [None, other.pk]
    assert sign_in(Client(), "ines") == "/"
