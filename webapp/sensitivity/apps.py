"""Sensitivities: how hard did we look?"""

from __future__ import annotations

from django.apps import AppConfig


class Sensitivity(AppConfig):
    name = "webapp.sensitivity"

    def ready(self) -> None:
        from webapp.sensitivity.parts import Planting
        from webapp.studies import kinds

        kinds.register("sensitivity", Planting())
