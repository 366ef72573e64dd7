"""A report as a workbook: its verdict, suspects, lineups, what was not tested, the logs, and where it comes from."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from webapp.lib.words import plural
from webapp.reports.changed import PROPOSED
from webapp.studies.explore_export import Cell, sheet

SUSPECTS = ("Name", "What is wrong", "How much", "Worth (points)", "95 % from", "95 % to", "Fresh battles", "Cost",
            "Fair price", "Fair price, 95 % from", "Fair price, 95 % to", "Decision", "Decided by")  # fmt: skip
LINEUPS = {
    "name": "Teams compared together", "objective": "What is judged", "value": "Value", "low": "95 % from",
    "high": "95 % to", "unit": "Unit", "line": "The line", "battles": "Fresh battles",
}  # fmt: skip
MEANT = {**LINEUPS, "holds": "Holds what is intended"}
"""Of the 50 that are furthest towards the line or over it: nothing is told of them, so some may be under it."""

CHANGE = ("Number, or teams compared together", "What is measured", "Before", "Before, 95 % from", "Before, 95 % to",
          "After", "After, 95 % from", "After, 95 % to", "Difference", "Difference, 95 % from", "Difference, 95 % to",
          "Verdict after", "Refitted", "Fresh battles")  # fmt: skip


def to_xlsx(content: Mapping[str, Any], content_hash: str, standing: str = "") -> bytes:
    """The whole book. ``standing``: what became of the report since (``judging.standing``). Cells that a spreadsheet
    would run as formulas are text."""
    from openpyxl import Workbook  # many processes of the site never write one

    book = Workbook(write_only=True)
    sheet(book, "Report", ["What", "Value"], _head(content, standing), (24, 90))
    sheet(book, "Suspects", list(SUSPECTS), map(_suspect, [*content["suspects"], *content["intended"]]), (30, 40, 60))
    over = [row for group in content["over"] for row in group["rows"]]
    sheet(book, "Over the line", [*LINEUPS.values()], _lineups(over, LINEUPS, content["over_more"]), (60, 24))
    if content["meant"]:
        more = content.get("meant_more", 0)  # reports from before this was kept have none
        sheet(book, "Intended, not judged", [*MEANT.values()], _lineups(content["meant"], MEANT, more), (60, 24))
    sheet(book, (content["change"] or {}).get("title", PROPOSED), list(CHANGE), _change(content), (60, 30))
    sheet(book, "Not settled", ["Teams compared together", "What would tell"],
          ([row["name"], row["words"]] for row in content["open"]), (60, 80))  # fmt: skip
    sheet(book, "Not tested", ["What was not tested"], ([said] for said in content["untested"]), (110,))
    for title, log in (("Decisions", content["decisions"]), ("Shortlist", content.get("shortlisted"))):
        rows = ([row[key] for key in ("at", "by", "about", "words")] for row in (log or {"rows": []})["rows"])
        sheet(book, title, ["When", "By", "About", "What"], rows, (26, 20, 40, 80))
    origin: list[list[Cell]] = [*content["provenance"], ["Hash of the report", content_hash]]
    sheet(book, "Where it comes from", ["What", "Value"], origin, (34, 90))
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _lineups(rows: Sequence[Mapping[str, Any]], keys: Iterable[str], more: int) -> Iterator[list[Cell]]:
    """Lineups, then how many there are ``more``."""
    yield from ([row[key] for key in keys] for row in rows)
    if more:
        yield [f"{plural(more, 'lineup')} more, less far towards the line, {'is' if more == 1 else 'are'} not listed."]


def _head(content: Mapping[str, Any], standing: str) -> Iterator[list[Cell]]:
    verdict = content["verdict"]
    if standing:
        yield ["How it stands", standing]
    yield ["Project", content["project"]]
    yield ["Title", content["title"]]
    yield ["Release", content["release"]]
    yield ["Edition", content["edition"]]
    yield ["Verdict", verdict["words"]]
    yield from (["", said] for said in verdict["more"])
    yield ["How sure", verdict["sure"]]
    if content["words"]:
        yield ["In the words of its author", content["words"]]
    yield ["Lineups over the line", content["over_count"]]
    yield ["Lineups that hold what is intended", content["meant_count"]]
    yield ["Lineups that need more battles", content["open_count"]]


def _suspect(each: Mapping[str, Any]) -> list[Cell]:
    keys = ("name", "claim", "effect", "worth", "low", "high", "battles", "cost", "fair", "fair_low", "fair_high",
            "decision", "decided_by")  # fmt: skip
    return [each[key] for key in keys]


def _change(content: Mapping[str, Any]) -> Iterator[list[Cell]]:
    change = content["change"]
    for each in change["numbers"] if change else ():
        yield [each["title"], "changed number", each["old"], "", "", each["new"]]
    for row in change["rows"] if change else ():
        three = [row[when][end] for when in ("before", "after", "change") for end in ("value", "low", "high")]
        yield [row["name"], change["objective"], *three, row["words"], row["refitted"], row["battles"]]
