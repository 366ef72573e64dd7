"""Populations that train against themselves."""

from __future__ import annotations

from django.apps import AppConfig


class SelfPlay(AppConfig):
    name = "webapp.self_play"

    def ready(self) -> None:
        from webapp.self_play.parts import Playing
        from webapp.studies import kinds

        kinds.register("self-play", Playing())
