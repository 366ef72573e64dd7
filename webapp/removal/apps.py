"""Removal tests: what is left without a suspect."""

from __future__ import annotations

from django.apps import AppConfig


class Removal(AppConfig):
    name = "webapp.removal"

    def ready(self) -> None:
        from webapp.removal.parts import Removing
        from webapp.studies import kinds

        kinds.register("removal", Removing())
