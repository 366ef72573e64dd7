"""What rewards and goals are worth on sample episodes, as small pictures with the same in words beside them."""

from __future__ import annotations

from typing import NamedTuple

from engine.styles.preview import Value, readable
from webapp.styles import weighing
from webapp.styles.forms import StyleForm
from webapp.styles.scales import figure

SHAPES = ("circle", "square")
ROW, MARGIN = 16, 4
"""Pixels of a player's row, and per cent on both sides of a picture."""


class PlayerLine(NamedTuple):
    """One player in one picture: its ``shape``, where its episodes lie (per cent from the left, ``y`` from the top),
    and the same in words."""

    player: str
    shape: str
    y: int
    places: tuple[float, ...]
    words: str


class Picture(NamedTuple):
    """The value of one formula; ``low`` and ``high``: its ends in words; ``zero``: where 0 lies, if inside."""

    lines: tuple[PlayerLine, ...]
    low: str
    high: str
    zero: float | None
    per: str

    @property
    def height(self) -> int:
        """Pixels."""
        return ROW * len(self.lines) + 4


def pictures(form: StyleForm) -> dict[str, Picture]:
    """By field: those of formulas that can be read; none while no sample episodes are played."""
    if form.samples is None:
        return {}
    fields = {goal["measure"]: goal["field"] for goal in form.goals}
    if form.template:
        fields = {goal["measure"]: f"goal-{i}" for i, goal in enumerate(form.goals, 1)}
    found: dict[str, list[Value]] = {}
    for value in readable(weighing.plain(form), form.aims, form.samples):
        found.setdefault(fields.get(value.name, value.name), []).append(value)
    return {name: _picture(values) for name, values in found.items()}


def _picture(values: list[Value]) -> Picture:
    """One formula for all players."""
    every = [v for value in values for v in value.each] or [value.per for value in values]
    low, high = min(every), max(every)
    pad = 0.0 if high > low else max(abs(high), 1.0) / 2
    start, span = low - pad, (high - low) + 2 * pad
    lines = tuple(
        PlayerLine(value.player, SHAPES[i % len(SHAPES)], 10 + ROW * i,
             tuple(_place(v, start, span) for v in value.each), _words(value))
        for i, value in enumerate(values)
    )  # fmt: skip
    zero = _place(0.0, start, span) if start < 0 < start + span else None
    ended = any(value.episodes for value in values)
    return Picture(lines, figure(start), figure(start + span), zero, "an episode" if ended else "a decision")


def _place(value: float, start: float, span: float) -> float:
    share = (value - start) / span if span else 0.5
    return round(MARGIN + (100 - 2 * MARGIN) * min(1.0, max(0.0, share)), 2)


def _words(value: Value) -> str:
    if not value.episodes:
        return f"{figure(value.per)} a decision; no sample episode ended"
    if value.episodes == 1:
        return f"{figure(value.low)} in the one episode that ended"
    if value.low == value.high:
        return f"{figure(value.low)} in each of {value.episodes} episodes"
    return f"{figure(value.low)} to {figure(value.high)} an episode, in {value.episodes} episodes"
