"""Programs of many battles that crash at several places with one message, which names no battle or the true one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import SimulatorError
from engine.evorl.findings import Findings
from engine.evorl.replays import Replays
from engine.evorl.revived import Revived
from engine.evorl.watched import Oracles, Watched
from engine.mdp.interface import Array, ArraySpec, Discrete, MDPSpec, SeatSpec
from engine.mdp.places import seen_as
from engine.mdp.vector import Ended, VectorStep, episode_seeds

CELLS, LENGTH, STEPS = 8, 30, 200
ORACLES = Oracles(stuck_after=10**6)
RIGHT, LEFT, PRESS = range(3)


class Line:
    """Eight cells in a row; whoever presses at one of the ``bad`` ones crashes the program, as everybody does by
    ``chance``. ``named``: the message names the battle. ``crashes``: how often each bad cell did."""

    def __init__(self, bad: Sequence[int], *, chance: float = 0.0, named: bool = False) -> None:
        self.bad, self.chance, self.named = bad, chance, named
        seat = SeatSpec((ArraySpec("cell", (1,), "float32", 0, CELLS),), Discrete(3), (), ())
        self.spec = MDPSpec("line", "1", (seat,), LENGTH, 1)
        self.crashes, self.by_chance, self.rng = Counter[int](), 0, np.random.default_rng(5)

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        n = len(seeds)
        self.base, self.episode = seeds.copy(), np.zeros(n, np.int64)
        self.cell, self.made = np.zeros(n, np.int64), np.zeros(n, np.int64)
        return self._shown(np.zeros(n, np.bool_))

    def step(self, actions: Sequence[Array]) -> VectorStep:
        action = np.asarray(actions[0])
        for b in np.flatnonzero((action == PRESS) & np.isin(self.cell, self.bad)).tolist()[:1]:
            self.crashes[int(self.cell[b])] += 1
            raise SimulatorError(f"exit 1, battle {b}" if self.named else "exit 1")
        if self.rng.random() < self.chance:
            self.by_chance += 1
            raise SimulatorError("exit 1")
        self.cell = np.clip(self.cell + (action == RIGHT) - (action == LEFT), 0, CELLS - 1)
        self.made += 1
        over = self.made >= LENGTH
        return self._shown(over, self._over(np.flatnonzero(over)) if over.any() else None)

    def _seen(self) -> NDArray[np.float32]:
        return self.cell[:, None].astype(np.float32) + np.float32(0.5)

    def _shown(self, over: NDArray[np.bool_], ended: Ended | None = None) -> VectorStep:
        n = len(self.cell)
        none = np.zeros(n, np.bool_)
        rewards = np.zeros((n, 1, 0), np.float32)
        return VectorStep(({"cell": self._seen()},), (None,), rewards, none, over, np.ones((n, 1), np.bool_), ended)

    def _over(self, b: NDArray[np.int64]) -> Ended:
        seeds, half = episode_seeds(self.base[b], self.episode[b]), np.full((len(b), 1), 0.5)
        seen, none = {"cell": self._seen()[b]}, np.zeros((len(b), 1, 0))
        ended = Ended(b, seeds, self.made[b].copy(), none, half, half, (none[:, 0],), (seen,), (None,))
        self.episode[b] += 1
        self.made[b] = self.cell[b] = 0
        return ended

    def close(self) -> None:
        pass


def hunted(line: Line, battles: int) -> Findings:
    """What random moves that seldom press show."""
    found, rng = Findings(), np.random.default_rng(battles)
    alone = Replays(lambda n: Revived(Line(line.bad)), ORACLES)
    seen = Watched(Revived(line), ORACLES, found, alone)
    seen.reset(np.arange(battles, dtype=np.uint64))
    for _ in range(STEPS):
        pressed = rng.random(battles) < 0.5 / battles
        seen.step([np.where(pressed, PRESS, rng.integers(0, 2, battles))])
    return found


def cells(line: Line, found: Findings) -> dict[int, int]:
    """How often the bug of each cell was seen."""
    place = {int(seen_as(line.spec.seats[0], {"cell": np.array([[i + 0.5]], np.float32)})[0]): i for i in range(CELLS)}
    return {place[bug.place]: bug.seen for bug in found.bugs.values()}


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("battles", [8, 64])
def test_every_bug_of_a_program_is_found_and_counted_though_all_crash_with_one_message(
    battles: int, named: bool
) -> None:
    line = Line((0, 1, 2, 3), named=named)
    found = hunted(line, battles)
    counted = cells(line, found)
    assert counted.keys() == line.crashes.keys()
    assert len(counted) > 2
    assert all(abs(counted[cell] - line.crashes[cell]) < 3 for cell in counted), "two may press in the same step"
    assert sum(counted.values()) == line.crashes.total()
    assert not found.lost


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("battles", [8, 64])
def test_a_bug_is_found_among_crashes_by_chance_at_less_than_what_playing_costs(battles: int, named: bool) -> None:
    line = Line((2,), chance=0.1, named=named)
    found = hunted(line, battles)
    assert cells(line, found).keys() == {2}
    assert found.lost.total() + cells(line, found)[2] == line.crashes.total() + line.by_chance
    assert found.partial.total() < found.lost.total()
    assert found.checked <= STEPS * battles + 2 * LENGTH


def test_a_hunt_that_goes_on_from_what_was_kept_finds_the_same() -> None:
    rng = np.random.default_rng(3)
    moves = [rng.choice(3, 8, p=[0.47, 0.47, 0.06]) for _ in range(STEPS)]
    alone = Replays(lambda n: Revived(Line((1, 3))), ORACLES)
    whole, parts = (Watched(Revived(Line((1, 3), chance=0.1)), ORACLES, Findings(), alone) for _ in range(2))
    for seen in (whole, parts):
        seen.reset(np.arange(8, dtype=np.uint64))
        for i, move in enumerate(moves):
            if seen is parts and i % 20 == 0:
                seen.found = Findings.unpacked(seen.found.pack())
            seen.step([move])
    assert whole.found.lost
    assert parts.found.pack() == whole.found.pack()
