"""What the bar of every page shows: the project in hand, and the places to go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from webapp.accounts.rights import may_run_code
from webapp.projects.access import LAST_PROJECT, role_in
from webapp.projects.models import WRITERS, Project, Role


@dataclass(frozen=True)
class NavLink:
    word: str
    link: str
    here: bool


@dataclass(frozen=True)
class Frame:
    projects: list[Project] = field(default_factory=list)
    project: Project | None = None
    role: str | None = None
    places: list[NavLink] = field(default_factory=list)
    registers: bool = False

    @property
    def can_write(self) -> bool:
        """Whether this person may change things in the project in hand."""
        return self.role in WRITERS

    @property
    def owns(self) -> bool:
        return self.role == Role.OWNER


def _here(request: HttpRequest) -> str:
    """Which place the page belongs to."""
    match = request.resolver_match
    if match is None:
        return ""
    name = f"{match.namespace}:{match.url_name}"
    if name in {"projects:home", "projects:help"}:
        return name
    if name == "api:help":
        return "projects:help"
    if name.startswith("games:simulator"):
        return ""
    places = {"games": "games:data", "balance": "balance:lineups"}
    return places.get(match.namespace, "studies:jobs" if match.namespace in ("studies", "training") else "")


def _places(request: HttpRequest, project: Project | None) -> list[NavLink]:
    here = _here(request)
    names = [("Home", "projects:home", False)]
    if project is not None:
        names += [
            ("Game data", "games:data", True),
            ("Lineups", "balance:lineups", True),
            ("Jobs", "studies:jobs", True),
        ]
    names.append(("Help", "projects:help", False))
    slug = [project.slug] if project else []
    return [
        NavLink(word, reverse(name, args=slug if of_project else []), name == here) for word, name, of_project in names
    ]


def _project_in_hand(request: HttpRequest, projects: list[Project]) -> Project | None:
    """The project of the page; else the one last worked in; else the first."""
    match = request.resolver_match
    wanted = [match.kwargs.get("slug") if match else None, request.session.get(LAST_PROJECT)]
    for slug in wanted:
        for project in projects:
            if project.slug == slug:
                return project
    return projects[0] if projects else None


def _frame(request: HttpRequest) -> Frame:
    user = request.user
    if not user.is_authenticated:
        return Frame(places=_places(request, None))
    projects = list(Project.objects.filter(members=user))
    project = _project_in_hand(request, projects)
    return Frame(
        projects=projects,
        project=project,
        role=role_in(user, project) if project else None,
        places=_places(request, project),
        registers=may_run_code(user),
    )


def frame(request: HttpRequest) -> dict[str, Any]:
    """Context processor; asks the database only where a template shows the bar."""
    return {"frame": SimpleLazyObject(lambda: _frame(request))}
