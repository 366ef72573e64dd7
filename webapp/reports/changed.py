"""What a report says of the change that it proposes: its numbers, and every lineup before and after."""

from __future__ import annotations

from typing import Any

from webapp.changes import sentences
from webapp.changes.reading import Lineup, Measured, Replayed
from webapp.changes.templatetags.change_bars import axis
from webapp.lib.figures import with_unit
from webapp.studies.models import Job

PROPOSED = "Proposed change"


def changed(found: Replayed) -> dict[str, Any]:
    """A change that was tried on a search's lineups and told by fresh battles."""
    objective, line, on = found.objective, found.line, axis(found)
    return {
        "title": _title(found.job),
        "of": "replay",
        "numbers": [{"title": n.title, "was": n.was, "value": n.value, "old": n.old, "new": n.new}
                    for n in found.numbers],
        "said": [sentences.head(found), *sentences.rest(found)],
        "objective": objective.title,
        "toward": objective.toward,
        "unit": objective.unit,
        "line": line,
        "line_words": "" if line is None else with_unit(line, objective.unit),
        "axis": on._asdict(),
        "finer": found.finer,
        "rows": [_row(found, each) for each in found.lineups],
        "battles": found.battles,
        "job": found.job.pk,
        "seed": found.job.config["seed"],
        "settings": found.job.config_hash,
    }  # fmt: skip


def _title(job: Job) -> str:
    """Of a change that somebody tried, or of one that came as a version of the game data."""
    version = job.game_version
    return f"Changed since, in version {version.number}" if job.accompanies_id and version else PROPOSED


def _row(found: Replayed, each: Lineup) -> dict[str, Any]:
    return {
        "name": each.name,
        "before": _measured(found, each.before),
        "after": _measured(found, each.after),
        "change": _measured(found, each.change),
        "words": each.words,
        "mark": each.mark,
        "refitted": each.refitted,
        "battles": each.battles,
    }


def _measured(found: Replayed, measured: Measured) -> dict[str, Any]:
    """A value with its range, as numbers and in words."""
    words = {"value_words": found.value_of(measured), "range_words": found.ends_of(measured)}
    return {**measured._asdict(), **words}
