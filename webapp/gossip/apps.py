"""Agents that learn side by side."""

from __future__ import annotations

from django.apps import AppConfig


class Gossip(AppConfig):
    name = "webapp.gossip"

    def ready(self) -> None:
        from webapp.gossip.parts import SideBySide
        from webapp.studies import kinds

        kinds.register("gossip", SideBySide())
