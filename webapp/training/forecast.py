"""How long a search for settings will take: the pace of a trial of one of its trainings, times all there is to do."""

from __future__ import annotations

from math import ceil, sqrt
from typing import NamedTuple

from engine.config import EvolveConfig, TaskConfig, TrainConfig, parse
from engine.config.first_rounds import FASTER, SLOWER
from engine.config.genes import Gene, express, genes
from engine.config.whole_updates import learned
from engine.errors import ConfigError
from webapp.lib.words import duration, number, plural, when
from webapp.projects.models import Project
from webapp.studies.estimates import Estimate
from webapp.studies.models import Job, Status
from webapp.studies.took import took
from webapp.training import trials
from webapp.training.learned import whole_batches
from webapp.training.trials import UNSETTLED, MoveTime

START_S = 15.0
"""Seconds before the first player learns: workers come up and load the game."""
MOST_EARLIER = 3
"""Searches from whose time that of another is reckoned."""
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


def estimate(
    study: EvolveConfig, trial: Job | None, longest: int, project: Project, noun: str = "player"
) -> Estimate | None:
    """How long it takes, by earlier searches of the project in the same game, else by the trial alone; None while
    nothing is known. ``longest``: decisions of the game's longest episode, or 0; ``noun``: what those who learn are
    called."""
    pace, task = trials.pace_of(trial), middle(study)
    if pace is None or trial is None or task is None:
        return None
    steps, lengths = learned(task), _lengths(trial, longest)
    low, high = (_seconds(study, steps, pace, length) for length in lengths)
    players, workers = study.algorithm.population, study.pool.workers
    least, most = START_S + FASTER * low, START_S + SLOWER * high
    earlier = _earlier(study, pace, lengths, project)
    if earlier:
        said = START_S + low, START_S + high
        likely = [ratio * seconds for each in earlier for ratio, seconds in zip(each.ratios, said, strict=True)]
        least, most = 0.9 * min(likely), 1.1 * max(likely)
    for rule in study.stop:
        if rule.kind == "minutes":
            least, most = (min(seconds, START_S + 60 * rule.most) for seconds in (least, most))
    note = (
        f"{plural(players, noun)} × {plural(study.ticks, 'round')} × {number(steps)} decisions on "
        f"{plural(workers, 'worker')}, and {number(study.episodes)} episodes to measure each. On one processor "
        f"{trials.speed_words(pace)} decisions a second were learned from when that was tried, "
        f"{when(trial.finished_at or trial.created_at)}."
    )
    if earlier:
        note += f" The last search in this game took {duration(earlier[0].seconds)}; this one is reckoned from it."
    if whole := whole_batches(study.task, f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"):
        note += f" {whole}"
    if study.noise.used:
        note += " What is measured again comes on top."
    return Estimate(least, most, note, 1 / (pace.playing + pace.learning))


class EarlierSearch(NamedTuple):
    """How long a search took, and how many times as long as the pace says of it, for each length of an episode."""

    seconds: float
    ratios: list[float]


def _earlier(
    study: EvolveConfig, pace: MoveTime, lengths: tuple[float, float], project: Project
) -> list[EarlierSearch]:  # fmt: skip
    """The newest searches of this kind in the same game and by the same way of learning, three at most, that ended by
    themselves."""
    same = {"config__task__game__name": study.task.game.name, "config__task__learner__kind": study.task.learner.kind}
    done = project.jobs.filter(kind=study.kind, status=Status.FINISHED, counters__seconds__gt=0, **same)
    found = []
    for job in done.order_by("-pk")[:MOST_EARLIER]:
        try:
            config = parse(type(study), job.config)
        except ConfigError:  # of an earlier version of the engine
            continue
        task, seconds = middle(config), took(job) or float(job.counters["seconds"])
        if task is not None and not config.stop:
            said = [START_S + _seconds(config, learned(task), pace, length) for length in lengths]
            found.append(EarlierSearch(seconds, [seconds / each for each in said]))
    return found


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
