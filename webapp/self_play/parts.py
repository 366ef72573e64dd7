"""The pages of populations that train against themselves, and what is taken away from them."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any, ClassVar

from engine.catalog import LEARNERS
from engine.config.self_play import SelfPlayConfig
from engine.config.whole_updates import most_learned
from webapp.accounts.models import User
from webapp.lib.words import number, percent
from webapp.self_play import members
from webapp.self_play.asking import SelfPlayForm, SelfPlayIntake
from webapp.self_play.drawing import StrengthCurves
from webapp.self_play.reading import HEADS, SelfPlayResult
from webapp.studies.kinds import BestCandidate, Found, Rows
from webapp.studies.models import Job
from webapp.studies.setting_fields import is_range, range_text
from webapp.studies.table_rows import TableRows
from webapp.training.learned import leader, whole_batches
from webapp.training.learning import Learning
from webapp.training.trial_rounds import ENOUGH, trial_rounds

LEARNED = 10_000
"""Decisions that a member learns from in a first round."""
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
    gives = "member that stands first"
    decided = "decisions, meetings included"
    counted, speed_in = "evaluations", "decisions learned from"
    on_top = "Last, the members meet one another; these meetings come on top."
    trying = "Two members train and meet to see how fast this goes …"
    help_section = "self-play"

    def shown(self, job: Job) -> dict[str, Any]:
        """The ladder and the course as they grow."""
        reading = SelfPlayResult.of(job)
        return {
            "reading": reading,
            "course": StrengthCurves(reading, job.ticks) if reading else None,
            "whole": whole_batches(job.config["task"], "a member"),
            "against": CHOICES[job.config["opponents"]["choice"]],
            "unwatched": members.obstacle(job),
            "kept": members.kept(job),
            "lost": reading is None and job.tick > 0,
        }

    def amount(self, study: SelfPlayConfig) -> float:
        """Decisions that members learn from, and those that could be learned from while workers wait for a round."""
        workers = study.pool.processes
        return study.ticks * ceil(study.algorithm.population / workers) * workers * most_learned(study.task)

    def done(self, study: SelfPlayConfig, counters: Mapping[str, float]) -> float:
        """Decisions that members have learned from."""
        return counters.get(self.counted, 0) * most_learned(study.task)

    def first_rounds(self, study: SelfPlayConfig) -> SelfPlayConfig:
        """Short rounds of two members in one process, measured in proportion."""
        return trial_rounds(study, LEARNED)

    def tells_enough(self, job: Job, counters: Mapping[str, float]) -> bool:
        """Rounds enough for its speed to be known."""
        return job.tick >= ENOUGH

    def side_by_side(self, study: SelfPlayConfig) -> int:
        """Each worker has a process."""
        return study.pool.processes

    def best(self, job: Job) -> BestCandidate | None:
        """The member whose policy was left: who stands first on the ladder."""
        number, reading = leader(job), SelfPlayResult.of(job)
        return None if number is None or reading is None else reading.best(job.config, number)

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
        settings = LEARNERS[task["learner"]["kind"]].config.model_fields
        ranges = [(settings[name].title or name, range_text(v)) for name, v in task["learner"].items() if is_range(v)]
        return [
            ("Algorithm", f"Population based training, {task['learner']['kind'].upper()}"),
            ("Opponents", rule["choice"]),
            ("Earlier members kept", number(rule["capacity"])),
            ("Copying", _copying(method)),
            ("Decisions a member, each round", number(task["steps"])),
            ("Meetings a member, each round", number(config["episodes"])),
            *ranges,
        ]


def _copying(method: Mapping[str, Any]) -> str:
    """Who copies whom."""
    share, error = percent(method["share"]), percent(method["level"])
    ranked = f"the lowest {share} copy one of the highest {share}"
    tested = f"a rival drawn at random where it is surely better (Welch’s t-test, chance of error below {error})"
    return {
        "truncation": ranked, "welch": f"each copies {tested}", "both": f"{ranked}; others copy {tested}",
    }[method["exploit"]]  # fmt: skip
