"""Which simulators there are, who may see, change and use them, and who did what to them."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q, QuerySet

from webapp.accounts.models import User
from webapp.accounts.rights import may_run_code
from webapp.games.models import Simulator, SimulatorAudit
from webapp.projects.models import Project, Role

BUILTIN = (
    ("Herobattle", "builtin:herobattle"),
    ("Battle for Wesnoth", "builtin:wesnoth"),
)

OFF = Simulator.Status.OFF
OFF_WORDS = "A site operator switched it off."


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
    if simulator.status not in (Simulator.Status.MISSING, Simulator.Status.BROKEN, OFF):
        return ""
    return f"The game cannot be played now. {simulator.public_message}"


def taken_away(simulator: Simulator) -> str:
    """What is said where a project has data or jobs of a simulator that it may not use any more."""
    return f"This project may not play {simulator} any more. Ask who registered it, or a site operator."


def granted(project: Project) -> QuerySet[Simulator]:
    """The simulators that a project may use."""
    return Simulator.objects.filter(Q(everybody=True) | Q(projects=project)).distinct()


def registration(reference: str, project: Project) -> Simulator | None:
    """What a project plays under an engine's reference: of several registrations of one program one that the project
    may use, and that can be played; None where there is none."""
    rows = Simulator.objects.filter(reference=reference)
    usable = set(granted(project).filter(reference=reference).values_list("pk", flat=True))
    return min(rows, key=lambda row: (row.pk not in usable, bool(obstacle(row)), row.pk), default=None)


def with_data(project: Project) -> QuerySet[Simulator]:
    """Those of them whose games have lineups, and so data; what was never tested is among them."""
    return granted(project).filter(by_moves=False)


def by_moves(project: Project) -> QuerySet[Simulator]:
    """Those of them in which agents can be trained: they ask for every decision, or never told what they are."""
    unknown = Q(spec={}) & ~Q(kind=Simulator.Kind.BUILTIN)
    return granted(project).filter(Q(by_moves=True) | unknown)


def visible(user: User) -> QuerySet[Simulator]:
    """All of them for site operators; for others with the right those they registered or may use in a project that
    they own or are engineer of."""
    if user.is_staff:
        return Simulator.objects.all()
    own = Q(created_by=user) | Q(everybody=True) | Q(projects__in=served(user))
    return Simulator.objects.filter(own).distinct()


def served(user: User) -> QuerySet[Project]:
    """The projects to which this person may bring simulators of theirs: those they own or are engineer of; all of them
    for a site operator."""
    if user.is_staff:
        return Project.objects.all()
    return Project.objects.filter(memberships__user=user, memberships__role__in=(Role.OWNER, Role.ENGINEER))


def may_change(user: User, simulator: Simulator) -> bool:
    """Site operators change any registration except the built-in ones' reference; others with the right their own."""
    own = simulator.created_by_id == user.pk and simulator.kind != Simulator.Kind.BUILTIN
    return user.is_staff or (own and may_run_code(user))


def knows_program(user: User, simulator: Simulator) -> bool:
    """Whether the person is told the command line, which may hold a path or a key: operators, and who typed it."""
    return simulator.kind == Simulator.Kind.BUILTIN or may_change(user, simulator)


def registered_by(user: User) -> QuerySet[Simulator]:
    """The programs that this person brought to the site."""
    return Simulator.objects.filter(created_by=user).exclude(kind=Simulator.Kind.BUILTIN)


def switch_off(simulator: Simulator, by: User, why: str = "") -> None:
    """No job that is started, resumed or waiting plays it, and nobody tests it, until an operator switches it on; a job
    that runs goes on while its attempt lasts."""
    with transaction.atomic():
        if Simulator.objects.filter(pk=simulator.pk).exclude(status=OFF).update(status=OFF, test="", message=OFF_WORDS):
            record(simulator, "switched off", by, why)


def switch_on(simulator: Simulator, by: User) -> None:
    """It can be tested again, and played after that."""
    with transaction.atomic():
        off = Simulator.objects.filter(pk=simulator.pk, status=OFF)
        if off.update(status=Simulator.Status.UNTESTED, message="", findings=[]):
            record(simulator, "switched on", by)


def record(simulator: Simulator, action: str, user: User | None, detail: str = "") -> None:
    """Add a line to the audit."""
    SimulatorAudit.objects.create(
        registration=simulator.pk, simulator_name=simulator.name, action=action, detail=detail[:4000], user=user
    )
