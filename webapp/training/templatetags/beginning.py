"""What pages say of the saved agent that a job began with."""

from __future__ import annotations

from typing import Any

from django import template

from webapp.studies.models import Job
from webapp.training import beginnings

register = template.Library()


@register.filter
def began_with(job: Job) -> Any:
    """The saved agent that a job of one agent began with, also where somebody has deleted it; None for a new network,
    or for a policy that nobody keeps."""
    return beginnings.agent_of(job.config, job.project) if job.config.get("start") else None
