"""What the verdicts of a question are called: in legends, tables, details and files alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True)
class Words:
    """``strong``, ``unsure`` and ``under`` name the three verdicts: what fresh battles leave open may be unsure and, by
    its mean, close under the line; ``over`` ends the sentence "the lineup is …", and
    ``weak`` is over in few words, but weak. ``corner`` says what the tinted part of a chart is, ``family`` whose pieces
    families share."""

    strong: str
    unsure: str
    under: str
    over: str
    weak: str
    corner: str
    family: str

    @property
    def verdicts(self) -> tuple[str, str, str]:
        """By the engine's number of a verdict."""
        return self.under, self.unsure, self.strong

    @property
    def moved_sure(self) -> list[str]:
        """How sure lineups are by a line moved in the explorer, from surely no problem to surely one; the first and the
        last on fresh battles."""
        return [self.under, self.under, self.weak, "Not sure yet", "Found by the search", "On fresh battles"]

    def plain(self) -> dict[str, str]:
        """For scripts."""
        return asdict(self)


LINE = Words(
    strong="Over the line and strong",
    unsure="Over or close, weak or unsure",
    under="Under the line",
    over="over the line",
    weak="Over, weak",
    corner="The tinted corner is the problem area: over the line, and even the weakest team beats a typical one.",
    family="the strongest teams of what the search found unfair",
)
LINE_ALONE = replace(
    LINE,
    strong="Found over the line",
    unsure="Over or close, not sure yet",
    corner="The tinted part is the problem area: over the line.",
    family="the strongest teams of what the search found over the line",
)
"""Where no objective says how strong a team is."""

BELOW = Words(
    strong="Below the line and strong",
    unsure="Below or close, weak or unsure",
    under="Above the line",
    over="below the line",
    weak="Below, weak",
    corner="The tinted corner is the problem area: below the line, and even the weakest team beats a typical one.",
    family="the strongest teams of what the search found unfair",
)
"""Where the line is the most that a lineup may have to count."""
BELOW_ALONE = replace(
    BELOW,
    strong="Found below the line",
    unsure="Below or close, not sure yet",
    corner="The tinted part is the problem area: below the line.",
    family="the strongest teams of what the search found below the line",
)

TOO_GOOD = Words(
    strong="Too good and strong",
    unsure="Too good or close, weak or unsure",
    under="Not too good",
    over="too good for the price",
    weak="Too good, weak",
    corner="The tinted corner is the problem area: too good for the price, and stronger than a typical team.",
    family="teams that the search found too good for their price",
)
USELESS = Words(
    strong="Found useless",
    unsure="Perhaps useless",
    under="Not useless",
    over="useless",
    weak="Useless",
    corner="The tinted strip is the problem area: so little strength is left that the team is useless.",
    family="teams that the search found useless",
)
DECIDED = Words(
    strong="Decided and strong",
    unsure="Decided or close, weak or unsure",
    under="Not decided",
    over="decided by going first",
    weak="Decided, weak",
    corner="The tinted corner is the problem area: going first decides, and even the weakest team beats a typical one.",
    family="the strongest teams of lineups that the search found decided by going first",
)


def words_of(asked: Words, *, strength: bool, below: bool = False) -> Words:
    """The words of a question. Those of the line speak of strength only where an objective measures it, and of the side
    of the line that counts: ``below`` it."""
    if asked is not LINE:
        return asked
    return (BELOW if strength else BELOW_ALONE) if below else LINE if strength else LINE_ALONE
