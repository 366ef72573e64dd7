"""Races of lineups end as full sampling: nothing is fixed by the first replicates, and bounds know their limits."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.evolution.ga import GA
from engine.evolution.noise import Racing, Resampling
from engine.formula import CURVED, FIXED, LINEAR, parse
from engine.games.herobattle import HeroBattle
from engine.lineups.baselines import resolve
from engine.lineups.evaluator import LineupEvaluator, Setup, checked
from engine.lineups.schema import unbounded
from engine.problem import Evaluation, Request
from engine.studies import load

GAP = {"name": "gap", "title": "Gap", "formula": "strongest(strength) - weakest(strength)"}
WINS = {"name": "wins", "title": "Wins", "formula": "100 * mean(win_vs_baselines) / mean(cost)"}
HERO = HeroBattle()
SPEC = HERO.describe()
NOTHING = np.empty((0, 0))


def study(*goals: dict[str, str], teams: int = 2, **more: object) -> dict[str, object]:
    lineups = {"teams": teams, "baselines": {"kind": "drawn", "count": 1}}
    return {
        "game": {"simulator": "builtin:herobattle"},
        "lineups": lineups,
        "objectives": {"objectives": goals},
        **more,
    }


@cache
def baselines(teams: int) -> dict[str, Any]:
    """Those of all seeds, drawn once: they depend on the rules alone."""
    config = load(study(GAP, teams=teams))
    return resolve(HERO, config.lineups, config.game.patch, 1).state()


def evaluator(*goals: dict[str, str], seed: int = 1, teams: int = 2) -> LineupEvaluator:
    config = load(study(*goals, seed=seed, teams=teams))
    return LineupEvaluator(Setup(config.model_dump(mode="json"), baselines(teams)), HERO)


def ask(one: LineupEvaluator, *requests: Request) -> list[Evaluation]:
    return sorted(one.evaluate(requests, lambda: False), key=lambda e: e.id)


@pytest.mark.parametrize("goal", [GAP, WINS])
def test_an_answer_about_all_replicates_so_far_is_that_of_full_sampling_to_the_last_bit(goal: dict[str, str]) -> None:
    """Also where the strongest team changes on the way: it is chosen by all replicates, not by the first ones."""
    one = evaluator(goal, teams=3)
    genomes = one.space.sample(np.random.default_rng(2), 150)
    whole = ask(one, *(Request(i, g, 0, 16, 1) for i, g in enumerate(genomes)))
    found = ask(one, *(Request(i, g, 0, 2, 1, record=NOTHING) for i, g in enumerate(genomes)))
    first, cost = found, sum(e.cost for e in found)
    for a, b in ((2, 6), (6, 16)):
        found = ask(one, *(Request(i, g, a, b, 1, record=found[i].record) for i, g in enumerate(genomes)))
        cost += sum(e.cost for e in found)
    for e, full in zip(found, whole, strict=True):
        assert (e.samples, e.context) == (16, full.context)
        for name in ("objectives", "covariance", "metrics"):
            assert getattr(e, name).tobytes() == getattr(full, name).tobytes()
    assert cost == sum(e.cost for e in whole)
    assert any(a.context != b.context for a, b in zip(first, whole, strict=True)), "somebody was only lucky at first"


def test_replicates_are_told_with_the_limits_that_they_keep() -> None:
    one = evaluator(WINS, {"name": "price", "title": "Price", "formula": "mean(cost)", "direction": "min"})
    assert one.describe().bounded
    genomes = one.space.sample(np.random.default_rng(2), 10)
    for e in ask(one, *(Request(i, g, 0, 8, 1, record=NOTHING) for i, g in enumerate(genomes))):
        assert e.values is not None
        assert e.limits is not None
        np.testing.assert_allclose(e.values.mean(axis=0), e.objectives)
        assert (e.values >= e.limits[0] - 1e-9).all()
        assert (e.values <= e.limits[1] + 1e-9).all()
        np.testing.assert_allclose(e.limits[:, 0], [0, 100 / e.objectives[1]], atol=1e-9)
        np.testing.assert_allclose(e.limits[:, 1], e.objectives[1])
    plain = ask(one, Request(0, genomes[0], 0, 8, 1))[0]
    assert (plain.values, plain.limits, plain.record) == (None, None, None)


@pytest.mark.parametrize(("racing", "goal"), [("tests", GAP), ("bounds", WINS)])
def test_of_thirty_races_of_lineups_no_more_than_stated_end_otherwise(racing: Racing, goal: dict[str, str]) -> None:
    """Anchors of the first replicates let up to a fifth of them end otherwise."""
    wrong = 0
    for seed in range(30):
        one = evaluator(goal, seed=seed)
        race, full = (survivors(one, way, seed) for way in (racing, "off"))
        wrong += race != full
    assert wrong <= 30 * 0.05 + 3 * np.sqrt(30 * 0.05 * 0.95)


def survivors(one: LineupEvaluator, racing: Racing, seed: int) -> list[bytes]:
    search = GA(one.describe(), 6, 2, seed, 2 if racing != "off" else 8)
    algorithm = Resampling(search, racing=racing, most=8)
    while not algorithm.done:
        for e in ask(one, *algorithm.ask(100)):
            algorithm.tell(e)
    assert search.P is not None
    return sorted(genome.tobytes() for genome in search.P.genomes)


@pytest.mark.parametrize(
    ("text", "degree"),
    [
        ("mean(cost) / 2", FIXED),
        ("max(cost) ** 2", FIXED),
        ("mean(win)", LINEAR),
        ("sum(2 * win_first - win_second) / max(mean(cost), 1) + 3", LINEAR),
        ("-duration", LINEAR),
        ("strongest(win)", CURVED),
        ("strongest(cost)", CURVED),
        ("max(win)", CURVED),
        ("mean(cost) / mean(win)", CURVED),
        ("mean(win) * mean(win)", CURVED),
        ("abs(mean(win) - 0.5)", CURVED),
        ("1 if mean(win) > 0.5 else 0", CURVED),
        ("mean(win) > 0.5 and 1", CURVED),
        ("not mean(win)", CURVED),
    ],
)
def test_a_formula_knows_whether_it_is_a_mean_of_replicates(text: str, degree: int) -> None:
    team = {f"win{end}" for end in ("", "_first", "_second")} | {"cost"}
    assert parse(text, team, {"duration"}).degree == degree


@pytest.mark.parametrize(
    ("goal", "constraints", "says"),
    [
        (GAP, (), "“Gap” is none"),
        (WINS | {"low": 0}, (), "a floor or a cap"),
        (WINS, ("mean(win) - 0.1",), "no battle changes"),
        ({**WINS, "formula": "mean(resources)"}, (), "have none|has none"),
        (WINS, ("10 - mean(cost)",), ""),
    ],
)
def test_why_no_bounds_are_known_is_said_before_anything_is_played(
    goal: dict[str, str], constraints: tuple[str, ...], says: str
) -> None:
    found = study(goal, algorithm={"kind": "ga"}, noise={"racing": "bounds"})
    found["objectives"] = {"objectives": [goal], "constraints": constraints}
    config = load(found)
    if not says:
        assert unbounded(SPEC, config.objectives, 2) == ""
        assert checked(config, HERO) == SPEC
    else:
        with pytest.raises(ConfigError, match=says) as caught:
            checked(config, HERO)
        assert [p.place for p in caught.value.problems] == ["noise.racing"]
