"""What fresh battles say of one lineup, in numbers and in words."""

from __future__ import annotations

from typing import NamedTuple

from engine.verdicts import Finding, mark
from webapp.lib.words import number
from webapp.studies.patterns import MEANT
from webapp.studies.verdict_words import VerdictWords

WHY_ACROSS = (
    "A range has two sides and is of its lineup alone; “confirmed” asks about one side, of all lineups that were "
    "played again together."
)
"""How a lineup can be confirmed while the range beside that word reaches across the line."""


class Searched(NamedTuple):
    """What a search had said of a lineup before it was played again; a half that is not known is None."""

    mean: tuple[float, ...]
    half: tuple[float | None, ...]
    samples: int
    verdict: int


class Fresh(NamedTuple):
    """One lineup on fresh battles: ``mean`` and ``half`` (the longer side of the 95 % range; None where it has no end,
    as nobody says how far values go) of each objective, replicates, battles, what they say, about how many more battles
    would tell where they do not, and ``of`` what (the line, or its strength), and whether its whole range is ``over`` a
    line. ``gap``: in words, what is not told apart. ``across``: what the range of a confirmed lineup still reaches
    across. ``endless``: no battles would tell, as too many came out alike and the game does not say how far others can
    go. ``both``: the line and its strength are open. ``rechecked``: these are battles of re-checks, none of them of
    the end of its search."""

    mean: tuple[float, ...]
    half: tuple[float | None, ...]
    samples: int
    battles: int
    finding: Finding
    needs: int
    over: bool
    of: str = ""
    gap: str = ""
    across: str = ""
    endless: bool = False
    both: bool = False
    rechecked: bool = False

    @property
    def why(self) -> str:
        """How a lineup can be confirmed while the range beside the word says less; empty where it does not."""
        return f"Its own 95 % range still reaches across {self.across}. {WHY_ACROSS}" if self.across else ""

    def sentence(self, words: VerdictWords) -> str:
        """The finding as the pages say it, in the words of the job's question."""
        battles = f"{number(self.battles)} fresh battles"
        what = f"{words.over} and strong" if self.both else "strong" if self.of == "strength" else words.over
        open_ = f"whether it is {what}: {self.gap}"
        return {
            "confirmed": f"Confirmed on {battles}",
            "weak": f"{words.over.capitalize() if self.over else 'Near the line'} but weak, on {battles}",
            "refuted": f"{words.refuted} on {battles}",
            "more": f"Needs about {number(self.needs)} more battles to tell {open_}",
            "close": f"{battles} cannot tell {open_}" if self.endless else f"Too close on {battles} to tell {open_}",
            "measured": f"Measured on {battles}",
            "meant": f"{MEANT}, measured on {battles}",
        }[self.finding]

    def short(self, words: VerdictWords) -> str:
        """The same where there is little room."""
        near = "in strength" if self.of == "strength" and not self.both else "to the line"
        return {
            "confirmed": "Confirmed",
            "weak": words.weak if self.over else words.near,
            "refuted": words.refuted,
            "more": "Needs more",
            "close": "Cannot tell" if self.endless else f"Close {near}",
            "measured": "Measured",
            "meant": MEANT,
        }[self.finding]

    @property
    def mark(self) -> int:
        """The verdict as charts mark it."""
        return mark(self.finding)
