"""What lists tell of their jobs, read from the database for all of them at once: a long list takes as many queries as a
short one."""

from __future__ import annotations

from django.db.models import QuerySet

from webapp.studies import patterns
from webapp.studies.models import Job

ALONE = ("project", "created_by", "game_version__simulator", "parent__game_version__simulator", "accompanies",
         "parent__accompanies")  # fmt: skip
"""Of each job one at most. They are joined: SQLite refuses to look up more than a thousand in a query of their own."""
MANY = ("children", "companions", "parent__children", "parent__companions")


def with_relatives(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """The same jobs with their re-checks, what came with them and what is decided on them; and so their searches."""
    known = [name for source in patterns.SOURCES for name in source.related]
    return jobs.select_related(*ALONE).prefetch_related(*MANY, *known, *(f"parent__{name}" for name in known))
