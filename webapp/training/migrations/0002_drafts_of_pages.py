from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0001_initial"),
        ("training", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="traindraft", name="one_train_draft_a_person"),
        migrations.AddField(
            model_name="traindraft",
            name="page",
            field=models.CharField(
                choices=[("train", "Train an agent"), ("evolve", "Search for good settings")],
                default="train",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="traindraft",
            constraint=models.UniqueConstraint(fields=("project", "user", "page"), name="one_draft_a_person_and_page"),
        ),
    ]
