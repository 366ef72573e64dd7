"""PBT beside Ray Tune: what is counted, and from when on."""

from __future__ import annotations

import time

import pytest

from engine.bench import pbt_peer
from engine.bench.pbt_peer import STEPS, _Clock
from engine.events import Counters, Progressed


def test_decisions_count_from_the_end_of_the_first_round_and_the_best_score_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times, processor = iter((0.0, 100.0, 150.0, 200.0)), iter((30.0, 50.0, 70.0))
    monkeypatch.setattr(time, "perf_counter", lambda: next(times))
    monkeypatch.setattr(pbt_peer, "spent", lambda: next(processor))
    clock = _Clock()
    for evaluations, score in ((4, 0.2), (8, 0.7), (12, 0.6)):
        metrics = {"utilisation": 0.9, "best_score": score}
        clock.take(Progressed(metrics=metrics, artifacts={}, counters=Counters(evaluations=evaluations)))
    told = clock.found()
    assert told["steps_per_second"] == pytest.approx(8 * STEPS / 100)
    assert told["processor_seconds"] == pytest.approx(40)
    assert (told["seconds"], told["since_began"], told["score"], told["steps"]) == (100, 200, 0.7, 12 * STEPS)
