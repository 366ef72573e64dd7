"""Battle for Wesnoth 1.16, the installed game, through its adapter."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.simulators import loaders
from engine.simulators.adapters.wesnoth import arena, catalog
from engine.simulators.client import ExternalSimulator
from engine.simulators.contract import OK, GameSpec, LineupSimulator
from engine.simulators.random_teams import random_teams
from tests.contracts.simulator import SimulatorContract
from tests.engine.leftovers import all_gone, descendants, named

WESNOTH = "builtin:wesnoth"
HERO, SKILL, EQUIPMENT, KIND_1, COUNT_1, KIND_2, COUNT_2, KIND_3, COUNT_3 = range(9)


def load() -> ExternalSimulator:
    found = loaders.availability(WESNOTH)
    assert found.available, f"{found.reason}. Run: {found.install}"
    simulator = loaders.load(WESNOTH)
    assert isinstance(simulator, ExternalSimulator)
    return simulator


@pytest.fixture(scope="module")
def wesnoth() -> Iterator[ExternalSimulator]:
    with load() as simulator:
        yield simulator


@pytest.fixture(scope="module")
def spec(wesnoth: ExternalSimulator) -> GameSpec:
    return wesnoth.describe()


class TestTheInstalledGame(SimulatorContract):
    battles = 8

    @pytest.fixture(scope="class")
    @classmethod
    def simulator(cls, wesnoth: ExternalSimulator) -> LineupSimulator:
        return wesnoth


def team(spec: GameSpec, hero: str, soldier: str, other: str) -> NDArray[np.int32]:
    """A hero with two of each soldier, no artifact."""
    index = spec.piece_index()
    return np.array([index[hero], index["skill-quick"], -1, index[soldier], 2, index[other], 2, -1, 0], np.int32)


def repeated(row: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    return np.repeat(row[None], n, axis=0)


def test_the_pieces_are_those_of_the_installed_game(spec: GameSpec) -> None:
    by_category = {c.id: [p for p in spec.pieces if p.category == c.id] for c in spec.categories}
    assert len(by_category["hero"]) >= 40
    assert len(by_category["soldier"]) >= 45
    assert [p.name for p in by_category["skill"]] == ["Intelligent", "Quick", "Resilient", "Strong"]
    assert len(by_category["equipment"]) >= 20
    lieutenant = spec.pieces[spec.piece_index()["hero-lieutenant"]]
    assert (lieutenant.cost, lieutenant.attributes["hitpoints"], lieutenant.attributes["melee"]) == (34.0, 40.0, 8.0)
    assert not spec.reproducible


def test_every_piece_can_fight(wesnoth: ExternalSimulator, spec: GameSpec) -> None:
    ids = {c.id: [i for i, p in enumerate(spec.pieces) if p.category == c.id] for c in spec.categories}
    n = max(len(ids["hero"]), len(ids["equipment"]), (len(ids["soldier"]) + 1) // 2)
    n += n % 2
    rows = np.zeros((n, 9), np.int32)
    for column, category in ((HERO, "hero"), (SKILL, "skill"), (EQUIPMENT, "equipment")):
        rows[:, column] = np.resize(ids[category], n)
    rows[:, KIND_1], rows[:, KIND_2] = np.resize(ids["soldier"], 2 * n).reshape(2, n)
    rows[:, [COUNT_1, COUNT_2]], rows[:, KIND_3] = 1, -1
    results = wesnoth.battles(rows[: n // 2], rows[n // 2 :], np.arange(n // 2, dtype=np.uint64), {})
    assert (results.status == OK).all()


def test_hit_points_and_damage_change_the_battles(wesnoth: ExternalSimulator, spec: GameSpec) -> None:
    n = 10
    left = repeated(team(spec, "hero-lieutenant", "soldier-spearman", "soldier-bowman"), n)
    right = repeated(team(spec, "hero-orcish-warrior", "soldier-orcish-grunt", "soldier-orcish-archer"), n)
    seeds = np.arange(n, dtype=np.uint64)
    tougher = {f"soldier-{name}.hitpoints": 200.0 for name in ("spearman", "bowman")}
    harmless = {f"soldier-{name}.melee": 0.0 for name in ("orcish-grunt", "spearman")}
    wins = [wesnoth.battles(left, right, seeds, patch).side[:, 0, 2].mean() for patch in (tougher, {})]
    assert wins[0] == 1.0
    assert wins[1] < 1.0
    slower = wesnoth.battles(left, right, seeds, harmless | tougher).battle.mean()
    assert slower > wesnoth.battles(left, right, seeds, {}).battle.mean()


def test_a_cost_changes_the_resources_that_are_left(wesnoth: ExternalSimulator, spec: GameSpec) -> None:
    n = 6
    left = repeated(team(spec, "hero-lieutenant", "soldier-spearman", "soldier-bowman"), n)
    right = repeated(team(spec, "hero-dark-sorcerer", "soldier-walking-corpse", "soldier-vampire-bat"), n)
    dear = {"soldier-spearman.cost": 200.0, "soldier-bowman.cost": 200.0, "hero-lieutenant.cost": 500.0}
    seeds = np.arange(n, dtype=np.uint64)
    plain, priced = (wesnoth.battles(left, right, seeds, patch).side[:, 0] for patch in ({}, dear))
    assert plain[:, 1].max() <= 34 + 2 * 14 + 2 * 14
    assert set(priced[:, 1]) <= {500.0 * hero + 200.0 * soldiers for hero in (0, 1) for soldiers in range(5)}
    assert priced[:, 1].max() >= 200


def test_both_ends_of_the_arena_are_alike() -> None:
    rows = [line.split(", ") for line in arena.map_data().splitlines()]
    assert (len(rows), len(rows[0])) == (arena.HEIGHT + 2, arena.WIDTH + 2)
    for y in range(1, arena.HEIGHT + 1):
        for x in range(1, arena.WIDTH + 1):
            far_x, far_y = arena.turned(x, y)
            assert rows[y][x] == rows[far_y][far_x]
    places = arena.hexes(1, 9) + arena.hexes(2, 9)
    assert len(set(places)) == 20


def test_the_rules_always_leave_room_on_the_arena(spec: GameSpec) -> None:
    assert spec.rules.units_high <= len(arena.SOLDIER_HEXES)
    assert len(random_teams(spec, 50, np.random.default_rng(1))) == 50
    assert spec.battle_metrics[0].high == catalog.TURN_LIMIT


def game_of(pid: int) -> list[int]:
    return [p for p in named(descendants(pid), "--userdata-dir") if p not in named(descendants(pid), "reaper.py")]


def test_a_game_that_is_killed_is_started_again_and_no_battle_is_lost() -> None:
    with load() as simulator:
        spec = simulator.describe()
        rows = random_teams(spec, 40, np.random.default_rng(2))
        killed: list[int] = []

        def kill() -> None:
            while not killed:
                time.sleep(1.0)
                killed.extend(game_of(simulator.pid)[:1])
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        results = simulator.battles(rows[:20], rows[20:], np.arange(20, dtype=np.uint64), {})
        killer.join()
        assert (results.status == OK).all()
        assert simulator.starts == 1
        simulator.battles(rows[:2], rows[20:22], np.arange(2, dtype=np.uint64), {})
        assert game_of(simulator.pid) != killed


def test_nothing_of_the_game_is_left_after_close_or_kill() -> None:
    for how in ("close", "kill"):
        simulator = load()
        simulator.describe()
        family = [simulator.pid, *descendants(simulator.pid)]
        (folder,) = {Path(f"/proc/{p}/cmdline").read_bytes().split(b"\0")[2].decode() for p in game_of(simulator.pid)}
        assert len(family) == 3
        assert Path(folder).is_dir()
        if how == "close":
            simulator.close()
        else:
            os.kill(simulator.pid, signal.SIGKILL)
        assert all_gone(family)
        simulator.close()
        assert not Path(folder).exists()
