"""Making a project, whose maker owns it, under an address that no other project has."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from webapp.accounts.models import User
from webapp.projects.models import Membership, Project, Role

TRIES = 20
"""Others who may take the proposed address first, one after another, before this ends with their error."""


def make(name: str, person: User, kept: Mapping[str, str]) -> Project:
    """A new project. ``kept``: of the request that it is made by (``webapp.lib.once``); raises IntegrityError where
    another one of the same key was first."""
    key = kept.get("request_key")
    for left in reversed(range(TRIES)):
        try:
            with transaction.atomic():
                project = Project.objects.create(name=name, slug=free_slug(name), made_by=person, **kept)
                Membership.objects.create(project=project, user=person, role=Role.OWNER)
                return project
        except IntegrityError:
            if not left or (key and Project.objects.filter(made_by=person, request_key=key).exists()):
                raise
    raise AssertionError("the last try returns or raises")


def free_slug(name: str) -> str:
    """An address for a project called ``name`` that no other project has."""
    stem = slugify(name, allow_unicode=False)[:60] or "project"
    taken = set(Project.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    number = 1
    slug = stem
    while slug in taken:
        number += 1
        slug = f"{stem}-{number}"
    return slug
