"""Decisions keep the numbers that they were made by."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("suspects", "0001_decisions")]

    operations = [
        migrations.AddField(
            model_name="decision",
            name="side",
            field=models.CharField(
                default="strongest",
                help_text="Which team of a lineup it explains: strongest, or weakest.",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="decision",
            name="numbers",
            field=models.JSONField(
                default=dict,
                help_text="Costs and attributes of its pieces when this was decided, by their paths.",
            ),
        ),
    ]
