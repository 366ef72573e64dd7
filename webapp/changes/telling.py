"""What a change does, in a sentence or two."""

from __future__ import annotations

from collections.abc import Sequence

from webapp.changes.reading import Lineup, Replayed
from webapp.lib.words import lower_first

COUNTS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NAMED = 2
"""Lineups that are named; of more only the number is told."""


def head(replayed: Replayed) -> str:
    """ "With Warhorn’s rally bonus at 18 %, four of the five are under the line." While nothing is sure, how far it
    is."""
    lineups = [each for each in replayed.lineups if not each.unfit]
    told = [each for each in lineups if each.finding]
    if not told:
        return f"{_with(replayed)}: no verdict yet. Bars that still fill in are of the first few battles."
    under = [each for each in lineups if each.finding == "refuted"]
    if replayed.line is None:
        return f"{_with(replayed)}: the bars show what changes. No line is drawn, so nothing is called unfair."
    return f"{_with(replayed)}, {_of(len(under), len(lineups))} {lower_first(replayed.words.refuted)}{_some(under)}."


def rest(replayed: Replayed) -> list[str]:
    """What else there is to say: who stays over the line, who is over it as refitted, what is open, and what was played
    instead of lineups that are not allowed any more."""
    lineups = replayed.lineups
    over = [each for each in lineups if each.finding == "confirmed"]
    open_ = [each for each in lineups if each.finding in ("more", "close")]
    weak = [each for each in lineups if each.finding == "weak"]
    beyond = [each for each in weak if each.over]
    before = [each for each in lineups if each.found_before == "refuted" and each.finding == "refuted"]
    said = [
        _named(replayed, [each for each in over if not each.refitted], f"still {replayed.words.over}"),
        _named(replayed, [each for each in over if each.refitted], replayed.words.over),
        _named(replayed, beyond, f"{replayed.words.over} but weak"),
        _named(replayed, [each for each in weak if not each.over], "near the line but weak"),
        _left(open_) if replayed.job.terminal else "",
        f"{_count(before, 'was', 'were').capitalize()} so before the change, too." if before else "",
        _fitted(lineups),
    ]
    return [each for each in said if each]


def fixed(replayed: Replayed) -> str:
    """Did it work? "Four of the five are under the line on this data." """
    lineups = [each for each in replayed.lineups if not each.unfit]
    if not any(each.finding for each in lineups):
        return "It is being played: no verdict yet."
    under = [each for each in lineups if each.finding == "refuted"]
    said = f"{_of(len(under), len(lineups)).capitalize()} {lower_first(replayed.words.refuted)}"
    return f"{said} on this data{_some(under)}."


def _with(replayed: Replayed) -> str:
    first, *more = replayed.numbers
    others = f" and {COUNTS[len(more)] if len(more) < len(COUNTS) else len(more)} more changed" if more else ""
    return f"With {first.at}{others}"


def _of(count: int, total: int) -> str:
    """ "four of the five are"."""
    if total == 1:
        return "its one lineup is" if count else "its one lineup is not"
    if count == total:
        return "both are" if total == 2 else f"all {_word(total)} are"
    return f"{_word(count)} of the {_word(total)} {'are' if count > 1 else 'is'}"


def _word(count: int) -> str:
    return COUNTS[count] if count < len(COUNTS) else f"{count:,}"


def _count(lineups: Sequence[Lineup], one: str, many: str) -> str:
    return f"{_word(len(lineups))} {one if len(lineups) == 1 else many}"


def _some(lineups: Sequence[Lineup]) -> str:
    """ ", two of them refitted"; empty where none is."""
    refitted = [each for each in lineups if each.refitted]
    if not refitted:
        return ""
    return ", refitted" if len(refitted) == len(lineups) else f", {_word(len(refitted))} of them refitted"


def _named(replayed: Replayed, lineups: Sequence[Lineup], what: str) -> str:
    """ "Frost Captain · Marrow Duke (2.2×, 2.0 to 2.4) is still over the line."; of one that is not the lineup it was,
    "Frost Captain · Marrow Duke, refitted (2.2×, 2.0 to 2.4), is over the line." """
    if not lineups:
        return ""
    if len(lineups) > NAMED:
        return f"{_count(lineups, 'is', 'are').capitalize()} {what}{_some(lineups)}."
    told = [
        f"{each.name}{', refitted' if each.refitted else ''}{_range(replayed, each)}{',' if each.refitted else ''}"
        for each in lineups
    ]
    return f"{' and '.join(told)} {'is' if len(told) == 1 else 'are'} {what}."


def _range(replayed: Replayed, lineup: Lineup) -> str:
    ends = replayed.ends_of(lineup.after)
    return f" ({replayed.value_of(lineup.after)}, {ends})" if ends else ""


def _left(lineups: Sequence[Lineup]) -> str:
    if len(lineups) == 1:
        return f"{lineups[0].name}{_some(lineups)}: {lower_first(lineups[0].words)}."
    return f"Of {_word(len(lineups))} these battles do not tell." if lineups else ""


def _fitted(lineups: Sequence[Lineup]) -> str:
    """What the new prices did to lineups, before any battle."""
    refitted = [each for each in lineups if each.refitted]
    unfit = [each for each in lineups if each.unfit]
    said = []
    if len(refitted) > NAMED:
        said.append(
            f"{len(refitted):,} of {len(lineups):,} lineups are not allowed any more as they were: the nearest that "
            "the new prices allow were played instead."
        )
    else:
        said += [
            f"{each.name} is not allowed any more as it was: refitted by the least change ({each.refitted}), it was "
            "played instead."
            for each in refitted
        ]
    if unfit:
        said.append(f"{_count(unfit, 'is', 'are').capitalize()} not allowed any more, and nothing near is.")
    return " ".join(said)


def named(found: Replayed | None) -> str:
    """ "Warhorn’s rally bonus at 18 %", of several the first and how many more."""
    if found is None or not found.numbers:
        return "this change"
    first, *more = found.numbers
    return f"{first.at}{f' and {len(more)} more' if more else ''}"
