"""What is meant to be so is played, but neither ranked nor counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.catalog import STUDIES
from engine.config import SearchConfig, study_hash
from engine.config.patterns import Pattern
from engine.errors import ConfigError
from engine.events import AnyEvent, Failed, Finished
from engine.games.herobattle.spec import game_spec
from engine.lineups.patterns import Patterns
from engine.store import FolderStore
from engine.studies import load
from tests.engine.broken_game import GAME, broken
from tests.engine.sample_simulators import SPEC

ONE, OTHER = "marrow-duke", "warhorn"
SIZE = {"algorithm": {"kind": "nsga2", "population": 40}, "ticks": 12, "replicates": 2, "fresh": 8}


def search(**more: Any) -> SearchConfig:
    found = load({"kind": "search", "game": {"simulator": GAME}, "pool": {"kind": "local"}, **SIZE, **more})
    assert isinstance(found, SearchConfig)
    return found


def run(study: SearchConfig, folder: Path) -> tuple[AnyEvent, dict[str, NDArray[Any]]]:
    store = FolderStore(folder)
    end = list(STUDIES["search"].load()(study, store))[-1]
    assert isinstance(end, Finished)
    return end, dict(unpack(store.get(end.artifacts["archive"])).arrays)


def holders(rows: dict[str, NDArray[Any]], piece: str) -> NDArray[np.bool_]:
    return Patterns(game_spec(), [Pattern(pieces=(piece,))]).explained(rows["genome"], rows["anchor"])[:, 0]


def over(rows: dict[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """By the search's battles, and against no rule."""
    return (rows["objective"][:, 0] >= 2) & ~(rows["violation"] > 0)


def test_of_two_breaks_of_which_one_is_intended_the_next_job_finds_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, {ONE: 0.6, OTHER: 0.25})
    _, before = run(search(), tmp_path / "before")
    most = over(before)
    assert holders(before, ONE)[most].mean() > 0.5
    end, after = run(search(intended=[{"pieces": [ONE]}]), tmp_path / "after")
    left = over(after)
    assert left.sum() > 10
    assert not holders(after, ONE)[left].any()
    assert holders(after, OTHER)[left].mean() > 0.5
    assert (after["violation"] == holders(after, ONE)).all()
    front = after["edge"] > 0
    assert not holders(after, ONE)[front].any()
    assert end.summary["strong"] <= left.sum()  # type: ignore[union-attr]
    assert holders(after, ONE).any(), "it is still played"


def test_a_pattern_is_a_piece_an_amount_or_a_pair_that_one_team_holds() -> None:
    teams = np.array([[0, 1, 3, 0, -1], [0, 1, 1, 0, 2], [1, 0, 3, 0, -1]], np.int32)
    teams[:, 0] += 0
    pieces = SPEC.piece_index()
    rows = teams.copy()
    rows[:, 1] = pieces["soldier-0"] + teams[:, 1]
    rows[:, 3] = pieces["charm-0"]
    rows[1, 4] = pieces["charm-2"]
    found = Patterns(SPEC, [
        Pattern(pieces=("hero-0",)), Pattern(pieces=("soldier-1",), least=2), Pattern(pieces=("hero-0", "charm-2")),
        Pattern(pieces=("nobody",)),
    ]).held(rows)  # fmt: skip
    assert found.tolist() == [[True, True, False, False], [True, False, True, False], [False] * 4]


def test_too_good_explains_the_strongest_team_and_too_weak_the_weakest() -> None:
    place = SPEC.piece_index()
    team = [place["hero-0"], place["soldier-0"], 1, -1, -1]
    lineup = np.array([[team, [place["hero-1"], *team[1:]]]] * 3, np.int32)
    patterns = Patterns(SPEC, [Pattern(pieces=("hero-0",)), Pattern(pieces=("hero-0",), side="weakest")])
    found = patterns.explained(lineup, np.array([[0, 1], [1, 0], [-1, -1]]))
    assert found.tolist() == [[True, False], [False, True], [False, False]]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ({"pieces": []}, "at least"),
        ({"pieces": ["a", "a"]}, "two different pieces"),
        ({"pieces": ["a", "b"], "least": 2}, "an amount is of a single piece"),
        ({"pieces": ["a"], "side": "middle"}, "must be one of"),
    ],
)
def test_a_pattern_that_is_none_is_refused(pattern: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        search(intended=[pattern])


def test_a_piece_that_the_game_has_not_is_named_at_its_place(tmp_path: Path) -> None:
    end = list(STUDIES["search"].load()(search(intended=[{"pieces": ["nobody"]}]), FolderStore(tmp_path)))[-1]
    assert isinstance(end, Failed)
    assert "intended.0.pieces.0" in end.message
    assert "'nobody' is not a piece of this game" in end.message


def test_a_study_in_which_nothing_is_intended_is_the_study_it_was() -> None:
    plain = search()
    assert "intended" not in plain.model_dump(mode="json")
    assert study_hash(search(intended=[])) == study_hash(plain) != study_hash(search(intended=[{"pieces": [ONE]}]))


def test_racing_by_bounds_is_refused_where_battles_say_what_is_intended(tmp_path: Path) -> None:
    plain = [{"name": "gap", "title": "Strength", "formula": "mean(strength)", "threshold": 50}]
    study = search(
        algorithm={"kind": "ga", "population": 10}, replicates=2, noise={"racing": "bounds", "most": 8},
        objectives={"objectives": plain}, intended=[{"pieces": [ONE]}],
    )  # fmt: skip
    end = list(STUDIES["search"].load()(study, FolderStore(tmp_path)))[-1]
    assert isinstance(end, Failed)
    assert "leave racing out, or intended" in end.message
