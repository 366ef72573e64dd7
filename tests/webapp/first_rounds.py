"""First rounds that a form had played, as the relay would have recorded them."""

from __future__ import annotations

from collections.abc import Mapping

from webapp.studies.journal import Entry, append
from webapp.studies.models import Job, Status


def counted(trial: Job, *rounds: Mapping[str, float]) -> Job:
    """The trial once these rounds were played and it was stopped; each as its counters."""
    for tick, counters in enumerate(rounds, 1):
        body = {"counters": dict(counters), "metrics": {}}
        append(trial, {}, [Entry("progressed", body, tick)], tick=tick, counters=dict(counters))
    Job.objects.filter(pk=trial.pk).update(status=Status.STOPPED)
    return Job.objects.get(pk=trial.pk)
