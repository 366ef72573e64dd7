"""What the style map on a job's page starts from."""

from __future__ import annotations

from typing import Any

from webapp.studies.models import Job


def context(job: Job) -> dict[str, Any]:
    """What the map's template needs beside what every job's page has."""
    return {}
