"""The result of an experiment: every piece and amount, and the pairs that were proved, as columns."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.columns import Arrays
from engine.confidence import Range
from engine.simulators.contract import GameSpec
from engine.worth import untested
from engine.worth.analysis import WorthAnalysis
from engine.worth.changed_prices import OFFSET
from engine.worth.interplay import furthest
from engine.worth.prices import Fair, Held, Off, fair
from engine.worth.proof import ERROR, OFFSET_ERROR, Finalist, Finding, possible
from engine.worth.screen import WIN, Screen
from engine.worth.stages import PlayedStage
from engine.worth.verdicts import (
    FINE,
    HIDDEN,
    NEEDED,
    OPEN,
    PRICED,
    TOO_GOOD,
    TOO_WEAK,
    UNMOVED,
    UNTESTED,
    UNTRIED,
)

Floats = NDArray[np.float64]
EFFECTS = ("worth", "low", "high", "evidence", "doubt", "error", "hidden")
BOUNDED = ("low", "high", "hidden")
"""Of these, what no effect goes beyond (``proof.possible``)."""
PRICES = ("fair", "fair_low", "fair_high")


def tabled(analysis: WorthAnalysis, spec: GameSpec, over: bool = False) -> tuple[dict[str, Any], Arrays]:
    """Meta and columns: ``piece`` int32[n, 2] (-1: no second piece), ``least`` int32[n], ``battles`` int64[n],
    ``worth`` and its range ``low`` to ``high`` float64[n] in win probability (NaN: unknown), log ``evidence`` that it
    matters, the ``doubt`` that no battle takes away (a distance, part of the range on each side), the standard
    ``error`` of its battles, how far battles that the game did not finish may have moved the worth (``hidden``, a
    distance, part of the range on each side: it holds whichever way these would have ended), and the ``verdict``
    uint8[n]; for pieces the ``fair`` price, its range ``fair_low`` to ``fair_high``, whether that is open below (1) or
    above (2) because the game permits no such cost (``fair_open`` uint8[n]; both: there is none, but in tables from
    before, 3), the reason ``why`` there is none uint8[n] (``verdicts.UNPRICED``), and the average amount ``units``
    in teams that hold any; ``untested`` uint8[n]: why its verdict is that (``verdicts.REASONS``). Pieces come
    first, then amounts, then pairs that may well matter; a pair without battles of its own was not proved and has
    no range. Of pairs without one, the meta's ``furthest_pair`` has the largest effect that is left open; ``asked``
    battles are over by then, of which the game left ``unfinished``; ``finalists``: how many traits share the error
    of the proof, played or not. ``over``: whether the experiment is, all it can prove being proved;
    ``untested_pairs``: how many pairs are untested for each reason; ``prices_hold``: that fair prices hold
    whichever way unfinished battles would have ended, too (missing where all were finished)."""
    pairs = zip(analysis.finalists, analysis.findings, strict=True) if analysis.proving else ()
    found = {f.trait: (f, finding) for f, finding in pairs}
    singles = len(analysis.traits.single) + len(analysis.traits.amounts)
    shown = [*range(singles), *(trait for trait in found if trait >= singles)]
    levels = _levels(analysis.screen)
    rows = [_proved(*found[i], analysis, levels) if i in found else _screened(analysis, levels, i) for i in shown]
    traits = [analysis.traits.all[i] for i in shown]
    columns: Arrays = {
        "piece": np.array([(*t.pieces, -1)[:2] for t in traits], np.int32).reshape(-1, 2),
        "least": np.array([t.least for t in traits], np.int32),
        "battles": np.array([row.battles for row in rows], np.int64),
        "verdict": np.array([row.verdict for row in rows], np.uint8),
    }
    columns |= {name: np.array([getattr(row, name) for row in rows]) for name in EFFECTS}
    columns |= {name: possible(columns[name]) for name in BOUNDED}
    pieces = [{"id": p.id, "name": p.name, "category": p.category, "cost": p.cost} for p in spec.pieces]
    prices = [
        _fair(analysis, levels, i, row) if i < len(analysis.traits.single) else Fair.none(UNTRIED)
        for i, row in zip(shown, rows, strict=True)
    ]
    columns |= {name: np.array([price[k] for price in prices]) for k, name in enumerate(PRICES)}
    columns["fair_open"] = np.array([price.below + 2 * price.above for price in prices], np.uint8)
    columns["why"] = np.array([price.why for price in prices], np.uint8)
    columns["units"] = np.array([analysis.screen.units[i] if i < singles else math.nan for i in shown])
    own = untested.of_singles(analysis.screen)
    columns["untested"] = np.array([own[i] if i < singles else 0 for i in shown], np.uint8)
    meta = {"pieces": pieces, "over": over, "matters": analysis.matters, "game": spec.title, "proved": analysis.proving}
    meta |= {"asked": sum(len(p.ahead) for p in analysis.played), "unfinished": sum(map(_unfinished, analysis.played))}
    meta |= {"prices_hold": True} if meta["unfinished"] else {}
    meta["untested_pairs"] = untested.counted(untested.of_pairs(analysis))[1:]
    meta["finalists"] = len(analysis.finalists) if analysis.proving else 0
    return meta | _unlisted(analysis, [i for i, row in zip(shown, rows, strict=True) if row.battles]), columns


def _unfinished(played: PlayedStage) -> int:
    return int((~np.isfinite(played.ahead[:, WIN])).sum())


def _unlisted(analysis: WorthAnalysis, listed: list[int]) -> dict[str, Any]:
    """Of the pairs that the table gives no range, the one of which the largest effect is left open."""
    found = furthest(analysis, frozenset(listed))
    if found is None:
        return {}
    pieces = list(analysis.traits.all[found.trait].pieces)
    return {"furthest_pair": {"piece": pieces, "extra": found.extra, "low": found.low, "high": found.high}}


class WorthRow(NamedTuple):
    """One of the table (``tabled``)."""

    battles: int
    worth: float
    low: float
    high: float
    evidence: float
    verdict: int
    doubt: float = math.nan
    error: float = math.nan
    hidden: float = 0.0


class _Levels(NamedTuple):
    """By piece and amount, from random teams: battles, outcome beyond even, that of the forecast alone, what it is
    compared with, how unsure the last two are, how unsure they stay whatever is played, the standard error of the
    battles, and what those that were not finished may hide."""

    battles: Floats
    outcome: Floats
    expected: Floats
    base: Floats
    doubt: Floats
    stays: Floats
    error: Floats
    hidden: Floats


def _levels(screen: Screen) -> _Levels:
    """All at once: each is an array over all of them."""
    expected, (base, spread) = screen.expected[WIN], screen.average()
    doubt, hidden = (
        OFFSET * np.sqrt(expected.careful + spread) + screen.hidden_base,
        screen.hidden + screen.hidden_base,
    )
    rest, stays = screen.rest[WIN], OFFSET * np.sqrt(screen.drawn_variance)
    return _Levels(rest.many, screen.outcome(), expected.mean, base, doubt, stays, np.sqrt(rest.variance), hidden)


def _proved(finalist: Finalist, finding: Finding, analysis: WorthAnalysis, levels: _Levels) -> WorthRow:
    """The row of a finalist, from its own battles."""
    if finding.battles:
        ends = finding.range
        verdict = (TOO_GOOD if finding.worth > 0 else TOO_WEAK) if finding.reported else _within(ends, analysis.matters)
        error = math.sqrt(finding.variance / finding.battles)
        worth, hidden = finding.worth, finding.hidden + finalist.hidden
        return WorthRow(
            finding.battles, worth, ends.low, ends.high, finding.evidence, verdict, finalist.stays, error, hidden
        )
    if finalist.trait < len(levels.base):
        return _screened(analysis, levels, finalist.trait)
    error = math.sqrt(finalist.variance)
    return WorthRow(0, finalist.effect, math.nan, math.nan, finding.evidence, OPEN, finalist.stays, error)


def _screened(analysis: WorthAnalysis, levels: _Levels, i: int) -> WorthRow:
    """The row of a piece or an amount that was not worth proving, from random teams."""
    count, *known = (float(each[i]) for each in levels)
    outcome, expected, base, doubt, stays, error, hidden = known
    if count < NEEDED or not analysis.screen.tested[i]:
        return _nothing(int(count))
    rest = analysis.screen.range(i, ERROR - OFFSET_ERROR)
    ends = Range(rest.low + expected - base - doubt, rest.high + expected - base + doubt)
    verdict = _within(ends, analysis.matters)
    return WorthRow(int(count), outcome - base, ends.low, ends.high, -math.inf, verdict, stays, error, hidden)


def _fair(analysis: WorthAnalysis, levels: _Levels, i: int, row: WorthRow) -> Fair:
    """The fair price of a piece, from its row."""
    screen, (piece,), reach = analysis.screen, analysis.traits.all[i].pieces, analysis.prices.reach(i)
    kind, (_, worth, low, high, *_) = int(screen.rules.category[piece]), row
    curve, off = analysis.curves.get(kind), analysis.off.get(kind)
    if reach is None or curve is None:
        never = HIDDEN if off is not None else UNTRIED
        return Fair.none(UNMOVED if reach is None and math.isfinite(worth) else never)
    base, bounds = float(levels.base[i]), Range(*analysis.bounds[piece].tolist())
    held = Held(float(screen.units[i]), float(analysis.prices.leans[i]), i)

    def priced(ends: Range, hidden: Off | None) -> Fair:
        price = float(screen.rules.price[piece])
        return fair(price, reach, bounds, worth + base, ends, curve, OFFSET, held, hidden)

    found = priced(Range(low + base, high + base), off.at if off else None)
    if found.why == PRICED or not (off or row.hidden):
        return found
    seen = priced(Range(low + row.hidden + base, high - row.hidden + base), None)
    return Fair.none(HIDDEN) if seen.why == PRICED else found


def _nothing(count: int) -> WorthRow:
    return WorthRow(count, math.nan, math.nan, math.nan, -math.inf, UNTESTED)


def _within(ends: Range, matters: float) -> int:
    return FINE if -matters < ends.low and ends.high < matters else OPEN
