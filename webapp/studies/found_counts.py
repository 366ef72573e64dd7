"""How many lineups a search found, and how many of them fresh battles confirm: one count for every page."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from django.core.cache import cache

from engine.errors import ConfigError, StoreError
from engine.indicators import STRONG
from webapp.studies import explore_source as source
from webapp.studies.explore_recheck import KEPT_S, confirmed_count, fresh_numbers
from webapp.studies.models import Job


class Found(NamedTuple):
    """``by_search``: over the line and strong by the search's own battles, and not played again: of what was,
    fresh battles tell. ``confirmed``: what they confirm; None where nothing was played again, or nothing can
    be."""

    by_search: int
    confirmed: int | None

    @property
    def strong(self) -> int:
        """All that pages mark as over the line and strong."""
        return self.by_search + (self.confirmed or 0)


def found_by(job: Job) -> Found:
    """What a search found by now. Where its game is no longer described it is what the search itself last said."""
    said = int(job.metrics.get("strong", 0))
    confirmed = confirmed_count(job)
    if confirmed is None:
        return Found(said, None)
    key = f"found-{job.pk}-{source.key(job)}"
    kept: int | None = cache.get(key)
    if kept is None:
        try:
            kept = _not_played_again(job)
        except (StoreError, ConfigError):
            return Found(said, confirmed)
        cache.set(key, kept, KEPT_S)
    return Found(kept, confirmed)


def plain_counts(job: Job) -> dict[str, int | None]:
    """The same for scripts; ``told`` is what the search itself had said by then, which grows while it runs."""
    found = found_by(job)
    return {**found._asdict(), "strong": found.strong, "told": int(job.metrics.get("strong", 0))}


def _not_played_again(job: Job) -> int:
    """How many rows of the explorer are strong by the search's own numbers alone. Raises StoreError, ConfigError."""
    evaluated = source.evaluated(job)
    if evaluated is None:
        return 0
    strong = source.verdicts_of(job, evaluated.columns, evaluated.meta) == STRONG
    strong[list(fresh_numbers(job, evaluated.columns["genome"]))] = False
    return int(np.count_nonzero(strong))
