"""Names of kinds of study may be longer."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("studies", "0012_companions")]

    operations = [migrations.AlterField(model_name="job", name="kind", field=models.CharField(max_length=20))]
