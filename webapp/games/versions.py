"""Versions of a project's game data: made by an import or by hand, compared, restored; never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import IntegrityError, transaction

from engine.errors import ConfigError
from engine.lineups.schema import check_patch, merged_patch
from engine.simulators.contract import GameSpec, Parameter, content_hash
from webapp.accounts.models import User
from webapp.games import arrivals
from webapp.games.models import GameVersion, Simulator
from webapp.games.simulators import obstacle as simulator_obstacle
from webapp.games.simulators import taken_away, with_data
from webapp.games.specs import keep, spec_of, version_spec
from webapp.projects.models import Project


class Stale(Exception):
    """Somebody saved another version in the meantime."""

    def __init__(self, newest: GameVersion) -> None:
        self.newest = newest
        super().__init__(
            f"{newest.created_by or 'Somebody'} saved version {newest.number} in the meantime. "
            "The changes below are shown against it now; save again if they are still right."
        )


@dataclass(frozen=True)
class Change:
    """One number that differs. ``default`` is the simulator's own value."""

    path: str
    name: str
    title: str
    before: float
    after: float
    default: float
    unit: str
    place: str = ""

    @property
    def share(self) -> float | None:
        """Change in per cent of the old value; None from zero."""
        return 100 * (self.after - self.before) / abs(self.before) if self.before else None


def current(project: Project) -> GameVersion | None:
    """The newest version of the project."""
    return project.versions.select_related("simulator", "created_by", "project").first()


def moved_on(version: GameVersion) -> bool:
    """Whether its simulator describes another game now than the data was made for."""
    return version.simulator.spec_hash not in ("", version.spec_hash)


def obstacle(version: GameVersion) -> str:
    """Why no job can be started on this data now, in a sentence for the pages and the API alike; empty when one can."""
    if not with_data(version.project).filter(pk=version.simulator_id).exists():
        return taken_away(version.simulator)
    if reason := simulator_obstacle(version.simulator):
        return reason
    if moved_on(version):
        return f"{version.simulator} has moved on since {version} was made. Move the data to it under Game data first."
    try:
        version_spec(version)
    except ConfigError as error:
        return error.problems[0].message
    return ""


def version_hash(simulator_version: str, spec_hash: str, patch: Mapping[str, float]) -> str:
    """sha256 of what a job plays on: simulator version, spec hash, patch."""
    return content_hash([simulator_version, spec_hash, {path: float(value) for path, value in patch.items()}])


def values(spec: GameSpec, patch: Mapping[str, float]) -> dict[str, float]:
    """Every number of the game by path."""
    return {path: patch.get(path, p.default) for path, p in spec.extended(patch).tunables().items()}


def changes(spec: GameSpec, before: Mapping[str, float], after: Mapping[str, float]) -> list[Change]:
    """What differs between two patches, in the order of the game's tables."""
    found = []
    spec = spec.extended([*before, *after])
    names = {p.id: p.name for p in spec.pieces}
    for path, p in spec.tunables().items():
        old, new = before.get(path, p.default), after.get(path, p.default)
        if old != new:
            found.append(Change(path, *_named(path, p, names), old, new, p.default, p.unit))
    return found


def _named(path: str, p: Parameter, names: Mapping[str, str]) -> tuple[str, str]:
    piece, _, _ = path.rpartition(".")
    return (names[piece], p.title.removeprefix(f"{names[piece]}: ")) if piece in names else ("", p.title)


def save(
    project: Project,
    simulator: Simulator,
    spec: GameSpec,
    patch: Mapping[str, float],
    *,
    user: User | None,
    label: str = "",
    note: str = "",
    base: int | None = None,
) -> GameVersion:
    """A new version. ``base``: the number of the version the changes were made against; None: whatever is the newest,
    also where somebody saves another one at the same moment.

    Raises Stale when there is a newer one, ConfigError for a patch that the game does not allow.
    """
    problems = check_patch(spec, patch)
    if problems:
        raise ConfigError(problems)
    spec_hash = keep(spec.own())
    try:
        with transaction.atomic():
            newest = current(project)
            if base is not None and newest is not None and newest.number != base:
                raise Stale(newest)
            made = GameVersion.objects.create(
                project=project,
                simulator=simulator,
                number=newest.number + 1 if newest else 1,
                label=(label or (newest.label if newest else f"{spec.title} data"))[:80],
                note=note,
                patch=dict(sorted(patch.items())),
                spec_hash=spec_hash,
                content_hash=version_hash(spec.version, spec_hash, patch),
                created_by=user,
            )
            transaction.on_commit(lambda: arrivals.arrived(made), robust=True)
            return made
    except IntegrityError:
        later = current(project)
        if later is None:
            raise
        if base is not None or newest in (None, later):
            raise Stale(later) from None
    return save(project, simulator, spec, patch, user=user, label=label, note=note)


def first_version(project: Project, simulator: Simulator, user: User | None) -> GameVersion:
    """The simulator's own data as the project's first version, or its next when it changes the game."""
    spec = spec_of(simulator)
    if spec is None:
        raise ConfigError([("simulator", f"{simulator} has not described itself yet. Test its handshake first.")])
    label, note = f"{spec.title} data", f"{spec.title} as the simulator has it"
    return save(project, simulator, spec, {}, user=user, label=label, note=note)


def restore(version: GameVersion, user: User | None) -> GameVersion:
    """The data of an earlier version as a new one: nothing is lost, and it can be undone the same way."""
    spec = version_spec(version)
    return save(version.project, version.simulator, spec, version.patch, user=user,
                note=f"Version {version.number} restored")  # fmt: skip


@dataclass(frozen=True)
class Move:
    """A version's data on the game as its simulator describes it now: the patch that is left, the changes of the
    project that no longer fit, the numbers that differ, and the names of what is gone and of what is new."""

    spec: GameSpec
    patch: dict[str, float]
    dropped: list[str]
    changes: list[Change]
    gone: list[str]
    new: list[str]


def move(version: GameVersion) -> Move | None:
    """What ``adopt`` would save; None while the simulator has not described itself.

    Raises ConfigError when the game the version was made for is no longer kept.
    """
    spec = spec_of(version.simulator)
    if spec is None:
        return None
    old = version_spec(version)
    dropped = [path for path, _ in check_patch(spec, version.patch)]
    patch = merged_patch(spec, {}, {path: v for path, v in version.patch.items() if path not in dropped})
    before, after = values(old, version.patch), values(spec, patch)
    names = {p.id: p.name for p in spec.pieces}
    changed = [
        Change(path, *_named(path, p, names), before[path], after[path], p.default, p.unit)
        for path, p in spec.tunables().items()
        if before.get(path, after[path]) != after[path]
    ]
    return Move(spec, patch, dropped, changed, _only_in(old.own(), spec), _only_in(spec, old))


def _only_in(one: GameSpec, other: GameSpec) -> list[str]:
    """Names of the pieces and settings that the other game has not."""
    known = {p.id for p in other.pieces} | {p.path for p in other.parameters}
    pieces = [p.name for p in one.pieces if p.id not in known]
    return pieces + [p.title for p in one.parameters if p.path not in known]


def adopt(version: GameVersion, user: User | None) -> tuple[GameVersion, list[str]] | None:
    """The version's changes on the game as its simulator describes it now, saved, and the paths that no longer fit;
    None, and nothing is saved, where the simulator describes the game that the data was made for.

    Raises Stale when there is a newer version, ConfigError as ``move`` does.
    """
    moved = move(version) if moved_on(version) else None
    if moved is None:
        return None
    note = f"Moved to {moved.spec.title} {moved.spec.version}"
    saved = save(version.project, version.simulator, moved.spec, moved.patch, user=user, note=note, base=version.number)
    return saved, moved.dropped
