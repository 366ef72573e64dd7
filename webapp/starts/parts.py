"""The pages of one agent with easier starts, and what is taken away from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.config.starts import ReplayConfig, SchedulerConfig, StartsConfig
from engine.config.train import TrainPool
from webapp.accounts.models import User
from webapp.lib.words import number, percent
from webapp.starts.asking import DRAWN_BY, SCHEDULERS, SIGNALS, StartsForm
from webapp.starts.figures import figures
from webapp.starts.intake import StartsIntake
from webapp.starts.reading import ROUNDS, StartsResult, score_ends
from webapp.studies.kinds import Found, Rows
from webapp.studies.models import Job
from webapp.studies.table_rows import TableRows, latest
from webapp.training import curve
from webapp.training.first_rounds import ENOUGH, Rehearsed
from webapp.training.learning import OneAgent, crowded, of_learner
from webapp.training.trials import UNSETTLED

HEADS = ("start", "hard", "success", "low", "high", "perhaps", "surely", "forgotten")
"""Columns of the starts for programs."""
FEW = 200
"""Minibatches in a round of first rounds, and decisions before learning at most."""


def how(chosen: SchedulerConfig) -> tuple[str, str]:
    """From which start it learns next, and what that means."""
    title, text = SCHEDULERS[chosen.kind]
    if chosen.kind == "exp3" and chosen.signal != "progress":
        return DRAWN_BY[chosen.signal]
    return title, text.replace(percent(SchedulerConfig().bar), percent(chosen.bar))


class EasierStarts(Rehearsed, OneAgent):
    """One agent with easier starts: how often it succeeds from each, what it practises, what is hard."""

    template = "starts/job.html"
    intake = StartsIntake()
    form = StartsForm
    question = "Is the goal too rare to be found by luck?", "One agent learns from easier starts at the same time."
    without_data = "let one agent learn from easier starts"
    about = (
        "An agent that never reaches the goal learns nothing. You say where episodes begin, from easy to hard. It "
        "plays all of them at the same time and learns where it learns most, until it succeeds from the hard one."
    )
    gives = "agent"
    trying = "An agent learns from these starts for a few seconds to see how fast this goes …"
    help_section = "easier-starts"

    def shown(self, job: Job) -> dict[str, Any]:
        """The curves, what is practised, the ranking, the picture, and for specialists the paper's figures."""
        reading = StartsResult(job, curve.columns(job, ROUNDS), latest(job))
        return {
            "reading": reading,
            "figures": figures(reading),
            "explains": "starts/figures.html",
            "how": how(reading.config.scheduler),
            "sharing": self.crowded(reading.config),
        }

    def alone(self, study: StartsConfig) -> dict[str, Any]:
        """Players and learner in turn."""
        learner = study.learner.model_copy(update={"warmup": min(study.learner.warmup, FEW)})
        return {
            "iterations": UNSETTLED, "checkpoint_every": FEW, "learner": learner, "replay": ReplayConfig(), "seed": 1,
            "sampling": "synchronous", "pool": TrainPool(kind="local"),
        }  # fmt: skip

    def crowded(self, study: StartsConfig) -> str:
        """Each player has a process."""
        return crowded(study.samplers, "player") if study.pool.kind != "local" else ""

    def tells_enough(self, job: Job, counters: Mapping[str, float]) -> bool:
        """Rounds enough for its speed to be known."""
        return job.tick >= ENOUGH

    def found(self, job: Job) -> Found | None:
        """How well it does from the hard start."""
        share = job.metrics.get(f"task-{len(job.config['tasks'])}/success")
        if share is None:
            return None
        if ends := score_ends(job.metrics):
            way = f"{percent(share)} of the way from {number(ends[0])} to {number(ends[1])}"
            return Found(f"From the hard start its average score comes {way} in fresh episodes")
        return Found(f"It succeeds from the hard start in {percent(share)} of fresh episodes")

    def table(self, job: Job, of: str, user: User) -> Rows:
        """A line for each start, the easiest first; minibatches of one that is not mastered are empty."""
        table = latest(job)
        if table is None:
            return TableRows(HEADS, [])
        names, columns = table.meta["tasks"], {name: column.tolist() for name, column in table.arrays.items()}
        rows = []
        for i, name in enumerate(names):
            values = {head: columns[head][i] for head in HEADS[2:]}
            reached = {head: None if values[head] == -1 else values[head] for head in ("perhaps", "surely")}
            rows.append({"start": name, "hard": i == len(names) - 1, **values, **reached})
        return TableRows(HEADS, rows)

    def specialist(self, job: Job) -> list[tuple[str, Any]]:
        """Every technical word."""
        config = job.config
        learner, chosen = config["learner"], config["scheduler"]
        return [
            ("Algorithm", f"DPCER, {chosen['kind']}; {learner['kind']}"),
            ("Signal of EXP3", f"{chosen['signal']}: {SIGNALS[chosen['signal']]}"),
            ("γ of EXP3", f"{chosen['gamma']:g}"),
            ("Replay", f"{number(learner['capacity'])} decisions a start, {config['replay']['where']}"),
            ("Minibatch", number(learner["minibatch"])),
            ("Minibatches a decision", f"{learner['updates']:g}"),
            *of_learner(learner),
            ("Actors", f"{number(config['actors'])} a start × {number(config['environments'])} episodes"),
            ("Sampling", config["sampling"]),
            ("Learning steps", number(config["iterations"])),
        ]
