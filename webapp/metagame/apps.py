"""Round robins: who beats whom."""

from __future__ import annotations

from django.apps import AppConfig


class Metagame(AppConfig):
    name = "webapp.metagame"

    def ready(self) -> None:
        from webapp.metagame.parts import Meeting
        from webapp.studies import kinds

        kinds.register("metagame", Meeting())
