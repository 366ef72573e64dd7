"""What goes on beside an ended search: the jobs that came with it, which no list of jobs tells of by itself."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import QuerySet

from webapp.studies.models import ACTIVE, TERMINAL, Job

DOES = {"worth": "Measuring what each piece is worth", "removal": "Testing what is left without the suspects"}
"""What such a job does, by its kind of study."""


class Beside(NamedTuple):
    """A search, and the job that goes on beside it."""

    search: Job
    job: Job

    @property
    def does(self) -> str:
        """What goes on."""
        return DOES[self.job.kind]


def going(jobs: QuerySet[Job]) -> list[Beside]:
    """What goes on beside these of the jobs that have ended."""
    found = Job.objects.filter(
        kind__in=DOES, status__in=ACTIVE, accompanies__in=jobs, accompanies__status__in=TERMINAL
    ).select_related("accompanies__project", "project")  # fmt: skip
    return [Beside(job.accompanies, job) for job in found.order_by("-pk") if job.accompanies is not None]
