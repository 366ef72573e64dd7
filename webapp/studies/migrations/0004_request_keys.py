from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0001_initial"),
        ("studies", "0003_evolution"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="job",
            name="request_key",
            field=models.CharField(
                blank=True, default="", help_text="Idempotency-Key of the request that started it.", max_length=200
            ),
        ),
        migrations.AddField(
            model_name="job",
            name="request_hash",
            field=models.CharField(blank=True, default="", help_text="sha256 of that request.", max_length=64),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.UniqueConstraint(
                condition=models.Q(("request_key", ""), _negated=True),
                fields=("project", "created_by", "request_key"),
                name="one_job_a_request_key",
            ),
        ),
    ]
