"""Whether agents of a style map hold their style against opponents that nobody learned against."""

from __future__ import annotations

from typing import NamedTuple

from engine.arrays import unpack
from engine.catalog import PLAYERS
from engine.styles.strangers import Moved, moved, strangers_of
from webapp.lib.storage import store
from webapp.studies.models import Job
from webapp.styles.map_agents import SCORE, Agents, agents_in
from webapp.styles.map_words import UNKNOWN, Axis, Cell, cell_of

ROLE = "against/"


class Met(NamedTuple):
    """What is known of a job's agents: ``own``, those of the edge on fresh episodes against the usual opponent (None:
    they were not measured again); ``others``, everybody who stayed against each stranger, by what it is called."""

    own: Agents | None
    others: dict[str, Agents]


class Against(NamedTuple):
    """One agent against one stranger: its measures in words, in the order of ``names``."""

    opponent: str
    cells: list[Cell]


def met(job: Job) -> Met:
    """All measurements against strangers. Raises StoreError where some are lost."""
    names = strangers_of(job.config["task"]["game"]["name"])
    found = {PLAYERS[name].label: _left(job, f"{ROLE}{name}") for name in names}
    return Met(_left(job, "fresh"), {title: agents for title, agents in found.items() if agents is not None})


def _left(job: Job, role: str) -> Agents | None:
    digest = str(job.artifacts.get(role, ""))
    return agents_in(unpack(store().get(digest)), job) if digest else None


def held(job: Job, agents: Agents, row: int, known: Met) -> Moved | None:
    """How far the style of the agent in this row shifts at most; None where nobody knows. On the same seeds where it
    was measured on fresh episodes."""
    number = int(agents.id[row])
    rows = {title: (each, at) for title, each in known.others.items() if (at := each.row(number)) is not None}
    own, here = (known.own, known.own.row(number)) if known.own is not None else (None, None)
    mine = _means(agents, row) if own is None or here is None else _means(own, here)
    others = {title: _means(each, at) for title, (each, at) in rows.items()}
    return moved(mine, others, agents.behaviour, job.config["task"]["game"]["name"])


def _means(agents: Agents, row: int) -> dict[str, float]:
    return {name: float(agents.measures[name].mean[row]) for name in agents.behaviour}


def shown(agents: Agents) -> tuple[str, ...]:
    """Measures that tell how an agent does against strangers."""
    return (*agents.behaviour, SCORE)


def against(known: Met, number: int, axes: dict[str, Axis]) -> list[Against]:
    """The agent with this number against each stranger: its style and its score."""
    found = []
    for title, agents in known.others.items():
        row = agents.row(number)
        if row is not None:
            told = [axes[name] for name in axes if name in shown(agents)]
            found.append(Against(title, [cell_of(agents, row, axis) for axis in told]))
    return found


def in_words(cell: Cell) -> str:
    """A value with its range."""
    return f"{cell.value} ({cell.ends or UNKNOWN})"
