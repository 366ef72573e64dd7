"""Long benchmarks keep what they have measured, and go on with it."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.bench import kept, patch, wesnoth_worth
from engine.bench.kept import ended
from engine.bench.processor_time import spent
from engine.bench.row import row
from engine.errors import EngineError
from engine.job_folder import last_events
from engine.studies import load
from engine.worth import expectations
from engine.worth import forecast as forecasts
from engine.worth.verdicts import UNFIELDED


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path)


def test_a_study_that_is_over_is_not_played_again_and_one_that_was_killed_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forecasts, "STEPS", (10, 20))
    monkeypatch.setattr(expectations, "EXPECTED", 10_000)
    monkeypatch.setattr("engine.job_folder._listen_to_signals", lambda: None)
    game = {"simulator": "python:tests.engine.tugs_of_war:Fair"}
    study = load({"kind": "worth", "game": game, "battles": 2_000, "pairs": False, "lineups": {"cost_tolerance": None},
                  "pool": {"kind": "local"}})  # fmt: skip
    found = ended("some", study, "table")
    assert found.battles > 1_000
    assert found.processor > 0
    monkeypatch.setattr(kept, "execute", lambda *_, **__: pytest.fail("it was played again"))
    assert ended("some", study, "table").found.meta == found.found.meta
    (own,) = kept.folder("some").iterdir()
    events = (own / "events.jsonl").read_bytes().splitlines(keepends=True)
    (own / "events.jsonl").write_bytes(b"".join(events[:-1]) + events[-1][:20])
    resumed: list[str] = []
    monkeypatch.setattr(kept, "execute", lambda *_, resume, **__: resumed.append(resume))
    (own / "processor").write_text("900.0")
    with pytest.raises(EngineError, match="goes on"):
        ended("some", study, "table")
    assert resumed == [last_events(own)["saved"].artifacts["checkpoint"]]  # type: ignore[attr-defined]
    assert float((own / "processor").read_text()) >= 900, "what earlier attempts took counts"


def test_processor_time_counts_processes_below_this_one() -> None:
    before = spent()
    child = os.popen("python3 -c 'sum(range(6_000_000))'")
    child.read()
    child.close()
    assert spent() > before


def test_the_patch_of_a_seed_is_found_once_for_all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    change = {"piece": patch.planted(1)[1], "path": "a.cost", "after": 2.0}
    table = {"words": ["less"], "changes": [change], "apart": [], "verdict": "works"}
    made = patch.Recommended(table, [], [], 1.0, 0.9, 10)
    calls: list[int] = []

    def find(game: Any, seed: int, **more: Any) -> patch.Recommended:
        calls.append(seed)
        return made

    monkeypatch.setattr(patch, "found", find)
    monkeypatch.setattr(patch, "_weaker", lambda *_: 1.0)
    monkeypatch.setattr(patch, "played", lambda *_: None)
    monkeypatch.setattr(patch, "signs", lambda *_: {})
    monkeypatch.setattr(patch, "_searched", lambda *_: (3, patch.np.zeros((1, 9), patch.np.int32)))
    monkeypatch.setattr(patch, "presence", lambda spec, _: patch.np.eye(1, len(spec.pieces)))
    single = {row["case"]: row for row in patch.run("single", True)}
    assert single["single-screen"]["value"] == 1.0
    assert "2 of 2 (0.34 to 1.00)" in single["single-screen"]["detail"]
    rows = {row["case"]: row for row in patch.run("manual", True)}
    assert calls == [1, 2]
    assert rows["search"]["meets"]


def test_the_loop_of_wesnoth_needs_no_suspect_to_say_what_it_took() -> None:
    line = wesnoth_worth.TableLine("a", "A", "hero", 1, 20.0, 9.0, 4.0, 14.0, 3, 300, 31.2, 25.0, 40.0, 0)
    none = kept.KeptStudy(None, 100, 60.0, 30.0)  # type: ignore[arg-type]
    found = wesnoth_worth.Loop(none, [line], none, {"a.cost": 31.0}, None, none, {
        ("a", 1): line._replace(worth=1.0, low=-4.0, high=6.0, verdict=2)})  # fmt: skip
    held = wesnoth_worth._held(found)
    assert held["value"] == 1
    assert "A, 20 gold, then 31: +9.0 (+4.0 to +14.0), then +1.0 (-4.0 to +6.0), not settled" in held["detail"]
    assert "fair price 31 (25 to 40)" in wesnoth_worth._said(line)
    unpriced = line._replace(fair=math.nan, why=UNFIELDED)
    assert "no fair price (at such a price hardly any team can field it)" in wesnoth_worth._said(unpriced)
    assert wesnoth_worth._time(found, False)["value"] == 3
    assert wesnoth_worth._replayed(found)["value"] == 0


def test_a_row_of_numbers_from_any_library_is_written_as_json() -> None:
    told = row("trust", "ties", np.float64(0.5), "share", peer_value=np.float32(2), meets=np.bool_(True))
    assert json.loads(json.dumps(told)) | {"cores": None} == told | {"cores": None}
    assert (told["value"], told["ratio"], told["meets"]) == (0.5, 0.25, True)
