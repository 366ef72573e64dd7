"""Jobs, and the pages of studies that play lineups."""

from __future__ import annotations

from django.apps import AppConfig


class Studies(AppConfig):
    name = "webapp.studies"

    def ready(self) -> None:
        from webapp.studies import kinds
        from webapp.studies.lineup_parts import Rechecks, Samples, Searches

        kinds.register("search", Searches())
        kinds.register("recheck", Rechecks())
        kinds.register("sample", Samples())
