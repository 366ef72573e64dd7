"""One agent that learns a hard start from easier ones."""

from __future__ import annotations

from django.apps import AppConfig


class Starts(AppConfig):
    name = "webapp.starts"

    def ready(self) -> None:
        from webapp.starts.parts import EasierStarts
        from webapp.studies import kinds

        kinds.register("starts", EasierStarts())
