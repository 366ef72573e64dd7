"""Which projects a token opens, what a study can be started with there, and how a study is described."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router

from webapp.accounts.people import signed_in
from webapp.api.auth import project_of, token_of
from webapp.api.kinds import schema as schema_of
from webapp.api.shapes import REFUSALS, ProjectDetail, ProjectShape
from webapp.balance.saving import ensure_defaults
from webapp.games.simulators import by_moves
from webapp.games.simulators import obstacle as simulator_obstacle
from webapp.games.versions import obstacle
from webapp.projects.access import allowed, role_in
from webapp.projects.models import Membership, Project
from webapp.studies import kinds
from webapp.studies.questions import QUESTIONS
from webapp.training.games import OFFERS

router = Router(tags=["Projects"])
LATEST_VERSIONS = 50


@router.get("/projects", response={200: list[ProjectShape], **REFUSALS}, url_name="projects", summary="Your projects")
def listing(request: HttpRequest) -> Any:
    """Those of the token, with your role in each."""
    only = token_of(request).project
    mine = Membership.objects.select_related("project").filter(user=signed_in(request)).order_by("project__name")
    rows = mine if only is None else mine.filter(project=only)
    return [_shape(row.project, row.role) for row in rows]


def _shape(project: Project, role: str) -> dict[str, Any]:
    return {"project": project.slug, "name": project.name, "role": role, "may_start": allowed(role, "write")}


@router.get(
    "/projects/{slug:project}", response={200: ProjectDetail, **REFUSALS}, url_name="project", summary="One project"
)
def detail(request: HttpRequest, project: str) -> Any:
    """With the game data, lineup rules, objectives and games that a study can be started with."""
    found = project_of(request, project)
    ensure_defaults(found, None)
    versions = found.versions.select_related("simulator")[:LATEST_VERSIONS]
    own = [simulator.called for simulator in by_moves(found) if not simulator_obstacle(simulator)]
    return {
        **_shape(found, str(role_in(signed_in(request), found))),
        "game_versions": [
            {"number": v.number, "label": v.label, "note": v.note, "simulator": v.simulator.called,
             "playable": not obstacle(v), "created": v.created_at}
            for v in versions
        ],
        "lineup_rules": _rows(found.lineup_rules),
        "objective_sets": _rows(found.objective_sets),
        "questions": list(QUESTIONS),
        "games": [*(offer.name for offer in OFFERS.values() if offer.name), *own],
    }  # fmt: skip


def _rows(rows: Any) -> list[dict[str, Any]]:
    return [{"number": row.pk, "name": row.name} for row in rows.filter(replaced_by=None)]


@router.get(
    "/schema/{kind}", response={200: dict[str, Any], **REFUSALS}, url_name="schema", summary="The settings of a study"
)
def schema(request: HttpRequest, kind: str) -> Any:
    """As JSON Schema, with titles, bounds and explanations; x-range marks what may be a range. kind: as in the body
    that starts a job."""
    if kind not in kinds.begun():
        raise Http404(f"No such kind of study is started by its settings; these are: {', '.join(kinds.begun())}.")
    return schema_of(kind)
