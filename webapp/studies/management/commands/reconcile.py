"""``manage.py reconcile``: the loop that sees to it that what should run does."""

from __future__ import annotations

import time
from typing import Any

import structlog
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connection

from webapp.lib import alive
from workers.collect import collect
from workers.reconcile import reconcile

log = structlog.get_logger(__name__)

COLLECT_EVERY = 1800.0


class Command(BaseCommand):
    help = "Sends jobs that nobody runs to the workers, every few seconds, and gives back storage."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--every", type=float, default=10.0, help="Seconds between two rounds.")
        parser.add_argument("--once", action="store_true", help="One round, then end.")

    def handle(self, *args: Any, **options: Any) -> None:
        collected = time.monotonic()
        while True:
            try:
                reconcile()
                if time.monotonic() - collected > COLLECT_EVERY:
                    collect()
                    collected = time.monotonic()
            except (DatabaseError, OSError):  # it does not answer, or there is no room on the disk
                log.exception("this round was not completed; the next one tries again")
                connection.close()
            if options["once"]:
                return
            alive.beat(alive.RECONCILER)
            time.sleep(options["every"])
