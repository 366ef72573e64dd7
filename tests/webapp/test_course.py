"""How a search went: best and typical lineup, pieces held, the map of MAP-Elites, who copied whom."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.arrays import pack, unpack
from engine.events import Progressed
from engine.games.herobattle.spec import game_spec
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from tests.factories import Studio, archive, bundle, search_job, signed_in
from tests.webapp.rounds import grid_artifact, lineage_artifact, played
from webapp.lib.storage import store
from webapp.studies import course
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.producer)


def address(name: str, job: Job, query: str = "") -> str:
    return reverse(f"studies:{name}", args=[job.project.slug, job.pk]) + query


def test_best_and_typical_are_those_of_the_round(client: Client, team: Studio) -> None:
    job = played(team.project, 4)
    told = client.get(address("course", job)).json()
    assert told["tick"] == [1, 2, 3, 4]
    for k, tick in enumerate(told["tick"]):
        advantage = archive(30, seed=tick)["objective"][:, 0]
        assert told["best"][k] == pytest.approx(advantage.max(), rel=1e-4)
        assert told["median"][k] == pytest.approx(np.median(advantage), rel=1e-4)
        assert told["low"][k] <= told["median"][k] <= told["high"][k]
    assert told["volume"] == pytest.approx([0.1, 0.2, 0.3, 0.4])


def test_a_share_counts_lineups_that_hold_the_piece(client: Client, team: Studio) -> None:
    spec = game_spec()
    slots = [i for i, slot in enumerate(spec.slots) if slot.kind == "piece"]
    pieces = client.get(address("course", played(team.project, 3))).json()["pieces"]
    assert 0 < len(pieces) <= course.MOST_PIECES
    names = [piece.name for piece in spec.pieces]
    for piece in pieces:
        held = [
            np.mean([(genome[:, slots] == names.index(piece["name"])).any() for genome in archive(30, seed)["genome"]])
            for seed in (1, 2, 3)
        ]
        assert piece["share"] == pytest.approx(held, rel=1e-4)


def test_lineups_that_failed_are_no_part_of_it(client: Client, team: Studio) -> None:
    job = played(team.project, 1)
    columns = archive(30, 1)
    columns["status"][:] = 1
    job.events.update(body={"artifacts": {"chunk": store().put(bundle(columns)), "front": ""}})
    assert client.get(address("course", job)).json()["tick"] == []


def test_a_lost_round_is_left_out_and_a_long_search_thinned(client: Client, team: Studio) -> None:
    job = played(team.project, 4)
    store().discard([job.events.get(tick=2).body["artifacts"]["chunk"]])
    course._round.cache_clear()
    assert client.get(address("course", job)).json()["tick"] == [1, 3, 4]
    Job.objects.update(tick=400)
    job.refresh_from_db()
    assert client.get(address("course", job)).json()["tick"] == [1]  # of rounds 1, 8, 16 …, the first alone is there


@pytest.mark.parametrize(("kind", "maps"), [("map-elites", True), ("nsga2", False)])
def test_a_page_offers_the_map_where_the_algorithm_leaves_one(
    kind: str, maps: bool, client: Client, team: Studio
) -> None:
    job = played(team.project, 1)
    job.config["algorithm"] = {**job.config["algorithm"], "kind": kind}
    job.save()
    page = client.get(address("job", job)).content.decode()
    assert ('data-tell="grid"' in page) == maps
    assert 'data-tell="lineage"' not in page
    assert 'data-tell="volume"' in page


def test_only_a_search_has_a_course(client: Client, team: Studio) -> None:
    job = search_job(team.project, kind="recheck")
    job.config["kind"] = "recheck"
    job.save()
    assert client.get(address("course", job)).status_code == 404
    assert client.get(address("grid", job)).status_code == 404


def drawn(team: Studio, **artifacts: str) -> Job:
    job = played(team.project, 1)
    job.events.update(body={"artifacts": artifacts})
    return job


def test_the_map_has_axes_in_the_objectives_words(client: Client, team: Studio) -> None:
    answer = client.get(address("grid", drawn(team, grid=grid_artifact()), "?tick=1"))
    found = answer.json()
    assert [axis["title"] for axis in found["axes"]] == ["Strength gap", "Weakest team’s strength left"]
    assert found["axes"][1]["edges"] == [10.0, 15.0, 20.0, 25.0, 30.0]
    assert found["quality"]["title"] == "Resource advantage"
    assert len(found["cells"][0]) == 12
    assert "immutable" in answer["Cache-Control"]


@pytest.mark.parametrize("value", [np.nan, 10.0])
def test_an_axis_without_two_different_numbers_is_one_cell_wide(client: Client, team: Studio, value: float) -> None:
    where = np.array([(i, 0) for i in range(4)])
    bounds = {"low": np.array([0.0, value]), "high": np.array([40.0, value])}
    columns = {"cell": where, "quality": np.ones(4), "id": np.arange(4), **bounds}
    job = drawn(team, grid=store().put(pack({"bins": 4, "quality": 0}, columns)))
    found = client.get(address("grid", job, "?tick=1")).json()
    assert [axis["edges"] for axis in found["axes"]] == [[0.0, 10.0, 20.0, 30.0, 40.0], [0.0, 1.0]]
    assert found["cells"][1] == [0, 0, 0, 0]


def test_the_map_of_the_end_is_the_one_measured_on_fresh_battles(client: Client, team: Studio) -> None:
    job = drawn(team, grid=grid_artifact())
    assert client.get(address("grid", job, "?of=fresh")).status_code == 404
    Job.objects.update(artifacts={"fresh_grid": grid_artifact(5)})
    assert len(client.get(address("grid", job, "?of=fresh")).json()["cells"][0]) == 5
    assert len(client.get(address("grid", job, "?tick=1")).json()["cells"][0]) == 12


def test_cells_that_lie_above_each_other_show_the_best(team: Studio) -> None:
    job = drawn(team)
    where = np.array([[0, 1], [0, 1], [3, 3]], dtype=np.int64)
    bounds = {"low": np.zeros(2), "high": np.zeros(2)}
    columns = {"cell": where, "quality": np.array([1.0, 2.0, np.nan]), "id": np.array([7, 8, 9]), **bounds}
    found = course.grid(job, store().put(pack({"bins": 4, "quality": 0}, columns)))
    assert found["cells"] == [[0, 3], [1, 3], [2.0, None], [8, 9]]
    assert found["axes"][0]["edges"] == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_a_lineage_says_who_copied_whom(client: Client, team: Studio) -> None:
    found = client.get(address("lineage", drawn(team, lineage=lineage_artifact()), "?tick=1")).json()
    assert found == {"member": [0, 1, 2, 0, 1, 2], "step": [0, 0, 0, 1, 1, 1], "copied": [-1, -1, -1, -1, -1, 0]}


@pytest.mark.parametrize("name", ["grid", "lineage"])
def test_a_search_of_another_kind_has_neither(client: Client, team: Studio, name: str) -> None:
    assert client.get(address(name, played(team.project, 2))).status_code == 404


@pytest.mark.parametrize("noise", [{}, {"reevaluate": 2}])
def test_a_search_that_fills_a_map_leaves_it_with_every_round(
    team: Studio, tmp_path: Path, noise: dict[str, int]
) -> None:
    job = search_job(team.project)
    tiny = {"algorithm": {"kind": "map-elites", "population": 8, "bins": 4}, "ticks": 2, "replicates": 2, "fresh": 0}
    config = load(job.config | tiny | {"pool": {"kind": "local"}, "noise": noise})
    files = FolderStore(tmp_path)
    rounds = [event for event in run(config, files) if isinstance(event, Progressed)]
    for event in rounds:
        arrays = unpack(files.get(event.artifacts["grid"])).arrays
        assert len(arrays["id"]) == round(event.metrics["coverage"] * 16)
    found = course.grid(job, store().put(files.get(rounds[-1].artifacts["grid"])))
    assert found["bins"] == 4
    assert len(found["cells"][0]) == len(arrays["id"])
