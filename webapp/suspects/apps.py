"""Suspects: the pieces, amounts and pairs that an experiment named, and what people decided about them."""

from __future__ import annotations

from django.apps import AppConfig


class Suspects(AppConfig):
    name = "webapp.suspects"

    def ready(self) -> None:
        from webapp.projects import home
        from webapp.studies import afterwards, companion, opening, patterns
        from webapp.suspects import removals
        from webapp.suspects.decisions import home as asked
        from webapp.suspects.known import Known
        from webapp.suspects.reading import seen

        opening.register("search", "suspects:page", companion.can, seen)
        home.register(self.label, asked)
        patterns.register(Known())
        afterwards.register(self.label, removals.begin_due)
