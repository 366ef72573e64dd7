"""Agents that were trained in the round that a pause or a stop cut off, who are on no map or ladder of their job."""

from __future__ import annotations

from typing import NamedTuple

from engine.arrays import Bundle, unpack
from engine.errors import StoreError
from engine.styles.agents import Files, files_of
from webapp.lib.storage import store
from webapp.studies.models import Job
from webapp.training.learned import learned_in, learned_step_by_step

NETWORKS = "arrived_agents"
"""What a job calls their networks."""
NOUNS = {"evolve": "player", "self-play": "member"}
"""What pages call one of those that a job of a kind trains."""


class CutOff(NamedTuple):
    """``name``: what pages of its job call it; ``number``: its own there; ``description``: that of its policy."""

    name: str
    number: int
    description: bytes


def cut_off(job: Job) -> list[CutOff]:
    """Those of a job that is paused or has ended, by their numbers; none where their networks are lost."""
    networks = _left(job, NETWORKS) if _offers(job) else None
    if networks is None:
        return []
    names = _members(job) if job.kind == "self-play" else {}
    rows = zip(networks.arrays["id"].tolist(), networks.meta["descriptions"], strict=True)
    return [CutOff(names.get(n, f"{NOUNS[job.kind]} #{n}"), n, description.encode()) for n, description in rows]


def lost(job: Job) -> bool:
    """Whether a job left some, and the store has them no more."""
    return _offers(job) and NETWORKS in job.artifacts and _left(job, NETWORKS) is None


def _offers(job: Job) -> bool:
    return job.kind in NOUNS and not job.active


def _members(job: Job) -> dict[int, str]:
    """What a ladder calls everybody who was ever asked to learn, by number: "member 3 after round 5"."""
    lineage = _left(job, "lineage")
    if lineage is None:
        return {}
    columns = (lineage.arrays[name].tolist() for name in ("id", "member", "step"))
    return {n: f"member {member + 1} after round {step + 1}" for n, member, step in zip(*columns, strict=True)}


def files(job: Job, number: int) -> Files | None:
    """The policy of one of them. Raises StoreError."""
    return files_of(store().get(str(job.artifacts.get(NETWORKS, ""))), number)


def learned_by(job: Job, number: int) -> int:
    """Decisions that one of them has learned from; 0 where nobody knows."""
    if "lineage" in job.artifacts:
        lineage = _left(job, "lineage")
        return learned_step_by_step(job.config["task"], lineage, number) if lineage is not None else 0
    measured = _left(job, "archive") or _left(job, "arrived")
    if measured is None or job.config["networks"] != "fresh":
        return 0
    places = [gene["path"] for gene in measured.meta["genes"]]
    genes = dict(zip(measured.arrays["id"].tolist(), measured.arrays["genome"].tolist(), strict=True)).get(number)
    return learned_in(job.config["task"], [dict(zip(places, genes, strict=True))]) if genes is not None else 0


def _left(job: Job, role: str) -> Bundle | None:
    """What a job has left in a role; None where there is nothing, or that is lost."""
    digest = str(job.artifacts.get(role, ""))
    try:
        return unpack(store().get(digest)) if digest else None
    except StoreError:
        return None
