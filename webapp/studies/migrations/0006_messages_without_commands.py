"""Earlier versions wrote down what a program said as it came, with the command line it was started by."""

from __future__ import annotations

from typing import Any

from django.db import migrations

from webapp.games.commands import is_program, reference_in, without_command

SAID = ("message", "reason")
"""Where an event's body holds sentences for people."""


def hide_commands(apps: Any, schema_editor: Any) -> None:
    """Take command lines out of the messages of jobs, and out of their histories."""
    jobs, events = apps.get_model("studies", "Job"), apps.get_model("studies", "JobEvent")
    for job in jobs.objects.only("pk", "config", "message").order_by("pk").iterator():
        reference = reference_in(job.config)
        if not is_program(reference):
            continue
        if (message := without_command(job.message, reference)) != job.message:
            jobs.objects.filter(pk=job.pk).update(message=message)
        for event in events.objects.filter(job=job.pk).exclude(kind="progressed").iterator():
            said = {key: text for key in SAID if isinstance(text := event.body.get(key), str)}
            hidden = {key: without_command(text, reference) for key, text in said.items()}
            if hidden != said:
                events.objects.filter(pk=event.pk).update(body={**event.body, **hidden})


class Migration(migrations.Migration):
    dependencies = [("studies", "0005_unfinished_starts")]

    operations = [migrations.RunPython(hide_commands, migrations.RunPython.noop)]
