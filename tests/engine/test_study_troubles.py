"""What goes wrong while a study runs: its workers die, the game ends them, or hangs in an evaluation."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest

from engine.config.pool import PoolConfig
from engine.config.study import Study
from engine.config.train import TrainConfig
from engine.errors import ActorLost, EvaluationError
from engine.events import AnyEvent, Failed, Incident, Paused, Progressed, Started, Stopped
from engine.problem import Evaluation
from engine.rl.collector import Arrival
from engine.runtime.answering import build
from engine.runtime.outcomes import Trouble
from engine.runtime.pool import LocalPool
from engine.store import FolderStore, Store
from engine.studies import load
from engine.study import evaluation, run
from engine.study.sampler_pool import LocalSamplers
from tests.engine.test_study import STUDY
from tests.engine.test_train import control, curve, events, study


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path)


class Dying(LocalSamplers):
    """Its cluster is gone."""

    def __init__(self, config: TrainConfig, store: Store, tick: int, allowed: Sequence[str] = ()) -> None:
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
    monkeypatch.setattr("engine.study.drive.open_pool", DyingPool)
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
    monkeypatch.setattr("engine.study.drive.open_pool", HopelessPool)
    found, _ = told(load(STUDY), store)
    assert [type(event) for event in found] == [Started, Incident, Failed]


def test_all_losses_are_told_before_the_end_which_quotes_the_game(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.study.train.open_samplers", Losing)
    found = events(study(), store)
    incidents = [event.message for event in found if isinstance(event, Incident)]
    assert incidents == [f"Sampler 1 was lost: loss {n}: the referee has left." for n in range(1, 6)]
    end = found[-1]
    assert isinstance(end, Failed)
    assert end.message.startswith("5 samplers in a row were lost in round 1")
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
