"""What several test folders share."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.conf import settings
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from deploy.up import valkey

# Tests compare bits, and those of a processor are what they were written with.
os.environ["CUDA_VISIBLE_DEVICES"] = ""

# On a busy machine a generated example may take its time: no test fails for that.
hypothesis_settings.register_profile("calm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("calm")


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """A real Redis-compatible server at ``settings.REDIS_URL``; gives its URL."""
    data, listener = settings.VAR / "redis", settings.VAR / "redis.sock"
    data.mkdir()
    with subprocess.Popen(valkey.command(data, listener), stdout=subprocess.DEVNULL) as server:
        while not valkey.answers(listener):
            assert server.poll() is None, "the Redis-compatible server ended at once"
            time.sleep(0.01)
        yield settings.REDIS_URL
        server.kill()


@pytest.fixture
def redis_client(redis_server: str) -> Iterator[redis.Redis]:
    """A connection to the test server, which is empty."""
    with redis.Redis.from_url(redis_server) as client:
        client.flushall()
        yield client


@pytest.fixture
def process_environment(transactional_db: None, redis_server: str) -> dict[str, str]:
    """Environment variables with which another process sees the database and the Redis server of this test."""
    database = Path(settings.DATABASES["default"]["NAME"])
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "webapp.settings",
        "EQUIPOISE_VAR": str(settings.VAR),
        "EQUIPOISE_SECRET_KEY": settings.SECRET_KEY,
        "DATABASE_URL": f"sqlite:///{database}",
        "REDIS_URL": redis_server,
    }
