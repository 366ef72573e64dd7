"""Figures 3 to 8 of DPCER (Li and Ji 2021), drawn from the rounds of studies that are over, and the table behind them.

Without a keeper: 3, reward and length of episodes from each start by method; 4, the largest expected reward there, of
DBC, DRC and EXP3; 7, by start with EXP3, what is practised, the chance to be, and the reward. With one: 5 and 6 as 3
and 4, and 8, the rewards of EXP3 in the first fifth. Lines are means over seeds, with the least and the most of them.
``rounds.csv`` has every number.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from engine.events import Progressed
from engine.job_folder import events_of

MEASURES = {
    "return": "reward of an episode", "length": "decisions of an episode", "max_q": "largest expected reward",
    "chance": "chance to be practised", "practised": "share of what is practised", "success": "share of goals",
}  # fmt: skip
CURRICULA = ("dbc", "drc", "exp3")
EARLY = 0.2
COLOURS = ("#0B6E99", "#C8553D", "#5B8E3E", "#8A5FA8", "#76868C")
_RAISED = 1.35
Curve = tuple[NDArray[np.float64], NDArray[np.float64]]


class Rounds(NamedTuple):
    """The rounds of one study: ``iterations`` float64[R], and by start and measure float64[R], NaN where a round has
    none."""

    method: str
    seed: int
    iterations: NDArray[np.float64]
    measured: list[dict[str, NDArray[np.float64]]]

    def numbers(self) -> dict[str, Any]:
        """As JSON, each number to six digits."""
        starts = [{name: [_written(y) for y in values] for name, values in one.items()} for one in self.measured]
        return {"iterations": self.iterations.astype(int).tolist(), "starts": starts}

    @classmethod
    def of(cls, method: str, seed: int, numbers: Mapping[str, Any]) -> Rounds:
        """From ``numbers``."""
        starts = [
            {name: np.array([float(y or "nan") for y in values]) for name, values in one.items()}
            for one in numbers["starts"]
        ]
        return cls(method, seed, np.array(numbers["iterations"], np.float64), starts)


def rounds(method: str, seed: int, own: Path, starts: int) -> Rounds:
    """Those of the study in its ``own`` folder."""
    events = (event for event in events_of(own) if isinstance(event, Progressed))
    metrics = list({event.tick: event.metrics for event in events}.values())
    measured = [
        {measure: np.array([each.get(f"task-{i}/{measure}", np.nan) for each in metrics]) for measure in MEASURES}
        for i in range(1, starts + 1)
    ]
    return Rounds(method, seed, np.array([each["iterations"] for each in metrics]), measured)


def draw(case: str, studies: Sequence[Rounds], starts: Sequence[str], into: Path) -> list[Path]:
    """The figures of a case as SVG files, and the table; their paths."""
    into.mkdir(parents=True, exist_ok=True)
    by = {each.method: [s for s in studies if s.method == each.method] for each in studies}
    curricula = {name: each for name, each in by.items() if name in CURRICULA}
    first, second, third = ("3", "4", "7") if case == "alone" else ("5", "6", "8")
    drawn = {first: _grid(("return", "length"), by, starts), second: _grid(("max_q",), curricula, starts)}
    if case == "alone":
        drawn[third] = _starts(("practised", "chance", "return"), by["exp3"], starts, 1.0)
    else:
        drawn[third] = _starts(("return",), by["exp3"], starts, EARLY)
    paths = [into / "rounds.csv", *(into / f"figure-{number}.svg" for number in drawn)]
    _table(paths[0], studies, starts)
    for path, figure in zip(paths[1:], drawn.values(), strict=True):
        with mpl.rc_context({"svg.hashsalt": path.stem, "svg.fonttype": "none"}):
            figure.savefig(path, metadata={"Date": None})
    return paths


def over_seeds(studies: Iterable[Rounds], start: int, measure: str) -> tuple[NDArray[np.float64], ...]:
    """(iterations, mean, least, most) at every number of iterations at which one of these studies has the measure;
    between its own rounds a study counts with the line between them, and not before its first or after its last."""
    curves = [known for each in studies if len((known := _known(each, start, measure))[0])]
    at = np.unique(np.concatenate([x for x, _ in curves])) if curves else np.empty(0)
    if not len(at):
        return at, at, at, at
    rows = np.array([np.interp(at, x, y, left=np.nan, right=np.nan) for x, y in curves])
    return at, np.nanmean(rows, axis=0), np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)


def _known(each: Rounds, start: int, measure: str) -> Curve:
    y = each.measured[start][measure]
    return each.iterations[np.isfinite(y)], y[np.isfinite(y)]


def _grid(measures: Sequence[str], by: Mapping[str, list[Rounds]], starts: Sequence[str]) -> Figure:
    """A column for each start, a row for each measure, a line for each method."""
    figure, axes = _axes(len(measures), len(starts))
    for row, measure in zip(axes, measures, strict=True):
        for start, (axis, name) in enumerate(zip(row, starts, strict=True)):
            for colour, (method, studies) in zip(COLOURS, by.items(), strict=False):
                _line(axis, studies, start, measure, method, colour)
            _words(axis, name, MEASURES[measure] if start == 0 else "", row is axes[-1])
    return _ended(figure, axes)


def _starts(measures: Sequence[str], studies: list[Rounds], starts: Sequence[str], until: float) -> Figure:
    """One method: a column for each measure, a line for each start."""
    figure, axes = _axes(1, len(measures))
    for axis, measure in zip(axes[0], measures, strict=True):
        for start, (colour, name) in enumerate(zip(COLOURS, starts, strict=False)):
            _line(axis, studies, start, measure, name, colour)
        axis.set_xlim(0, until * max(each.iterations[-1] for each in studies))
        _words(axis, MEASURES[measure], "", True)
    return _ended(figure, axes)


def _axes(rows: int, columns: int) -> tuple[Figure, Any]:
    figure = Figure(figsize=(3.2 * columns + 0.6, 2.4 * rows + 0.9), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _line(axis: Axes, studies: Iterable[Rounds], start: int, measure: str, name: str, colour: str) -> None:
    at, middle, low, high = over_seeds(studies, start, measure)
    axis.plot(at, middle, color=colour, label=name, linewidth=_RAISED)
    axis.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)


def _words(axis: Axes, title: str, across: str, lowest: bool) -> None:
    axis.set_title(title, fontsize=9)
    axis.set_ylabel(across, fontsize=8)
    axis.set_xlabel("thousands of minibatches" if lowest else "", fontsize=8)
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.xaxis.set_major_formatter(lambda at, _: f"{at / 1000:,.4g}")
    axis.tick_params(labelsize=7)
    axis.spines[["top", "right"]].set_visible(False)


def _ended(figure: Figure, axes: Any) -> Figure:
    lines, names = axes[0][0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=len(names), fontsize=8, frameon=False)
    return figure


def _table(path: Path, studies: Iterable[Rounds], starts: Sequence[str]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["method", "seed", "iterations", "start", *MEASURES])
        for each in studies:
            for i, iterations in enumerate(each.iterations):
                for name, own in zip(starts, each.measured, strict=True):
                    rows.writerow(
                        [each.method, each.seed, int(iterations), name, *(_written(own[m][i]) for m in MEASURES)]
                    )


def _written(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.6g}"
