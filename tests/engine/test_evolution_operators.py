"""Codings: whatever the parents, children are valid, keep what the operator promises to keep, and repeat nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.evolution.operators import (
    BinarySpace,
    BlobSpace,
    CategoricalSpace,
    Coding,
    IntegerSpace,
    LayerGroup,
    MixtureSpace,
    PermutationSpace,
    RealSpace,
    SubsetSpace,
    TeamSpace,
)
from engine.evolution.operators.coding import TwoStep

N = 60
seeds = st.integers(0, 2**32 - 1)
BLOB = (LayerGroup("trunk", 70), LayerGroup("head", 9, 0.5), LayerGroup("value", 1))


def reals(d: int) -> RealSpace:
    return RealSpace(np.linspace(-3, 1, d), np.linspace(1, 5, d))


def integers(d: int) -> IntegerSpace:
    return IntegerSpace(np.arange(d) - 2, np.arange(d) * 3)


def uniform_reals(d: int) -> RealSpace:
    return RealSpace(np.linspace(-3, 1, d), np.linspace(1, 5, d), crossover_by="uniform", mutation_by="uniform")


def uniform_integers(d: int) -> IntegerSpace:
    return IntegerSpace(np.arange(d) - 2, np.arange(d) * 3, crossover_by="uniform", mutation_by="uniform")


def mixture(d: int) -> MixtureSpace:
    inner = MixtureSpace({"order": PermutationSpace(d + 1), "bits": BinarySpace(d)})
    parts = {"weights": BlobSpace(BLOB, strength=0.1), "teams": TeamSpace(2 * d + 1, 2, d), "rates": reals(d)}
    return MixtureSpace({**parts, "inner": inner, "pick": SubsetSpace(d + 2, d), "steps": integers(d)})


CODINGS: dict[str, Callable[[int], Coding]] = {
    "real": reals,
    "real, uniform": uniform_reals,
    "integer": integers,
    "integer, uniform": uniform_integers,
    "binary": lambda d: BinarySpace(d),
    "binary, one point": lambda d: BinarySpace(d, points="one_point"),
    "categorical": lambda d: CategoricalSpace([1 + i % 4 for i in range(d)]),
    "order, OX": lambda d: PermutationSpace(d),
    "order, PMX": lambda d: PermutationSpace(d, crossover_by="pmx", mutation_by="swap"),
    "order, CX": lambda d: PermutationSpace(d, crossover_by="cx", mutation_by="insertion"),
    "subset": lambda d: SubsetSpace(d + 2, d),
    "whole set": lambda d: SubsetSpace(d, d),
    "teams": lambda d: TeamSpace(3 * d + 2, 3, d),
    "teams without a bench": lambda d: TeamSpace(2 * d, 2, d),
    "one team": lambda d: TeamSpace(d, 1, d),
    "network, best": lambda d: BlobSpace(BLOB[:d], strength=0.3, share=0.5),
    "network, single point": lambda d: BlobSpace(BLOB[:d], crossover_by="single_point"),
    "mixture": mixture,
}


def valid(space: Coding, genomes: Any) -> bool:
    """Whether every genome belongs to the space, worked out without its operators."""
    assert genomes.shape[1:] == space.shape
    assert genomes.dtype == space.dtype
    flat = genomes.reshape(len(genomes), -1)
    if isinstance(space, MixtureSpace):
        return all(valid(space.layout[name].coding, part) for name, part in space.parts(genomes).items())
    if isinstance(space, RealSpace):
        return bool(((flat >= space.low) & (flat <= space.high)).all())
    if isinstance(space, IntegerSpace):
        return bool(((flat >= space.lowest) & (flat <= space.highest)).all())
    if isinstance(space, BinarySpace):
        return bool((flat <= 1).all())
    if isinstance(space, CategoricalSpace):
        return bool(((flat >= 0) & (flat < space.options)).all())
    if isinstance(space, PermutationSpace):
        return bool((np.sort(flat, axis=1) == np.arange(space.shape[0])).all())
    if isinstance(space, SubsetSpace):
        return bool((np.diff(flat, axis=1) > 0).all() and (flat >= 0).all() and (flat < space.size).all())
    if isinstance(space, TeamSpace):
        nobody_twice = (np.diff(np.sort(flat, axis=1), axis=1) > 0).all()
        canonical = (np.diff(genomes, axis=2) > 0).all() and (np.diff(genomes[:, :, 0], axis=1) > 0).all()
        return bool(nobody_twice and canonical and (flat >= 0).all() and (flat < space.size).all())
    return bool(np.isfinite(flat).all())


def family(space: Coding, seed: int) -> tuple[Any, Any, Any]:
    """Mothers, fathers (some of them the mother, or her child) and their children."""
    rng = np.random.default_rng(seed)
    mothers = space.sample(rng, N)
    fathers = space.sample(rng, N)
    fathers[::5] = mothers[::5]
    fathers[1::5] = space.offspring(rng, mothers[1::5], mothers[1::5])
    return mothers, fathers, space.offspring(rng, mothers, fathers)


coding = st.tuples(st.sampled_from(sorted(CODINGS)), st.integers(1, 7)).map(lambda drawn: CODINGS[drawn[0]](drawn[1]))


@given(space=coding, seed=seeds)
@settings(max_examples=250)
def test_samples_children_and_decoded_numbers_are_valid(space: Coding, seed: int) -> None:
    for genomes in family(space, seed):
        assert valid(space, genomes)
    numbers = np.random.default_rng(seed).random((N, space.width))
    for some in (numbers, np.zeros_like(numbers), np.ones_like(numbers)):
        assert valid(space, space.decode(some))


@given(space=coding, seed=seeds)
@settings(max_examples=100)
def test_the_same_random_numbers_give_the_same_children_and_parents_stay_as_they_are(space: Coding, seed: int) -> None:
    mothers, fathers, children = family(space, seed)
    before = mothers.copy(), fathers.copy()
    again = space.offspring(np.random.default_rng(seed), mothers, fathers)
    np.testing.assert_array_equal(again, space.offspring(np.random.default_rng(seed), mothers, fathers))
    np.testing.assert_array_equal(before[0], mothers)
    np.testing.assert_array_equal(before[1], fathers)
    assert not np.shares_memory(children, mothers)


@given(space=coding, seed=seeds)
@settings(max_examples=100)
def test_equal_genomes_have_equal_keys_and_others_have_others(space: Coding, seed: int) -> None:
    genomes = np.concatenate(family(space, seed))
    keys = space.keys(genomes)
    distinct = np.unique(genomes.reshape(len(genomes), -1), axis=0)
    assert len(np.unique(keys)) == len(distinct)
    np.testing.assert_array_equal(keys, space.keys(genomes.copy()))


@given(space=coding, seed=seeds)
@settings(max_examples=100)
def test_a_genome_survives_the_row_a_mixture_keeps_it_in(space: Coding, seed: int) -> None:
    mixed = MixtureSpace({"it": space, "other": BinarySpace(2)})
    genomes = mixed.sample(np.random.default_rng(seed), N)
    again = mixed.parts(mixed.row(mixed.parts(genomes)))["it"]
    np.testing.assert_array_equal(again, mixed.parts(genomes)["it"])
    assert again.dtype == space.dtype


def crossed(space: TwoStep, seed: int) -> tuple[Any, Any, Any]:
    """Parents that have much in common, and what crossover alone makes of them."""
    rng = np.random.default_rng(seed)
    mothers = space.sample(rng, N)
    fathers = mothers
    for _ in range(int(rng.integers(1, 4))):
        fathers = space._mutate(rng, fathers)
    return mothers, fathers, space._cross(rng, mothers, fathers)


POSITIONAL = ["real", "real, uniform", "integer", "integer, uniform", "binary", "binary, one point", "categorical",
              "order, PMX", "order, CX", "network, best", "network, single point"]  # fmt: skip


@given(name=st.sampled_from(POSITIONAL), d=st.integers(1, 9), seed=seeds)
@settings(max_examples=150)
def test_a_gene_that_both_parents_have_at_one_place_is_kept(name: str, d: int, seed: int) -> None:
    mothers, fathers, children = crossed(CODINGS[name](d), seed)  # type: ignore[arg-type]
    common = mothers == fathers
    np.testing.assert_array_equal(children[common], mothers[common])


PARENTS = ["real, uniform", "integer, uniform", "binary", "binary, one point", "categorical", "order, CX",
           "network, best", "network, single point"]  # fmt: skip


@given(name=st.sampled_from(PARENTS), d=st.integers(1, 9), seed=seeds)
@settings(max_examples=100)
def test_each_place_of_a_child_is_as_in_one_of_its_parents(name: str, d: int, seed: int) -> None:
    space = CODINGS[name](d)
    rng = np.random.default_rng(seed)
    mothers, fathers = space.sample(rng, N), space.sample(rng, N)
    children = space._cross(rng, mothers, fathers)  # type: ignore[attr-defined]
    assert ((children == mothers) | (children == fathers)).all()


@given(d=st.integers(2, 12), seed=seeds)
def test_pmx_takes_a_segment_from_the_father_and_what_it_can_from_the_mother(d: int, seed: int) -> None:
    from engine.evolution.operators.permutation import partially_mapped

    space, rng = PermutationSpace(d), np.random.default_rng(seed)
    mothers, fathers = space.sample(rng, N), space.sample(rng, N)
    first = rng.integers(0, d, N)
    last = np.minimum(first + rng.integers(0, d, N), d - 1)
    children = partially_mapped(mothers, fathers, first, last)
    inside = (np.arange(d) >= first[:, None]) & (np.arange(d) <= last[:, None])
    np.testing.assert_array_equal(children[inside], fathers[inside])
    for mother, father, child, segment in zip(mothers, fathers, children, inside, strict=True):
        free = ~segment & ~np.isin(mother, father[segment])
        np.testing.assert_array_equal(child[free], mother[free])


@given(d=st.integers(2, 9), seed=seeds)
@settings(max_examples=25)
def test_ox_keeps_a_segment_of_one_parent_and_the_order_of_the_other(d: int, seed: int) -> None:
    mothers, fathers, children = crossed(PermutationSpace(d), seed)
    for mother, father, child in zip(mothers, fathers, children, strict=True):
        found = False
        for a in range(d):
            for b in range(a, d):
                rest = [v for v in mother if v not in father[a : b + 1]]
                kept = [v for v in child if v not in father[a : b + 1]]
                found |= rest == kept and (child[a : b + 1] == father[a : b + 1]).all()
        assert found


@given(d=st.integers(1, 8), seed=seeds)
def test_members_of_both_parents_stay_and_the_others_come_from_one_of_them(d: int, seed: int) -> None:
    for mother, father, child in zip(*crossed(SubsetSpace(d + 3, d), seed), strict=True):
        assert set(mother) & set(father) <= set(child) <= set(mother) | set(father)


@given(teams=st.integers(1, 4), members=st.integers(1, 4), bench=st.integers(0, 3), seed=seeds)
@settings(max_examples=150)
def test_teams_that_both_parents_have_stay_and_some_of_the_father_s_come_whole(
    teams: int, members: int, bench: int, seed: int
) -> None:
    space = TeamSpace(teams * members + bench, teams, members)
    rng = np.random.default_rng(seed)
    related = crossed(space, seed)
    strangers = space.sample(rng, N), space.sample(rng, N)
    for mothers, fathers, children in (related, (*strangers, space._cross(rng, *strangers))):
        for mother, father, child in zip(mothers.tolist(), fathers.tolist(), children.tolist(), strict=True):
            assert all(team in child for team in mother if team in father)
            assert any(team in child for team in father)
            everybody = {m for parent in (mother, father) for team in parent for m in team}
            assert {m for team in child for m in team} <= everybody


@given(seed=seeds)
def test_networks_are_split_between_layer_groups_only(seed: int) -> None:
    space, rng = BlobSpace(BLOB, crossover_by="single_point"), np.random.default_rng(seed)
    mothers, fathers = space.sample(rng, N), space.sample(rng, N)
    children = space._cross(rng, mothers, fathers)
    origins = []
    for group in space.named(np.arange(space.width)).values():
        from_mother = (children[:, group] == mothers[:, group]).all(axis=1)
        from_father = (children[:, group] == fathers[:, group]).all(axis=1)
        assert (from_mother ^ from_father).all()
        origins.append(from_mother)
    assert (np.abs(np.diff(origins, axis=0)).sum(axis=0) == 1).all(), "one cut a child"


def test_networks_have_their_groups_by_name_and_start_around_a_trained_one() -> None:
    start = np.arange(80, dtype=np.float32)
    space = BlobSpace([LayerGroup("trunk", 70, 0.0), LayerGroup("head", 10, 0.005)], start=start)
    found = space.named(space.sample(np.random.default_rng(0), 500))
    np.testing.assert_array_equal(found["trunk"], np.tile(start[:70], (500, 1)))
    assert found["head"].std(axis=0) == pytest.approx(0.005, rel=0.2)


@pytest.mark.parametrize(("name", "rate"), [("binary", 0.02), ("binary", 0.3), ("categorical", 0.1)])
def test_genes_change_at_the_stated_rate(name: str, rate: float) -> None:
    d, n = 50, 4000
    space = BinarySpace(d, rate=rate) if name == "binary" else CategoricalSpace([3] * d, rate=rate)
    rng = np.random.default_rng(1)
    parents = space.sample(rng, n)
    changed = (space._mutate(rng, parents) != parents).mean()
    assert abs(changed - rate) < 5 * np.sqrt(rate * (1 - rate) / (n * d))


def test_one_gene_changes_in_a_mutation_on_average() -> None:
    rng, d, n = np.random.default_rng(2), 40, 4000
    anew = RealSpace(np.zeros(d), np.ones(d), mutation_by="uniform")
    whole = IntegerSpace(np.zeros(d), np.full(d, 99))
    for space in (RealSpace(np.zeros(d), np.ones(d)), anew, whole, BinarySpace(d)):
        parents = space.sample(rng, n)
        assert (space._mutate(rng, parents) != parents).sum() / n == pytest.approx(1.0, abs=0.1)


def test_a_uniform_mutation_forgets_the_number_and_a_polynomial_one_stays_near_it() -> None:
    rng, parents = np.random.default_rng(3), np.full((20_000, 1), 0.9)
    ways: tuple[Any, ...] = ("uniform", "polynomial")
    moved = {}
    for way in ways:
        children = RealSpace([0.0], [1.0], mutation_by=way)._mutate(rng, parents)
        moved[way] = children[children != parents]
    assert moved["uniform"].mean() == pytest.approx(0.5, abs=0.02)
    assert moved["uniform"].std() == pytest.approx(1 / np.sqrt(12), abs=0.02)
    assert abs(moved["polynomial"] - 0.9).mean() < 0.1


@pytest.mark.parametrize("name", ["swap", "insertion", "inversion"])
def test_every_mutation_of_an_order_changes_it(name: Any) -> None:
    space, rng = PermutationSpace(6, mutation_by=name), np.random.default_rng(0)
    parents = space.sample(rng, 500)
    assert (space._mutate(rng, parents) != parents).any(axis=1).all()


@pytest.mark.parametrize("name", sorted(CODINGS))
def test_every_genome_of_a_small_space_is_reached_by_variation(name: str) -> None:
    space, rng = CODINGS[name](2), np.random.default_rng(0)
    if space.dtype.kind == "f":
        return  # uncountable
    everything = set(space.keys(space.sample(rng, 20_000)).tolist())
    found, parents = set(), np.repeat(space.sample(rng, 1), 400, axis=0)
    for _ in range(40):
        parents = space.offspring(rng, parents, parents[rng.permutation(len(parents))])
        found |= set(space.keys(parents).tolist())
    assert found == everything


def test_random_numbers_decode_to_what_samples_look_like() -> None:
    rng = np.random.default_rng(0)
    for space in (integers(3), BinarySpace(3), CategoricalSpace([2, 3, 4]), SubsetSpace(4, 2), TeamSpace(5, 2, 2)):
        drawn = np.unique(space.keys(space.sample(rng, 30_000)), return_counts=True)
        decoded = np.unique(space.keys(space.decode(rng.random((30_000, space.width)))), return_counts=True)
        np.testing.assert_array_equal(drawn[0], decoded[0])
        np.testing.assert_allclose(drawn[1], decoded[1], atol=6 * np.sqrt(30_000 / len(drawn[0])))
