"""What every search algorithm promises; each algorithm's test class inherits these tests."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from pymoo.problems import get_problem

from engine.arrays import pack, unpack
from engine.errors import EvaluationError
from engine.evolution.algorithm import Algorithm, Individual, Parts, of_part, to_part
from engine.evolution.operators import RealSpace
from engine.problem import Evaluation, Objective, Problem, Request, failed

N, TICKS = 12, 6


class Task(NamedTuple):
    """A problem of 10 real variables, all objectives minimised, and how to evaluate a genome."""

    problem: Problem
    evaluate: Callable[[NDArray[np.float64]], NDArray[np.float64]]


def task(name: str, **settings: Any) -> Task:
    """One of pymoo's problems as a task."""
    found = get_problem(name, n_var=10, **settings)
    objectives = tuple(Objective(f"f{i + 1}", f"f{i + 1}", "min") for i in range(found.n_obj))
    return Task(Problem(RealSpace(*found.bounds()), objectives), found.evaluate)


ONE, TWO, MANY = task("rastrigin"), task("zdt1"), task("dtlz2", n_obj=4)


def problem() -> Problem:
    """ZDT1 with 10 variables, both objectives minimised."""
    return TWO.problem


def answer(request: Request, of: Task = TWO, violation: float = 0.0) -> Evaluation:
    """The true objectives of a request."""
    m = len(of.problem.objectives)
    return Evaluation(request.id, of.evaluate(request.genome), np.zeros((m, m)), 4, np.empty(0), violation)


def ask(algorithm: Algorithm, waiting: list[Request]) -> list[Request]:
    """What is asked where there is room for seven."""
    return algorithm.ask(max(0, 7 - len(waiting)))


def drive(
    algorithm: Algorithm, order: random.Random | None = None, ticks: int = 10**9, of: Task = TWO
) -> list[list[Request]]:
    """Run to the end (or a number of ticks), telling in a shuffled order; what was asked each time."""
    asked, waiting = [], []
    while not algorithm.done:
        new = ask(algorithm, waiting)
        asked.append(new)
        waiting += new
        assert waiting, "nothing is outstanding, and nothing is asked"
        i = order.randrange(len(waiting)) if order else 0
        for progress in algorithm.tell(answer(waiting.pop(i), of)):
            if progress.tick >= ticks:
                return asked
    return asked


def fingerprint(algorithm: Algorithm) -> bytes:
    """Front and state as bytes: equal only when everything is equal."""
    return packed(algorithm.state()) + packed({"front": to_part(algorithm.front())})


def packed(parts: Parts) -> bytes:
    """A state as bytes."""
    return b"".join(name.encode() + pack(*part) for name, part in parts.items())


def stored(parts: Parts) -> Parts:
    """A state as it comes back from a store."""
    return {name: unpack(pack(*part)) for name, part in parts.items()}


class AlgorithmContract:
    """Inherit, and say which algorithm it is or how it is made."""

    algorithm: ClassVar[Callable[..., Algorithm]]
    steady = False
    of: ClassVar[Task] = TWO

    def make(self, seed: int = 1, ticks: int = TICKS) -> Algorithm:
        """A fresh algorithm of population 12 on ``of``'s problem."""
        settings = {"steady": True} if self.steady else {}
        return type(self).algorithm(self.of.problem, N, ticks, seed, **settings)

    def told(self, count: int, order: random.Random | None = None) -> tuple[Algorithm, list[Request]]:
        """An algorithm that was told ``count`` evaluations, and what it still waits for."""
        algorithm, waiting = self.make(), []
        for _ in range(count):
            waiting += ask(algorithm, waiting)
            algorithm.tell(answer(waiting.pop(order.randrange(len(waiting)) if order else 0), self.of))
        return algorithm, waiting + ask(algorithm, waiting)

    def resumed(self, algorithm: Algorithm) -> Algorithm:
        """A fresh algorithm that goes on from another's state, as it comes back from a store."""
        fresh = self.make()
        fresh.load(stored(algorithm.state()))
        return fresh

    def test_each_request_is_asked_once_and_told_once(self) -> None:
        algorithm = self.make()
        asked = [r.id for batch in drive(algorithm, random.Random(3), of=self.of) for r in batch]
        assert len(asked) == len(set(asked)) == N * TICKS
        with pytest.raises(KeyError):
            algorithm.tell(answer(Request(asked[0], np.zeros(10), 0, 1, 1), self.of))

    def test_the_same_seed_asks_the_same_things(self) -> None:
        one, two = ([(r.id, r.genome.tobytes()) for b in drive(self.make(5), of=self.of) for r in b] for _ in range(2))
        assert one == two

    def test_another_seed_asks_other_things(self) -> None:
        one, two = (drive(self.make(seed, ticks=1), of=self.of)[0][0].genome for seed in (1, 2))
        assert not np.array_equal(one, two)

    def test_completion_order_does_not_change_a_synchronous_result(self) -> None:
        if self.steady:
            first = self.make()
            drive(first, random.Random(1), of=self.of)
            assert first.front(), "a steady-state search survives any order"
            return
        prints = set()
        for order in (None, random.Random(1), random.Random(2)):
            algorithm = self.make()
            drive(algorithm, order, of=self.of)
            prints.add(fingerprint(algorithm))
        assert len(prints) == 1

    @pytest.mark.parametrize("count", [0, 5, 12, 31, 48, 71])
    def test_a_state_taken_in_the_middle_with_requests_outstanding_goes_on_to_the_same_end(self, count: int) -> None:
        whole = self.make()
        drive(whole, of=self.of)
        half, waiting = self.told(count)
        again = self.resumed(half)
        if not self.steady:
            assert sorted(r.id for r in again.ask(7)) == sorted(r.id for r in waiting)
            again = self.resumed(half)
        drive(again, of=self.of)
        if not self.steady:
            assert fingerprint(again) == fingerprint(whole)
        assert again.done
        assert again.front()

    @pytest.mark.parametrize("count", [7, 30])
    def test_what_is_outstanding_is_asked_again_after_a_resume_and_told_in_any_order(self, count: int) -> None:
        half, waiting = self.told(count, random.Random(4))
        again = self.resumed(half)
        asked = {r.id: r.genome for r in again.ask(0)}
        assert {r.id for r in waiting} == set(asked)
        for request in waiting:
            np.testing.assert_array_equal(asked[request.id], request.genome)
        for request in reversed(waiting):
            again.tell(answer(request, self.of))
        drive(again, random.Random(5), of=self.of)
        assert again.done

    def test_it_may_be_stopped_after_any_evaluation_and_looking_at_it_changes_nothing(self) -> None:
        watched, waiting = self.make(), []
        assert watched.front() == []
        while not watched.done:
            waiting += ask(watched, waiting)
            watched.tell(answer(waiting.pop(0), self.of))
            prints = {fingerprint(watched) for _ in range(2)}
            assert len(prints) == 1
        assert watched.ask(7) == []
        unwatched = self.make()
        drive(unwatched, of=self.of)
        assert fingerprint(unwatched) == fingerprint(watched)

    def test_failed_evaluations_are_survived_and_never_on_the_front(self) -> None:
        algorithm, waiting, count, m = self.make(), [], 0, len(self.of.problem.objectives)
        while not algorithm.done:
            waiting += ask(algorithm, waiting)
            request, count = waiting.pop(), count + 1
            no = failed(request, "the simulator said no", m, 0)
            algorithm.tell(no if count % 3 == 0 else answer(request, self.of))
        assert algorithm.front()
        assert all(i.evaluation.status == "ok" for i in algorithm.front())

    def test_violations_are_never_on_the_front(self) -> None:
        algorithm, waiting, count = self.make(), [], 0
        while not algorithm.done:
            waiting += ask(algorithm, waiting)
            request, count = waiting.pop(0), count + 1
            algorithm.tell(answer(request, self.of, violation=float(count % 2) * count))
        assert algorithm.front()
        assert all(i.evaluation.violation == 0 for i in algorithm.front())

    def test_a_population_of_failures_ends_with_a_clear_error(self) -> None:
        algorithm, m = self.make(), len(self.of.problem.objectives)
        *others, last = algorithm.ask(N)
        for request in others:
            algorithm.tell(failed(request, "the simulator said no", m, 0))
        with pytest.raises(EvaluationError, match="the simulator said no"):
            algorithm.tell(failed(last, "the simulator said no", m, 0))

    def test_what_is_proposed_does_not_depend_on_room(self) -> None:
        if self.steady:
            assert len(self.make().ask(1)) == N, "the first population is handed out whole"
            return
        assert [r.id for r in self.make().ask(1)] == [r.id for r in self.make().ask(1000)]

    def test_nobody_on_the_front_is_beaten(self) -> None:
        algorithm = self.make()
        drive(algorithm, of=self.of)
        front = np.stack([i.evaluation.objectives for i in algorithm.front()])
        for row in front:
            assert not ((front <= row).all(axis=1) & (front < row).any(axis=1)).any()


def test_individuals_survive_a_checkpoint() -> None:
    rng = np.random.default_rng(0)
    found = [Individual(rng.random(10), answer(Request(i, rng.random(10), 0, 1, 1)), i) for i in range(5)]
    again = of_part(stored({"members": to_part(found)})["members"])
    assert [i.evaluation.id for i in again] == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(again[3].genome, found[3].genome)
    np.testing.assert_array_equal(again[3].evaluation.objectives, found[3].evaluation.objectives)
