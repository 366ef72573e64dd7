"""What every evaluator promises; each evaluator's test class inherits these tests."""

from __future__ import annotations

from abc import ABC, abstractmethod

import msgspec
import numpy as np

from engine.problem import Evaluator, LineupContext, Request, of_kind


class EvaluatorContract(ABC):
    """Inherit, and say how the evaluator is made."""

    @abstractmethod
    def make(self) -> Evaluator:
        """A fresh evaluator."""

    def asked(self, evaluator: Evaluator, n: int = 6) -> list[Request]:
        """Requests for n random genomes."""
        rng = np.random.default_rng(1)
        return [Request(i, evaluator.initialize(rng), 0, 4, 1) for i in range(n)]

    def test_each_request_is_answered_once_in_the_shape_described(self) -> None:
        evaluator = self.make()
        problem = evaluator.describe()
        found = list(evaluator.evaluate(self.asked(evaluator), lambda: False))
        assert sorted(e.id for e in found) == list(range(6))
        m = len(problem.objectives)
        for e in found:
            assert e.objectives.shape == (m,)
            assert e.covariance.shape == (m, m)
            assert e.metrics.shape == (len(problem.metrics),)
            assert e.samples == 4
            assert e.cost > 0
            assert np.isfinite(e.objectives).all()

    def test_the_same_requests_give_the_same_answers_in_any_order(self) -> None:
        one, two = self.make(), self.make()
        first = {e.id: e for e in one.evaluate(self.asked(one), lambda: False)}
        for e in two.evaluate(self.asked(two)[::-1], lambda: False):
            np.testing.assert_array_equal(e.objectives, first[e.id].objectives)
            np.testing.assert_array_equal(e.covariance, first[e.id].covariance)

    def test_other_replicates_are_other_battles(self) -> None:
        evaluator = self.make()
        (request,) = self.asked(evaluator, 1)
        (first,) = evaluator.evaluate([request], lambda: False)
        (later,) = evaluator.evaluate([request._replace(first=4, last=8)], lambda: False)
        assert not np.array_equal(first.covariance, later.covariance)

    def test_a_stop_ends_it_before_the_next_group(self) -> None:
        evaluator = self.make()
        assert list(evaluator.evaluate(self.asked(evaluator), lambda: True)) == []

    def test_anchors_are_kept_when_they_are_given(self) -> None:
        evaluator = self.make()
        (request,) = self.asked(evaluator, 1)
        (found,) = evaluator.evaluate([request], lambda: False)
        chosen = of_kind(found.context, LineupContext)
        turned = msgspec.structs.replace(chosen, anchors=chosen.anchors[::-1])
        (fixed,) = evaluator.evaluate([request._replace(context=turned)], lambda: False)
        assert fixed.context == turned
