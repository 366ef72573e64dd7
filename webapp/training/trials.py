"""How long a training will take: from earlier ones like it, else from a trial that trains for some seconds."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from engine.config import TrainConfig, parse, study_hash
from engine.config.first_rounds import FASTER, SLOWER
from engine.config.train import TrainPool
from engine.errors import ConfigError
from webapp.games.commands import is_program
from webapp.lib.words import number, when
from webapp.projects.models import Project
from webapp.studies.estimates import START_S, Estimate
from webapp.studies.models import Job, Status

UNSETTLED = 10**9
"""Steps of a training that ends by the clock, while nobody knows how many fit into its minutes; and of a trial."""
TELLING_S = 5.0
"""Seconds that an earlier training must have lasted to say anything."""
SAME_PACE = ("steps", "minutes", "seed", "episodes", "evaluate_every", "checkpoint_every")
PACELESS = (
    "discount", "rate", "schedule", "trace", "policy_weight", "critic_weight", "entropy_weight", "max_gradient", "clip",
    "clip_schedule", "target_kl", "trace_clip", "rho_clip", "decay", "epsilon", "alpha", "beta", "explore", "penalty",
)  # fmt: skip
"""Settings of a learner that change what it learns and not how fast it goes."""


@dataclass(frozen=True)
class MoveTime:
    """Seconds of one processor for each decision: to play it, and to learn from it."""

    playing: float
    learning: float


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


def estimate(config: TrainConfig, trial: Job | None, longest: int, project: Project) -> Estimate | None:
    """How long a training takes; None while nothing is known. ``longest``: decisions of the longest episode, or 0."""
    if earlier := _earlier(config, project):
        low, high = min(earlier), max(earlier)
        trainings = "one earlier training" if len(earlier) == 1 else f"{len(earlier)} earlier trainings"
        middle = 2 / (low + high)
        return _whole(config, 0.9 * low, 1.1 * high, f"As fast as {trainings} like this one.", middle)
    pace = pace_of(trial)
    if pace is None or trial is None:
        return None
    each = _each(config, pace)
    exams = (config.ticks // config.evaluate_every if config.evaluate_every else 0) + 1
    playing = exams * config.episodes * longest * pace.playing if config.steps < UNSETTLED else 0.0
    tried = when(trial.finished_at or trial.created_at)
    note = f"Measured {tried}: {speed_words(pace)} decisions a second on one processor."
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


def speed_words(pace: MoveTime) -> str:
    """Decisions a second that are played and learned from, to two digits."""
    return number(float(f"{1 / (pace.playing + pace.learning):.1e}"), 0)
