"""Individuals that evolve and individuals that learn, around one critic."""

from __future__ import annotations

from django.apps import AppConfig


class SharedCritic(AppConfig):
    name = "webapp.shared_critic"

    def ready(self) -> None:
        from webapp.shared_critic.parts import Together
        from webapp.studies import kinds

        kinds.register("aes-rl", Together())
