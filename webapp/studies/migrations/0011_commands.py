"""What people ask of a running job is a command, in its row and in its history."""

from __future__ import annotations

from typing import Any

from django.db import migrations


def rename_in_histories(apps: Any, schema_editor: Any) -> None:
    events = apps.get_model("studies", "JobEvent").objects.filter(kind="status", body__has_key="wish")
    for event in events.only("pk", "body").order_by("pk").iterator():
        event.body["command"] = event.body.pop("wish")
        event.save(update_fields=["body"])


class Migration(migrations.Migration):
    dependencies = [("studies", "0010_looks")]

    operations = [
        migrations.RenameField(model_name="job", old_name="wish", new_name="command"),
        migrations.RunPython(rename_in_histories, migrations.RunPython.noop),
    ]
