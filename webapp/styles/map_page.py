"""What the style map on a job's page shows: the chart's numbers, and the table that says the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from django.http import QueryDict

from engine.errors import StoreError
from engine.styles.strangers import Moved
from webapp.agents import data
from webapp.lib.digits import whole
from webapp.studies.models import Job
from webapp.styles import control as controls
from webapp.styles import course, evidence
from webapp.styles.map_agents import Agents, agents_of
from webapp.styles.map_asked import MapQuery, asked
from webapp.styles.map_form import BAND, EDGE
from webapp.styles.map_genes import genes_of, titles
from webapp.styles.map_strangers import held, met
from webapp.styles.map_words import CellText, MeasureAxis, axes, cell_of


class AgentRow(NamedTuple):
    """An agent in the table. ``picked``: its place among those that were picked, from 1; 0: it was not. ``held``: how
    far its style shifts against strangers; None where it met none."""

    agent: int
    tick: int
    edge: bool
    able: bool
    picked: int
    cells: list[CellText]
    genes: list[str]
    held: Moved | None


class Holds(NamedTuple):
    """``met``: strangers, by what they are called; of ``judged`` agents ``fragile`` do not hold their style there, and
    of ``unsure`` nobody can tell yet."""

    met: tuple[str, ...]
    fragile: int
    judged: int
    unsure: int


class Map(NamedTuple):
    """``key`` names its state: equal key, equal map. ``drawn``: numbers for the chart."""

    key: str
    rows: list[AgentRow]
    axes: list[MeasureAxis]
    genes: list[str]
    trained: int
    edge: int
    able: int
    samples: int
    tied: bool
    control: bool
    picked: int
    strangers: Holds
    drawn: dict[str, Any]


def key(job: Job) -> str:
    """The state of a job's agents."""
    control = controls.of(job)
    arrived = str(job.artifacts.get("arrived", ""))[:12]
    return f"{job.pk}-{job.tick}-{arrived}-{job.status}-{f'{control.pk}-{control.tick}' if control else 'none'}"


def context(job: Job, given: QueryDict) -> dict[str, Any]:
    """What the map's template needs beside what every job's page has; ``given``: what the address asks for."""
    form, wanted = asked(given)
    control = controls.of(job)
    found, lost = None, ""
    try:
        agents = agents_of(job)
        found = map_of(job, agents, wanted, control) if agents is not None else None
    except StoreError as error:
        lost = str(error)
    known, game = axes(job.config), job.config["task"]["game"]
    newest = data.version_of(game["name"], job.project)
    return {
        "map_form": form, "map": found, "map_lost": lost, "map_key": key(job), "asked": wanted, "control": control,
        "map_axes": list(known.values()), "now": course.now(job),
        "newer_data": newest if data.differs(game, newest) else None,
        "ticked": [each for text in given.getlist("ticked") if (each := whole(text)) is not None],
        "map_goals": [aim["measure"] for aim in job.config["objectives"]],
    }  # fmt: skip


def map_of(job: Job, agents: Agents, wanted: MapQuery, control: Job | None) -> Map:
    """The map of these agents, and the population of the control beside it. Raises StoreError."""
    known, able = list(axes(job.config).values()), agents.band(wanted.within)
    picked = agents.pick(wanted.within, wanted.k).rows.tolist() if wanted.picks else []
    beside = agents_of(control) if control is not None else None
    shown = {BAND: able, EDGE: agents.edge}.get(wanted.show, np.ones(len(agents.id), np.bool_))
    order = sorted(np.flatnonzero(shown).tolist(), key=lambda row: -float(agents.score.mean[row]))
    order = [*(row for row in picked if shown[row]), *(row for row in order if row not in picked)]
    last, strangers = evidence.of(job), met(job)
    holds = {row: held(agents, row, strangers) for row in range(len(agents.id))}
    rows = [_row(job, agents, row, known, able, picked)._replace(held=holds[row]) for row in order]
    told = drawn(agents, order, known, able, picked, beside)
    return Map(
        key(job), rows, known, titles(job.config, agents.paths), len(agents.id), int(agents.edge.sum()),
        int(able.sum()), agents.samples, last is not None and last.tied, beside is not None, len(picked),
        _holds(tuple(strangers.others), list(holds.values())),
        {**told, "held": [found.verdict if (found := holds[row]) is not None else None for row in order]},
    )  # fmt: skip


def _holds(names: tuple[str, ...], found: list[Moved | None]) -> Holds:
    judged = [each for each in found if each is not None]
    told = [each.verdict for each in judged]
    return Holds(names, told.count("fragile"), len(judged), told.count("open"))


def _row(job: Job, agents: Agents, row: int, known: list[MeasureAxis], able: Any, picked: list[int]) -> AgentRow:
    place = picked.index(row) + 1 if row in picked else 0
    genes = [gene.words for gene in genes_of(job.config, agents.paths, agents.genes[row].tolist())]
    cells = [cell_of(agents, row, axis) for axis in known]
    return AgentRow(
        int(agents.id[row]), int(agents.tick[row]), bool(agents.edge[row]), bool(able[row]), place, cells, genes, None
    )


def drawn(
    agents: Agents, order: list[int], known: list[MeasureAxis], able: Any, picked: list[int], beside: Agents | None
) -> dict[str, Any]:
    """What the chart draws: the rows of the table in its order, and the latest population of the control."""
    values = {axis.name: _column(agents, axis.name, order) for axis in known}
    found = {
        "agents": agents.id[order].tolist(), "edge": agents.edge[order].tolist(), "able": able[order].tolist(),
        "picked": [picked.index(row) + 1 if row in picked else 0 for row in order], "values": values,
        "axes": {axis.name: axis._asdict() for axis in known},
    }  # fmt: skip
    if beside is not None:
        last = np.flatnonzero(beside.last).tolist()
        found["control"] = {axis.name: _column(beside, axis.name, last)["mean"] for axis in known}
    return found


def _column(agents: Agents, name: str, order: list[int]) -> dict[str, list[float]]:
    measured = agents.measures[name]
    return {part: getattr(measured, part)[order].tolist() for part in ("mean", "low", "high")}
