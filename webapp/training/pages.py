"""The live page of a training: what its template and its script start from."""

from __future__ import annotations

from typing import Any

from engine.catalog import LEARNERS
from webapp.lib.words import number
from webapp.studies.models import Job
from webapp.training import games
from webapp.training.curve import COUNTERS
from webapp.training.learning import of_learner
from webapp.training.methods import ALGORITHMS, PRESET_LIST

METRICS = {
    "policy_loss": "Loss of the policy",
    "critic_loss": "Loss of the critic",
    "entropy": "Entropy (how undecided it is)",
    "kl": "Change of the policy in an update (KL)",
    "clipped": "Share of clipped ratios",
    "ratio": "Mean ratio to the policy that played",
    "gradient": "Norm of the gradient",
    "rate": "Learning rate",
    "epsilon": "Chance of a random action",
    "alpha": "Weight of the entropy",
    "q": "Mean value of the chosen actions (Q)",
    "kept": "Decisions remembered",
    "explained": "Share of returns the critic foresees",
    "length": "Length of training episodes",
    "steps_per_second": "Decisions learned from a second",
    "staleness_mean": "Age of the data (updates)",
    "staleness_max": "Oldest data (updates)",
    "dropped": "Fragments thrown away as too old",
    "updates": "Updates",
    "skipped": "Updates skipped, as there was nothing to learn from",
    "episodes": "Episodes played",
    "lost": "Samplers lost",
    "sampling_seconds": "Processor seconds of playing, a round",
    "learning_seconds": "Processor seconds of learning, a round",
}
"""What a learner tells, in words; anything else is shown under its own name."""


def learning(job: Job) -> list[str]:
    """The policies that learn, where several do; one alone needs no name."""
    found = [name for name, policy in job.config.get("policies", {}).items() if policy["kind"] == "learning"]
    return found if len(found) > 1 else []


def teams(job: Job) -> list[str]:
    """The policies that learn as a team, each of whose members has a policy of its own; "" for one that learns
    alone."""
    policies = job.config.get("policies", {})
    found = [
        name
        for name, policy in policies.items()
        if policy["kind"] == "learning"
        and len(policy["seats"]) > 1
        and LEARNERS[(policy.get("learner") or job.config["learner"])["kind"]].config.together  # type: ignore[attr-defined]
    ]
    return found if learning(job) else [""] * bool(found or "members" in job.artifacts)


def context(job: Job) -> dict[str, Any]:
    """What the template needs beside what every job's page has."""
    config = job.config
    return {
        "game": games.title_of(config["game"]["name"], job.project),
        "algorithm": ALGORITHMS[config["learner"]["kind"]].title,
        "specialist": _specialist(job),
        "teams": teams(job),
    }


def page_data(job: Job) -> dict[str, Any]:
    """What the page's script knows beside every job's own."""
    config = job.config
    return {
        "columns": {"counters": list(COUNTERS), "metrics": []},
        "steps": 0 if job.asked else config["steps"],
        "in_step": config["sampling"] == "synchronous",
        "episodes": config["episodes"],
        "words": METRICS,
        "policies": learning(job),
        "teams": teams(job),
        "summary": job.summary,
    }


def _specialist(job: Job) -> list[tuple[str, Any]]:
    config = job.config
    learner, minutes = config["learner"], config.get("minutes", 0)
    preset = PRESET_LIST.get(job.template)
    found = [
        ("Game", games.title_of(config["game"]["name"], job.project)),
        ("Algorithm", ALGORITHMS[learner["kind"]].title),
        ("Begun from", f"{preset.title} ({preset.key})" if preset else ""),
        ("Decisions", "" if job.asked else number(config["steps"])),
        ("Minutes", number(minutes) if minutes else ""),
        ("Sampling", "in step" if config["sampling"] == "synchronous" else "nobody waits"),
        ("Oldest data", number(config["max_staleness"]) if config["sampling"] == "asynchronous" else ""),
        ("Samplers", f"{config['samplers']} × {config['environments']} battles"),
        *of_learner(learner),
        ("Seed", config["seed"]),
        ("Attempt", job.attempt),
        ("Settings", job.config_hash[:12]),
    ]
    return [(name, value) for name, value in found if value != ""]
