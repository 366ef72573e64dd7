from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0007_audit_of_registrations"),
    ]

    operations = [
        migrations.AddField(
            model_name="simulator",
            name="starts",
            field=models.JSONField(blank=True, default=list, help_text="By which settings its episodes begin."),
        ),
    ]
