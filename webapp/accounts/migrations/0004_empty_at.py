from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_rights"),
    ]

    operations = [
        migrations.RemoveField(model_name="attempts", name="level"),
        migrations.RenameField(model_name="attempts", old_name="at", new_name="empty_at"),
        migrations.AlterField(
            model_name="attempts",
            name="empty_at",
            field=models.DateTimeField(db_index=True, help_text="When none of them counts any more."),
        ),
    ]
