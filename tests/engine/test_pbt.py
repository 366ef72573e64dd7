"""Population based training: the contract, the paper's toy problem, who copies whom, and what is handed on."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config.genes import Gene
from engine.evolution.genes import GeneSpace
from engine.evolution.operators import IntegerSpace, MixtureSpace, RealSpace, SubsetSpace
from engine.evolution.pbt import FACTORS, PBT, better
from engine.problem import (
    TRAINED,
    Capabilities,
    Evaluation,
    Objective,
    Problem,
    Request,
    TrainingContext,
    failed,
    of_kind,
)
from engine.store import FolderStore
from tests.contracts.algorithm import MANY, ONE, AlgorithmContract, stored


class TestPBT(AlgorithmContract):
    algorithm = PBT


class TestSteadyPBT(AlgorithmContract):
    algorithm = PBT
    steady = True


class TestPBTOfOneObjective(AlgorithmContract):
    algorithm = PBT
    of = ONE


class TestPBTOfManyObjectives(AlgorithmContract):
    algorithm = PBT
    of = MANY


UP = (Objective("f", "f"),)
UNIT = Problem(RealSpace(np.zeros(2), np.ones(2)), UP)


def measured(i: int, f: float, variance: float = 0.0, samples: int = 10, weights: str = "") -> Evaluation:
    context = TrainingContext(artifacts={TRAINED: weights} if weights else {})
    return Evaluation(
        i,
        np.array([f]),
        np.array([[variance]]),
        samples,
        np.empty(0),
        context=context,
    )


class Corners:
    """The toy problem's hyper-parameters: two members start as (1, 0) and (0, 1); drawn anew they are uniform."""

    @property
    def can(self) -> Capabilities:
        return RealSpace(np.zeros(2), np.ones(2)).can

    def sample(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return np.eye(2) if n == 2 else rng.random((n, 2))

    def keys(self, genomes: np.ndarray) -> np.ndarray:
        return genomes[:, 0].view(np.uint64)


def start(request: Request) -> str:
    return of_kind(request.context, TrainingContext).start


def toy(store: FolderStore, request: Request) -> Evaluation:
    """Jaderberg et al. section 4.1: climb the surrogate 1.2 - h . theta^2 from the stored theta, measure the true
    1.2 - |theta|^2."""
    theta = np.frombuffer(store.get(start(request))) if start(request) else np.array([0.9, 0.9])
    for _ in range(4):
        theta = theta - 0.01 * 2 * request.genome * theta
    return measured(request.id, 1.2 - float((theta**2).sum()), weights=store.put(theta.tobytes()))


def best_of_toy(store: FolderStore, search: PBT) -> float:
    waiting: list[Request] = []
    while not search.done:
        waiting += search.ask(1)
        search.tell(toy(store, waiting.pop(0)))
    return float(search.front()[0].evaluation.objectives[0])


@pytest.mark.parametrize("steady", [False, True])
def test_the_paper_s_toy_problem_needs_exploiting(steady: bool, tmp_path: object) -> None:
    """Alone, each member is blind in one direction and stays at 1.2 - 0.81; together they come close to 1.2."""
    store = FolderStore(str(tmp_path))
    corners = Problem(Corners(), UP)
    together = PBT(corners, 2, 60, 3, exploit="truncation", share=0.5, resample=0.5, steady=steady)
    alone = PBT(corners, 2, 60, 3, ready=10**6, steady=steady)
    assert best_of_toy(store, together) > 1.19
    assert best_of_toy(store, alone) < 0.4


def driven(search: PBT, values: list[float], variance: float = 0.0, samples: int = 10) -> list[Request]:
    """Tell one synchronous tick; the next requests."""
    for request, f in zip(search.ask(1), values, strict=True):
        search.tell(measured(request.id, f, variance, samples, weights=f"weights-of-{request.id}"))
    return search.ask(1)


def test_truncation_copies_weights_and_genes_of_the_top_to_the_bottom_and_nobody_else_moves() -> None:
    search = PBT(UNIT, 10, 5, 1, exploit="truncation", share=0.2)
    genomes = [r.genome for r in PBT(UNIT, 10, 5, 1).ask(1)]
    after = driven(search, [float(i) for i in range(10)])
    history = search.history()
    copied = history["copied"][10:]
    assert (copied[2:] == -1).all()
    assert set(copied[:2].tolist()) <= {8, 9}
    for member, request in enumerate(after):
        source = member if copied[member] < 0 else int(copied[member])
        assert start(request) == f"weights-of-{source}"
        assert history["parent"][10 + member] == source
        assert (request.genome == genomes[member]).all() == (copied[member] < 0)
        assert (request.first, request.last) == (1, 2), "fresh replicates at each step"


def test_explored_genes_are_eight_tenths_or_twelve_tenths_within_bounds_or_drawn_anew() -> None:
    rng, space = np.random.default_rng(0), RealSpace(np.zeros(4000), np.ones(4000))
    genome, fresh = np.full(4000, 0.9), np.full(4000, 0.5)
    found = space.perturbed(rng, genome, fresh, FACTORS, 0.25)
    values, counts = np.unique(found.round(9), return_counts=True)
    assert values.tolist() == [0.5, 0.72, 1.0]
    np.testing.assert_allclose(counts / 4000, [0.25, 0.375, 0.375], atol=0.03)
    whole = IntegerSpace(np.zeros(50), np.full(50, 9)).perturbed(rng, np.full(50, 2), np.full(50, 7), FACTORS, 0.0)
    assert set(whole.tolist()) == {1, 3}
    assert whole.dtype == np.int64


@given(st.floats(1e-6, 1e6), st.integers(1, 100), st.integers(0, 2**32))
def test_what_is_searched_by_its_logarithm_is_itself_multiplied(rate: float, reuse: int, seed: int) -> None:
    space = GeneSpace([Gene(("rate",), 1e-7, 1e7, log=True), Gene(("reuse",), 1, 128, log=True, whole=True)])
    genome = np.log([rate, reuse])
    found = space.values(space.perturbed(np.random.default_rng(seed), genome, np.full(2, np.nan), FACTORS, 0.0))
    assert min(abs(found["rate"] / rate / factor - 1) for factor in FACTORS) < 1e-6
    moved = {factor: round(factor * reuse) for factor in FACTORS}
    allowed = {number if number != reuse else reuse + (1 if factor > 1 else -1) for factor, number in moved.items()}
    assert found["reuse"] in {max(1, number) for number in allowed}


def test_each_part_of_a_mixture_is_explored_in_its_own_way() -> None:
    rng = np.random.default_rng(1)
    space = MixtureSpace({"rate": RealSpace([0.0], [1.0]), "set": SubsetSpace(6, 3)})
    genome, fresh = space.sample(rng, 2)
    found = space.perturbed(rng, genome, fresh, FACTORS, 0.0)
    assert found[0] / genome[0] == pytest.approx(0.8) or found[0] == pytest.approx(min(1.0, 1.2 * genome[0]))
    np.testing.assert_array_equal(found[1:], genome[1:])
    np.testing.assert_array_equal(space.perturbed(rng, genome, fresh, FACTORS, 1.0), fresh)


def test_welch_finds_a_better_rival_only_where_the_difference_is_sure() -> None:
    assert better(UNIT, measured(0, 1.0, 0.01), measured(1, 0.0, 0.01), 0.05)
    assert not better(UNIT, measured(0, 1.0, 0.5), measured(1, 0.0, 0.5), 0.05)
    assert not better(UNIT, measured(0, 0.0, 0.01), measured(1, 1.0, 0.01), 0.05)
    assert better(UNIT, measured(0, 1.0), measured(1, 0.0), 0.05)
    assert not better(UNIT, measured(0, 1.0), measured(1, 1.0), 0.05)
    dead = failed(Request(0, np.zeros(2), 0, 1, 1), "no", 1, 0)
    assert better(UNIT, measured(0, 1.0), dead, 0.05)
    assert not better(UNIT, dead, measured(1, 1.0), 0.05)


def test_welch_is_wrong_about_equal_members_as_often_as_it_says() -> None:
    rng, wrong, n = np.random.default_rng(5), 0, 4000
    for _ in range(n):
        a, b = rng.normal(size=8), rng.normal(0, 3, size=12)
        one = measured(0, a.mean(), a.var(ddof=1) / 8, 8)
        two = measured(1, b.mean(), b.var(ddof=1) / 12, 12)
        wrong += better(UNIT, one, two, 0.05) or better(UNIT, two, one, 0.05)
    assert 0.04 < wrong / n < 0.06


@pytest.mark.parametrize("exploit", ["truncation", "welch", "both"])
def test_a_failed_member_goes_on_from_a_good_one(exploit: str) -> None:
    search = PBT(UNIT, 4, 3, 1, exploit=exploit)
    for request in search.ask(1):
        if request.id == 2:
            search.tell(failed(request, "it fell over", 1, 0))
        else:
            search.tell(measured(request.id, 1.0, weights=f"weights-of-{request.id}"))
    after = search.ask(1)
    assert start(after[2]) in {"weights-of-0", "weights-of-1", "weights-of-3"}


def test_members_step_independently_when_steady() -> None:
    search = PBT(UNIT, 3, 10, 1, steady=True)
    slow, *fast = search.ask(1)
    for k in range(20):
        request = fast.pop(0)
        search.tell(measured(request.id, float(k), weights=str(k)))
        fast += search.ask(1)
    steps = search.history()
    assert (steps["member"] == 0).sum() == 1, "the slow one still trains its first step"
    assert steps["step"].max() >= 9
    search.tell(measured(slow.id, 0.0))
    assert start(search.ask(1)[0]), "when it comes in last it copies a better one"


def test_the_lineage_tells_every_step_and_survives_a_checkpoint() -> None:
    search = PBT(UNIT, 6, 8, 4, share=0.34)
    rng, asked = random.Random(1), search.ask(1)
    for _ in range(20):
        request = asked.pop(rng.randrange(len(asked)))
        search.tell(measured(request.id, float(request.genome.sum()), 0.001, weights=f"w{request.id}"))
        asked += search.ask(1)
    resumed = PBT(UNIT, 6, 8, 4, share=0.34)
    resumed.load(stored(search.state()))
    assert [(r.id, start(r)) for r in resumed.ask(1)] == sorted((r.id, start(r)) for r in asked)
    history = resumed.history()
    assert history["id"].tolist() == list(range(24))
    for k in range(6, 24):
        parent = history["parent"][k]
        owner = history["copied"][k] if history["copied"][k] >= 0 else history["member"][k]
        assert history["member"][parent] == owner
    for one in (search, resumed):
        for request in sorted(asked, key=lambda r: r.id):
            one.tell(measured(request.id, float(request.genome.sum()), 0.001, weights=f"w{request.id}"))
    assert [(r.id, start(r), r.genome.tobytes()) for r in search.ask(1)] == [
        (r.id, start(r), r.genome.tobytes()) for r in resumed.ask(1)
    ]
    assert [i.evaluation.context for i in resumed.front()] == [i.evaluation.context for i in search.front()]
