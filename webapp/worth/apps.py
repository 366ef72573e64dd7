"""Experiments that measure what each piece is worth."""

from __future__ import annotations

from django.apps import AppConfig


class Worth(AppConfig):
    name = "webapp.worth"

    def ready(self) -> None:
        from webapp.studies import kinds
        from webapp.worth.parts import Measuring

        kinds.register("worth", Measuring())
