"""The people of the demo project. Their known password works on the machine itself only."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from webapp.accounts import rights
from webapp.accounts.models import User
from webapp.lib.reach import came_from_outside

DEMO_PASSWORD = "equipoise-demo"


@dataclass(frozen=True)
class DemoPerson:
    """``role`` is a project role; None is the site operator, who is in no project. ``registers``: may register
    simulators."""

    username: str
    first_name: str
    last_name: str
    role: str | None
    registers: bool = False

    @property
    def email(self) -> str:
        return f"{self.username}@example.com"


DEMO_PEOPLE = (
    DemoPerson("owner", "Olga", "Winter", "owner"),
    DemoPerson("designer", "Ines", "Marrow", "designer"),
    DemoPerson("producer", "Tomas", "Berg", "producer"),
    DemoPerson("engineer", "Piotr", "Lind", "engineer", registers=True),
    DemoPerson("operator", "Sana", "Okoye", None),
)
DEMO_PASSWORD_REFUSED = "This is the password of the demo accounts, which everybody knows. Choose another."
DEMO_NAMES = frozenset(person.username for person in DEMO_PEOPLE)


@dataclass(frozen=True)
class SignIn:
    """What to print: ``password`` is None when the person has chosen another."""

    username: str
    password: str | None


class NotTheDemoPassword:
    """A password validator: whoever chose the known password would be locked out once others can reach the site."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Raises ValidationError for the demo accounts' password."""
        if password == DEMO_PASSWORD:
            raise ValidationError(DEMO_PASSWORD_REFUSED, code="demo")

    def get_help_text(self) -> str:
        """Said by the other validators' texts already."""
        return ""


def known_password_works(request: HttpRequest | None) -> bool:
    """Whether the password that everybody knows signs in: only by a request that nothing says came from elsewhere."""
    return settings.DEMO_PASSWORDS and not (request is not None and came_from_outside(request))


def _drawn_file() -> Path:
    return Path(settings.VAR) / "demo-passwords.json"


def _drawn_passwords() -> dict[str, str]:
    """Passwords drawn for this site when other machines may reach it; the same at every start, readable by us only."""
    file = _drawn_file()
    try:
        known: dict[str, str] = json.loads(file.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        known = {}
    if known.keys() >= DEMO_NAMES:
        return known
    drawn = {name: known.get(name) or secrets.token_urlsafe(9) for name in sorted(DEMO_NAMES)}
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as target:
        json.dump(drawn, target)
    return drawn


def make_person(person: DemoPerson) -> tuple[User, SignIn]:
    """The account of a demo person, made where it is missing, with the password that works under these settings.

    A password that the person chose is left alone.
    """
    user, made = User.objects.get_or_create(
        username=person.username,
        defaults={
            "first_name": person.first_name,
            "last_name": person.last_name,
            "email": person.email,
            "is_staff": person.role is None,
        },
    )
    if person.registers and not user.audit.exists():  # an operator who withdrew it does not find it given again
        rights.grant(user, None, "with the demo project")
    drawn = "" if settings.DEMO_PASSWORDS and not _drawn_file().exists() else _drawn_passwords()[person.username]
    wanted, other = (DEMO_PASSWORD, drawn) if settings.DEMO_PASSWORDS else (drawn, DEMO_PASSWORD)
    if not made and user.check_password(wanted):
        return user, SignIn(person.username, wanted)
    if not made and not (other and user.check_password(other)):
        return user, SignIn(person.username, None)
    user.set_password(wanted)
    user.save(update_fields=["password"])
    return user, SignIn(person.username, wanted)


def close_known_passwords() -> None:
    """Others can reach the site and no demo is wanted: demo accounts of earlier starts lose the known password, and
    with it their sessions and API tokens."""
    there = set(User.objects.filter(username__in=DEMO_NAMES).values_list("username", flat=True))
    for person in DEMO_PEOPLE:
        if person.username in there:
            make_person(person)
