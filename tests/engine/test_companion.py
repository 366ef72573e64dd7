"""The experiment that the command line runs after a search: the search is the same, and nothing is lost by a kill."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from engine import cli
from engine.arrays import unpack
from engine.lineups import companion
from engine.store import FolderStore
from engine.studies import load
from engine.study import worth
from engine.worth import analysis as worth_analysis
from engine.worth import expectations
from engine.worth import forecast as forecasts

GAME = "python:tests.engine.tugs_of_war:Fair"
SEARCH: dict[str, Any] = {
    "name": "search", "seed": 3, "game": {"simulator": GAME}, "ticks": 4, "replicates": 2, "fresh": 0,
    "algorithm": {"population": 20}, "lineups": {"teams": 2, "cost_tolerance": None}, "pool": {"kind": "local"},
}  # fmt: skip
"""4 rounds of 20 lineups, each 28 battles."""


@pytest.fixture(scope="module", autouse=True)
def _quickly() -> Iterator[None]:
    """Fewer pairings for what forecasts expect, and fewer steps of learning."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(forecasts, "STEPS", (20, 40))
        for name in ("EXPECTED", "FEWEST"):
            patched.setattr(expectations, name, 10_000)
        patched.setattr(worth_analysis, "EXPECTED", (10_000, 2_000))
        for name in ("CLOSELY", "ROUGHLY"):
            patched.setattr(worth_analysis, name, 500)
        yield


class Whole(NamedTuple):
    """A search with an experiment, never interrupted, and what it said."""

    folder: Path
    said: str


@pytest.fixture(scope="module")
def whole(_quickly: None, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder, said = tmp_path_factory.mktemp("whole"), StringIO()
    with redirect_stdout(said):
        assert begun(folder, experiment=2_000) == 0
    return Whole(folder / "job", said.getvalue())


def begun(folder: Path, **more: Any) -> int:
    """The command's exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    study = folder / "study.yaml"
    study.write_text(json.dumps({**SEARCH, **more}))
    return cli.main(["run", str(study), "--job-dir", str(folder / "job")])


def results(folder: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / "results.json").read_text())
    return found


def columns(folder: Path) -> dict[str, Any]:
    """The table of the experiment after the search of a folder."""
    return dict(unpack(FolderStore(folder / "store").get(results(folder / "experiment")["table"])).arrays)


def test_the_search_is_the_same_with_an_experiment_after_it_and_without(
    whole: Whole, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert begun(tmp_path, experiment=0) == 0
    beside, alone = results(whole.folder), results(tmp_path / "job")
    assert {**beside, "checkpoint": ""} == {**alone, "checkpoint": ""}
    assert (whole.folder / "experiment/results.json").exists()
    assert not (tmp_path / "job/experiment").exists()
    assert "each piece" not in capsys.readouterr().out


def test_its_battles_are_told_before_the_search_and_its_findings_at_the_end(whole: Whole) -> None:
    before, _, after = whole.said.partition("Started on")
    assert "After the search: 2,000 battles to measure what each piece is worth" in before
    assert "Started on 1 worker, 2,000 battles planned" in after
    assert "Not settled: " in after.rpartition("Finished after")[2]


def test_its_seed_and_its_rules_follow_from_the_search(whole: Whole) -> None:
    study = json.loads((whole.folder / "experiment/study.json").read_text())
    assert study["seed"] == companion.seed(3) != 3
    assert (study["kind"], study["battles"], study["game"]["simulator"]) == ("worth", 2_000, GAME)
    assert study["lineups"] == load(SEARCH).model_dump(mode="json")["lineups"]


def test_killed_in_the_experiment_it_goes_on_to_the_same_findings(
    whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tabled, calls = worth.tabled, list[Any]()

    def killed(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return tabled(*given)

    monkeypatch.setattr(worth, "tabled", killed)
    with pytest.raises(KeyboardInterrupt):
        begun(tmp_path, experiment=2_000)
    folder = tmp_path / "job"
    front = results(folder)
    assert not (folder / "experiment/results.json").exists()
    assert cli.main(["list", str(tmp_path)]) == 0
    assert "job/experiment" in capsys.readouterr().out
    assert cli.main(["resume", str(folder)]) == 0
    assert results(folder) == front, "the search was over"
    assert "Resumed on" in capsys.readouterr().out
    again, once = columns(folder), columns(whole.folder)
    for name, column in once.items():
        np.testing.assert_array_equal(column, again[name])


def test_where_both_are_finished_there_is_nothing_to_go_on_with(
    whole: Whole, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["resume", str(whole.folder)]) == 2
    assert "nothing to go on with" in capsys.readouterr().err


def test_killed_before_the_experiment_began_it_is_run_then(
    whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, ran = tmp_path / "job", list[tuple[Any, Path]]()
    shutil.copytree(whole.folder, folder)
    shutil.rmtree(folder / "experiment")
    monkeypatch.setattr("engine.accompanied.execute", lambda config, own, *_, **__: ran.append((config.kind, own)) or 0)
    assert cli.main(["resume", str(folder)]) == 0
    assert ran == [("worth", folder / "experiment")]


def test_as_usual_it_plays_half_as_many_battles_and_a_short_search_says_why_it_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [companion.share(n) for n in (3_999, 4_000, 10**7)] == [0, 2_000, 400_000]
    assert begun(tmp_path) == 0
    assert "is not measured: a search of fewer than 4,000 battles has none to spare" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"experiment": 10}, "experiment: must be 2000 or more, or 0 for none"),
        (
            {"experiment": 2_000, "lineups": {"teams": 1, "cost_tolerance": None, "budget_high": 1}},
            "lineups.budget_high",
        ),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_played(
    tmp_path: Path, more: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert begun(tmp_path, **more) == 2
    told = capsys.readouterr()
    assert said in told.err + told.out
