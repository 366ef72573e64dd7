"""Of how many different battles a number is made, where teams of a lineup and its baselines may be the same."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.bench.trust import ratios
from engine.config.lineups import ObjectiveConfig, ObjectiveSetConfig
from engine.games.herobattle import HeroBattle
from engine.lineups.battle_counts import battles_between, battles_each, battles_of_variables
from engine.lineups.matches import Matches
from engine.lineups.objectives import Objectives
from engine.simulators.contract import Battles, GameSpec, Metric

SPEC = HeroBattle().describe()
MEASURED = msgspec.structs.replace(SPEC, battle_metrics=(Metric("length", "Length", "", "neutral", 0, 100),))
SIDES = len(MEASURED.side_metrics)


class OneUnusualBattle:
    """Everything is 0 but what the battle with the seed ``unusual`` measures, on both sides: that is 1."""

    def __init__(self) -> None:
        self.unusual = np.uint64(0)
        self.met: set[int] = set()

    def describe(self) -> GameSpec:
        return MEASURED

    def battles(
        self, left: NDArray[np.int32], right: NDArray[np.int32], seeds: NDArray[np.uint64],
        patch: Mapping[str, float], fidelity: str,
    ) -> Battles:  # fmt: skip
        self.met.update(seeds.tolist())
        ones = (seeds == self.unusual).astype(float)
        side = np.broadcast_to(ones[:, None, None], (len(seeds), 2, SIDES))
        return Battles(side, ones[:, None], np.zeros(len(seeds), np.uint8))


def rows(*names: int) -> NDArray[np.int32]:
    return np.repeat(np.array(names, np.int32)[:, None], 6, axis=1)


def weight_of_the_heaviest(formula: str, lineup: NDArray[np.int32], baselines: NDArray[np.int32]) -> float:
    """What one unusual battle changes at most, whichever team of the lineup the formula looks at."""
    game, teams = OneUnusualBattle(), len(lineup)
    config = ObjectiveSetConfig(objectives=(ObjectiveConfig(name="x", title="X", formula=formula),))
    objectives = Objectives(MEASURED, config, teams, len(baselines))
    Matches(game, baselines, {}, 1, cache=False).play(lineup[None], 0, 2)  # type: ignore[arg-type]
    found = []
    for seed in sorted(game.met):
        game.unusual = np.uint64(seed)
        played = Matches(game, baselines, {}, 1).play(lineup[None], 0, 2)  # type: ignore[arg-type]
        for team in range(teams):
            told = objectives.measure(played, np.ones((1, teams)), np.full((1, 2), team))
            found.append(float(np.abs(told.values[0, :, 0]).max()))
    return max(found)


@pytest.mark.parametrize(
    ("lineup", "baselines"),
    [
        (rows(1), rows(7)),
        (rows(1), rows(7, 8, 9)),
        (rows(1), rows(1)),
        (rows(1), rows(1, 8, 8)),
        (rows(1, 2), rows(7)),
        (rows(1, 2), rows(7, 8, 9)),
        (rows(1, 1), rows(7, 8)),
        (rows(1, 2), rows(1, 8)),
        (rows(1, 2), rows(1, 2)),
        (rows(1, 1, 2), rows(7, 8, 9)),
        (rows(1, 2, 3), rows(2, 8, 8)),
        (rows(1, 1, 1), rows(1)),
    ],
    ids=lambda teams: "-".join(str(each) for each in teams[:, 0]),
)
def test_no_battle_weighs_more_than_one_of_those_that_are_counted(
    lineup: NDArray[np.int32], baselines: NDArray[np.int32]
) -> None:
    known = battles_of_variables(MEASURED, lineup, baselines)
    for name, count in known.items():
        if name.endswith("_vs_teams") and len(lineup) == 1:
            continue
        formula = name if name == "length" else f"strongest({name})"
        heaviest = weight_of_the_heaviest(formula, lineup, baselines)
        assert count == int(1 / heaviest + 1e-9), name


def test_a_formula_is_made_of_as_few_battles_as_the_variable_in_it_that_has_the_fewest() -> None:
    formulas = ["mean(win)", "strongest(win_vs_teams) - mean(win)", "mean(win_first)", "weakest(win_vs_baselines)"]
    objectives = [ObjectiveConfig(name=f"o{i}", title="O", formula=text) for i, text in enumerate(formulas)]
    lineups = np.stack([rows(1, 2, 3), rows(1, 1, 3)])
    counted = battles_each(objectives, SPEC, lineups, rows(11, 12, 13, 14, 15, 16, 17, 18))
    assert counted.tolist() == [[20, 4, 10, 16], [10, 2, 5, 16]]


def test_baseline_teams_that_are_the_same_make_of_fewer_battles_what_the_median_one_reaches() -> None:
    assert battles_between(rows(1, 2, 3, 4)) == 6
    assert battles_between(rows(1, 2, 3, 3)) == 3


def test_what_a_rare_battle_between_the_lineup_s_own_teams_takes_away_is_allowed_for() -> None:
    """13 to 49 of 100 ranges missed where battles with baselines were counted instead."""
    for case in ratios.RARE:
        found = np.array([ratios.wrong(case, np.random.default_rng(seed), 16) for seed in range(60)])
        assert found.mean(axis=0).max() <= 0.05 + 3 * (0.05 * 0.95 / 60) ** 0.5
