"""What the table of a short experiment (``engine.worth.table``) says of pieces, for a gate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.arrays import Bundle
from engine.config.patterns import Pattern
from engine.gate.report import BATTLES, SHOWN, GateFinding, many, rounded
from engine.text import written
from engine.worth.missing import MOST, narrowing, settling

POINTS = 100
OUTWARDS = 0.5
"""Standard errors that the middle of a range may move by until it is narrow enough. In simulations of 12 and of 60
pieces whose effects are of 2 points at most, what was said was enough in 98 of 100 screens and more; of one piece of up
to 7 points, in 78. Of suspects, what is said to be missing was enough in 78 of 100 cases."""
NEVER = "no number of battles tells, for those that the game did not finish may hide as much"
MEANT = "not counted, as it is intended"
UNFINISHED = 2
"""Why a piece is not tested: as ``engine.worth.verdicts`` numbers it (a test compares them)."""


class Screened(NamedTuple):
    """The rows of a table: ``finalists`` are those that were proved, each with its log ``evidence``; ``meant``: those
    that are intended, and none of the finalists."""

    bundle: Bundle
    finalists: list[int]
    evidence: list[float]
    meant: list[int] = []


def screened(bundle: Bundle, intended: Sequence[Pattern] = ()) -> Screened:
    """By the table of a whole experiment; ``intended``: what is meant to be so."""
    logs = bundle.arrays["evidence"]
    known = {(frozenset(each.pieces), each.least) for each in intended}
    least = bundle.arrays["least"].tolist()
    meant = [i for i in range(len(logs)) if (frozenset(_ids(bundle, i)), least[i]) in known]
    finalists = [i for i in np.flatnonzero(logs > -np.inf).tolist() if i not in meant]
    return Screened(bundle, finalists, [float(logs[i]) for i in finalists], meant)


class ScreenLimits(NamedTuple):
    """In points: from where on an effect ``matters``, and how large one ``leaves_open`` may be; the battles that
    the screen played; and the log evidence that the gate's list takes to confirm one more of it (``needed``)."""

    matters: float
    leaves_open: float
    battles: int
    needed: float


def rows_of(found: Screened, confirmed: Sequence[bool], limits: ScreenLimits) -> tuple[list[GateFinding], int]:
    """What stands out or may, a row each, one for all other pieces, and what is intended; and how many pieces
    were tested that are not intended."""
    columns = found.bundle.arrays
    sure = {i for i, each in zip(found.finalists, confirmed, strict=True) if each}
    proved = [i for i in found.finalists if math.isfinite(columns["low"][i])]
    suspects = [i for i in proved if i not in sure and abs(_points(columns["worth"][i])) >= limits.matters]
    shown = [*sorted(sure), *suspects]
    single = (columns["piece"][:, 1] < 0) & (columns["least"] == 1)
    tested = np.flatnonzero(single & np.isfinite(columns["low"])).tolist()
    rest = sorted({*tested, *proved} - {*shown, *found.meant})
    rows = [_confirmed_row(found.bundle, i, limits) for i in sorted(sure)]
    rows += [_suspected(found.bundle, i, limits) for i in suspects]
    untested = int(single.sum()) - len(tested)
    if rest or untested:
        rows.append(_rest(found.bundle, rest, untested, bool(shown or found.meant), limits))
    rows += _unfinished(found, rest, limits)
    rows += [_row(found.bundle, i, "meant", MEANT, limits) for i in found.meant if math.isfinite(columns["low"][i])]
    return rows, len({*tested} - {*found.meant})


def _ids(bundle: Bundle, i: int) -> tuple[str, ...]:
    return tuple(bundle.meta["pieces"][p]["id"] for p in bundle.arrays["piece"][i].tolist() if p >= 0)


def _points(value: Any) -> float:
    return POINTS * float(value)


def _name(bundle: Bundle, i: int) -> str:
    (first, second), least = bundle.arrays["piece"][i].tolist(), int(bundle.arrays["least"][i])
    pieces = bundle.meta["pieces"]
    name = pieces[first]["name"] if second < 0 else f"{pieces[first]['name']} + {pieces[second]['name']}"
    return f"{name}, {least} or more" if least > 1 else str(name)


def _hidden(bundle: Bundle, i: int) -> float:
    """How much of a range comes from battles that the game did not finish, on each side, whatever is played."""
    return _points(bundle.arrays["hidden"][i]) if "hidden" in bundle.arrays else 0.0


def _row(
    bundle: Bundle, i: int, verdict: Any, words: str, limits: ScreenLimits, missing: int | None = 0
) -> GateFinding:
    columns = bundle.arrays
    worth, low, high = (_points(columns[key][i]) for key in ("worth", "low", "high"))
    ends = f"{written(low, '+.1f')} to {written(high, '+.1f')}"
    return GateFinding(
        "screen", _name(bundle, i), verdict, f"{words} ({ends})", worth, low, high,
        math.copysign(limits.matters, worth), "points", int(columns["battles"][i]), missing, _ids(bundle, i),
    )  # fmt: skip


def _confirmed_row(bundle: Bundle, i: int, limits: ScreenLimits) -> GateFinding:
    worth = _points(bundle.arrays["worth"][i])
    what, way = ("too good", "more") if worth > 0 else ("too weak", "less")
    often = f"win {abs(worth):.1f} points {way} often"
    if bundle.arrays["piece"][i][1] >= 0:
        words = f"{what} together: they {often} than the two pieces would explain on their own"
        return _row(bundle, i, "over", words, limits)
    return _row(bundle, i, "over", f"{what} for its price: teams that hold it {often}", limits)


def _suspected(bundle: Bundle, i: int, limits: ScreenLimits) -> GateFinding:
    worth, columns = _points(bundle.arrays["worth"][i]), bundle.arrays
    what = "good" if worth > 0 else "weak"
    needs = settling(bundle, i, limits.matters / POINTS, limits.needed)
    missing, said = needs.more or None, f"about {needs.more:,} more battles with it would tell"
    if missing is None:
        said = NEVER if needs.hidden else f"{MOST} times as many battles with it may not tell"
    where = "for its price" if columns["piece"][i][1] < 0 else "together"
    return _row(bundle, i, "open", f"may be too {what} {where} by {abs(worth):.1f} points; {said}", limits, missing)


def _rest(bundle: Bundle, rest: Sequence[int], untested: int, others: bool, limits: ScreenLimits) -> GateFinding:
    """All that was looked at and does not stand out: how large an effect may still hide in it."""
    columns = bundle.arrays
    reach = {i: max(abs(_points(columns["low"][i])), abs(_points(columns["high"][i]))) for i in rest}
    name, left = f"All {'other ' if others else ''}pieces", _left_out(untested)
    if not reach:
        return GateFinding("screen", name, "open", f"none could be tested{left}", missing=None)
    widest = max(reach, key=lambda i: reach[i])
    largest, worth = reach[widest], abs(_points(columns["worth"][widest]))
    hidden = (
        f"effects of up to {largest:.1f} points stay open ({limits.leaves_open:g} are allowed to), the largest of "
        f"{_name(bundle, widest)}"
    )
    missing: int | None = 0
    verdict, said = "under", "nothing stands out"
    if largest > limits.leaves_open:
        missing, narrows = _narrowed(bundle, [i for i in rest if reach[i] > limits.leaves_open], limits)
        verdict, said, hidden = "open", hidden, narrows
    words = f"{said}; {hidden}{left}"
    return GateFinding("screen", name, verdict, words, worth, -largest, largest, limits.leaves_open, "points",  # type: ignore[arg-type]
               limits.battles, missing, (), len(rest))  # fmt: skip


def _unfinished(found: Screened, rest: Sequence[int], limits: ScreenLimits) -> Iterator[GateFinding]:
    """That the game did not finish battles which, had one piece lost all of them, hide more than may stay open, as they
    do of a piece that is not tested because of them. Ranges allow for them, but in tables from before they did."""
    bundle, columns = found.bundle, found.bundle.arrays
    left = int(bundle.meta.get("unfinished", 0))
    hidden = {
        i: max(abs(_points(columns["low"][i])), abs(_points(columns["high"][i])))
        + (0.0 if "hidden" in columns else _points(left / (left + columns["battles"][i])))
        for i in rest
    }
    worst, never = max(hidden, key=lambda i: hidden[i], default=None), _never_finished(found)
    if left and (worst is None or hidden[worst] > limits.leaves_open or never):
        words = f"the game did not finish {left:,} of {bundle.meta['asked']:,}, which are left out"
        if never:
            more = f" and {len(never) - SHOWN:,} more" if len(never) > SHOWN else ""
            words += f"; of those with {', '.join(never[:SHOWN])}{more} it finished hardly any"
        if worst is not None and hidden[worst] > limits.leaves_open:
            words += f"; if these were all lost by {_name(bundle, worst)}, they hide up to {hidden[worst]:.1f} points"
        yield GateFinding("screen", BATTLES, "open", words, battles=limits.battles, missing=None)


def _never_finished(found: Screened) -> list[str]:
    """The pieces of which the game finished too few battles to say anything, but for what is intended."""
    columns = found.bundle.arrays
    if "untested" not in columns:
        return []
    single = (columns["piece"][:, 1] < 0) & (columns["least"] == 1)
    at = np.flatnonzero(single & (columns["untested"] == UNFINISHED)).tolist()
    return [_name(found.bundle, i) for i in at if i not in found.meant]


def _narrowed(bundle: Bundle, wide: Sequence[int], limits: ScreenLimits) -> tuple[int | None, str]:
    """How many more battles would narrow these ranges to what may stay open; None where they are too many to be
    told."""
    columns, to = bundle.arrays, f"narrow that to {limits.leaves_open:g}"
    if any(abs(_points(columns["worth"][i])) + _hidden(bundle, i) >= limits.leaves_open for i in wide):
        return None, f"no number of battles would {to}"
    needs = [narrowing(bundle, i, limits.leaves_open / POINTS, OUTWARDS) / columns["battles"][i] for i in wide]
    if min(needs) == 0:
        return None, f"{MOST} times as many battles of the screen may not {to}"
    missing = rounded(max(needs) * limits.battles)
    return missing, f"about {missing:,} more battles of the screen would {to}"


def _left_out(untested: int) -> str:
    return f"; {many(untested, 'piece')} could not be tested" if untested else ""
