"""An agent as it was at other times of the job that it was kept of."""

from __future__ import annotations

from typing import NamedTuple

from webapp.agents.left import Left, left_by
from webapp.agents.models import Agent
from webapp.studies import kinds


class Lifetime(NamedTuple):
    """An agent as it was at another time of its job: its name there, for people; the agent that was kept of it, if any;
    how strong it is, in words; ``here``: whether it is the one that is looked at."""

    called: str
    kept: Agent | None
    strength: str
    here: bool


def other_times(agent: Agent) -> list[Lifetime]:
    """The same agent as it was after each lesson of its course, in order; nothing where only one of them was left."""
    left = [] if agent.job is None else left_by(agent.job)
    mine = [_whose(each, left) for each in left if each.policy == agent.policy]
    own = [each for each in left if mine and _whose(each, left) == mine[0]]
    own = sorted(own, key=lambda each: "@" not in each.name)  # as it is at the end comes last
    once = [each for i, each in enumerate(own) if each.policy not in {later.policy for later in own[i + 1 :]}]
    if agent.job is None or len(once) < 2:
        return []
    records = kinds.of(agent.job).agent_records(agent.job)
    strengths = {each.name: records[each.name].strength if each.name in records else "" for each in own}
    return [
        Lifetime(each.called, next(iter(each.kept), None), strengths[each.name], each.policy == agent.policy)
        for each in once
    ]


def _whose(one: Left, left: list[Left]) -> str:
    """Which agent of a job one of those that it left once was: only one may have no name."""
    named = {policy for each in left if (policy := each.name.partition("@")[0])}
    return one.name.partition("@")[0] or (named.pop() if len(named) == 1 else "")
