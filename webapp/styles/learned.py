"""How many decisions made an agent of a style map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import StoreError
from webapp.agents import keeping
from webapp.studies.models import Job
from webapp.styles.map_agents import Agents, agents_of, parents_of
from webapp.training.learned import learned_in

Parents = Mapping[int, tuple[int, int]]
"""Mother and father by agent."""


def trainings(config: Mapping[str, Any], agent: int, parents: Parents) -> list[int]:
    """The agents in whose trainings its network has learned, itself first: also the mothers before it, where children
    go on with what these learned."""
    found = [agent]
    if config["networks"] == "fresh" or not config.get("learnt_is_inherited", True):
        return found
    while found[-1] in parents and (mother := parents[found[-1]][0]) not in found:
        found.append(mother)
    return found


def learned_from(job: Job, agents: Agents, agent: int, parents: Parents) -> int:
    """How many decisions made its network, those of the policy that the search began with included; 0 where nobody
    knows."""
    rows = [agents.row(each) for each in trainings(job.config, agent, parents)]
    genes = [{} if row is None else agents.settings(row) for row in rows]
    own, start = learned_in(job.config["task"], genes), job.config["start"]
    if not start:
        return own
    before = keeping.learned_by(start, job.project)
    return before + own if own and before else 0


def learned_by(job: Job, agent: int) -> int:
    """The same of an agent by its number alone."""
    try:
        agents = agents_of(job)
        return 0 if agents is None else learned_from(job, agents, agent, parents_of(job))
    except StoreError:
        return 0
