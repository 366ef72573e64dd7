"""What later jobs proved on newer data than a report is about: its verdict must not leave open what they settled."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Q

from webapp.lib.words import number
from webapp.studies import commanders, companion
from webapp.studies.models import Job, Status
from webapp.suspects.reading import NUMBERS, read

LOOKED_AT = 10
"""Later jobs that are looked through, those on the newest data first."""


class Since(NamedTuple):
    """``words``: who confirmed how many suspects on which version, in a sentence; ``job`` did."""

    words: str
    job: Job


def since(search: Job) -> Since | None:
    """What the latest finished search or experiment on the newest data that any of them played confirmed, by the same
    rules and leader as a search; None where that data is no newer, or none of it is unfair by what is known."""
    found = next(((job, many) for job in _later(search) if (many := _confirmed(job)) is not None), None)
    if found is None or not found[1]:
        return None
    job, many = found
    assert job.game_version is not None
    suspects = f"{NUMBERS[many] if many < len(NUMBERS) else number(many)} suspect{'' if many == 1 else 's'}"
    noun = "search" if job.kind == "search" else "experiment"
    version = f"version {job.game_version.number}"
    return Since(f"On {version}, {suspects} {'is' if many == 1 else 'are'} confirmed by the {noun} “{job.title}” (job "
                 f"{job.pk}).", job)  # fmt: skip


def _later(search: Job) -> list[Job]:
    if search.game_version is None:
        return []
    own = search.lineup_rules.name if search.lineup_rules else None
    alike = Q(lineup_rules__name=own) if own else Q(lineup_rules=None)
    jobs = search.project.jobs.filter(
        alike, kind__in=("search", "worth"), accompanies=None, status=Status.FINISHED,
        game_version__simulator=search.game_version.simulator_id,
        game_version__number__gt=search.game_version.number,
    ).select_related("game_version")  # fmt: skip
    leader = commanders.name_in(search.config)
    newest = jobs.order_by("-game_version__number", "-pk")[:LOOKED_AT]
    return [job for job in newest if commanders.name_in(job.config) == leader]


def _confirmed(job: Job) -> int | None:
    """How many suspects it confirmed that nobody intends; None where it measured no pieces, or not to the end."""
    experiment = companion.of(job) if job.kind == "search" else job
    if experiment is None or experiment.status != Status.FINISHED:
        return None
    found = read(experiment)
    return len(found.named) if found.proved and not found.lost else None
