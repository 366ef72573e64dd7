"""What every pool promises; each kind of pool inherits these tests and says how to open one."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.errors import EngineError, EvaluationError, SimulatorError
from engine.problem import Evaluation, Request
from engine.runtime.pool import Pool
from tests.contracts import evaluators
from tests.contracts.evaluators import answer, dangerous, requests

PATIENCE_S = 60.0


def collect(pool: Pool, n: int, patience_s: float = PATIENCE_S) -> dict[int, Evaluation]:
    """n evaluations by id; fails when one is told twice or they do not come."""
    told: dict[int, Evaluation] = {}
    until = time.monotonic() + patience_s
    while len(told) < n:
        assert time.monotonic() < until, f"{n - len(told)} of {n} answers did not come"
        for evaluation in pool.finished(1.0):
            assert evaluation.id not in told, f"request {evaluation.id} was told twice"
            told[evaluation.id] = evaluation
    return told


def same(a: Evaluation, b: Evaluation) -> None:
    """Equal bit for bit; what a pool may not change."""
    for name, x, y in zip(a._fields, a, b, strict=True):
        if isinstance(x, np.ndarray):
            assert isinstance(y, np.ndarray), name
            assert x.dtype == y.dtype, name
            np.testing.assert_array_equal(x, y, name)
        else:
            assert x == y, name
            assert type(x) is type(y), name


def check(told: dict[int, Evaluation], asked: Iterable[Request]) -> None:
    """Every request has its true answer."""
    for request in asked:
        same(told[request.id], answer(request))


class PoolContract(ABC):
    """Inherit, and implement ``open``."""

    @abstractmethod
    def open(self, marks: Path | str = "", batch_ms: int = 100, pause_s: float = 0.0, succeeded: bool = False) -> Pool:
        """A pool of ``Dangerous`` evaluators."""

    @pytest.mark.parametrize("batch_ms", [1, 100, 10_000])
    def test_every_request_is_told_once_with_its_true_answer_whatever_the_batch_size(self, batch_ms: int) -> None:
        asked = requests(157)
        with self.open(batch_ms=batch_ms) as pool:
            pool.submit(asked[:100])
            pool.submit(asked[100:])
            check(collect(pool, len(asked)), asked)
            assert pool.finished(0.0) == []
            assert pool.incidents() == []

    def test_many_small_submissions_are_answered_like_one(self) -> None:
        asked = requests(60)
        told: dict[int, Evaluation] = {}
        with self.open() as pool:
            for request in asked:
                pool.submit([request])
                told.update((evaluation.id, evaluation) for evaluation in pool.finished(0.01))
            told.update(collect(pool, len(asked) - len(told)))
        check(told, asked)

    def test_a_request_may_be_asked_again_once_it_was_told(self) -> None:
        asked = requests(4)
        with self.open() as pool:
            for replicates in (2, 4, 8):
                again = [request._replace(last=request.first + replicates) for request in asked]
                pool.submit(again)
                check(collect(pool, len(again)), again)

    def test_a_request_that_is_still_unanswered_is_refused_the_second_time(self) -> None:
        asked = requests(2)
        with self.open() as pool:
            pool.submit(asked)
            with pytest.raises(EngineError, match="submitted again"):
                pool.submit(asked)

    def test_nothing_outstanding_returns_at_once(self) -> None:
        with self.open() as pool:
            began = time.monotonic()
            assert pool.finished(30.0) == []
            assert time.monotonic() - began < 15.0

    def test_room_shrinks_with_what_is_outstanding_and_comes_back(self) -> None:
        asked = requests(40)
        with self.open() as pool:
            empty = pool.room
            assert empty >= 1
            pool.submit(asked)
            assert pool.room <= max(0, empty - 1)
            collect(pool, len(asked))
            assert pool.room > empty, "fast evaluations deserve larger batches"

    def test_a_request_that_raises_fails_alone(self, tmp_path: Path) -> None:
        asked = requests(30)
        asked[7] = dangerous(asked[7], evaluators.RAISES)
        asked[8] = dangerous(asked[8], evaluators.NO_ANSWER)
        with self.open(tmp_path) as pool:
            pool.submit(asked)
            told = collect(pool, len(asked))
        self._only_failed(told, asked, {7: "is odd", 8: "without an answer"})

    def test_a_simulator_that_dies_twice_changes_no_result(self, tmp_path: Path) -> None:
        asked = requests(30)
        asked[11] = dangerous(asked[11], evaluators.SIMULATOR_DIES, 2)
        with self.open(tmp_path) as pool:
            pool.submit(asked)
            check(collect(pool, len(asked)), asked)
            troubles = pool.incidents()
        assert [trouble.what for trouble in troubles] == ["lost-simulator"] * 2
        assert "exit code 3" in troubles[0].message

    def test_a_simulator_that_dies_over_one_candidate_fails_only_that_one(self, tmp_path: Path) -> None:
        asked = requests(30)
        asked[11] = dangerous(asked[11], evaluators.SIMULATOR_DIES, 1000)
        with self.open(tmp_path) as pool:
            pool.submit(asked)
            told = collect(pool, len(asked))
            assert pool.incidents()[-1].what == "failed-candidate"
        self._only_failed(told, asked, {11: "exit code 3"})

    def test_where_every_candidate_ends_its_simulator_the_work_ends(self, tmp_path: Path) -> None:
        asked = [dangerous(request, evaluators.SIMULATOR_DIES, 1000) for request in requests(20)]
        with self.open(tmp_path) as pool:
            pool.submit(asked)
            with pytest.raises(EvaluationError, match="Not one candidate"):
                collect(pool, len(asked))

    def test_where_candidates_were_evaluated_before_those_that_end_their_simulator_fail_alone(
        self, tmp_path: Path
    ) -> None:
        """A study that is resumed had successes that this pool has not seen."""
        asked = [dangerous(request, evaluators.SIMULATOR_DIES, 1000) for request in requests(8)]
        with self.open(tmp_path, succeeded=True) as pool:
            pool.submit(asked)
            told = collect(pool, len(asked))
        self._only_failed(told, asked, {request.id: "exit code 3" for request in asked})

    def test_a_simulator_that_is_broken_for_good_ends_the_work(self, tmp_path: Path) -> None:
        asked = requests(10)
        asked[3] = dangerous(asked[3], evaluators.SIMULATOR_BROKEN)
        with self.open(tmp_path) as pool:
            pool.submit(asked)
            with pytest.raises(SimulatorError, match="no such hero") as caught:
                collect(pool, len(asked))
            assert caught.value.permanent

    def test_what_is_streamed_says_for_which_request_and_comes_once_and_before_the_answer(self, tmp_path: Path) -> None:
        """Also of a request that is begun again."""
        asked, many = requests(12), {3: 400, 5: 8, 8: 5}
        for number, n in many.items():
            what = evaluators.STREAM_BREAKS if number == 5 else evaluators.STREAMS
            asked[number] = dangerous(asked[number], what, n)
        told: dict[int, Evaluation] = {}
        streamed: dict[int, list[list[bytes]]] = {number: [] for number in many}
        until = time.monotonic() + PATIENCE_S
        with self.open(tmp_path) as pool:
            pool.submit(asked)
            while len(told) < len(asked):
                assert time.monotonic() < until
                now = pool.finished(0.1)
                while found := pool.gather(0.0, 7):
                    assert len(found) <= 7
                    for one in found:
                        assert one.request not in told
                        streamed[one.request].append([bytes(frame) for frame in one.frames])
                told.update((evaluation.id, evaluation) for evaluation in now)
            assert [trouble.what for trouble in pool.incidents()] == ["lost-simulator"]
        check(told, asked)
        assert streamed == {number: [[b"%d" % i, bytes(1000)] for i in range(n)] for number, n in many.items()}

    def test_a_pool_may_be_closed_twice_and_in_the_middle_of_its_work(self) -> None:
        pool = self.open(pause_s=0.05)
        pool.submit(requests(200))
        pool.finished(0.1)
        began = time.monotonic()
        pool.close()
        pool.close()
        assert time.monotonic() - began < 15.0

    def _only_failed(self, told: dict[int, Evaluation], asked: Sequence[Request], reasons: dict[int, str]) -> None:
        check(told, [request for request in asked if request.id not in reasons])
        for number, reason in reasons.items():
            assert told[number].status == "failed"
            assert reason in told[number].reason
            assert told[number].violation == float("inf")
            assert told[number].objectives.shape == (2,)
            assert told[number].metrics.shape == (3,)
