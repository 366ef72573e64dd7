"""A job may be of any kind that the engine's table of studies has."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("studies", "0007_hashes_of_studies")]

    operations = [migrations.AlterField(model_name="job", name="kind", field=models.CharField(max_length=10))]
