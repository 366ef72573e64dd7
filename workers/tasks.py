"""What the workers do. A message carries only an id: the row says what is to be done and whether it still is."""

from __future__ import annotations

import structlog

from webapp.reports import paper
from webapp.studies import kinds
from webapp.studies.models import TERMINAL, Job
from workers import reconcile, runner
from workers.app import app, enqueue

log = structlog.get_logger(__name__)


@app.task(name="workers.tasks.run_job")  # type: ignore[untyped-decorator]
def run_job(job_id: int) -> None:
    """Run a search or a re-check (queue ``jobs``)."""
    _run(job_id)


@app.task(name="workers.tasks.run_sample")  # type: ignore[untyped-decorator]
def run_sample(job_id: int) -> None:
    """Play a random sample (queue ``quick``)."""
    _run(job_id)


@app.task(name="workers.tasks.make_pdf")  # type: ignore[untyped-decorator]
def make_pdf(report_id: int) -> None:
    """Make the PDF file of a report (queue ``quick``)."""
    try:
        paper.make(report_id)
    except Exception:
        log.exception("no PDF could be made", report=report_id)
        paper.failed(report_id)


def _run(job_id: int) -> None:
    try:
        runner.run(job_id)
    except Exception:
        # The row stays RUNNING; when the lease ends the reconciler counts the attempt and starts the next.
        log.exception("attempt failed", job=job_id)
    if Job.objects.placed().filter(pk=job_id, status__in=TERMINAL).exists():
        enqueue("reckon", job_id)
    reconcile.admit()


@app.task(name="workers.tasks.reckon")  # type: ignore[untyped-decorator]
def reckon(job_id: int) -> None:
    """Work out what pages say of a job that has ended, and of the search that it belongs to (queue ``quick``)."""
    job = Job.objects.select_related("parent", "accompanies").filter(pk=job_id).first()
    for each in (job, job and job.parent, job and job.accompanies):
        if each is not None and each.terminal:
            kinds.of(each).reckon(each)
