"""Evolved candidates that stream their transitions to one learner: the same is learned wherever they play, whoever is
killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.runtime.pool import LocalPool
from engine.runtime.ray_workers import RayWorkers
from engine.store import FolderStore
from tests.contracts.ray_server import RayServer, all_gone, ray_server
from tests.contracts.shared_learner import ROUNDS, Players, Study


@pytest.fixture(scope="module")
def ray() -> Iterator[RayServer]:
    """One Ray for all tests of this file."""
    with ray_server() as server:
        yield server


@pytest.fixture(scope="module")
def whole() -> Study:
    """The study in this process, never interrupted."""
    study = Study()
    with LocalPool(Players()) as pool:
        for _ in range(ROUNDS):
            study.round(pool)
    assert study.learner.version > 0
    return study


def workers() -> RayWorkers:
    """Two workers, slow enough to be killed in the middle of a candidate."""
    payload = json.dumps({"pause_s": 0.05}).encode()
    return RayWorkers("tests.contracts.shared_learner:build", lambda number, life: payload, allowed=("tests.",))


def same(one: Study, other: Study) -> None:
    """What was found and what was learned, bit for bit."""
    assert one.tick == other.tick == ROUNDS
    fronts = [[(i.evaluation.id, i.genome.tolist()) for i in study.search.front()] for study in (one, other)]
    assert fronts[0] == fronts[1]
    np.testing.assert_array_equal(one.learner.weights(), other.learner.weights())
    assert one.learner.version == other.learner.version


def test_a_worker_that_is_killed_in_the_middle_of_a_candidate_changes_nothing_that_is_learned(
    ray: RayServer, whole: Study
) -> None:
    study = Study()
    with workers() as pool:
        study.round(pool)
        while not study.heard:
            assert not study.listen(pool)
        victims = ray.workers()[:1]
        victims[0].kill()
        assert all_gone(victims[:1])
        while study.tick < ROUNDS:
            study.round(pool)
        assert [trouble.what for trouble in pool.incidents()] == ["lost-worker"]
    same(study, whole)


@pytest.mark.usefixtures("ray")
def test_a_study_that_ends_in_the_middle_of_a_round_goes_on_from_its_checkpoint_to_the_same_end(
    whole: Study, tmp_path: Path
) -> None:
    store, study = FolderStore(tmp_path), Study()
    with workers() as pool:
        study.round(pool)
        saved = study.save(store)
        while not study.heard:
            assert not study.listen(pool)
    resumed = Study.load(saved, store)
    with workers() as pool:
        while resumed.tick < ROUNDS:
            resumed.round(pool)
    same(resumed, whole)
