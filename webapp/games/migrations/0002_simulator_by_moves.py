from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="simulator",
            name="by_moves",
            field=models.BooleanField(
                default=False, help_text="Played move by move: a game for agents, not of lineups."
            ),
        ),
    ]
