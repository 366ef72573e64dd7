"""Agents that somebody takes from a style map: kept as saved agents, or to be watched."""

from __future__ import annotations

from itertools import chain

from engine.errors import StoreError
from webapp.accounts.models import User
from webapp.agents import edits, keeping, unkept
from webapp.agents.forms import MOST
from webapp.agents.models import Agent
from webapp.agents.unkept import Unkept
from webapp.lib.digits import whole
from webapp.studies import actions
from webapp.studies.models import Job
from webapp.styles.learned import learned_by
from webapp.styles.map_agents import Agents, agents_of, files
from webapp.styles.map_words import template_of

STYLE_WEIGHT = "style.w2"
"""The gene that says to which end of its scale an agent is drawn, and how strongly."""


def usual_name(job: Job, agents: Agents, row: int) -> str:
    """What a kept agent is called where nobody says otherwise: by the end of the scale that it is drawn to and by its
    number, such as "Busy 7", and unlike all others of its project."""
    plain = f"{_end(job, agents, row)} {int(agents.id[row])}"
    return edits.free_name(job.project, chain([plain], edits.numbered(f"{plain}, job {job.pk}")))


def _end(job: Job, agents: Agents, row: int) -> str:
    """What the end of the scale is called that an agent is drawn to; of formulas of one's own, just an agent."""
    template = template_of(job.config)
    if template is None:
        return "Agent"
    weight = agents.settings(row).get(STYLE_WEIGHT, job.config["task"]["style"]["w2"])
    return template.one if weight >= 0 else template.other


def stored(job: Job, agent: int, tick: int) -> str:
    """The store hash of its policy's description, which is put there with its numbers. Raises Refused."""
    try:
        found = files(job, agent, tick)
    except StoreError as error:
        raise actions.Refused(str(error)) from error
    return unkept.stored(found)


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
