"""Agents that people keep, and their measurements."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from engine.config.agents import AgentConfig
from engine.simulators.contract import content_hash
from webapp.studies.models import Job, Status

NAME, NOTES, TAG, TAGS = 80, 2000, 30, 12
"""Most characters of a name, of notes and of a tag; most tags."""


class Agents(models.QuerySet["Agent"]):
    """Agents of a project."""

    def kept(self) -> Agents:
        """Those that nobody has deleted."""
        return self.filter(deleted_at=None)


class Agent(models.Model):
    """A policy that a job left, under a name: jobs that leave the same one have an agent each, for the job says what
    style it was bred for. ``game`` also has the limits that it learned with; ``before``: name, notes and tags as they
    were before the last edit."""

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="agents")
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="agents")
    policy = models.CharField(max_length=64, help_text="Store hash of the policy's description.")
    tensors = models.CharField(max_length=64, blank=True, help_text="Store hash of its numbers.")
    game = models.JSONField(help_text="The game that it learned, with its settings.")
    seat = models.PositiveIntegerField(default=0)
    sampled = models.BooleanField(default=False, help_text="Whether it draws its actions by their odds.")
    origin = models.JSONField(default=dict, help_text="engine.config.agents.OriginConfig.")
    name = models.CharField(max_length=NAME)
    notes = models.TextField(max_length=NOTES, blank=True)
    tags = models.JSONField(default=list, blank=True)
    before = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = Agents.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["job", "policy", "sampled"], name="one_agent_a_policy_of_a_job_and_way_to_choose"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def config(self) -> AgentConfig:
        """It as studies have it."""
        fields = {"policy": self.policy, "title": self.name, "sampled": self.sampled, "limits": self.game.get("limits")}
        return AgentConfig.model_validate(fields)

    @property
    def played(self) -> dict[str, Any]:
        """Its game as studies have it, without the agent's own limits."""
        return {name: each for name, each in self.game.items() if name != "limits"}

    @property
    def texts(self) -> dict[str, Any]:
        """What people write about it."""
        return {"name": self.name, "notes": self.notes, "tags": self.tags}

    @property
    def text_hashes(self) -> str:
        """sha256 of each of these texts, in their order, with commas between; a form carries it, to tell which of them
        somebody has changed since it was opened."""
        return ",".join(content_hash(text) for text in self.texts.values())

    @property
    def measured(self) -> Job | None:
        """The job of its latest measurement that ended well."""
        return next((each.job for each in self._measurements if each.job.status == Status.FINISHED), None)

    @property
    def measuring(self) -> Job | None:
        """The job of its last measurement where that has not ended well, or not yet."""
        last = next(iter(self._measurements), None)
        return None if last is None or last.job.status == Status.FINISHED else last.job

    @property
    def _measurements(self) -> list[Measurement]:
        return sorted(self.measurements.all(), key=lambda each: -each.pk)


class Measurement(models.Model):
    """A job that measures an agent; the latest that finished counts."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="measurements")
    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="measurement")
