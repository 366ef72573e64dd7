"""The curve of a training: what each round said, as columns."""

from __future__ import annotations

from webapp.studies import rounds
from webapp.studies.models import Job
from webapp.studies.rounds import Columns, evenly

COUNTERS = ("steps", "seconds")
EVALUATED = "evaluation_return"


def columns(job: Job, most: int) -> Columns:
    """Columns ``tick``, the counters (totals so far) and every metric any round told, None where a round did not. Of
    more than ``most`` rounds an even share, and those with an evaluation."""
    wanted = evenly(job, most)
    if job.tick > most:
        progressed = job.events.filter(kind="progressed", tick__lte=job.tick)
        examined = progressed.filter(body__metrics__has_key=EVALUATED).values_list("tick", flat=True)
        wanted |= set(examined[:: max(1, -(-len(examined) // most))])
    return rounds.columns(job, wanted, COUNTERS)
