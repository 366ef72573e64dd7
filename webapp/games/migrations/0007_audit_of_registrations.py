"""Lines of the audit belong to a registration. Which one the old lines are about is told by the audit itself, read from
its end: whoever has a name now had it back to the line that gave it to them."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models


def assign(apps: Any, schema_editor: Any) -> None:
    """Write the registration beside every line of which it is certain."""
    holders = dict(apps.get_model("games", "Simulator").objects.values_list("name", "pk"))
    for line in apps.get_model("games", "SimulatorAudit").objects.order_by("-pk").iterator():
        name = line.simulator_name
        if line.action == "renamed":  # before this line, who has the new name had the old one
            holders[name] = holders.pop(line.detail.removeprefix(f"{name} → "), None)
        if (holder := holders.get(name)) is not None:
            line.registration = holder
            line.save(update_fields=["registration"])
        if line.action == "registered":
            holders.pop(name, None)


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0006_simulator_reference"),
    ]

    operations = [
        migrations.AddField(
            model_name="simulatoraudit",
            name="registration",
            field=models.BigIntegerField(
                db_index=True,
                help_text="The simulator’s number, also after it is deleted; empty in old lines of which nobody can "
                "tell.",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="simulatoraudit",
            name="simulator_name",
            field=models.CharField(help_text="As it was called then.", max_length=80),
        ),
        migrations.RunPython(assign, migrations.RunPython.noop),
    ]
