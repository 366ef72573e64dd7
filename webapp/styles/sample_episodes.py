"""Sample episodes of a game: played once by a job, kept by their hash, and looked at whenever somebody types."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.db.models import Q

from engine.catalog import PLAYERS, built_in
from engine.config import parse, study_hash
from engine.config.episodes import EpisodesConfig
from engine.config.styles import StylesConfig
from engine.errors import ConfigError, StoreError
from engine.styles.preview import Samples
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies.models import Job
from webapp.training.games import title_on_menu

ROLE = "samples"


def of_game(game: Mapping[str, Any]) -> EpisodesConfig | None:
    """The sample episodes of a game, given as data; None for one that nobody can play."""
    try:
        return parse(EpisodesConfig, {"kind": "episodes", "name": _name(str(game["name"])), "game": game})
    except ConfigError:
        return None


def of(study: StylesConfig) -> EpisodesConfig | None:
    """The sample episodes of a study's game."""
    return of_game(study.task.game.model_dump(mode="json"))


def _name(game: str) -> str:
    return f"sample episodes of {title_on_menu(game)}"[:120]


def known(project: Project, config: EpisodesConfig) -> Job | None:
    """The job that played these episodes or plays them. Of a built-in game, which is the same in every project, one of
    another project will do."""
    every = Job.objects.for_forms().filter(config_hash=study_hash(config), config__kind="episodes")
    own = every.filter(project=project).order_by("-pk").first()
    if built_in(config.game.name) is None or (own is not None and ROLE in own.artifacts):
        return own
    return every.filter(Q(artifacts__has_key=ROLE)).order_by("-pk").first() or own


def samples_of(job: Job | None) -> Samples | None:
    """What was played, the players called as people call them; None while nothing is, or where it is lost."""
    digest = "" if job is None else str(job.artifacts.get(ROLE, ""))
    try:
        return _unpacked(digest) if digest else None
    except (StoreError, ConfigError):
        return None


@lru_cache(maxsize=32)
def _unpacked(digest: str) -> Samples:
    samples = Samples.unpack(store().get(digest))
    names = tuple(PLAYERS[name].label if name in PLAYERS else name for name in samples.players)
    return samples._replace(players=names)
