"""What a search for changes found, in words and rows for pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.arrays import Bundle
from engine.config.patch import MOST_CHANGES
from webapp.lib.figures import telling
from webapp.lib.words import number, plural
from webapp.patches.further import Further, further
from webapp.worth.furthest import Furthest

POINTS = 100
WAYS = {"prices": "Prices alone", "attributes": "What pieces do", "rules": "With a rule", "": "As it is"}
VERDICTS = {
    "works": "Works",
    "fails": "Does not work",
    "open": "Not settled",
    "unproved": "Not proved",
}
MARKS = {"works": "fair", "fails": "strong", "open": "unsure", "unproved": ""}


class Effect(NamedTuple):
    """How far something that is watched is from fair, in points, before and after; None: there is no such team.
    ``mark``: how it is drawn after, by fresh battles; ``digits``: after the point, of before and after alike."""

    name: str
    suspect: bool
    before: float
    worth: float | None
    low: float | None
    high: float | None
    mark: str = ""
    digits: int = 1


class PatchRow(NamedTuple):
    """A patch. ``worst``: how far from fair, in points, the farthest of what is watched is, with its range; ``size``:
    shares of ranges, in per cent. ``number`` names it in addresses; 0 is the game as it is. ``matters``: from how many
    points on an effect does."""

    number: int
    words: list[str]
    way: str
    verdict: str
    changes: int
    size: float
    worst: float
    low: float
    high: float
    left: float
    battles: int
    effects: list[Effect]
    table: Mapping[str, Any]
    matters: float

    @property
    def said(self) -> str:
        """Its verdict."""
        return VERDICTS[self.verdict] if self.changes else ""

    @property
    def mark(self) -> str:
        """How it is drawn."""
        return MARKS[self.verdict]

    @property
    def title(self) -> str:
        """All its changes in a line."""
        return "; ".join(self.words) or "The game as it is"

    @property
    def called(self) -> str:
        """The way it changes the game."""
        return WAYS[self.way]

    @property
    def largest(self) -> float | None:
        """The largest effect of another piece that is not excluded, in points."""
        return _points(self.table["largest"])

    @property
    def largest_told(self) -> str:
        """It, in as many digits as tell it from what matters."""
        return number(self.largest, telling(self.largest or 0.0, None, 1, [self.matters]))

    @property
    def unfinished(self) -> str:
        """How many of its fresh battles the game did not finish; empty where it finished all. Searches from before
        that was counted say nothing."""
        many, played = self.table.get("unfinished") or (0, 0)
        if not many:
            return ""
        return (
            f"The game did not finish {number(many)} of its {plural(played, 'fresh battle')}. Ranges hold whichever "
            "way these would have ended, so they are wide."
        )

    @property
    def digits(self) -> int:
        """After the point, of the farthest and its range."""
        return telling(self.worst, (self.low, self.high), 1, [self.matters])

    @property
    def proved(self) -> bool:
        """Whether fresh battles say so."""
        return self.verdict in ("works", "fails", "open")


class PatchesResult:
    """``rows``: the recommended patch first, then the others by size, the game as it is last. ``ended_after``: so many
    battles, where the search is over; ``intended``: whether something was said to be meant so; ``most``: so many
    changes were allowed."""

    def __init__(
        self, bundle: Bundle, ended_after: int | None = None, *, intended: bool = False, most: int = MOST_CHANGES
    ) -> None:
        self.meta, self.columns = bundle
        self.ended_after, self.most = ended_after, most
        self._nothing = "Apart from what is meant to be so, nothing" if intended else "Nothing"
        self.matters = POINTS * float(self.meta["matters"])
        rows = [self._row(i) for i in range(len(self.meta["patches"]))]
        best = next((row for row in rows if row.verdict == "works"), None)
        self.rows = sorted(rows, key=lambda row: (row is not best, not row.changes, row.size))

    @property
    def best(self) -> PatchRow | None:
        """The smallest change that works, by fresh battles."""
        return next((row for row in self.rows if row.verdict == "works"), None)

    @property
    def unproved(self) -> list[PatchRow]:
        """Changes that fresh battles say nothing of."""
        return [row for row in self.rows if row.changes and not row.proved]

    @property
    def present(self) -> PatchRow | None:
        """The game as it is."""
        return self.rows[-1] if self.rows else None

    @property
    def sentence(self) -> str:
        """The answer."""
        suspects = [each["name"] for each in self.meta["watched"] if each["suspect"]]
        if not suspects:
            return f"{self._nothing} stands out, so there is nothing to change."
        if self.best:
            changes = "One small change works" if self.best.changes == 1 else f"{self.best.changes} changes work"
            return f"{changes}: {self.best.title}."
        if self.ended_after is not None:
            return self._unproved_after(self.ended_after)
        if any(row.proved for row in self.rows):
            return "No change is proved to work yet. The best ones are below, with what is still wrong."
        if len(self.rows) > 1:
            return "Changes are being tried. Nothing is told before it is proved on fresh battles."
        return f"To be mended: {', '.join(suspects)}."

    @property
    def furthest(self) -> Furthest:
        """Where nothing is to be mended, the largest effect of a single piece that its battles do not rule out."""
        return self._left_open("single piece")

    @property
    def furthest_pair(self) -> Furthest:
        """The same of a pair."""
        return self._left_open("pair")

    def _left_open(self, of: str) -> Furthest:
        found = self.meta.get("left_open", {}).get(of)  # searches from before this was kept have none
        return Furthest(**found) if found else Furthest()

    @property
    def of_before(self) -> list[str]:
        """Where the numbers before a change come from, and why suspects have others, in sentences."""
        said = [
            "Before: what the battles of the search for changes say of the game as it is.",
            "Suspects rest on other battles, so their number for the same piece may differ by chance.",
        ]
        pairs = (
            "Of a pair it may differ more: under a change a pair is compared with an even battle, among suspects with "
            "an average pair or with what its two pieces explain one by one."
        )
        return [*said, pairs] if self.of_pairs else said

    def _unproved_after(self, battles: int) -> str:
        """That it ended without a proof, and what to do next."""
        if not self.meta.get("free", True):  # searches from before this was kept have none
            return self._nothing_free
        if takes := self.meta.get("takes"):
            return (
                f"So much is unfair that {plural(battles, 'battle')} are too few to try a change: {number(takes)} are "
                f"the fewest, and a proof takes about {number(self.further.battles)}."
            )
        below = " The best ones are below, with what is still wrong." if len(self.rows) > 1 else ""
        few = ""
        if self.further.changes:
            few = f" More is to be mended than {plural(self.most, 'change')} can, and no more were allowed."
        return f"No change was proved to work with {plural(battles, 'battle')}.{below}{few} {self._what_next}"

    @property
    def further(self) -> Further:
        """How many battles it needs, where it ended without a proof."""
        return further(self.meta, self.ended_after or 0, self.most)

    @property
    def _what_next(self) -> str:
        told = self.further
        if told.wide is None:
            return "Start it again with more battles, with more changes together or with larger ones."
        ends = f"Ranges went up to {number(told.wide, 1)} points to either side"
        if told.wide <= told.goal:
            return f"{ends}, so more battles hardly help. Start it again with more changes together or larger ones."
        needs = f"{ends}; a proof needs about {number(told.goal, 1)}"
        return (
            f"{needs}, which takes about {plural(told.battles, 'battle')}."
            if told.battles
            else (f"{needs}, which takes more battles than one search may play. Let it mend fewer pieces at a time.")
        )

    @property
    def _nothing_free(self) -> str:
        """What is unfair, that nothing of it may change, and what to do next."""
        suspects = [each for each in self.meta["watched"] if each["suspect"]]
        rule = ", or a rule that keeps a pair apart" if any(len(each["pieces"]) > 1 for each in suspects) else ""
        return (
            f"To be mended: {', '.join(each['name'] for each in suspects)}. Nothing of that may change in this search. "
            f"Start it again and allow other numbers to change{rule}."
        )

    def of(self, number: int) -> PatchRow | None:
        """The row of a number."""
        return next((row for row in self.rows if row.number == number and row.changes), None)

    @property
    def minus(self) -> float:
        """Where they begin."""
        return -self.reach

    @property
    def reach(self) -> float:
        """How far the bars of effects go, in points."""
        ends = [abs(e) for row in self.rows for x in row.effects for e in (x.low, x.high) if e is not None]
        return max([*ends, self.matters])

    @property
    def of_pairs(self) -> bool:
        """Whether a pair is watched."""
        return any(len(each["pieces"]) > 1 for each in self.meta["watched"])

    def _row(self, i: int) -> PatchRow:
        told = self.meta["patches"][i]
        size, worst, low, high, left = (
            POINTS * float(self.columns[name][i]) for name in ("size", "worst", "low", "high", "left")
        )
        changes = int(self.columns["changes"][i])
        return PatchRow(
            i + 1 if changes else 0, told["words"], told["way"], told["verdict"], changes,
            size, worst, low, high, left, int(self.columns["battles"][i]), self._effects(told), told, self.matters,
        )  # fmt: skip

    def _effects(self, told: Mapping[str, Any]) -> list[Effect]:
        present, fresh, found = self.meta["patches"][-1]["worths"], MARKS[told["verdict"]], list[Effect]()
        for each, was, now in zip(self.meta["watched"], present, told["worths"], strict=True):
            worth, low, high = (_points(end) for end in now)
            mark = self._side(low, high) if fresh else ""
            before, lines = POINTS * (was[0] or 0.0), (-self.matters, self.matters)
            ends = None if low is None or high is None else (low, high)
            digits = max(telling(before, None, 1, lines), telling(worth or 0.0, ends, 1, lines))
            found.append(Effect(each["name"], each["suspect"], before, worth, low, high, mark, digits))
        return found

    def _side(self, low: float | None, high: float | None) -> str:
        """The mark of a range that lies within what matters, beyond it, or on both sides."""
        least, most = low or 0.0, high or 0.0
        if -self.matters <= least and most <= self.matters:
            return "fair"
        return "strong" if least > self.matters or most < -self.matters else "unsure"


def _points(value: float | None) -> float | None:
    return None if value is None else POINTS * value
