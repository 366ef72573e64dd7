"""The pages of populations that train against themselves, and what is taken away from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from webapp.accounts.models import User
from webapp.self_play.asking import SelfPlayForm, SelfPlayIntake
from webapp.self_play.drawing import StrengthCurves
from webapp.self_play.reading import HEADS, SelfPlayResult
from webapp.studies.kinds import Found, Rows
from webapp.studies.models import Job
from webapp.studies.setting_fields import is_range, range_text
from webapp.studies.table_rows import TableRows
from webapp.training.learning import Learning

CHOICES = {
    "hardest": "those they beat least, now and in earlier rounds",
    "mostly-latest": "mostly each other as they are now, at times as they were",
    "uniform": "each other as they are now and as they were, equally often",
    "latest": "each other as they are now",
}


class Playing(Learning):
    """Self-play: who is strongest, and who copied whom."""

    template = "self_play/job.html"
    intake = SelfPlayIntake()
    form = SelfPlayForm
    question = "What do agents learn from each other?", "Agents train against each other; the better ones are copied."
    without_data = "let agents learn from each other"
    about = (
        "A population of agents learns a game for two by playing against itself. After each round, those that lag go "
        "on from better ones. A ladder tells how strong each is, with its range."
    )
    results: ClassVar[tuple[str, ...]] = ("table",)
    files: ClassVar[Mapping[str, str]] = {"policy.zip": "policy"}
    gives = "strongest member"
    help_section = "self-play"

    def shown(self, job: Job) -> dict[str, Any]:
        """The ladder and the course as they grow."""
        reading = SelfPlayResult.of(job)
        return {
            "reading": reading,
            "course": StrengthCurves(reading, job.ticks) if reading else None,
            "against": CHOICES[job.config["opponents"]["choice"]],
            "lost": reading is None and job.tick > 0,
        }

    def found(self, job: Job) -> Found | None:
        """Who stands first."""
        reading = SelfPlayResult.of(job)
        return Found(reading.sentence) if reading and reading.members else None

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each member of each round."""
        reading = SelfPlayResult.of(job)
        return TableRows(HEADS, reading.rows() if reading else [])

    def specialist(self, job: Job) -> list[tuple[str, Any]]:
        """Every technical word."""
        config = job.config
        task, rule, method = config["task"], config["opponents"], config["algorithm"]
        ranges = [(name.replace("_", " "), range_text(v)) for name, v in task["learner"].items() if is_range(v)]
        return [
            ("Algorithm", f"Population based training, {task['learner']['kind'].upper()}"),
            ("Opponents", rule["choice"]),
            ("Earlier members kept", rule["capacity"]),
            ("Copying", f"{method['exploit']}, share {method['share']}, p below {method['level']}"),
            ("Decisions a member, each round", task["steps"]),
            ("Meetings a member, each round", config["episodes"]),
            *ranges,
        ]
