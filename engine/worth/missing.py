"""How many more battles a row of an experiment's table needs that is not settled, of what, and what they would settle.

A row whose effect looks as if it mattered is settled once it is told. Evidence that an effect matters grows with the
battles of the teams that hold it, less what the bets behind it cost (``engine.confidence``); a finding is told once it
is so strong that the whole list keeps its promise (e-BH). The pace so far is partly luck: the log of the evidence
varies by twice its mean. So what is missing is told at a slower pace, which about three in four exceed. A row without
battles of its own in the proof begins at none; its pace follows from its effect, taken nearer to what matters by a
standard error.

A row whose effect looks smaller than what matters is settled once its whole range is: a range narrows with the root of
the battles of the whole experiment, but for the doubt that teams leave which are drawn and do not play (the column
``doubt``). Its middle may still move, by what is known of it less so far.

In simulations of 300 rows each what was said was enough for 0.77 of those that seem to matter, 0.78 of those that seem
fine, and 0.80 of those that had no battles of their own in the proof.

Where that is many times what was played, the effect lies too close to what matters to be told. Where battles that the
game did not finish may hide as much (the column ``hidden``), more of them do not tell.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from engine.arrays import Bundle
from engine.confidence import FRACTIONS, STAKES
from engine.worth.verdicts import OPEN

ALLOWED = 0.04
"""The share of false ones that findings of an experiment may have."""
SLOW = 1.0
"""Standard deviations that luck so far may have been worth: more than the 0.67 that one in four exceeds, because what
is looked at was picked by it."""
BETS = math.log(2 / float(STAKES.min()))
"""What bets on an effect of either sign cost, at most."""
MOST = 20
"""Where it would take so many times the battles, the effect is too close to tell."""
FEWEST = 1_000
"""The same of so many battles, where none was played with it."""
SPREAD = 0.25
"""The variance of one battle, at most, where none was played."""
ENDS = 2 * math.log(2 / ALLOWED)
"""The square of half a range in units of the standard error, at least."""


class Missing(NamedTuple):
    """``more`` battles with it that would tell (0: none do) whether it ``matters``, as it seems to, or is fine. Where
    none do because of battles that the game did not finish, these may hide ``hidden``; 0: it is too close to tell."""

    more: int
    matters: bool
    hidden: float = 0.0


class _Row(NamedTuple):
    """A row that is not settled: the size of its effect, half its range without ``doubt``, and the standard error of
    the effect; ``evidence``: -inf where it was not taken to the proof; ``hidden``: the part of ``doubt`` that comes
    from battles that were not finished."""

    battles: int
    size: float
    half: float
    doubt: float
    error: float
    evidence: float
    hidden: float


def missing(bundle: Bundle) -> dict[int, Missing]:
    """By row of an experiment's table, for all that are not settled; none before a part of the proof is complete or all
    is over, and in tables from before evidence was kept."""
    columns = bundle.arrays
    if "evidence" not in columns or not (bundle.meta["proved"] or bundle.meta.get("over", False)):
        return {}
    verdicts, logs = columns["verdict"].tolist(), columns["evidence"].tolist()
    confirmed, played = sum(each > OPEN for each in verdicts), sum(log > -math.inf for log in logs)
    finalists = max(int(bundle.meta.get("finalists", 0)), played, 1)  # old tables count those that were played
    needed = math.log(finalists / (ALLOWED * (confirmed + 1)))
    matters = float(bundle.meta["matters"])
    rows = {i: _row(bundle, i) for i, verdict in enumerate(verdicts) if verdict == OPEN}
    return {i: _missing(row, matters, needed) for i, row in rows.items()}


def settling(bundle: Bundle, i: int, matters: float, needed: float) -> Missing:
    """The same of one row for another list than the table's own, which takes a log evidence of ``needed`` to tell that
    an effect is beyond ``matters``."""
    return _missing(_row(bundle, i), matters, needed)


def narrowing(bundle: Bundle, i: int, within: float, slow: float) -> int:
    """The battles more of a row until its range is ``within`` so much of none, were its middle to move outwards by so
    many standard errors; 0 where that are too many to be told."""
    return _within(_row(bundle, i), within, slow)


def _row(bundle: Bundle, i: int) -> _Row:
    columns = bundle.arrays
    battles, worth, low, high = (float(columns[name][i]) for name in ("battles", "worth", "low", "high"))
    doubt, error = (float(columns[name][i]) if name in columns else math.nan for name in ("doubt", "error"))
    hidden = float(columns["hidden"][i]) if "hidden" in columns else 0.0
    doubt = (doubt if math.isfinite(doubt) else 0.0) + hidden
    half = max((high - low) / 2 - doubt, 0.0)
    if not math.isfinite(error):
        error = half / math.sqrt(ENDS) if math.isfinite(half) else math.inf
    return _Row(int(battles), abs(worth), half, doubt, error, float(columns["evidence"][i]), hidden)


def _missing(row: _Row, matters: float, needed: float) -> Missing:
    gap = abs(row.size - matters)
    if gap <= row.doubt and max(gap, row.hidden) > row.doubt - row.hidden:
        return Missing(0, row.size > matters, row.hidden)
    if row.size <= matters:
        return Missing(_within(row, matters), matters=False)
    if row.battles and row.evidence > -math.inf:
        return Missing(_by_pace(row, needed), matters=True)
    return Missing(_by_effect(row, matters, needed), matters=True)


def _by_pace(row: _Row, needed: float) -> int:
    """At the pace of the evidence so far."""
    won = row.evidence + math.log(len(FRACTIONS))
    pace = won - SLOW * math.sqrt(2 * max(won, 0.0))
    return _rounded(row, row.battles * (needed - row.evidence) / pace) if pace > 0 else 0


def _by_effect(row: _Row, matters: float, needed: float) -> int:
    """Of battles of its own, of which there are none yet: the evidence of n of them is about n gap² / (2 variance),
    less what the bets cost."""
    gap = row.size - matters - row.doubt - SLOW * row.error
    spread = row.battles * row.error**2 if row.battles else SPREAD
    return _rounded(row, (needed + BETS) * 2 * spread / gap**2) if gap > 0 else 0


def _within(row: _Row, matters: float, slow: float = SLOW) -> int:
    """Until its range is as narrow as it must be."""
    if not row.battles:
        room = matters - row.doubt - row.size - slow * row.error
        return _rounded(row, (ENDS + 2 * BETS) * SPREAD / room**2) if room > 0 else 0
    room, low, high = matters - row.doubt - row.size, 0.0, 1.0
    if room <= slow * row.error:
        return 0
    for _ in range(40):
        share = (low + high) / 2
        fits = row.half * share + slow * row.error * math.sqrt(1 - share**2) <= room
        low, high = (share, high) if fits else (low, share)
    return _rounded(row, row.battles * (1 / low**2 - 1))


def _rounded(row: _Row, battles: float) -> int:
    """To two leading digits, upwards; 0 where they are too many."""
    if battles > MOST * (row.battles or FEWEST):
        return 0
    step = int(10 ** max(1, math.floor(math.log10(max(battles, 1))) - 1))
    return max(step, math.ceil(battles / step) * step)
