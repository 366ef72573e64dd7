"""What the table of a sensitivity says, in words and rows for pages."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from engine.arrays import Bundle
from engine.indicators import wilson
from webapp.lib.figures import share_text
from webapp.lib.words import number, plural

POINTS = 100
SIDES = {"either": "too strong or too weak", "strong": "too strong", "weak": "too weak"}
WORDS = {"piece": "A piece", "pair": "A pair", "triple": "A part of a triple"}
PLURALS = {"piece": "Pieces", "pair": "Pairs", "triple": "Triples"}
TO_COME, DONE, LOST = range(3)
ASIDE = 9.0
"""How far kinds stand from one another in a chart, in pixels."""


class PlantedCell(NamedTuple):
    """A kind and size of break: so many of those ``planted`` were ``found``, a ``share`` with its range; ``innocent``:
    plantings where something innocent was confirmed (None: not known yet), with the range of that share; ``effect``:
    what was planted on average, in points, with its range. ``lost``: could not be planted; ``by_numbers``: were planted
    in the game's numbers."""

    kind: str
    size: float
    side: str
    planted: int
    found: int
    share: float
    low: float
    high: float
    innocent: int | None
    innocent_low: float
    innocent_high: float
    effect: float | None
    effect_low: float | None
    effect_high: float | None
    lost: int
    by_numbers: int

    @property
    def break_(self) -> str:
        """ "A piece 5 points too strong"."""
        return f"{WORDS[self.kind]} {number(self.size)} points {SIDES[self.side]}"

    @property
    def range_words(self) -> str:
        """ "85 to 96 %"."""
        return share_text(self.share, self.low, self.high).range

    @property
    def sentence(self) -> str:
        """ "A piece 5 points too strong is found in 92 of 100 plantings (85 to 96 %)."."""
        plantings = "planting" if self.planted == 1 else "plantings"
        return f"{self.break_} is found in {self.found:,} of {self.planted:,} {plantings} ({self.range_words})."

    @property
    def shown(self) -> str:
        """Its share in words."""
        return share_text(self.share, self.low, self.high).value


class Dot(NamedTuple):
    """A cell in a chart: where it stands, in per cent from the left and from the top, and ``aside`` of that in
    pixels."""

    x: float
    aside: float
    y: float
    low: float
    high: float
    kind: str


class Named(NamedTuple):
    """What was confirmed beside the breaks, so ``often``, with its effect in the game as it is."""

    name: str
    often: int
    effect: float | None
    low: float | None
    high: float | None
    innocent: bool | None


def cells_of(bundle: Bundle) -> list[PlantedCell]:
    """By kind, the smallest first."""
    found = []
    for each in bundle.meta["cells"]:
        given = {name: each[name] for name in PlantedCell._fields if name in each and not name.startswith("effect")}
        effects = {name: _points(each[name]) for name in ("effect", "effect_low", "effect_high")}
        values = {**given, **effects, "side": bundle.meta["side"], "share": each["share"] or 0.0}
        found.append(PlantedCell(**values))
    order = list(WORDS)
    return sorted(found, key=lambda cell: (order.index(cell.kind), cell.size))


def innocents(cells: list[PlantedCell]) -> str:
    """How often something innocent was confirmed, in a sentence; empty while that is not known."""
    known = [cell for cell in cells if cell.planted]
    if not known or any(cell.innocent is None for cell in known):
        return ""
    count, many = sum(cell.innocent or 0 for cell in known), sum(cell.planted for cell in known)
    low, high = wilson(count, many)
    ends = share_text(None, low, high).range
    if not count:
        return f"In none of {many:,} plantings was anything innocent confirmed ({ends})."
    return f"In {count:,} of {many:,} plantings something innocent was confirmed ({ends})."


def unfinished(bundle: Bundle | None) -> str:
    """How many battles the game did not finish by which effects are known, and what that may do to them; empty where it
    finished all, and in tables from before they were counted."""
    lost = int(bundle.meta.get("unfinished", 0)) if bundle else 0
    if not bundle or not lost:
        return ""
    return (
        f"The game did not finish {number(lost)} of {plural(int(bundle.meta['measured']), 'battle')} that measured "
        "effects, which are left out: where it depends on who plays or wins which these are, so does what was planted "
        "and what is called innocent."
    )


def sizes_along(cells: list[PlantedCell]) -> dict[float, float]:
    """Where each size stands in a chart, in per cent."""
    widest = max((cell.size for cell in cells), default=1.0) * 1.1
    return {cell.size: 100 * cell.size / widest for cell in cells}


def dots(cells: list[PlantedCell]) -> list[Dot]:
    """Size of break against how often it was found; kinds stand side by side."""
    along, kinds = sizes_along(cells), list(dict.fromkeys(cell.kind for cell in cells))
    return [
        Dot(along[cell.size], ASIDE * (kinds.index(cell.kind) - (len(kinds) - 1) / 2),
            _height(cell.share), _height(cell.low), _height(cell.high), cell.kind)
        for cell in cells if cell.planted
    ]  # fmt: skip


def beside(bundle: Bundle) -> list[Named]:
    """What else was confirmed, the most frequent first."""
    pieces = bundle.meta["pieces"]
    found = []
    for each in bundle.meta["beside"]:
        name = " + ".join(pieces[p]["name"] for p in each["pieces"])
        if each["least"] > 1:
            name = f"{name}, {each['least']} or more"
        effect, low, high = (_points(each[key]) for key in ("effect", "low", "high"))
        found.append(Named(name, each["times"], effect, low, high, each["innocent"]))
    return sorted(found, key=lambda named: (-named.often, named.name))


def rows_of(bundle: Bundle | None) -> list[dict[str, Any]]:
    """A row for each planting that is over."""
    if bundle is None:
        return []
    meta, columns = bundle
    rows = []
    for i in range(len(columns["size"])):
        if columns["status"][i] == TO_COME:
            continue
        pieces = [meta["pieces"][p] for p in columns["piece"][i].tolist() if p >= 0]
        numbers = {name: _known(float(columns[name][i])) for name in ("effect", "low", "high", "chance", "value")}
        points = {name: _points(numbers[name]) for name in ("effect", "low", "high")}
        rows.append({
            "planting": i + 1, "pieces": [piece["id"] for piece in pieces],
            "name": " + ".join(piece["name"] for piece in pieces),
            "wanted": POINTS * float(columns["size"][i]) * int(columns["sign"][i]), **points,
            "planted": columns["status"][i] == DONE, "through": _through(meta["paths"][i], numbers["chance"]),
            "number": meta["paths"][i], "value": numbers["value"], "chance": numbers["chance"],
            "found": _judged(int(columns["found"][i])), "innocent": _judged(int(columns["innocent"][i])),
        })  # fmt: skip
    return rows


def _through(path: str, chance: float | None) -> str:
    return "numbers" if path else "outcomes" if chance is not None else ""


def _judged(value: int) -> bool | None:
    return None if value < 0 else bool(value)


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _points(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else POINTS * value


def _height(share: float) -> float:
    return 100 * (1 - share)
