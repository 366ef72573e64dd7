"""Searches for changes for tests: tables as the engine writes them, of battles that nobody played."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.utils import timezone

from engine.arrays import pack
from engine.config.patch import PatchConfig
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies import actions
from webapp.studies.models import Job, Status

STRONGEST = {"name": "Frost Captain", "parts": ["Frost Captain", "Warhorn"], "row": [0] * 8, "cost": 1500.0,
             "share": 0.81, "low": 0.78, "high": 0.84}  # fmt: skip
WATCHED = [
    {"name": "Frost Captain", "pieces": ["frost-captain"], "suspect": False},
    {"name": "Warhorn", "pieces": ["warhorn"], "suspect": True},
    {"name": "Frost Captain + Warhorn", "pieces": ["frost-captain", "warhorn"], "suspect": True},
]


def patch(words: list[str], verdict: str, worths: list[Any], **more: Any) -> dict[str, Any]:
    """One of the table's patches."""
    return {
        "words": words, "changes": [], "apart": [], "way": "prices", "verdict": verdict, "worths": worths, "named": [],
        "largest": 0.028, "excess": 0.0, "strongest": STRONGEST, "stronger": False, **more,
    }  # fmt: skip


CHEAPER = {"path": "warhorn.cost", "piece": "warhorn", "number": "cost", "before": 90.0, "after": 120.0, "unit": ""}
FAIR, BAD = [0.002, -0.01, 0.014], [0.067, 0.041, 0.09]
PATCHES = [
    patch(["Warhorn costs 120 instead of 90"], "works", [FAIR, FAIR, FAIR], changes=[CHEAPER]),
    patch(["Frost Captain and Warhorn may not be in one team"], "fails", [FAIR, BAD, [None] * 3], way="rules",
          apart=[["frost-captain", "warhorn"]], named=["Warhorn"], stronger=True),
    patch(["Warhorn costs 110 instead of 90"], "unproved", [FAIR, BAD, FAIR], strongest=None, largest=None,
          changes=[{**CHEAPER, "after": 110.0}]),
    patch([], "unproved", [FAIR, BAD, BAD], strongest=None, largest=None, way=""),
]  # fmt: skip
NOTHING: list[dict[str, Any]] = []


def table(patches: list[dict[str, Any]] = PATCHES, watched: list[dict[str, Any]] = WATCHED, **more: Any) -> str:
    """The table of these patches, in the store; ``more``: of its meta."""
    n = len(patches)
    columns = {
        "changes": np.array([bool(each["words"]) for each in patches], np.int32),
        "battles": np.full(n, 9_000, np.int64),
        "size": np.array([0.05 if each["words"] else 0.0 for each in patches]),
        **{
            name: np.array([max((abs(w[k]) for w in each["worths"] if w[0] is not None), default=0.0)
                            for each in patches])
            for k, name in enumerate(("worst", "low", "high"))
        },
        "left": np.zeros(n),
    }  # fmt: skip
    meta = {"patches": patches, "watched": watched, "matters": 0.03, "game": "Herobattle", "stage": "proof",
            "proved": bool(n), "present": STRONGEST, **more}  # fmt: skip
    return store().put(pack(meta, columns))


def search_for_changes(project: Project, user: Any, digest: str = "", **changes: Any) -> Job:
    """One that is over, unless ``changes`` say otherwise."""
    version = project.versions.get()
    config = PatchConfig(game={"simulator": version.simulator.reference, "patch": version.patch})  # type: ignore[arg-type]  # as JSON has it
    job = actions.submit(project, user, config, title=config.name, game_version=version)
    over = {"status": Status.FINISHED, "tick": 40, "counters": {"battles": 399_000, "seconds": 100.0},
            "finished_at": timezone.now(), "message": "", "artifacts": {"table": digest or table()}}  # fmt: skip
    Job.objects.filter(pk=job.pk).update(**{**over, **changes})
    return Job.objects.get(pk=job.pk)
