"""The changes that a report may propose: those that were tried on its search, and those that were found and proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webapp.changes import proposing, sentences
from webapp.changes.reading import Replayed
from webapp.reports import patched
from webapp.reports.changed import changed
from webapp.reports.patched import Patched
from webapp.studies.models import Job

Proposal = Replayed | Patched


def offered(search: Job) -> list[Proposal]:
    """What may be proposed, the newest first."""
    every: list[Proposal] = [*proposing.offered(search), *patched.offered(search)]
    return sorted(every, key=lambda each: -each.job.pk)


def usual(every: Sequence[Proposal]) -> str:
    """The key of the newest that works or that somebody saved as data; empty where none is."""
    itself = proposing.usual([each for each in every if isinstance(each, Replayed)])
    return next((key(each) for each in every if isinstance(each, Patched) or each is itself), "")


def key(proposal: Proposal) -> str:
    """It, in a form."""
    return proposal.key if isinstance(proposal, Patched) else str(proposal.job.pk)


def name(proposal: Proposal) -> str:
    """It, in a list."""
    return f"Found and proved: {proposal.row.title}" if isinstance(proposal, Patched) else sentences.head(proposal)


def kept_change(proposal: Proposal | None) -> dict[str, Any] | None:
    """What a report keeps of it; None where none is proposed."""
    if proposal is None:
        return None
    return patched.changed(proposal) if isinstance(proposal, Patched) else changed(proposal)
