"""Whether a style holds against opponents that an agent never learned against; light enough for a page.

A style that is an answer to one opponent is no style. So agents are measured against two strangers, too, and one whose
style shifts by more than ``FRAGILE`` of a measure's whole range is fragile. What shifts is the difference of means,
which are told with their ranges beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from engine.catalog import built_in, of_two
from engine.config.train import TrainGame

FRAGILE = 0.15


class Moved(NamedTuple):
    """How far a style moved at most, as a share of the measure's range: ``by``, which ``measure``, against whom."""

    by: float
    measure: str
    opponent: str

    @property
    def fragile(self) -> bool:
        """Whether that is too far."""
        return self.by > FRAGILE


def strangers_of(game: str) -> tuple[str, ...]:
    """Scripts that nobody learns against in a game, and that can sit on its other seat."""
    known = built_in(game)
    return known.strangers if known is not None and of_two(game) else ()


def facing_strangers(game: TrainGame) -> TrainGame:
    """The same game with its other seat played from outside, for one that has ``strangers_of``."""
    return game.model_copy(update={"name": of_two(game.name)})


def judged(style: Iterable[str], game: str) -> list[str]:
    """Measures of a style whose range in a game is known, so that it can be said how far they shift."""
    known = built_in(game)
    return [name for name in style if known is not None and name in known.ends]


def moved(
    own: Mapping[str, float], others: Mapping[str, Mapping[str, float]], style: Iterable[str], game: str
) -> Moved | None:
    """The farthest that a style shifts: ``own`` means by measure against the usual opponent, and those against
    ``others`` by their names. None where nothing of it can be judged."""
    known = built_in(game)
    ends = known.ends if known is not None else {}
    found = [
        Moved(abs(told[name] - own[name]) / (ends[name][1] - ends[name][0]), name, who)
        for who, told in others.items()
        for name in judged(style, game)
        if name in told and name in own
    ]
    return max(found, key=lambda each: each.by, default=None)
