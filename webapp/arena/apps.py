"""Many agents that learn from one another, lesson by lesson."""

from __future__ import annotations

from django.apps import AppConfig


class Arena(AppConfig):
    name = "webapp.arena"

    def ready(self) -> None:
        from webapp.arena.parts import Lessons
        from webapp.studies import kinds

        kinds.register("arena", Lessons())
