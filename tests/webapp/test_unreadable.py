"""Forms that cannot be read: their senders are told, wherever they send them."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client

from tests.factories import PASSWORD, person

pytestmark = pytest.mark.django_db
FORM = "application/x-www-form-urlencoded"
MANY_FIELDS = "&".join(f"a{i}=" for i in range(1001)).encode()
PART = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
SENT = {
    "no boundary": (b"--x--", "multipart/form-data; boundary="),
    "a boundary of another alphabet": (b"--x--", "multipart/form-data; boundary=\u00e9"),
    "an endless boundary": (b"--x--", f"multipart/form-data; boundary={'x' * 300}"),
    "nothing of it": (b"", "multipart/form-data; boundary=x"),
    "broken base64": (
        b'--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64\r\n\r\n?\r\n--x--',
        "multipart/form-data; boundary=x",
    ),
    "too many parts": (PART * 1001 + b"--x--", "multipart/form-data; boundary=x"),
    "too many fields": (MANY_FIELDS, FORM),
    "letters of no alphabet": (b"a=\xff", f"{FORM}; charset=nonsense"),
    "too large": (b"a=" + b"x" * settings.DATA_UPLOAD_MAX_MEMORY_SIZE, FORM),
}


@pytest.mark.parametrize("sent", SENT)
@pytest.mark.parametrize("path", ["/nowhere/", "/nowhere", "/admin-tools/people/new/", "/projects/new/", "/sign-in/"])
def test_what_cannot_be_read_is_never_a_fault_of_the_site(path: str, sent: str) -> None:
    person("ines")
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.get("/sign-in/")
    token = {"X-CSRFToken": client.cookies[settings.CSRF_COOKIE_NAME].value}
    assert client.post("/sign-in/", {"username": "ines", "password": PASSWORD}, headers=token).status_code == 302
    token = {"X-CSRFToken": client.cookies[settings.CSRF_COOKIE_NAME].value}
    body, kind = SENT[sent]
    answer = client.generic("POST", path, body, content_type=kind, headers=token)
    assert 400 <= answer.status_code < 500 or answer.status_code in (200, 302), answer.content
    if "nowhere" in path:
        assert answer.status_code == 404
        assert "There is nothing at this address" in answer.content.decode()
