"""What a search found by now, and what fresh battles confirm of it: one set of numbers for pages and programs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from engine.errors import ConfigError, StoreError
from engine.indicators import STRONG, UNDER
from webapp.lib.words import lower_first, number
from webapp.studies import explore_source as source
from webapp.studies import patterns
from webapp.studies.explore_recheck import confirmed_count, findings, fresh_numbers, furthest
from webapp.studies.models import Job
from webapp.studies.reckoned import Form, reckoned


class FoundCounts(NamedTuple):
    """``by_search``: over the line and strong by the search's own battles, and not played again: of what was,
    fresh battles tell. ``over``: all that are marked as over the line or close to it. ``confirmed``: what fresh
    battles confirm; None where nothing was played again, or nothing can be. ``random``: of how many lineups that were
    drawn, not bred, so many are over the line and strong by the search's own battles: how usual that is. Of none where
    nothing was bred, or where that was not counted (``of_random`` says why). ``meant``: how many are meant to be so,
    and counted in none of these."""

    by_search: int
    over: int
    confirmed: int | None
    random: tuple[int, int] = (0, 0)
    meant: int = 0

    @property
    def strong(self) -> int:
        """All that pages mark as over the line and strong."""
        return self.by_search + (self.confirmed or 0)


_FOUND = Form(list, lambda kept: FoundCounts(*kept)._replace(random=tuple(kept[3])))


def found_by(job: Job) -> FoundCounts:
    """What a search found by now: by the rows of its explorer once it has ended; before, and where its game is no
    longer described, by what it last said itself."""
    confirmed = confirmed_count(job)
    said = FoundCounts(int(job.metrics.get("strong", 0)), int(job.metrics.get("over", 0)), confirmed)
    if confirmed is None and not job.terminal:
        return said
    try:
        return reckoned(job, "found", source.key(job), lambda: _counted(job, said), _FOUND)
    except (StoreError, ConfigError):
        return said


def of_random(job: Job, found: FoundCounts) -> str:
    """How many of the lineups that were drawn at random are over the line and strong, or why nobody can say."""
    usual, drawn = found.random
    if source.draws_all(job):
        return "It drew all of them at random."
    if not source.draws_first(job):
        return "It began with no random ones to compare them with."
    if drawn:
        so = f"{'was' if usual < 2 else 'were'} {lower_first(source.words(job).strong)} by the whole 95\u00a0% range"
        return f"Of the {number(drawn)} random ones it began with, {number(usual) if usual else 'none'} {so}."
    return "" if job.terminal else "How many of the random ones it began with are so is counted when it ends."


def plain_counts(job: Job) -> dict[str, Any]:
    """The same for scripts; ``told`` is what the search itself had said by then, which grows while it runs. ``played``:
    how many were played again, and ``furthest``: [value, low, high] of the furthest that they confirm."""
    found = found_by(job)
    counts = {**found._asdict(), "strong": found.strong, "told": int(job.metrics.get("strong", 0))}
    metrics = _metrics_of(job, found)
    ends = [metrics.get(name) for name in ("worst", "worst_low", "worst_high")]
    counts |= {"meant_words": patterns.also(found.meant, " of them"), "random_words": of_random(job, found)}
    return {**counts, "played": int(metrics.get("replayed", 0)), "furthest": None if ends[0] is None else ends}


def metrics_now(job: Job) -> dict[str, Any]:
    """The numbers of a search as its pages have them: what it said itself, until fresh battles say more."""
    found = found_by(job)
    if found.confirmed is None and not job.terminal:
        return dict(job.metrics)
    return {**_metrics_of(job, found), "strong": float(found.strong), "over": float(found.over)}


def _metrics_of(job: Job, found: FoundCounts) -> dict[str, Any]:
    """The metrics of a job with what all fresh battles say by now; as they are where nothing tells."""
    if found.confirmed is None:
        return dict(job.metrics)
    metrics = {name: value for name, value in job.metrics.items() if not name.startswith("worst")}
    metrics |= {"confirmed": float(found.confirmed), "replayed": float(len(findings(job)))}
    if (most := furthest(job)) is not None:
        ends = {"worst": most.value, "worst_low": most.low, "worst_high": most.high}
        metrics |= {name: value for name, value in ends.items() if math.isfinite(value)}
    return metrics


def _counted(job: Job, said: FoundCounts) -> FoundCounts:
    """By the rows of the explorer; what was ``said`` where it has none. Raises StoreError, ConfigError."""
    evaluated = source.evaluated(job)
    if evaluated is None:
        return said
    verdict = source.verdicts_of(job, evaluated.columns, evaluated.meta)
    fresh = fresh_numbers(job, evaluated.columns["genome"])
    again = list(fresh)
    by_search = np.delete(verdict, again)
    over = np.count_nonzero(by_search != UNDER)
    over += sum(now.mark != UNDER for now in fresh.values())
    drawn = source.drawn_at_random(job, evaluated.columns)
    usual = (0, 0) if drawn.all() else (int(np.count_nonzero(verdict[drawn] == STRONG)), int(np.count_nonzero(drawn)))
    meant = int(np.count_nonzero(evaluated.meant))
    return FoundCounts(int(np.count_nonzero(by_search == STRONG)), int(over), said.confirmed, usual, meant)
