"""What the style map on a job's page shows: the chart's numbers, and the table that says the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from django.http import QueryDict

from engine.errors import StoreError
from engine.styles.strangers import Moved
from webapp.agents import data
from webapp.studies.models import Job
from webapp.styles import control as controls
from webapp.styles import few_episodes
from webapp.styles.map_agents import Agents, agents_of
from webapp.styles.map_asked import MapQuery, asked
from webapp.styles.map_form import BAND, EDGE
from webapp.styles.map_genes import genes_of, titles
from webapp.styles.map_strangers import Met, held, met
from webapp.styles.map_words import CellText, MeasureAxis, axes, cell_of
from webapp.styles.ties import tied

ROWS = 200
"""Agents on a page of the table."""
ALONG = ("name", "title", "low", "high", "share")
DIGITS = 6
"""Decimals of the ends that the chart draws."""


class AgentRow(NamedTuple):
    """An agent in the table. ``picked``: its place among those that were picked, from 1; 0: it was not. ``held``: how
    far its style shifts against strangers; None where it has not ``met`` any, or where all agents do the same."""

    agent: int
    tick: int
    edge: bool
    able: bool
    picked: int
    cells: list[CellText]
    genes: list[str]
    held: Moved | None
    met: bool


class Holds(NamedTuple):
    """``met``: strangers, by what they are called; of ``judged`` agents ``fragile`` do not hold their style there, and
    of ``unsure`` nobody can tell yet."""

    met: tuple[str, ...]
    fragile: int
    judged: int
    unsure: int


class Map(NamedTuple):
    """``key`` names its state: equal key, equal map. ``rows``: those of one ``page`` of ``pages``, of ``listed`` in
    all; ``drawn``: numbers for the chart, of all; ``close``: whose means alone are in the skill band; ``few``: what so
    few ``samples`` leave open, in sentences; ``tied``: of which agents none beats another; ``open_ended``: titles of
    measures without declared ends, whose ranges are no 95 % ranges."""

    key: str
    rows: list[AgentRow]
    axes: list[MeasureAxis]
    genes: list[str]
    trained: int
    edge: int
    able: int
    close: int
    samples: int
    few: str
    tied: str
    control: bool
    picked: int
    strangers: Holds
    drawn: dict[str, Any]
    page: int
    pages: int
    listed: int
    open_ended: list[str]

    @property
    def wide(self) -> bool:
        """Whether ranges are too wide for the skill band to sort out those whom their means would."""
        return self.able > self.close and (self.able == self.trained or self.able >= 2 * self.close)


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
        "compares": job.config["selection"] and controls.chose(job),
        "chosen_by": controls.chosen_by(job),
        "map_axes": list(known.values()),
        "newer_data": newest if data.differs(game, newest) else None,
        "ticked": wanted.ticked,
        "map_goals": [aim["measure"] for aim in job.config["objectives"]],
    }  # fmt: skip


def map_of(job: Job, agents: Agents, wanted: MapQuery, control: Job | None) -> Map:
    """The map of these agents, and the population of the control beside it. Raises StoreError."""
    known, able = list(axes(job.config).values()), agents.band(wanted.within)
    picked = agents.pick(wanted.within, wanted.k).rows.tolist() if wanted.picks else []
    beside = agents_of(control) if control is not None else None
    shown = {BAND: able, EDGE: agents.edge}.get(wanted.show, np.ones(len(agents.id), np.bool_))
    order = _ordered(agents, np.flatnonzero(shown).tolist(), picked, wanted)
    strangers = met(job)
    holds = _held(agents, strangers)
    pages = max(1, -(-len(order) // ROWS))
    page = min(wanted.page, pages)
    here = order[(page - 1) * ROWS : page * ROWS]
    rows = [_row(job, agents, row, known, able, picked)._replace(held=holds.get(row), met=row in holds) for row in here]
    drawing = drawn(agents, order, known, able, picked, beside)
    return Map(
        key(job), rows, known, titles(job.config, agents.paths), len(agents.id), int(agents.edge.sum()),
        int(able.sum()), _close(agents, wanted.within), agents.samples,
        few_episodes.words(agents.samples, agents.score.low, agents.score.high, wanted.within),
        tied(job),
        beside is not None, len(picked),
        _holds(tuple(strangers.others), list(holds.values())),
        {**drawing, "held": [found.verdict if (found := holds.get(row)) is not None else None for row in order]},
        page, pages, len(order), [axis.title for axis in known if not axis.declared],
    )  # fmt: skip


def _ordered(agents: Agents, rows: list[int], picked: list[int], wanted: MapQuery) -> list[int]:
    """Rows of the table: who was picked, then who is ticked, then the rest, each part as it is sorted."""
    by = agents.measures.get(wanted.sort, agents.score).mean
    place = {row: i for i, row in enumerate(picked)}
    ticked = set(wanted.ticked)
    return sorted(
        rows, key=lambda row: (place.get(row, len(place)), int(agents.id[row]) not in ticked, -float(by[row]))
    )


def _held(agents: Agents, strangers: Met) -> dict[int, Moved | None]:
    """How far styles shift, by row, of those who met anybody: few of many."""
    numbers = {number for each in strangers.others.values() for number in each.id.tolist()}
    return {row: held(agents, row, strangers) for row, n in enumerate(agents.id.tolist()) if n in numbers}


def _close(agents: Agents, within: float) -> int:
    """How many would be in the skill band if ranges had no width."""
    return int((agents.score.mean >= agents.score.mean.max() - within).sum())


def _holds(names: tuple[str, ...], found: list[Moved | None]) -> Holds:
    judged = [each for each in found if each is not None]
    verdicts = [each.verdict for each in judged]
    return Holds(names, verdicts.count("fragile"), len(judged), verdicts.count("open"))


def _row(job: Job, agents: Agents, row: int, known: list[MeasureAxis], able: Any, picked: list[int]) -> AgentRow:
    place = picked.index(row) + 1 if row in picked else 0
    genes = [gene.words for gene in genes_of(job.config, agents.paths, agents.genes[row].tolist())]
    cells = [cell_of(agents, row, axis) for axis in known]
    return AgentRow(
        int(agents.id[row]),
        int(agents.tick[row]),
        bool(agents.edge[row]),
        bool(able[row]),
        place,
        cells,
        genes,
        None,
        False,
    )


def drawn(
    agents: Agents, order: list[int], known: list[MeasureAxis], able: Any, picked: list[int], beside: Agents | None
) -> dict[str, Any]:
    """What the chart draws: the rows of the table in its order, and the latest population of the control."""
    values = {axis.name: _column(agents, axis, order) for axis in known}
    found = {
        "agents": agents.id[order].tolist(), "edge": agents.edge[order].tolist(), "able": able[order].tolist(),
        "picked": [picked.index(row) + 1 if row in picked else 0 for row in order], "values": values,
        "episodes": agents.samples,
        "axes": {axis.name: {part: getattr(axis, part) for part in ALONG} for axis in known},
    }  # fmt: skip
    if beside is not None:
        last = np.flatnonzero(beside.last).tolist()
        found["control"] = {axis.name: _column(beside, axis, last)["mean"] for axis in known}
    return found


def _column(agents: Agents, axis: MeasureAxis, order: list[int]) -> dict[str, list[float]]:
    measured = agents.measures[axis.name]
    ends = {part: np.clip(getattr(measured, part), *axis.reach) for part in ("low", "high")}
    unknown = ~np.isfinite(measured.high - measured.low)
    parts = {"mean": measured.mean, **{part: np.where(unknown, np.nan, each) for part, each in ends.items()}}
    return {part: (each if part == "mean" else np.round(each, DIGITS))[order].tolist() for part, each in parts.items()}
