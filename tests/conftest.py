"""What several test folders share."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator

import pytest
import redis
from django.conf import settings
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from deploy.up import valkey
from tests.processes import environment
from webapp.lib import alive

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
        alive.believe_back()  # an earlier test may have asked for it
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
    return environment(redis_server)
