"""All that a report says, as plain data: made once, when it is published, and kept as it is.

Numbers stand there twice: as they are, for drawings and spreadsheets, and in words, as every page and file writes them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from webapp.accounts.models import User
from webapp.lib.page_json import finite
from webapp.lib.text import writable
from webapp.lib.words import day, stamp
from webapp.reports import lineups as judging
from webapp.reports.decided import decided, shortlisted
from webapp.reports.headline import headline
from webapp.reports.mended import mended
from webapp.reports.pieces import pieces_of, reported
from webapp.reports.proposals import Proposal, kept_change
from webapp.reports.provenance import provenance
from webapp.reports.since import since
from webapp.reports.untested import untested
from webapp.studies import commanders
from webapp.studies.models import Job

FORM = 1
"""Of the data; raised when a page that reads it must tell old ones apart."""


class ReportText(NamedTuple):
    """What a person writes into a report."""

    title: str
    release: str
    words: str = ""


def content(search: Job, proposed: Proposal | None = None) -> dict[str, Any]:
    """What a report on a search says by now, but for what a person writes and for who publishes it; with the change
    that it proposes."""
    pieces = pieces_of(search)
    lineups = judging.judged(search, pieces.intended)
    said = headline(pieces, lineups, mended(proposed, pieces.faults), since(search))
    change = kept_change(proposed)
    found = {
        "form": FORM,
        "project": search.project.name,
        "data": commanders.played_on(search),
        "verdict": said.plain(),
        "suspects": [reported(each, pieces.decided.get(each.key)) for each in pieces.faults],
        "intended": [reported(each, pieces.decided.get(each.key), meant=True) for each in pieces.intended],
        "reach": pieces.reach,
        "minus": -pieces.reach,
        "over": judging.groups(lineups.confirmed),
        "over_count": len(lineups.confirmed),
        "over_more": max(0, len(lineups.confirmed) - judging.KEPT),
        "meant": lineups.meant[: judging.KEPT],
        "meant_more": max(0, len(lineups.meant) - judging.KEPT),
        "meant_count": lineups.held,
        "open": lineups.open,
        "open_count": len(lineups.open),
        "change": change,
        "untested": untested(search, pieces, lineups),
        "decisions": decided(search),
        "shortlisted": shortlisted(search),
        "provenance": [list(fact) for fact in provenance(search, pieces, lineups, change)],
    }
    plain: dict[str, Any] = finite(found)
    return plain


def published(found: Mapping[str, Any], typed: ReportText, user: User, at: datetime, edition: int) -> dict[str, Any]:
    """The same with what a person wrote, who publishes it, and when."""
    origin = [["Report", f"edition {edition}, published {stamp(at)} by {user}"], *found["provenance"]]
    whole: dict[str, Any] = writable({**found, **typed._asdict(), "edition": edition, "by": str(user),
                                      "at": stamp(at), "day": day(at), "provenance": origin})  # fmt: skip
    return whole


def hash_of(whole: Mapping[str, Any]) -> str:
    """What tells that a report is the one that was published."""
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
