"""The bookkeeping of pools: shares of work, blame for deaths, and every request answered exactly once."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from engine.problem import Request
from engine.runtime.ledger import Batch, Ledger
from tests.contracts.evaluators import requests

A, B = b"a", b"b"


def seconds(batch: Batch, each: float = 0.001) -> float:
    """What a batch of plain requests takes."""
    return each * len(batch.requests)


def paced(each: float, workers: int = 2, target_s: float = 0.1) -> Ledger:
    """A ledger that has measured ``each`` seconds a request."""
    ledger = Ledger(workers, target_s)
    ledger.add(requests(1, first_id=10**6))
    batch = ledger.deal(A)
    assert batch
    ledger.finish(A, batch.number, each)
    return ledger


def ids(batch: Batch | None) -> list[int]:
    """The ids of a batch's requests."""
    assert batch
    return [request.id for request in batch.requests]


def play(ledger: Ledger, each: float, workers: int) -> tuple[list[float], list[Batch]]:
    """Run everything on simulated workers; when each of them ended, and the batches in the order of their start."""
    names = [b"%d" % i for i in range(workers)]
    clocks = dict.fromkeys(names, 0.0)
    batches = []
    while ledger.outstanding:
        for _ in range(2):
            for name in names:
                batch = ledger.deal(name)
                if batch:
                    batches.append(batch)
        running = {name: clocks[name] + seconds(ledger.holds(name)[0], each) for name in names if ledger.holds(name)}
        name = min(running, key=running.__getitem__)
        clocks[name] = running[name]
        ledger.finish(name, ledger.holds(name)[0].number, seconds(ledger.holds(name)[0], each))
    return list(clocks.values()), batches


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("each", [0.0001, 0.001, 0.003])
def test_workers_reach_the_end_of_a_generation_together(workers: int, each: float) -> None:
    ledger = paced(each, workers)
    ledger.add(requests(200))
    ends, _ = play(ledger, each, workers)
    assert max(ends) - min(ends) <= max(0.012, each)


def test_slow_requests_are_never_queued_behind_one_another_while_a_worker_is_idle() -> None:
    ledger = paced(17.0)
    ledger.add(requests(9))
    ends, batches = play(ledger, 17.0, 2)
    assert all(len(batch.requests) == 1 for batch in batches)
    assert max(ends) - min(ends) <= 17.0


def test_fast_requests_travel_in_few_batches() -> None:
    ledger = paced(0.001)
    ledger.add(requests(200))
    _, batches = play(ledger, 0.001, 2)
    assert len(batches) <= 25
    assert len(batches[0].requests) == 50


def test_no_batch_is_longer_than_the_target() -> None:
    ledger = paced(0.01)
    ledger.add(requests(1000))
    _, batches = play(ledger, 0.01, 2)
    assert max(len(batch.requests) for batch in batches) <= 11


def test_more_replicates_are_more_work() -> None:
    ledger = paced(0.01)
    ledger.add(requests(100, replicates=40))
    _, batches = play(ledger, 0.1, 2)
    assert max(len(batch.requests) for batch in batches) <= 2


def test_room_is_two_batches_for_each_worker() -> None:
    ledger = paced(0.01)
    assert 30 <= ledger.room <= 40
    ledger.add(requests(25))
    assert 5 <= ledger.room <= 15


def test_before_anything_is_measured_each_worker_gets_one_request() -> None:
    ledger = Ledger(2, 0.1)
    ledger.add(requests(100))
    assert ids(ledger.deal(A)) == [0]
    assert ids(ledger.deal(B)) == [1]
    assert ledger.deal(A) is None


def test_a_lost_batch_is_issued_again_and_what_was_not_begun_just_waits() -> None:
    ledger = paced(0.001)
    ledger.add(requests(200))
    first, second = ledger.deal(A), ledger.deal(A)
    assert ledger.lose(A, "gone") == []
    again = ledger.deal(B)
    assert ids(again) == ids(first)
    assert ledger.deal(B) is None, "a suspect travels alone"
    assert ledger.deal(b"c") is not None
    assert ids(ledger.holds(b"c")[0])[0] == ids(second)[0]


def test_a_batch_that_costs_two_processes_is_bisected() -> None:
    ledger = paced(0.001)
    ledger.add(requests(200))
    whole = ids(ledger.deal(A))
    ledger.lose(A, "gone")
    assert ids(ledger.deal(A)) == whole
    ledger.lose(A, "gone")
    left, right = ids(ledger.deal(A)), ids(ledger.deal(B))
    assert left + right == whole
    assert abs(len(left) - len(right)) <= 1


def test_a_request_is_given_up_only_after_three_deaths_in_a_row_alone() -> None:
    ledger = paced(1.0)
    ledger.add(requests(1))
    for _ in range(2):
        assert ids(ledger.deal(A)) == [0]
        assert ledger.lose(A, "gone") == []
    ledger.deal(A)
    (condemned,) = ledger.lose(A, "really gone")
    assert condemned.request.id == 0
    assert condemned.reason == "really gone"
    assert ledger.outstanding == 0


def test_a_death_with_something_else_in_hand_does_not_count_as_alone() -> None:
    ledger = paced(0.03, workers=1, target_s=0.03)
    ledger.add(requests(10))
    first = ledger.deal(A)
    assert len(ids(first)) == 1
    assert ledger.deal(A) is not None
    ledger.lose(A, "gone")
    suspect = ledger.deal(A)
    assert ids(suspect) == ids(first)
    assert suspect
    assert (suspect.deaths, suspect.alone) == (1, 0)


def test_a_worker_that_was_lost_cannot_finish_anything() -> None:
    ledger = paced(0.001)
    ledger.add(requests(10))
    batch = ledger.deal(A)
    assert batch
    ledger.lose(A, "gone")
    assert ledger.finish(A, batch.number, 1.0) is None
    assert ledger.outstanding == 10


def test_stopping_a_worker_blames_nobody() -> None:
    ledger = paced(0.001)
    ledger.add(requests(100))
    before = ids(ledger.deal(A))
    ledger.put_back(A)
    again = ledger.deal(A)
    assert ids(again) == before
    assert again
    assert again.deaths == 0


@pytest.mark.parametrize("seed", range(20))
def test_whatever_dies_every_request_is_answered_once_and_only_the_poisonous_ones_fail(seed: int) -> None:
    rng = random.Random(seed)
    workers = [b"%d" % i for i in range(rng.randint(1, 4))]
    ledger = paced(rng.choice([0.0001, 0.001, 0.05, 1.0]), len(workers))
    asked = requests(120)
    poison = {request.id for request in rng.sample(asked, 4)}
    ledger.add(asked)
    answers: Counter[int] = Counter()
    failures: Counter[int] = Counter()
    accidents = 15
    while ledger.outstanding:
        for name in workers:
            ledger.deal(name)
            if rng.random() < 0.5:
                ledger.deal(name)
        busy = [name for name in workers if ledger.holds(name)]
        name = rng.choice(busy)
        running = ledger.holds(name)[0]
        accident = accidents > 0 and rng.random() < 0.2 and not (running.deaths and len(running.requests) == 1)
        accidents -= accident
        if accident or poison & {request.id for request in running.requests}:
            failures.update(condemned.request.id for condemned in ledger.lose(name, "gone"))
        else:
            ledger.finish(name, running.number, seconds(running))
            answers.update(request.id for request in running.requests)
    assert set(failures) == poison
    assert answers + failures == Counter(request.id for request in asked)


def test_a_request_is_known_by_its_id_alone() -> None:
    ledger = paced(0.001)
    request: Request = requests(1)[0]
    ledger.add([request])
    batch = ledger.deal(A)
    assert batch
    ledger.finish(A, batch.number, 0.001)
    ledger.add([request._replace(last=9)])
    assert ledger.outstanding == 1


@pytest.mark.parametrize("each", [0.05, 1.0])
def test_long_work_waits_for_a_worker_that_is_free(each: float) -> None:
    """Held behind a long evaluation it would keep waiting there while another worker falls idle."""
    ledger = paced(each)
    ledger.add(requests(6))
    assert ids(ledger.deal(A)) == [0]
    assert ledger.deal(A) is None
    assert ids(ledger.deal(B)) == [1]
