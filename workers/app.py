"""The Celery application: two queues, and tasks known by name only.

The site imports this module to send tasks, so it imports neither models nor tasks. ``jobs`` carries searches that
run for hours; ``quick`` carries what takes seconds, and what a night job must never block: handshakes, samples, PDF
files, and what pages say of jobs that have ended.
"""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import heartbeat_sent
from kombu.exceptions import OperationalError
from redis import RedisError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

app = Celery("equipoise")
app.config_from_object("django.conf:settings", namespace="CELERY")


def enqueue(task: str, *arguments: int | str) -> bool:
    """Send ``workers.tasks.<task>`` to its queue; False when Redis is away, hangs, or takes nothing (a full disk).

    A caller may ignore False: the row in the database says what is to be done, and the reconciler sends it again.
    Celery would wait for a server that hangs, each time anew; so whether it answers is asked first.
    """
    from webapp.lib import alive

    try:
        alive.ask(lambda server: server.ping())
        app.send_task(f"workers.tasks.{task}", args=arguments, retry=False)
    except (OperationalError, RedisError):
        return False
    return True


def give_sign_of_life(sender: Any, **kwargs: Any) -> None:
    """Tell the health page, every two seconds, that this worker reads its queue."""
    from webapp.lib import alive

    alive.beat(f"worker-{sender.eventer.hostname.partition('@')[0]}")


heartbeat_sent.connect(give_sign_of_life, weak=False)
