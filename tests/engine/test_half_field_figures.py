"""The figures of half-field offence from easier starts: what they draw is what rounds said."""

from __future__ import annotations

import csv
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from engine.bench import half_field_figures as figures
from engine.events import Logged, Progressed, encode

STARTS = ("near", "far")


def study(own: Path, rewards: list[float], torn: str = "") -> Path:
    """A folder with a study of so many rounds of 100 minibatches; every second one measures success."""
    own.mkdir(parents=True)
    lines = []
    for tick, reward in enumerate(rewards, 1):
        own_metrics = {"iterations": 100.0 * tick}
        for i in (1, 2):
            own_metrics |= {f"task-{i}/return": reward * i, f"task-{i}/length": 10.0, f"task-{i}/chance": 0.5,
                            f"task-{i}/practised": 0.5, f"task-{i}/max_q": reward}  # fmt: skip
            own_metrics |= {} if tick % 2 else {f"task-{i}/success": 0.25}
        lines += [
            encode(Logged(tick=tick, at=0.0, message="")),
            encode(Progressed(tick=tick, at=0.0, metrics=own_metrics, artifacts={})),
        ]
    (own / "events.jsonl").write_bytes(b"\n".join(lines) + b"\n" + torn.encode())
    return own


@pytest.mark.parametrize(("case", "names"), [("alone", "347"), ("goalkeeper", "568")])
def test_a_case_has_the_figures_of_the_paper_and_the_table_behind_them(case: str, names: str, tmp_path: Path) -> None:
    studies = [
        figures.rounds(method, 1, study(tmp_path / method, [1.0, 2.0, 3.0]), 2) for method in ("exp3", "db", "dbc")
    ]
    paths = figures.draw(case, studies, STARTS, tmp_path / "drawn")
    assert [path.name for path in paths] == ["rounds.csv", *(f"figure-{name}.svg" for name in names)]
    for path in paths[1:]:
        words = " ".join(ElementTree.parse(path).getroot().itertext())
        assert "exp3" in words or all(start in words for start in STARTS), path
    assert "db" not in " ".join(ElementTree.parse(paths[2]).getroot().itertext()).split(), "it has one start to learn"
    rows = list(csv.DictReader(paths[0].open()))
    assert len(rows) == 3 * 3 * 2
    far = [row for row in rows if row["method"] == "db" and row["start"] == "far"]
    assert [(row["iterations"], row["return"], row["success"]) for row in far] == [
        ("100", "2", ""), ("200", "4", "0.25"), ("300", "6", ""),
    ]  # fmt: skip


def test_equal_rounds_give_equal_files(tmp_path: Path) -> None:
    studies = [figures.rounds("exp3", 1, study(tmp_path / "own", [1.0, 5.0]), 2)]
    once, again = (figures.draw("alone", studies, STARTS, tmp_path / name) for name in ("once", "again"))
    assert [path.read_bytes() for path in once] == [path.read_bytes() for path in again]


def test_a_round_that_was_repeated_after_a_kill_counts_as_it_was_last_said_and_a_torn_line_not_at_all(
    tmp_path: Path,
) -> None:
    own = study(tmp_path / "own", [1.0, 2.0])
    first = (own / "events.jsonl").read_bytes()
    (own / "events.jsonl").write_bytes(first + first.replace(b'"task-1/return":2.0', b'"task-1/return":7.0') + b'{"ki')
    found = figures.rounds("exp3", 1, own, 2)
    assert found.iterations.tolist() == [100, 200]
    assert found.measured[0]["return"].tolist() == [1, 7]


def test_a_line_is_the_mean_over_seeds_with_the_least_and_the_most_and_ends_where_a_study_does(tmp_path: Path) -> None:
    studies = [figures.rounds("exp3", i, study(tmp_path / str(i), [float(i)] * n), 2) for i, n in ((1, 2), (3, 4))]
    at, middle, low, high = figures.over_seeds(studies, 0, "return")
    assert at.tolist() == [100, 200, 300, 400]
    assert middle.tolist() == [2, 2, 3, 3]
    assert low.tolist() == [1, 1, 3, 3]
    assert high.tolist() == [3] * 4
    assert figures.over_seeds(studies, 0, "success")[0].tolist() == [200, 400]
    assert not np.isnan(figures.over_seeds(studies, 1, "success")[1]).any()
