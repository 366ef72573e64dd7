"""Every agent that a search for styles has trained so far, as its style map shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, stacked, unpack
from engine.errors import StoreError
from engine.indicators import non_dominated
from engine.styles.agents import Files, files_of
from engine.styles.selection import Picked, diverse, in_band
from webapp.lib.storage import store
from webapp.studies.explore_source import last_of_each
from webapp.studies.models import Job
from webapp.training.cut_off import NETWORKS

SCORE = "score"
NOT_KEPT = "The numbers of agent {} were not kept: of so many, those of some rounds only stay in the store."
CUT_OFF = "Agent {} can be neither watched nor kept: its search ended abruptly, before the round was complete."
JUST_BACK = "Agent {} has just been trained. Once its round is complete it can be watched, kept and bred on from."

Floats = NDArray[np.float64]


class Estimates(NamedTuple):
    """A measure of all agents: means float64[n] and the ends of their 95 % ranges (infinite: unknown)."""

    mean: Floats
    low: Floats
    high: Floats

    def ends(self, row: int) -> tuple[float, float] | None:
        """The range of one agent; None where it is unknown."""
        low, high = float(self.low[row]), float(self.high[row])
        return (low, high) if np.isfinite(high - low) else None


class Agents(NamedTuple):
    """A row for each agent by its ``id``, which is its number on pages, too. ``tick``: the round that trained it;
    ``edge``: no other is better in one goal and as good in all; ``last``: it belongs to the latest population.
    ``measures`` by name: goals, score and behaviour; ``genes`` float64[n, genes]; ``ways`` float64[n, episodes,
    behaviour]: what was done in each episode, NaN or None where that was not kept."""

    id: NDArray[np.int64]
    tick: NDArray[np.int64]
    edge: NDArray[np.bool_]
    last: NDArray[np.bool_]
    goals: tuple[str, ...]
    behaviour: tuple[str, ...]
    measures: dict[str, Estimates]
    measured: tuple[str, ...]
    paths: tuple[str, ...]
    genes: Floats
    samples: int
    ways: Floats | None = None

    @property
    def score(self) -> Estimates:
        """Normalised."""
        return self.measures[SCORE]

    def row(self, agent: int) -> int | None:
        """Of the agent with this number; None where there is none."""
        rows = np.flatnonzero(self.id == agent)
        return int(rows[0]) if len(rows) else None

    def settings(self, row: int) -> dict[str, float]:
        """The settings that one agent has of its own, by their places."""
        return dict(zip(self.paths, self.genes[row].tolist(), strict=True))

    def band(self, within: float) -> NDArray[np.bool_]:
        """Whose skill may be within so much of the best score."""
        return in_band(self.score.mean, self.score.high, within)

    @property
    def spans(self) -> dict[str, float]:
        """How far apart all agents lie in each behaviour."""
        means = {name: self.measures[name].mean for name in self.behaviour}
        return {name: float(np.ptp(each[np.isfinite(each)])) if np.isfinite(each).any() else 0.0
                for name, each in means.items()}  # fmt: skip

    def pick(self, within: float, k: int) -> Picked:
        """Up to ``k`` of them that differ most in what they do."""
        points = np.stack([self.measures[name].mean for name in self.behaviour], axis=1)
        return diverse(points, self.score.mean, self.id, self.band(within), k)


def agents_of(job: Job) -> Agents | None:
    """All of a job's agents by their numbers; None while none has been measured. Raises StoreError."""
    bundle = _everybody(job)
    return None if bundle is None else agents_in(bundle, job)


def agents_in(bundle: Bundle, job: Job) -> Agents | None:
    """Those of an artifact of the job that could be measured; None where there are none."""
    good = (bundle.arrays["status"] == 0) & np.isfinite(bundle.arrays["objective"]).all(axis=1)
    if not good.any():
        return None
    return _read({name: column[good] for name, column in bundle.arrays.items()}, bundle.meta, job)


def _everybody(job: Job) -> Bundle | None:
    if digest := str(job.artifacts.get("archive", "")):
        return unpack(store().get(digest))
    digests = [*of_rounds(job, "chunk"), str(job.artifacts.get("arrived", ""))]
    bundles = [unpack(store().get(digest)) for digest in digests if digest]
    if not bundles:
        return None
    names = bundles[0].arrays.keys()
    columns = {name: stacked([bundle.arrays[name] for bundle in bundles]) for name in names}
    return Bundle(bundles[-1].meta, last_of_each(columns))


def of_rounds(job: Job, role: str) -> list[str]:
    """What each round left in a role, the first round first."""
    bodies = job.events.filter(kind="progressed").order_by("tick").values_list(f"body__artifacts__{role}", flat=True)
    return [str(digest) for digest in bodies if digest]


def _latest(job: Job, role: str) -> str:
    """What the job, or else its latest round, left in a role; empty where there is none."""
    return str(job.artifacts.get(role, "")) or next(reversed(of_rounds(job, role)), "")


def _read(arrays: dict[str, NDArray[Any]], meta: dict[str, Any], job: Job) -> Agents:
    signs = [1.0 if direction == "max" else -1.0 for direction in meta["directions"]]
    goals, behaviour = tuple(meta["objectives"]), tuple(meta["behaviour"])
    places = {name: i for i, name in enumerate(meta["measures"])}

    def column(name: str) -> Floats:
        return np.asarray(arrays["measure"][:, places[name]], np.float64)

    measures = {
        name: Estimates(column(name), column(f"{name}.low"), column(f"{name}.high")) for name in (SCORE, *behaviour)
    }
    cut = {aim["measure"] for aim in job.config["objectives"] if {aim.get("low"), aim.get("high")} != {None}}
    own = {
        name: Estimates(*(arrays[part][:, j] for part in ("objective", "low", "high")))
        for j, name in enumerate(goals)
        if name not in measures or name in cut  # others are such a measure, whose range knows between what it lies
    }
    population = _ids(_latest(job, "population"))
    return Agents(
        arrays["id"], arrays["tick"], _edge(arrays["objective"], signs), np.isin(arrays["id"], population),
        goals, behaviour, measures | own, tuple(name for name in places if not name.endswith((".low", ".high"))),
        tuple(gene["path"] for gene in meta["genes"]), arrays["genome"], int(arrays["samples"].max()),
        arrays.get("ways"),
    )  # fmt: skip


def _edge(goals: Floats, signs: Sequence[float]) -> NDArray[np.bool_]:
    """Whom nobody beats bool[n], equals of one another included."""
    equals = np.unique(goals, axis=0, return_inverse=True)[1].ravel()
    return np.isin(equals, equals[non_dominated(goals, signs)])


def _ids(digest: str) -> NDArray[np.int64]:
    return np.asarray(unpack(store().get(digest)).arrays["id"] if digest else [], np.int64)


def parents_of(job: Job) -> dict[int, tuple[int, int]]:
    """Mother (whose network it went on with where ``networks`` is ``best``) and father of each agent that was bred, by
    number. Raises StoreError."""
    digest = _latest(job, "parents")
    if not digest:
        return {}
    columns = unpack(store().get(digest)).arrays
    rows = zip(*(columns[name].tolist() for name in ("child", "mother", "father")), strict=True)
    return {child: (mother, father) for child, mother, father in rows}


def files(job: Job, agent: int, tick: int) -> Files:
    """The policy of an agent that was trained in a round. Raises StoreError with a sentence where it is not there."""
    digest = _in_store(job, tick)
    found = files_of(store().get(digest), agent) if digest else None
    if found is not None:
        return found
    missing = NOT_KEPT if tick <= job.tick else JUST_BACK if job.active else CUT_OFF
    raise StoreError(missing.format(agent))


def _in_store(job: Job, tick: int) -> str:
    """What a round left of its agents. Of the one that a pause or a stop cut off, what the job itself has; while it
    goes on, the same numbers may be given again."""
    if tick > job.tick:
        return "" if job.active else str(job.artifacts.get(NETWORKS, ""))
    bodies = job.events.filter(kind="progressed", tick=tick).values_list("body__artifacts__agents", flat=True)
    return next((str(each) for each in bodies if each), "")
