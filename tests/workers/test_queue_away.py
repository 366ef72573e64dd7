"""Sending a job while the Redis-compatible server is in trouble: the sender goes on, and the job is sent later."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.own_redis import OwnRedis

SEND = "from workers.app import enqueue; print(enqueue('run_job', 1))"


def send(server: OwnRedis) -> str:
    """What a process that sends a job says."""
    environment = {**os.environ, "REDIS_URL": server.url, "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    done = subprocess.run(
        [sys.executable, "-c", SEND], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[OwnRedis]:
    running = OwnRedis(tmp_path)
    yield running
    running.end()


def test_a_server_that_hangs_does_not_keep_the_sender_waiting(server: OwnRedis) -> None:
    assert send(server) == "True"
    server.freeze()
    assert send(server) == "False"
    server.thaw()
    assert send(server) == "True"
