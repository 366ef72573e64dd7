"""What the explorer's data files hold, when they are built, and how they are served."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.games.herobattle.spec import game_spec
from engine.indicators import Family, half_width, verdicts
from engine.lineups.schema import presence
from tests.factories import MEDIAN_BASELINE, Studio, archive, bundle, search_job, signed_in
from webapp.lib.storage import store
from webapp.studies import explore_build as build
from webapp.studies import explore_source as source
from webapp.studies.models import Job, Status

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.producer)


def running_job(team: Studio, chunks: list[dict[str, NDArray[Any]]]) -> Job:
    """A search that has written these chunks, one a round, and still runs."""
    job = search_job(team.project, rows=4, status=Status.RUNNING, tick=len(chunks), artifacts={}, finished_at=None)
    for tick, chunk in enumerate(chunks, start=1):
        best = {name: column[:1] for name, column in chunk.items()}
        artifacts = {"chunk": store().put(bundle(chunk)), "front": store().put(bundle(best))}
        job.events.create(
            sequence=tick, kind="progressed", tick=tick, at=timezone.now(), body={"artifacts": artifacts, "metrics": {}}
        )
    return job


def file_address(job: Job, part: str = "core", state: str = "") -> str:
    return reverse("studies:explore-data", args=[job.project.slug, job.pk, state or source.key(job), part])


def test_every_evaluated_lineup_is_there_with_the_verdict_the_engine_gives(team: Studio) -> None:
    job, columns = search_job(team.project, rows=500, seed=7), archive(500, 7)
    explored = build.build(job)
    half = half_width(columns["error"], columns["samples"])
    expected = verdicts(columns["objective"], half, [1, 1, 1], [2.0, None, None], 2, MEDIAN_BASELINE)
    assert explored.core["id"].tolist() == list(range(500))
    assert explored.core["verdict"].tolist() == expected.tolist()
    np.testing.assert_allclose(explored.core["value"], columns["objective"].T, rtol=1e-6)
    np.testing.assert_allclose(explored.core["half"], half.T, rtol=1e-6)
    assert (explored.genome == columns["genome"]).all()


@pytest.mark.parametrize(("line", "digits"), [(90.0, 0), (20.0, 0), (5.0, 1), (0.8, 2)])
def test_values_have_digits_enough_to_be_put_in_order_beside_a_small_line(
    team: Studio, line: float, digits: int
) -> None:
    job = search_job(team.project)
    job.config["objectives"]["objectives"][1]["threshold"] = line  # strength left, whose values spread widely
    job.save()
    told = build.build(job).meta["objectives"][1]
    assert told["digits"] == digits


def test_a_family_is_what_strongest_teams_share(team: Studio) -> None:
    job = search_job(team.project, rows=6000)
    explored, spec = build.build(job), source.spec(job)
    family = explored.meta["families"][0]
    strongest = explored.genome[np.arange(6000), explored.lineups["anchor"][:, 0]]
    members = explored.core["family"] == 1
    assert family["name"] == "Frost Captain + Warhorn"
    assert members.sum() > 100
    assert presence(spec, strongest)[:, family["pieces"]].all(axis=1)[members].all()


def test_every_family_has_a_lineup_and_every_lineup_belongs_to_the_largest_that_it_fits(team: Studio) -> None:
    """Some families are parts of others: all that hold Captain and horn may be among those that hold the horn."""
    for seed in range(1, 5):
        job = search_job(team.project, rows=900, seed=seed)
        explored, spec = build.build(job), source.spec(job)
        families, member = explored.meta["families"], explored.core["family"]
        assert set(range(1, len(families) + 1)) <= set(member.tolist())
        strongest = explored.genome[np.arange(900), explored.lineups["anchor"][:, 0]]
        fits = np.array([presence(spec, strongest)[:, f["pieces"]].all(axis=1) for f in families])
        over = explored.core["verdict"] == 2
        sizes = fits[:, over].sum(axis=1)
        largest = np.where(fits, sizes[:, None], -1).max(axis=0)
        np.testing.assert_array_equal(member == 0, ~fits.any(axis=0))
        np.testing.assert_array_equal(sizes[member[member > 0] - 1], largest[member > 0])
        shown = [int((over & (member == k)).sum()) for k in range(1, len(families) + 1)]
        assert shown == sorted(shown, reverse=True)
        Job.objects.all().delete()
        team.project.versions.all().delete()


def test_a_family_whose_lineups_are_all_in_a_larger_one_is_not_listed() -> None:
    spec, columns = game_spec(), archive(200)
    columns["genome"][:40, :, 0] = spec.piece_index()["frost-captain"]
    columns["genome"][:40, :, 2] = spec.piece_index()["warhorn"]
    same = [Family((spec.piece_index()[name],), np.arange(40)) for name in ("frost-captain", "warhorn")]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(build, "families", lambda presence, wanted: [*same, *same])
        kept, member = build._families(spec, columns, np.full(200, 2, dtype=np.uint8))
    assert 0 < len(kept) < 4
    assert set(range(1, len(kept) + 1)) <= set(member.tolist())


def test_failed_lineups_and_those_against_a_must_hold_rule_are_left_out_and_counted(team: Studio) -> None:
    columns = archive(50)
    columns["status"][3] = 1
    columns["objective"][3] = np.nan
    columns["violation"][5] = 0.5
    job = search_job(team.project, rows=50, artifacts={"archive": store().put(bundle(columns))})
    explored = build.build(job)
    assert explored.meta["left_out"] == 2
    assert explored.core["id"].tolist() == [i for i in range(50) if i not in (3, 5)]


def test_a_running_job_shows_all_rounds_so_far_and_the_latest_of_a_lineup_played_twice(team: Studio) -> None:
    first, second = archive(30), archive(30, seed=2)
    second["id"] = second["id"] + 20  # ten of them were played in the first round already
    explored = build.build(running_job(team, [first, second]))
    assert explored.core["id"].tolist() == list(range(50))
    np.testing.assert_allclose(explored.core["value"][0, 20:30], second["objective"][:10, 0], rtol=1e-6)
    assert explored.core["id"][explored.core["best"] > 0].tolist() == [20]


@pytest.mark.parametrize("rounds", [0, 1])
def test_what_a_pause_left_of_the_round_that_it_cut_off_is_explored_also_once_the_job_was_stopped(
    rounds: int, team: Studio
) -> None:
    columns = archive(300, 3)
    first, second = ({name: column[part] for name, column in columns.items()} for part in (slice(200), slice(200, 300)))
    job = running_job(team, [first][:rounds])
    before = source.key(job)
    Job.objects.filter(pk=job.pk).update(status=Status.STOPPED, artifacts={"arrived": store().put(bundle(second))})
    job.refresh_from_db()
    assert source.key(job) != before
    assert build.build(job).core["id"].tolist() == list(range(200 * (1 - rounds), 300))


def test_a_job_without_a_round_has_no_rows_and_no_error(team: Studio, client: Client) -> None:
    job = running_job(team, [])
    answer = client.get(file_address(job))
    meta, arrays = unpack(answer.content)
    assert (meta["rows"], arrays) == (0, {})
    assert client.get(reverse("studies:explore", args=[team.project.slug, job.pk])).status_code == 200


def test_a_new_round_is_a_new_file_and_the_old_one_stays_readable(team: Studio, client: Client) -> None:
    job = running_job(team, [archive(30)])
    before = file_address(job)
    assert client.get(before).status_code == 200
    Job.objects.filter(pk=job.pk).update(tick=2)
    job.refresh_from_db()
    assert file_address(job) != before
    assert client.get(before).status_code == 200
    assert client.get(file_address(job, state="0" * 32)).status_code == 404


def test_a_file_may_be_kept_for_good(team: Studio, client: Client) -> None:
    job = search_job(team.project, rows=40)
    answer = client.get(file_address(job))
    assert "immutable" in answer["Cache-Control"]
    assert "private" in answer["Cache-Control"]
    again = client.get(file_address(job), headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_file_is_compressed_for_browsers_on_other_machines_only(team: Studio, client: Client) -> None:
    job = search_job(team.project, rows=40)
    here = client.get(file_address(job), headers={"Accept-Encoding": "gzip"})
    there = client.get(file_address(job), headers={"Accept-Encoding": "gzip"}, REMOTE_ADDR="192.0.2.7")
    assert "Content-Encoding" not in here
    assert there["Content-Encoding"] == "gzip"
    assert len(there.content) < len(here.content)


def test_a_missing_artifact_is_said_and_not_a_crash(team: Studio, client: Client) -> None:
    job = search_job(team.project, rows=40, artifacts={"archive": "0" * 64})
    answer = client.get(file_address(job))
    assert answer.status_code == 503
    assert "missing" in answer.json()["error"]
    state = client.get(reverse("studies:explore-state", args=[team.project.slug, job.pk])).json()
    assert "missing" in state["error"]


def test_files_are_built_once(team: Studio, client: Client) -> None:
    job = search_job(team.project, rows=40)
    client.get(file_address(job))
    folder = build.folder(job, source.key(job))
    written = (folder / "core.arrays").stat().st_mtime_ns
    client.get(file_address(job))
    assert (folder / "core.arrays").stat().st_mtime_ns == written
    assert sorted(p.name for p in folder.iterdir()) == ["core.arrays", "lineups.arrays", "teams.arrays"]


def test_a_re_check_is_explored_in_the_search_it_belongs_to(team: Studio, client: Client) -> None:
    job = search_job(team.project, rows=40)
    child = Job.objects.create(project=team.project, kind="recheck", title="Re-check", config=job.config, parent=job)
    answer = client.get(reverse("studies:explore", args=[team.project.slug, child.pk]))
    assert answer["Location"] == reverse("studies:explore", args=[team.project.slug, job.pk])


def test_the_data_follow_the_version_a_job_was_played_on(team: Studio) -> None:
    job = search_job(team.project, rows=40)
    job.config["game"]["patch"] = {"warhorn.cost": 333.0}
    pieces = {p["id"]: p["cost"] for p in build.build(job).meta["pieces"]}
    assert pieces["warhorn"] == 333.0
