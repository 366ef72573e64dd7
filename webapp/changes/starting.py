"""How a change is tried on a search's lineups: by somebody, and by itself with every new version of the game data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q

from engine.config import ChangeConfig, parse
from engine.config.commander import Leader
from engine.errors import ConfigError, StoreError
from engine.lineups.schema import merged_patch
from webapp.accounts.models import User
from webapp.changes.picking import Lineups, baselines, suspects, watched
from webapp.games import versions
from webapp.games.models import GameVersion
from webapp.games.specs import version_spec
from webapp.lib.once import Kept
from webapp.projects.models import Project
from webapp.studies import actions, playable, retired
from webapp.studies.explore_shortlist import on_list
from webapp.studies.intake import Body
from webapp.studies.models import Job, Status
from webapp.studies.search_intake import SearchIntake

LOOKED_AT = 30
"""Latest searches among which one with suspects or a shortlist is looked for."""


def tried(search: Job) -> int:
    """How many changes were tried on a search's lineups."""
    return Job.objects.filter(parent=search, kind="change").count()


def config(search: Job, change: Mapping[str, float], replayed: Lineups, **more: Any) -> ChangeConfig:
    """The study. Its battles are of a seed of its own, so they are fresh to the search and to all changes tried before.
    Raises ConfigError."""
    shared = {name: search.config[name] for name in ("game", "objectives", "pool")}
    before = tried(search)
    return parse(ChangeConfig, {
        "name": f"Try a change: {search.title}"[:120],
        "seed": _seed(search.config["seed"], before),
        "lineups": {**search.config["lineups"], **baselines(search)},
        "change": dict(change),
        "replayed": replayed,
        "tried": before,
        **shared,
        **more,
    })  # fmt: skip


def start(search: Job, user: User, change: Mapping[str, float], replayed: Lineups, kept: Kept) -> Job:
    """A job that replays these lineups. Raises Refused where the game cannot be played now, ConfigError for numbers
    that cannot be."""
    if reason := playable.obstacle(search):
        raise actions.Refused(reason)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=search.project_id)  # so that each knows those before
        return _submit(search, user, config(search, change, replayed), **kept)


def start_under(search: Job, user: User, leader: Leader, called: str, replayed: Lineups, kept: Kept) -> Job:
    """A job that replays these lineups as they were played, and under another leader, who is ``called`` so. Raises as
    ``start``."""
    if reason := playable.obstacle(search):
        raise actions.Refused(reason)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=search.project_id)
        name = f"Under {called}: {search.title}"[:120]
        study = config(search, {}, replayed, under=leader.model_dump(mode="json"), name=name)
        return _submit(search, user, study, **kept)


def arrived(version: GameVersion) -> Job | None:
    """A new version of the game data is there: what does it do to the confirmed suspects and the shortlist of the
    latest search that has any? One job a version, which gives way to whatever people asked for; none where the search
    played another game, or the same numbers."""
    search = search_before(version)
    if search is None or search.game_version is None or playable.obstacle(search):
        return None
    try:
        change = difference(search.game_version, version)
        if not change:
            return None
        study = config(search, change, watched(search), name=f"Did version {version.number} work?")
    except (ConfigError, StoreError):
        return None
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=version.project_id)
        if of_version(version) is not None:
            return None
        return _submit(search, version.created_by, study, game_version=version, accompanies=search)


def of_version(version: GameVersion) -> Job | None:
    """The replay that came with a version."""
    return Job.objects.filter(kind="change", game_version=version).exclude(accompanies=None).order_by("-pk").first()


def search_before(version: GameVersion) -> Job | None:
    """The project's latest finished search on earlier data of the same game that has confirmed suspects or a
    shortlist."""
    searches = Job.objects.filter(
        Q(shortlist__isnull=False) | Q(companions__kind="worth"),
        project=version.project_id, kind="search", status=Status.FINISHED,
        game_version__simulator=version.simulator_id, game_version__number__lt=version.number,
    ).select_related("project", "game_version__simulator")  # fmt: skip
    return next((job for job in searches.distinct().order_by("-pk")[:LOOKED_AT] if on_list(job) or suspects(job)), None)


def difference(before: GameVersion, after: GameVersion) -> dict[str, float]:
    """The numbers that another version sets differently, by path; none where it is data of another game. Raises
    ConfigError."""
    if before.simulator_id != after.simulator_id or before.spec_hash != after.spec_hash:
        return {}
    return {each.path: each.after for each in versions.changes(version_spec(after), before.patch, after.patch)}


def _submit(search: Job, user: User | None, study: ChangeConfig, **refers: Any) -> Job:
    return actions.submit(
        search.project,
        user,
        study,
        title=study.name,
        parent=search,
        template=search.template,
        **{"game_version": search.game_version, "lineup_rules": search.lineup_rules,
           "objective_set": search.objective_set, **refers},
    )  # fmt: skip


def _seed(search: int, before: int) -> int:
    return int.from_bytes(hashlib.sha256(f"change {before} of {search}".encode()).digest()[:6])


def patched(trial: Job) -> dict[str, float]:
    """The patch of the game data with the change in it. Raises ConfigError."""
    assert trial.game_version is not None
    spec = version_spec(trial.game_version)
    return merged_patch(spec, trial.game_version.patch, trial.config["change"])


def save(trial: Job, user: User, note: str) -> GameVersion:
    """The change as a new version of the game data; the one that holds it already, where there is one. Raises Stale
    where somebody saved another version since, ConfigError for numbers that the game does not allow."""
    before = trial.game_version
    assert before is not None
    if (found := saved_as(trial)) is not None:
        return found
    spec, patch = version_spec(before), patched(trial)
    return versions.save(
        trial.project, before.simulator, spec, patch, user=user, note=note, base=before.number
    )  # fmt: skip


def saved_as(trial: Job) -> GameVersion | None:
    """The version of the game data that holds the change; None where none does. Raises ConfigError."""
    before = trial.game_version
    if before is None:
        return None
    same = {"spec_hash": before.spec_hash, "simulator": before.simulator_id}
    return trial.project.versions.filter(patch=patched(trial), **same).first()


def search_again(search: Job, version: GameVersion, user: User, title: str, kept: Kept) -> Job:
    """A new search on other game data with the settings of an earlier one, and with an experiment as large as its own.
    Raises ConfigError, Refused."""
    body = Body("search", search.project, user, _settings(search, version), {}, {})
    study, refers = SearchIntake().on(body, search, version)
    return actions.submit(search.project, user, study, title=title, **refers, **kept)


def _settings(search: Job, version: GameVersion) -> dict[str, Any]:
    """The settings of a search for another version."""
    config, _ = retired.renewed(search.config)
    game = {**config["game"], "patch": version.patch, "spec": version.spec_hash, "simulator": version.simulator.called}
    return {**config, "game": game}
