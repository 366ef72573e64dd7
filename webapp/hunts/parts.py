"""The page of a hunt for bugs, and what is taken away from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from engine.config.hunt import BREEDING, LEARNING, HuntConfig
from webapp.accounts.models import User
from webapp.hunts import found, watching
from webapp.hunts.asking import METHODS, HuntForm, HuntIntake
from webapp.lib.words import number, plural
from webapp.studies.kinds import Found, Rows
from webapp.studies.models import Job, Status
from webapp.studies.table_rows import TableRows
from webapp.training.learned import whole_batches
from webapp.training.learning import Learning
from webapp.training.methods import ALGORITHMS
from webapp.training.trial_rounds import ENOUGH, trial_rounds

LEARNED = 2048
"""Decisions that an agent learns from in a first round."""
HEADS = ("number", "kind", "what", "where", "seen", "moves", "shown_again")
"""Columns of the bugs for programs."""

NOBODY_BRED = (
    "Nobody was bred: breeding begins with the second round, and this hunt had only one. More decisions, or fewer "
    "agents in a round, make more rounds."
)


class Hunting(Learning):
    """Hunts for bugs."""

    template = "hunts/job.html"
    intake = HuntIntake()
    form = HuntForm
    question = "Where does the game break?", "Agents explore it and report what goes wrong."
    without_data = "hunt for bugs"
    about = (
        "Agents learn to win the game and to get everywhere in it. Everything they do is watched for crashes, places "
        "that nobody gets out of, broken rules, and wins that come too easily."
    )
    plays = "episode"
    counted = "steps"
    trying = "Two agents explore the game to see how fast this goes …"
    help_section = "hunts"
    results: ClassVar[tuple[str, ...]] = ("bugs",)

    def shown(self, job: Job) -> dict[str, Any]:
        """The bugs and the map as they grow."""
        kept = found.of(job)
        return {
            "kept": kept,
            "lost": kept is None and job.tick > 0,
            "map": kept.map if kept else None,
            "bugs": [*kept.shown, *kept.untried] if kept else [],
            "drawn": kept is not None and watching.drawn(kept),
            "method": METHODS[job.config["method"]],
            "alone": NOBODY_BRED if _alone(job) else "",
            "whole": whole_batches(job.config["task"], "an agent") if job.config["method"] in LEARNING else "",
        }

    def work(self, job: Job) -> float:
        """The share of its decisions that are made; a rule may end it earlier."""
        if job.status == Status.FINISHED:
            return 1.0
        return float(min(1.0, job.counters.get("steps", 0) / job.config["decisions"]))

    def amount(self, study: HuntConfig) -> float:
        """The decisions that it may take."""
        return study.decisions

    def first_rounds(self, study: HuntConfig) -> HuntConfig:
        """Short rounds of two agents in one process, measured in proportion."""
        return trial_rounds(study, LEARNED, decisions=10**12)

    def tells_enough(self, job: Job, counters: Mapping[str, float]) -> bool:
        """Rounds enough for its speed to be known."""
        return job.tick >= ENOUGH

    def side_by_side(self, study: HuntConfig) -> int:
        """Each worker has a process."""
        return study.pool.processes

    def found(self, job: Job) -> Found | None:
        """How many bugs."""
        kept = found.of(job)
        if kept is None:
            return None
        covered = f"{number(kept.places)} of {number(kept.open)} places" if kept.open else plural(kept.places, "place")
        covered += f" and {plural(kept.inside, 'cell')} inside walls" if kept.inside else ""
        also = f", {number(len(kept.untried))} more not shown again" if kept.untried else ""
        return Found(f"{plural(len(kept.bugs), 'bug')}{also}, {covered} covered")

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each bug."""
        kept = found.of(job)
        return TableRows(HEADS, [bug._asdict() for bug in (*kept.shown, *kept.untried)] if kept else [])

    def specialist(self, job: Job) -> list[tuple[str, Any]]:
        """Technical words, for the details."""
        config, task = job.config, job.config["task"]
        return [
            ("Method", config["method"].capitalize()),
            ("Goals", ", ".join(goal["measure"] for goal in config["objectives"])),
            ("Selection", "NSGA-II" if config["method"] in BREEDING else "none"),
            ("Algorithm", ALGORITHMS[task["learner"]["kind"]].title),
            ("Agents in a round", number(config["algorithm"]["population"])),
            ("Decisions an agent learns from, each round", number(task["steps"])),
            ("Episodes that measure an agent", number(config["episodes"])),
            ("Stuck after", plural(config["oracles"]["stuck_after"], "decision")),
        ]


def _alone(job: Job) -> bool:
    """Whether a hunt that breeds its agents has ended with its first round."""
    return job.terminal and job.tick == 1 and job.config["method"] in BREEDING
