"""The handshake test of a simulator, as a task of the ``quick`` queue."""

from __future__ import annotations

from typing import Any

from celery.signals import worker_ready
from django.db import connection

from webapp.games import handshake
from workers.app import app


@app.task(name="workers.tasks.handshake")  # type: ignore[untyped-decorator]  # Celery has no types
def run_handshake(simulator: int) -> bool:
    """Test the simulator's handshake if somebody asked for it; False for a second delivery of the same message."""
    return handshake.run(simulator)


def ask_for_built_in_games() -> None:
    """Have the built-in games tested that never were, or that were not installed the last time."""
    for simulator in handshake.built_in_and_unknown():
        if handshake.ask(simulator):
            handshake.send(simulator)


def when_ready(sender: Any, **kwargs: Any) -> None:
    """A worker has started; its connection must not be inherited by the processes it will make."""
    ask_for_built_in_games()
    connection.close()


worker_ready.connect(when_ready, weak=False)
