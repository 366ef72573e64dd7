"""Jobs whose studies are made up: the web's side of the contract, with every misbehaviour the engine's has not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from webapp.projects.models import Project
from webapp.studies.models import Job

MADE_UP = (sys.executable, "-m", "tests.workers.made_up_study")

MakeJob = Callable[..., Job]


@pytest.fixture
def project(transactional_db: None) -> Project:
    return Project.objects.create(name="Herobattle", slug="herobattle")


@pytest.fixture
def make_job(project: Project) -> MakeJob:
    """A queued job; keyword arguments are its study's plan, and ``row`` changes of the row."""

    def make(row: dict[str, Any] | None = None, **plan: Any) -> Job:
        defaults = {"project": project, "kind": "search", "title": "Which teams are unfair?", "config_hash": ""}
        config = {"pool": {"kind": "local"}, "made_up": plan}
        return Job.objects.create(**{**defaults, "config": config, **(row or {})})

    return make
