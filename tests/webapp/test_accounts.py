"""Signing in and out, the throttle, the demo's passwords, and the operator's pages about people."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from tests.factories import PASSWORD, person
from webapp.accounts import throttle
from webapp.accounts.demo import DEMO_PASSWORD
from webapp.accounts.models import SignInFailure, User

pytestmark = pytest.mark.django_db
NEW_PERSON = {
    "first_name": "Ines",
    "last_name": "Marrow",
    "username": "ines",
    "email": "Ines@Studio.example",
    "password": "lantern-thief-22",
    "is_active": "on",
}


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


def test_five_wrong_passwords_make_even_the_right_one_wait(client: Client) -> None:
    person("ines")
    for _ in range(throttle.PER_NAME_AND_ADDRESS):
        sign_in(client, "ines", "wrong")
    assert "Wait 15 minutes" in sign_in(client, "INES")
    SignInFailure.objects.update(at=timezone.now() - throttle.WINDOW + timedelta(seconds=50))
    assert "Wait 1 minute," in sign_in(client, "ines")
    SignInFailure.objects.update(at=timezone.now() - throttle.WINDOW)
    assert sign_in(client, "ines") == "/"


def test_guesses_from_elsewhere_do_not_lock_somebody_out() -> None:
    person("ines")
    stranger, ines = Client(REMOTE_ADDR="192.0.2.7"), Client(REMOTE_ADDR="192.0.2.1")
    for _ in range(throttle.PER_NAME_AND_ADDRESS):
        sign_in(stranger, "ines", "wrong")
    assert "Wait" in sign_in(stranger, "ines")
    assert sign_in(ines, "ines") == "/"


def test_one_address_cannot_try_many_names(client: Client) -> None:
    person("ines")
    for number in range(throttle.PER_ADDRESS):
        sign_in(client, f"guess{number}", "wrong")
    assert "Wait" in sign_in(client, "ines")


def test_the_right_password_forgives_earlier_slips(client: Client) -> None:
    person("ines")
    for _ in range(throttle.PER_NAME_AND_ADDRESS - 1):
        sign_in(client, "ines", "wrong")
    sign_in(client, "ines")
    assert not SignInFailure.objects.exists()


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


def test_demo_passwords_work_only_while_the_settings_allow_them(client: Client) -> None:
    User.objects.create_user("designer", "designer@example.com", DEMO_PASSWORD)
    with override_settings(DEMO_PASSWORDS=False):
        assert "this machine alone" in sign_in(client, "designer@example.com", DEMO_PASSWORD)
        assert DEMO_PASSWORD not in client.get("/sign-in/").content.decode()
    with override_settings(DEMO_PASSWORDS=True):
        assert DEMO_PASSWORD in client.get("/sign-in/").content.decode()
        assert sign_in(client, "designer", DEMO_PASSWORD) == "/"


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
