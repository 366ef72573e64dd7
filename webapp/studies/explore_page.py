"""What the explorer's page says before a script runs: facts, filter boxes, details."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from engine.arrays import unpack
from engine.config.lineups import ObjectiveConfig
from engine.errors import ConfigError, StoreError
from webapp.lib.words import number, plural
from webapp.studies import explore_build as build
from webapp.studies import explore_source as source
from webapp.studies import patterns
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
        "lined": [_objective(o) for o in objectives if o.threshold is not None],
        "words": source.words(job),
        "teams": teams,
        "teams_words": _teams_words(job, teams),
        **_counted_so_far(job),
        "piece_words": _piece_words(job),
        "algorithm": job.config.get("algorithm", {}).get("kind", ""),
        "explained": bool(patterns.explaining(job)),
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


def counted(job: Job, meta: Mapping[str, Any]) -> str:
    """What the page is about: the lineups that it shows, and how many more were played but are not shown, and why."""
    teams = int(job.config["lineups"]["teams"])
    found = plural(meta["rows"], "lineup") + ("" if teams == 1 else f" of {COUNTS[teams]} teams compared together")
    found += patterns.also(meta.get("meant", 0), " of them")
    if not meta["left_out"]:
        return found
    must = bool(job.config["objectives"].get("constraints"))
    why = "did not meet what must hold, or failed" if must else "could not be played to the end"
    return f"{found}; {number(meta['left_out'])} more are left out, they {why}"


def judged(meta: Mapping[str, Any]) -> str:
    """How many of them were found over the line, as the legend counts them: those that fresh battles confirm, and those
    that the search found and that were not played again. Nothing where there is no line."""
    if all(o["threshold"] is None for o in meta["objectives"]):
        return ""
    again = meta["fresh"].values()
    confirmed = sum(lineup["now"]["finding"] == "confirmed" for lineup in again)
    rest = meta["strong"] - confirmed
    by_search = f"{number(rest)} found by the search{', some by luck' if rest else ''}"
    if not again:
        return f"; {by_search}" if rest else ""
    fresh = f"{number(confirmed)} confirmed on fresh battles (of {number(len(again))} played again)"
    return f"; {number(meta['strong'])} {meta['words']['strong'].lower()}: {fresh}, {by_search}"


def _counted_so_far(job: Job) -> dict[str, str]:
    """The same before a script has asked how the job is now: where its present state was not built yet, by what the
    search has told."""
    built = build.folder(job, source.key(job)) / "core.arrays"
    if not built.exists():
        return {"counted": f"{plural(int(job.counters.get('evaluations', 0)), 'lineup')} played", "judged": ""}
    meta = unpack(built.read_bytes()).meta
    return {"counted": counted(job, meta), "judged": judged(meta)}


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
    return [
        "js/elements.js",
        "js/marks.js",
        "js/toast.js",
        "js/events.js",
        *(str(path.relative_to(static)) for path in found),
    ]
