"""Lineup rules, objectives and lines."""

from __future__ import annotations

from django.apps import AppConfig


class Balance(AppConfig):
    name = "webapp.balance"

    def ready(self) -> None:
        from webapp.balance.saving import ensure_defaults
        from webapp.games import choosing

        choosing.register(self.label, ensure_defaults)
