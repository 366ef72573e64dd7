"""Going on with a killed study in its folder: from a damaged checkpoint, and without what its processes left."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from engine import cli
from engine.config.study import study_hash
from engine.events import Finished, Progressed
from engine.job_folder import events_of
from engine.store import FolderStore
from engine.studies import load
from engine.study.checkpoint import NewestCheckpoints

STUDY: dict[str, Any] = {
    "name": "search", "seed": 3, "game": {"simulator": "builtin:herobattle"}, "ticks": 4, "fresh": 0,
    "algorithm": {"population": 20}, "pool": {"kind": "local"}, "experiment": 0,
}  # fmt: skip


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The folder of a study that was killed before it said its end, beside that of the same study in peace."""
    study = tmp_path / "study.json"
    study.write_text(json.dumps(STUDY))
    folder = tmp_path / "killed"
    assert cli.main(["run", str(study), "--job-dir", str(folder)]) == 0
    shutil.copytree(folder, tmp_path / "peace")
    (folder / "results.json").unlink()
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "events.jsonl").write_bytes(b"".join(lines[:-1]))
    return folder


def saved(folder: Path) -> list[str]:
    return [e.artifacts["checkpoint"] for e in events_of(folder) if isinstance(e, Progressed)]


def damage(folder: Path, *digests: str) -> None:
    for digest in digests:
        (folder / "store" / digest[:2] / digest[2:]).write_bytes(b"something else")


def results(folder: Path) -> Any:
    """All that it left but its last checkpoint, which knows how long it took."""
    return {**json.loads((folder / "results.json").read_text()), "checkpoint": ""}


def test_it_goes_on_from_the_one_before_to_the_same_end_and_says_so(
    killed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(killed, saved(killed)[-1])
    assert cli.main(["resume", str(killed)]) == 0
    said = capsys.readouterr().out
    assert "The newest checkpoint is missing or damaged, so the study goes on from the one before" in said
    assert "round 4:" in said.partition("Resumed on")[2]
    assert isinstance([*events_of(killed)][-1], Finished)
    assert results(killed) == results(killed.with_name("peace"))


def test_an_undamaged_one_is_gone_on_from_without_a_word(killed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["resume", str(killed)]) == 0
    assert "damaged" not in capsys.readouterr().out


def test_where_both_are_lost_it_is_refused_in_words_and_what_it_has_found_stays(
    killed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(killed, *saved(killed)[-2:])
    before = (killed / "events.jsonl").read_bytes()
    assert cli.main(["resume", str(killed)]) == 2
    assert "no checkpoint in it can be read" in capsys.readouterr().err
    assert (killed / "events.jsonl").read_bytes() == before


def test_what_killed_processes_held_goes_at_once_and_what_a_checkpoint_needs_stays(killed: Path) -> None:
    store, study = FolderStore(killed / "store"), study_hash(load(STUDY))
    held, needed = store.lease(f"{study}-1"), store.lease(f"{study}-2")
    assert held is not None
    assert needed is not None
    held.put(b"a replay")
    needed.keep()
    assert cli.main(["resume", str(killed)]) == 0
    assert [known.name for known in store.leases()] == [f"{study}-2"]


def test_one_that_was_gone_back_to_is_kept_until_two_newer_ones_are_there(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    first, second, third, fourth = (store.put(bytes([n])) for n in range(4))
    newest = NewestCheckpoints(store, [first, second, first])
    newest.saved(third)
    assert [store.has(digest) for digest in (first, second, third)] == [True, False, True]
    newest.saved(fourth)
    assert [*map(store.has, (first, third, fourth))] == [False, True, True]
