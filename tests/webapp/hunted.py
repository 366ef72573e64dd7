"""A hunt for bugs that the engine ran, as a job."""

from __future__ import annotations

from functools import cache

from engine.config.hunt import HuntConfig
from engine.studies import load
from tests.factories import Studio
from tests.webapp.recorded import recorded
from webapp.studies.models import Job

LEARNER = {"kind": "ppo", "batch": 64, "fragment": 8, "network": {"policy": [8], "critic": [8]}}
TASK = {
    "game": {"name": "maze", "settings": {"size": 9, "layout": 22, "max_ticks": 100}},
    "learner": LEARNER,
    "steps": 4096,
}


@cache
def study() -> HuntConfig:
    """Random moves in a small maze, until bugs are found."""
    config = load({"kind": "hunt", "name": "Bugs in the maze", "seed": 1, "method": "random", "decisions": 20_000,
                   "task": TASK, "algorithm": {"population": 2}, "pool": {"kind": "local"}})  # fmt: skip
    assert isinstance(config, HuntConfig)
    return config


def hunted(team: Studio) -> Job:
    """A hunt that has ended."""
    return recorded(team, study(), "Bugs in the maze")
