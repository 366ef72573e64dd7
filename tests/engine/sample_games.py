"""Small games for tests: every kind of action, masks, several inputs, named rewards, a seat that goes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from engine.mdp.battle import SteppedMDP, Tick
from engine.mdp.interface import (
    ArraySpec,
    Continuous,
    Discrete,
    Hybrid,
    MDPSpec,
    Parameterised,
    Result,
    SeatSpec,
    State,
)  # fmt: skip
from engine.rng import combine64

SEES = (ArraySpec("place", (2,)), ArraySpec("map", (3, 3), "uint8", 0, 255))
WANTS, TOLD = ("fruit", "effort"), ("moves", "fruit")
ACTIONS = (
    Hybrid((Discrete(3), Continuous((-1.0, 0.0), (1.0, 2.0), (2,)))),
    Parameterised((1, 0, 2)),
    Discrete(4),
    Continuous((-2.0,), (2.0,), (1,)),
)
ORCHARD = MDPSpec("orchard", "1", tuple(SeatSpec(SEES, action, WANTS, TOLD) for action in ACTIONS), max_ticks=25)


class Orchard:
    """Four seats walk, each by its own kind of action. Seat 1 goes out at a tick its seed says, in some episodes;
    seat 2 may not repeat its last choice. An episode ends by its seed at the ``stop``-th tick, or is cut at 25."""

    def begin(self, seed: int, played: Sequence[int]) -> None:
        self.seed, self.tick = seed, 0
        self.stop, self.fall = 8 + int(combine64(seed, 1)) % 30, 3 + int(combine64(seed, 2)) % 20
        self.places = np.array([[int(combine64(seed, 10 + s)) % 100 / 50 - 1, 0.0] for s in range(4)], np.float32)
        self.last, self.fruit = -1, np.zeros(4)
        self.alive = [True] * 4

    def state(self, seat: int) -> State:
        picture = np.full((3, 3), self.tick * 4 + seat, np.uint8)
        mask = None
        if seat in (0, 1, 2):
            mask = np.ones(ACTIONS[seat].legal, np.bool_)
            if seat == 2 and self.last >= 0:
                mask[self.last] = False
        return State({"place": self.places[seat], "map": picture}, mask)

    def step(self, actions: Sequence[Any]) -> Tick:
        self.tick += 1
        rewards = []
        for seat, action in enumerate(actions):
            push = float(np.sum(np.asarray(action, np.float64))) * 0.1 if self.alive[seat] else 0.0
            luck = int(combine64(self.seed, 100 * self.tick + seat)) % 7 == 0 and self.alive[seat]
            self.places[seat] = (self.places[seat] + np.float32(push)) % 2 - 1
            self.fruit[seat] += luck
            rewards.append(np.array([float(luck), -abs(push)], np.float32))
        self.last = int(actions[2])
        out = self.tick == self.fall
        self.alive[1] = self.alive[1] and not out
        over, cut = self.tick >= self.stop, self.tick >= ORCHARD.max_ticks
        return Tick(rewards, over, cut and not over, None if all(self.alive) else list(self.alive))

    def result(self, seat: int) -> Result:
        fruit = float(self.fruit[seat])
        return Result(float(fruit >= self.fruit.max()), fruit, {"moves": float(self.tick), "fruit": fruit})

    def close(self) -> None:
        pass


def orchard(**settings: Any) -> SteppedMDP:
    return SteppedMDP(ORCHARD, Orchard, **settings)


FALLERS = MDPSpec("fallers", "1", (SeatSpec((ArraySpec("height", (2,)),), Discrete(3), ("gain",)),) * 3, max_ticks=11)


class Fallers:
    """Three seats; each falls at a tick of its own that the seed says, while the others play on. The battle ends by its
    seed, or is cut at 11 ticks. ``fell``: (seed, seat, tick) of every fall."""

    fell: ClassVar[list[tuple[int, int, int]]] = []

    def begin(self, seed: int, played: Sequence[int]) -> None:
        self.seed, self.tick, self.stop = seed, 0, 5 + int(combine64(seed, 1)) % 12
        self.falls = [2 + int(combine64(seed, 10 + seat)) % 12 for seat in range(3)]
        self.gained = np.zeros(3)

    def state(self, seat: int) -> State:
        return State({"height": np.array([self.falls[seat] - self.tick, self.gained[seat]], np.float32)})

    def step(self, actions: Sequence[Any]) -> Tick:
        self.tick += 1
        alive = [self.tick < fall for fall in self.falls]
        gains = [float(a) if self.tick <= fall else 0.0 for a, fall in zip(actions, self.falls, strict=True)]
        self.gained += gains
        over, cut = self.tick >= self.stop or not any(alive), self.tick >= FALLERS.max_ticks
        if not over and not cut:
            self.fell.extend((self.seed, seat, self.tick) for seat in range(3) if self.falls[seat] == self.tick)
        rewards = [np.array([gain], np.float32) for gain in gains]
        return Tick(rewards, over, cut and not over, None if all(alive) else alive)

    def result(self, seat: int) -> Result:
        return Result(0.5, float(self.gained[seat]), {})

    def close(self) -> None:
        pass


def fallers() -> SteppedMDP:
    Fallers.fell.clear()
    return SteppedMDP(FALLERS, Fallers)


LADDER = MDPSpec("ladder", "1", (SeatSpec((ArraySpec("height", (1,)),), Discrete(3), ("gain",)),) * 2)


class Ladder:
    """Two seats climb by what they choose; the episode ends at the ``ticks``-th tick. ``taken`` keeps every action."""

    def __init__(self, ticks: int = 10) -> None:
        self.ticks, self.taken = ticks, list[tuple[int, ...]]()

    def begin(self, seed: int, played: Sequence[int]) -> None:
        self.height = np.zeros(2)

    def state(self, seat: int) -> State:
        return State({"height": self.height[seat : seat + 1].astype(np.float32)})

    def step(self, actions: Sequence[Any]) -> Tick:
        choices = [0 if action is None else int(action) for action in actions]
        self.taken.append(tuple(choices))
        self.height += choices
        return Tick([np.array([c], np.float32) for c in choices], terminated=len(self.taken) == self.ticks)

    def result(self, seat: int) -> Result:
        return Result(float(self.height[seat] >= self.height.max()), float(self.height[seat]), {})

    def close(self) -> None:
        pass


def ladder(ticks: int = 10, **settings: Any) -> tuple[SteppedMDP, Ladder]:
    """The game, and the one simulation that its next battle runs on."""
    simulation = Ladder(ticks)
    return SteppedMDP(LADDER, lambda: simulation, **settings), simulation
