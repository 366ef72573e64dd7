"""The explorer's lineups as one HTML file that works without the site: Plotly, data, provenance and a table, inlined.

It asks for nothing: a policy in its head forbids every request, and names arrive as text, never as markup. (The policy
allows ``eval`` because Plotly's WebGL marks are programs that it writes; nothing that people typed gets near it.)
"""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from numpy.typing import NDArray

from webapp.lib.figures import telling, with_unit
from webapp.studies.explore_export import RANGES, Cell, Taken, header, lines, provenance
from webapp.studies.explore_filter import SHOWN

BEHIND = 20_000
"""Lineups that are not taken are drawn as dots behind the taken ones; more than this only make the file larger."""


def to_html(taken: Taken) -> bytes:
    """The whole page."""
    rows = list(lines(taken))
    payload = {
        "title": taken.job.title,
        "objectives": taken.explored.meta["objectives"],
        "lines": _lines(taken),
        "median": taken.explored.meta["median"],
        "header": header(taken),
        "rows": rows,
        "verdicts": [taken.explored.meta["words"][name] for name in SHOWN],
        "digits": _digits(taken),
        "finer": _finer(taken, rows),
        "ranges": RANGES,
        "confirmed": _confirmed(taken),
        **_columns(taken),
    }
    context = {
        "title": taken.job.title,
        "project": taken.job.project.name,
        "what": dict(provenance(taken))["What"],
        "facts": provenance(taken),
        "payload": _script(json.dumps(payload, ensure_ascii=False, allow_nan=False)),
        "plotly": _plotly(),
        "script": _text("js/offline/page.js"),
        "styles": _text("css/tokens.css") + _text("css/offline.css"),
    }
    return render_to_string("studies/explore/offline.html", context).encode()


def _lines(taken: Taken) -> list[str | None]:
    """Where each objective's line is, as the site writes it; None without one."""
    objectives = taken.explored.meta["objectives"]
    at = [(o["threshold"], o["unit"], o["digits"]) for o in objectives]
    return [None if line is None else with_unit(line, unit, digits) for line, unit, digits in at]


def _confirmed(taken: Taken) -> list[int]:
    """Places among the rows of what fresh battles confirm by the job's own line; none where the line is moved."""
    core = taken.explored.core
    if not core or taken.explored.meta.get("moved"):
        return []
    found = {lineup for lineup, fresh in taken.fresh.items() if fresh.finding == "confirmed"}
    strong = SHOWN.index("strong")
    return [i for i, row in enumerate(taken.rows) if int(core["id"][row]) in found and core["verdict"][row] == strong]


def _digits(taken: Taken) -> list[int | None]:
    """Decimals of each column's numbers: one more than on the site's page, none for what is counted."""
    objectives = taken.explored.meta["objectives"]
    wanted = {o["title"]: o["digits"] + 1 for o in objectives}
    longest = sorted(wanted, key=len, reverse=True)
    return [next((wanted[title] for title in longest if head.startswith(title)), 0) for head in header(taken)]


def _finer(taken: Taken, rows: list[list[Cell]]) -> dict[int, dict[int, int]]:
    """By row and column, the digits of values and ranges that usual ones would put on the line, or into one number."""
    median = taken.explored.meta["median"]
    found: dict[int, dict[int, int]] = {}
    for j, objective in enumerate(taken.explored.meta["objectives"]):
        usual, first = objective["digits"] + 1, RANGES + 3 * j
        level = median["value"] if median and objective["strength"] else None
        lines = [line for line in (objective["threshold"], level) if line is not None]
        for place, row in enumerate(rows):
            value, low, high = row[first : first + 3]
            ends = (float(low), float(high)) if isinstance(low, int | float) and isinstance(high, int | float) else None
            digits = telling(float(value or 0), ends, usual, lines)
            if digits > usual:
                found.setdefault(place, {}).update(dict.fromkeys(range(first, first + 3), digits))
    return found


def _columns(taken: Taken) -> dict[str, Any]:
    core, rows = taken.explored.core, taken.rows
    if not core:
        return {"value": [], "half": [], "verdict": "", "behind": []}
    others = np.setdiff1d(np.arange(core["id"].size), rows)
    others = others[:: max(1, -(-len(others) // BEHIND))]
    return {
        "value": [_packed(column[rows]) for column in core["value"]],
        # What is not known is no number: a range of none would look certain.
        "half": [_packed(np.where(np.isfinite(column[rows]), column[rows], np.nan)) for column in core["half"]],
        "verdict": base64.b64encode(core["verdict"][rows].tobytes()).decode(),
        "behind": [_packed(column[others]) for column in core["value"]],
        "evaluated": int(core["id"].size),
    }


def _packed(column: NDArray[Any]) -> str:
    return base64.b64encode(column.astype("<f4").tobytes()).decode()


def _script(text: str) -> str:
    """JSON that cannot end the element it stands in."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _text(name: str) -> str:
    return Path(settings.BASE_DIR, "static", name).read_text(encoding="utf-8")


@cache
def _plotly() -> str:
    return Path(str(finders.find("plotly/plotly.min.js"))).read_text(encoding="utf-8")
