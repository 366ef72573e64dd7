"""The lines of the command line: what is counted, and one of it."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from engine.catalog import STUDIES, imported
from engine.cli import main
from engine.console import Wording, line, work
from engine.events import AnyEvent, Counters, Finished, Incident, Logged, Progressed, Started, Stopped

TRAIN, EVOLVE, SEARCH = {"kind": "train", "steps": 50_000, "minutes": 0.0}, {"kind": "evolve"}, {"kind": "search"}
TRAINED = {"steps_per_second": 1234.0, "staleness_mean": 1.0, "return": 20.5}
EVOLVED = {"best_return": 3.0, "best_return_low": 2.0, "best_return_high": 4.0, "front": 1.0, "utilisation": 0.9}
SEARCHED = {"strong": 2.0, "front": 5.0, "hypervolume": 0.25}


def started(workers: int, ticks: int, battles: int) -> Started:
    return Started(workers=workers, pool="ray", ticks=ticks, battles=battles)


@pytest.mark.parametrize(
    ("event", "study", "said"),
    [
        (started(1, 1, 0), TRAIN, "Started on 1 worker, 50,000 decisions planned"),
        (
            started(2, 1, 0),
            {**TRAIN, "steps": 1, "minutes": 1.5},
            "on 2 workers, 1 decision (1.5 minutes at most) planned",
        ),
        (started(2, 1, 0), EVOLVE, "1 round planned"),
        (started(2, 3, 0), EVOLVE, "3 rounds planned"),
        (started(2, 3, 1), SEARCH, "1 battle planned"),
        (started(2, 3, 7200), SEARCH, "7,200 battles planned"),
        (Stopped(reason="", artifacts={}), TRAIN, "Stopped after 0.0 s and 0 decisions"),
        (Finished(artifacts={}, counters=Counters(steps=1)), TRAIN, "Finished after 0.0 s and 1 decision"),
        (Finished(artifacts={}, counters=Counters(battles=1)), SEARCH, "Finished after 0.0 s and 1 battle"),
        (Logged(message=""), TRAIN, "round 1, under way: 0 decisions"),
        (Logged(message=""), SEARCH, "round 1, under way: 0 evaluated, 0 battles"),
        (Incident(what="lost-worker", message="A worker was lost."), SEARCH, "  A worker was lost."),
    ],
)
def test_a_study_is_told_in_what_it_does(event: AnyEvent, study: dict[str, Any], said: str) -> None:
    assert line(event, study).endswith(said)


@pytest.mark.parametrize("kind", STUDIES)
def test_every_kind_of_study_words_its_lines_from_what_the_command_line_gives(kind: str) -> None:
    words = imported(STUDIES[kind].console)
    for name in ("planned", "done", "round"):
        own, given = (inspect.signature(getattr(made, name)).parameters for made in (words, Wording))
        assert [*own] == [*given]


@pytest.mark.parametrize(
    ("study", "metrics", "counters", "said"),
    [
        (
            TRAIN, TRAINED | {"evaluation_return": 7.0}, Counters(steps=2048),
            "round 4: 2,048 decisions, return 20.5, 1,234 a second, staleness 1.00, on fresh episodes 7",
        ),
        (TRAIN, TRAINED, Counters(steps=2048), "round 4: 2,048 decisions, return 20.5, 1,234 a second, staleness 1.00"),
        (
            TRAIN | {"kind": "gossip"}, TRAINED | {"distance": 0.0025, "size": 20.0, "link_age": 3.0},
            Counters(steps=2048),
            "return 20.5, 1,234 a second, 3 updates without mixing at most, apart by 0.0125% of the weights",
        ),
        (
            TRAIN | {"kind": "gossip"},
            TRAINED | {"distance": 0.25, "distance_bound": 0.5, "size": 20.0, "link_age": 0.0}, Counters(steps=2048),
            "return 20.5, 1,234 a second, apart by 1.25% of the weights (2.5% at most)",
        ),
        (
            EVOLVE, EVOLVED, Counters(steps=64, evaluations=8),
            "round 4: 8 trained, 64 decisions, best return 3 (2 to 4), edge 1, workers busy 90%",
        ),
        (
            SEARCH, SEARCHED, Counters(battles=9000, cached=1000, evaluations=30),
            "round 4: 30 evaluated, 9,000 battles (1,000 from memory), 2 over the line and strong, edge 5, "
            "volume 0.2500",
        ),
    ],
)  # fmt: skip
def test_a_round_is_told_in_its_own_numbers(
    study: dict[str, Any], metrics: dict[str, float], counters: Counters, said: str
) -> None:
    event = Progressed(tick=4, metrics=metrics, artifacts={}, counters=counters)
    assert line(event, study).endswith(said)


def test_a_training_that_has_not_begun_counts_no_battles() -> None:
    assert work(Counters(), TRAIN) == "0 decisions"
    assert work(Counters(), {}) == "0 battles", "a search, where nobody said otherwise"


def test_of_very_many_mistakes_in_a_study_the_first_are_told_and_how_many_more_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "study.json"
    file.write_text(json.dumps({"kind": "search", **{f"wrong{i}": 1 for i in range(10_000)}}))
    assert main(["run", str(file)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 52
    assert lines[-1].startswith("  and 9,9")
