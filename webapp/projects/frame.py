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
class Place:
    """A place in the bar and its page. ``pages``: how the names of other pages begin that belong to it, except those
    that are places themselves. ``of_project``: shown where there is a project in hand."""

    word: str
    page: str
    pages: tuple[str, ...] = ()
    of_project: bool = True


_JOBS = (
    "studies:", "training:", "styles:", "hunts:", "self-play:", "starts:", "arena:", "suspects:", "patches:",
    "changes:", "gates:",
)  # fmt: skip
PLACES = (
    Place("Home", "projects:home", of_project=False),
    Place("Game data", "games:data", ("games:",)),
    Place("Lineups", "balance:lineups", ("balance:",)),
    Place("Jobs", "studies:jobs", _JOBS),
    Place("Agents", "agents:list", ("agents:",)),
    Place("Reports", "reports:list", ("reports:",)),
    Place("Help", "projects:help", ("api:help",), of_project=False),
)
_NOWHERE = "games:simulator"


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


def _here(request: HttpRequest) -> Place | None:
    """Which place the page belongs to."""
    match = request.resolver_match
    if match is None:
        return None
    name = f"{match.namespace}:{match.url_name}"
    itself = [place for place in PLACES if place.page == name]
    above = [place for place in PLACES if name.startswith(place.pages) and not name.startswith(_NOWHERE)]
    return next(iter(itself or above), None)


def _places(request: HttpRequest, project: Project | None) -> list[NavLink]:
    here = _here(request)
    return [
        NavLink(place.word, _link(place, project), place == here)
        for place in PLACES
        if project is not None or not place.of_project
    ]


def _link(place: Place, project: Project | None) -> str:
    return reverse(place.page, args=[project.slug] if project is not None and place.of_project else [])


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
