"""Saved agents: what people keep of trainings and of searches for settings, measured, watched and taken home."""

from __future__ import annotations

from django.apps import AppConfig


class Agents(AppConfig):
    name = "webapp.agents"

    def ready(self) -> None:
        from webapp.agents import commanding
        from webapp.agents.parts import Measuring, Recording
        from webapp.studies import commanders, kinds

        kinds.register("measure", Measuring())
        kinds.register("record", Recording())
        commanders.register(commanding.offered)
