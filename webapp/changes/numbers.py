"""The numbers of a game that somebody may change, as sliders: their bounds, what they are now, and what was typed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from engine.simulators.contract import GameSpec, Parameter
from webapp.games import edits
from webapp.games.numbers import field_text
from webapp.lib.figures import with_unit
from webapp.lib.words import lower_first

STEPS = 200
"""Of a slider, at most about."""
NEAR = 2.0
"""How many times less and more than what it is a slider goes."""
MOST = 12
"""Numbers that stand as sliders."""


@dataclass(frozen=True)
class Slider:
    """A number of the game: ``now`` and what it is to become, ``text`` as somebody typed it. ``fair``: the fair price
    with its range, where it is a price and that is known; ``problem``: why what was typed is no such number."""

    parameter: Parameter
    title: str
    now: float
    text: str
    problem: str = ""
    fair: tuple[float, float, float] | None = None

    @property
    def path(self) -> str:
        return self.parameter.path

    @property
    def unit(self) -> str:
        return self.parameter.unit

    @property
    def step(self) -> str:
        """What a press of an arrow moves: 1 where the numbers are whole, else a round share of the track."""
        return field_text(self._step)

    @property
    def _step(self) -> float:
        low, high = self._near
        whole = all(float(each).is_integer() for each in (self.parameter.low, self.parameter.high, self.now))
        rough = (high - low) / STEPS
        if whole and rough < 1:
            return 1.0
        size = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
        return next((m * size for m in (1, 2, 5) if m * size >= rough), 10 * size)

    @property
    def _near(self) -> tuple[float, float]:
        """The part of the game's range around what it is and what its fair price is: from a half to twice of these."""
        low, high = self.parameter.low, self.parameter.high
        typed = [float(self.text)] if not self.problem and _reads(self.text) else []
        known = [each for each in (self.now, *(self.fair or ()), *typed) if low <= each <= high]
        if low < 0 or not known or min(known) <= 0:
            return low, high
        return max(low, min(known) / NEAR), min(high, NEAR * max(known))

    @property
    def track(self) -> tuple[float, float]:
        """The ends of the slider: near what it is, on its steps, as that is; or the game's own highest value. The box
        takes all of the game's range."""
        (low, high), step = self._near, self._step
        if high < self.parameter.high:
            high = self.now + step * math.floor((high - self.now) / step + 1e-9)
        return self.now - step * math.floor((self.now - low) / step + 1e-9), high

    @property
    def track_texts(self) -> tuple[str, str]:
        return field_text(self.track[0]), field_text(self.track[1])

    @property
    def track_words(self) -> tuple[str, str]:
        return with_unit(self.track[0], self.unit), with_unit(self.track[1], self.unit)

    @property
    def low(self) -> str:
        return field_text(self.parameter.low)

    @property
    def high(self) -> str:
        return field_text(self.parameter.high)

    @property
    def now_text(self) -> str:
        return field_text(self.now)

    @property
    def ends(self) -> tuple[str, str]:
        """The game's range, in words."""
        return with_unit(self.parameter.low, self.unit), with_unit(self.parameter.high, self.unit)

    @property
    def now_words(self) -> str:
        return with_unit(self.now, self.unit)

    @property
    def changed(self) -> bool:
        """Whether another value was typed."""
        return self.text != self.now_text

    def place(self, value: float) -> str:
        """Where a value stands on the slider, in per cent of it."""
        low, high = self.track
        return f"{100 * min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0:.2f}%"

    @property
    def now_at(self) -> str:
        return self.place(self.now)

    @property
    def fair_at(self) -> str:
        return self.place(self.fair[0]) if self.fair else ""


@dataclass(frozen=True)
class NumberGroup:
    """Numbers that can be added, of one piece or of the game itself."""

    title: str
    numbers: list[tuple[str, str]] = field(default_factory=list)


def sliders(
    spec: GameSpec, paths: Iterable[str], typed: Mapping[str, str], fair: Mapping[str, tuple[float, float, float]]
) -> list[Slider]:
    """Sliders of the numbers that the game has, in this order; ``spec``: the game as its data are now, ``typed``: texts
    by path."""
    tunables, read = spec.tunables(), edits.read(spec, {f"{edits.PREFIX}{p}": t for p, t in typed.items()}).typed
    found = []
    for path in list(dict.fromkeys(p for p in paths if p in tunables))[:MOST]:
        p = tunables[path]
        text = read.texts.get(path) or field_text(p.default)
        found.append(Slider(p, title_of(spec, p), p.default, text, read.problems.get(path, ""), fair.get(path)))
    return found


def changes(spec: GameSpec, typed: Mapping[str, str]) -> dict[str, float]:
    """What differs from the game as it is, by path, of what was typed and can be read."""
    values = edits.read(spec, {f"{edits.PREFIX}{path}": text for path, text in typed.items()}).values
    tunables = spec.tunables()
    return {path: value for path, value in values.items() if value != tunables[path].default}


def costs(spec: GameSpec, pieces: Sequence[str]) -> list[str]:
    """The paths of the pieces' prices; of pieces without a price, of their first number."""
    tunables, found = spec.tunables(), list[str]()
    for piece in spec.pieces:
        if piece.id in pieces:
            own = [f"{piece.id}.cost", *(f"{piece.id}.{a.id}" for a in spec.category(piece.category).attributes)]
            found += [p for p in own if p in tunables and tunables[p].low < tunables[p].high][:1]
    return found


def groups(spec: GameSpec, pieces: Sequence[str], without: Iterable[str]) -> list[NumberGroup]:
    """What else can be changed: the numbers of these pieces, and of the game itself."""
    tunables, left_out = spec.tunables(), set(without)
    found = []
    for piece in spec.pieces:
        if piece.id in pieces:
            own = [p for path, p in tunables.items() if path.rpartition(".")[0] == piece.id]
            found.append(NumberGroup(piece.name, _offered(own, left_out, f"{piece.name}: ")))
    found.append(NumberGroup("The game", _offered(spec.parameters, left_out, "")))
    return [each for each in found if each.numbers]


def title_of(spec: GameSpec, p: Parameter) -> str:
    """ "Warhorn: rally bonus"."""
    piece, _, name = p.title.partition(": ")
    return f"{piece}: {lower_first(name)}" if name else p.title


def _offered(numbers: Iterable[Parameter], left_out: set[str], prefix: str) -> list[tuple[str, str]]:
    return [
        (p.path, p.title.removeprefix(prefix).capitalize() if prefix else p.title)
        for p in numbers
        if p.path not in left_out and p.low < p.high
    ]


def _reads(text: str) -> bool:
    """Whether a text is a plain number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
