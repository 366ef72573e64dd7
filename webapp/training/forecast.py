"""How long a search for settings will take: the pace of a trial of one of its trainings, times all there is to do."""

from __future__ import annotations

from math import ceil, sqrt

from engine.config import EvolveConfig, TaskConfig, TrainConfig
from engine.config.genes import Gene, express, genes
from engine.config.whole_updates import learned
from engine.errors import ConfigError
from webapp.lib.words import number, plural
from webapp.studies.estimates import FASTER, SLOWER, Estimate
from webapp.studies.models import Job
from webapp.training import trials
from webapp.training.trials import UNSETTLED, MoveTime

START_S = 15.0
"""Seconds before the first player learns: workers come up and load the game."""
LONGER = 4.0
"""Times as long as an untrained player's episodes those of a good one may be, where the game sets no end to them."""


def middle(study: EvolveConfig) -> TaskConfig | None:
    """The task of a player in the middle of every range; None where its settings conflict."""
    try:
        return express(study.task, {gene.place: _halfway(gene) for gene in genes(study.task)})
    except ConfigError:
        return None


def training_of(study: EvolveConfig) -> TrainConfig | None:
    """A training as that player has it."""
    task = middle(study)
    if task is None:
        return None
    return TrainConfig(
        name=study.name, game=task.game, learner=task.learner, steps=UNSETTLED, samplers=1,
        environments=task.environments,
    )  # fmt: skip


def _halfway(gene: Gene) -> float:
    value = sqrt(gene.low * gene.high) if gene.log else (gene.low + gene.high) / 2
    return round(value) if gene.whole else value


def estimate(study: EvolveConfig, trial: Job | None, longest: int, noun: str = "player") -> Estimate | None:
    """How long it takes; None while nothing is known. ``longest``: decisions of the game's longest episode, or 0;
    ``noun``: what the page calls those who learn."""
    pace, task = trials.pace_of(trial), middle(study)
    if pace is None or trial is None or task is None:
        return None
    steps = learned(task)
    low, high = (_seconds(study, steps, pace, length) for length in _lengths(trial, longest))
    players, workers = study.algorithm.population, study.pool.workers
    least, most = START_S + FASTER * low, START_S + SLOWER * high
    for rule in study.stop:
        if rule.kind == "minutes":
            least, most = (min(seconds, START_S + 60 * rule.most) for seconds in (least, most))
    note = (
        f"{plural(players, noun)} × {plural(study.ticks, 'round')} × {number(steps)} decisions on "
        f"{plural(workers, 'worker')}, and {number(study.episodes)} episodes to measure each. On one processor "
        f"{trials.speed_words(pace)} decisions a second were learned from just now."
    )
    if study.noise.used:
        note += " What is measured again comes on top."
    return Estimate(least, most, note, 1 / (pace.playing + pace.learning))


def _lengths(trial: Job, longest: int) -> tuple[float, float]:
    """Decisions of an episode as an untrained player has them, and as a good one may."""
    episodes = trial.summary.get("episodes", 0)
    untrained = trial.summary.get("length") or (trial.counters.get("steps", 0) / episodes if episodes else 0)
    if not untrained:
        return longest, longest
    return min(untrained, longest or untrained), longest or LONGER * untrained


def _seconds(study: EvolveConfig, steps: int, pace: MoveTime, length: float) -> float:
    """Seconds of a whole search in which each player learns from so many decisions, with episodes of that length."""
    players, workers = study.algorithm.population, study.pool.workers
    measuring = length * pace.playing
    each = steps * (pace.playing + pace.learning) + study.episodes * measuring
    steady = study.algorithm.without_rounds
    turns = study.ticks * (players / workers if steady else ceil(players / workers))
    for rule in study.stop:
        if rule.kind == "evaluations":
            turns = min(turns, ceil(rule.most / workers))
        elif rule.kind == "steps":
            turns = min(turns, ceil(rule.most / max(1.0, steps + study.episodes * length) / workers))
    # Whoever nobody beats is measured once more: with one goal it is one player, with several up to a round of them.
    edge = 1 if len(study.objectives) == 1 else ceil(players / workers)
    return turns * each + edge * study.fresh * measuring
