"""What the policy of one out of many candidates has learned from: its own training, and those that its network went
through before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from engine.arrays import Bundle, unpack
from engine.config import TaskConfig, parse
from engine.config.whole_updates import learned, most_learned, update_of
from engine.errors import ConfigError, StoreError
from webapp.lib.storage import store
from webapp.lib.words import number
from webapp.studies.models import Job


def leader(job: Job) -> int | None:
    """The number of the candidate whose policy a search has left as its best; None where there is none, or that is
    lost."""
    best, digest = job.artifacts.get("policy_description", ""), job.artifacts.get("policies", "")
    if not best or not digest:
        return None
    try:
        meta, arrays = unpack(store().get(digest))
    except StoreError:
        return None
    rows = zip(arrays["id"].tolist(), meta["descriptions"], strict=True)
    return next((n for n, text in rows if hashlib.sha256(text.encode()).hexdigest() == best), None)


def learned_in(task: Mapping[str, Any], settings: Iterable[Mapping[str, float]]) -> int:
    """Decisions in trainings of a task, one after the other; ``settings``: of each the numbers in place of the task's
    ranges, by place. 0 where nobody knows."""
    try:
        known = parse(TaskConfig, task)
        return sum(learned(known, each) for each in settings)
    except (ConfigError, KeyError):
        return 0


def learned_step_by_step(task: Mapping[str, Any], lineage: Bundle, number: int) -> int:
    """The same of a member of population based training after the step with this number: it went on from another step,
    its own or one that it copied."""
    columns = lineage.arrays
    rows = {n: row for row, n in enumerate(columns["id"].tolist())}
    places, steps = [gene["path"] for gene in lineage.meta["genes"]], list[int]()
    while number in rows and rows[number] not in steps:
        steps.append(rows[number])
        number = int(columns["parent"][steps[-1]])
    return learned_in(task, (dict(zip(places, columns["genome"][row].tolist(), strict=True)) for row in steps))


def whole_batches(task: Mapping[str, Any] | TaskConfig, noun: str) -> str:
    """How many decisions one of those that learn a task really learns from, where these are more than it asks for;
    ``noun``: what pages call one. Empty where they are as many, where that is a range, and where nobody knows."""
    try:
        known = task if isinstance(task, TaskConfig) else parse(TaskConfig, task)
    except ConfigError:  # of an earlier version of the engine
        return ""
    if not isinstance(known.steps, int) or not known.steps:
        return ""
    asked = number(known.steps)
    try:
        exact, batch = learned(known), update_of(known)
    except KeyError:
        most = number(most_learned(known))
        return f"In each round, {noun} learns from {asked} decisions or more, {most} at most: many at a time."
    if exact == known.steps:
        return ""
    return (
        f"In each round, {noun} learns from {number(exact)} decisions and not from {asked}, because it learns from "
        f"{number(batch)} at a time."
    )
