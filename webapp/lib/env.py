"""Settings from environment variables, with every bad value kept as a sentence instead of a crash.

A setting that cannot be read falls back to its default, so that ``manage.py check`` (which every start runs) can
list all of the bad values at once; see :mod:`webapp.lib.checks`.
"""

from __future__ import annotations

import os
import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from engine.errors import ConfigError
from engine.stores import open_store
from webapp.lib.digits import whole

YES, NO = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}

SQLITE: dict[str, Any] = {
    "ENGINE": "django.db.backends.sqlite3",
    "OPTIONS": {
        # A read-then-write transaction that starts DEFERRED fails at once under a second writer; IMMEDIATE waits.
        "transaction_mode": "IMMEDIATE",
        "timeout": 10,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    },
}

POSTGRESQL = "django.db.backends.postgresql"
NO_PSYCOPG = (
    "names PostgreSQL, and its package is missing. Install it: .venv/bin/python -m pip install psycopg psycopg-binary; "
    "then start again."
)


class Environment:
    """Typed reads of ``os.environ``; ``problems`` collects one sentence for each bad value."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        """The value of ``name``, or ``default`` when it is unset or empty."""
        return os.environ.get(name) or default

    def words(self, name: str, default: str = "") -> list[str]:
        """A list separated by commas."""
        return [word.strip() for word in self.text(name, default).split(",") if word.strip()]

    def flag(self, name: str, default: bool) -> bool:
        """A yes or no: 1, true, yes, on or 0, false, no, off."""
        value = os.environ.get(name, "1" if default else "0").strip().lower()
        if value not in YES | NO:
            self.problems.append(f"{name} is “{value}”; write 1 for yes or 0 for no.")
            return default
        return value in YES

    def count(self, name: str, default: int, lowest: int, highest: int) -> int:
        """A whole number between ``lowest`` and ``highest``."""
        value = self.text(name, str(default))
        number = whole(value, highest)
        if number is not None and number >= lowest:
            return number
        self.problems.append(f"{name} is “{value}”; write a whole number from {lowest} to {highest}.")
        return default

    def store(self, name: str, default: Path) -> str:
        """The address of a store: a folder, or ``s3://bucket/prefix``."""
        value = self.text(name, str(default))
        try:
            return open_store(value).address
        except ConfigError as error:
            self.problems.append(f"{name} cannot be used: {error.problems[0].message}.")
            return str(default)

    def database(self, name: str, default: Path) -> dict[str, Any]:
        """Django's settings for ``postgresql://user:password@host:port/name`` or ``sqlite:////absolute/path``."""
        value = self.text(name)
        if not value:
            return {**SQLITE, "NAME": default}
        try:
            found = _database(value)
        except ValueError:  # a port that is no number, for example
            found = None
        if found is None:
            # The value is not repeated: it may hold a password.
            self.problems.append(f"{name} cannot be read; write postgresql://user:password@host:port/name.")
        elif found["ENGINE"] == POSTGRESQL and find_spec("psycopg") is None:
            self.problems.append(f"{name} {NO_PSYCOPG}")
            found = None
        return found or {**SQLITE, "NAME": default}


def _database(value: str) -> dict[str, Any] | None:
    url = urlsplit(value)
    if url.scheme == "sqlite" and len(url.path) > 1:
        return {**SQLITE, "NAME": url.path[1:]}
    if url.scheme not in {"postgres", "postgresql"} or len(url.path) < 2:
        return None
    return {
        "ENGINE": POSTGRESQL,
        "NAME": unquote(url.path[1:]),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": url.hostname or "",
        "PORT": url.port or "",
        "OPTIONS": dict(parse_qsl(url.query)),
    }


def secret_key(given: str, path: Path) -> str:
    """The key that signs sessions: ``given``, or the one kept in ``path``, which is made (mode 0600) when absent."""
    if given:
        return given
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(50))
        try:
            os.link(draft, path)  # fails, rather than overwrites, when another process was first
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text()
