"""Changes of a game's numbers: tried on lineups before they are made, and checked by themselves once they are."""

from __future__ import annotations

from django.apps import AppConfig


class Changes(AppConfig):
    name = "webapp.changes"

    def ready(self) -> None:
        from webapp.changes import card, worked
        from webapp.changes.parts import Trying
        from webapp.changes.starting import arrived
        from webapp.games import arrivals
        from webapp.studies import kinds, onward
        from webapp.studies.compare import beside
        from webapp.suspects import cards

        kinds.register("change", Trying())
        onward.register("change", "search", "changes:page")
        onward.register("under", "search", "changes:under")
        cards.register(self.label, card.for_suspect)
        beside.register(self.label, worked.shown)
        arrivals.register(self.label, arrived)
