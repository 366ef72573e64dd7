"""What a search found by now, and what fresh battles confirm of it: one set of numbers for pages and programs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from engine.errors import ConfigError, StoreError
from engine.indicators import STRONG, UNDER
from webapp.studies import explore_source as source
from webapp.studies import patterns
from webapp.studies.explore_recheck import confirmed_count, findings, fresh_numbers, furthest
from webapp.studies.models import Job
from webapp.studies.reckoned import Form, reckoned


class Found(NamedTuple):
    """``by_search``: over the line and strong by the search's own battles, and not played again: of what was,
    fresh battles tell. ``over``: all that are marked as over the line or close to it. ``confirmed``: what fresh
    battles confirm; None where nothing was played again, or nothing can be. ``random``: of how many lineups that were
    drawn, not bred, so many are over the line and strong by the search's own battles: how usual that is. Of none where
    nothing was bred: there is nothing to compare them with. ``meant``: how many are meant to be so, and counted in none
    of these."""

    by_search: int
    over: int
    confirmed: int | None
    random: tuple[int, int] = (0, 0)
    meant: int = 0

    @property
    def strong(self) -> int:
        """All that pages mark as over the line and strong."""
        return self.by_search + (self.confirmed or 0)


_FOUND = Form(list, lambda kept: Found(*kept)._replace(random=tuple(kept[3])))


def found_by(job: Job) -> Found:
    """What a search found by now. Where its game is no longer described it is what the search itself last said."""
    said = Found(int(job.metrics.get("strong", 0)), int(job.metrics.get("over", 0)), None)
    confirmed = confirmed_count(job)
    if confirmed is None and not (job.terminal and patterns.meant_by_now(job)):
        return said
    try:
        return reckoned(job, "found", source.key(job), lambda: _counted(job, confirmed), _FOUND)
    except (StoreError, ConfigError):
        return said._replace(confirmed=confirmed)


def plain_counts(job: Job) -> dict[str, Any]:
    """The same for scripts; ``told`` is what the search itself had said by then, which grows while it runs. ``played``:
    how many were played again, and ``furthest``: [value, low, high] of the furthest that they confirm."""
    found = found_by(job)
    counts = {**found._asdict(), "strong": found.strong, "told": int(job.metrics.get("strong", 0))}
    told = _told_of(job, found)
    ends = [told.get(name) for name in ("worst", "worst_low", "worst_high")]
    counts["meant_words"] = patterns.also(found.meant, " of them")
    return {**counts, "played": int(told.get("replayed", 0)), "furthest": None if ends[0] is None else ends}


def metrics_now(job: Job) -> dict[str, Any]:
    """The numbers of a search as its pages have them: what it said itself, until fresh battles say more."""
    found = found_by(job)
    if found.confirmed is None:
        return dict(job.metrics)
    return {**_told_of(job, found), "strong": float(found.strong), "over": float(found.over)}


def _told_of(job: Job, found: Found) -> dict[str, Any]:
    """The metrics of a job with what all fresh battles say by now; as they are where nothing tells."""
    if found.confirmed is None:
        return dict(job.metrics)
    told = {name: value for name, value in job.metrics.items() if not name.startswith("worst")}
    told |= {"confirmed": float(found.confirmed), "replayed": float(len(findings(job)))}
    if (most := furthest(job)) is not None:
        ends = {"worst": most.value, "worst_low": most.low, "worst_high": most.high}
        told |= {name: value for name, value in ends.items() if math.isfinite(value)}
    return told


def _counted(job: Job, confirmed: int | None) -> Found:
    """By the rows of the explorer. Raises StoreError, ConfigError."""
    evaluated = source.evaluated(job)
    if evaluated is None:
        return Found(0, 0, confirmed)
    verdict = source.verdicts_of(job, evaluated.columns, evaluated.meta)
    fresh = fresh_numbers(job, evaluated.columns["genome"])
    again = list(fresh)
    by_search = np.delete(verdict, again)
    over = np.count_nonzero(by_search != UNDER)
    over += sum(now.mark != UNDER for now in fresh.values())
    drawn = source.drawn_at_random(job, evaluated.columns)
    usual = (0, 0) if drawn.all() else (int(np.count_nonzero(verdict[drawn] == STRONG)), int(np.count_nonzero(drawn)))
    meant = int(np.count_nonzero(evaluated.meant))
    return Found(int(np.count_nonzero(by_search == STRONG)), int(over), confirmed, usual, meant)
