"""What the workers do. A message carries only an id: the row says what is to be done and whether it still is."""

from __future__ import annotations

import structlog

from workers import reconcile, runner
from workers.app import app

log = structlog.get_logger(__name__)


@app.task(name="workers.tasks.run_job")  # type: ignore[untyped-decorator]
def run_job(job_id: int) -> None:
    """Run a search or a re-check (queue ``jobs``)."""
    _run(job_id)


@app.task(name="workers.tasks.run_sample")  # type: ignore[untyped-decorator]
def run_sample(job_id: int) -> None:
    """Play a random sample (queue ``quick``)."""
    _run(job_id)


def _run(job_id: int) -> None:
    try:
        runner.run(job_id)
    except Exception:
        # The row stays RUNNING; when the lease ends the reconciler counts the attempt and starts the next.
        log.exception("attempt failed", job=job_id)
    reconcile.admit()
