"""Simulators the site knows, and a project's versions of a game's data."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from webapp.games.commands import with_name, without_command

PROGRAM = "simulator"
"""What stands before the number of a registered program where its command line is not told."""


class Simulator(models.Model):
    """A game the engine can play. Site-wide; granted to projects, or to all. Registering one is running code. Two
    people may each register the same program: neither is told the other's command line."""

    class Kind(models.TextChoices):
        BUILTIN = "builtin", "Built in"
        PYTHON = "python", "Python entry point"
        COMMAND = "command", "Command"

    class Status(models.TextChoices):
        UNTESTED = "untested", "Not tested yet"
        READY = "ready", "Ready"
        BROKEN = "broken", "Not usable"
        MISSING = "missing", "Not installed"
        OFF = "off", "Switched off"

    class Test(models.TextChoices):
        NONE = "", "No test under way"
        ASKED = "asked", "Waiting for a free worker"
        RUNNING = "running", "Testing now"

    name = models.CharField(max_length=80, unique=True)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    reference = models.CharField(
        max_length=500,
        help_text="builtin:NAME, python:package.module:factory, or command:program arguments. A program that dials TCP "
        "has +tcp before the colon.",
    )
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.UNTESTED)
    message = models.TextField(blank=True, help_text="What the last handshake test said.")
    test = models.CharField(max_length=10, choices=Test.choices, default=Test.NONE, blank=True)
    test_at = models.DateTimeField(null=True, blank=True, help_text="When the test was asked for, or began.")
    sent_at = models.DateTimeField(null=True, blank=True, help_text="When a worker was last sent for.")
    awaited = models.CharField(max_length=200, blank=True, help_text="What the running test has long been waiting for.")
    awaited_until = models.DateTimeField(null=True, blank=True, help_text="When the test gives that up.")
    findings = models.JSONField(default=list, blank=True)
    version = models.CharField(max_length=40, blank=True)
    spec = models.JSONField(default=dict, blank=True, help_text="GameSpec as the simulator described itself.")
    spec_hash = models.CharField(max_length=64, blank=True)
    by_moves = models.BooleanField(default=False, help_text="Played move by move: a game for agents, not of lineups.")
    starts = models.JSONField(default=list, blank=True, help_text="By which settings its episodes begin.")
    checked_at = models.DateTimeField(null=True, blank=True)
    everybody = models.BooleanField(default=False, help_text="Every project may use it.")
    projects = models.ManyToManyField("projects.Project", blank=True, related_name="simulators")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def called(self) -> str:
        """What everybody may know it by: a built-in game's reference; of a program its number, for its command line is
        told to operators only."""
        return self.reference if self.kind == self.Kind.BUILTIN else f"{PROGRAM}:{self.pk}"

    @property
    def transport(self) -> str:
        """What the program dials: ``ipc``, or ``tcp`` where its library needs that."""
        return "tcp" if self.reference.partition(":")[0].endswith("+tcp") else "ipc"

    @property
    def full_message(self) -> str:
        """What the last handshake test said, as who knows the command line may read it."""
        return with_name(self.message, self.reference, self.name)

    @property
    def full_findings(self) -> list[dict[str, str]]:
        """What the last handshake test found, as who knows the command line may read it."""
        said = [with_name(found["message"], self.reference, self.name) for found in self.findings]
        return [{**found, "message": text} for found, text in zip(self.findings, said, strict=True)]

    @property
    def public_message(self) -> str:
        """What the last handshake test said, as everybody may read it. No program says why it is switched off, nor who
        stopped its test."""
        of_the_site = self.status in (self.Status.UNTESTED, self.Status.OFF)
        return self.message if of_the_site else without_command(self.message, self.reference, self.name)

    @property
    def public_findings(self) -> list[dict[str, str]]:
        """What the last handshake test found, as everybody may read it."""
        said = [without_command(found["message"], self.reference, self.name) for found in self.findings]
        return [{**found, "message": text} for found, text in zip(self.findings, said, strict=True)]


class SimulatorAudit(models.Model):
    """Who registered, changed, tested or granted what; append-only. A line is about a registration, whose name another
    one may take later."""

    registration = models.BigIntegerField(
        null=True,
        db_index=True,
        help_text="The simulator’s number, also after it is deleted; empty in old lines of which nobody can tell.",
    )
    simulator_name = models.CharField(max_length=80, help_text="As it was called then.")
    action = models.CharField(max_length=40)
    detail = models.TextField(blank=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at", "-pk"]

    @property
    def names_program(self) -> bool:
        """Whether the detail holds a command line, which is for operators."""
        return self.action in ("registered", "changed program")


class GameVersion(models.Model):
    """(simulator version, spec hash, patch): the data a job is played on. Rows never change once written."""

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="versions")
    simulator = models.ForeignKey(Simulator, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    label = models.CharField(max_length=80)
    note = models.TextField(blank=True)
    patch: models.JSONField[dict[str, float], Any] = models.JSONField(default=dict, blank=True)
    spec_hash = models.CharField(max_length=64)
    content_hash = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["project", "number"], name="one_version_a_number")]

    def __str__(self) -> str:
        return f"{self.label}, version {self.number}"


class SheetMapping(models.Model):
    """How the columns of the designer's own sheet were matched, remembered by the sheet's header row."""

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="mappings")
    header_hash = models.CharField(max_length=64)
    header = models.JSONField(default=list)
    columns = models.JSONField(default=dict, help_text="Sheet column to field (id, name, cost, attribute).")
    used_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "header_hash"], name="one_mapping_a_header")]


class SheetImport(models.Model):
    """A sheet on its way into the game data, and kept afterwards: its bytes (in the store), how it is read, and the
    version it became. Every step of an import is a page of this row, so nothing typed is lost on the way."""

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="sheets")
    name = models.CharField(max_length=120)
    digest = models.CharField(max_length=64, help_text="Store hash of the file as it was given.")
    pasted = models.BooleanField(default=False)
    delimiter = models.CharField(max_length=1, blank=True)
    worksheet = models.CharField(max_length=120, blank=True)
    header = models.IntegerField(default=-1, help_text="Row of the column names from 0; -1: found by itself.")
    mark = models.CharField(max_length=1, blank=True, help_text="Decimal mark, where the designer was asked.")
    columns = models.JSONField(default=dict, blank=True, help_text="Column number to field; empty until confirmed.")
    note = models.TextField(blank=True)
    version = models.ForeignKey(GameVersion, null=True, blank=True, on_delete=models.SET_NULL, related_name="sheets")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name
