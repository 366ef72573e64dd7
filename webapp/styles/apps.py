"""Styles of play: searches that breed agents which play differently, and the sample episodes they are tried on."""

from __future__ import annotations

from django.apps import AppConfig


class Styles(AppConfig):
    name = "webapp.styles"

    def ready(self) -> None:
        from webapp.studies import kinds
        from webapp.styles.parts import SampleEpisodes, StyleSearches

        kinds.register("style", StyleSearches())
        kinds.register("episodes", SampleEpisodes())
