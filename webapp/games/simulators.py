"""Which simulators there are, who may see, change and use them, and who did what to them."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from webapp.accounts.models import User
from webapp.games.models import Simulator, SimulatorAudit
from webapp.projects.models import Project, Role

BUILTIN = (
    ("Herobattle", "builtin:herobattle"),
    ("Battle for Wesnoth", "builtin:wesnoth"),
)


def ensure_builtin_simulators() -> list[Simulator]:
    """The rows of the built-in games, made where they are missing; every project may use them."""
    found = []
    for name, reference in BUILTIN:
        simulator, made = Simulator.objects.get_or_create(
            reference=reference, defaults={"name": name, "kind": Simulator.Kind.BUILTIN, "everybody": True}
        )
        if made:
            record(simulator, "registered", None, "built in")
        found.append(simulator)
    return found


def plays_inside(simulator: Simulator) -> bool:
    """Whether battles run inside the engine's own processes; any other game is played beside it, far more slowly."""
    return simulator.reference.startswith("builtin:herobattle")


def obstacle(simulator: Simulator) -> str:
    """Why battles of this game cannot be played now; empty when they can."""
    if simulator.status not in (Simulator.Status.MISSING, Simulator.Status.BROKEN):
        return ""
    return f"The game cannot be played now. {simulator.message}"


def granted(project: Project) -> QuerySet[Simulator]:
    """The simulators that a project may use."""
    return Simulator.objects.filter(Q(everybody=True) | Q(projects=project)).distinct()


def with_data(project: Project) -> QuerySet[Simulator]:
    """Those of them whose games have lineups, and so data; what was never tested is among them."""
    return granted(project).filter(by_moves=False)


def by_moves(project: Project) -> QuerySet[Simulator]:
    """Those of them in which agents can be trained: played move by move, or programs that never told what they are."""
    unknown = Q(spec={}) & ~Q(kind=Simulator.Kind.BUILTIN)
    return granted(project).filter(Q(by_moves=True) | unknown)


def may_register(user: User) -> bool:
    """Registering is running code: site operators, and engineers of any project."""
    return user.is_staff or user.memberships.filter(role=Role.ENGINEER).exists()


def visible(user: User) -> QuerySet[Simulator]:
    """All of them for site operators; for engineers those they registered or may use in a project of theirs."""
    if user.is_staff:
        return Simulator.objects.all()
    own = Q(created_by=user) | Q(everybody=True) | Q(projects__in=engineered(user))
    return Simulator.objects.filter(own).distinct()


def engineered(user: User) -> QuerySet[Project]:
    """The projects in which this person is engineer; all of them for a site operator."""
    if user.is_staff:
        return Project.objects.all()
    return Project.objects.filter(memberships__user=user, memberships__role=Role.ENGINEER)


def may_change(user: User, simulator: Simulator) -> bool:
    """Site operators change any registration except the built-in ones' reference; engineers their own."""
    return user.is_staff or (simulator.created_by_id == user.pk and simulator.kind != Simulator.Kind.BUILTIN)


def record(simulator: Simulator, action: str, user: User | None, detail: str = "") -> None:
    """Add a line to the audit."""
    SimulatorAudit.objects.create(simulator_name=simulator.name, action=action, detail=detail[:4000], user=user)
