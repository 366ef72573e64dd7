"""The verdict of a report, in a sentence that says no more than what fresh battles proved."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from webapp.lib.words import lower_first, number, plural
from webapp.reports.lineups import Judged
from webapp.reports.mended import Mended
from webapp.reports.models import MARKS
from webapp.reports.pieces import Pieces
from webapp.reports.since import Since
from webapp.studies.verdict_words import FALSE_IN_SHORT
from webapp.suspects.reading import NUMBERS

UNFAIR = "Not fair yet. "
Kind = Literal["unfair", "fair", "open"]
STATES = {
    "none": "What each piece is worth was not measured.",
    "going": "The experiment on what each piece is worth is still going on.",
    "ended early": "The experiment on what each piece is worth ended before it was complete.",
    "lost": "What the experiment on pieces found is lost.",
}


class Headline(NamedTuple):
    """``words``: the sentence; ``more``: what is behind it; ``sure``: how sure that is. ``tilt``: an effect and the
    ends of its range in points, to be drawn; None where no effect is proved or bounded."""

    kind: Kind
    words: str
    more: list[str]
    sure: str
    tilt: tuple[float, float, float] | None

    @property
    def mark(self) -> str:
        """Its verdict mark."""
        return MARKS[self.kind]

    def plain(self) -> dict[str, Any]:
        """As the report keeps it."""
        return {**self._asdict(), "mark": self.mark}


def headline(pieces: Pieces, lineups: Judged, change: Mended | None = None, since: Since | None = None) -> Headline:
    """What is proved: unfair, fair as far as one looked, or that nobody can tell yet; where it is unfair, also what the
    proposed change does to the worst. What was proved ``since`` on newer data comes first."""
    if pieces.faults or lineups.confirmed:
        said = _unfair(pieces, lineups)
        if change and change.words:
            said = _with_change(said, change, alone=len(pieces.faults) == 1)
    else:
        reasons = list(_reasons(pieces, lineups))
        said = _open(reasons) if reasons else _fair(pieces, lineups)
    return _with_since(said, since) if since else said


def _with_since(said: Headline, since: Since) -> Headline:
    """Where the older data was unfair, what the newer one still is comes first; elsewhere it is added."""
    if said.kind != "unfair":
        return said._replace(words=f"{said.words} {since.words}")
    return said._replace(words=f"{UNFAIR}{since.words}", more=[said.words.removeprefix(UNFAIR), *said.more])


def counted(count: int, one: str, many: str = "") -> str:
    """ "Two lineups"."""
    word = NUMBERS[count].capitalize() if count < len(NUMBERS) else number(count)
    return f"{word} {one if count == 1 else many or one + 's'}"


def _with_change(said: Headline, change: Mended, *, alone: bool) -> Headline:
    """What the change does comes first; what was found, behind it. ``alone``: that is one suspect."""
    found, (worst, *rest) = said.words.removeprefix(UNFAIR), said.more
    both = [change.both] if change.both else []
    more = [f"{found} {worst}", *both, *rest] if alone else [worst, *both, found, *rest]
    return said._replace(words=f"{UNFAIR}{change.words}", more=more)


def _unfair(pieces: Pieces, lineups: Judged) -> Headline:
    over = counted(len(lineups.confirmed), "lineup is", "lineups are")
    if not pieces.faults:
        worst = lineups.confirmed[0]
        return Headline("unfair", f"{UNFAIR}{over} over the line.", [_worst(worst)], _sure(worst["battles"]), None)
    first = pieces.faults[0]
    count = len(pieces.faults)
    words = first.claim if count == 1 else f"{counted(count, 'suspect')} are confirmed."
    if pieces.intended:
        words += f" {counted(len(pieces.intended), 'more is', 'more are')} intended."
    more = [first.effect if count == 1 else f"{first.claim} {first.effect}"]
    if lineups.confirmed:
        by = "but for those that are meant to be so" if lineups.held else "whatever they hold"
        more.append(f"Lineups are judged by themselves, {by}: on fresh battles {lower_first(over)} over the line.")
    line = first.line
    tilt = None if line.worth is None or line.low is None or line.high is None else (line.worth, line.low, line.high)
    return Headline("unfair", f"{UNFAIR}{words}", more, _sure(line.battles), tilt)


def _worst(row: dict[str, Any]) -> str:
    ends = f" ({row['range_words']})" if row["range_words"] else ""
    at = f"{row['name']} is at {row['value_words']}{ends}: {lower_first(row['objective'])}."
    return f"{at} The line is {row['line_words']}."


def _sure(battles: int) -> str:
    return f"confirmed, {plural(battles, 'fresh battle')}, {FALSE_IN_SHORT}"


def _reasons(pieces: Pieces, lineups: Judged) -> list[str]:
    """Why nobody can say that it is fair, each in a sentence."""
    found = [STATES[pieces.state]] if pieces.state in STATES else []
    if pieces.state == "measured" and not pieces.tested:
        found.append("No piece could be tested.")
    if many := len(pieces.open_pieces):
        found.append(f"{counted(many, 'piece or amount is', 'pieces or amounts are')} not settled.")
    if lineups.lost:
        found.append("The lineups of the search cannot be read.")
    elif not lineups.lined:
        found.append("The search has no line to judge lineups by.")
    elif not lineups.played:
        but = " but where a change was tried" if lineups.tried else ""
        found.append(f"No lineup was played again on fresh battles{but}.")
    if many := len(lineups.open):
        found.append(f"{counted(many, 'lineup is', 'lineups are')} not settled.")
    return found


def _open(reasons: list[str]) -> Headline:
    return Headline(
        "open", f"Cannot tell yet: {lower_first(reasons[0])}", reasons[1:], "nothing is proved so far", None
    )


def _of_pairs(pieces: Pieces) -> str:
    return f", of a pair of up to {number(pieces.largest_pair, 1)}" if pieces.largest_pair else ""


def _fair(pieces: Pieces, lineups: Judged) -> Headline:
    meant = pieces.intended or lineups.held
    looked = f"None of {number(pieces.looked_at)} pieces, amounts and pairs"
    none = f"none of {number(lineups.played)} lineups that were played again is"
    again = "the lineup that was played again is not" if lineups.played == 1 else none
    but = " but for what is intended" if meant else ""
    more = [
        f"{looked} stands out, and {again} over the line and strong{but and ','}{but}.",
        f"Effects of a single piece of up to {number(pieces.largest, 1)} points are not excluded{_of_pairs(pieces)}.",
    ]
    if many := len(pieces.untested):
        more.append(f"{counted(many, 'piece or amount', 'pieces or amounts')} could not be tested.")
    words = f"Fair as far as we looked{but and ','}{but}."
    return Headline("fair", words, more, "on fresh battles", (0.0, -pieces.largest, pieces.largest))
