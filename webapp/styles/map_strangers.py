"""Whether agents of a style map hold their style against opponents that nobody learned against."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.arrays import Bundle, stacked, unpack
from engine.catalog import PLAYERS, declared_ends
from engine.styles.strangers import ERROR, Mean, Moved, Shift, moved, paired, shifts_of_means
from webapp.lib.first import first
from webapp.lib.storage import store
from webapp.studies.explore_source import last_of_each
from webapp.studies.models import Job
from webapp.styles.map_agents import SCORE, Agents, Floats, agents_in
from webapp.styles.map_words import UNKNOWN, CellText, MeasureAxis, cell_of

ROLE, FRESH = "against/", ("fresh", "fresh_population")
SEARCHES = 16
"""So many searches have their shifts kept in memory: artifacts do not change, and ranges take a while."""
_SHIFTS: dict[tuple[str, ...], dict[int, list[Shift]]] = {}


class Met(NamedTuple):
    """What is known of a job's agents: ``own``, those who stayed on fresh episodes against the usual opponent (None:
    they were not measured again; of searches of earlier versions, those of the edge alone); ``others``, everybody who
    stayed against each stranger, by what it is called; ``shifts``, how far each agent's style shifts there, by number,
    where every episode was kept; ``game``: as studies call it."""

    own: Agents | None
    others: dict[str, Agents]
    shifts: dict[int, list[Shift]]
    game: str


class Against(NamedTuple):
    """One agent against one stranger: its measures in words, in the order of ``names``."""

    opponent: str
    cells: list[CellText]


def met(job: Job) -> Met:
    """All measurements against strangers. Raises StoreError where some are lost."""
    game = job.config["task"]["game"]["name"]
    own = tuple(digest for role in FRESH if (digest := str(job.artifacts.get(role, ""))))
    away = [(entry.label, str(job.artifacts.get(f"{ROLE}{name}", ""))) for name, entry in PLAYERS.items()]
    whole = _left(job, *own)
    found = {title: agents for title, digest in away if digest and (agents := _left(job, digest)) is not None}
    if whole is None or not found:
        return Met(whole, found, {}, game)
    key = (game, *own, *(digest for _, digest in away))
    if (shifts := _SHIFTS.get(key)) is None:
        shifts = _SHIFTS[key] = _every_shift(whole, found, declared_ends(game))
        while len(_SHIFTS) > SEARCHES:
            _SHIFTS.pop(first(_SHIFTS), None)
    return Met(whole, found, shifts, game)


def _left(job: Job, *digests: str) -> Agents | None:
    """Those in some artifacts, each agent once."""
    bundles = [unpack(store().get(digest)) for digest in digests]
    if not bundles:
        return None
    names = set.intersection(*(set(bundle.arrays) for bundle in bundles))
    columns = {
        name: stacked([bundle.arrays[name] for bundle in bundles]) for name in bundles[0].arrays if name in names
    }
    return agents_in(Bundle(bundles[0].meta, last_of_each(columns)), job)


def _every_shift(
    own: Agents, others: dict[str, Agents], ends: dict[str, tuple[float, float]]
) -> dict[int, list[Shift]]:
    """By number, of those whose every episode was kept, against the usual opponent and against all of ``others``."""
    found, error = dict[int, list[Shift]](), ERROR / max(1, len(own.behaviour) * len(others))
    for row, number in enumerate(own.id.tolist()):
        here, away = _episodes(own, row), {title: _episodes(each, each.row(number)) for title, each in others.items()}
        pairs = {title: there - here for title, there in away.items() if there.shape == here.shape}
        if here.size and len(pairs) == len(others):
            found[number] = [
                paired(name, title, change[:, k], ends.get(name), error)
                for title, change in pairs.items()
                for k, name in enumerate(own.behaviour)
            ]
    return found


def _episodes(agents: Agents, row: int | None) -> Floats:
    """What an agent did in each of its episodes [episodes, behaviour]; empty where that was not kept."""
    if row is None or agents.ways is None:
        return np.empty((0, 0))
    found = agents.ways[row]
    return found[~np.isnan(found).all(axis=1)]


def held(agents: Agents, row: int, known: Met) -> Moved | None:
    """What is known of how far the style of the agent in this row shifts; None where it met nobody. By the differences
    between episodes on the same seeds; by means and their ranges, which tell less, where it was not measured on fresh
    episodes, or by a version that kept no single ones."""
    number = int(agents.id[row])
    if shifts := known.shifts.get(number):
        return moved([each for each in shifts if np.isfinite(each.mean)], agents.spans, agents.samples)
    rows = {title: (each, at) for title, each in known.others.items() if (at := each.row(number)) is not None}
    if not rows:
        return None
    here = None if known.own is None else known.own.row(number)
    usual, at = (agents, row) if known.own is None or here is None else (known.own, here)
    others = {title: _means(each, place) for title, (each, place) in rows.items()}
    episodes = min([usual.samples, *(each.samples for each, _ in rows.values())])
    declared = declared_ends(known.game)
    shifts = shifts_of_means(_means(usual, at), others, agents.behaviour, episodes, declared)
    return moved(shifts, agents.spans, agents.samples)


def _means(agents: Agents, row: int) -> dict[str, Mean]:
    estimates = {name: agents.measures[name] for name in agents.behaviour}
    return {name: Mean(*(float(part[row]) for part in each)) for name, each in estimates.items()}


def shown(agents: Agents) -> tuple[str, ...]:
    """Measures that tell how an agent does against strangers."""
    return (*agents.behaviour, SCORE)


def against(known: Met, number: int, axes: dict[str, MeasureAxis]) -> list[Against]:
    """The agent with this number against each stranger: its style and its score."""
    found = []
    for title, agents in known.others.items():
        row = agents.row(number)
        if row is not None:
            measured = [axes[name] for name in axes if name in shown(agents)]
            found.append(Against(title, [cell_of(agents, row, axis) for axis in measured]))
    return found


def in_words(cell: CellText) -> str:
    """A value with its range."""
    return f"{cell.value} ({cell.ends or UNKNOWN})"
