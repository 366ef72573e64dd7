"""How long a training of several agents will take: by earlier ones like it, else by its first rounds, which are played
in one process before the start."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from engine.config import parse, study_hash
from engine.config.aesrl import AbsoluteConfig, AESRLConfig
from engine.config.gossip import GossipConfig
from engine.config.pool import PoolConfig
from engine.config.starts import ReplayConfig, StartsConfig
from engine.config.train import TrainPool
from engine.errors import ConfigError
from webapp.lib.words import number
from webapp.projects.models import Project
from webapp.studies.models import Job, Status
from webapp.training import trials
from webapp.training.trials import FASTER, SLOWER, START_S, UNSETTLED, Estimate

Several = AESRLConfig | GossipConfig | StartsConfig
CHANCE, ROUND, ENOUGH = 1000, 1000, 5
"""Decisions by chance at most, decisions in a round, and rounds that tell enough."""
FEW = 200
"""Minibatches in a round of a study of starts, and decisions before learning at most."""
EARLIER = 20
"""Trainings that are looked at."""


def of(study: Several) -> Several:
    """The first rounds of a study, in one process."""
    if isinstance(study, StartsConfig):
        return _of_starts(study)
    same = {"name": f"speed of {study.game.name}"[:120], "steps": UNSETTLED, "minutes": 0.0, "start": "",
            "evaluate_every": 0, "episodes": 2}  # fmt: skip
    if isinstance(study, GossipConfig):
        own: dict[str, Any] = {"agents": 2, "topology": "ring", "staleness": 0, "ordered": True}
        least = 2 * study.update
        own |= {"checkpoint_every": max(ROUND, least), "seed": 1, "pool": TrainPool(kind="local")}
    else:
        learner = study.learner.model_copy(update={"warmup": min(study.learner.warmup, CHANCE)})
        usual = type(study.method)()
        rules = {rule: getattr(usual, rule) for rule in ("mean", "variance") if hasattr(usual, rule)}
        own = {"learner": learner, "method": study.method.model_copy(update=rules), "spread": 1.0}
        own |= {"checkpoint_every": ROUND, "pool": PoolConfig(kind="local", workers=1)}
    return study.model_copy(update=same | own)


def _of_starts(study: StartsConfig) -> StartsConfig:
    learner = study.learner.model_copy(update={"warmup": min(study.learner.warmup, FEW)})
    return study.model_copy(update={
        "name": f"speed of {study.game.name}"[:120], "iterations": UNSETTLED, "checkpoint_every": FEW, "minutes": 0.0,
        "start": "", "evaluate_every": 0, "episodes": 2, "learner": learner, "replay": ReplayConfig(),
        "sampling": "synchronous", "seed": 1, "pool": TrainPool(kind="local"),
    })  # fmt: skip


def known(study: Several, project: Project) -> Job | None:
    """The first rounds of such a study, if they were played."""
    mine = Job.objects.for_forms().filter(project=project)
    return mine.filter(config_hash=study_hash(of(study))).order_by("-pk").first()


def needed(study: Several) -> bool:
    """Whether only they tell if a setting can be as it is."""
    return isinstance(_rule(study), AbsoluteConfig)


def _rule(study: Several) -> Any:
    return getattr(study.method, "mean", None) if isinstance(study, AESRLConfig) else None


def enough(job: Job, steps: float) -> bool:
    """Whether so many decisions of its first rounds tell how fast it goes."""
    return bool(steps >= ENOUGH * job.config["checkpoint_every"])


def problems(study: Several, played: Job | None) -> list[tuple[str, str]]:
    """(place, sentence) of what the first rounds found wrong."""
    worst = None if played is None else played.metrics.get("worst_by_chance")
    rule = _rule(study)
    if worst is not None and isinstance(rule, AbsoluteConfig) and (why := rule.too_high(worst)):
        return [("method.mean.baseline", why)]
    return trials.problems(played)


def estimate(study: Several, played: Job | None, project: Project) -> Estimate | None:
    """How long it takes; None while nothing is known."""
    if earlier := _earlier(study, project):
        low, high = min(earlier), max(earlier)
        told = "one earlier training" if len(earlier) == 1 else f"{len(earlier)} earlier trainings"
        return _whole(study, 0.9 * low, 1.1 * high, f"As fast as {told} like this one.")
    pace = _pace(played) if played is not None else None
    if pace is None:
        return None
    each = pace / min(side_by_side(study), settings.CPUS)
    note = f"Measured just now: {number(float(f'{1 / pace:.1e}'), 0)} decisions a second on one processor."
    return _whole(study, FASTER * each, SLOWER * each, note)


def side_by_side(study: Several) -> int:
    """Processes that play and learn at once; with easier starts one learner does most of the work."""
    if isinstance(study, StartsConfig):
        return 1
    return study.agents if isinstance(study, GossipConfig) else study.pool.processes


def players(study: StartsConfig) -> int:
    """Processes that only play."""
    return study.samplers if study.pool.kind != "local" else 1


def _whole(study: Several, low: float, high: float, note: str) -> Estimate:
    most = START_S + (60 * study.minutes if study.minutes else float("inf"))
    least, longest = (min(most, START_S + each * study.steps) for each in (low, high))
    return Estimate(least, longest, f"{note} Evaluations come on top.", 2 / (low + high))


def _pace(job: Job) -> float | None:
    """Seconds a decision once it learns, start and decisions by chance left out; None where too little was played."""
    rounds = list(job.events.filter(kind="progressed").order_by("tick").values_list("body__counters", flat=True))
    first, last = (rounds[min(1, len(rounds) - 2)], rounds[-1]) if len(rounds) > 1 else ({}, {})
    steps = last.get("steps", 0) - first.get("steps", 0)
    return (last["seconds"] - first["seconds"]) / steps if steps > 0 else None


def _earlier(study: Several, project: Project) -> list[float]:
    """Seconds a decision of the latest trainings that did the same work on as many processes."""
    wanted = _work(study)
    done = project.jobs.filter(kind=study.kind, status__in=(Status.FINISHED, Status.STOPPED)).order_by("-pk")
    alike = (job for job in done[:EARLIER] if _worked(study, job) == wanted)
    return [pace for job in alike if (pace := _pace(job)) is not None][:5]


def _worked(study: Several, job: Job) -> tuple[str, int] | None:
    """The work of another job of the kind; None where an earlier version of the engine made it."""
    try:
        return _work(parse(type(study), job.config))
    except ConfigError:
        return None


def _work(study: Several) -> tuple[str, int]:
    return study_hash(of(study).model_copy(update={"seed": 1})), side_by_side(study)
