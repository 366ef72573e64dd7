"""Agents that are watched before anybody has kept them: who they are, and the battles that are recorded of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.config import parse
from engine.config.agents import RecordConfig
from engine.errors import ConfigError
from webapp.agents import keeping
from webapp.agents.forms import USUAL_SEED
from webapp.agents.left import one_left
from webapp.studies import actions, kinds
from webapp.studies.models import Job
from webapp.training.entrants import limits_of


class Unkept(NamedTuple):
    """What people call it, the store hash of its policy's description, and whether it draws its actions by their
    odds."""

    title: str
    policy: str
    sampled: bool = False


def left(job: Job, of: str, sampled: bool) -> Unkept:
    """One of those that a job has left, as it would be kept. Raises Refused."""
    found = one_left(job, of, sampled)
    kept = next((agent.name for agent in found.kept if agent.sampled == sampled), "")
    return Unkept(kept or keeping.usual_name(job, of, kinds.of(job).best(job)), found.policy, sampled)


def recording(job: Job, players: Sequence[Unkept]) -> RecordConfig:
    """The battles of these agents of a job on one seed, against whom kept ones are measured. Raises Refused."""
    game = keeping.game(job)
    if why := keeping.unplayable(game["name"], job.project):
        raise actions.Refused(why)
    agents = [{"kind": "frozen", **player._asdict(), **limits_of(job)} for player in players]
    try:
        return parse(RecordConfig, {
            "name": "Battles to watch", "game": game, "seed": USUAL_SEED, "agents": agents,
            "opponent": keeping.usual_opponent(game["name"]),
        })  # fmt: skip
    except ConfigError as error:
        raise actions.Refused(str(error)) from error
