"""How each policy of a course learns: a line with its ranges, over the lessons in which it did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from webapp.lib.figures import share_with_ends
from webapp.lib.words import number, percent
from webapp.studies.lines import RIGHT, Column, LineRange, Lines, Stretch, axis, shown, side_by_side, with_ends
from webapp.studies.rounds import Columns

MARKS = ("first", "second", "third", "other")
WINS = "win"
"""The metric that is a share."""
Range = tuple[Column, Column]


class CourseLines(Lines):
    """Lines over lessons. ``ranged``: the ranges that are known, by name of a line; ``lessons``: the number of that in
    which each value of ``x`` lies; ``shares``: values are shares, told in per cent."""

    def __init__(
        self, x: Sequence[float], columns: Sequence[tuple[str, str, Column]], ranged: Mapping[str, Range],
        lessons: Sequence[int], others: Mapping[str, str], *, shares: bool,
    ) -> None:  # fmt: skip
        up = axis([column for _, _, column in columns], [end for both in ranged.values() for end in both])
        along, across = "Decisions learned from → later", (0.0, max(x, default=1.0))
        words, says = (share_with_ends, percent) if shares else (with_ends, shown)
        ranges = {name: LineRange(low, high, words) for name, (low, high) in ranged.items()}
        super().__init__(
            along, x, columns, lambda at: number(round(at)), others, up, across=across, ranges=ranges, says=says
        )
        self.stretches = [*self._stretches(x, lessons)]
        self.heads = [self.heads[0], "Lesson", *self.heads[1:]]
        self.rows = [[at, str(lesson), *texts] for (at, *texts), lesson in zip(self.rows, lessons, strict=True)]

    def _stretches(self, x: Sequence[float], lessons: Sequence[int]) -> Iterator[Stretch]:
        """The lessons; each begins where the one before it ended."""
        last = dict(zip(lessons, x, strict=True))
        edges = [self.frame.x(0.0), *(self.frame.x(end) for end in last.values())]
        middles = [(a + b) / 2 for a, b in pairwise(edges)]
        whole = [(f"Lesson {lesson}", at) for lesson, at in zip(last, middles, strict=True)]
        short = [(text if i == 0 else text.removeprefix("Lesson "), at) for i, (text, at) in enumerate(whole)]
        fit = side_by_side(whole)
        texts = {at: text for text, at in (fit if len(fit) == len(whole) else side_by_side(short))}
        for middle, (a, b) in zip(middles, pairwise(edges), strict=True):
            yield Stretch(texts.get(middle, ""), a, min(b, RIGHT) - a)


def course_lines(learning: Sequence[str], columns: Columns, what: str) -> CourseLines:
    """A line for each policy that learns; ``what``: the metric. Pairs of a tournament are no rounds."""
    rounds = columns.get("tick", [])
    pairs = columns.get("pairs", [None] * len(rounds))
    learned = [i for i, pair in enumerate(pairs) if pair is None]
    nothing: list[float | None] = [None] * len(rounds)

    def column(name: str) -> list[float | None]:
        found = columns.get(name, nothing)
        return [found[i] for i in learned]

    names = {name: f"{name}/{what}" for name in learning}
    lines = [(MARKS[min(i, len(MARKS) - 1)], name, column(names[name])) for i, name in enumerate(learning)]
    ranged = {name: (column(f"{metric}_low"), column(f"{metric}_high")) for name, metric in names.items()}
    others = {MARKS[-1]: "the others"} if len(learning) > len(MARKS) else {}
    lessons = [int(lesson or 0) for lesson in column("lesson")]
    return CourseLines([step or 0.0 for step in column("steps")], lines, ranged, lessons, others, shares=what == WINS)
