"""The pages of trainings in which individuals evolve and learn around one critic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from engine.catalog import METHODS
from webapp.lib.words import number
from webapp.shared_critic.asking import TogetherForm, TogetherIntake
from webapp.shared_critic.drawing import NAMES, Course
from webapp.studies.job_page import worker_words
from webapp.studies.kinds import Found, Parts
from webapp.studies.models import Job
from webapp.studies.rounds import Columns
from webapp.training.games import title_of, title_on_menu

ROUNDS = 400
"""Rounds that are drawn, at most about."""
HEADS = {"tick": "Round", "steps": "Decisions", **{name: words.capitalize() for name, (_, words) in NAMES.items()}}
BUSY = {
    "play": ("playing", ("busy_start", "busy_es", "busy_rl", "busy_centre", "busy_measure", "busy_examine")),
    "learn": ("individuals learning", ("busy_learning_rl",)),
    "critic": ("the critic learning", ("busy_learning_critic", "busy_learning_agent", "busy_critic", "busy_agent")),
}
"""What workers do, by the metrics that say so."""


class Together(Parts):
    """Evolution with a shared critic: how individuals score, who moves the centre, and who waits."""

    intake = TogetherIntake()
    form = TogetherForm
    question = (
        "What do evolution and learning find together?",
        "Individuals evolve or learn around one critic; nobody waits for another. For games steered by numbers.",
    )
    about = (
        "Many variants of one agent play side by side. Some only vary, others first learn from a shared critic; each "
        "that is back moves the centre around which new ones are drawn. It ends with the centre as an agent."
    )
    files: ClassVar[Mapping[str, str]] = {"policy.zip": "policy", "policy.onnx": "onnx"}
    gives = "centre"
    help_section = "shared-critic"

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """The scores as they grow."""
        rounds = _once(self.rounds(job, ROUNDS)) if job.tick else {}
        own = {
            "game": title_of(job.config["game"]["name"], job.project),
            "method": METHODS[job.config["method"]["kind"]].label,
            "courses": _courses(rounds) if job.tick else [],
            "heads": list(HEADS.values()),
            "rows": _rows(rounds),
            "evaluated": _evaluated(job.metrics),
            "moved": _moved(job.metrics),
            "busy": _busy(job.metrics),
            "specialist": _specialist(job),
        }
        return render(request, "shared_critic/job.html", context | own)

    def work(self, job: Job) -> float:
        """The share of its decisions that are played."""
        return min(1.0, float(job.counters.get("steps", 0) / job.config["steps"]))

    def found(self, job: Job) -> Found | None:
        """How the centre plays."""
        told = _evaluated(job.metrics)
        return Found(f"The centre scores {told} on fresh episodes.") if told else None

    def named(self, place: str, text: str) -> str:
        """A game by its title, a method by its name."""
        if place.endswith("method.kind") and text in METHODS:
            return METHODS[text].label
        return title_on_menu(text) if place.endswith("game.name") else text


def _once(rounds: Columns) -> Columns:
    """An evaluation stands in the round that told it first; those after it repeat it."""
    name = "evaluation_return"
    told = rounds.get(name, [])
    before = [None, *told[:-1]]
    return rounds | ({name: [x if x != y else None for x, y in zip(told, before, strict=True)]} if told else {})


def _rows(rounds: Columns) -> list[tuple[float | None, ...]]:
    """What is drawn, a row for each round."""
    many = len(rounds.get("tick", []))
    return list(zip(*(rounds.get(name, [None] * many) for name in HEADS), strict=True))


def _courses(rounds: Columns) -> list[Course]:
    """Over decisions, and over time."""
    return [
        Course(rounds, "steps", lambda x: number(round(x)), "Decisions played → more"),
        Course(rounds, "seconds", lambda x: f"{number(x / 60, 1)} min", "Time → later"),
    ]


def _evaluated(metrics: Mapping[str, float]) -> str:
    """The last examination, with its range where there is one."""
    if (mean := metrics.get("evaluation_return")) is None:
        return ""
    low, high = metrics.get("evaluation_return_low"), metrics.get("evaluation_return_high")
    return number(mean, 1) + (
        f" ({number(low, 1)} to {number(high, 1)})" if low is not None and high is not None else ""
    )


def _moved(metrics: Mapping[str, float]) -> dict[str, Any] | None:
    """Who moved the centre how far; None where the method does not say."""
    es, rl = metrics.get("p_es"), metrics.get("p_rl")
    if es is None or rl is None:
        return None
    share = rl / (es + rl) if es + rl else 0.0
    return {
        "learning": share, "evolving": 1 - share if es + rl else 0.0, "chance": metrics.get("chance_rl", 0.0),
        "individuals_es": metrics.get("individuals_es", 0.0), "individuals_rl": metrics.get("individuals_rl", 0.0),
    }  # fmt: skip


def _busy(metrics: Mapping[str, float]) -> list[tuple[str, float]]:
    """Shares of the workers' time, waiting last."""
    found = [(words, sum(metrics.get(name, 0.0) for name in names)) for words, names in BUSY.values()]
    if not any(share for _, share in found):
        return []
    return [*found, ("waiting", max(0.0, 1 - sum(share for _, share in found)))]


def _specialist(job: Job) -> list[tuple[str, Any]]:
    """Every technical word."""
    config, m = job.config, job.metrics
    learner, method = config["learner"], config["method"]
    layers = learner["network"]
    told = {
        "Estimate of f(μ)": "return_estimate", "p_rl": "chance_rl", "Mean σ": "sigma", "σ² on its floor": "floor",
        "Minibatches of the critic": "critic_steps", "Minibatches a decision": "critic_steps_a_decision",
        "Loss of the critic": "critic_loss", "Mean Q": "q",
    }  # fmt: skip
    return [
        ("Method", METHODS[method["kind"]].label),
        *((name.title(), method[part]["kind"]) for name, part in (("mean rule", "mean"), ("variance rule", "variance"))
          if part in method),
        *((name, f"{m[key]:.4g}") for name, key in told.items() if key in m),
        *((f"Decisions, {name.removeprefix('steps_')}", number(value)) for name, value in sorted(m.items())
          if name.startswith("steps_") and name != "steps_per_second"),
        ("Replay", number(learner["capacity"])),
        ("Noise of actions", f"{learner['explore']:g}"),
        ("Policy network", " ".join(map(str, layers["policy"]))),
        ("Critic network", " ".join(map(str, layers["critic"]))),
        ("Seed", config["seed"]),
        ("Workers", worker_words(config["pool"])),
        ("Attempt", job.attempt),
        ("Settings", job.config_hash[:12]),
    ]  # fmt: skip
