from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("studies", "0008_any_kind")]

    operations = [
        migrations.RenameField(model_name="job", old_name="barren", new_name="stalled_attempts"),
    ]
