"""``manage.py demo``: the demo project, and on standard output how to sign in to it."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from webapp.accounts.demo import SignIn, close_known_passwords
from webapp.studies.demo import first_job, make_demo
from webapp.studies.models import Job
from workers import runner, tasks

LONGEST_S = 600.0
"""Seconds to wait for a job that a worker of the site has taken. One that people paused is theirs."""


def play(number: int) -> None:
    """Run a job to its end, here or wherever it has been taken meanwhile, and work out what pages say of it."""
    runner.run(number)
    deadline = time.monotonic() + LONGEST_S
    while Job.objects.get(pk=number).active and time.monotonic() < deadline:
        time.sleep(0.2)
    tasks.reckon(number)


class Command(BaseCommand):
    help = "Makes the demo project, its people and its first search where they are missing, and prints the sign-ins."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--close", action="store_true", help="Only take the known password from demo accounts that are there."
        )
        parser.add_argument("--without-search", action="store_true", help="Leave the first search for later.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["close"]:
            close_known_passwords()
            return
        made = make_demo()
        self._tell(made.sign_ins)
        if made.obstacle:
            self.stdout.write(made.obstacle)
        elif not options["without_search"]:
            job = first_job(made.project, made.designer, play)
            if job.active:
                play(job.pk)

    def _tell(self, sign_ins: list[SignIn]) -> None:
        self.stdout.write("Sign in with user name and password:")
        width = max(len(sign_in.username) for sign_in in sign_ins)
        for sign_in in sign_ins:
            self.stdout.write(f"  {sign_in.username:<{width}}  {sign_in.password or '(the password they chose)'}")
        if settings.DEMO_PASSWORDS:
            self.stdout.write("These passwords are for this machine alone.")
            self.stdout.write("Before others reach the site through a proxy, set EQUIPOISE_HOSTS (deploy/README.md).")
