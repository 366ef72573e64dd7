"""The words of the explorer's address mean the same on the server as on the screen."""

from __future__ import annotations

import numpy as np
import pytest
from django.http import QueryDict

from engine.indicators import half_width
from tests.factories import MEDIAN_BASELINE, search_job, studio
from webapp.studies import explore_build as build
from webapp.studies.explore_build import Explored
from webapp.studies.explore_filter import AddressError, chosen

pytestmark = pytest.mark.django_db


@pytest.fixture
def explored() -> Explored:
    return build.build(search_job(studio().project, rows=3000))


def ids(explored: Explored, query: str, listed: frozenset[int] = frozenset()) -> list[int]:
    return explored.core["id"][chosen(QueryDict(query), explored, listed)].tolist()


def test_an_empty_address_means_everything_over_the_line_surest_and_worst_first(explored: Explored) -> None:
    rows = chosen(QueryDict(""), explored, ())
    sure, value = explored.core["sure"][rows], explored.core["value"][0][rows]
    assert len(rows) == (explored.core["verdict"] > 0).sum() > 0
    assert (np.diff(sure.astype(int)) <= 0).all()
    assert all((np.diff(value[sure == kind]) <= 0).all() for kind in np.unique(sure))


def test_over_the_line_but_weak_is_told_from_not_sure_yet(explored: Explored) -> None:
    core = explored.core
    words = np.array(explored.meta["sure"])[core["sure"]]
    theirs = half_width(np.array([0.4]), 64)[0]
    weak = core["value"][2] + np.hypot(core["half"][2], theirs) < MEDIAN_BASELINE
    assert (core["verdict"][words == "Found by the search"] == 2).all()
    assert {"Over, weak", "Not sure yet"} <= set(words)
    assert weak[words == "Over, weak"].all()
    assert not weak[words == "Not sure yet"].any()
    assert (core["verdict"][np.isin(words, ["Over, weak", "Not sure yet"])] == 1).all()


def test_bounds_are_compared_as_32_bit_numbers_like_in_the_browser(explored: Explored) -> None:
    exact = float(explored.core["value"][2, 17])
    found = ids(explored, f"show=under,unsure,strong&min-weakest={exact:.9g}&max-weakest={exact:.9g}")
    assert 17 in found


def test_several_words_narrow_together(explored: Explored) -> None:
    index = next(i for i, p in enumerate(explored.meta["pieces"]) if p["id"] == "coil-bow")
    pieces = [s for s, slot in enumerate(explored.meta["slots"]) if slot["kind"] == "piece"]
    has = (explored.genome[:, :, pieces] == index).any(axis=(1, 2))
    value = explored.core["value"]
    expected = has & (value[0] >= 1.5) & (value[1] <= 60) & (explored.core["verdict"] != 1)
    query = "show=under,strong&piece=coil-bow&min-advantage=1.5&max-gap=60"
    assert sorted(ids(explored, query)) == np.flatnonzero(expected).tolist()


def test_two_pieces_mean_lineups_with_both(explored: Explored) -> None:
    one, two = ids(explored, "show=under,unsure,strong&piece=warhorn"), ids(explored, "piece=pikes&piece=warhorn")
    assert set(two) < set(one)


def test_families_the_front_and_the_shortlist_narrow_too(explored: Explored) -> None:
    everything = "show=under,unsure,strong"
    assert sorted(ids(explored, f"{everything}&best=1")) == np.flatnonzero(explored.core["best"]).tolist()
    assert (
        sorted(ids(explored, f"{everything}&family=1,2"))
        == np.flatnonzero(np.isin(explored.core["family"], [1, 2])).tolist()
    )
    assert ids(explored, f"{everything}&listed=1", frozenset({5, 9})) in ([5, 9], [9, 5])


def test_rows_chosen_by_hand_are_taken_whatever_the_filters_say(explored: Explored) -> None:
    assert sorted(ids(explored, "rows=3,1,2&min-advantage=99")) == [1, 2, 3]


@pytest.mark.parametrize("word", ["advantage", "gap", "weakest"])
def test_a_sort_rises_and_falls_with_equal_ones_in_order_of_birth(explored: Explored, word: str) -> None:
    j = [o["name"] for o in explored.meta["objectives"]].index(word)
    for sort, sign in ((word, 1), (f"-{word}", -1)):
        rows = chosen(QueryDict(f"show=under,unsure,strong&sort={sort}"), explored, ())
        value = sign * explored.core["value"][j][rows]
        assert (np.diff(value) >= 0).all()
        assert (np.diff(rows)[np.diff(value) == 0] > 0).all()


def test_names_sort_as_they_are_spelt(explored: Explored) -> None:
    rows = chosen(QueryDict("show=under,unsure,strong&sort=name"), explored, ())
    heroes = explored.genome[rows][:, :, 0]
    names = [tuple(explored.meta["pieces"][i]["name"] for i in lineup) for lineup in heroes]
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("min-gap=wide", "min-gap is 'wide'"),
        ("piece=excalibur", "no piece 'excalibur'"),
        ("rows=1,two", "rows is a list"),
        ("sort=colour", "cannot be sorted by 'colour'"),
    ],
)
def test_an_address_that_cannot_be_read_says_which_part(explored: Explored, query: str, says: str) -> None:
    with pytest.raises(AddressError, match=says):
        chosen(QueryDict(query), explored, ())
