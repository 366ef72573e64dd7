import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reports", "0001_reports")]

    operations = [
        migrations.CreateModel(
            name="Paper",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "digest",
                    models.CharField(blank=True, default="", help_text="Of the file in the store.", max_length=64),
                ),
                (
                    "trouble",
                    models.TextField(blank=True, default="", help_text="Why it could not be made, in a sentence."),
                ),
                ("asked_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "sent_at",
                    models.DateTimeField(blank=True, help_text="When a worker was last sent for.", null=True),
                ),
                ("begun_at", models.DateTimeField(blank=True, help_text="When a worker began it.", null=True)),
                (
                    "report",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="paper", to="reports.report"
                    ),
                ),
            ],
        ),
    ]
