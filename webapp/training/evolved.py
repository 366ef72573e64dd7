"""The live page of a search for training settings: what its template and its script start from, and its players."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.arrays import Bundle, unpack
from engine.catalog import ALGORITHMS as METHODS
from engine.catalog import LEARNERS
from engine.indicators import half_width
from webapp.lib.storage import store
from webapp.lib.words import number
from webapp.studies import front
from webapp.studies.models import Job
from webapp.training import games
from webapp.training.curve import COUNTERS
from webapp.training.methods import ALGORITHMS
from webapp.training.ranges import range_text, ranges_in

MOST = 200
"""Players of a round that are drawn."""


def context(job: Job) -> dict[str, Any]:
    """What the template needs beside what every job's page has."""
    config, task = job.config, job.config["task"]
    ranges = ranges_in(task["learner"], "")
    specialist = [
        ("Game", task["game"]["name"]),
        ("Search method", METHODS[config["algorithm"]["kind"]].label),
        ("Players", number(config["algorithm"]["population"])),
        ("Moves a player, each round", number(task["steps"])),
        ("Episodes that measure a player", number(config["episodes"])),
        *((_title(task["learner"]["kind"], key), text) for key, text in ranges.items()),
        ("Seed", config["seed"]),
        ("Workers", config["pool"]["workers"]),
        ("Attempt", job.attempt),
        ("Settings", job.config_hash[:12]),
    ]
    return {
        "game": games.title_of(task["game"]["name"]),
        "algorithm": ALGORITHMS[task["learner"]["kind"]].title,
        "method": METHODS[config["algorithm"]["kind"]].label,
        "specialist": specialist,
    }


def page_data(job: Job) -> dict[str, Any]:
    """What the page's script knows beside every job's own."""
    config = job.config
    return {
        "columns": {"counters": list(COUNTERS), "metrics": []},
        "population": config["algorithm"]["population"],
        "goals": [{"name": aim["measure"], "direction": aim["direction"]} for aim in config["objectives"]],
        "method": config["algorithm"]["kind"],
    }


def _title(kind: str, place: str) -> str:
    """A setting of a learner as its form calls it."""
    field = LEARNERS[kind].config.model_fields.get(place.removeprefix("learner."))
    return (field.title if field is not None else None) or place


def players(job: Job, tick: int) -> dict[str, Any]:
    """The players that arrived in a round, and the best so far: those of the edge, measured on fresh episodes where
    the search has ended. Raises StoreError."""
    chunk = front.artifact(job, "chunk", tick)
    best = job.artifacts.get("fresh") or job.artifacts.get("front", "")
    found: dict[str, Any] = {"tick": tick, "genes": [], "players": [], "best": [], "fresh": "fresh" in job.artifacts}
    if not chunk or not best:
        return found
    here, edge = unpack(store().get(chunk)), unpack(store().get(best))
    kind = job.config["task"]["learner"]["kind"]
    for gene in here.meta["genes"]:
        text = range_text((gene["low"], gene["high"], *(["log"] if gene["log"] else [])))
        found["genes"].append({**{k: gene[k] for k in ("low", "high", "log")}, "range": text,
                               "title": _title(kind, gene["path"])})  # fmt: skip
    signs = [1.0 if goal["direction"] == "max" else -1.0 for goal in job.config["objectives"]]
    return found | {"players": _rows(here, signs)[:MOST], "best": _rows(edge, signs)[:20], "policy": _policy(job)}


def _policy(job: Job) -> bool:
    return "policy" in job.artifacts


def _rows(bundle: Bundle, signs: list[float]) -> list[dict[str, Any]]:
    """Players by their first goal, the best first: settings, goals and the half of each goal's 95 % range."""
    arrays = bundle.arrays
    half = half_width(arrays["error"], arrays["samples"])
    good = (arrays["status"] == 0) & np.isfinite(arrays["objective"]).all(axis=1)
    order = np.argsort(-signs[0] * arrays["objective"][:, 0], kind="stable")
    return [
        {
            "id": int(arrays["id"][i]),
            "genes": [float(f"{v:.4g}") for v in arrays["genome"][i].tolist()],
            "goals": [float(f"{v:.5g}") for v in arrays["objective"][i].tolist()],
            "half": [float(f"{v:.3g}") if np.isfinite(v) else None for v in half[i].tolist()],
        }
        for i in order.tolist()
        if good[i]
    ]
