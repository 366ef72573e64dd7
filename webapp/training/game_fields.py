"""Fields for the game that agents learn, and for the limits of its players."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms

from webapp.games.models import Simulator
from webapp.games.simulators import by_moves, obstacle
from webapp.projects.models import Project
from webapp.training import games
from webapp.training.games import ATARI, ATARI_NAME, GYMNASIUM, GYMNASIUM_ID, OFFERS, SIMULATOR, Offer
from webapp.training.hand_fields import HandFields

FIRST = {"game": "cartpole", "atari": "pong"}


class GameField(forms.ModelChoiceField):
    """The choice of a simulator, which says of each whether it can be played now."""

    def label_from_instance(self, obj: Simulator) -> str:
        """Its name, and that it cannot be played."""
        return f"{obj}, cannot be played now" if obstacle(obj) else str(obj)


class GameFields(HandFields):
    """``offer`` is the chosen one of ``offers``."""

    offers: ClassVar[Mapping[str, Offer]] = OFFERS
    game = forms.ChoiceField(choices=[(o.key, o.title) for o in OFFERS.values()], label="Game")
    gymnasium = forms.CharField(
        max_length=80, required=False, label="Its name in Gymnasium", help_text="Such as LunarLander-v3 or Hopper-v5."
    )
    atari = forms.CharField(max_length=60, required=False, label="Atari game", help_text="Such as pong or breakout.")
    simulator = GameField(
        Simulator.objects.none(), required=False, label="Simulator", empty_label="Choose one",
        help_text="A game that asks for every decision. It is tried before the training starts.",
    )  # fmt: skip

    def __init__(self, data: Mapping[str, Any], *, project: Project) -> None:
        super().__init__({**FIRST, **data})
        self.project = project
        chosen: forms.ModelChoiceField = self.fields["simulator"]  # type: ignore[assignment]
        chosen.queryset = by_moves(project)
        self.offer = self.offers.get(self._said("game"), OFFERS[FIRST["game"]])

    def _said(self, name: str) -> str:
        return str(self.data.get(name, "")).strip()

    @property
    def does(self) -> str:
        return games.does(self.offer, self.game_name)

    @property
    def game_name(self) -> str:
        """The game as the engine calls it; empty while it is not said."""
        if self.offer.key == GYMNASIUM:
            return f"gym:{self._said('gymnasium')}" if self._said("gymnasium") else ""
        if self.offer.key == ATARI:
            return f"ale:{self._said('atari')}" if self._said("atari") else ""
        row = self.cleaned_data.get("simulator") if hasattr(self, "cleaned_data") else None
        return self.offer.name or (row.reference if row is not None else "")

    @property
    def game_field(self) -> str:
        """The field that says which game of its kind."""
        return self.offer.key if self.offer.key in (GYMNASIUM, ATARI, SIMULATOR) else "game"

    def check_game(self, cleaned: dict[str, Any]) -> None:
        """Say at its field why the chosen game cannot be played."""
        key, wanted = self.offer.key, cleaned.get(self.game_field)
        if key == GYMNASIUM and not GYMNASIUM_ID.fullmatch(wanted or ""):
            self.add_error(key, "Type a name of Gymnasium with its version, such as LunarLander-v3.")
        if key == ATARI and not ATARI_NAME.fullmatch(wanted or ""):
            self.add_error(key, "Type the name of an Atari game in small letters, such as pong.")
        if key == SIMULATOR and key not in self.errors:
            self._clean_simulator(wanted)

    def _clean_simulator(self, row: Simulator | None) -> None:
        if row is None:
            self.add_error(
                SIMULATOR, "Choose one of the project's simulators. Who may register simulators can bring another."
            )
        elif reason := obstacle(row):
            self.add_error(SIMULATOR, reason)
