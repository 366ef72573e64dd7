"""What a job has evaluated so far, read from the store: the archive once it has ended, every tick's chunk before."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.config.lineups import ObjectiveConfig, ObjectiveSetConfig
from engine.errors import StoreError
from engine.lineups.schema import spec_from_json
from engine.simulators.contract import GameSpec
from webapp.lib.storage import store
from webapp.studies.models import Job

BUILD = 2
"""Raise it when what is built from the same artifacts changes: browsers and the cache keep a build for good."""

ROLES = ("archive", "result", "sample")


class Evaluated(NamedTuple):
    """Every lineup a job evaluated, one row each, by rising id. ``best``: rows of the present front.
    ``left_out``: evaluated, but failed or against the project's "must hold" formulas."""

    columns: dict[str, NDArray[Any]]
    meta: dict[str, Any]
    best: NDArray[np.bool_]
    left_out: int


def objectives(job: Job) -> ObjectiveSetConfig:
    """What the job was told "imbalanced" means."""
    return ObjectiveSetConfig.model_validate(job.config["objectives"])


def signs(objectives: tuple[ObjectiveConfig, ...]) -> list[float]:
    """+1 for objectives to push up, -1 for those to push down."""
    return [1.0 if o.direction == "max" else -1.0 for o in objectives]


def strength_index(objectives: tuple[ObjectiveConfig, ...]) -> int | None:
    """Which objective says how strong the weakest team is."""
    return next((j for j, o in enumerate(objectives) if o.strength), None)


def spec(job: Job) -> GameSpec:
    """The game the job's genomes index, with the job's changes to its data. Raises StoreError when the simulator's
    description has changed since and the old one was not kept."""
    version = job.game_version
    if version is None or not version.simulator.spec:
        raise StoreError("The game of this job is no longer described. Test its simulator's handshake again.")
    return spec_from_json(version.simulator.spec).patched(job.config["game"].get("patch", {}))


def rechecks(job: Job) -> list[Job]:
    """The re-checks of a search, oldest first."""
    return list(job.children.filter(kind=Job.Kind.RECHECK).order_by("pk"))


def replayed(job: Job) -> list[str]:
    """Hashes of everything that was played on fresh battles: by the search at its end (its edge, and the
    other elites of a map), and by re-checks."""
    searched = [job.artifacts.get(role) for role in ("fresh", "fresh_elites")]
    found = [*searched, *(child.artifacts.get("result") for child in rechecks(job))]
    return [digest for digest in found if digest]


def key(job: Job) -> str:
    """Names the present state of what was evaluated: equal key, equal rows and equal numbers."""
    artifact = next((job.artifacts[role] for role in ROLES if role in job.artifacts), f"tick {job.tick}")
    version = job.game_version.content_hash if job.game_version else ""
    parts = [BUILD, job.pk, artifact, job.artifacts.get("front", ""), replayed(job), version, job.config["objectives"]]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def evaluated(job: Job) -> Evaluated | None:
    """Everything the job evaluated; None while there is nothing yet. Raises StoreError."""
    bundles = _bundles(job)
    if not bundles:
        return None
    meta = bundles[-1].meta
    names = bundles[0].arrays.keys()
    columns = {name: np.concatenate([bundle.arrays[name] for bundle in bundles]) for name in names}
    columns = last_of_each(columns)
    usable = (columns["status"] == 0) & np.isfinite(columns["objective"]).all(axis=1) & ~(columns["violation"] > 0)
    kept = {name: column[usable] for name, column in columns.items()}
    return Evaluated(kept, meta, np.isin(kept["id"], _front_ids(job)), int((~usable).sum()))


def _bundles(job: Job) -> list[Bundle]:
    for role in ROLES:
        if role in job.artifacts:
            return [unpack(store().get(job.artifacts[role]))]
    chunks = job.events.filter(kind="progressed").order_by("tick").values_list("body__artifacts__chunk", flat=True)
    return [unpack(store().get(chunk)) for chunk in chunks if chunk]


def last_of_each(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """One row for each id: a lineup that was played again later is known better by then."""
    ids = columns["id"]
    _, last = np.unique(ids[::-1], return_index=True)
    return {name: column[len(ids) - 1 - last] for name, column in columns.items()}


def _front_ids(job: Job) -> NDArray[np.int64]:
    digest = job.artifacts.get("front")
    if digest is None:
        latest = job.events.filter(kind="progressed").order_by("-tick").values_list("body", flat=True).first()
        digest = latest["artifacts"].get("front") if latest else None
    if digest is None:
        return np.zeros(0, dtype=np.int64)
    return np.asarray(unpack(store().get(digest)).arrays["id"], dtype=np.int64)
