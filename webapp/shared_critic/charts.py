"""The charts of evolution and learning: how everybody scores, who moves the centre, and how the search goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from webapp.lib.words import number, percent, plural
from webapp.studies.lines import LineRange, Lines, axis, from_nought, known, shown, with_ends
from webapp.studies.rounds import Columns
from webapp.training.curve import EVALUATED
from webapp.training.evaluated import HIGH, LOW

PLAYERS = (
    ("other", "Those that only evolve", "return_es"),
    ("second", "Those that learn first", "return_rl"),
    ("third", "The centre, as estimated", "return_estimate"),
    ("first", "The centre on fresh episodes", "evaluation_return"),
)
"""Whose scores are drawn: how, what they are, and the metric."""
BRED = (
    PLAYERS[0],
    ("second", "The agent that learns", "return_rl"),
    ("first", "The best player on fresh episodes", "evaluation_return"),
)
"""The same where individuals are bred from one another, as by ERL."""
MOVERS = (("other", "Those that only evolve", "p_es"), ("second", "Those that learn first", "p_rl"))
LESSONS = "critic_steps_a_decision"
OF_LEARNING = ("chance_rl", LESSONS)
"""What means nothing where nobody learns."""
ASKED = "evaluation_steps"
"""Decisions that were played when the last evaluation was asked for."""
SHARES = ("chance_rl", "floor")


class Small(NamedTuple):
    """A small chart of one number: what it is, what it means, and the line."""

    title: str
    text: str
    chart: Lines


def after_chance(rounds: Columns) -> Columns:
    """Without the rounds in which only chance played; empty where there are no others."""
    start = rounds.get("steps_start", [None] * len(rounds["steps"]))
    rows = [i for i, at in enumerate(rounds["steps"]) if (at or 0.0) > (start[i] or 0.0)]
    return placed({name: [column[i] for i in rows] for name, column in rounds.items()}) if rows else {}


def placed(rounds: Columns) -> Columns:
    """With each evaluation where it was asked for, in a row of its own between the rounds: these tell it once it is
    over, and again until the next one."""
    steps, asked = rounds["steps"], rounds.get(ASKED, [])
    nothing: list[float | None] = [None] * len(steps)
    scores = {
        name: {at: value for at, value in zip(asked, rounds.get(name, nothing), strict=False) if at is not None}
        for name in (EVALUATED, LOW, HIGH)
    }
    rows = sorted(
        [(at or 0.0, i) for i, at in enumerate(steps)] + [(at, -1) for at in scores[EVALUATED] if at not in steps]
    )
    found = {name: [column[i] if i >= 0 else None for _, i in rows] for name, column in rounds.items()}
    x = [at for at, _ in rows]
    counted, clock = ([value or 0.0 for value in rounds[name]] for name in ("steps", "seconds"))
    found |= {"steps": [*x], "seconds": [*np.interp(x, counted, clock).tolist()]}
    return found | {name: [values.pop(at, None) for at in x] for name, values in scores.items()}


def _decisions(value: float) -> str:
    return number(round(value))


def drawn(
    rounds: Columns, lines: tuple[tuple[str, str, str], ...], by: str = "steps", along: str = "Decisions → more",
    words: Callable[[float], str] = _decisions, unit: float = 1.0, *, nought: bool = False, shares: bool = False,
) -> Lines:  # fmt: skip
    """Of the rows in which one of the lines has something to show; ``nought``: of values that are never below it;
    ``shares``: of those that are told in per cent."""
    nothing: list[float | None] = [None] * len(rounds[by])
    columns = [(mark, name, rounds[metric]) for mark, name, metric in lines if metric in rounds]
    rows = [i for i in range(len(nothing)) if any(known(column[i]) for _, _, column in columns)]
    up, says = ((0.0, 1.0), percent) if shares else (from_nought(c for *_, c in columns) if nought else None, shown)
    lines_drawn = [(mark, name, [column[i] for i in rows]) for mark, name, column in columns]
    both = {name: [rounds.get(f"{metric}{end}", nothing) for end in ("_low", "_high")] for _, name, metric in lines}
    ranges = {
        name: LineRange([low[i] for i in rows], [high[i] for i in rows], with_ends)
        for name, (low, high) in both.items() if any(map(known, low))
    }  # fmt: skip
    if ranges and up is None:
        up = axis([column for _, _, column in lines_drawn], [end for one in ranges.values() for end in one[:2]])
    x = [(rounds[by][i] or 0.0) / unit for i in rows]
    return Lines(along, x, lines_drawn, words, up=up, ranges=ranges, says=says)


def courses(rounds: Columns, bred: bool) -> list[Lines]:
    """Over decisions, and over time; ``bred``: individuals are bred from one another, around no centre."""
    players = BRED if bred else PLAYERS
    return [drawn(rounds, players), drawn(rounds, players, "seconds", "Minutes → later", shown, 60.0)]


def search(rounds: Columns, fewest: float, chunk: int, narrowest: float, learns: bool) -> list[Small]:
    """How the search goes, in small charts of what the method tells; of learning only where somebody ``learns``.

    ``fewest``: lessons for each decision, as ``_least`` has them, and ``chunk``: by how many the critic may be short of
    them; ``narrowest``: the least spread that its rule leaves, 0 where there is none.
    """
    had = [value for value in rounds.get(LESSONS, ()) if value is not None]
    high = bool(had) and had[0] > had[-1]
    waits = f"Nobody begins to play while it is {plural(chunk, 'lesson')} or more short of the dashed line."
    lessons = ["The critic learned from those by chance first, so it begins high."] * high + [waits] * (fewest > 0)
    spread = "Of each weight of the network, its spread around the centre. Smaller: the search closes in."
    charts = (
        ("chance_rl", "Chance that the next one learns", "It rises while fewer have learned than was asked for."),
        ("sigma", "How far individuals lie from the centre",
         f"{spread} Near the dashed line it hardly tries anything new." if narrowest else spread),
        ("floor", "Share of weights at their least spread",
         "It may stay low while most are a little above: the chart of the spread tells how far the search has closed."),
        (LESSONS, "Lessons of the critic for each decision after those by chance", " ".join(lessons)),
    )  # fmt: skip
    bounds = {LESSONS: ("The fewest", fewest), "sigma": ("The least", narrowest)}
    columns, lines = dict(rounds), dict[str, tuple[tuple[str, str, str], ...]]()
    for name, (words, bound) in bounds.items():
        if bound:
            columns[f"least {name}"] = [None if value is None else bound for value in rounds.get(name, ())]
            lines[name] = (("second", words, f"least {name}"),)
    there = [
        (title, text, (*lines.get(name, ()), ("first", title, name)), name in SHARES)
        for name, title, text in charts
        if (learns or name not in OF_LEARNING) and any(value is not None for value in rounds.get(name, ()))
    ]
    return [
        Small(title, text, drawn(columns, those, nought=True, shares=shares)) for title, text, those, shares in there
    ]
