"""Deciding about suspects: fix, intended or ask. Decisions are added, never changed; the last one counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from engine.errors import StoreError
from engine.text import is_seen
from webapp.accounts.models import User
from webapp.studies import explore_source as source
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import Job
from webapp.suspects.intended import Numbers, numbers_of, pieces_of
from webapp.suspects.models import Decision

Choice = Decision.Choice
LONGEST = 2000
ON_HOME = 8
"""Questions that Home lists."""


class Undecidable(ValueError):
    """The decision cannot be written down; the message says why and what to do."""


def latest(search: Job) -> dict[str, Decision]:
    """The decision that counts for each suspect, by its key; none where it was taken back."""
    return _standing(search.decisions.select_related("created_by", "asked"))


def _standing(every: Iterable[Decision]) -> dict[str, Decision]:
    found = {each.suspect: each for each in every}
    return {key: each for key, each in found.items() if each.choice != Choice.NONE}


def meant(search: Job) -> list[Decision]:
    """The decisions on a search by which a suspect is meant to be so."""
    standing = _standing(search.decisions.all())
    return [decision for _, decision in sorted(standing.items()) if decision.choice == Choice.INTENDED]


def decide(
    search: Job,
    key: str,
    name: str,
    user: User,
    choice: str,
    reason: str = "",
    asked: User | None = None,
    side: str = "strongest",
) -> Decision:
    """Write one decision down, and a line of the search's history; ``side``: which team of a lineup the suspect
    explains. The same one sent twice is one. Raises Undecidable."""
    reason = reason.strip()
    _check(search, choice, reason, asked)
    with transaction.atomic():
        Job.objects.select_for_update().get(pk=search.pk)  # one decision at a time, so that each knows the one before
        before = latest(search).get(key)
        if choice == Choice.NONE and before is None:
            raise Undecidable("There is no decision to take back.")
        asked = asked if choice == Choice.ASK else None
        if before is not None and (before.choice, before.reason, before.asked) == (choice, reason, asked):
            return before
        made = Decision.objects.create(
            search=search, suspect=key, name=name, choice=choice, reason=reason, asked=asked, created_by=user,
            side=side, numbers=_numbers(search, key),
        )  # fmt: skip
        sentence = f"{name}: the decision is taken back" if choice == Choice.NONE else f"{name}: {made}"
        journal.append(search, {}, [Entry("logged", {"message": f"{sentence} ({user})."}, search.tick)])
    return made


def _numbers(search: Job, key: str) -> Numbers:
    """What the pieces of a suspect are by now; nothing where the game is not described any more."""
    try:
        return numbers_of(source.spec(search), pieces_of(key)[0])
    except StoreError:
        return {}


def _check(search: Job, choice: str, reason: str, asked: User | None) -> None:
    if choice not in Choice.values:
        raise Undecidable("This is none of the things that can be decided.")
    if choice == Choice.INTENDED and not reason:
        raise Undecidable("Write a few words on why it is intended, so that others can follow.")
    if reason and not is_seen(reason):
        raise Undecidable("Write words that one can see.")
    if len(reason) > LONGEST:
        raise Undecidable(f"Keep it under {LONGEST:,} characters; this has {len(reason):,}.")
    if choice == Choice.ASK and (asked is None or not search.project.members.filter(pk=asked.pk).exists()):
        raise Undecidable("Choose who is asked: somebody of this project.")


def home(person: User) -> dict[str, Any]:
    """What this person is asked and nobody has decided since, the newest first."""
    later = Decision.objects.filter(search=OuterRef("search"), suspect=OuterRef("suspect"), pk__gt=OuterRef("pk"))
    mine = Decision.objects.filter(choice=Choice.ASK, asked=person, search__project__members=person)
    open_ = mine.filter(~Exists(later)).select_related("search__project", "created_by")
    return {"asked_of_me": open_.order_by("-pk")[:ON_HOME]}
