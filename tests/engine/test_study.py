"""Studies: the same front whatever happens on the way, results that say how they were made, errors before work."""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from engine.arrays import unpack
from engine.confidence import Range
from engine.config import FAIRNESS, FURTHER
from engine.errors import ConfigError, StoreError
from engine.events import AnyEvent, Failed, Finished, Logged, Paused, Progressed, Started, Stopped, decode
from engine.indicators import STRONG, UNSURE
from engine.job_folder import folder_name, read
from engine.store import FolderStore
from engine.studies import load, reading
from engine.study import progress_throttle, run
from engine.study.lineup_record import LineupRecord
from engine.verdicts import Sample
from tests.engine.conftest import Engine
from tests.engine.cutting import cut_off

STUDY: dict[str, Any] = {
    "name": "small",
    "seed": 3,
    "game": {"simulator": "builtin:herobattle"},
    "ticks": 12,
    "fresh": 8,
    "algorithm": {"kind": "nsga2", "population": 30},
    "pool": {"kind": "local", "batch_ms": 20},
    "experiment": 0,
}


def events(store: FolderStore, resume: str = "", **changes: Any) -> list[AnyEvent]:
    return list(run(load({**STUDY, **changes}), store, resume))


def results(found: list[AnyEvent]) -> dict[str, str]:
    assert isinstance(found[-1], Finished), found[-1]
    return {k: v for k, v in found[-1].artifacts.items() if k != "checkpoint"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> FolderStore:
    return FolderStore(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def told(store: FolderStore) -> list[AnyEvent]:
    """What a study says that nothing disturbs."""
    return events(store)


@pytest.fixture(scope="module")
def undisturbed(told: list[AnyEvent]) -> dict[str, str]:
    return results(told)


@pytest.fixture(scope="module")
def another(store: FolderStore) -> list[AnyEvent]:
    """What the same study says with another seed."""
    return events(store, seed=4)


def test_a_search_says_started_then_a_tick_each_round_then_finished(told: list[AnyEvent]) -> None:
    assert isinstance(told[0], Started)
    assert [e.tick for e in told if isinstance(e, Progressed)] == list(range(1, 13))
    assert told[0].battles == 12 * 30 * 96
    assert told[-1].counters.evaluations == 360


def test_the_archive_holds_everything_evaluated_with_its_errors(
    store: FolderStore, undisturbed: dict[str, str]
) -> None:
    bundle = unpack(store.get(undisturbed["archive"]))
    arrays, n = bundle.arrays, 360
    assert arrays["id"].tolist() == list(range(n))
    assert arrays["genome"].shape == (n, 3, 8)
    assert arrays["cost"].shape == arrays["team_strength"].shape == (n, 3)
    assert (arrays["samples"] == 4).all()
    assert (arrays["tick"] == np.repeat(np.arange(1, 13), 30)).all()
    assert bundle.meta["battles_each"] == 96
    assert bundle.meta["median_baseline"]["samples"] == 32
    assert all(b["drawn"] for b in bundle.meta["baselines"])
    spread = arrays["cost"].max(axis=1) / arrays["cost"].min(axis=1)
    assert spread.max() <= 1.05 + 1e-9


def test_the_front_is_measured_again_on_fresh_seeds_with_its_choice_fixed(
    store: FolderStore, undisturbed: dict[str, str]
) -> None:
    front, fresh = (unpack(store.get(undisturbed[k])).arrays for k in ("front", "fresh"))
    np.testing.assert_array_equal(front["id"], fresh["id"])
    np.testing.assert_array_equal(front["anchor"], fresh["anchor"])
    assert set(fresh["samples"].tolist()) <= {8, 8 * FURTHER}
    assert not np.array_equal(front["objective"], fresh["objective"])


def test_what_fresh_battles_confirm_is_counted_apart_from_what_the_search_found(
    store: FolderStore, another: list[AnyEvent]
) -> None:
    rounds = [e for e in another if isinstance(e, Progressed)]
    end = another[-1]
    assert isinstance(end, Finished)
    assert all(end.summary[k] == rounds[-1].metrics[k] for k in ("over", "strong")), "fresh battles took its find away"
    assert "confirmed" not in rounds[-1].metrics
    fresh = unpack(store.get(end.artifacts["fresh"])).arrays
    assert end.summary["replayed"] == len(fresh["id"])
    assert end.summary["confirmed"] == (fresh["verdict"] == STRONG).sum()
    assert (fresh["low"] <= fresh["objective"]).all()
    assert (fresh["high"] >= fresh["objective"]).all()
    np.testing.assert_allclose(np.nanmean(fresh["values"], axis=1)[:, 1:], fresh["objective"][:, 1:], rtol=1e-9)


def test_what_fresh_battles_leave_open_is_played_further_on_the_same_seeds_and_more(
    store: FolderStore, another: list[AnyEvent], monkeypatch: pytest.MonkeyPatch
) -> None:
    further = another
    monkeypatch.setattr(LineupRecord, "undecided", lambda *_: [])
    once = events(store, seed=4)
    first, then = (unpack(store.get(found[-1].artifacts["fresh"])).arrays for found in (once, further))
    longer = then["samples"] > 8
    assert 0 < longer.sum() < len(longer)
    assert (first["samples"] == 8).all()
    assert (then["samples"][longer] == 8 * FURTHER).all()
    assert (first["verdict"][longer] == UNSURE).all(), "what was told is not played again"
    line = FAIRNESS.objectives[0].threshold
    assert line is not None
    assert (first["objective"][longer, 0] < line).any(), "what is left open below the line is played on as well"
    np.testing.assert_array_equal(first["objective"][~longer], then["objective"][~longer])
    np.testing.assert_allclose(first["sums"][longer, :8], then["sums"][longer, :8], rtol=1e-9)
    said = [e.message for e in further if isinstance(e, Logged)]
    assert any(f"battles for {longer.sum()} lineups that they may well settle" in message for message in said)
    assert further[-1].counters.battles - once[-1].counters.battles == longer.sum() * 8 * FURTHER * 24
    known = [e.counters for e in further if e.counters.planned]
    assert known[-1].planned == known[-1].battles, "all that was announced is played"
    assert len({counters.planned for counters in known}) == 1, "a total that is told does not grow"
    assert not any(e.counters.planned for e in once), "nobody knew whether more would be played"


def test_any_batch_size_gives_the_same_front(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    assert results(events(FolderStore(tmp_path), pool={"kind": "local", "batch_ms": 1})) == undisturbed


def test_a_long_round_says_how_far_it_is_and_the_front_is_the_same(
    store: FolderStore, undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_throttle, "APART_S", 0.0)
    monkeypatch.setattr(progress_throttle, "SHARE", 0.0)
    found = events(store, pool={"kind": "local", "batch_ms": 1})
    assert results(found) == undisturbed
    beats = [e for e in found if isinstance(e, Logged) and not e.message]
    within = [e.counters.evaluations - 30 * e.tick for e in beats if e.tick < 12]
    assert len(set(within)) > 5
    assert all(0 <= part < 30 for part in within)
    assert [e.counters.battles for e in beats] == sorted({e.counters.battles for e in beats})


def test_an_hour_in_one_round_is_told_without_filling_the_history() -> None:
    now = [0.0]
    beat = progress_throttle.ProgressThrottle(lambda: now[0])
    told = []
    for step in range(36_000):
        now[0] = step / 10
        if beat.due():
            told.append(now[0])
    assert told[0] == 1.0
    assert np.diff(told).min() >= 1.0
    assert len(told) < 150
    assert np.diff(told).max() < 0.06 * 3600
    beat.restart()
    assert not beat.due()


def test_without_memory_the_front_is_the_same(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    found = events(FolderStore(tmp_path), cache=False)
    assert results(found) == undisturbed
    assert found[-1].counters.cached == 0


def test_another_seed_gives_another_front(another: list[AnyEvent], undisturbed: dict[str, str]) -> None:
    assert results(another)["front"] != undisturbed["front"]


@pytest.mark.parametrize("command", ["pause", "stop"])
def test_stopped_or_paused_it_keeps_what_was_found_and_goes_on_to_the_same_front(
    command: str, tmp_path: Path, undisturbed: dict[str, str]
) -> None:
    store, seen = FolderStore(tmp_path), []
    for event in run(load(STUDY), store, control=lambda: command if len(seen) > 5 else ""):  # type: ignore[arg-type,return-value]
        seen.append(event)
    end = seen[-1]
    assert isinstance(end, Paused if command == "pause" else Stopped)
    assert end.tick < 12
    if isinstance(end, Stopped):
        assert len(unpack(store.get(end.artifacts["archive"])).arrays["id"]) >= 30 * end.tick
    assert results(events(store, end.artifacts["checkpoint"])) == undisturbed


@pytest.mark.parametrize("rounds", [0, 1])
def test_what_was_played_of_the_round_that_a_pause_cuts_off_is_left_as_a_stop_leaves_it(
    rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = {command: FolderStore(tmp_path / command) for command in ("pause", "stop")}
    paused, stopped = (
        cut_off(load(STUDY), store, command, 30 * rounds + 7, monkeypatch) for command, store in stores.items()
    )
    assert isinstance(paused[-1], Paused)
    assert isinstance(stopped[-1], Stopped)
    assert stopped[-1].tick == paused[-1].tick == rounds
    chunks = [event.artifacts["chunk"] for event in paused if isinstance(event, Progressed)]
    there = [unpack(stores["pause"].get(digest)).arrays for digest in (*chunks, paused[-1].artifacts["arrived"])]
    whole = unpack(stores["stop"].get(stopped[-1].artifacts["archive"])).arrays
    assert len(whole["id"]) == 30 * rounds + 7
    for name in ("id", "genome", "objective", "samples", "tick"):
        np.testing.assert_array_equal(np.concatenate([arrays[name] for arrays in there]), whole[name])
    counted = ("evaluated", "over", "strong")
    assert [paused[-1].summary[name] for name in counted] == [stopped[-1].summary[name] for name in counted]
    assert paused[-1].summary["evaluated"] == len(whole["id"])


def test_killed_at_a_tick_the_command_resumes_to_the_same_front(
    tmp_path: Path, undisturbed: dict[str, str], engine: Engine
) -> None:
    """kill -9 at a seeded tick between 20 and 80 % of the run; the process did die, and work did follow."""
    study = tmp_path / "study.json"
    study.write_text(json.dumps(STUDY))
    target = random.Random(1).randint(3, 9)
    command = [sys.executable, "-m", "engine", "run", str(study), "--job-dir", str(tmp_path / "job")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    log = tmp_path / "job" / "events.jsonl"
    while not log.exists() or log.read_bytes().count(b'"progressed"') < target:
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = log.read_bytes().count(b'"progressed"')
    assert before < 12
    assert engine("resume", "job").returncode == 0
    assert log.read_bytes().count(b'"progressed"') > before
    end = decode(log.read_bytes().splitlines()[-1])
    assert isinstance(end, Finished)
    assert {k: v for k, v in end.artifacts.items() if k != "checkpoint"} == undisturbed


def test_a_checkpoint_of_another_study_is_refused(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    saved = next(e for e in run(load(STUDY), store) if isinstance(e, Progressed)).artifacts["checkpoint"]
    (failed,) = run(load({**STUDY, "seed": 9}), store, saved)
    assert isinstance(failed, Failed)
    assert "other settings" in failed.message
    assert failed.permanent


def test_a_damaged_checkpoint_is_noticed(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    digest = store.put(b"something")
    (tmp_path / digest[:2] / digest[2:]).write_bytes(b"something else")
    with pytest.raises(StoreError, match="damaged"):
        store.get(digest)
    (failed,) = run(load(STUDY), store, digest)
    assert isinstance(failed, Failed)
    assert not failed.permanent


def test_a_study_that_cannot_run_says_everything_that_is_wrong_before_any_battle(store: FolderStore) -> None:
    (failed,) = run(
        load(
            {
                **STUDY,
                "game": {"simulator": "builtin:herobattle", "patch": {"warhorn.price": 3.0}, "fidelity": "half"},
                "lineups": {"budget_high": 3.0, "baselines": {"kind": "pasted", "teams": [{"slots": {"hero": "x"}}]}},
                "objectives": {"objectives": [{"name": "a", "title": "A", "formula": "1 +"}]},
            }
        ),
        store,
    )
    assert isinstance(failed, Failed)
    assert failed.permanent
    for place in (
        "game.patch.warhorn.price",
        "game.fidelity",
        "lineups.budget_high",
        "lineups.baselines.teams.0.slots.hero",
        "objectives.objectives.0.formula",
    ):
        assert place in failed.message


def test_a_changed_cost_or_hit_point_changes_the_battles(store: FolderStore, undisturbed: dict[str, str]) -> None:
    for path, value in (("pikes.cost", 90.0), ("pikes.hit_points", 160.0)):
        game = {"simulator": "builtin:herobattle", "patch": {path: value}}
        assert results(events(store, game=game, ticks=2))["archive"] != undisturbed["archive"]


def test_a_recheck_measures_given_lineups_on_fresh_battles(store: FolderStore, undisturbed: dict[str, str]) -> None:
    front = unpack(store.get(undisturbed["front"])).arrays
    config = {
        **{k: STUDY[k] for k in ("name", "seed", "game", "pool")},
        "kind": "recheck",
        "genomes": front["genome"].tolist(),
        "anchors": front["anchor"].tolist(),
        "replicates": 16,
    }
    found = list(run(load(config), store))
    assert isinstance(found[-1], Finished)
    result = unpack(store.get(found[-1].artifacts["result"])).arrays
    np.testing.assert_array_equal(result["genome"], front["genome"])
    np.testing.assert_array_equal(result["anchor"], front["anchor"])
    assert (result["samples"] == 16).all()


def test_a_recheck_plays_each_lineup_as_often_as_it_is_asked_to(
    store: FolderStore, undisturbed: dict[str, str]
) -> None:  # fmt: skip
    front = unpack(store.get(undisturbed["front"])).arrays
    chosen = {"genomes": front["genome"][:3].tolist(), "anchors": front["anchor"][:3].tolist()}
    shared = {**{k: STUDY[k] for k in ("name", "seed", "game", "pool")}, "kind": "recheck", **chosen}
    found = list(run(load({**shared, "replicates": 12, "times": [4, 12, 2]}), store))
    assert isinstance(found[0], Started)
    assert isinstance(found[-1], Finished)
    result = unpack(store.get(found[-1].artifacts["result"])).arrays
    assert result["samples"].tolist() == [4, 12, 2]
    assert found[0].battles == found[-1].counters.battles
    alike = list(run(load({**shared, "replicates": 12}), store))
    assert isinstance(alike[-1], Finished)
    same = unpack(store.get(alike[-1].artifacts["result"])).arrays
    np.testing.assert_array_equal(result["objective"][1], same["objective"][1])
    for wrong in ([4, 12], [4, 13, 2], [4, 12, 1]):
        with pytest.raises(ConfigError):
            load({**shared, "replicates": 12, "times": wrong})


def test_no_range_of_a_recheck_is_worked_out_twice(
    store: FolderStore, undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    front = unpack(store.get(undisturbed["front"])).arrays
    chosen = {"genomes": front["genome"][:4].tolist(), "anchors": front["anchor"][:4].tolist(), "replicates": 4}
    asked: list[tuple[bytes, int, float]] = []
    honest = Sample._range

    def noted(sample: Sample, j: int, error: float) -> Range:
        assert sample.values is not None
        asked.append((sample.values.tobytes(), j, error))
        return honest(sample, j, error)

    monkeypatch.setattr(Sample, "_range", noted)
    list(run(load({**{k: STUDY[k] for k in ("name", "seed", "game", "pool")}, "kind": "recheck", **chosen}), store))
    assert len(asked) == len(set(asked)) > 4


def test_a_recheck_that_was_paused_still_knows_each_replicate(store: FolderStore, undisturbed: dict[str, str]) -> None:
    """Ranges of what had been played before the pause were Student's, those of the rest were not."""
    front = unpack(store.get(undisturbed["front"])).arrays
    config = {
        **{k: STUDY[k] for k in ("name", "seed", "game")},
        "kind": "recheck",
        "genomes": front["genome"].tolist(),
        "anchors": front["anchor"].tolist(),
        "replicates": 16,
    }
    study, asked = load({**config, "pool": {"kind": "local", "batch_ms": 1}}), 0

    def after_a_while() -> Literal["", "pause"]:
        nonlocal asked
        asked += 1
        return "pause" if asked > 3 else ""

    part = list(run(study, store, control=after_a_while))
    assert isinstance(part[-1], Paused)
    rest, once = list(run(study, store, part[-1].artifacts["checkpoint"])), list(run(study, store))
    for role in ("front", "result"):
        resumed, whole = (unpack(store.get(events[-1].artifacts[role])).arrays for events in (rest, once))
        for name in ("values", "sums", "low", "high"):
            np.testing.assert_array_equal(resumed[name], whole[name])
    assert np.isfinite(whole["sums"]).all()


def test_a_random_sample_says_how_fast_battles_are(store: FolderStore) -> None:
    config = {**{k: STUDY[k] for k in ("name", "seed", "game", "pool")}, "kind": "sample", "count": 40}
    found = list(run(load(config), store))
    assert isinstance(found[-1], Finished)
    assert found[-1].summary["battles_per_second"] > 0
    assert len(unpack(store.get(found[-1].artifacts["sample"])).arrays["id"]) == 40


def test_a_random_sample_that_is_put_aside_loses_nothing(store: FolderStore) -> None:
    config = {**{k: STUDY[k] for k in ("name", "seed", "game")}, "kind": "sample", "count": 60, "replicates": 2}
    study = load({**config, "pool": {"kind": "local", "batch_ms": 1}})
    asked = 0

    def after_a_while() -> Literal["", "pause"]:
        nonlocal asked
        asked += 1
        return "pause" if asked > 12 else ""

    part = list(run(study, store, control=after_a_while))
    assert isinstance(part[-1], Paused)
    kept = part[-2]
    assert isinstance(kept, Progressed)
    played = kept.counters.evaluations
    assert 0 < played < 60
    assert len(unpack(store.get(kept.artifacts["front"])).arrays["id"]) == played
    rest = list(run(study, store, part[-1].artifacts["checkpoint"]))
    whole = unpack(store.get(rest[-1].artifacts["sample"])).arrays
    once = list(run(study, store))
    undisturbed = unpack(store.get(once[-1].artifacts["sample"])).arrays
    order, other = np.argsort(whole["id"]), np.argsort(undisturbed["id"])
    np.testing.assert_array_equal(whole["objective"][order], undisturbed["objective"][other])


AES = {"kind": "aes-rl", "game": "pendulum", "spread": 1500}


@pytest.mark.parametrize(
    ("place", "study"),
    [
        (
            "learner.network.kind",
            {"kind": "train", "game": "pong", "learner": {"kind": "ppo", "network": {"kind": "x"}}},
        ),
        (
            "learner.rewards.a.kind",
            {"kind": "train", "game": "pong", "learner": {"kind": "ppo", "rewards": {"a": {"kind": 1}}}},
        ),
        ("game.kind", {"kind": "gossip", "game": {"name": "pong", "kind": "x"}, "learner": "pong-a3c"}),
        ("learner.network.kind", {**AES, "learner": {"network": {"kind": "x"}}}),
    ],
)
def test_a_kind_is_an_unknown_setting_like_any_other_where_a_part_has_no_kinds(
    place: str, study: dict[str, Any]
) -> None:
    unknown = "there is no such setting"
    assert reading(study, new=True).wrong == [(place, unknown)]
    assert sorted(reading({**study, "stpes": 3}, new=True).wrong) == sorted([(place, unknown), ("stpes", unknown)])


def test_of_a_part_of_an_unknown_kind_nothing_else_is_judged() -> None:
    table = {**AES, "method": {"kind": "nope", "populatoin": 3}}
    assert [place for place, _ in reading(table, new=True).wrong] == ["method"]


def test_the_command_line_lists_what_is_there_and_explains_what_is_wrong(tmp_path: Path, engine: Engine) -> None:
    (tmp_path / "bad.yaml").write_text("game: {simulator: 'builtin:chess'}\nticks: 0\nsped: 3\nreplicates: few\n")
    bad = engine("run", "bad.yaml")
    assert bad.returncode == 2
    assert "ticks: must be 1 or more" in bad.stderr
    assert "replicates: must be a whole number, not 'few'" in bad.stderr
    assert "game.simulator: 'builtin:chess': built-in games are" in bad.stderr
    assert "sped: there is no such setting" in bad.stderr
    (tmp_path / "good.yaml").write_text(json.dumps({**STUDY, "ticks": 2}))
    assert engine("run", "good.yaml").returncode == 0
    assert "finished" in engine("list").stdout
    for words, said in (
        (("run", "good.yaml", "-m", "name=../elsewhere"), "name: becomes a folder's name"),
        (("run", "none.yaml"), "there is no file none.yaml"),
        (("run", "torn.yaml"), "torn.yaml, line 2 is not YAML"),
    ):
        (tmp_path / "torn.yaml").write_text("name: torn\n]")
        assert said in engine(*words).stderr
    again = engine("run", "good.yaml")
    assert again.returncode == 2
    assert "already holds a study" in again.stderr


ALIASES = "a0: &a0 1\n" + "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 11))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ALIASES, "more than 1,000,000 values once its aliases are written out"),
        ("name: 2026-13-45", "month must be in 1..12"),
        (f"seed: {'9' * 5000}", "one of its values is none"),
        ('seed: !!int "abc"', "one of its values is none"),
        ("a: &a [*a]", "hold themselves"),
        ("screen: null\nname: a\nscreen: {battles: 9}", "line 3 is not YAML: screen stands twice in one table"),
        ("name: a\nticks: 010", "line 2 is not YAML: 010 can be read in two ways"),
        ("ticks: 1:30", "line 1 is not YAML: 1:30 can be read in two ways"),
        ('{"name": "\\ud83c"}', "line 1 is not YAML: half of a character"),
    ],
)
def test_a_file_of_settings_that_would_fill_the_memory_or_is_none_is_refused(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "study.yaml").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(said)):
        read(tmp_path / "study.yaml")


@pytest.mark.parametrize("whole", [True, False])
def test_a_file_in_json_may_hold_any_character(tmp_path: Path, whole: bool) -> None:
    study = {"name": "Liga \N{TROPHY}", "\N{VIDEO GAME}": ["\U0010ffff", "ä", "\\ud83c"]}
    (tmp_path / "study.json").write_text(json.dumps(study, ensure_ascii=not whole), encoding="utf-8")
    assert read(tmp_path / "study.json") == study


@pytest.mark.parametrize("name", ["a\0b", "x\x1b]0;owned\a", "\N{GRINNING FACE}" * 110, "a/b", ".a"])
def test_a_name_that_is_no_folder_s_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="becomes a folder's name"):
        folder_name({"name": name}, "study.yaml")


def test_further_replicates_belong_to_their_lineup_in_everything_a_study_leaves(tmp_path: Path) -> None:
    """Chunks and the archive have one row a lineup, with all its replicates; paused and resumed it is the same."""
    store, noise = FolderStore(tmp_path), {"reevaluate": 4, "again": 6}
    found = events(store, ticks=5, noise=noise)
    rounds = [e for e in found if isinstance(e, Progressed)]
    archive = unpack(store.get(results(found)["archive"])).arrays
    assert archive["id"].tolist() == list(range(150))
    assert archive["samples"].max() >= 10
    assert rounds[-1].metrics["evaluated"] == 150
    again = [unpack(store.get(e.artifacts["chunk"])).arrays for e in rounds[1:]]
    assert all((chunk["samples"][chunk["tick"] < e.tick] > 4).all() for chunk, e in zip(again, rounds[1:], strict=True))
    assert any((chunk["tick"] < e.tick).any() for chunk, e in zip(again, rounds[1:], strict=True))
    front = unpack(store.get(results(found)["front"])).arrays
    row = {i: k for k, i in enumerate(archive["id"].tolist())}
    for k, i in enumerate(front["id"].tolist()):
        np.testing.assert_allclose(archive["objective"][row[i]], front["objective"][k], rtol=1e-12)
        assert archive["samples"][row[i]] == front["samples"][k]
    edge = archive["edge"]
    assert edge.max() == 2
    assert (edge > 0).sum() == rounds[-1].metrics["edge"]
    resumed = events(store, rounds[1].artifacts["checkpoint"], ticks=5, noise=noise)
    assert results(resumed) == results(found)


@pytest.mark.parametrize("kind", ["search", "evolve", "train"])
def test_a_study_saved_in_an_earlier_format_says_in_a_sentence_why_it_cannot_go_on(kind: str, tmp_path: Path) -> None:
    saved, store = Path(__file__).parents[1] / "golden" / "checkpoints", FolderStore(tmp_path)
    config = load(json.loads((saved / f"{kind}-format-1.json").read_text()))
    digest = store.put((saved / f"{kind}-format-1.eqarr").read_bytes())
    (failed,) = run(config, store, digest)
    assert isinstance(failed, Failed)
    assert failed.permanent
    assert "resume: this checkpoint was written by an earlier version of the engine" in failed.message
    assert "start the study anew" in failed.message


def test_a_study_that_another_process_runs_is_left_alone(tmp_path: Path, engine: Engine) -> None:
    (held := tmp_path / "held").mkdir()
    (held / "study.json").write_text(json.dumps({"kind": "gossip", "game": "pong"}))
    with (held / "events.jsonl").open("ab") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        told = engine("resume", "held")
    assert told.returncode == 2
    assert "folder: another process runs the study in held" in told.stderr
    assert not (held / "events.jsonl").stat().st_size
