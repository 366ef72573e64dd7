"""Rows for tests and benchmarks of the pages: a project with people of each role, and a finished search whose archive
is drawn from random numbers instead of battles. Pieces and slots are herobattle's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

import numpy as np
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.test import Client
from django.utils import timezone
from numpy.typing import NDArray

from engine.arrays import pack
from engine.config.study import GameConfig, SearchConfig
from engine.games.herobattle.spec import game_spec
from engine.indicators import non_dominated
from engine.lineups.schema import spec_to_json, team_costs
from engine.simulators.contract import GameSpec, content_hash
from engine.store import FolderStore
from webapp.accounts.models import User
from webapp.games.models import GameVersion, Simulator
from webapp.lib.sessions import SessionStore
from webapp.projects.models import Membership, Project, Role
from webapp.studies.forms import NewJobForm
from webapp.studies.models import Job, Status

PASSWORD = "correct horse"
TEAMS = 3
MEDIAN_BASELINE = 21.0


class Clock:
    """A time that stands still until it is put forward."""

    def __init__(self) -> None:
        self.now = timezone.now()

    def __call__(self) -> datetime:
        return self.now

    def forward(self, by: timedelta) -> None:
        """Put it forward."""
        self.now += by


@dataclass(frozen=True)
class Studio:
    """A project, one member of each role, and a stranger."""

    project: Project
    owner: User
    designer: User
    engineer: User
    producer: User
    stranger: User


def person(name: str, **more: object) -> User:
    return User.objects.create_user(name, f"{name}@studio.example", PASSWORD, **more)


def studio(slug: str = "herobattle") -> Studio:
    project = Project.objects.create(name="Herobattle", slug=slug)
    people = {role: person(f"{slug}-{role}") for role in Role.values}
    Membership.objects.bulk_create(Membership(project=project, user=user, role=role) for role, user in people.items())
    return Studio(project=project, stranger=person(f"{slug}-stranger"), **people)


def signed_in(user: User) -> Client:
    """A browser in which somebody is signed in: with the session that signing in leaves, at a fifth of its cost.
    ``test_accounts.py`` signs in as people do."""
    browser, session = Client(), SessionStore()
    session[SESSION_KEY], session[BACKEND_SESSION_KEY] = str(user.pk), settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    browser.cookies[settings.SESSION_COOKIE_NAME] = session.session_key
    return browser


def ready_studio() -> Studio:
    """A studio with game data, and the rules and objectives that New job proposes to it."""
    made = studio()
    game_version(made.project)
    NewJobForm(None, project=made.project, user=made.designer)
    return made


def maker(name: str = "maker") -> User:
    """A stranger who makes what they can of a project of their own: owner of one, and engineer of another whose second
    owner is a friend."""
    made, friend = person(name), person(f"{name}-friend")
    own, lair = (Project.objects.create(name=slug, slug=slug) for slug in (f"{name}-own", f"{name}-lair"))
    rows = [(own, made, Role.OWNER), (lair, friend, Role.OWNER), (lair, made, Role.ENGINEER)]
    Membership.objects.bulk_create(Membership(project=p, user=user, role=role) for p, user, role in rows)
    return made


def game_version(project: Project) -> GameVersion:
    """Version 14 of herobattle's data in ``project``."""
    return data_of(project, "builtin:herobattle", game_spec())


def data_of(project: Project, reference: str, spec: GameSpec) -> GameVersion:
    """Version 14 of a game's data in ``project``; every project may play the game."""
    simulator, _ = Simulator.objects.get_or_create(
        reference=reference,
        defaults={
            "name": spec.name.capitalize(),
            "kind": reference.partition(":")[0],
            "status": Simulator.Status.READY,
            "version": spec.version,
            "spec": spec_to_json(spec),
            "spec_hash": content_hash(spec),
            "everybody": True,
        },
    )
    return GameVersion.objects.create(
        project=project,
        simulator=simulator,
        number=14,
        label="Spring data",
        spec_hash=content_hash(spec),
        content_hash=content_hash([spec.version, content_hash(spec), {}]),
    )


def search_job(project: Project, rows: int = 600, seed: int = 1, **changes: object) -> Job:
    """A finished search of ``rows`` evaluated lineups with its archive and front in the store."""
    config = SearchConfig(name="Which teams are unfair?", seed=seed, game=GameConfig(simulator="builtin:herobattle"))
    plain = config.model_dump(mode="json")
    archived, front = _bundles(rows, seed)
    folder = FolderStore(settings.STORE_DIR)
    now = timezone.now()
    return Job.objects.create(
        **{
            "project": project,
            "kind": "search",
            "template": "unfair",
            "title": "Which teams are unfair?",
            "config": plain,
            "config_hash": content_hash(plain),
            "game_version": game_version(project),
            "status": Status.FINISHED,
            "tick": 100,
            "ticks": 100,
            "counters": {"evaluations": rows, "battles": rows * 96, "cached": 0, "steps": 0, "seconds": 14.0},
            "artifacts": {
                "archive": folder.put(archived),
                "front": folder.put(front),
            },
            "created_by": project.members.first(),
            "started_at": now,
            "finished_at": now,
            **changes,
        }
    )


def copies(job: Job, changes: Iterable[Mapping[str, object]]) -> list[Job]:
    """A further job like this one for each of these changes."""
    fields = {each.attname: getattr(job, each.attname) for each in Job._meta.concrete_fields if each.attname != "id"}
    return Job.objects.bulk_create(Job(**{**fields, "request_key": "", **each}) for each in changes)


@cache
def _bundles(rows: int, seed: int) -> tuple[bytes, bytes]:
    """The archive and the front of a search, as artifacts."""
    columns = archive(rows, seed)
    best = non_dominated(columns["objective"], [1.0, 1.0, 1.0])
    return bundle(columns), bundle({name: column[best] for name, column in columns.items()})


def boundless(job: Job) -> None:
    """Nobody says how far the first objective of a search can go: its replicates that are all alike have no range."""
    job.config["objectives"]["objectives"][0] |= {"formula": "strongest(resources) / weakest(resources)", "high": None}
    job.save()


def bundle(columns: dict[str, NDArray[np.generic]]) -> bytes:
    """Columns as the artifact an engine writes."""
    meta = {
        "objectives": ["advantage", "gap", "weakest"],
        "median_baseline": {"value": MEDIAN_BASELINE, "error": 0.4, "samples": 64},
        "baselines": [{"name": f"Drawn team {i + 1}", "row": row, "drawn": True} for i, row in enumerate(_baselines())],
        "battles_each": 96,
    }
    return pack(meta, columns)


def archive(rows: int, seed: int = 1) -> dict[str, NDArray[np.generic]]:
    """Columns of ``rows`` lineups in which a few pieces are too strong, more often so towards the end of the search."""
    spec, rng = game_spec(), np.random.default_rng(seed)
    genome = _genomes(spec, rng, rows)
    power = _power(spec, rng, genome)
    order = np.argsort(power, axis=1)
    weakest, strongest = order[:, 0], order[:, -1]
    at = np.arange(rows)
    low, gap = power[at, weakest], power[at, strongest] - power[at, weakest]
    mean = np.stack(
        [
            np.clip(1.0 + 0.5 * np.maximum(gap, 0) ** 1.35 + 0.06 * rng.normal(size=rows), 0.0, 4.0),
            np.clip(21.0 * gap + 2.5 * rng.normal(size=rows), 0.0, 100.0),
            np.clip(23.0 + 7.5 * low + 4.0 * rng.normal(size=rows), 0.0, 100.0),
        ],
        axis=1,
    )
    luck = rng.random((3, rows))
    error = np.stack([0.015 + 0.05 * np.abs(mean[:, 0] - 1) * luck[0], 0.4 + luck[1], 0.3 + 0.7 * luck[2]], axis=1)
    return {
        "id": at.astype(np.int64),
        "genome": genome,
        "objective": mean,
        "error": error,
        "covariance": error[:, :, None] * error[:, None, :] * np.eye(3),
        "samples": np.full(rows, 4, dtype=np.int32),
        "violation": np.zeros(rows),
        "status": np.zeros(rows, dtype=np.uint8),
        "anchor": np.stack([strongest, weakest], axis=1).astype(np.int32),
        "tick": (at * 100 // rows + 1).astype(np.int32),
        "cost": team_costs(spec, genome),
        "team_strength": np.clip(30.0 + 9.0 * power, 0.0, 100.0),
    }


def _baselines() -> list[list[int]]:
    return _genomes(game_spec(), np.random.default_rng(0), 1)[0].tolist()


def _genomes(spec: GameSpec, rng: np.random.Generator, rows: int) -> NDArray[np.int32]:
    genome = np.full((rows, TEAMS, len(spec.slots)), -1, dtype=np.int32)
    pool = {c.id: [i for i, p in enumerate(spec.pieces) if p.category == c.id] for c in spec.categories}
    for s, slot in enumerate(spec.slots):
        shape = (rows, TEAMS)
        genome[:, :, s] = rng.choice(pool[slot.category], shape) if slot.kind == "piece" else rng.integers(2, 5, shape)
    heroes = np.array(pool["hero"])
    genome[:, :, 0] = heroes[np.argsort(rng.random((rows, len(heroes))), axis=1)[:, :TEAMS]]
    index = spec.piece_index()
    found = rng.random(rows) < 0.25 * np.arange(rows) / rows
    genome[found, 0, 0] = index["frost-captain"]
    genome[found & (rng.random(rows) < 0.7), 0, 2] = index["warhorn"]
    return genome


def _power(spec: GameSpec, rng: np.random.Generator, genome: NDArray[np.int32]) -> NDArray[np.float64]:
    index = spec.piece_index()
    effect = np.append(0.22 * rng.normal(size=len(spec.pieces)), 0.0)
    effect[index["marrow-duke"]] = 1.25
    effect[index["coil-bow"]] = 0.9
    pieces = [s for s, slot in enumerate(spec.slots) if slot.kind == "piece"]
    power = effect[genome[:, :, pieces]].sum(axis=2) + 0.25 * rng.normal(size=genome.shape[:2])
    captain, horn = genome[:, :, 0] == index["frost-captain"], (genome == index["warhorn"]).any(axis=2)
    return power + 1.9 * (captain & horn)
