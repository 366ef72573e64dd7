"""What is taken away from the explorer: exactly the lineups on the screen, as CSV or XLSX, and where they come from."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from engine.lineups import schema
from engine.simulators.contract import GameSpec
from engine.text import written
from webapp.accounts.models import User
from webapp.games.called import called
from webapp.lib.text import plain
from webapp.lib.words import plural
from webapp.studies import commanders
from webapp.studies.explore_build import Explored
from webapp.studies.explore_filter import everything
from webapp.studies.explore_shortlist import Shortlist
from webapp.studies.fresh import WHY_ACROSS, Fresh, Searched
from webapp.studies.models import Job

if TYPE_CHECKING:
    from openpyxl import Workbook

FRESH, SEARCHED = "fresh battles", "the search’s battles"
STRENGTH = "Strength left, in all battles of the search"
"""Not the objective of that name, which may be of battles with baseline teams alone, and of fresh ones."""
FILE_ROWS = 20_000
"""More lineups than this make a workbook or a page that takes minutes to open; CSV has no limit."""

ON_EVERY_LINE = (
    "Job",
    "The line",
    "The line, moved",
    "Game data",
    "Simulator",
    "Both sides led by",
    "Config hash",
    "Seed",
    "Battles per evaluation",
    "Exported",
    "By",
)

Cell = str | int | float | None
RANGES = 3
"""Columns before the first objective's value and the ends of its range."""


@dataclass(frozen=True)
class Taken:
    """The lineups to export (``rows`` of ``explored``, in order) and all that says what they are."""

    job: Job
    explored: Explored
    genome: NDArray[np.int32]
    spec: GameSpec
    shortlist: Shortlist
    rows: NDArray[np.int64]
    user: User
    query: str

    @cached_property
    def fresh(self) -> dict[int, Fresh]:
        """What fresh battles say, by lineup id."""
        return self.shortlist.fresh

    @cached_property
    def searched(self) -> dict[int, Searched]:
        """What the search had said of the same lineups."""
        return self.explored.searched

    @property
    def stem(self) -> str:
        """File name without its ending."""
        return f"{self.job.project.slug}-job-{self.job.pk}-lineups"


def safe(text: str) -> str:
    """Text that every spreadsheet program opens and none runs as a formula."""
    text = plain(text)
    seen = next((each for each in text if unicodedata.category(each)[0] not in "CZ"), "")
    begins_one = unicodedata.normalize("NFKC", seen).startswith(("=", "+", "-", "@"))  # in any width
    return f"'{text}" if begins_one or text.startswith(("\t", "\r")) else text


def provenance(taken: Taken) -> list[tuple[str, Cell]]:
    """Where the numbers come from, and what is needed to get them again."""
    job, version = taken.job, taken.job.game_version
    what = f"{plural(len(taken.rows), 'lineup')} of {taken.explored.meta['rows']:,} evaluated"
    return [
        ("Job", f"{job.pk}: {job.title}"),
        ("Project", job.project.name),
        ("What", what),
        ("Filters", taken.query or f"none: {everything(taken.explored)}"),
        *_lines(taken),
        *_across(taken),
        ("Game data", f"{version} ({version.content_hash[:12]})" if version else ""),
        (
            "Simulator",
            f"{taken.spec.title} {taken.spec.version} ({called(job.config['game']['simulator'], job.project)})",
        ),
        ("Both sides led by", commanders.words(job.config)),
        ("Config hash", job.config_hash),
        ("Seed", job.config["seed"]),
        ("Battles per evaluation", taken.explored.meta["battles_each"]),
        ("Rounds", job.tick),
        ("Exported", timezone.localtime().isoformat(timespec="seconds")),
        ("By", str(taken.user)),
    ]


def _lines(taken: Taken) -> list[tuple[str, Cell]]:
    """Where each line stands that lineups are judged by; of a moved one also where the job's own is."""
    own = {o["name"]: o["threshold"] for o in taken.job.config["objectives"]["objectives"]}
    found: list[tuple[str, Cell]] = []
    for o in taken.explored.meta["objectives"]:
        if o["threshold"] is None:
            continue
        at = f"{o['title']} at {written(o['threshold'], 'g')}"
        moved = o["name"] in taken.explored.meta.get("moved", {})
        found.append(
            ("The line, moved", f"{at}; the job’s own is {written(own[o['name']], 'g')}") if moved else ("The line", at)
        )
    return found


def _across(taken: Taken) -> list[tuple[str, Cell]]:
    """How lineups can be confirmed while their ranges say less, where there are such."""
    if taken.explored.meta.get("moved"):
        return []
    ids = taken.explored.core["id"][taken.rows].tolist() if taken.explored.core else []
    told = [taken.fresh[i].across for i in ids if i in taken.fresh and taken.fresh[i].across]
    what = " or ".join(sorted(set(told)))
    return [(f"Confirmed, with a range across {what}", f"{plural(len(told), 'lineup')}. {WHY_ACROSS}")] if told else []


def source_line(taken: Taken) -> str:
    """What a line needs to be traced once it was cut out of its file."""
    return "; ".join(f"{label}: {value}" for label, value in provenance(taken) if label in ON_EVERY_LINE)


def header(taken: Taken) -> list[str]:
    """Column titles of the lineups table."""
    titles = ["Lineup", "Teams compared together", "How sure", *_ranges(taken, ""), "Measured on", "Battles"]
    titles += _ranges(taken, " in the search") if taken.searched else []
    titles += ["Family", "Best trade-off", "Shortlisted because"]
    for team in range(1, taken.explored.meta["teams"] + 1):
        titles += [f"Team {team}", f"Team {team} cost"]
    return titles


def machine_header(taken: Taken) -> list[str]:
    """Names of the same columns for programs; those of objectives are their short names."""
    names = [o["name"] for o in taken.explored.meta["objectives"]]
    ranges = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    before = [f"search_{each}" for each in ranges] if taken.searched else []
    teams = range(1, taken.explored.meta["teams"] + 1)
    of_teams = [each for team in teams for each in (f"team_{team}", f"team_{team}_cost")]
    return [
        "lineup",
        "teams",
        "sure",
        *ranges,
        "measured_on",
        "battles",
        *before,
        "family",
        "front",
        "reason",
        *of_teams,
    ]


def _ranges(taken: Taken, where: str) -> list[str]:
    titles = []
    for o in taken.explored.meta["objectives"]:
        title = f"{o['title']}{where}"
        titles += [f"{title} ({o['unit']})" if o["unit"] else title, f"{title}, 95 % from", f"{title}, 95 % to"]
    return titles


def lines(taken: Taken) -> Iterator[list[Cell]]:
    """One line for each lineup, matching ``header``."""
    for row in taken.rows:
        yield _line(taken, int(row))


def _line(taken: Taken, row: int) -> list[Cell]:
    core, meta = taken.explored.core, taken.explored.meta
    lineup, family = int(core["id"][row]), int(core["family"][row])
    genome = taken.genome[row]
    fresh, listed = taken.fresh.get(lineup), taken.shortlist.all.get(lineup)
    cells: list[Cell] = [
        lineup,
        " · ".join(schema.team_name(taken.spec, team) for team in genome),
        taken.explored.how_sure(row),
    ]
    for j, objective in enumerate(meta["objectives"]):
        cells += _range(objective, float(core["value"][j, row]), float(core["half"][j, row]))
    cells += [FRESH if fresh else SEARCHED, round(float(core["samples"][row]) * meta["battles_of_replicate"])]
    cells += _before(taken, lineup)
    cells += [meta["families"][family - 1]["name"] if family else "", "yes" if core["best"][row] else ""]
    cells.append(listed.reason.reason if listed and listed.on else "")
    for team, cost in zip(genome, taken.explored.teams["cost"][row], strict=True):
        cells += [", ".join(schema.team_parts(taken.spec, team)), _figures(float(cost))]
    return cells


def _before(taken: Taken, lineup: int) -> list[Cell]:
    """What the search had said of a lineup that was played again; empty cells for the others."""
    objectives = taken.explored.meta["objectives"]
    before = taken.searched.get(lineup)
    if before is None:
        return [""] * (3 * len(objectives)) if taken.searched else []
    return [c for o, v, h in zip(objectives, before.mean, before.half, strict=True) for c in _range(o, v, h)]


def _range(objective: dict[str, Any], value: float, half: float | None) -> list[Cell]:
    """A value and the ends of its 95 % range, which stop at the objective's floor and cap as they do on the page."""
    if half is None or not np.isfinite(half):
        return [_figures(value), "", ""]
    low, high = objective["low"], objective["high"]
    ends = max(value - half, -np.inf if low is None else low), min(value + half, np.inf if high is None else high)
    return [_figures(value), *map(_figures, ends)]


def _figures(value: float) -> float | int:
    """Six figures: what 32 bits hold; whole numbers without a decimal point."""
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() else short


def team_header(taken: Taken) -> list[str]:
    """Column titles of the teams table: one column for each slot of the game."""
    return ["Lineup", "Team", "Part", "Cost", STRENGTH, *(slot.title for slot in taken.spec.slots)]


def team_lines(taken: Taken) -> Iterator[list[Cell]]:
    """One line for each team of each lineup."""
    core, lineups, teams = taken.explored.core, taken.explored.lineups, taken.explored.teams
    for row in taken.rows:
        anchors = lineups["anchor"][row]
        for t, team in enumerate(taken.genome[row]):
            part = "strongest" if t == anchors[0] else "weakest" if t == anchors[1] else ""
            numbers = [_figures(float(teams[name][row, t])) for name in ("cost", "strength")]
            slots = [
                int(v) if slot.kind == "count" else taken.spec.pieces[v].name if v >= 0 else ""
                for slot, v in zip(taken.spec.slots, team, strict=True)
            ]
            yield [int(core["id"][row]), t + 1, part, *numbers, *slots]


def to_csv(taken: Taken) -> bytes:
    """The lineups as CSV that Excel reads as UTF-8. Each line ends with its source, so lines may be cut and pasted."""
    return _csv(taken, [*header(taken), "Source"]).encode("utf-8-sig")


def to_machine_csv(taken: Taken) -> bytes:
    """The same for programs: the first row are machine names."""
    return _csv(taken, [*machine_header(taken), "source"]).encode()


def _csv(taken: Taken, heads: list[str]) -> str:
    text, source = io.StringIO(newline=""), source_line(taken)
    writer = csv.writer(text)
    writer.writerow([safe(title) for title in heads])
    for line in lines(taken):
        writer.writerow([safe(cell) if isinstance(cell, str) else cell for cell in [*line, source]])
    return text.getvalue()


def to_xlsx(taken: Taken) -> bytes:
    """The lineups, their teams, and where they come from, as three sheets."""
    from openpyxl import Workbook  # many processes of the site never write one

    book = Workbook(write_only=True)
    sheet(book, "Lineups", header(taken), lines(taken), (10, 46, 16))
    sheet(book, "Teams", team_header(taken), team_lines(taken), (10, 8, 12, 10, 14))
    facts: list[list[Cell]] = [[label, value] for label, value in provenance(taken)]
    for o in taken.explored.meta["objectives"]:
        line = "" if o["threshold"] is None else f", the line at {written(o['threshold'], 'g')}"
        facts.append([f"Objective {o['name']}", f"{o['title']} ({o['direction']}{line}): {o['formula']}"])
    sheet(book, "Config", ["What", "Value"], facts, (26, 90))
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def sheet(book: Workbook, title: str, heads: list[str], body: Iterable[list[Cell]], widths: tuple[int, ...]) -> None:
    """Add a sheet of one line each, under bold titles that stay in sight; ``widths`` of the first columns."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    made: Any = book.create_sheet(title)
    made.freeze_panes = "A2"
    for number, width in enumerate(widths):
        made.column_dimensions["ABCDEFGH"[number]].width = width
    titles = [WriteOnlyCell(made, value=safe(text)) for text in heads]
    for cell in titles:
        cell.font = Font(bold=True)
    made.append(titles)
    for line in body:
        made.append([safe(cell) if isinstance(cell, str) else cell for cell in line])
