"""What one asynchronous step costs beyond the synchronous call that does the same work.

The same rules (one seat, a handful of operations) are stepped by a plain loop and by a coroutine that awaits its
controller, reads its state and asks for its reward at each tick. Turns are short and alternate; the figure is the
median over turns of the difference in processor time, in microseconds a step. Beside it, what a queue each way under
asyncio costs, as in the paper's code.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

import numpy as np

from engine.bench.row import row
from engine.mdp.battle import SteppedMDP, Tick
from engine.mdp.driver import play
from engine.mdp.interface import ArraySpec, Controller, Discrete, MDPSpec, Result, SeatSpec, State

NAME = "driver"
CASES = ("step", "two-seats", "asyncio-queues")
GOAL_US = 1.0


class Counter:
    """Rules that cost next to nothing: count the ticks; seats see one number."""

    def __init__(self, seats: int, ticks: int) -> None:
        self._ticks, self._left = ticks, ticks
        self._reward = [np.ones(1, np.float32)] * seats
        self._state = State({"left": np.zeros(1, np.float32)})
        self._on, self._end = Tick(self._reward), Tick(self._reward, terminated=True)

    def begin(self, seed: int, played: Sequence[int]) -> None:
        """Start counting."""
        self._left = self._ticks

    def state(self, seat: int) -> State:
        """What a seat sees."""
        return self._state

    def step(self, actions: Sequence[Any]) -> Tick:
        """One tick."""
        self._left -= 1
        return self._on if self._left else self._end

    def result(self, seat: int) -> Result:
        """Nobody wins."""
        return Result(0.5, 0.0, {})

    def close(self) -> None:
        """Nothing is held."""


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    steps, turns = (10_000, 41) if quick else (10_000, 301)  # short turns: most are not interrupted
    seats = 2 if case == "two-seats" else 1
    pairs = []
    for _ in range(turns):
        plain = synchronous(seats, steps)
        pairs.append((plain, queued(steps) if case == "asyncio-queues" else asynchronous(seats, steps)))
    extra = sorted((b - a) / steps * 1e6 / seats for a, b in pairs)
    plain_us = median(a for a, _ in pairs) / steps * 1e6
    middle = f"half of {turns} turns within {extra[turns // 4]:.2f} to {extra[3 * turns // 4]:.2f}"
    detail = f"plain {plain_us:.2f} µs a tick; {middle}"
    value = median(extra)
    if case == "asyncio-queues":
        yield row(NAME, case, value, "µs over the plain step", detail=detail + "; what the trampoline replaces")
    else:
        yield row(NAME, case, value, "µs over the plain step", goal="<= 1", meets=value <= GOAL_US, detail=detail)


def synchronous(seats: int, steps: int) -> float:
    """Processor seconds of a plain loop."""
    rules = Counter(seats, steps)
    rules.begin(0, range(seats))
    begun = time.process_time()
    actions, seen, total = [1] * seats, rules.state(0), 0
    while True:
        tick = rules.step(actions)
        for seat in range(seats):
            reward = tick.rewards[seat]
            seen = rules.state(seat)
        total += reward is not None and seen is not None
        if tick.terminated or tick.truncated:
            return time.process_time() - begun


async def player(controller: Controller) -> int:
    """Act to the end."""
    total = 0
    while True:
        outcome = await controller(1)
        reward = controller.get_reward()
        seen = controller.get_state()
        total += reward is not None and seen is not None
        if outcome.terminated or outcome.truncated:
            return total


def asynchronous(seats: int, steps: int) -> float:
    """Processor seconds of coroutines under the trampoline."""
    seat = SeatSpec((ArraySpec("left", (1,)),), Discrete(2))
    mdp = SteppedMDP(MDPSpec("counter", "1", (seat,) * seats), lambda: Counter(seats, steps))
    battle = mdp.reset(seed=0)
    begun = time.process_time()
    play(battle, *(player(controller) for controller in battle.controllers))
    return time.process_time() - begun


def queued(steps: int) -> float:
    """Processor seconds of the same with an asyncio queue each way between player and game."""

    async def main() -> float:
        rules = Counter(1, steps)
        actions: asyncio.Queue[int] = asyncio.Queue()
        answers: asyncio.Queue[Tick] = asyncio.Queue()

        async def game() -> None:
            while True:
                tick = rules.step([await actions.get()])
                await answers.put(tick)
                if tick.terminated:
                    return

        async def play_on() -> None:
            while True:
                await actions.put(1)
                tick = await answers.get()
                if tick.terminated:
                    return

        begun = time.process_time()
        await asyncio.gather(game(), play_on())
        return time.process_time() - begun

    return asyncio.run(main())
