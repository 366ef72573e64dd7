"""What a gate says: its findings as rows, one verdict, and that in a sentence.

*Over*: something is confirmed to be over its line. *Under*: everything that was looked at is under its line, by ranges
that hold. *Open*: else; the rows say which battles are missing. The verdict follows from the rows alone, so whoever
leaves some of them out (``judged``) has the verdict on the rest.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from engine.text import written

Word = Literal["over", "under", "open"]
Part = Literal["replay", "screen", "search"]
EXIT_CODES: dict[str, int] = {"under": 0, "over": 3, "open": 4}
"""Of ``python -m engine gate``; 1 and 2 are those of a gate that could not be run."""
WORDS: dict[str, str] = {"over": "Over the line", "under": "Under the line", "open": "Cannot tell"}
FAIR = ("under", "weak", "meant")
"""Verdicts on rows that leave a build under its line."""
UNCOUNTED = {"weak": "too weak to count", "meant": "meant to be so"}
SHOWN = 3
"""Names that a sentence lists."""
BATTLES = "Battles"
"""The name of the row that says what of the screen, or of the search, the game did not finish."""
NOTHING = "The search"
"""The name of the row that says that the search ended with nothing."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class GateFinding(msgspec.Struct, frozen=True):
    """A finding of one ``part``. ``verdict``: over, under, open, weak (a lineup too weak to count, however far it is),
    meant (what is intended is not counted), or barred (one that the rules do not let anybody field any more). ``value``
    with its 95 % range and the ``line`` are in ``unit``; None where nothing is known. ``battles`` that were played for
    it, how many are ``missing`` to tell (None: nobody can say, 0: none). ``pieces``: those it is made of, by id.
    ``many``: how many things it stands for."""

    part: Part
    name: str
    verdict: Literal["over", "under", "open", "weak", "meant", "barred"]
    words: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    line: float | None = None
    unit: str = ""
    battles: int = 0
    missing: int | None = 0
    pieces: tuple[str, ...] = ()
    many: int = 1


class Report(msgspec.Struct, frozen=True):
    """The rows of a gate and what they come to. ``looked``: by part, how many lineups or pieces were looked at;
    ``unfinished``: the parts that are not over; ``battles``: in all. ``met``: sentences on the baseline teams
    that lineups met."""

    verdict: Word
    sentence: str
    rows: tuple[GateFinding, ...]
    looked: dict[str, int]
    unfinished: tuple[str, ...]
    name: str
    game: str
    battles: int
    met: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """Of the command line."""
        return EXIT_CODES[self.verdict]

    @property
    def lines(self) -> list[str]:
        """A line for each exploit, and for all else that is not under its line; then which baseline teams were met."""
        shown = [row for row in self.rows if row.part == "replay" or row.verdict not in FAIR]
        return [*(f"{row.verdict:<6}  {row.name}: {row.words}" for row in shown), *self.met]


class Gate(NamedTuple):
    """Which gate a report is about, and how far it is."""

    name: str
    game: str
    battles: int
    looked: dict[str, int]
    unfinished: tuple[str, ...]
    met: tuple[str, ...] = ()


def judged(rows: Iterable[GateFinding], gate: Gate) -> Report:
    """The verdict on these rows."""
    found = tuple(rows)
    kinds = {row.verdict for row in found}
    verdict: Word = "over" if "over" in kinds else "open" if "open" in kinds or gate.unfinished else "under"
    said = {"over": _over, "under": _under, "open": _open}[verdict](found, gate)
    return Report(verdict, said, found, gate.looked, gate.unfinished, gate.name, gate.game, gate.battles, gate.met)


def decoded(meta: dict[str, Any]) -> Report:
    """A report from the plain JSON values of its artifact."""
    return msgspec.convert(meta["report"], Report)


def encoded(report: Report) -> dict[str, Any]:
    """The inverse of ``decoded``."""
    return {"report": msgspec.to_builtins(report)}


HEADS = ("part", "name", "verdict", "value", "low", "high", "line", "unit", "battles", "missing", "pieces", "words")


def cells(report: Report) -> list[dict[str, Any]]:
    """A table of the gate as a whole, then of its rows, by HEADS."""
    whole = {"part": "gate", "name": report.name, "verdict": report.verdict, "battles": report.battles,
             "words": report.sentence}  # fmt: skip
    rows = [{**msgspec.structs.asdict(row), "pieces": " ".join(row.pieces)} for row in report.rows]
    return [{head: found.get(head) for head in HEADS} for found in (whole, *rows)]


def to_csv(report: Report) -> bytes:
    """``cells`` as CSV; its first row are machine names. No cell is a formula for a spreadsheet."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, HEADS)
    writer.writeheader()
    writer.writerows({head: _safe(cell) for head, cell in found.items()} for found in cells(report))
    return out.getvalue().encode()


def _safe(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def many(count: int, noun: str) -> str:
    """So many of something."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _of(rows: Sequence[GateFinding], part: str, *verdicts: str) -> list[GateFinding]:
    return [row for row in rows if row.part == part and (not verdicts or row.verdict in verdicts)]


def _ended(rows: Sequence[GateFinding], *verdicts: str) -> list[GateFinding]:
    """The lineups that the search ended with."""
    return [row for row in _of(rows, "search", *verdicts) if row.name not in (BATTLES, NOTHING)]


def _left(rows: Sequence[GateFinding], part: str) -> str:
    return next((f", where {row.words}" for row in _of(rows, part, "open") if row.name == BATTLES), "")


def _over(rows: Sequence[GateFinding], gate: Gate) -> str:
    replayed, still_over = _of(rows, "replay"), _of(rows, "replay", "over")
    found = []
    if still_over:
        word = "is" if len(still_over) == 1 else "are"
        found.append(f"{len(still_over):,} of {many(len(replayed), 'earlier exploit')} {word} still over the line")
    if pieces := _of(rows, "screen", "over"):
        more = f" and {len(pieces) - SHOWN:,} more" if len(pieces) > SHOWN else ""
        named = ", ".join(f"{row.name} ({written(row.value, '+.1f')} points)" for row in pieces[:SHOWN])
        found.append(f"{many(len(pieces), 'suspect')} stood out in the screen, {named}{more}{_left(rows, 'screen')}")
    if lineups := _of(rows, "search", "over"):
        found.append(f"the search found {many(len(lineups), 'lineup')} over the line{_left(rows, 'search')}")
    return f"Over the line: {'; '.join(found)}."


def _under(rows: Sequence[GateFinding], gate: Gate) -> str:
    found, barred = [], _of(rows, "replay", "barred")
    if replayed := _of(rows, "replay", *FAIR):
        counts = {said: len(_of(replayed, "replay", kind)) for kind, said in UNCOUNTED.items()}
        but = "".join(f", {count:,} of them {said}" for said, count in counts.items() if count)
        found.append(f"{many(len(replayed), 'earlier exploit')}{but}{',' if but else ''}")
    if pieces := gate.looked.get("screen", 0):
        reach = max(
            (abs(end) for row in _of(rows, "screen", "under") for end in (row.low, row.high) if end is not None),
            default=0,
        )
        shifts = "which does not shift" if pieces == 1 else "none of which shifts"
        found.append(f"{many(pieces, 'piece')}, {shifts} the chance to win by more than {reach:.1f} points,")
    ended = sum(row.many for row in _ended(rows))
    if ended and (looked := gate.looked.get("search", 0)):
        found.append(f"the {many(ended, 'lineup')} that a search of {looked:,} ended with")
    rest = f" {many(len(barred), 'earlier exploit')} may not be fielded any more." if barred else ""
    said = " and ".join(found).rstrip(",") or "nothing that may be fielded"
    return f"Under the line, as far as this gate looked: {said}.{rest} What it did not meet may still be over."


def _open(rows: Sequence[GateFinding], gate: Gate) -> str:
    found = [f"the {part} is not over" for part in gate.unfinished]
    replayed, unsure = _of(rows, "replay"), _of(rows, "replay", "open")
    if unsure:
        found.append(f"{len(unsure):,} of {many(len(replayed), 'earlier exploit')} {_needs(unsure)}")
    pieces = _of(rows, "screen", "open")
    found += [f"{row.name}: {row.words}" for row in pieces[:SHOWN]]
    if len(pieces) > SHOWN:
        found.append(f"{len(pieces) - SHOWN:,} more of the screen cannot be told either")
    if lineups := _ended(rows, "open"):
        found.append(f"{len(lineups):,} of {many(sum(r.many for r in _ended(rows)), 'lineup')} that the search "
                     f"ended with {_needs(lineups)}")  # fmt: skip
    said = {NOTHING: "the search", BATTLES: "in the search,"}
    found += [f"{said[row.name]} {row.words}" for row in _of(rows, "search", "open") if row.name in said]
    return f"Cannot tell: {'; '.join(each.rstrip('.') for each in found)}."


def _needs(rows: Sequence[GateFinding]) -> str:
    """What is missing to tell these: those without a value could not be played to an end."""
    lost = sum(row.value is None for row in rows)
    if lost == len(rows):
        return "could not be played to an end"
    also = f", and {lost:,} of them could not be played to an end" if lost else ""
    return f"{_more([row for row in rows if row.value is not None], len(rows))}{also}"


def _more(rows: Sequence[GateFinding], of: int) -> str:
    """The battles that are missing to tell these, which are some ``of`` so many."""
    known = [row.missing for row in rows if row.missing]
    word = "needs" if of == 1 else "need"
    if not known:
        return f"{'is' if of == 1 else 'are'} too close to the line to tell"
    close = len(rows) - len(known)
    rest = f" ({close:,} of them may stay too close to tell)" if close else ""
    return f"{word} about {rounded(sum(known)):,} more battles{rest}"


def rounded(battles: float) -> int:
    """To two leading digits, up: an estimate should not look like a count."""
    if battles < 10:
        return 10
    step = 10 ** (len(str(int(battles))) - 2)
    return int(-(-battles // step) * step)
