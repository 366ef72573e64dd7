"""TensorBoard logs, read back as TensorBoard reads them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.catalog import STUDIES
from engine.cli import main
from engine.config import study_hash
from engine.errors import ConfigError
from engine.events import Counters, Finished, Incident, Logged, Progressed, Started
from engine.studies import load
from engine.tensorboard_log import TensorBoardLog

STUDY = {"name": "small", "game": {"simulator": "builtin:herobattle"}}


def accumulated(folder: Path) -> Any:
    """All that was written into a folder."""
    # Imported here, for every process of the tests imports this file, and few need what this loads.
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return EventAccumulator(str(folder)).Reload()


def read(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """The points (step, value) of each curve."""
    log = accumulated(folder)
    return {tag: [(p.step, p.value) for p in log.Scalars(tag)] for tag in log.Tags()["scalars"]}


def started(tick: int = 0, resumed: bool = False) -> Started:
    return Started(workers=1, pool="local", ticks=9, battles=0, resumed=resumed, tick=tick, counters=counted(tick))


def counted(tick: int) -> Counters:
    return Counters(battles=10 * tick, steps=100 * tick, seconds=float(tick))


def rounds(first: int, last: int, shift: float = 0) -> Iterator[Progressed]:
    for tick in range(first, last + 1):
        yield Progressed(tick=tick, counters=counted(tick), metrics={"score": tick / 8 + shift}, artifacts={})


def write(folder: Path, *events: Any, kind: str = "train") -> None:
    log = TensorBoardLog(folder, {"kind": kind})
    for event in events:
        log(event)


def test_a_log_in_a_folder_whose_name_is_no_text_ends_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    write(folder, started(), *rounds(1, 2))
    assert "The TensorBoard log in" in capsys.readouterr().err


@pytest.mark.parametrize("kind", list(STUDIES))
def test_every_kind_of_study_has_a_point_for_each_round(kind: str, tmp_path: Path) -> None:
    ended = Finished(tick=3, counters=counted(3), artifacts={}, summary={"score": 0.5, "words": "none", "over": True})
    asides = (Logged(message="So far."), Incident(what="lost-worker", message="One went."))
    write(tmp_path, started(), *rounds(1, 3), *asides, ended, kind=kind)
    places = [100, 200, 300] if STUDIES[kind].unit == "steps" else [1, 2, 3]
    found = read(tmp_path)
    assert found["score"] == list(zip(places, [1 / 8, 2 / 8, 3 / 8], strict=True))
    assert found["done/rounds"] == list(zip(places, [1, 2, 3], strict=True))
    assert found["done/battles"] == list(zip(places, [10, 20, 30], strict=True))
    assert found["summary/score"] == [(places[-1], 0.5)]
    assert found.keys() == {"score", "summary/score", *(f"done/{x}" for x in ("rounds", "battles", "steps", "seconds"))}


def test_an_evaluation_that_rounds_repeat_is_one_point_where_it_was_asked_for(tmp_path: Path) -> None:
    told = [{"evaluation_return": -90.0, "evaluation_steps": 80.0, "floor": 0.5}] * 2
    told.append({"evaluation_return": -70.0, "evaluation_steps": 250.0, "floor": 0.25})
    events = [
        Progressed(tick=i, counters=counted(i), metrics=metrics, artifacts={}) for i, metrics in enumerate(told, 1)
    ]
    write(tmp_path, started(), *events, kind="aes-rl")
    found = read(tmp_path)
    assert found["evaluation_return"] == [(80, -90.0), (250, -70.0)]
    assert found["floor"] == [(100, 0.5), (200, 0.5), (300, 0.25)]
    assert "evaluation_steps" not in found


def test_an_evaluation_that_does_not_say_where_it_was_asked_for_is_a_point_of_its_round(tmp_path: Path) -> None:
    events = [Progressed(tick=2, counters=counted(2), metrics={"evaluation_score": 0.5}, artifacts={})]
    write(tmp_path, started(), *events)
    assert read(tmp_path)["evaluation_score"] == [(200, 0.5)]


@pytest.mark.parametrize("kind", ["search", "train"])
def test_rounds_that_a_killed_attempt_wrote_beyond_its_checkpoint_are_not_there_twice(
    kind: str, tmp_path: Path
) -> None:
    write(tmp_path, started(), *rounds(1, 5, shift=100), kind=kind)
    torn = next(tmp_path.iterdir())
    torn.write_bytes(torn.read_bytes()[:-7])  # killed in the middle of a record
    write(tmp_path, started(3, resumed=True), *rounds(4, 6), kind=kind)
    values = [100 + 1 / 8, 100 + 2 / 8, 100 + 3 / 8, 4 / 8, 5 / 8, 6 / 8]
    places = [1, 2, 3, 4, 5, 6] if kind == "search" else [100, 200, 300, 400, 500, 600]
    assert read(tmp_path)["score"] == list(zip(places, values, strict=True))


def test_a_study_that_goes_on_from_its_very_beginning_keeps_no_point_of_the_attempt_before(tmp_path: Path) -> None:
    write(tmp_path, started(), *rounds(1, 2, shift=100))
    write(tmp_path, started(0, resumed=True), *rounds(1, 2))
    assert read(tmp_path)["score"] == [(100, 1 / 8), (200, 2 / 8)]


def test_the_settings_are_shown_as_text(tmp_path: Path) -> None:
    log = TensorBoardLog(tmp_path, {"kind": "train", "name": "größer"})
    log(started())
    log.close()
    (text,) = accumulated(tmp_path).Tensors("study")
    lines = text.tensor_proto.string_val[0].decode().splitlines()
    assert json.loads("\n".join(line.removeprefix("    ") for line in lines)) == log.study


def test_a_log_that_is_asked_for_later_shows_the_settings_once(tmp_path: Path) -> None:
    """A site on which it is switched on goes on with studies that began without it."""
    write(tmp_path, started(3, resumed=True), *rounds(4, 6))
    write(tmp_path, started(6, resumed=True), *rounds(7, 8))
    assert len(accumulated(tmp_path).Tensors("study")) == 1


def test_a_log_that_cannot_be_written_ends_and_the_study_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("a file where the folder should be")
    log = TensorBoardLog(tmp_path / "taken", {"kind": "search"})
    log(started())
    log(next(rounds(1, 1)))
    log.close()
    assert capsys.readouterr().err.count("The TensorBoard log in") == 1


def test_a_log_whose_folder_was_removed_says_so_and_the_study_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "log"
    log = TensorBoardLog(folder, {"kind": "search"})
    log(started())
    shutil.rmtree(folder)
    for event in rounds(1, 2):
        log(event)
    log.close()
    assert capsys.readouterr().err.count(f"The TensorBoard log in {folder} ends here: the folder is gone") == 1
    assert not folder.exists()


def test_one_setting_of_the_command_line_keeps_a_log_in_the_folder_of_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"strong": 1.0, "front": 4.0, "hypervolume": 0.25}
    said = [started(), Progressed(tick=1, counters=counted(1), metrics=told, artifacts={})]
    monkeypatch.setattr("engine.study.run", lambda *given, **more: iter(said))
    file, folder = tmp_path / "study.json", tmp_path / "job"
    file.write_text(json.dumps(STUDY))
    assert main(["run", str(file), "--job-dir", str(folder), "-m", "tensorboard=true"]) == 1, "it said no end"
    assert read(folder / "tensorboard")["hypervolume"] == [(1, 0.25)]
    assert main(["run", str(file), "--job-dir", str(tmp_path / "another")]) == 1
    assert not (tmp_path / "another" / "tensorboard").exists()


def test_a_study_without_the_setting_keeps_no_log_and_both_have_the_same_results() -> None:
    without, with_log = load(STUDY), load({**STUDY, "tensorboard": True})
    assert "tensorboard" not in without.model_dump()
    assert with_log.model_dump()["tensorboard"] is True
    assert study_hash(without) == study_hash(with_log), "a checkpoint of one is a checkpoint of the other"
    with pytest.raises(ConfigError, match="tensorboard: must be true or false"):
        load({**STUDY, "tensorboard": "at times"})
