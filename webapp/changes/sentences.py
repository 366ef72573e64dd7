"""What a change does, in a sentence or two."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.text import capfirst

from webapp.changes import leading, meant
from webapp.changes.reading import OPEN, Lineup, Replayed
from webapp.lib.words import lower_first

COUNTS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NAMED = 2
"""Lineups that are named; of more only the number is told."""


def head(replayed: Replayed) -> str:
    """ "With Warhorn’s rally bonus at 18 %, four of the five lineups are under the line." While it is played, how many
    have a verdict, and what those say."""
    if replayed.under:
        return leading.head(replayed)
    if not any(each.decided for each in replayed.lineups):
        return f"{_with(replayed)}{',' if replayed.job.terminal else ':'} {_undecided(replayed)}"
    if replayed.line is None:
        return f"{_with(replayed)}: the bars show what changes. No line is drawn, so nothing is called unfair."
    if not replayed.job.terminal:
        return f"{_with(replayed)}, so far {_by_now(replayed)}."
    return f"{_with(replayed)}, {_in_the_end(replayed)}."


def rest(replayed: Replayed) -> list[str]:
    """What else there is to say: who stays over the line, who is over it as refitted, what is open, and what was played
    instead of lineups that are not allowed any more."""
    if replayed.under:
        return leading.rest(replayed)
    lineups = replayed.lineups
    over = [each for each in lineups if each.finding == "confirmed"]
    open_ = [each for each in lineups if each.finding in OPEN]
    weak = [each for each in lineups if each.finding == "weak"]
    so = [each for each in lineups if each.finding == meant.FINDING]
    beyond = [each for each in weak if each.over]
    before = [each for each in lineups if each.found_before == "refuted" and each.finding == "refuted"]
    said = [
        _named(replayed, [each for each in over if not each.refitted], f"still {replayed.words.over}"),
        _named(replayed, [each for each in over if each.refitted], replayed.words.over),
        _named(replayed, beyond, f"{replayed.words.over} but weak"),
        _named(replayed, [each for each in weak if not each.over], "near the line but weak"),
        _left(open_) if replayed.job.terminal else "",
        f"{_count(before, 'was', 'were').capitalize()} so before the change, too." if before else "",
        f"{_count(so, 'is', 'are').capitalize()} meant to be so, and not counted." if so else "",
        _fitted(lineups),
    ]
    return [each for each in said if each]


def fixed(replayed: Replayed) -> str:
    """Did it work? "Four of the five lineups are under the line on this data." """
    if not any(each.decided for each in replayed.lineups):
        return capfirst(_undecided(replayed))
    if not replayed.job.terminal:
        return f"So far {_by_now(replayed)}."
    return f"{capfirst(_in_the_end(replayed, ' on this data'))}."


def of_those(replayed: Replayed, lineups: Sequence[Lineup]) -> str:
    """ "Two of the three lineups are under the line.", of some of the lineups."""
    counted = [each for each in lineups if each.counts]
    if not counted:
        return "its lineups are not counted."
    if not any(each.decided for each in counted):
        return "fresh battles do not decide." if replayed.job.terminal else "nothing is decided yet."
    sofar = "" if replayed.job.terminal else "so far "
    return f"{sofar}{_of(_under(counted), counted)} {lower_first(replayed.words.refuted)}."


def _undecided(replayed: Replayed) -> str:
    if replayed.job.terminal:
        return "fresh battles do not decide about any lineup."
    return "nothing is decided yet. Bars that still fill in are of the first few battles."


def _by_now(replayed: Replayed) -> str:
    """ "two of the five lineups have a verdict, and one of those is under the line"."""
    lineups = _allowed(replayed)
    decided, under = [each for each in lineups if each.decided], _under(lineups)
    if len(decided) == 1:
        which = f"it is{'' if under else ' not'}"
    else:
        count = "all" if len(under) == len(decided) else _word(len(under))
        which = f"{count} of those {'is' if len(under) < 2 else 'are'}"
    those = f"{_word(len(decided))} of the {_word(len(lineups))} lineups" if len(lineups) > 1 else lineups[0].name
    have, what = "has" if len(decided) == 1 else "have", lower_first(replayed.words.refuted)
    return f"{those} {have} a verdict, and {which} {what}{_some(under)}"


def _in_the_end(replayed: Replayed, where: str = "") -> str:
    """ "four of the five lineups are under the line"; of none that is so where some stay open, that none surely is."""
    lineups = _allowed(replayed)
    under, open_ = _under(lineups), any(not each.decided for each in lineups)
    surely = " surely" if open_ and not under else ""
    return f"{_of(under, lineups)}{surely} {lower_first(replayed.words.refuted)}{where}{_some(under)}"


def _allowed(replayed: Replayed) -> list[Lineup]:
    return [each for each in replayed.lineups if each.counts]


def _under(lineups: Sequence[Lineup]) -> list[Lineup]:
    return [each for each in lineups if each.finding == "refuted"]


def _with(replayed: Replayed) -> str:
    first, *more = replayed.numbers
    others = f" and {COUNTS[len(more)] if len(more) < len(COUNTS) else len(more)} more changed" if more else ""
    return f"With {first.at}{others}"


def _of(some: Sequence[Lineup], lineups: Sequence[Lineup]) -> str:
    """ "four of the five lineups are"; a single one by its name."""
    count, total = len(some), len(lineups)
    if total == 1:
        return f"{lineups[0].name} is" if count else f"{lineups[0].name} is not"
    if count == total:
        return "both lineups are" if total == 2 else f"all {_word(total)} lineups are"
    return f"{_word(count)} of the {_word(total)} lineups {'are' if count > 1 else 'is'}"


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
    names = [
        f"{each.name}{', refitted' if each.refitted else ''}{_range(replayed, each)}{',' if each.refitted else ''}"
        for each in lineups
    ]
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} {what}."


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
