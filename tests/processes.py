"""What another process needs to see the database, the folder and the Redis server of this test."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from django.conf import settings


def database_url() -> str:
    """The test database, as ``DATABASE_URL`` names it."""
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        return f"sqlite:///{database['NAME']}"
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{database['NAME']}").geturl()


def environment(redis_url: str) -> dict[str, str]:
    """Environment variables for it."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "webapp.settings",
        "EQUIPOISE_VAR": str(settings.VAR),
        "EQUIPOISE_SECRET_KEY": settings.SECRET_KEY,
        "DATABASE_URL": database_url(),
        "REDIS_URL": redis_url,
    }
