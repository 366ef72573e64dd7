"""From when on the pace of such a training tells when it ends.

Decisions by chance cost next to nothing, and a critic that learns from all of them at once costs a lot: neither says
how long the rest takes.
"""

from __future__ import annotations

from engine.config import parse
from engine.config.aesrl import AESRLConfig
from webapp.studies.models import Job

PATIENCE = 0.3
"""The share of all decisions after which nobody waits any longer for the critic to have caught up."""


def settled(job: Job) -> tuple[float, float] | None:
    """The share of its decisions that were played, and the seconds that it took, when chance was over and the critic
    had caught up with it; None before."""
    rounds, chance = job.events.filter(kind="progressed"), parse(AESRLConfig, job.config).by_chance
    if chance:
        rounds = rounds.filter(body__metrics__steps_start__gte=chance)
    caught_up = rounds.filter(body__metrics__critic_steps__gte=lessons_of_chance(job))
    first = caught_up.order_by("tick").values_list("body__counters", flat=True).first()
    if first is None and _share(job, job.counters) >= PATIENCE:
        first = rounds.order_by("tick").values_list("body__counters", flat=True).first()
    return (_share(job, first), float(first["seconds"])) if first else None


def _share(job: Job, counters: dict[str, float]) -> float:
    return min(1.0, float(counters.get("steps", 0)) / job.config["steps"])


def lessons_of_chance(job: Job) -> float:
    """Lessons that a critic has had once it has caught up with the decisions by chance; where it does not learn from
    these at once, its first ones."""
    method, learner = job.config["method"], job.config["learner"]
    if method["kind"] == "cem" or method.get("learning_share") == 0:
        return 0.0
    return float(learner["updates"] * learner["warmup"]) if method["kind"] in ("aes-rl", "acem-rl") else 1.0
