"""What a report says of lineups: those that fresh battles put over the line, and those that they leave open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.config.lineups import ObjectiveConfig
from engine.errors import ConfigError, StoreError
from engine.indicators import STRONG
from engine.lineups import schema
from engine.lineups.distinct_names import distinct_names
from engine.lineups.patterns import Patterns
from engine.simulators.contract import GameSpec
from webapp.changes import proposing
from webapp.lib.figures import telling, with_unit
from webapp.lib.words import number
from webapp.studies import explore_source as source
from webapp.studies.explore_build import Explored, explored
from webapp.studies.fresh import Fresh
from webapp.studies.fresh_battles import genome_keys
from webapp.studies.models import Job
from webapp.suspects.reading import Suspect

KEPT = 50
"""Confirmed lineups that a report keeps; more of them are counted."""
SURE, WAITS, MEANT = ("confirmed",), ("more", "close"), ("meant",)
"""What fresh battles find of lineups that are over the line, that they leave open, and that are meant to be so."""
MARGIN = 0.06
"""How far beyond what it shows an axis goes, in parts of that."""


class Judged(NamedTuple):
    """Lineups on fresh battles. ``confirmed``: those that count, and ``meant`` those that hold what is intended, each
    as the report keeps it; ``open``: by name, with what would tell. ``played``: on fresh battles in all; ``weak``: over
    the line or near it, but weak; ``searched``: over the line by the search's own battles and not played again.
    ``lined``: whether there is a line; ``lost``: why nothing can be read. ``held``: how many of all lineups are
    meant to be so; ``tried``: of those ``searched``, so many that fresh battles told of where a change was tried."""

    confirmed: list[dict[str, Any]]
    meant: list[dict[str, Any]]
    open: list[dict[str, str]]
    played: int = 0
    weak: int = 0
    searched: int = 0
    evaluated: int = 0
    battles: int = 0
    lined: bool = True
    lost: str = ""
    held: int = 0
    tried: int = 0


class _Lineups(NamedTuple):
    """All that is known of a search's lineups; ``genome`` int32[n, teams, slots]."""

    found: Explored
    genome: NDArray[np.int32]
    spec: GameSpec
    objectives: tuple[ObjectiveConfig, ...]

    def teams(self, row: int) -> list[list[str]]:
        """The pieces of each team of a lineup, in words."""
        return [schema.team_parts(self.spec, team) or [schema.EMPTY_TEAM] for team in self.genome[row]]


def judged(search: Job, intended: Sequence[Suspect]) -> Judged:
    """What fresh battles say by now of a search's lineups; what holds an ``intended`` suspect is counted by itself."""
    try:
        found, spec, tried = explored(search), source.spec(search), proposing.judged_before(search)
    except (StoreError, ConfigError) as error:
        return Judged([], [], [], lost=str(error))
    if not found.core:
        return Judged([], [], [], lined=found.lined)
    lineups = _Lineups(found, found.genome, spec, source.objectives(search).objectives)
    rows = {int(lineup): row for row, lineup in enumerate(found.core["id"])}
    fresh = {rows[lineup]: said for lineup, said in found.fresh.items() if lineup in rows}
    sure, open_, meant = (
        [row for row, said in fresh.items() if said.finding in kinds] for kinds in (SURE, WAITS, MEANT)
    )
    every = [*sure, *open_, *meant]
    names = dict(zip(every, distinct_names([*map(lineups.teams, every)]), strict=True))
    entries = [{"name": names[row], **_confirmed_lineup(lineups, row, fresh[row], intended)} for row in [*sure, *meant]]
    confirmed, apart = (
        sorted(each, key=lambda row: -row["beyond"]) for each in (entries[: len(sure)], entries[len(sure) :])
    )
    words, keys = source.words(search), list(genome_keys(lineups.genome))
    searched = [row for row in np.flatnonzero(found.core["verdict"] == STRONG).tolist() if row not in fresh]
    return Judged(
        confirmed,
        apart,
        [{"name": names[row], "words": fresh[row].sentence(words)} for row in open_],
        len(fresh),
        sum(said.finding == "weak" for said in fresh.values()),
        len(searched),
        len(rows),
        sum(said.battles for said in fresh.values()),
        found.lined,
        held=int(found.core["meant"].sum()),
        tried=sum(keys[row] in tried for row in searched),
    )


def _confirmed_lineup(lineups: _Lineups, row: int, fresh: Fresh, intended: Sequence[Suspect]) -> dict[str, Any]:
    """One confirmed lineup, by the objective in which it is furthest over its line."""
    j, beyond = _furthest(lineups, fresh)
    objective = lineups.found.meta["objectives"][j]
    value, line, unit = fresh.mean[j], objective["threshold"], objective["unit"]
    low, high = _ends(objective, value, fresh.half[j])
    ends = None if low is None or high is None else (low, high)
    digits = telling(value, ends, objective["worth"], [line])
    return {
        "objective": objective["title"],
        "toward": objective["toward"],
        "unit": unit,
        "line": line,
        "line_words": with_unit(line, unit),
        "value": value,
        "low": low,
        "high": high,
        "value_words": with_unit(round(value, digits), unit, digits),
        "range_words": f"{number(low, digits)} to {number(high, digits)}" if ends else "",
        "finer": digits > objective["worth"],
        "battles": fresh.battles,
        "beyond": beyond,
        "why": fresh.why,
        "holds": _holds(lineups, row, intended),
    }


def _furthest(lineups: _Lineups, fresh: Fresh) -> tuple[int, float]:
    """The place of the objective, and how far over its line, in parts of the line."""
    signs = source.signs(lineups.objectives)
    lined = [(j, o.threshold) for j, o in enumerate(lineups.objectives) if o.threshold is not None]
    beyond, j = max((signs[j] * (fresh.mean[j] - line) / (abs(line) or 1.0), j) for j, line in lined)
    return j, float(beyond)


def _ends(objective: dict[str, Any], value: float, half: float | None) -> tuple[float | None, float | None]:
    """The ends of a 95 % range, which stop at the objective's floor and cap."""
    if half is None or not np.isfinite(half):
        return None, None
    low, high = objective["low"], objective["high"]
    return max(value - half, -np.inf if low is None else low), min(value + half, np.inf if high is None else high)


def _holds(lineups: _Lineups, row: int, intended: Sequence[Suspect]) -> str:
    """The intended suspect that explains a lineup: a good one that its strongest team holds, or a weak one that its
    weakest does; empty for none."""
    patterns = Patterns(lineups.spec, [each.pattern for each in intended])
    held = patterns.explained(lineups.genome[[row]], lineups.found.lineups["anchor"][[row]])[0]
    return next((each.line.name for each, has in zip(intended, held, strict=True) if has), "")


def groups(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Confirmed lineups by the objective whose line they are over, each with an axis that holds all of their ranges."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows[:KEPT]:
        found.setdefault(row["objective"], []).append(row)
    return [{**_axis(own), "rows": own} for own in found.values()]


def _axis(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    first = rows[0]
    ends = [end for row in rows for end in (row["value"], row["low"], row["high"], row["line"]) if end is not None]
    room = MARGIN * ((max(ends) - min(ends)) or 1.0)
    named = {key: first[key] for key in ("objective", "toward", "unit", "line", "line_words")}
    battles = {row["battles"] for row in rows}
    named["battles"] = battles.pop() if len(battles) == 1 else None
    named["finer"] = any(row["finer"] for row in rows)
    return {**named, "axis_low": min(ends) - room, "axis_high": max(ends) + room}
