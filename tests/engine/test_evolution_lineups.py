"""Every algorithm on lineups: valid candidates whatever it moves through, and a study that any of them resumes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.arrays import unpack
from engine.catalog import ALGORITHMS
from engine.config import LineupConfig
from engine.errors import ConfigError
from engine.events import AnyEvent, Finished, Paused, Progressed
from engine.lineups.encoding import LineupSpace
from engine.lineups.rules import compile_rules
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from tests.engine.broken_rules import violations
from tests.engine.test_lineups import VARIED, spec

STUDY: dict[str, Any] = {
    "name": "any",
    "seed": 3,
    "game": {"simulator": "builtin:herobattle"},
    "lineups": {"teams": 2, "cost_tolerance": None, "baselines": {"kind": "drawn", "count": 1}},
    "ticks": 6,
    "replicates": 2,
    "fresh": 0,
    "pool": {"kind": "local", "batch_ms": 1},
}


@pytest.mark.parametrize("config", VARIED, ids=range(len(VARIED)))
def test_any_numbers_mean_a_valid_lineup(config: LineupConfig) -> None:
    space, rng = LineupSpace(compile_rules(spec(), config)), np.random.default_rng(0)
    numbers = np.concatenate([rng.random((150, space.width)), np.zeros((1, space.width)), np.ones((1, space.width))])
    lineups = space.decode(numbers)
    assert not violations(lineups, space.rules).any()
    np.testing.assert_array_equal(lineups, space.canonical(lineups))
    np.testing.assert_array_equal(lineups, space.decode(numbers))
    assert len(np.unique(space.keys(lineups))) > 100


def test_numbers_that_are_close_mean_lineups_that_are_alike() -> None:
    space, rng = LineupSpace(compile_rules(spec(), LineupConfig())), np.random.default_rng(0)
    numbers = rng.random((300, space.width))
    near = numbers.copy()
    near[np.arange(300), rng.integers(0, space.width, 300)] = rng.random(300)
    lineups = space.decode(numbers)
    assert shared(lineups, space.decode(near)) > 0.75
    assert shared(lineups, space.decode(rng.random(numbers.shape))) < 0.5


def shared(a: Any, b: Any) -> float:
    """The mean share of the numbers in each lineup of ``a`` that its partner in ``b`` has as well."""
    return float(np.mean([np.isin(np.unique(x), y).mean() for x, y in zip(a, b, strict=True)]))


def test_rules_that_leave_nothing_say_so() -> None:
    config = LineupConfig(budget_low=1500.001, budget_high=1500.002)
    space = LineupSpace(compile_rules(spec(), config))
    with pytest.raises(ConfigError, match="no valid lineup was found"):
        space.decode(np.random.default_rng(0).random((2, space.width)))


def study(kind: str, steady: bool) -> dict[str, Any]:
    return {**STUDY, "algorithm": {"kind": kind, "population": 12, **({"steady": True} if steady else {})}}


def results(events: list[AnyEvent]) -> dict[str, str]:
    assert isinstance(events[-1], Finished), events[-1]
    return {k: v for k, v in events[-1].artifacts.items() if k != "checkpoint"}


KINDS = [(kind, steady) for kind in ALGORITHMS for steady in (False, True)
         if not steady or "steady" in ALGORITHMS[kind].config.model_fields]  # fmt: skip


@pytest.mark.parametrize(("kind", "steady"), KINDS)
def test_a_study_with_any_algorithm_is_paused_killed_and_resumed(kind: str, steady: bool, tmp_path: Path) -> None:
    """Abandoned after two rounds, resumed and paused a round later, resumed to the end."""
    config, store = load(study(kind, steady)), FolderStore(tmp_path)
    killed = []
    for event in run(config, store):
        killed.append(event)
        if isinstance(event, Progressed) and event.tick == 2:
            break
    seen: list[AnyEvent] = []
    resumed = run(
        config, store, killed[-1].artifacts["checkpoint"],
        control=lambda: "pause" if any(isinstance(e, Progressed) for e in seen) else "",
    )  # fmt: skip
    for event in resumed:
        seen.append(event)
    assert isinstance(seen[-1], Paused)
    end = list(run(config, store, seen[-1].artifacts["checkpoint"]))
    archive = unpack(store.get(results(end)["archive"])).arrays
    assert len(np.unique(archive["id"])) == 72
    assert len(unpack(store.get(results(end)["front"])).arrays["id"]) > 0
    if not steady:
        assert results(end) == results(list(run(config, store)))
