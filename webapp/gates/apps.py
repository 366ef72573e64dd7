"""Gates: may this build go out?"""

from __future__ import annotations

from django.apps import AppConfig


class Gates(AppConfig):
    name = "webapp.gates"

    def ready(self) -> None:
        from webapp.gates.parts import Gating
        from webapp.studies import kinds

        kinds.register("gate", Gating())
