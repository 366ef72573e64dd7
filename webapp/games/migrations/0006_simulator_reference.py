from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0005_handshake_sent"),
    ]

    operations = [
        migrations.AlterField(
            model_name="simulator",
            name="reference",
            field=models.CharField(
                help_text="builtin:NAME, python:package.module:factory, or command:program arguments. A program that "
                "dials TCP has +tcp before the colon.",
                max_length=500,
            ),
        ),
    ]
