"""Jobs, and the pages of studies that play lineups."""

from __future__ import annotations

from django.apps import AppConfig


class Studies(AppConfig):
    name = "webapp.studies"

    def ready(self) -> None:
        from webapp.balance import beginnings, samples
        from webapp.projects import home
        from webapp.studies import accepted_line, kinds, overview, played
        from webapp.studies.lineup_parts import Rechecks, Samples, Searches

        kinds.register("search", Searches())
        kinds.register("recheck", Rechecks())
        kinds.register("sample", Samples())
        home.register(self.label, overview.home)
        samples.register(self.label, played.values)
        beginnings.register(self.label, accepted_line.of_own)
