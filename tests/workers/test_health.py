"""The health page against a real Redis-compatible server."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import redis
from django.test import Client
from pytest_django.fixtures import Settings

from webapp.lib import alive

pytestmark = pytest.mark.django_db


def test_health_names_every_part_that_is_missing(client: Client, redis_client: redis.Redis) -> None:
    answer = client.get("/health/")
    assert answer.status_code == 503
    parts = answer.json()["parts"]
    assert parts["database"] == parts["redis"] == "ok"
    assert parts["ray"] == "has not started"
    assert parts["workers"] == "no sign of worker-jobs and worker-quick"
    assert parts["reconciler"] == "no sign of reconciler"


def test_health_is_200_once_every_part_gave_a_sign(
    client: Client, redis_client: redis.Redis, settings: Settings, tmp_path: Path
) -> None:
    for part in (*alive.WORKERS, alive.RECONCILER):
        alive.beat(part)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        settings.RAY_ADDRESS_FILE = tmp_path / "ray_address"
        settings.RAY_ADDRESS_FILE.write_text(f"127.0.0.1:{listener.getsockname()[1]}\n")
        assert client.get("/health/").json() == {
            "ok": True,
            "parts": dict.fromkeys(("database", "redis", "ray", "workers", "reconciler", "disk"), "ok"),
        }
