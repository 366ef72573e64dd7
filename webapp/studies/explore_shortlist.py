"""The shortlist of a search: decisions are added, never changed. What is on it now follows from what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db import transaction

from engine.lineups import schema
from engine.simulators.contract import GameSpec
from engine.text import is_seen
from webapp.accounts.models import User
from webapp.lib.first import first
from webapp.studies import explore_source as source
from webapp.studies.explore_build import Explored
from webapp.studies.explore_recheck import checking
from webapp.studies.fresh import Fresh
from webapp.studies.fresh_battles import genome_key
from webapp.studies.models import Job, ShortlistEntry

Action = ShortlistEntry.Action
REASON_LIMIT = 2000


class ShortlistError(ValueError):
    """The decision cannot be written down; the message says why and what to do."""


@dataclass
class FixedList:
    """One lineup that was shortlisted at some time: its decisions in order, and how it did on fresh battles."""

    lineup: int
    genome: list[list[int]]
    anchors: list[int]
    name: str = ""
    verdict: str = "under"
    on: bool = False
    entries: list[ShortlistEntry] = field(default_factory=list)
    fresh: Fresh | None = None
    checking: bool = False
    finding: str = ""

    @property
    def reason(self) -> ShortlistEntry:
        """The decision that put it on the list."""
        return first(e for e in reversed(self.entries) if e.action == Action.ADD)

    @property
    def remarks(self) -> list[ShortlistEntry]:
        """What was said about it since, and before it was put on the list again."""
        return [e for e in self.entries if e.pk != self.reason.pk]

    @property
    def state(self) -> str:
        """One word for styles and scripts: checking, unchecked, or what fresh battles say."""
        return "checking" if self.checking else self.fresh.finding if self.fresh else "unchecked"

    @property
    def words(self) -> str:
        """How sure, in the words of the page."""
        if self.checking:
            return "Being played again on fresh battles"
        return self.finding if self.fresh else "Not re-checked yet"

    @property
    def due(self) -> bool:
        """Whether a re-check would tell something new."""
        return self.on and self.state in ("unchecked", "more")

    @property
    def settled(self) -> bool:
        """Whether fresh battles have told what they can of it."""
        return self.on and self.fresh is not None and not self.due and not self.checking


class Shortlist:
    """What was decided about the lineups of ``job``, by lineup id, in the order they first came up.

    Earlier versions took remarks about lineups that were never on the list; those are left out. ``each``: battles
    of one lineup, each pairing played once from both seats."""

    def __init__(self, job: Job, explored: Explored, spec: GameSpec) -> None:
        self.job, self.all = job, dict[int, FixedList]()
        for entry in job.shortlist.select_related("created_by"):
            listed = self.all.setdefault(entry.individual, FixedList(entry.individual, entry.genome, entry.anchors))
            listed.entries.append(entry)
            if entry.action != Action.REMARK:
                listed.on = entry.action == Action.ADD
        for lineup in [i for i, each in self.all.items() if all(e.action != Action.ADD for e in each.entries)]:
            del self.all[lineup]
        self.fresh = explored.fresh
        self.each = float(explored.meta["battles_of_replicate"])
        busy, words = checking(job), source.words(job)
        verdicts = _verdicts(explored, self.all)
        for listed in self.all.values():
            listed.name = " · ".join(schema.team_name(spec, row) for row in listed.genome)
            listed.fresh = self.fresh.get(listed.lineup)
            listed.finding = listed.fresh.sentence(words) if listed.fresh else ""
            listed.checking = genome_key(listed.genome) in busy
            listed.verdict = verdicts.get(listed.lineup, "under")

    @property
    def on(self) -> list[FixedList]:
        """What is on the list now."""
        return [listed for listed in self.all.values() if listed.on]

    @property
    def off(self) -> list[FixedList]:
        """What was taken off it."""
        return [listed for listed in self.all.values() if not listed.on]

    @property
    def due(self) -> list[int]:
        """Lineups a re-check should play."""
        return [listed.lineup for listed in self.on if listed.due]

    @property
    def settled(self) -> list[int]:
        """Lineups on the list that fresh battles have settled, or never will."""
        return [listed.lineup for listed in self.on if listed.settled]

    @property
    def left_open(self) -> bool:
        """Whether some on the list are too close for fresh battles to tell."""
        return any(listed.fresh is not None and listed.fresh.finding == "close" for listed in self.on)

    @property
    def afresh(self) -> bool:
        """Whether some settled ones have no battles yet but those of the end of the search: once they are re-checked,
        these count no more, and ranges may get wider."""
        return any(listed.settled and listed.fresh and not listed.fresh.rechecked for listed in self.on)


def _verdicts(explored: Explored, wanted: Mapping[int, Any]) -> dict[int, str]:
    if not explored.core or not wanted:
        return {}
    rows = np.flatnonzero(np.isin(explored.core["id"], list(wanted)))
    words = ("under", "unsure", "strong")
    return {int(explored.core["id"][r]): words[explored.core["verdict"][r]] for r in rows}


def decide(job: Job, explored: Explored, user: User, lineup: int, action: str, reason: str) -> ShortlistEntry:
    """Write one decision down. Putting a lineup on a list it is on already is kept as a remark: two people may have had
    the same idea. A remark in the words that the same person last wrote on the lineup is the one before, sent twice.
    Raises ShortlistError."""
    reason = reason.strip()
    if action not in Action.values:
        raise ShortlistError("This is none of the things that can be done with a shortlist.")
    if not reason and action != Action.WITHDRAW:
        raise ShortlistError("Write a few words on why, so that others can follow.")
    if reason and not is_seen(reason):
        raise ShortlistError("Write a reason that one can see.")
    if len(reason) > REASON_LIMIT:
        raise ShortlistError(f"Keep it under {REASON_LIMIT:,} characters; this has {len(reason):,}.")
    with transaction.atomic():
        Job.objects.select_for_update().get(pk=job.pk)  # one decision at a time, so that each knows the one before
        latest = job.shortlist.filter(individual=lineup).exclude(action=Action.REMARK).last()
        on = latest is not None and latest.action == Action.ADD
        if action == Action.ADD and on:
            action = Action.REMARK
        if action == Action.WITHDRAW and not on:
            raise ShortlistError("This lineup is not on the shortlist.")
        if action == Action.REMARK and latest is None:
            raise ShortlistError("This lineup was never on the shortlist. Put it there; your words become the reason.")
        before = job.shortlist.filter(individual=lineup, created_by=user).last()
        if action == Action.REMARK and before is not None and before.reason == reason:
            return before
        return ShortlistEntry.objects.create(
            job=job, individual=lineup, action=action, reason=reason, created_by=user, **_facts(explored, lineup)
        )


def _facts(explored: Explored, lineup: int) -> dict[str, Any]:
    """What the decision was about, kept with it whatever becomes of the artifacts."""
    rows = np.flatnonzero(explored.core.get("id", np.zeros(0)) == lineup)
    if not len(rows):
        raise ShortlistError("This lineup is not among those the job evaluated. Load the page again.")
    row = rows[0]
    value, half = explored.core["value"][:, row].astype(float), explored.core["half"][:, row].astype(float)
    ranges = [[v, v - h, v + h] if np.isfinite(h) else [v, None, None] for v, h in zip(value, half, strict=True)]
    return {
        "genome": (explored.lineups["genome"][row].astype(int) - 1).tolist(),
        "anchors": explored.lineups["anchor"][row].tolist(),
        "objectives": ranges,
    }


def on_list(job: Job) -> list[ShortlistEntry]:
    """The decisions that put lineups on the list that are on it now, in the order they first came up."""
    on: dict[int, ShortlistEntry | None] = {}
    for entry in job.shortlist.exclude(action=Action.REMARK):
        on[entry.individual] = entry if entry.action == Action.ADD else None
    return [entry for entry in on.values() if entry is not None]
