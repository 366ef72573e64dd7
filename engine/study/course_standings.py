"""Who stands where at the end of a course's tournament, in lines for the command line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from engine.arrays import unpack
from engine.config.arena import ArenaConfig
from engine.config.roster import in_words
from engine.standings import Standing, everybody_met, standings, surely_first
from engine.store import Store


def lines(config: ArenaConfig, artifacts: Mapping[str, str], store: Store) -> list[str]:
    """All players of the tournament, the strongest first; none before there is a table."""
    if "table" not in artifacts:
        return []
    table = unpack(store.get(artifacts["table"]))
    return list(_lines(standings(table), everybody_met(table)))


def _lines(found: list[Standing], met: bool) -> Iterator[str]:
    whose = "of the battles against the others" if met else "of its own battles"
    yield (
        f"Tournament, the strongest first, with ranges of 95 %: wins {whose}, strength; then how often it would be "
        "seen, with what 19 of 20 re-drawn tournaments say"
    )
    for place, one in enumerate(found, 1):
        points = "no Elo points"
        if math.isfinite(one.rating):
            points = f"{one.rating:.0f} Elo points ({one.rating_low:.0f} to {one.rating_high:.0f})"
        seen = f"; seen {_share(one.picked, one.picked_low, one.picked_high)}" if math.isfinite(one.picked) else ""
        yield f"{place}. {in_words(one.name)}: {_share(one.share, one.low, one.high)}; {points}{seen}"
    if not surely_first(found, met):
        unknown = not met and not all(math.isfinite(one.rating) for one in found)
        why = "not everybody has Elo points" if unknown else "its range meets another one's"
        yield f"That {in_words(found[0].name)} is the strongest is not sure: {why}."


def _share(share: float, low: float, high: float) -> str:
    """In per cent; without a range where nobody knows it."""
    ends = f" ({100 * low:.0f} to {100 * high:.0f} %)" if math.isfinite(high - low) else ""
    return f"{100 * share:.0f} %{ends}"
