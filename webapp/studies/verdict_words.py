"""What the verdicts of a question are called: in legends, tables, details and files alike."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.verdicts import ERROR
from webapp.lib.words import lower_first

AT_MOST = f"1 in {round(1 / ERROR)} at most"
FALSE_IN_SHORT = f"{AT_MOST} a false alarm"
"""``false_alarms`` where there is little room."""


def false_alarms(of: str) -> str:
    """How many of what is confirmed are expected to be false, in the words of every page. ``of``: such as "lineups"."""
    return f"Of {of} confirmed like this, {AT_MOST} is expected to be a false alarm."


@dataclass(frozen=True)
class VerdictWords:
    """``strong``, ``unsure`` and ``under`` name the three verdicts: what fresh battles leave open may be unsure and, by
    its mean, close under the line. ``refuted`` is what fresh battles say whose whole range is under it; ``over`` ends
    the sentence "the lineup is …", and ``weak`` is over in few words, but weak; ``near`` where its range reaches across
    the line. ``corner`` says what the tinted part of a chart is, ``family`` whose pieces families share."""

    strong: str
    unsure: str
    refuted: str
    over: str
    weak: str
    corner: str
    family: str
    near: str = "Near, weak"

    @property
    def under(self) -> str:
        """A mean is all that has to be under the line, and the range may reach across it."""
        return f"On average {lower_first(self.refuted)}"

    @property
    def state(self) -> str:
        """What a lineup of the first verdict is: "over the line and strong", "useless"."""
        return lower_first(self.strong).removeprefix("found ")

    @property
    def verdicts(self) -> tuple[str, str, str]:
        """By the engine's number of a verdict."""
        return self.under, self.unsure, self.strong

    @property
    def sure(self) -> list[str]:
        """How sure lineups are, from surely no problem to surely one. What fresh battles say stands further out than
        what the search says: places 0, 2, 5 and 7 are theirs."""
        near = [self.refuted, self.under, self.weak, self.weak, "Not sure yet"]
        return [*near, "Needs more", "Found by the search", "Confirmed"]

    @property
    def moved_sure(self) -> list[str]:
        """The same by a line moved in the explorer; the first and the last on fresh battles, which also may reach
        across that line."""
        return [self.under, self.under, self.weak, "Not sure yet", "Found by the search", "On fresh battles"]

    def plain(self) -> dict[str, str]:
        """For scripts."""
        return {**vars(self), "under": self.under}


def _of_line(side: str, refuted: str) -> tuple[VerdictWords, VerdictWords]:
    """Of lineups ``side`` a line, such as "over": where an objective says how strong a team is, and where none does."""
    over, corner = f"{side} the line", f"is the problem area: {side} the line"
    strength = VerdictWords(
        strong=f"{over.capitalize()} and strong",
        unsure=f"{side.capitalize()} or close, weak or unsure",
        refuted=refuted,
        over=over,
        weak=f"{side.capitalize()}, weak",
        corner=f"The tinted corner {corner}, and even the weakest team beats a typical one.",
        family="the strongest teams of lineups found unfair",
    )
    alone = replace(
        strength,
        strong=f"Found {over}",
        unsure=f"{side.capitalize()} or near the line, not sure yet",
        corner=f"The tinted part {corner}.",
        family=f"the strongest teams of lineups found {over}",
    )
    return strength, alone


LINE, LINE_ALONE = _of_line("over", "Under the line")
BELOW, BELOW_ALONE = _of_line("below", "Above the line")
"""Where the line is the most that a lineup may have to count."""

TOO_GOOD = VerdictWords(
    strong="Too good and strong",
    unsure="Too good or close, weak or unsure",
    refuted="Not too good",
    over="too good for the price",
    weak="Too good, weak",
    corner="The tinted corner is the problem area: too good for the price, and stronger than a typical team.",
    family="teams found too good for their price",
)
USELESS = VerdictWords(
    strong="Found useless",
    unsure="Perhaps useless",
    refuted="Not useless",
    over="useless",
    weak="Useless",
    corner="The tinted strip is the problem area: so little strength is left that the team is useless.",
    family="teams found useless",
)
DECIDED = VerdictWords(
    strong="Decided and strong",
    unsure="Decided or close, weak or unsure",
    refuted="Not decided",
    over="decided by going first",
    weak="Decided, weak",
    corner="The tinted corner is the problem area: going first decides, and even the weakest team beats a typical one.",
    family="the strongest teams of lineups found decided by going first",
)


def words_of(asked: VerdictWords, *, strength: bool, below: bool = False) -> VerdictWords:
    """The words of a question. Those of the line speak of strength only where an objective measures it, and of the side
    of the line that counts: ``below`` it."""
    if asked is not LINE:
        return asked
    return (BELOW if strength else BELOW_ALONE) if below else LINE if strength else LINE_ALONE
