"""What a report says of a change that a search for changes found and fresh battles proved: its numbers and rules, and
everything that it was to mend, before and after."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from engine.errors import ConfigError
from webapp.changes.reading import Measured
from webapp.changes.templatetags.change_bars import spanning
from webapp.games.specs import version_spec
from webapp.lib.figures import in_unit, share_with_ends, telling, with_unit
from webapp.lib.words import lower_first, number, plural
from webapp.patches.reading import Effect, PatchesResult, PatchRow
from webapp.reports.changed import PROPOSED
from webapp.studies import commanders
from webapp.studies.models import Job, Status
from webapp.studies.table_rows import latest

MOST = 5
"""Searches for changes that are looked through, the latest."""
GONE = "in no team any more"


class Patched(NamedTuple):
    """A change that works, and the effects of all that it was to mend before it, in the order of ``row.effects``."""

    job: Job
    reading: PatchesResult
    row: PatchRow

    @property
    def key(self) -> str:
        """It, among all changes of a project."""
        return f"{self.job.pk}-{self.row.number}"

    def effect(self, pieces: tuple[str, ...], least: int) -> tuple[Measured, Measured] | None:
        """What a suspect that it mends is worth before and after, in points; None where it was not to be mended."""
        for watched, was, now in zip(self.reading.meta["watched"], self._before, self.row.effects, strict=True):
            same = set(watched["pieces"]) == set(pieces) and watched.get("least", 1) == least
            if same and watched["suspect"]:
                return _measured(was), _measured(now)
        return None

    @property
    def _before(self) -> list[Effect]:
        present = self.reading.present
        assert present is not None
        return present.effects


def offered(search: Job) -> list[Patched]:
    """The changes of the latest searches for changes that fresh battles proved on the data of a search, the recommended
    one of each first. They are proved by battles of the game's own script."""
    if search.game_version is None or commanders.name_in(search.config):
        return []
    jobs = search.project.jobs.filter(kind="patch", status=Status.FINISHED, game_version=search.game_version)
    found = [(job, latest(job)) for job in jobs.select_related("game_version", "lineup_rules").order_by("-pk")[:MOST]]
    return [
        Patched(job, reading, row)
        for job, reading in [(job, PatchesResult(bundle)) for job, bundle in found if bundle is not None]
        for row in reading.rows
        if row.changes and row.verdict == "works"
    ]


def changed(found: Patched) -> dict[str, Any]:
    """It, as a report keeps it, in the form of a change that was tried."""
    matters, rows = found.reading.matters, list(_rows(found))
    measured = [each for row in rows for each in row["both"]]
    return {
        "title": PROPOSED,
        "of": "patch",
        "numbers": _numbers(found),
        "said": list(_said(found)),
        "objective": "Points of the chance to win",
        "toward": "stronger",
        "unit": "points",
        "line": matters,
        "line_words": with_unit(matters, "points"),
        "dashed": "the smallest effect that matters",
        "axis": spanning(measured, [row["line"] for row in rows], "points")._asdict(),
        "finer": False,
        "rows": [{key: value for key, value in row.items() if key != "both"} for row in rows],
        "battles": int(found.job.counters.get("battles", 0)),
        "job": found.job.pk,
        "seed": found.job.config["seed"],
        "settings": found.job.config_hash,
    }


def _numbers(found: Patched) -> list[dict[str, Any]]:
    """Its numbers before and after, and its rules."""
    names, table = _names(found.job), found.row.table
    changes = [
        {"title": f"{names.get(each['piece'], each['piece'])}: {lower_first(each['number'])}",
         "old": each["before"], "new": each["after"],
         "was": with_unit(each["before"], each["unit"]), "value": with_unit(each["after"], each["unit"])}
        for each in table["changes"]
    ]  # fmt: skip
    words = {"old": "allowed", "new": "not allowed", "was": "allowed", "value": "not allowed"}
    apart = [" and ".join(names.get(piece, piece) for piece in pair) for pair in table["apart"]]
    return [*changes, *({"title": f"{pair} in one team", **words} for pair in apart)]


def _names(job: Job) -> dict[str, str]:
    """What the game calls its pieces; none where it is not described any more."""
    assert job.game_version is not None
    try:
        return {piece.id: piece.name for piece in version_spec(job.game_version).pieces}
    except ConfigError:
        return {}


def _said(found: Patched) -> Iterator[str]:
    """What fresh battles prove of it, and why the suspects above it have other numbers."""
    row, matters = found.row, number(found.reading.matters)
    yield (
        f"By {plural(row.battles, 'fresh battle')}, nothing that was to be mended is further than {matters} points "
        "from fair, and no other piece is named."
    )
    if row.largest is not None and row.largest > found.reading.matters:
        yield f"Effects of up to {row.largest_text} points of other pieces stay open."
    now, was = row.table["strongest"], found.reading.meta["present"]
    if now and was:
        yield f"The strongest team that an adversary found wins {_share(now)} under it, {_share(was)} before."
    yield " ".join(found.reading.of_before)


def _share(team: dict[str, Any]) -> str:
    return share_with_ends(team["share"], team["low"], team["high"])


def _rows(found: Patched) -> Iterator[dict[str, Any]]:
    matters = found.reading.matters
    for watched, now in zip(found.reading.meta["watched"], found.row.effects, strict=True):
        both = found.effect(tuple(watched["pieces"]), watched.get("least", 1))
        if both is None:
            continue
        before, after = both
        yield {
            "name": now.name,
            "before": _with_range(before, matters),
            "after": _with_range(after, matters),
            "change": _with_range(Measured(None), matters),
            "words": "Fixed" if after.value is not None else f"Fixed: {GONE}",
            "missing": GONE,
            "mark": found.row.mark,
            "refitted": "",
            "battles": None,
            "line": math.copysign(matters, before.value or 0.0),
            "both": both,
        }


def _measured(effect: Effect) -> Measured:
    return Measured(effect.worth, effect.low, effect.high)


def shown(measured: Measured, matters: float) -> str:
    """ "6.7 points (4.1 to 9.0)"."""
    texts = _with_range(measured, matters)
    return texts["value_words"] + (f" ({texts['range_words']})" if texts["range_words"] else "")


def _with_range(measured: Measured, matters: float) -> dict[str, Any]:
    """A value with its range, as numbers and in words."""
    if measured.value is None:
        return {**measured._asdict(), "value_words": GONE, "range_words": ""}
    digits = telling(measured.value, measured.ends, 1, (-matters, matters))
    ends = " to ".join(number(end, digits) for end in measured.ends or ())
    value = in_unit(number(measured.value, digits), "points")
    return {**measured._asdict(), "value_words": value, "range_words": ends}
