"""Jobs, and the pages of studies that play lineups."""

from __future__ import annotations

from django.apps import AppConfig


class Studies(AppConfig):
    name = "webapp.studies"

    def ready(self) -> None:
        from webapp.projects import home
        from webapp.studies import kinds, overview
        from webapp.studies.lineup_parts import Rechecks, Samples, Searches

        kinds.register("search", Searches())
        kinds.register("recheck", Rechecks())
        kinds.register("sample", Samples())
        home.register(self.label, overview.home)
