"""``manage.py demo``: the demo project, and on standard output how to sign in to it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from webapp.projects.demo import make_demo
from workers import runner


class Command(BaseCommand):
    help = "Makes the demo project, its people and its first search where they are missing, and prints the sign-ins."

    def handle(self, *args: Any, **options: Any) -> None:
        made = make_demo()
        if made.job and not made.job.terminal:
            runner.run(made.job.pk)
        self.stdout.write("Sign in with user name and password:")
        width = max(len(sign_in.username) for sign_in in made.sign_ins)
        for sign_in in made.sign_ins:
            self.stdout.write(f"  {sign_in.username:<{width}}  {sign_in.password or '(the password they chose)'}")
        if settings.DEMO_PASSWORDS:
            self.stdout.write("These passwords work on this machine only.")
        if made.obstacle:
            self.stdout.write(made.obstacle)
