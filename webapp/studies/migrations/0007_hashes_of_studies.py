"""Jobs and the engine's checkpoints name a study by one hash; earlier versions had a hash of their own for jobs."""

from __future__ import annotations

from typing import Any

from django.db import migrations

from engine.simulators.contract import content_hash


def hash_anew(apps: Any, schema_editor: Any) -> None:
    """The hash of every job's study."""
    jobs = apps.get_model("studies", "Job")
    for job in jobs.objects.only("pk", "config").order_by("pk").iterator():
        study = {name: value for name, value in job.config.items() if name not in ("name", "pool")}
        jobs.objects.filter(pk=job.pk).update(config_hash=content_hash(study))


class Migration(migrations.Migration):
    dependencies = [("studies", "0006_messages_without_commands")]

    operations = [migrations.RunPython(hash_anew, migrations.RunPython.noop)]
