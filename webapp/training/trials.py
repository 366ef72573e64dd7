"""How long a training will take: from earlier ones like it, else from a trial that trains for some seconds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from engine.config import TrainConfig, parse, study_hash
from engine.config.train import TrainPool
from engine.errors import ConfigError
from webapp.games.commands import is_program
from webapp.lib.words import NBSP, duration, number, plural
from webapp.projects.models import Project
from webapp.studies.models import Job, Status

UNSETTLED = 10**9
"""Steps of a training that ends by the clock, while nobody knows how many fit into its minutes; and of a trial."""
START_S = 8.0
"""Seconds before the first decision: samplers come up and load the game."""
FASTER, SLOWER = 0.85, 1.5
"""What is left of a sum of parts: caches that are warm, and processors that others use too."""
TELLING_S = 5.0
"""Seconds that an earlier training must have lasted to say anything."""
LONG = 3600.0
SAME_PACE = ("steps", "minutes", "seed", "episodes", "evaluate_every", "checkpoint_every")
PACELESS = (
    "discount", "rate", "schedule", "trace", "policy_weight", "critic_weight", "entropy_weight", "max_gradient", "clip",
    "clip_schedule", "target_kl", "trace_clip", "rho_clip", "decay", "epsilon", "alpha", "beta", "explore", "penalty",
)  # fmt: skip
"""Settings of a learner that change what it learns and not how fast it goes."""
_PROBLEM = re.compile(r"(?P<place>[a-z_]+(?:\.[\w-]+)*): (?P<message>.*)", re.DOTALL)


@dataclass(frozen=True)
class MoveTime:
    """Seconds of one processor for each decision: to play it, and to learn from it."""

    playing: float
    learning: float


@dataclass(frozen=True)
class Estimate:
    """``low`` and ``high`` seconds of a whole training, what they rest on, and decisions a second in its middle."""

    low: float
    high: float
    note: str
    speed: float


def of(config: TrainConfig) -> TrainConfig:
    """The trial for a training: the same work in one process, until the clock ends it."""
    usual = type(config.learner)()
    learner = config.learner.model_copy(
        update={name: getattr(usual, name) for name in PACELESS if hasattr(usual, name)}
    )
    return config.model_copy(
        update={
            "name": f"speed of {config.game.name}"[:120], "learner": learner, "seed": 1, "steps": UNSETTLED,
            "minutes": 0.0, "samplers": 1, "sampling": "synchronous", "max_staleness": 8, "checkpoint_every": 0,
            "evaluate_every": 0, "episodes": 2, "threads": 1, "pool": TrainPool(kind="local"),
        }
    )  # fmt: skip


def known(project: Project, config: TrainConfig) -> Job | None:
    """The trial of such a training, if there was one."""
    mine = Job.objects.for_forms().filter(project=project)
    return mine.filter(config_hash=study_hash(of(config))).order_by("-pk").first()


def pace_of(trial: Job | None) -> MoveTime | None:
    """What a trial measured; None while it plays, and when it learned nothing."""
    found = {} if trial is None else trial.summary
    steps = 0 if trial is None else trial.counters.get("steps", 0)
    if not steps or "learning_seconds" not in found:
        return None
    learning = found["learning_seconds"] / steps
    if trial is not None and is_program(trial.config["game"]["name"]):  # its work is not on our processor's clock
        return MoveTime(max(0.0, 1 / found["steps_per_second"] - learning), learning)
    return MoveTime(found["sampling_seconds"] / steps, learning)


def problems(trial: Job | None) -> list[tuple[str, str]]:
    """(place, message) of what a trial found wrong with the settings."""
    if trial is None or trial.status != Status.FAILED:
        return []
    failed = trial.events.filter(kind="failed").order_by("-sequence").values_list("body", flat=True).first() or {}
    parts = [_PROBLEM.fullmatch(part) for part in str(failed.get("places", "")).split("; ")]
    named = [(part["place"], part["message"]) for part in parts if part is not None]
    return named or [("game.name", f"It was tried and did not work: {trial.message}")]


def estimate(config: TrainConfig, trial: Job | None, longest: int, project: Project) -> Estimate | None:
    """How long a training takes; None while nothing is known. ``longest``: decisions of the longest episode, or 0."""
    if earlier := _earlier(config, project):
        low, high = min(earlier), max(earlier)
        told = "one earlier training" if len(earlier) == 1 else f"{len(earlier)} earlier trainings"
        middle = 2 / (low + high)
        return _whole(config, 0.9 * low, 1.1 * high, f"As fast as {told} like this one.", middle)
    pace = pace_of(trial)
    if pace is None:
        return None
    each = _each(config, pace)
    exams = (config.ticks // config.evaluate_every if config.evaluate_every else 0) + 1
    playing = exams * config.episodes * longest * pace.playing if config.steps < UNSETTLED else 0.0
    note = f"Measured just now: {speed_words(pace)} decisions a second on one processor."
    if not longest:
        note += " The evaluations come on top: how long this game’s episodes are is not known."
    return _whole(config, FASTER * each, SLOWER * each, note, 1 / each, playing)


def _each(config: TrainConfig, pace: MoveTime) -> float:
    """Seconds a decision, with the samplers sharing this site's processors."""
    if config.sampling == "synchronous":
        return pace.playing / min(config.samplers, settings.CPUS) + pace.learning
    together = (pace.playing + pace.learning) / settings.CPUS
    return max(together, pace.learning, pace.playing / config.samplers)


def _whole(config: TrainConfig, low: float, high: float, note: str, speed: float, more: float = 0.0) -> Estimate:
    shortest, longest = START_S + low * config.steps, START_S + high * config.steps + more
    if config.minutes:
        limit = 60 * config.minutes + START_S
        shortest, longest = min(shortest, limit), min(longest, limit + more)
    return Estimate(shortest, longest, note, speed)


def _earlier(config: TrainConfig, project: Project) -> list[float]:
    """Seconds a decision of the latest trainings that did the same work, evaluations and all but for the start."""
    wanted, found = _work(config), []
    done = Job.objects.filter(project=project, kind="train", status__in=(Status.FINISHED, Status.STOPPED))
    for job in done.order_by("-pk")[:20]:
        steps, seconds = _since_first_round(job)
        if steps and seconds > TELLING_S and _work(_config(job)) == wanted:
            found.append(seconds / steps)
    return found[:5]


def _since_first_round(job: Job) -> tuple[float, float]:
    """Decisions and seconds from a training's first round on."""
    rounds = job.events.filter(kind="progressed").order_by("tick").values_list("body__counters", flat=True)
    first, last = rounds.first(), rounds.last()
    if first is None or last is None:
        return 0, 0.0
    return last["steps"] - first["steps"], last["seconds"] - first["seconds"]


def _config(job: Job) -> TrainConfig | None:
    try:
        return parse(TrainConfig, job.config)
    except ConfigError:  # of an earlier version of the engine
        return None


def _work(config: TrainConfig | None) -> str:
    if config is None:
        return ""
    usual = {name: TrainConfig.model_fields[name].get_default() for name in SAME_PACE}
    learner = of(config).learner
    return study_hash(config.model_copy(update={**usual, "learner": learner}))


def budget(minutes: float, speed: float) -> int:
    """Decisions that surely fill ``minutes`` at ``speed`` decisions a second, to two digits."""
    steps = max(1.0, 1.5 * 60 * minutes * speed)
    return int(float(f"{steps:.1e}"))


def before_start(found: Estimate | None, trial: Job | None, minutes: float) -> dict[str, Any]:
    """What the page says before the start; ``minutes``: when it ends at the latest, or 0."""
    if found is None:
        return {"time": "…", "note": _waiting(trial), "long": ""}
    low, high = (duration(_rounded(value)) for value in (found.low, found.high))
    time = f"About {high}" if low == high else f"{low} to {high}"
    clock = f"Ends after {number(minutes)}{NBSP}min at the latest, and a last evaluation." if minutes else ""
    long = "That is long. It goes on when you close the page, and can be paused." if found.low > LONG else ""
    return {"time": time, "note": " ".join(filter(None, (found.note, _beside(), clock))), "long": long}


def _beside() -> str:
    """What the estimate leaves out: jobs that share the processors."""
    running = Job.objects.filter(status=Status.RUNNING).placed().count()
    if not running:
        return "That is if nothing else runs at the time."
    return f"That is if nothing else runs; now {plural(running, 'job does', 'jobs do')}, so it may take longer."


def _waiting(trial: Job | None) -> str:
    if trial is None:
        return ""
    if trial.active:
        return "Training a few seconds to see how fast this goes …"
    return "How fast this goes could not be measured." if trial.status != Status.PAUSED else "The trial was put aside."


def _rounded(value: float) -> float:
    """To what people say: 5 s steps under two minutes, minutes under two hours, then quarters of an hour."""
    step = 5 if value < 120 else 60 if value < 7200 else 900
    return max(step, step * round(value / step))


def speed_words(pace: MoveTime) -> str:
    """Decisions a second that are played and learned from, to two digits."""
    return number(float(f"{1 / (pace.playing + pace.learning):.1e}"), 0)
