"""Sensitivities for tests: tables as the engine writes them, of plantings that nobody played."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.utils import timezone

from engine.arrays import pack
from engine.config.sensitivity import SensitivityConfig
from engine.games.herobattle.spec import game_spec
from engine.lineups.rules import compile_rules
from engine.problem import Evaluation
from engine.sensitivity.course import PlantingCourse
from engine.sensitivity.plan import planned
from engine.sensitivity.table import tabled
from webapp.lib.storage import store
from webapp.studies.models import Job, Status


def table(config: SensitivityConfig, found: dict[tuple[str, float], int], *, beside: bool = False) -> str:
    """The table of a sensitivity that found so many of each kind and size, in the store; ``beside``: in two plantings a
    horn was confirmed, which is fair, and a duke, which is not."""
    spec = game_spec()
    course = PlantingCourse(config, planned(config, compile_rules(spec, config.pairings)))
    horn, duke = (spec.piece_index()[name] for name in ("warhorn", "marrow-duke"))
    course.ask(10**6)
    hit = {cell: 0 for cell in config.cells}
    for planting in course.plantings:
        cell = (planting.kind, 100 * planting.size)
        told = []
        if hit[cell] < found.get(cell, 0):
            pair = (*planting.pieces[:2], -1)[:2]
            told.append((*pair, 1, planting.sign))
            hit[cell] += 1
        if beside and planting.number < 2 and not {horn, duke} & set(planting.pieces):
            told += [(horn, -1, 1, 1), (duke, -1, 1, 1)]
        course.tell(_answer(planting.number, planting.target, told))
    for request in course.ask(10**6):
        course.tell(_answer(request.id, 0.07 if request.genome[0] == duke else 0.001, []))
    return store().put(pack(*tabled(course, spec)))


def _answer(number: int, effect: float, told: list[tuple[int, ...]]) -> Evaluation:
    metrics = np.array([effect, effect - 0.01, effect + 0.01, 0.2, -1.0, np.nan, number == 1, 500])
    values = np.array(told, float).reshape(-1, 4)
    return Evaluation(number, metrics[:1], np.zeros((1, 1)), 1, metrics, cost=1000, values=values)


def over(job: Job, found: dict[tuple[str, float], int], **more: Any) -> Job:
    """A sensitivity that is over, and found so many of each kind and size."""
    config = SensitivityConfig.model_validate(job.config)
    counters = {"battles": config.most // 2, "seconds": 300.0, "evaluations": config.many}
    Job.objects.filter(pk=job.pk).update(
        status=Status.FINISHED, artifacts={"table": table(config, found, **more)}, tick=config.many,
        ticks=config.many, counters=counters, finished_at=timezone.now(),
    )  # fmt: skip
    return Job.objects.get(pk=job.pk)
