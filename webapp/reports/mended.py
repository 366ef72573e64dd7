"""What the change that a report proposes does to the worst of what the report found, in words for its verdict.

Of a change that was found the worth of the worst suspect was measured again, so it may be called fixed. Of a change
that was tried lineups were replayed: those that hold the worst suspect are told of, or all where none is confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from webapp.changes import sentences
from webapp.changes.reading import Lineup, Measured, Replayed
from webapp.lib.words import lower_first, number
from webapp.reports.patched import Patched, shown
from webapp.reports.proposals import Proposal
from webapp.suspects.reading import NUMBERS, Suspect

NOT_ON_IT = "The proposed change was not tried on the worst."


class Mended(NamedTuple):
    """``words``: what it does to the worst, in a sentence; ``both``: how that was before, and is after."""

    words: str
    both: str


def mended(proposal: Proposal | None, faults: Sequence[Suspect]) -> Mended | None:
    """What a change does to the worst of these suspects; None where none is proposed."""
    if proposal is None:
        return None
    return _found(proposal, faults) if isinstance(proposal, Patched) else _tried(proposal, faults)


def _found(patched: Patched, faults: Sequence[Suspect]) -> Mended:
    effects = [patched.effect(each.line.pieces, each.line.least) for each in faults]
    if not effects or effects[0] is None:
        return Mended(NOT_ON_IT if faults else "", f"{patched.row.title}.")
    many = patched.row.changes
    who = f"{_counted(many)} small change{'' if many == 1 else 's'} fix{'es' if many == 1 else ''}"
    before, after = (shown(each, patched.reading.matters) for each in effects[0])
    both = f"{faults[0].line.name}: {before} before, {after} after."
    return Mended(f"{who} {_what(len(faults), all(effects))}.", f"{patched.row.title}. {both}")


def _what(faults: int, every: bool) -> str:
    if faults == 1:
        return "it"
    return "the worst" if not every else "both" if faults == 2 else f"all {_counted(faults).lower()}"


def _tried(replayed: Replayed, faults: Sequence[Suspect]) -> Mended:
    holding = replayed.holding(faults[0].line.pieces) if faults else replayed.lineups
    rows = [each for each in holding if each.counts]
    if not rows:
        return Mended(NOT_ON_IT if faults else "", sentences.head(replayed))
    worst = _worst(replayed, rows)
    before, after = (_value(replayed, each) for each in (worst.before, worst.after))
    both = f"{sentences.head(replayed)} {worst.name}: {before} before, {after} after."
    return Mended(f"{_replayed(replayed, rows)}.", both)


def _replayed(replayed: Replayed, rows: Sequence[Lineup]) -> str:
    """ "One change brings the worst lineups under the line": where fresh battles say so of all of them."""
    version, words = replayed.job.game_version, replayed.words
    plain = "lineup" if len(rows) == 1 else "lineups"
    many = len(replayed.numbers)
    who, s = f"{_counted(many)} change{'' if many == 1 else 's'}", "s" if many == 1 else ""
    proposed = "The proposed change"
    if replayed.job.accompanies_id and version:
        who, s, proposed = f"Version {version.number}", "s", f"Version {version.number}"
    if any(each.finding == "confirmed" for each in rows):
        over = "one of the worst lineups" if len(rows) > 1 else "the worst lineup"
        return f"{proposed} leaves {over} {words.over}"
    if all(each.finding == "refuted" for each in rows) and any(each.found_before == "confirmed" for each in rows):
        return f"{who} bring{s} the worst {plain} {lower_first(words.refuted)}"
    return f"Whether {lower_first(proposed)} is enough is not settled"


def _worst(replayed: Replayed, rows: Sequence[Lineup]) -> Lineup:
    sign = 1.0 if replayed.objective.direction == "max" else -1.0
    known = [each for each in rows if each.before.value is not None]
    return max(known or rows, key=lambda each: sign * (each.before.value or 0.0))


def _value(replayed: Replayed, measured: Measured) -> str:
    ends = replayed.ends_of(measured)
    return f"{replayed.value_of(measured)}{f' ({ends})' if ends else ''}"


def _counted(count: int) -> str:
    return (NUMBERS[count] if count < len(NUMBERS) else number(count)).capitalize()
