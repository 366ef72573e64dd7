"""Reading a study that is wrong in many places, and leaving out what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import studies
from engine.studies import elsewhere, reading

KEYS = st.sampled_from("abc")
PARTS = st.recursive(
    st.integers(0, 3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=20,
)
PLACES = st.lists(st.lists(KEYS | st.sampled_from("012"), min_size=1, max_size=4).map(".".join), max_size=6)


def without(part: Any, path: Sequence[str]) -> Any:
    """A part without what is at one path; with an item its list goes."""
    first, *rest = path
    if isinstance(part, list) and rest and first in [str(i) for i in range(len(part))]:
        return [without(item, rest) if i == int(first) else item for i, item in enumerate(part)]
    if not isinstance(part, Mapping) or first not in part:
        return part
    if not rest or (len(rest) == 1 and isinstance(part[first], list)):
        return {key: value for key, value in part.items() if key != first}
    return {**part, first: without(part[first], rest)}


@given(data=st.dictionaries(KEYS, PARTS, max_size=3), places=PLACES)
def test_all_places_are_left_out_at_once_as_one_after_the_other(data: dict[str, Any], places: list[str]) -> None:
    one_by_one: Any = data
    for place in sorted(places):
        one_by_one = without(one_by_one, place.split("."))
    at_once = studies._without_all(data, places)
    assert at_once == one_by_one
    assert at_once is data or at_once != data


@given(wrong=PLACES, more=PLACES)
def test_only_what_is_told_of_another_place_is_told_as_well(wrong: list[str], more: list[str]) -> None:
    def touch(a: str, b: str) -> bool:
        return f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}.")

    kept = [place for place, _ in elsewhere([(place, "") for place in wrong], [(place, "") for place in more])]
    assert kept == [place for place in more if not any(touch(place, other) for other in wrong)]


@pytest.mark.parametrize("many", [studies.MANY, studies.MANY + 1])
def test_a_study_with_more_mistakes_than_anybody_reads_is_read_once(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    read, parsed = [], studies._parsed

    def counted(data: Mapping[str, Any], *, new: bool) -> Any:
        read.append(len(data))
        return parsed(data, new=new)

    monkeypatch.setattr(studies, "_parsed", counted)
    sent = {"kind": "gossip", "game": "cartpole", **{f"k{i}": 1 for i in range(many)}}
    found = reading(sent, new=True)
    assert len(found.wrong) == many
    assert (len(read) == 1) == (many > studies.MANY)


@pytest.mark.parametrize("spread", [0, 1e300])
def test_where_a_spread_cannot_be_the_baseline_that_follows_from_it_is_not_asked_for(spread: float) -> None:
    sent = {"kind": "aes-rl", "game": "gym:Pendulum-v1", "steps": 20_000, "spread": spread}
    assert [place for place, _ in reading(sent, new=True).wrong] == ["spread"]


def test_a_rate_that_is_zero_to_a_learner_and_a_path_in_place_of_a_hash_are_refused_in_words() -> None:
    sent = {"kind": "train", "game": "cartpole", "learner": {"kind": "ppo", "rate": 1e-320}, "start": "/etc"}
    assert dict(reading(sent, new=True).wrong) == {
        "learner.rate": "is so near to zero that a learner would take it for zero",
        "start": "must be the 64 letters and digits of a store hash, not '/etc'",
    }
