"""Small honest simulators the tests serve in processes of their own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.errors import Cancelled
from engine.rng import combine64
from engine.simulators.contract import (
    OK,
    Attribute,
    Battles,
    Category,
    Distinct,
    Frame,
    GameSpec,
    Metric,
    Parameter,
    Patch,
    Piece,
    Rules,
    Slot,
)

SPEC = GameSpec(
    name="tug",
    title="Tug of war",
    version="1",
    categories=(
        Category("hero", "Hero", "Heroes", (Attribute("power", "Power", 0.0, 100.0),)),
        Category("soldier", "Soldier", "Soldiers", (Attribute("power", "Power", 0.0, 100.0),)),
        Category("charm", "Charm", "Charms", (Attribute("power", "Power", 0.0, 100.0),)),
    ),
    pieces=(
        *(Piece(f"hero-{i}", f"Hero {i}", "hero", 10.0 + i, {"power": 10.0 + 3 * i}) for i in range(6)),
        *(Piece(f"soldier-{i}", f"Soldier {i}", "soldier", 2.0 + i, {"power": 2.0 + i}) for i in range(3)),
        *(Piece(f"charm-{i}", f"Charm {i}", "charm", 1.0 + i, {"power": 1.0 + i}) for i in range(4)),
    ),
    slots=(
        Slot("hero", "Hero", category="hero"),
        Slot("soldier", "Soldier", category="soldier"),
        Slot("soldiers", "How many", kind="count", of="soldier", low=1, high=5),
        Slot("charm-1", "First charm", category="charm", optional=True, group="charms"),
        Slot("charm-2", "Second charm", category="charm", optional=True, group="charms"),
    ),
    side_metrics=(
        Metric("strength", "Remaining strength", "%", "higher", 0.0, 100.0),
        Metric("resources", "Remaining gold", "gold", "higher", 0.0),
        Metric("win", "Won", "", "higher", 0.0, 1.0),
    ),
    battle_metrics=(Metric("ticks", "Duration", "ticks", "neutral", 1.0),),
    rules=Rules(distinct=(Distinct("hero"), Distinct("charm", "team")), budget_high=60.0),
    parameters=(Parameter("luck", "How much luck matters", 5.0, 0.0, 20.0),),
)

Rows, Seeds = NDArray[np.int32], NDArray[np.uint64]
"""Teams, [n, 5], and a seed for each battle."""


class TugOfWar:
    """The stronger team pulls harder; luck depends on the battle's seed only."""

    spec = SPEC

    def describe(self) -> GameSpec:
        return self.spec

    def battles(
        self,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        seeds: NDArray[np.uint64],
        patch: Patch,
        fidelity: str = "full",
    ) -> Battles:
        found = self.play(left, right, seeds, patch)
        self.twist(found, left, right, seeds)
        return found

    def twist(self, found: Battles, left: Rows, right: Rows, seeds: Seeds) -> None:
        """Change what was found in its place: here nothing, elsewhere what a game does to its battles."""

    def play(self, left: Rows, right: Rows, seeds: Seeds, patch: Patch) -> Battles:
        game = self.spec.patched(patch)
        power, cost = _sums(game, left, right)
        luck = game.parameters[0].default
        noise = (combine64(seeds, 1) >> np.uint64(11)).astype(np.float64) / 2**53 - 0.5
        pull = power[:, 0] - power[:, 1] + luck * noise
        share = 0.5 + 0.5 * np.tanh(np.stack([pull, -pull], axis=1) / 40)
        win = np.where(pull == 0, 0.5, (pull > 0).astype(float))
        side = np.stack([100 * share, cost * share, np.stack([win, 1 - win], axis=1)], axis=2)
        return Battles(side, 1 + 1000 / (1 + np.abs(pull[:, None])), np.full(len(seeds), OK, np.uint8))

    def replay(self, left: NDArray[np.int32], right: NDArray[np.int32], seed: int, patch: Patch) -> Sequence[Frame]:
        return (Frame(0, ({"side": 0, "name": "Hero", "x": 1.0, "y": 2.0, "life": 1.0},), ("begin",)), Frame(1, ()))


def _sums(game: GameSpec, *teams: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    totals = []
    for values in ([p.attributes["power"] for p in game.pieces], [p.cost for p in game.pieces]):
        per_piece = np.array([*values, 0.0])
        hero, soldier, first, second = ([per_piece[t[:, i]] for t in teams] for i in (0, 1, 3, 4))
        counts = [t[:, 2] for t in teams]
        totals.append(np.stack([hero[k] + soldier[k] * counts[k] + first[k] + second[k] for k in range(2)], axis=1))
    return totals[0], totals[1]


class RecruitingTugOfWar(TugOfWar):
    """Plays with pieces that a patch adds."""

    spec = msgspec.structs.replace(SPEC, accepts_pieces=True)


class SlowTugOfWar(TugOfWar):
    """Takes 50 ms a battle and can be cancelled in between."""

    def __init__(self) -> None:
        self._stop = False

    def play(self, left: Rows, right: Rows, seeds: Seeds, patch: Patch) -> Battles:
        self._stop = False
        for _ in range(len(seeds)):
            time.sleep(0.05)
            if self._stop:
                raise Cancelled("cancelled in the middle")
        return super().play(left, right, seeds, patch)

    def cancel(self) -> None:
        self._stop = True


class UnstoppableTugOfWar(TugOfWar):
    """Takes its time for a large message, and has no ``cancel``."""

    def play(self, left: Rows, right: Rows, seeds: Seeds, patch: Patch) -> Battles:
        if len(seeds) > 100_000:
            time.sleep(1.0)
        return super().play(left, right, seeds, patch)


class TugOfWarWithHelpers(TugOfWar):
    """Starts a child, and a daemon that left the session, the way launchers and wrappers do."""

    def __init__(self) -> None:
        sleep = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
        self.helpers = [subprocess.Popen(sleep), subprocess.Popen(sleep, start_new_session=True)]


def team_rows(n: int, seed: int = 0) -> NDArray[np.int32]:
    """n valid teams of the tug of war, int32[n, 5]."""
    rng = np.random.default_rng(seed)
    charm = rng.integers(9, 13, n)
    return np.stack(
        [rng.integers(0, 6, n), rng.integers(6, 9, n), rng.integers(1, 6, n), charm, np.full(n, -1)], axis=1
    ).astype(np.int32)
