"""What is known of all agents of a search, by fresh episodes where somebody was measured on such: at the end of the
search, or since it was kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from django.db.models import Prefetch

from webapp.agents.captions import Figures
from webapp.agents.models import Measurement
from webapp.studies.models import Job
from webapp.styles.map_agents import SCORE, Agents, Estimates
from webapp.training.games import DATA


class Fresh(NamedTuple):
    """An agent, by its number, on so many fresh ``episodes``: mean and ends of the 95 % range of each measure."""

    agent: int
    episodes: int
    measures: Mapping[str, tuple[float, ...]]


def freshest(job: Job, agents: Agents, again: Agents | None) -> Agents:
    """The agents, each by the most fresh episodes it was measured on, and by those of all where there are no fresh
    ones, or these leave a range unknown; ``again``: those that the search measured on fresh episodes."""
    names = (SCORE, *agents.behaviour)
    found = {name: Estimates(*(part.copy() for part in agents.measures[name])) for name in names}
    for fresh in sorted((*_of_search(again), *_of_kept(job)), key=lambda each: each.episodes):
        row = agents.row(fresh.agent)
        for name, known in fresh.measures.items():
            if row is not None and name in found and all(map(isfinite, known)):
                for part, value in zip(found[name], known, strict=True):
                    part[row] = value
    return agents._replace(measures={**agents.measures, **found})


def _of_search(again: Agents | None) -> Iterator[Fresh]:
    if again is None:
        return
    for row, number in enumerate(again.id.tolist()):
        known = {
            name: (float(m.mean[row]), float(m.low[row]), float(m.high[row])) for name, m in again.measures.items()
        }
        yield Fresh(number, again.samples, known)


def _of_kept(job: Job) -> Iterator[Fresh]:
    """The latest measurement of each kept agent, on the numbers that it was bred on."""
    measurements = Prefetch("measurements", Measurement.objects.select_related("job"))
    for agent in job.agents.kept().prefetch_related(measurements):
        measured, number = agent.measured, agent.origin.get("agent")
        figures = Figures.of(measured)
        if number is None or measured is None or figures is None:
            continue
        if _data(measured.config["game"]) == _data(job.config["task"]["game"]):
            known = {
                m.name: (m.mean, m.low, m.high) for m in figures.measures if m.low is not None and m.high is not None
            }
            yield Fresh(int(number), int(figures.meta.get("episodes", 0)), known)


def _data(game: Mapping[str, Any]) -> list[str]:
    """The numbers of a project that a game was played on."""
    return list(game.get("settings", {}).get(DATA, []))
