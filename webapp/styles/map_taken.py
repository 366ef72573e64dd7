"""Agents that somebody takes from a style map: kept as saved agents, or to be watched."""

from __future__ import annotations

from itertools import chain

import numpy as np

from engine.errors import StoreError
from webapp.accounts.models import User
from webapp.agents import edits, keeping, left
from webapp.agents.forms import MOST
from webapp.agents.models import Agent
from webapp.agents.unkept import Unkept
from webapp.lib.digits import whole
from webapp.studies import actions
from webapp.studies.models import Job
from webapp.styles.learned import learned_by
from webapp.styles.map_agents import Agents, Floats, agents_of, files
from webapp.styles.map_words import template_of

END = 1 / 3
"""So much of what all agents span is named after the end of the scale there; whoever lies between is just an agent."""
ROUNDING = 1e-9


def usual_name(job: Job, agents: Agents, row: int) -> str:
    """What a kept agent is called where nobody says otherwise: by the end of the scale that it was measured near and by
    its number, such as "Busy 7", and unlike all others of its project."""
    plain = f"{_end(job, agents, row)} {int(agents.id[row])}"
    return edits.free_name(job.project, chain([plain], edits.numbered(f"{plain}, job {job.pk}")))


def _end(job: Job, agents: Agents, row: int) -> str:
    """What the end of the scale is called near which an agent was measured, among all agents of the search: what it
    was paid for it may not do. Just an agent between the ends, and of formulas of one's own."""
    template = template_of(job.config)
    if template is None:
        return "Agent"
    one, other = (agents.measures[goal].mean for goal in agents.goals)
    place = _place(one - other, row)  # the score is in both goals, so this is what the agent does
    return "Agent" if END < place < 1 - END else template.one if place > 0.5 else template.other


def _place(values: Floats, row: int) -> float:
    """Where one of these values lies between the least (0) and the most (1); in the middle where all are alike."""
    span = float(np.ptp(values))
    return (float(values[row]) - float(values.min())) / span if span > ROUNDING else 0.5


def stored(job: Job, agent: int, tick: int) -> str:
    """The store hash of its policy's description, which is put there with its numbers. Raises Refused."""
    try:
        found = files(job, agent, tick)
    except StoreError as error:
        raise actions.Refused(str(error)) from error
    return left.stored(found)


def keep(job: Job, user: User, agents: Agents, row: int, name: str) -> Agent:
    """The agent of a row, kept, and measured from now on; the one that was kept before. Raises Refused."""
    agent = int(agents.id[row])
    policy = stored(job, agent, int(agents.tick[row]))
    spans = {"spans": agents.spans, "spans_episodes": agents.samples} if agents.spans else {}
    own = {"steps": learned_by(job, agent), "agent": agent, **spans}
    return keeping.keep_one_of(job, user, policy, name or usual_name(job, agents, row), own)


def chosen(job: Job, numbers: list[str]) -> list[Unkept]:
    """One to four of a job's agents. Raises Refused with a sentence."""
    if not numbers:
        raise actions.Refused("Nobody is ticked: tick one to four agents in the table, then watch them.")
    if len(numbers) > MOST:
        raise actions.Refused(f"{len(numbers)} agents are ticked; {MOST} play side by side at most. Untick some.")
    try:
        agents = agents_of(job)
    except StoreError as error:
        raise actions.Refused(str(error)) from error
    rows = [None if agents is None or (n := whole(text)) is None else agents.row(n) for text in numbers]
    if agents is None or None in rows:
        raise actions.Refused("One of these agents is not in this job.")
    picks = [(int(agents.id[row]), int(agents.tick[row])) for row in rows if row is not None]
    return [Unkept(f"Agent {agent}", stored(job, agent, tick)) for agent, tick in picks]
