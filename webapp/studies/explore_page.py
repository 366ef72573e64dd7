"""What the explorer's page says before a script runs: facts, filter boxes, details."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from engine.config.lineups import ObjectiveConfig
from engine.errors import ConfigError, StoreError
from webapp.lib.words import plural
from webapp.studies import explore_source as source
from webapp.studies.models import Job

SHORT_UNITS = {"points": "pts", "point": "pts"}
FITS_THE_BOX = 3
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def context(job: Job) -> dict[str, Any]:
    """Everything the template needs besides addresses and permissions."""
    objectives = source.objectives(job).objectives
    teams = int(job.config["lineups"]["teams"])
    return {
        "objectives": [_objective(o) for o in objectives],
        "has_line": any(o.threshold is not None for o in objectives),
        "teams": teams,
        "teams_words": _teams_words(job, teams),
        "groups": _groups(job, teams),
        "piece_words": _piece_words(job),
        "algorithm": job.config.get("algorithm", {}).get("kind", ""),
        "modules": modules(),
    }


def _objective(objective: ObjectiveConfig) -> dict[str, Any]:
    unit = SHORT_UNITS.get(objective.unit, objective.unit)
    return {
        "name": objective.name,
        "title": objective.title,
        "formula": objective.formula,
        "short_unit": unit,
        "long_unit": unit if len(unit) > FITS_THE_BOX else "",
    }


def _teams_words(job: Job, teams: int) -> str:
    if teams == 1:
        return "one team"
    dear = job.config["lineups"].get("cost_tolerance")
    return f"{COUNTS[teams]} teams" + (" of about equal cost" if dear is not None and dear <= 0.1 else "")


def _groups(job: Job, teams: int) -> str:
    count = int(job.counters.get("evaluations", 0))
    if teams == 1:
        return f"{plural(count, 'team')} played"
    return f"{plural(count, 'group')} of {COUNTS[teams]} teams compared together"


def _piece_words(job: Job) -> str:
    """ "Hero or equipment": the categories with the most pieces."""
    try:
        spec = source.spec(job)
    except (StoreError, ConfigError):
        return "Name of a piece"
    sizes = {c.title: sum(p.category == c.id for p in spec.pieces) for c in spec.categories}
    first, *rest = sorted(sizes, key=lambda title: -sizes[title])[:2]
    return f"{first} or {rest[0].lower()}" if rest else first


def modules() -> list[str]:
    """The page's scripts, named up front so that the browser fetches them all at once."""
    static = settings.BASE_DIR / "static"
    folders = [static / "js" / name for name in ("charts", "explore")]
    found = sorted(path for folder in folders for path in folder.glob("*.js"))
    return ["js/marks.js", "js/toast.js", "js/events.js", *(str(path.relative_to(static)) for path in found)]
