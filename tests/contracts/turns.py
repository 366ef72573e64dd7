"""The contract of a game whose seats take turns, as tests: inherit ``TurnsContract`` and say how the game is made."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError, EngineError, SimulatorError
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.checks import check_rewards, check_state
from engine.mdp.interface import MDP, Battle, Controller, Outcome
from engine.mdp.trajectory import Batch
from engine.mdp.vector import in_turns, noise_keys
from tests.contracts.mdp import at_random


def choice(controller: Controller, seed: int, tick: int) -> Any:
    """What a seat does by lot, legally; the same at each call."""
    state, seat = controller.get_state(), controller.spec
    keys = noise_keys(np.array([seed], np.uint64), np.array([tick]), controller.seat)
    masks = None if state.mask is None else state.mask[None]
    return at_random(seat)(Batch({k: v[None] for k, v in state.observations.items()}, masks, keys)).actions[0]


def answered(wait: Any) -> Outcome | None:
    """What an awaited controller says now; None while it waits."""
    try:
        next(wait.__await__())
    except StopIteration as end:
        found: Outcome = end.value
        return found
    return None


def ticks(battle: Battle, seed: int) -> Iterator[list[Controller]]:
    """Let whoever has the turn act by lot, tick after tick; gives who had it, after each tick."""
    go = battle.ticks.__await__()
    for tick in range(10_000):
        acting = [controller for controller in battle.controllers if controller.acting]
        for controller in acting:
            controller(choice(controller, seed, tick))
        moved = next(go, "over")
        yield acting
        if battle.done or moved == "over":
            return
        next(go, None)  # the tick before gave the others their chance to run


def told(battle: Battle) -> list[Any]:
    """Copies of all that the seats are told now."""
    states = [controller.get_state() for controller in battle.controllers]
    return copy.deepcopy(
        [[c.acting, s.observations, s.mask, c.get_reward()] for c, s in zip(battle.controllers, states, strict=True)]
    )


def whole(battle: Battle, seed: int) -> list[Any]:
    """All that a battle tells whose seats act by lot, its results last."""
    found = [told(battle), *(told(battle) for _ in ticks(battle, seed))]
    return [*found, [controller.get_result() for controller in battle.controllers]]


def too_early(battle: Battle) -> dict[int, Any]:
    """Let all act who have not the turn; what they wait for, by seat."""
    idle = [controller for controller in battle.controllers if not controller.acting]
    return {controller.seat: controller(controller.spec.action.idle()[0]) for controller in idle}


class TurnsContract:
    """Every promise of an ``MDP`` whose seats act at different moments."""

    seeds = (3, 8, 21, 34)

    def make(self) -> MDP:
        raise NotImplementedError("say how the game is made")

    def test_its_description_says_that_it_is_played_in_turns_and_arrays_refuse_it(self) -> None:
        game = self.make()
        assert in_turns(game)
        with pytest.raises(SimulatorError, match="is played in turns, so it cannot step all seats together"):
            VectorFromMDP(game)

    def test_somebody_has_the_turn_until_the_end_and_all_that_is_told_is_as_described(self) -> None:
        game, alone = self.make(), 0
        for seed in self.seeds:
            battle, played = game.reset(seed=seed), 0
            for acting in ticks(battle, seed):
                assert acting, "nobody had the turn, so nothing could go on"
                alone += len(acting) < len(battle.controllers)
                played += 1
                for controller in battle.controllers:
                    check_state(f"seat {controller.seat}", controller.spec, controller.get_state())
                check_rewards("tick", game.spec, [controller.get_reward() for controller in battle.controllers])
            assert battle.done
            assert not game.spec.max_ticks or played <= game.spec.max_ticks
            for controller in battle.controllers:
                result = controller.get_result()
                assert np.isnan(result.win) or 0 <= result.win <= 1
                assert tuple(result.signals) == controller.spec.signals
                assert not controller.acting
            battle.close()
        assert alone, "everybody acted at every tick: that is no game in turns"

    def test_a_battle_follows_from_its_seed_and_its_actions_whatever_is_played_beside_it(self) -> None:
        game, again = self.make(), self.make()
        expected = {seed: whole(game.reset(seed=seed), seed) for seed in self.seeds}
        battles = {seed: again.reset(seed=seed) for seed in self.seeds}
        found: dict[int, list[Any]] = {seed: [told(battle)] for seed, battle in battles.items()}
        running = {seed: ticks(battle, seed) for seed, battle in battles.items()}
        while running:
            for seed in tuple(running):
                if next(running[seed], None) is None:
                    del running[seed]
                    found[seed].append([controller.get_result() for controller in battles[seed].controllers])
                else:
                    found[seed].append(told(battles[seed]))
        for seed in self.seeds:
            np.testing.assert_equal(found[seed], expected[seed])

    def test_an_action_out_of_turn_is_ignored_and_said_to_be(self) -> None:
        game, said = self.make(), 0
        for seed in self.seeds:
            quiet, hasty = game.reset(seed=seed), game.reset(seed=seed)
            waits = too_early(hasty)
            for _ in zip(ticks(quiet, seed), ticks(hasty, seed), strict=True):
                np.testing.assert_equal(told(hasty), told(quiet))
                if hasty.done:
                    break
                for controller in hasty.controllers:
                    if controller.acting and controller.seat in waits:
                        outcome = answered(waits[controller.seat])
                        assert outcome is not None
                        assert outcome.ignored
                        said += 1
                waits = too_early(hasty)
        assert said

    def test_a_seat_that_leaves_never_stops_the_others(self) -> None:
        battle = self.make().reset(seed=self.seeds[0])
        battle.controllers[0].leave()
        go = battle.ticks.__await__()
        for tick in range(10_000):
            for controller in battle.controllers[1:]:
                if controller.acting:
                    controller(choice(controller, self.seeds[0], tick))
            if next(go, "over") == "over" or battle.done:
                break
        assert battle.done

    def test_a_result_is_there_at_the_end_and_not_before(self) -> None:
        battle = self.make().reset(seed=self.seeds[0])
        with pytest.raises(EngineError, match="before the battle was over"):
            battle.controllers[0].get_result()
        battle.close()
        assert battle.done

    def test_a_seat_that_there_is_not_is_refused(self) -> None:
        game = self.make()
        with pytest.raises(ConfigError, match="seats"):
            game.reset(len(game.spec.seats), seed=1)
