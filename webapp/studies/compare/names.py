"""What a game calls its own things: pieces, slots, numbers and ways to play, in place of the ids that a study has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from engine.errors import ConfigError
from engine.simulators.contract import GameSpec
from webapp.games.specs import version_spec
from webapp.lib.figures import with_unit
from webapp.lib.words import percent
from webapp.studies.models import Job

PATCH, ABSENT = "game.patch.", "–"


class Names:
    """Those of the game that a job plays. An id stays as it is where the game does not say, or is no longer
    described."""

    def __init__(self, job: Job) -> None:
        version = job.game_version
        self.game = "" if version is None else str(version.simulator)
        self.spec: GameSpec | None = None
        if version is not None:
            try:
                self.spec = version_spec(version)
            except ConfigError:
                self.spec = None
        spec = self.spec
        self.numbers = {} if spec is None else spec.tunables()
        self.pieces = {} if spec is None else {piece.id: piece.name for piece in spec.pieces}
        self.slots = {} if spec is None else {slot.id: slot.title for slot in spec.slots}
        self.categories = {} if spec is None else {category.id: category.title for category in spec.categories}
        self.ways = {} if spec is None else {way.name: way.title for way in spec.fidelities}

    def value_words(self, place: str, value: Any) -> str | None:
        """The value of a setting in the game's words; None where its own are as good."""
        match place:
            case "game.simulator":
                return self.game or None
            case "game.fidelity":
                return self.ways.get(value)
            case "lineups.required" | "lineups.banned":
                return _listed(value, self.pieces)
            case "lineups.apart":
                return ", ".join(" + ".join(self.pieces.get(each, each) for each in pair) for pair in value) or ABSENT
            case "lineups.repeat":
                return _listed(value, self.categories)
            case "lineups.cost_tolerance" if value is not None:
                return percent(value)
        return None

    def of_table(self, place: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
        """(key, title, value) of each row of a table of settings whose keys are ids."""
        for key, value in table.items():
            if f"{place}." == PATCH:
                number = self.numbers.get(key)
                yield key, number.title if number else key, with_unit(value, number.unit if number else "")
            else:
                yield key, self.slots.get(key, key), self.pieces.get(value, str(value))

    def of_the_game(self, place: str) -> str:
        """The game's own value of a number that a job leaves as it is; nothing else has one."""
        number = self.numbers.get(place.removeprefix(PATCH)) if place.startswith(PATCH) else None
        return ABSENT if number is None else f"{with_unit(number.default, number.unit)}, the game’s own"


def _listed(ids: Iterable[str], names: Mapping[str, str]) -> str:
    return ", ".join(names.get(each, each) for each in ids) or ABSENT
