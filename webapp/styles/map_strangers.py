"""Whether agents of a style map hold their style against opponents that nobody learned against."""

from __future__ import annotations

from typing import NamedTuple

from engine.arrays import unpack
from engine.catalog import PLAYERS
from engine.styles.strangers import Mean, Moved, moved, shifts, strangers_of
from webapp.lib.storage import store
from webapp.studies.models import Job
from webapp.styles.map_agents import SCORE, Agents, agents_in
from webapp.styles.map_words import UNKNOWN, CellText, MeasureAxis, cell_of

ROLE, FRESH = "against/", "fresh_population"


class Met(NamedTuple):
    """What is known of a job's agents: ``own``, those who stayed on fresh episodes against the usual opponent (None:
    they were not measured again; of searches of earlier versions, those of the edge); ``others``, everybody who stayed
    against each stranger, by what it is called."""

    own: Agents | None
    others: dict[str, Agents]


class Against(NamedTuple):
    """One agent against one stranger: its measures in words, in the order of ``names``."""

    opponent: str
    cells: list[CellText]


def met(job: Job) -> Met:
    """All measurements against strangers. Raises StoreError where some are lost."""
    names = strangers_of(job.config["task"]["game"]["name"])
    found = {PLAYERS[name].label: _left(job, f"{ROLE}{name}") for name in names}
    return Met(
        _left(job, FRESH) or _left(job, "fresh"),
        {title: agents for title, agents in found.items() if agents is not None},
    )


def _left(job: Job, role: str) -> Agents | None:
    digest = str(job.artifacts.get(role, ""))
    return agents_in(unpack(store().get(digest)), job) if digest else None


def held(agents: Agents, row: int, known: Met) -> Moved | None:
    """What is known of how far the style of the agent in this row shifts; None where it met nobody. On the same seeds
    where it was measured on fresh episodes."""
    number = int(agents.id[row])
    rows = {title: (each, at) for title, each in known.others.items() if (at := each.row(number)) is not None}
    here = None if known.own is None else known.own.row(number)
    usual, at = (agents, row) if known.own is None or here is None else (known.own, here)
    others = {title: _means(each, place) for title, (each, place) in rows.items()}
    episodes = min([usual.samples, *(each.samples for each, _ in rows.values())])
    return moved(shifts(_means(usual, at), others, agents.behaviour, episodes), agents.spans)


def _means(agents: Agents, row: int) -> dict[str, Mean]:
    told = {name: agents.measures[name] for name in agents.behaviour}
    return {name: Mean(*(float(part[row]) for part in each)) for name, each in told.items()}


def shown(agents: Agents) -> tuple[str, ...]:
    """Measures that tell how an agent does against strangers."""
    return (*agents.behaviour, SCORE)


def against(known: Met, number: int, axes: dict[str, MeasureAxis]) -> list[Against]:
    """The agent with this number against each stranger: its style and its score."""
    found = []
    for title, agents in known.others.items():
        row = agents.row(number)
        if row is not None:
            told = [axes[name] for name in axes if name in shown(agents)]
            found.append(Against(title, [cell_of(agents, row, axis) for axis in told]))
    return found


def in_words(cell: CellText) -> str:
    """A value with its range."""
    return f"{cell.value} ({cell.ends or UNKNOWN})"
