"""Hunts for bugs: what agents that learn and explore stumble over."""

from __future__ import annotations

from django.apps import AppConfig


class Hunts(AppConfig):
    name = "webapp.hunts"

    def ready(self) -> None:
        from webapp.hunts.parts import Hunting
        from webapp.studies import kinds

        kinds.register("hunt", Hunting())
