"""Evaluations: policies that play each other."""

from __future__ import annotations

from django.apps import AppConfig


class Evaluations(AppConfig):
    name = "webapp.evaluations"

    def ready(self) -> None:
        from webapp.evaluations.parts import Evaluating
        from webapp.studies import kinds

        kinds.register("evaluate", Evaluating())
