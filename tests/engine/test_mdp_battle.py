"""Battles of independent coroutines: the paper's figure, players who go off line, scripts, frame skipping, roles."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import ConfigError, EngineError, SimulatorError
from engine.mdp.agent import Agent
from engine.mdp.battle import SteppedMDP
from engine.mdp.driver import Driver, Slot, play
from engine.mdp.interface import Controller, Outcome
from engine.mdp.roles import Trainee, evaluate
from engine.mdp.trajectory import Batch, Decision
from tests.engine.sample_games import LADDER, Ladder, ladder, orchard


async def act(controller: Controller, choice: int, times: int = 1000) -> list[float]:
    """Give the same choice until the end, or for so many times; returns what each brought."""
    gains = []
    for _ in range(times):
        outcome = await controller(choice)
        gains.append(float(controller.get_reward()[0]))
        if outcome.done:
            break
    return gains


@contextlib.contextmanager
def event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    try:
        yield loop
    finally:
        loop.close()


def test_the_paper_s_figure_4b_works_as_printed() -> None:
    """Lamarckian, III-C: a training and a sparring coroutine and the battle's ticks, gathered by asyncio."""

    async def train(controller: Any, agent: Any) -> list[Any]:
        state = controller.get_state()
        rewards = []
        while True:
            script = agent(*state["inputs"])
            for action in script:
                exp = await controller(discrete=action)
            state = controller.get_state()
            reward = controller.get_reward()
            rewards.append(reward)
            if exp["done"]:
                break
        return rewards

    async def sparring(controller: Any, agent: Any) -> None:
        state = controller.get_state()
        with torch.no_grad():
            while True:
                script = agent(*state["inputs"])
                for action in script:
                    exp = await controller(discrete=action)
                state = controller.get_state()
                if exp["done"]:
                    break

    mdp, simulation = ladder(12)
    battle = mdp.reset(0, 1)
    with contextlib.closing(battle), event_loop() as loop:

        async def main() -> list[Any]:
            return await asyncio.gather(
                train(battle.controllers[0], lambda height: [1, 2, 0]),
                sparring(battle.controllers[1], lambda height: [2]),
                battle.ticks,
            )

        rewards, nothing, _ = loop.run_until_complete(main())
    assert simulation.taken == [(1, 2), (2, 2), (0, 2)] * 4
    assert [float(r[0]) for r in rewards] == [3.0] * 4, "a script's rewards are summed"
    assert nothing is None


def test_the_trampoline_plays_what_asyncio_plays() -> None:
    (one, first), (other, second) = ladder(9), ladder(9)
    battle = one.reset(0, 1)

    async def main() -> Any:
        return await asyncio.gather(act(battle.controllers[0], 1), act(battle.controllers[1], 2), battle.ticks)

    with event_loop() as loop:
        gathered = loop.run_until_complete(main())
    again = other.reset(0, 1)
    assert play(again, act(again.controllers[0], 1), act(again.controllers[1], 2)) == gathered[:2]
    assert first.taken == second.taken == [(1, 2)] * 9


def test_a_player_that_goes_off_line_never_stops_the_tick() -> None:
    mdp, simulation = ladder(10)
    battle = mdp.reset(0, 1)
    stays, leaves = battle.controllers
    gains = play(battle, act(stays, 1), act(leaves, 2, times=3))
    assert simulation.taken == [(1, 2)] * 3 + [(1, 0)] * 7
    assert gains[0] == [1.0] * 10, "the other one plays on and is rewarded"
    assert (leaves.missed, leaves.late, stays.missed) == (7, 0, 0)
    assert leaves.get_result().score == 6.0


def test_a_player_that_hangs_in_asyncio_never_stops_the_tick() -> None:
    mdp, simulation = ladder(10)
    battle = mdp.reset(0, 1)

    async def hangs(controller: Controller) -> None:
        await controller(2)
        await asyncio.sleep(60)

    async def main() -> list[float]:
        hanging = asyncio.ensure_future(hangs(battle.controllers[1]))
        gains, _ = await asyncio.gather(act(battle.controllers[0], 1), battle.ticks)
        hanging.cancel()
        return gains

    with event_loop() as loop:
        assert loop.run_until_complete(main()) == [1.0] * 10
    assert simulation.taken == [(1, 2)] + [(1, 0)] * 9


def test_late_actions_are_applied_at_the_next_tick_and_counted() -> None:
    mdp, simulation = ladder(8, patience=1)
    battle = mdp.reset(0, 1)

    async def slow(controller: Controller) -> None:
        outcome, rounds = Outcome(), 0
        while not outcome.done:
            for _ in range(rounds):
                await asyncio.sleep(0)
            outcome = await controller(2)
            rounds = 4

    play(battle, act(battle.controllers[0], 1), slow(battle.controllers[1]))
    late = battle.controllers[1]
    assert simulation.taken[0] == (1, 2)
    assert 0 < late.late < late.missed < 8
    assert simulation.taken.count((1, 2)) == 1 + late.late
    assert len(simulation.taken) == 8


def test_a_patient_tick_waits_so_many_rounds() -> None:
    mdp, simulation = ladder(5, patience=10)
    battle = mdp.reset(0, 1)

    async def slow(controller: Controller) -> None:
        while not battle.done:
            for _ in range(6):
                await asyncio.sleep(0)
            await controller(2)

    play(battle, act(battle.controllers[0], 1), slow(battle.controllers[1]))
    assert simulation.taken == [(1, 2)] * 5
    assert battle.controllers[1].missed == 0


def test_a_player_may_come_back() -> None:
    mdp, simulation = ladder(6)
    battle = mdp.reset(0, 1)
    battle.controllers[1].leave()

    async def returns(controller: Controller) -> None:
        while len(simulation.taken) < 3:
            await asyncio.sleep(0)
        await act(controller, 2)

    play(battle, act(battle.controllers[0], 1), returns(battle.controllers[1]))
    assert simulation.taken == [(1, 0)] * 3 + [(1, 2)] * 3


def test_a_scripted_sequence_is_one_action() -> None:
    mdp, simulation = ladder(7)
    battle = mdp.reset(0, 1)

    async def scripted(controller: Controller) -> list[float]:
        gains, outcome = [], Outcome()
        while not outcome.done:
            outcome = await controller([2, 0, 1])
            gains.append(float(controller.get_reward()[0]))
        return gains

    gains, _ = play(battle, scripted(battle.controllers[0]), act(battle.controllers[1], 1))
    assert [taken[0] for taken in simulation.taken] == [2, 0, 1, 2, 0, 1, 2]
    assert gains == [3.0, 3.0, 2.0], "the last script ends early, with the episode"


def test_an_empty_script_is_refused() -> None:
    mdp, _ = ladder()
    with pytest.raises(ConfigError, match="at least one action"):
        mdp.reset(0, 1).controllers[0]([])


def test_frame_skipping_holds_an_action_for_so_many_ticks() -> None:
    mdp, simulation = ladder(8)
    battle = mdp.reset(0, 1)
    battle.controllers[0].hold = 3

    async def count(controller: Controller) -> list[float]:
        gains, choice, outcome = [], 0, Outcome()
        while not outcome.done:
            outcome = await controller(choice)
            gains.append(float(controller.get_reward()[0]))
            choice += 1
        return gains

    gains, _ = play(battle, count(battle.controllers[0]), act(battle.controllers[1], 1))
    assert [taken[0] for taken in simulation.taken] == [0, 0, 0, 1, 1, 1, 2, 2]
    assert gains == [0.0, 3.0, 4.0]


def test_a_result_before_the_end_is_refused_and_seats_must_exist() -> None:
    mdp, _ = ladder()
    battle = mdp.reset(0, 1)
    with pytest.raises(EngineError, match="before the battle was over"):
        battle.controllers[0].get_result()
    for seats in ((0, 2), (1, 1)):
        with pytest.raises(ConfigError, match="seats 0 to 1"):
            mdp.reset(*seats)


def test_a_seat_that_goes_out_is_told_and_the_others_play_on() -> None:
    mdp = orchard()
    battle = mdp.reset(seed=10)
    simulation: Any = battle.simulation

    async def walk(controller: Controller) -> int:
        outcome, ticks = Outcome(), 0
        while not outcome.done:
            choices = controller.get_state().mask
            action = controller.spec.action.idle()[0]
            if choices is not None and not controller.spec.action.row:
                action = np.argmax(choices)
            outcome, ticks = await controller(action), ticks + 1
        assert outcome.terminated or ticks == 25
        return ticks

    ticks = play(battle, *(walk(controller) for controller in battle.controllers))
    end = min(simulation.stop, 25)
    assert ticks == [end, min(simulation.fall, end), end, end]
    assert simulation.fall < end, "the seed should make somebody go out"


def test_an_idle_seat_does_something_legal() -> None:
    battle = orchard().reset(seed=1)
    simulation: Any = battle.simulation

    async def first(controller: Controller) -> None:
        await controller(0)

    play(battle, *(first(c) if c.seat == 2 else _nobody() for c in battle.controllers))
    assert battle.done
    assert simulation.tick == min(simulation.stop, 25)


async def _nobody() -> None:
    return None


class Counting:
    """A policy that remembers how many asked each time."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def __call__(self, batch: Batch) -> Decision:
        n = len(batch.keys)
        self.batches.append(n)
        return Decision((batch.observations["height"][:, 0].astype(np.int64) + 1) % 3)


def test_all_waiting_inferences_are_one_forward_pass() -> None:
    policy = Counting()
    mdp, agent = SteppedMDP(LADDER, Ladder), Agent(policy, LADDER.seats[0])

    def role(controller: Controller, slot: Slot) -> Any:
        return evaluate(controller, agent, slot.seed)

    driver = Driver(mdp, np.arange(20, dtype=np.uint64), {0: role, 1: role})
    finished = [done for _ in range(25) for done in driver.round()]
    driver.close()
    assert policy.batches == [40] * 25
    assert len(finished) == 40
    assert all(done.rounds == 10 and done.results[0].score == done.results[1].score for done in finished)
    assert sorted((d.slot.place, d.slot.episode) for d in finished) == [(b, e) for b in range(20) for e in range(2)]


def test_a_training_and_a_sparring_policy_are_asked_separately() -> None:
    one, other = Counting(), Counting()
    first, second = Agent(one, LADDER.seats[0]), Agent(other, LADDER.seats[1])
    driver = Driver(
        SteppedMDP(LADDER, Ladder),
        np.arange(5, dtype=np.uint64),
        {0: lambda c, s: evaluate(c, first, s.seed), 1: lambda c, s: evaluate(c, second, s.seed)},
    )
    for _ in range(10):
        driver.round()
    driver.close()
    assert one.batches == other.batches == [5] * 10


def test_rules_that_go_wrong_are_named_with_their_battle() -> None:
    class Flooded(Ladder):
        def step(self, actions: Any) -> Any:
            if len(self.taken) == 2 and self.seed == 3:
                raise ZeroDivisionError("no water left")
            return super().step(actions)

        def begin(self, seed: int, played: Any) -> None:
            self.seed = seed
            super().begin(seed, played)

    agent = Agent(Counting(), LADDER.seats[0])
    cast = {0: lambda c, s: evaluate(c, agent, s.seed), 1: lambda c, s: evaluate(c, agent, s.seed)}
    driver = Driver(SteppedMDP(LADDER, Flooded), np.arange(5, dtype=np.uint64), cast)
    driver.round(), driver.round()
    with pytest.raises(SimulatorError, match="ladder, battle 3: step raised ZeroDivisionError: no water left"):
        driver.round()
    driver.close()


def test_a_battle_can_be_ended_from_outside() -> None:
    mdp, simulation = ladder(100)
    battle = mdp.reset(0, 1)

    async def impatient(controller: Controller) -> Outcome:
        for _ in range(3):
            outcome = await controller(1)
        battle.close()
        return outcome

    async def waits(controller: Controller) -> Outcome:
        outcome = Outcome()
        while not outcome.done:
            outcome = await controller(1)
        return outcome

    _, told = play(battle, impatient(battle.controllers[0]), waits(battle.controllers[1]))
    assert told.truncated
    assert len(simulation.taken) == 3


def test_recurrent_state_begins_as_zeros_and_is_carried_through_an_episode() -> None:
    seen: list[list[float]] = []

    def counts(batch: Batch) -> Decision:
        seen.append(batch.state["h"][:, 0].tolist())
        return Decision(np.zeros(len(batch.keys), np.int64), state={"h": batch.state["h"] + 1})

    agent = Agent(counts, LADDER.seats[0], memory={"h": (1,)})
    cast = {0: lambda c, s: evaluate(c, agent, s.seed)}
    driver = Driver(SteppedMDP(LADDER, lambda: Ladder(4)), np.arange(2, dtype=np.uint64), cast)
    for _ in range(6):
        driver.round()
    driver.close()
    assert seen == [[t, t] for t in (0.0, 1.0, 2.0, 3.0, 0.0, 1.0)]


def test_a_fragment_starts_with_the_recurrent_state_of_its_first_decision() -> None:
    def counts(batch: Batch) -> Decision:
        return Decision(np.zeros(len(batch.keys), np.int64), state={"h": batch.state["h"] + 1})

    agent, found = Agent(counts, LADDER.seats[0], memory={"h": (1,)}), list[Any]()
    trainee = Trainee(agent, LADDER.seats[0], 3, found.append)
    driver = Driver(SteppedMDP(LADDER, lambda: Ladder(7)), np.arange(1, dtype=np.uint64), {0: trainee.train})
    for _ in range(14):
        agent.version += 1
        driver.round()
    driver.close()
    assert [float(f.initial_state["h"][0, 0]) for f in found] == [0.0, 3.0, 6.0, 2.0]
    assert [f.versions[:, 0].tolist() for f in found] == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]
    assert [f.terminated[:, 0].tolist() for f in found][2] == [True, False, False]
