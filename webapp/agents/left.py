"""Agents that a job has left, which people may keep."""

from __future__ import annotations

import hashlib
import json
import re
from typing import NamedTuple

from engine.config.rl import DRAWING
from engine.config.roster import in_words
from engine.errors import StoreError
from engine.styles.agents import Files
from webapp.agents.models import Agent
from webapp.lib.storage import store
from webapp.studies.actions import Refused
from webapp.studies.models import Job
from webapp.training.cut_off import cut_off, files
from webapp.training.entrants import ROLE

NO_POLICY = "This job has left no such agent."
LOST = "This agent’s numbers are not in the store any more."


class Left(NamedTuple):
    """A policy that a job left: its ``name`` in the job ("" where there is only one), and the agents kept of it. One of
    the round that was cut off also has its ``number`` there and its ``description``, which the store may not have."""

    name: str
    policy: str
    kept: list[Agent]
    number: int | None = None
    description: bytes = b""

    @property
    def called(self) -> str:
        """Its name for people: "main after lesson 3"."""
        return in_words(self.name) or "as it is at the end"

    @property
    def draws(self) -> bool:
        """Whether it has odds to draw its actions by."""
        try:
            return bool(json.loads(self.description or store().get(self.policy))["kind"] in DRAWING)
        except (StoreError, KeyError, TypeError, ValueError):
            return False


def left_by(job: Job) -> list[Left]:
    """What may be kept of a job: nothing before it has ended."""
    if not job.terminal or job.for_form:
        return []
    kept = _kept_of(job)
    roles = ((role.partition("/"), digest) for role, digest in job.artifacts.items())
    found = [Left(name, digest, kept.get(digest, [])) for (role, _, name), digest in roles if role == ROLE]
    return sorted(found, key=lambda left: [_counted(part) for part in left.name.partition("@")])


def cut_off_by(job: Job) -> list[Left]:
    """What may be kept of the round that a pause or a stop cut off."""
    found = [] if job.for_form else cut_off(job)
    kept = _kept_of(job) if found else {}
    policies = [hashlib.sha256(each.description).hexdigest() for each in found]
    rows = zip(found, policies, strict=True)
    return [Left(each.name, policy, kept.get(policy, []), each.number, each.description) for each, policy in rows]


def everybody_left(job: Job) -> list[Left]:
    """All that may be kept on the page of a job."""
    return [*left_by(job), *cut_off_by(job)]


def _kept_of(job: Job) -> dict[str, list[Agent]]:
    """By their policies."""
    kept: dict[str, list[Agent]] = {}
    for agent in Agent.objects.kept().filter(job=job):
        kept.setdefault(agent.policy, []).append(agent)
    return kept


def _counted(name: str) -> list[str | int]:
    """As a key that puts 2 before 10."""
    return [int(part) if i % 2 else part for i, part in enumerate(re.split(r"(\d+)", name))]


def one_left(job: Job, of: str, sampled: bool) -> Left:
    """The policy of this name that a job has left, which is in the store from then on; ``sampled``: it must have odds.
    Raises Refused with a sentence."""
    left = next((each for each in everybody_left(job) if each.name == of), None)
    if left is None:
        raise Refused(NO_POLICY)
    if sampled and not left.draws:
        raise Refused("This agent knows the best action, and has no odds to draw others by.")
    if left.number is not None:
        _take_out(job, left.number)
    return left


def _take_out(job: Job, number: int) -> None:
    """Of the round that was cut off, the store has all in one."""
    try:
        found = files(job, number)
    except StoreError as error:
        raise Refused(LOST) from error
    if found is None:
        raise Refused(LOST)
    stored(found)


def stored(files: Files) -> str:
    """The store hash of a policy's description, which is put there with its numbers."""
    store().put(files.tensors)
    return store().put(files.description)
