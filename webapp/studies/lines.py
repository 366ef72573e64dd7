"""Lines over what a job has done so far, as a drawing and as a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from engine.text import written
from webapp.lib.first import first
from webapp.lib.words import lower_first, number

LEFT, RIGHT, TOP, BOTTOM = 64.0, 616.0, 16.0, 220.0
END = 570.0
"""From here on a text below the axis ends at its mark; elsewhere its middle is there."""
LETTER, GAP = 13.4, 12.0
"""Width of a letter at most, and between two texts."""
TAG = 20.0
"""Between the tags of two lines."""
SHAPES, SPOTS = 8, 6
"""Shapes that tell lines apart, and how often a line has its own, about."""
BAR = 8.0
"""Width of a band that has a single point."""
DOTS = 40
"""Points of a line at most that are shown one by one."""
MARKS = 4
"""Numbers that an axis names, at most about."""
MORE = 0.5
"""How far an axis goes on beyond the lines, for their ranges, as a share of what the lines span."""
LEAST, MOST = 3, 6
"""Numbers of an axis that is to have ``several``."""
Column = Sequence[float | None]


class Frame:
    """Where values stand in a drawing: ``across`` and ``up`` are the ends of its axes."""

    def __init__(self, across: tuple[float, float], up: tuple[float, float]) -> None:
        self.across, self.up = across, up

    def x(self, value: float) -> float:
        """How far to the right."""
        first, last = self.across
        return LEFT + (RIGHT - LEFT) * (value - first) / max(last - first, 1e-9)

    def y(self, value: float) -> float:
        """How far down."""
        low, high = self.up
        if high <= low:
            return (TOP + BOTTOM) / 2
        return BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low)


class LineRange(NamedTuple):
    """Between what the values of a line lie: its ``low`` and ``high`` ends; ``words``: a value with both; and
    ``of`` how much they tell, such as "100 episodes" (empty: nobody says)."""

    low: Column
    high: Column
    words: Callable[[float, float, float], str]
    of: str = ""


class Tip(NamedTuple):
    """What a point of a line says where somebody points at it."""

    x: float
    y: float
    text: str


class ChartLine(NamedTuple):
    """``mark``: the class that draws it; ``name``: what it is; ``band``: its range, as SVG has it (empty: it has none),
    and ``tips`` of its points; ``place``: its number among those of one mark that are told apart, from 1 (0: it is told
    from all others by its mark); ``sparse``: whether nothing is known at places between its few points."""

    mark: str
    name: str
    points: list[tuple[float, float]]
    band: str = ""
    tips: Sequence[Tip] = ()
    place: int = 0
    sparse: bool = False

    @property
    def dots(self) -> Sequence[tuple[float, float]]:
        """Its points, where one would not see them: those of a line that says nothing of what is between them, as long
        as they are few, and one that is alone."""
        alone = len(self.points) == 1
        return self.points if alone or (self.sparse and not self.tips and not self.place) else ()

    @property
    def path(self) -> str:
        """As SVG has it."""
        return path(self.points)

    @property
    def shape(self) -> int:
        """The shape that it has; 0 beyond those that there are."""
        return self.place if self.place <= SHAPES else 0

    @property
    def spots(self) -> list[tuple[float, float]]:
        """Where its shape stands: at points that lie apart, and at others than the shapes of its neighbours."""
        step = max(1, math.ceil(len(self.points) / SPOTS))
        return self.points[(self.shape - 1) % step :: step] if self.shape else []


class Stretch(NamedTuple):
    """A part of the axis below a drawing, from ``x`` on; ``text``: what it is, or empty where there is no room."""

    text: str
    x: float
    width: float

    @property
    def middle(self) -> float:
        """Where its text stands."""
        return self.x + self.width / 2


class Tag(NamedTuple):
    """``text`` at the height ``y`` beside a drawing, and the ``lead`` to it from the end of the line that it is the tag
    of (``name``), as SVG has it."""

    name: str
    text: str
    y: float
    lead: str


def _tagged(lines: Sequence[ChartLine], tags: Mapping[str, str]) -> list[Tag]:
    """One below the other, so that none covers another, each as near to the end of its line as that allows."""
    ends = sorted((line.points[-1][::-1], tags[line.name], line.name) for line in lines if line.name in tags)
    heights = [y for (y, _), _, _ in ends]
    for i in range(1, len(heights)):
        heights[i] = max(heights[i], heights[i - 1] + TAG)
    lowest = BOTTOM
    for i in reversed(range(len(heights))):
        heights[i] = min(heights[i], lowest)
        lowest = heights[i] - TAG
    return [
        Tag(name, text, height, path([(x, y), (RIGHT + 6, height)]))
        for ((y, x), text, name), height in zip(ends, heights, strict=True)
    ]


def side_by_side(places: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Those texts below an axis that leave room between each other, even in the large letters of a narrow page."""
    found: list[tuple[str, float]] = []
    free = -math.inf
    for text, x in places:
        width = LETTER * len(text)
        first = x - (width if x > END else width / 2)
        if first >= free:
            found.append((text, x))
            free = first + width + GAP
    return found


class Lines:
    """Lines of (mark, name, column) over ``x``, those that come last above the others; a line leaves out what is not
    known. ``words``: of a place along the axis; ``several``: what a legend says of marks that many lines have;
    ``apart``: the names of those that have one mark and are told apart by shapes, and by pointing at them;
    ``up``, ``across``: the ends of the axes, where they are known; ``tags``: by name, what stands at the end of a line;
    ``ranges``: by name, between what its values lie; ``says``: a value in words, with its unit where it has one.
    ``levels`` and ``places``: texts of the axes and where they stand; ``keys``: (mark, words) of the legend; ``heads``
    and ``rows``: all as a table; ``stretches``: parts of the axis."""

    stretches: Sequence[Stretch] = ()

    def __init__(
        self, along: str, x: Sequence[float], columns: Sequence[tuple[str, str, Column]],
        words: Callable[[float], str] | None = None, several: Mapping[str, str] | None = None,
        up: tuple[float, float] | None = None, tags: Mapping[str, str] | None = None,
        across: tuple[float, float] | None = None, ranges: Mapping[str, LineRange] | None = None,
        says: Callable[[float], str] | None = None, apart: Sequence[str] = (),
    ) -> None:  # fmt: skip
        found = [value for _, _, column in columns for value in column if known(value)]
        words, says, ranges = words or shown, says or shown, ranges or {}
        self.frame = frame = Frame(across or ends(x), up or ends(found))
        cells = [[*_cells(column, ranges.get(name), says)] for _, name, column in columns]
        places = [*map(words, x)]
        drawn = [
            ChartLine(mark, name, [*_points(frame, x, column)], sparse=_sparse(column))
            for mark, name, column in columns
        ]
        drawn = [
            _with_range(line, frame, x, ranges[line.name], zip(places, texts, strict=True))
            if line.name in ranges else line
            for line, texts in zip(drawn, cells, strict=True)
        ]  # fmt: skip
        place = {name: i for i, name in enumerate(apart, 1)}
        self.along = along
        self.lines = [line._replace(place=place.get(line.name, 0)) for line in drawn if line.points]
        self.apart = [line for line in self.lines if line.place]
        self.tags = _tagged(self.lines, tags or {})
        self.keys = {line.mark: lower_first(line.name) for line in self.lines if not line.place} | dict(several or {})
        self.levels = [(says(value), frame.y(value)) for value in _levels(*frame.up, says)]
        self.places = spaced(*frame.across, words, frame.x)
        self.heads = [along.partition(" →")[0], *(name for _, name, _ in columns)]
        self.rows = [[at, *values] for at, values in zip(places, zip(*cells, strict=True), strict=True)]


def known(value: float | None) -> bool:
    """Whether somebody has told a number."""
    return value is not None and math.isfinite(value)


def ends(values: Sequence[float | None]) -> tuple[float, float]:
    """The lowest and the highest of the known ones; 0 and 1 where there is none."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    return min(finite, default=0.0), max(finite, default=1.0)


def from_nought(columns: Iterable[Column]) -> tuple[float, float]:
    """The ends of an axis of values that are never below 0."""
    most = max((value for column in columns for value in column if value is not None and known(value)), default=0.0)
    return 0.0, most if most > 0 else 1.0


def axis(lines: Sequence[Column], ranges: Sequence[Column]) -> tuple[float, float]:
    """The ends of an axis: ranges of few battles may be so wide that lines would lie flat between them."""
    low, high = ends([value for column in lines for value in column])
    values = [value for column in ranges for value in column if known(value)]
    if not values:
        return low, high
    least, most = ends(values)
    more = MORE * (high - low) if high > low else most - least
    return max(min(least, low), low - more), min(max(most, high), high + more)


def path(points: Sequence[tuple[float, float]]) -> str:
    """A line through points, as SVG has it."""
    return "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def marks(low: float, high: float) -> list[float]:
    """Round numbers between the ends of an axis; its one number where both are the same."""
    if high <= low:
        return [low]
    rough = (high - low) / MARKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = first(power * times for times in (1, 2, 5, 10) if power * times >= 0.999 * rough)
    return _multiples(step, low, high)


def _multiples(step: float, low: float, high: float) -> list[float]:
    return [step * k for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _levels(low: float, high: float, says: Callable[[float], str]) -> list[float]:
    """Round numbers of the axis beside a drawing, none with the text of another: finer ones where there would be fewer
    than ``LEAST``."""
    found = marks(low, high)
    finer = several(low, high) if high > low and len(found) < LEAST else found
    chosen = finer if len({*map(says, finer)}) == len(finer) else found
    return [*{says(value): value for value in reversed(chosen)}.values()][::-1]


def spaced(
    low: float, high: float, words: Callable[[float], str], at: Callable[[float], float]
) -> list[tuple[str, float]]:
    """As many round numbers between the ends of an axis, in ``words`` and where they stand, as leave room between each
    other, and not more than ``MOST``."""
    if high <= low:
        return side_by_side([(words(low), at(low))])
    power, found = 10.0 ** math.floor(math.log10(high - low)), list[tuple[str, float]]()
    for step in (power * times for times in (5, 4, 2, 1, 0.5, 0.4, 0.2)):
        finer = [(words(value), at(value)) for value in _multiples(step, low, high)]
        shown_ones = side_by_side(finer)
        if len(finer) > MOST or len({text for text, _ in finer}) < len(finer) or len(shown_ones) < len(finer) - 1:
            break
        found = shown_ones if len(shown_ones) >= len(found) else found
    return found


def several(low: float, high: float) -> list[float]:
    """Three to six round numbers between the two different ends of an axis."""
    power, found = 10.0 ** math.floor(math.log10(high - low)), list[float]()
    for step in (power * times for times in (2, 1, 0.5, 0.2)):
        found = _multiples(step, low, high)
        if len(found) >= LEAST:
            break
    return found if len(found) <= MOST else found[::2]


def shown(value: float | None) -> str:
    """Three digits, or all of a larger whole part: "0.012", "−1,234", "12.5"."""
    if value is None or value == 0 or abs(value) >= 100:
        return number(value, 0)
    digits = 2 - math.floor(math.log10(abs(value)))
    if digits > 6:
        return written(value, ".2g")
    text = number(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_ends(value: float, low: float, high: float) -> str:
    """ "0.62 (0.55 to 0.68)"."""
    return f"{shown(value)} ({shown(low)} to {shown(high)})"


def _points(frame: Frame, x: Sequence[float], column: Column) -> Iterator[tuple[float, float]]:
    for at, value in zip(x, column, strict=True):
        if value is not None and math.isfinite(value):
            yield frame.x(at), frame.y(value)


def _sparse(column: Column) -> bool:
    """Whether a column leaves out places between its values, of which there are few enough to show each."""
    at = [i for i, value in enumerate(column) if known(value)]
    return len(at) <= DOTS and len(at) < (at[-1] - at[0] + 1 if at else 0)


def _cells(column: Column, around: LineRange | None, says: Callable[[float], str]) -> Iterator[str]:
    """What stands in a table for each value, with its range where it has one; nothing where it is not known."""
    for i, value in enumerate(column):
        low, high = (None, None) if around is None else (around.low[i], around.high[i])
        if value is None or not math.isfinite(value):
            yield ""
        elif around is None or low is None or high is None:
            yield says(value)
        else:
            yield around.words(value, low, high)


def _with_range(
    line: ChartLine, frame: Frame, x: Sequence[float], around: LineRange, texts: Iterable[tuple[str, str]]
) -> ChartLine:
    """A line with its range as a band within the axis, and what its points say: at each place of ``x`` where it is, and
    its value."""
    least, most = frame.up
    both = [(at, a, b) for at, a, b in zip(x, around.low, around.high, strict=True) if a is not None and b is not None]
    both = [(at, max(a, least), min(b, most)) for at, a, b in both if known(a) and known(b)]
    aside = (-BAR / 2, BAR / 2) if len(both) == 1 else (0.0,)
    low = [(frame.x(at) + dx, frame.y(a)) for at, a, _ in both for dx in aside]
    high = [(frame.x(at) + dx, frame.y(b)) for at, _, b in both for dx in aside]
    of = f", {around.of}" if around.of else ""
    said = [f"{line.name}, {place}: {value}{of}" for place, value in texts if value]
    tips = [Tip(*point, text) for point, text in zip(line.points, said, strict=True)]
    return line._replace(band=f"{path([*high, *reversed(low)])} Z" if both else "", tips=tips)
