"""What “over the line and strong” means in compared searches: told of each, and one for the counts."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.arrays import pack, unpack
from tests.factories import Studio, archive, bundle, search_job, signed_in
from tests.webapp.test_compare import address, another
from tests.webapp.test_explore_shortlist import finished_recheck, shortlist
from webapp.games.models import GameVersion
from webapp.lib.storage import store
from webapp.studies.compare import reference
from webapp.studies.compare.side import Comparison
from webapp.studies.explore_recheck import confirmed_count
from webapp.studies.found_counts import found_by
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.producer)


def edge(median: float, error: float = 0.2, *, fresh: bool = True) -> dict[str, str]:
    """The same lineups beside a median baseline team of another strength; ``fresh``: on fresh battles too."""
    found = unpack(bundle(archive(300, 1)))
    meta = {**found.meta, "median_baseline": {"value": median, "error": error, "samples": 64}}
    digest = store().put(pack(meta, {**found.arrays, "samples": np.full(300, 64, dtype=np.int32)}))
    return {"front": digest, "archive": digest} | ({"fresh": digest} if fresh else {})


@pytest.fixture
def pair(team: Studio) -> tuple[Job, Job]:
    """One search, and the same on data in which the median baseline team got stronger."""
    job = search_job(team.project)
    return another(job, artifacts=edge(14.0)), another(job, artifacts=edge(19.0))


def strong(found: Comparison) -> list[int]:
    return [side.confirmed.confirmed for side in found.sides if side.confirmed]


def own(found: Comparison) -> list[int]:
    return [side.own_confirmed.confirmed for side in found.sides if side.own_confirmed]


def test_the_same_lineups_count_the_same_whatever_each_search_called_strong(
    team: Studio, pair: tuple[Job, Job]
) -> None:
    before, after = pair
    found = Comparison(team.project, [before.pk, after.pk])
    assert strong(found)[0] == strong(found)[1] > 0
    assert own(found)[0] > own(found)[1], "by its own reference the second seems to have found less"
    turned = Comparison(team.project, [after.pk, before.pk])
    assert strong(turned) == [own(found)[1]] * 2, "the first that is chosen judges all"


def test_the_page_says_what_strong_meant_and_by_how_much_it_moved(client: Client, pair: tuple[Job, Job]) -> None:
    before, after = pair
    page = client.get(address(before, after)).content.decode().replace("\u00a0", " ")
    assert "<td>14.0 % (13.5 to 14.5 %)</td>" in page
    assert "<td>19.0 % (18.5 to 19.5 %)</td>" in page
    assert "5.0 points stronger (4.4 to 5.6)" in page
    assert f"by the line and the median baseline team of search {before.pk}, the first that was chosen" in page


def test_the_counts_are_those_of_the_other_pages_or_say_by_what_else_they_count(
    client: Client, pair: tuple[Job, Job]
) -> None:
    page = client.get(address(*pair)).content.decode()
    counts = Comparison(pair[0].project, [job.pk for job in pair])
    jobs = client.get(reverse("studies:jobs", args=["herobattle"])).content.decode()
    for job, by_own in zip(pair, own(counts), strict=True):
        assert by_own == confirmed_count(job)
        assert f"{by_own} confirmed on fresh battles" in jobs
        assert f'<td class="number">{by_own}</td>' in page
    shared = strong(counts)[1]
    assert "Of lineups confirmed like this, 1 in 20 at most is expected to be a false alarm." in page
    assert f"{shared} <span" in page
    assert shared != own(counts)[1]
    for job in pair:
        found = found_by(job)
        assert f"{found.by_search} found by the search" in jobs
        assert f'<td class="number">{found.by_search}</td>' in page


def test_game_data_stands_beside_each_search(client: Client, pair: tuple[Job, Job]) -> None:
    before, after = pair
    assert after.game_version is not None
    later = GameVersion.objects.get(pk=after.game_version.pk)
    later.pk, later.number, later.label = None, 15, "Autumn data"
    later.save()
    Job.objects.filter(pk=after.pk).update(game_version=later)
    page = client.get(address(before, after)).content.decode()
    assert page.count("<td>Spring data, version 14</td>") >= 2
    assert page.count("<td>Autumn data, version 15</td>") >= 2


def test_where_an_edge_was_not_played_again_the_page_says_that_it_counts_the_searches_own_battles(
    client: Client, team: Studio
) -> None:
    job = search_job(team.project)
    sides = [another(job, artifacts=edge(median, fresh=False)) for median in (14.0, 19.0)]
    page = client.get(address(*sides)).content.decode()
    assert "by each search’s own battles; all by the line and the median baseline team of search" in page
    found = Comparison(team.project, [side.pk for side in sides])
    counts = [side.verdicts.strong for side in found.sides if side.verdicts]
    assert counts[0] == counts[1] > 0
    assert "Confirmed" not in page


def test_a_move_within_its_own_error_may_be_luck(client: Client, team: Studio) -> None:
    job = search_job(team.project)
    sides = [another(job, artifacts=edge(median, 0.6)) for median in (14.0, 13.2)]
    page = client.get(address(*sides)).content.decode().replace("\u00a0", " ")
    assert "0.8 points weaker, which may be luck" in page


def test_another_line_is_told_and_does_not_judge(client: Client, team: Studio) -> None:
    job = search_job(team.project)
    first = another(job, artifacts=edge(14.0))
    stricter = another(job, "objectives.objectives.0.threshold", 3.0, artifacts=edge(14.0))
    found = Comparison(team.project, [first.pk, stricter.pk])
    assert strong(found)[0] == strong(found)[1]
    assert own(found)[1] < own(found)[0]
    page = client.get(address(first, stricter)).content.decode().replace("\u00a0", " ")
    assert "<td>Resource advantage 3.0×</td>" in page
    assert "<td>the same</td>" in page


def test_where_nothing_differs_one_sentence_says_what_strong_is(client: Client, team: Studio) -> None:
    job = search_job(team.project)
    page = client.get(address(*(another(job, artifacts=edge(14.0)) for _ in range(2)))).content.decode()
    assert "the same in all of them: stronger than the median baseline team, which has 14" in page
    assert "the first that was chosen" not in page


def test_the_file_has_both_counts(client: Client, pair: tuple[Job, Job]) -> None:
    before, after = pair
    text = client.get(address(before, after, name="compare-csv")).content.decode("utf-8-sig")
    first, second = csv.DictReader(io.StringIO(text))
    assert (first["Judged by job"], second["Judged by job"]) == (str(before.pk), str(before.pk))
    assert (first["Its own median baseline team"], second["Its own median baseline team"]) == ("14.0", "19.0")
    assert float(first["From it to its bounds of 99 %"]) == pytest.approx(0.2 * 2.387, abs=0.001)
    shared, played = first["Confirmed on fresh battles"], first["Played again"]
    assert shared == second["Confirmed on fresh battles"] == first["Confirmed by its own"]
    assert int(second["Confirmed by its own"]) < int(shared) < int(played)


def test_a_lost_edge_is_judged_by_nobody_and_the_other_still_is(client: Client, pair: tuple[Job, Job]) -> None:
    before, after = pair
    lost = another(before, artifacts={"front": "0" * 64})
    found = Comparison(after.project, [lost.pk, after.pk])
    assert found.sides[0].verdicts is None
    assert strong(found) == [own(found)[0]]
    assert client.get(address(lost, after)).status_code == 200


def test_the_median_baseline_team_has_one_range_here_and_where_a_lineup_is_too_close_to_it(team: Studio) -> None:
    job = search_job(team.project, rows=200)
    finished_recheck(job, [12], [2.6, 50.0, 21.2], [0.05, 1.0, 0.02])
    told = reference.strong_words(job, reference.reference_of(job, job.artifacts["front"]))
    here, there = (re.findall(r"[\d.]+", text.rpartition("(")[2]) for text in (told, shortlist(job).fresh[12].gap))
    assert list(map(float, here)) == list(map(float, there)) == [20.0, 22.0]
