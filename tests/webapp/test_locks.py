"""Locks are not waited for for ever."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from engine.errors import StoreError
from tests.factories import search_job, studio
from webapp.lib.locks import only_one
from webapp.studies import explore_build as build
from webapp.studies import explore_source as source


def test_a_lock_that_stays_taken_ends_the_wait(tmp_path: Path) -> None:
    with only_one(tmp_path / "lock", 0.0), pytest.raises(TimeoutError), only_one(tmp_path / "lock", 0.0):
        raise AssertionError("two hold one lock")


def test_a_lock_is_free_again_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="inside"), only_one(tmp_path / "lock", 0.0):
        raise ValueError("inside")
    with only_one(tmp_path / "lock", 0.0):
        assert (tmp_path / "lock").exists()


@pytest.mark.django_db
def test_a_reader_of_lineups_is_told_when_another_one_prepares_them_for_long(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    job = search_job(studio().project, rows=20)
    monkeypatch.setattr(build, "LONGEST_WAIT", 0.1)
    monkeypatch.setattr(settings, "VAR", tmp_path)  # other tests leave lineups of a job with this number
    folder = build.folder(job, source.key(job)).parent
    folder.mkdir(parents=True)
    with only_one(folder / ".lock", 0.0), pytest.raises(StoreError, match="still being prepared"):
        build.explored(job)
