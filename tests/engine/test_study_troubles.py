"""What goes wrong while a study runs: its workers die, the game ends them, or hangs in an evaluation."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest

from engine.arrays import unpack
from engine.cli import main
from engine.config.pool import PoolConfig
from engine.config.study import Study
from engine.config.train import TrainConfig
from engine.errors import ActorLost, EvaluationError, SimulatorError
from engine.events import AnyEvent, Counters, Failed, Finished, Incident, Logged, Paused, Progressed, Started, Stopped
from engine.indicators import UNSURE
from engine.job_folder import execute, last_events
from engine.lineups.baselines import BaselineTeams
from engine.lineups.evaluator import LineupEvaluator
from engine.lineups.matches import Matches, PlayedBattles
from engine.problem import Evaluation
from engine.rl.collector import Arrival
from engine.runtime.answering import build
from engine.runtime.outcomes import Trouble
from engine.runtime.pool import LocalPool
from engine.store import FolderStore, Store
from engine.studies import load
from engine.study import evaluation, run
from engine.study.drive import FRESH
from engine.study.failures import with_failure
from engine.study.sampler_pool import LocalSamplers
from tests.engine.sample_simulators import team_rows
from tests.engine.test_study import STUDY
from tests.engine.test_train import control, curve, events, study


def test_a_failure_has_the_tick_and_the_counters_of_what_came_before_it_and_ends_the_study() -> None:
    ended = []

    def broken() -> Iterator[AnyEvent]:
        try:
            yield Started(workers=1, pool="local", ticks=3, battles=0)
            yield Progressed(tick=2, counters=Counters(steps=400), metrics={}, artifacts={})
            raise SimulatorError("No such piece.")
        finally:
            ended.append(True)

    *_, last = with_failure(broken())
    assert isinstance(last, Failed)
    assert (last.tick, last.counters.steps, last.message) == (2, 400, "No such piece.")
    left = with_failure(broken())
    next(left)
    assert isinstance(left, Generator)
    left.close()
    assert ended == [True, True]


class Dying(LocalSamplers):
    """Its cluster is gone."""

    def __init__(self, config: TrainConfig, store: Store, tick: int, **_: Any) -> None:
        super().__init__(config, store, tick)

    def gather(self, timeout_s: float, most: int) -> list[Arrival]:
        raise ActorLost("Ray, which runs the workers, has ended.")


class Losing(Dying):
    """Its samplers' game gets through no round."""

    losses = 0

    def gather(self, timeout_s: float, most: int) -> list[Arrival]:
        self.losses += 1
        return []

    def lost(self) -> str:
        return f"loss {self.losses}: the referee has left"

    def incidents(self) -> list[Trouble]:
        return [Trouble("lost-worker", f"Sampler 1 was lost: {self.lost()}.")]


class DyingPool(LocalPool):
    """As ``Dying``."""

    def __init__(self, config: PoolConfig, factory: str, payload: bytes, **more: Any) -> None:
        super().__init__(build(factory, payload), owned=True)

    def finished(self, timeout: float) -> list[Evaluation]:
        raise ActorLost("Ray, which runs the workers, has ended.")


class HopelessPool(DyingPool):
    """As ``Losing``."""

    def finished(self, timeout: float) -> list[Evaluation]:
        self._verdicts.troubles.append(Trouble("failed-candidate", "Candidate 4 is left out."))
        raise EvaluationError("Not one candidate could be evaluated")


def told(config: Study, store: FolderStore, **more: Any) -> tuple[list[AnyEvent], str]:
    """The events of a study, and how it was interrupted, if it was."""
    found: list[AnyEvent] = []
    try:
        found.extend(run(config, store, **more))
    except ActorLost as error:
        return found, str(error)
    return found, ""


@pytest.mark.parametrize("kind", ["train", "search"])
@pytest.mark.parametrize(("command", "end"), [("stop", Stopped), ("pause", Paused)])
def test_workers_that_die_after_the_command_were_asked_to_end_with_the_study(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch, kind: str, command: str, end: type[AnyEvent]
) -> None:
    """Whoever stops a service sends the signal to all its processes."""
    monkeypatch.setattr("engine.study.train.open_samplers", Dying)
    monkeypatch.setattr("engine.study.session.open_pool", DyingPool)
    config = study() if kind == "train" else load(STUDY)
    found, interrupted = told(config, store, control=control(command, 2))
    assert [type(event) for event in found] == [Started, end]
    assert not interrupted
    found, interrupted = told(config, store)
    assert [type(event) for event in found] == [Started]
    assert interrupted.startswith("Ray, which runs the workers, has ended"), "nobody commanded that"


def test_what_befell_candidates_is_told_before_a_search_ends_for_it(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.study.session.open_pool", HopelessPool)
    found, _ = told(load(STUDY), store)
    assert [type(event) for event in found] == [Started, Incident, Failed]


def test_a_search_that_is_resumed_does_not_forget_that_lineups_could_be_evaluated(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said "Not one lineup could be evaluated" beside its results."""
    config = load({**STUDY, "ticks": 2, "pool": {"kind": "local", "batch_ms": 1}})
    found: list[AnyEvent] = []
    for event in run(config, store, control=lambda: "pause" if isinstance(found[-1], Progressed) else ""):
        found.append(event)
    assert isinstance(found[-1], Paused)

    def ends(*_: Any) -> Iterator[Evaluation]:
        raise SimulatorError("The simulator ended by itself with exit code 3.")

    monkeypatch.setattr(LineupEvaluator, "evaluate", ends)
    resumed, _ = told(config, store, resume=found[-1].artifacts["checkpoint"])
    end = resumed[-1]
    assert isinstance(end, Finished), end
    assert (end.counters.evaluations, end.summary["failed"]) == (60, 30)
    first, _ = told(config, store)
    assert isinstance(first[-1], Failed)
    assert first[-1].message.startswith("Not one lineup could be evaluated")


HANGS = {"simulator": f"command:{sys.executable} -m tests.engine.bad_simulators hang"}
"""It never answers its first battles."""


@pytest.mark.parametrize(("command", "end"), [("stop", Stopped), ("pause", Paused)])
def test_a_search_whose_simulator_sleeps_in_the_baselines_battles_hears_the_command(
    store: FolderStore, command: str, end: type[AnyEvent]
) -> None:
    """Nobody asked before the program's time was over, so it was killed as a study that does not answer."""
    found, _ = told(load({**STUDY, "game": HANGS}), store, control=control(command, 2))
    assert [type(event) for event in found] == [end]


@pytest.mark.parametrize(("command", "end"), [("stop", Stopped), ("pause", Paused)])
def test_a_search_in_one_process_whose_simulator_sleeps_in_the_first_round_hears_the_command(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch, command: str, end: type[AnyEvent]
) -> None:
    baselines = BaselineTeams(("a", "b", "c", "d"), team_rows(4), True, 50.0, 1.0, 32)
    monkeypatch.setattr("engine.study.lineups.resolve", lambda *_: baselines)
    found: list[AnyEvent] = []
    asked = control(command, 10)  # counted from the start of the round, however many looks came before
    for event in run(load({**STUDY, "game": HANGS}), store, control=lambda: asked() if found else ""):
        found.append(event)
    assert [type(event) for event in found] == [Started, end]


def leave_unfinished(monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    """Of one lineup in so ``every`` many, the simulator finishes no fresh battle."""
    play = Matches.play

    def played(self: Matches, lineups: np.ndarray, first: int, last: int, fidelity: str = "full") -> PlayedBattles:
        found = play(self, lineups, first, last, fidelity)
        return found._replace(broken=lineups.sum(axis=(1, 2)) % every == 0) if first >= FRESH else found

    monkeypatch.setattr(Matches, "play", played)


@pytest.mark.parametrize("every", [1, 2])
def test_a_search_ends_with_all_other_verdicts_where_fresh_battles_of_some_lineups_are_never_finished(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    leave_unfinished(monkeypatch, every)
    found, _ = told(load({**STUDY, "ticks": 3}), store)
    end = found[-1]
    assert isinstance(end, Finished)
    fresh = unpack(store.get(end.artifacts["fresh"])).arrays
    lost = fresh["samples"] == 0
    assert lost.any()
    assert (fresh["verdict"][lost] == UNSURE).all(), "nothing was told of them"
    assert np.isfinite(fresh["objective"][~lost]).all()
    assert end.summary.get("replayed", 0) == (~lost).sum()


def test_a_recheck_ends_with_all_other_verdicts_where_battles_of_some_lineups_are_never_finished(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = told(load({**STUDY, "ticks": 3}), store)
    assert isinstance(found[-1], Finished)
    front = unpack(store.get(found[-1].artifacts["front"])).arrays
    leave_unfinished(monkeypatch, 2)
    found, _ = told(listing(front), store)
    end = found[-1]
    assert isinstance(end, Finished)
    result = unpack(store.get(end.artifacts["result"])).arrays
    lost = result["samples"] == 0
    assert 0 < lost.sum() < len(lost)
    assert (result["verdict"][lost] == UNSURE).all()
    assert end.summary["over"] <= (~lost).sum(), "nobody knows that of those that were not measured"


def listing(lineups: dict[str, np.ndarray]) -> Study:
    """A re-check of these."""
    shared = {**{k: STUDY[k] for k in ("name", "seed", "game", "pool")}, "kind": "recheck", "replicates": 8}
    return load({**shared, "genomes": lineups["genome"].tolist(), "anchors": lineups["anchor"].tolist()})


def test_a_recheck_that_is_stopped_before_its_first_lineup_ends_as_stopped(store: FolderStore) -> None:
    found, _ = told(load({**STUDY, "ticks": 1, "fresh": 0}), store)
    assert isinstance(found[-1], Finished)
    stopped, _ = told(listing(unpack(store.get(found[-1].artifacts["front"])).arrays), store, control=lambda: "stop")
    assert isinstance(stopped[-1], Stopped), stopped[-1]
    assert len(unpack(store.get(stopped[-1].artifacts["result"])).arrays["id"]) == 0


def test_all_losses_are_told_before_the_end_which_quotes_the_game(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.study.train.open_samplers", Losing)
    found = events(study(), store)
    incidents = [event.message for event in found if isinstance(event, Incident)]
    assert incidents == [f"Sampler 1 was lost: loss {n}: the referee has left." for n in range(1, 6)]
    end = found[-1]
    assert isinstance(end, Failed)
    assert end.message.startswith("5 samplers in a row were lost in round 1, so the training ends.")
    assert end.message.endswith("The last one: loss 5: the referee has left.")


class Stuck(gymnasium.Env[np.ndarray, int]):
    """Two choices, ten steps; in an evaluation it hangs in the fourth one until it is ``released``."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)
    hanging: ClassVar[threading.Event]
    released: ClassVar[threading.Event]

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        self.steps = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        if self.steps == 4 and threading.current_thread().name == "evaluation":
            self.hanging.set()
            self.released.wait()
        return np.zeros(2, np.float32), float(action), self.steps == 10, False, {}


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[TrainConfig]:
    """A study whose first evaluation hangs."""
    monkeypatch.setattr(evaluation, "PATIENT_S", 0.2)
    Stuck.hanging, Stuck.released = threading.Event(), threading.Event()
    gymnasium.register("Stuck-v0", Stuck)
    yield study(game="gym:Stuck-v0", evaluate_every=1)
    Stuck.released.set()
    gymnasium.registry.pop("Stuck-v0")
    for thread in threading.enumerate():
        if thread.name == "evaluation":
            thread.join()


def test_a_game_that_hangs_in_an_evaluation_ends_the_study_which_says_where_it_hangs(
    store: FolderStore, stuck: TrainConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "SILENT_S", 0.5)
    end = events(stuck, store)[-1]
    assert isinstance(end, Failed)
    assert not end.permanent, "it may go better the next time"
    assert end.message.startswith("The game has not answered for 0.5 s during an evaluation; it is in wait (threading")
    assert "called by step (test_study_troubles.py, line " in end.message


def test_a_study_whose_game_hangs_in_an_evaluation_can_be_stopped_and_repeats_it(
    store: FolderStore, stuck: TrainConfig
) -> None:
    began = time.monotonic()
    before = events(stuck, store, control=lambda: "pause" if Stuck.hanging.is_set() else "")
    end = before[-1]
    assert isinstance(end, Paused)
    assert time.monotonic() - began < evaluation.SILENT_S
    assert not [event for event in before if isinstance(event, Progressed)], "its first round is not measured"
    Stuck.released.set()
    after = events(stuck, store, resume=end.artifacts["checkpoint"])
    assert [tick for tick, *_ in curve(after)] == [1, 2, 3, 4]


def test_events_that_no_longer_fit_end_a_study_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was a traceback. The folder of the job may be full where its store is not."""
    monkeypatch.setattr("engine.job_folder._listen_to_signals", lambda: None)
    monkeypatch.setattr("engine.study.run", lambda *args, **more: iter([Logged(message="a first word")]))
    (tmp_path / "events.jsonl").symlink_to("/dev/full")
    (tmp_path / "study.json").write_text(json.dumps(STUDY))
    assert main(["run", "--job-dir", str(tmp_path), "--store", str(tmp_path), "--resume", "0" * 64]) == 1
    assert "Interrupted: The disk is full: free some space, then resume." in capsys.readouterr().err


def test_a_line_that_was_cut_off_takes_no_other_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.job_folder._listen_to_signals", lambda: None)
    monkeypatch.setattr("engine.study.run", lambda *args, **more: iter([Paused(artifacts={"checkpoint": "0" * 64})]))
    (tmp_path / "events.jsonl").write_bytes(b'{"kind":"progr')
    execute(load(STUDY), tmp_path, str(tmp_path / "store"))
    assert isinstance(last_events(tmp_path)["end"], Paused)
