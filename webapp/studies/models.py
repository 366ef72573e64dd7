"""Jobs: the web's record of engine studies. The database is the queue's truth."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from engine.catalog import STUDIES, StudyKind
from engine.config import Study

FOR_A_FORM = "sample"
"""The kind of a job that is played to tell a form something: random lineups, or the trial of a training."""


UNKNOWN = StudyKind("Job of another version", "job", Study, "", "", "battles", "")
"""What stands for the kind of a job that another version of Equipoise made, where this one does not have it."""


class Status(models.TextChoices):
    QUEUED = "queued", "Waiting to start"
    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    STOPPED = "stopped", "Stopped"
    FINISHED = "finished", "Finished"
    FAILED = "failed", "Failed"


ACTIVE = frozenset({Status.QUEUED, Status.WAITING, Status.RUNNING})
TERMINAL = frozenset({Status.STOPPED, Status.FINISHED, Status.FAILED})


class Jobs(models.QuerySet["Job"]):
    """Jobs: those that people asked for, those that came with them, and those that tell a form something."""

    def listed(self) -> Jobs:
        """Those that stand in lists of jobs."""
        return self.placed().filter(accompanies=None)

    def on_home(self) -> Jobs:
        """Those that Home tells of: the listed ones, and what came with a new version of the game data."""
        return self.placed().filter(models.Q(accompanies=None) | models.Q(kind="change"))

    def placed(self) -> Jobs:
        """Those that take a place while they run: all but samples and trials."""
        return self.exclude(kind=FOR_A_FORM)

    def for_forms(self) -> Jobs:
        """Samples and trials."""
        return self.filter(kind=FOR_A_FORM)


class Job(models.Model):
    """One study of a project. ``attempt`` is the fencing token: claiming raises it, every write depends on it.
    ``kind`` is the kind of its study, but of what is played for a form, which is a ``sample`` whatever it plays."""

    class Command(models.TextChoices):
        NONE = "", "Go on"
        PAUSE = "pause", "Pause"
        STOP = "stop", "Stop and keep results"

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=20)
    template = models.CharField(max_length=40, blank=True)
    title = models.CharField(max_length=120)
    config = models.JSONField(help_text="The engine's StudyConfig, complete: what runs depends on nothing else.")
    config_hash = models.CharField(max_length=64)
    game_version = models.ForeignKey("games.GameVersion", null=True, on_delete=models.PROTECT, related_name="jobs")
    lineup_rules = models.ForeignKey("balance.LineupRules", null=True, on_delete=models.SET_NULL, related_name="jobs")
    objective_set = models.ForeignKey("balance.ObjectiveSet", null=True, on_delete=models.SET_NULL, related_name="jobs")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="children")

    accompanies = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="companions",
        help_text="The search that this experiment came with: it measures what the pieces of its game are worth.",
    )

    asked = models.JSONField(
        default=dict,
        blank=True,
        help_text="Until config is complete: what was typed into the form, and what is still being found out.",
    )
    awaits = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="awaited_by",
        help_text="The sample or trial that finds it out.",
    )

    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    command = models.CharField(max_length=10, choices=Command.choices, default=Command.NONE, blank=True)
    message = models.TextField(blank=True, help_text="One sentence for people: why it failed, stopped or waits.")
    error = models.CharField(max_length=40, blank=True)

    attempt = models.PositiveIntegerField(default=0)
    stalled_attempts = models.PositiveIntegerField(
        default=0, help_text="Attempts in a row that ended without a new checkpoint."
    )
    worker = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    enqueued_at = models.DateTimeField(null=True, blank=True)

    sequence = models.PositiveIntegerField(default=0, help_text="Number of the last event.")
    tick = models.PositiveIntegerField(default=0)
    ticks = models.PositiveIntegerField(default=0)
    counters = models.JSONField(default=dict)
    metrics = models.JSONField(default=dict)
    artifacts = models.JSONField(default=dict, help_text="Role to store hash: archive, front, result, sample.")
    summary = models.JSONField(default=dict)
    checkpoint = models.CharField(max_length=64, blank=True)
    previous_checkpoint = models.CharField(max_length=64, blank=True)

    request_key = models.CharField(
        max_length=200, blank=True, default="", help_text="Idempotency-Key of the request that started it."
    )
    request_hash = models.CharField(max_length=64, blank=True, default="", help_text="sha256 of that request.")

    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="jobs")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = Jobs.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["status", "lease_until"])]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "created_by", "request_key"],
                condition=~Q(request_key=""),
                name="one_job_a_request_key",
            )
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def for_form(self) -> bool:
        """Whether it is played to tell a form something, and has no page of its own."""
        return self.kind == FOR_A_FORM

    @property
    def study(self) -> StudyKind:
        """What kind of study it is; a trial is a training, though it is played as a sample."""
        return STUDIES.get(self.config.get("kind", self.kind), UNKNOWN)

    def stopped_words(self, tick: int) -> str:
        """What it says when people stop it after ``tick`` rounds."""
        if not tick:
            return f"Stopped before the first {self.study.tick} was complete."
        return f"Stopped. What was {self.study.gained} stays."

    @property
    def active(self) -> bool:
        return self.status in ACTIVE

    @property
    def terminal(self) -> bool:
        return self.status in TERMINAL


class JobEvent(models.Model):
    """One event of a job, numbered 1, 2, 3 … over its whole life in the transaction that stores it."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="events")
    sequence = models.PositiveIntegerField()
    kind = models.CharField(max_length=12)
    tick = models.PositiveIntegerField(default=0)
    at = models.DateTimeField()
    body = models.JSONField()

    class Meta:
        ordering = ["job", "sequence"]
        constraints = [
            models.UniqueConstraint(fields=["job", "sequence"], name="one_event_a_number"),
            models.UniqueConstraint(fields=["job", "tick"], condition=Q(kind="progressed"), name="one_progress_a_tick"),
        ]


class Reckoned(models.Model):
    """What was reckoned from a job's artifacts: ``webapp.studies.reckoned`` says what it is kept under."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="reckoned")
    name = models.CharField(max_length=20)
    content = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "name"], name="one_reckoning_a_name")]


class Look(models.Model):
    """When somebody last looked at a job that had ended."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="looks")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "person"], name="one_look_a_person")]


class ShortlistEntry(models.Model):
    """A decision about one lineup, append-only: putting it on the list, taking it off, or a remark."""

    class Action(models.TextChoices):
        ADD = "add", "Shortlisted"
        WITHDRAW = "withdraw", "Taken off"
        REMARK = "remark", "Remark"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="shortlist")
    individual = models.PositiveBigIntegerField(help_text="The lineup's id in the job's archive.")
    action = models.CharField(max_length=10, choices=Action.choices, default=Action.ADD)
    reason = models.TextField(max_length=2000)
    genome = models.JSONField()
    anchors = models.JSONField(default=list)
    objectives = models.JSONField(default=list, help_text="[mean, low, high] of each objective when it was decided.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
