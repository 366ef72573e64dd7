"""What an experiment's table says, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.arrays import Bundle
from engine.config.patterns import Pattern
from engine.worth.missing import Missing, missing
from engine.worth.verdicts import OPEN, REASONS, TOO_GOOD, TOO_WEAK, UNPRICED, UNTESTED

SHOWN = 12
"""Rows that are not settled, before the rest is counted."""
PLURAL = {"piece or amount": "pieces or amounts", "pair": "pairs"}
EACH = (
    "Of what an experiment tells, 5 % at most is expected to be false. Each has its own 5 %: whoever runs it again "
    "with other seeds until something is told adds these up."
)
HIDES = "is told by no number of battles, for those that the game did not finish may hide {:.1f} points"
SIDES = {TOO_GOOD: "good", TOO_WEAK: "weak"}


def lines(bundle: Bundle, intended: Sequence[Pattern] = ()) -> list[str]:
    """What stands out, or the largest effects that are left open; what is not settled and what would settle it; and how
    much could not be tested. ``intended``: what is meant to be so. Effects are in points of the chance to win."""
    verdicts = bundle.arrays["verdict"].tolist()
    rows = sorted((i for i, v in enumerate(verdicts) if v in SIDES), key=lambda i: -abs(_points(bundle, "worth", i)))
    known = {(frozenset(each.pieces), each.least) for each in intended}
    found = [f"{_claim(bundle, i)}{', as is intended' if _key(bundle, i) in known else ''}" for i in rows]
    if all(_key(bundle, i) in known for i in rows):
        found = [*_nothing(bundle), *found]
    own = [EACH] if rows else []
    return [*filter(None, [unfinished(bundle)]), *found, *own, *_open(bundle), *untested(bundle)]


def unfinished(bundle: Bundle) -> str:
    """How many battles the game did not finish, and what that may do to findings; empty where it finished all. A
    table from before they were counted says nothing; one from before findings, or fair prices, allowed for them warns
    of all, or of these."""
    many, asked = (int(bundle.meta.get(name, 0)) for name in ("unfinished", "asked"))
    if not many:
        return ""
    share = f"The game did not finish {many:,} of {asked:,} battles, which are left out"
    if "hidden" in bundle.arrays:
        less = "" if bundle.meta.get("prices_hold", False) else ", but for fair prices"
        return f"{share}: what is told and every range hold whichever way these would have ended{less}."
    return f"{share}: where it depends on who plays or wins which these are, no finding can be relied on."


def _claim(bundle: Bundle, i: int) -> str:
    """ "Frost Captain: too good for its price, +6.7 points (4.1 to 9.0); its fair price is 12 (10 to 14)"."""
    worth, low, high = (_points(bundle, name, i) for name in ("worth", "low", "high"))
    of = "together" if bundle.arrays["piece"][i][1] >= 0 else "for its price"
    side = SIDES[int(bundle.arrays["verdict"][i])]
    return f"{_name(bundle, i)}: too {side} {of}, {worth:+.1f} points ({low:+.1f} to {high:+.1f}){_price(bundle, i)}"


def _price(bundle: Bundle, i: int) -> str:
    """The fair price of a piece, with its range, or why it has none; empty for all else."""
    columns = bundle.arrays
    if "why" not in columns or columns["piece"][i][1] >= 0 or columns["least"][i] > 1:
        return ""
    if why := UNPRICED.get(int(columns["why"][i])):
        return f"; its fair price cannot be measured: {why}"
    price, low, high = (f"{float(columns[name][i]):.4g}" for name in ("fair", "fair_low", "fair_high"))
    less, more = (f" or {way}" if columns["fair_open"][i] == k else "" for k, way in ((1, "less"), (2, "more")))
    return f"; its fair price is {price} ({low}{less} to {high}{more})"


def _nothing(bundle: Bundle) -> Iterator[str]:
    """What "nothing stands out" leaves open, of single pieces and of pairs; not said where nothing was tested."""
    proved = bundle.meta["proved"] or bundle.meta.get("over", False)
    none = bool((bundle.arrays["verdict"] == UNTESTED).all())
    said = ("Nothing could be tested" if none else "Nothing stands out") if proved else "Nothing is proved yet"
    yield f"{said}."
    for of, end in left_open(bundle).items():
        yield f"The largest effect of a {of} that these battles do not rule out: {end.name}, {end.points:+.1f} points."


class Furthest(NamedTuple):
    """The end of a range, in points of the chance to win, and whose it is."""

    points: float
    name: str


def left_open(bundle: Bundle) -> dict[str, Furthest]:
    """The largest effect that the battles do not rule out, of a "single piece" and of a "pair"; none of what was not
    measured, and none of what stands out."""
    pair = bundle.arrays["piece"][:, 1] >= 0
    rows = [(Furthest(_furthest(bundle, i), _name(bundle, i)), bool(pair[i])) for i in range(len(pair))]
    if (other := bundle.meta.get("furthest_pair")) is not None:
        end = 100 * max(other["low"], other["high"], key=abs)
        rows.append((Furthest(end, " + ".join(bundle.meta["pieces"][p]["name"] for p in other["piece"])), True))
    found = {}
    for of, both in (("single piece", False), ("pair", True)):
        ends = [end for end, paired in rows if paired is both and math.isfinite(end.points)]
        if ends:
            found[of] = max(ends, key=lambda each: abs(each.points))
    return found


def _open(bundle: Bundle) -> Iterator[str]:
    """What is not settled: the fewest missing battles first."""
    found = sorted(missing(bundle).items(), key=lambda each: (not each[1].more, each[1].more))
    if found:
        yield f"Not settled: {len(found)} of {len(bundle.arrays['verdict'])}."
    yield from (f"- {_name(bundle, i)} {_needs(bundle, i, each)}" for i, each in found[:SHOWN])
    if len(found) > SHOWN:
        yield f"- and {len(found) - SHOWN} more"


def _needs(bundle: Bundle, i: int, each: Missing) -> str:
    worth = f"({_points(bundle, 'worth', i):+.1f} points so far)"
    if not each.more:
        return f"{HIDES.format(100 * each.hidden)} {worth}" if each.hidden else f"is too close to tell {worth}"
    held = "it" if bundle.arrays["least"][i] == 1 else "that many of it"
    held = "both" if bundle.arrays["piece"][i][1] >= 0 else held
    side = "good" if bundle.arrays["worth"][i] > 0 else "weak"
    to = f"to tell whether it is too {side}" if each.matters else "to show that it is fine"
    return f"needs {each.more:,} more battles with {held} {to} {worth}"


def untested(bundle: Bundle) -> Iterator[str]:
    """How many are not tested, by why, a sentence for each reason; a table from before that was kept knows none."""
    columns = bundle.arrays
    if "untested" not in columns:
        many = int((columns["verdict"] == UNTESTED).sum())
        yield from [f"Not tested: {many}."] if many else []
        return
    single, pairs = columns["untested"][columns["verdict"] == UNTESTED], bundle.meta["untested_pairs"]
    for reason, why in REASONS.items():
        counts = {"piece or amount": int((single == reason).sum()), "pair": pairs[reason - 1]}
        said = [f"{many:,} {of if many == 1 else PLURAL[of]}" for of, many in counts.items() if many]
        if said:
            yield f"Not tested: {' and '.join(said)}, {why}."


def _furthest(bundle: Bundle, i: int) -> float:
    if bundle.arrays["verdict"][i] > OPEN:
        return math.nan
    return max(_points(bundle, "low", i), _points(bundle, "high", i), key=abs)


def _points(bundle: Bundle, column: str, i: int) -> float:
    return 100 * float(bundle.arrays[column][i])


def _key(bundle: Bundle, i: int) -> tuple[frozenset[str], int]:
    ids = (bundle.meta["pieces"][p]["id"] for p in bundle.arrays["piece"][i].tolist() if p >= 0)
    return frozenset(ids), int(bundle.arrays["least"][i])


def _name(bundle: Bundle, i: int) -> str:
    names = [bundle.meta["pieces"][p]["name"] for p in bundle.arrays["piece"][i].tolist() if p >= 0]
    least = int(bundle.arrays["least"][i])
    return f"{' + '.join(names)}{f', {least} or more' if least > 1 else ''}"
