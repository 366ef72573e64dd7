"""Battles whose seats are independent coroutines, made from rules with a step function.

An engineer writes a ``Simulation``; ``SteppedMDP`` makes it an ``MDP``. All waiting is a bare ``yield`` ("let the
others run"), so battles run under asyncio, as printed in the paper (Lamarckian, Fig. 4b), and under the plain
trampoline of ``engine.mdp.driver``, which is ten times cheaper.

A tick waits for the seats that are on line and whose turn it is, but for at most ``patience`` rounds of the scheduler,
in which every other coroutine has had a chance to run. Then it goes on, and a seat without an action is idle. An action
that arrives afterwards is applied at the next tick and counted as late.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError, EngineError
from engine.mdp.interface import MDPSpec, Outcome, Result, SeatSpec, State
from engine.rng import combine64

GOES_ON, TERMINATED, TRUNCATED = Outcome(), Outcome(terminated=True), Outcome(truncated=True)
IGNORED = Outcome(ignored=True)
_NOTHING = object()
_UNUSUAL = frozenset((list, tuple, type(None)))


class Tick(NamedTuple):
    """The result of a step: each seat's reward vector float32[R], whether and how the episode ended, which seats are in
    (None: all), whose turn it is next (None: all seats that are in), and who of those that are out now was ``cut`` off
    by a limit of its own (None: nobody). At the end of a truncated episode, who is out has terminated."""

    rewards: Sequence[NDArray[np.float32]]
    terminated: bool = False
    truncated: bool = False
    alive: Sequence[bool] | None = None
    acting: Sequence[bool] | None = None
    cut: Sequence[bool] | None = None


class Simulation(Protocol):
    """The rules of one battle at a time, in steps."""

    def begin(self, seed: int, played: Sequence[int]) -> Sequence[bool] | None:
        """Begin an episode in which these seats are played from outside and the rules play the others. Returns whose
        turn it is (None: all)."""
        ...

    def state(self, seat: int) -> State:
        """A seat's current state."""
        ...

    def step(self, actions: Sequence[Any]) -> Tick:
        """Take the seats' actions (None for a seat that the rules play) and advance by one decision."""
        ...

    def result(self, seat: int) -> Result:
        """A seat's result in the episode that just ended."""
        ...

    def close(self) -> None:
        """Release the simulation's resources."""
        ...


class SeatController:
    """``Controller`` of a seat of a ``SteppedBattle``. ``late``: actions that arrived after their tick;
    ``missed``: ticks without an action of this seat; ``hold``: ticks each action lasts (frame skipping)."""

    __slots__ = (
        "_battle", "_lapsed", "_online", "_outcome", "_plan", "_ready", "_reward", "_waiting", "acting", "alive",
        "get_state", "hold", "late", "missed", "seat", "spec",
    )  # fmt: skip

    def __init__(self, battle: SteppedBattle, seat: int, spec: SeatSpec, acting: bool) -> None:
        self._battle, self.seat, self.spec, self.acting = battle, seat, spec, acting
        self.get_state = partial(battle.simulation.state, seat)
        self.alive, self._online, self.hold = True, True, 1
        self.late = self.missed = 0
        self._lapsed = self._waiting = False
        self._ready = acting  # for a single action: the seat acts, is on line, and has given none yet
        self._outcome: Outcome = GOES_ON
        self._plan: Iterator[Any] | None = None
        self._reward: NDArray[np.float32] | None = None

    def __call__(self, action: Any = None, *, discrete: Any = None, continuous: Any = None) -> SeatController:
        """Act; await the result."""
        if self._ready and self.hold == 1 and type(action) not in _UNUSUAL:
            battle = self._battle
            self._ready, self._waiting = False, True
            battle._awaited -= 1
            battle._actions[self.seat] = action
            return self
        if action is None:
            action = continuous if discrete is None else discrete
        if self.acting:
            if self.hold > 1 or type(action) is list or type(action) is tuple:
                action = self._follow(action)
            self._battle.give(self, action)
        else:
            self._wait(IGNORED)
        return self

    def turn(self) -> SeatController:
        """Wait for the seat's turn without acting."""
        if not self.acting:
            self._wait(GOES_ON)
        return self

    def _wait(self, outcome: Outcome) -> None:
        """Wait for the next turn, unless there is none; ``outcome`` answers the wait."""
        if self.alive and not self._battle.done:
            self._waiting, self._outcome = True, outcome

    def _follow(self, script: Any) -> Any:
        """The first action of a scripted sequence; each is held for ``hold`` ticks before the next one."""
        actions = script if isinstance(script, list | tuple) else (script,)
        if not actions:
            raise ConfigError([(f"seat {self.seat}", "a scripted sequence needs at least one action")])
        plan = (action for action in actions for _ in range(self.hold))
        first = next(plan)
        self._plan, self._battle._usual = plan, False
        return first

    def __await__(self) -> Generator[None, None, Outcome]:
        while self._waiting:
            yield
        return self._outcome

    def get_reward(self) -> NDArray[np.float32]:
        """The reward since the last call."""
        reward, self._reward = self._reward, None
        return np.zeros(len(self.spec.rewards), np.float32) if reward is None else reward

    def get_result(self) -> Result:
        """How the episode ended. Raises EngineError while it still runs."""
        if not self._battle.done:
            raise EngineError(f"Seat {self.seat} asked for its result before the battle was over; await its end first.")
        return self._battle.simulation.result(self.seat)

    def leave(self) -> None:
        """Go off line."""
        self._battle.lose(self)


class SteppedBattle:
    """``Battle`` over a ``Simulation``. ``seed``: that of the episode; ``ticked``: decisions so far."""

    def __init__(self, simulation: Simulation, spec: MDPSpec, seats: Sequence[int], seed: int, patience: int) -> None:
        self.simulation, self.spec, self.seed = simulation, spec, seed
        self.done, self.ticked = False, 0
        self._patience = patience
        acting = simulation.begin(seed, seats)
        self.controllers = tuple(
            SeatController(self, seat, spec.seats[seat], acting is None or acting[seat]) for seat in seats
        )
        self._actions: list[Any] = [None] * len(spec.seats)
        self._awaited, self._absent = sum(controller.acting for controller in self.controllers), 0
        self._usual = acting is None  # all seats are in, on line, and give single actions

    @property
    def ticks(self) -> SteppedBattle:
        """The battle itself, to be awaited."""
        return self

    def __await__(self) -> Generator[None, None, None]:
        step, controllers, actions = self.simulation.step, self.controllers, self._actions
        while True:
            rounds = 0
            while self._awaited and rounds < self._patience:
                rounds += 1
                yield
            if self.done:
                return
            usual = self._usual
            if self._awaited or self._absent:
                usual = False
                self._miss()
            tick = step(actions)
            self.ticked += 1
            if usual and tick.alive is None and not (tick.terminated or tick.truncated):
                rewards = tick.rewards
                for controller in controllers:
                    controller._waiting, controller._ready = False, True
                    reward = rewards[controller.seat]
                    controller._reward = reward if controller._reward is None else controller._reward + reward
                self._awaited = len(controllers)
            else:
                self._settle(tick)
            yield

    def give(self, controller: SeatController, action: Any) -> None:
        """Accept a seat's action for the next tick."""
        if self.done:
            return
        if controller._lapsed:
            controller._lapsed = False
            controller.late += 1
        if not controller._waiting:
            if controller._online:
                self._awaited -= 1
            else:
                self._absent -= 1
        controller._online, controller._waiting, controller._ready = True, True, False
        controller._outcome = GOES_ON
        self._actions[controller.seat] = action

    def lose(self, controller: SeatController) -> None:
        """Take a seat off line: no tick waits for it."""
        if controller._online and not self.done:
            controller._online = controller._ready = self._usual = False
            if controller.acting and not controller._waiting:
                self._awaited -= 1
                self._absent += 1

    def _miss(self) -> None:
        """Make the seats without an action idle."""
        for controller in self.controllers:
            if controller.acting and not controller._waiting:
                controller.missed += 1
                controller._lapsed = controller._online
                self._actions[controller.seat] = self._idle(controller)

    def _settle(self, tick: Tick) -> None:
        """Apply a tick's result to each seat."""
        self.done = tick.terminated or tick.truncated
        self._awaited = self._absent = 0
        for controller in self.controllers:
            reward = tick.rewards[controller.seat]
            controller._reward = reward if controller._reward is None else controller._reward + reward
            if self.done:
                there = tick.alive is None or tick.alive[controller.seat]
                self._finish(controller, TRUNCATED if tick.truncated and there else TERMINATED)
            else:
                self._answer(controller, tick)
        self._usual = (
            tick.alive is None
            and tick.acting is None
            and all(controller._online and controller._plan is None for controller in self.controllers)
        )

    def _finish(self, controller: SeatController, ending: Outcome) -> None:
        controller.acting = controller._waiting = controller._ready = False
        if controller.alive:
            controller._outcome = ending

    def _answer(self, controller: SeatController, tick: Tick) -> None:
        """Tell a seat that it is out, continue its script, or let it decide if it is its turn."""
        seat = controller.seat
        if controller.alive and tick.alive is not None and not tick.alive[seat]:
            self._finish(controller, TRUNCATED if tick.cut is not None and tick.cut[seat] else TERMINATED)
            controller.alive = False
        if not controller.alive:
            return
        acted, controller.acting = controller.acting, tick.acting is None or bool(tick.acting[seat])
        if controller._plan is not None and acted:
            action = next(controller._plan, _NOTHING)
            if action is not _NOTHING:
                self._actions[seat] = action
                return
            controller._plan = None
        controller._ready = controller.acting and controller._online and not controller._lapsed
        if controller.acting:
            controller._waiting = False
            self._awaited += controller._online
            self._absent += not controller._online

    def _idle(self, controller: SeatController) -> Any:
        """The action of an idle seat: to do nothing or, if that is illegal, the first legal choice."""
        action = controller.spec.action.idle()[0]
        mask = self.simulation.state(controller.seat).mask
        if mask is not None:
            starts = np.cumsum([0, *controller.spec.action.choices])
            picks = [int(np.argmax(mask[a:b])) for a, b in pairwise(starts)]
            if controller.spec.action.row:
                action[: len(picks)] = picks
            else:
                action = np.int64(picks[0])
        return action

    def close(self) -> None:
        """End the battle."""
        self.done = True
        for controller in self.controllers:
            self._finish(controller, TRUNCATED)
        self.simulation.close()


class SteppedMDP:
    """``MDP`` from a ``Simulation``. ``make``: makes one for each battle; ``patience``: how many rounds a tick waits
    for a seat that is on line but silent."""

    def __init__(self, spec: MDPSpec, make: Callable[[], Simulation], *, patience: int = 1, seed: int = 0) -> None:
        self.spec = spec
        self._make, self._patience, self._seed, self._battles = make, patience, seed, 0

    def reset(self, *seats: int, seed: int | None = None) -> SteppedBattle:
        """A new battle; without seats, all of them. Raises ConfigError for a seat that does not exist."""
        count = len(self.spec.seats)
        wrong = [seat for seat in seats if not 0 <= seat < count]
        if wrong or len(set(seats)) < len(seats):
            raise ConfigError([("seats", f"{self.spec.name} has seats 0 to {count - 1}; {list(seats)} was asked for")])
        if seed is None:
            seed = int(combine64(self._seed, self._battles))
            self._battles += 1
        return SteppedBattle(self._make(), self.spec, seats or range(count), seed, self._patience)

    def close(self) -> None:
        """Nothing is held: each battle has a simulation of its own."""
