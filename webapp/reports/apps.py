"""Reports for producers: what a search found, pinned, judged, shared and taken away."""

from __future__ import annotations

from django.apps import AppConfig


class Reports(AppConfig):
    name = "webapp.reports"

    def ready(self) -> None:
        from webapp.projects import home
        from webapp.reports.waiting import home as waiting
        from webapp.studies import onward

        onward.register("report", "search", "reports:compose")
        home.register(self.label, waiting)
