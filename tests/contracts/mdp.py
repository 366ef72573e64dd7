"""The contract of a game as tests: inherit ``VectorContract`` and say how the game is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.agent import Agent, Policy
from engine.mdp.checks import check_batch
from engine.mdp.driver import Driver
from engine.mdp.interface import MDP, SeatSpec
from engine.mdp.recorder import Recorder
from engine.mdp.roles import Trainee
from engine.mdp.trajectory import Batch, Decision, Trajectory
from engine.mdp.vector import VectorMDP, VectorStep, episode_seeds, noise_keys, seat_ends
from engine.rng import combine64


def dice(keys: NDArray[np.uint64], number: int) -> NDArray[np.float64]:
    """Uniform numbers [n] in [0, 1) from keys."""
    return (combine64(keys, number) >> np.uint64(11)) / 2.0**53


def at_random(seat: SeatSpec) -> Policy:
    """A policy that draws legal actions from its keys alone, with log-probabilities and values to recognise."""

    def policy(batch: Batch) -> Decision:
        n, spec = len(batch.keys), seat.action
        rows = np.zeros((n, len(spec.choices) + len(spec.bounds[0])))
        start = 0
        for i, k in enumerate(spec.choices):
            weights = dice(batch.keys, i)[:, None] + np.arange(k) * 0.37
            weights = weights - np.floor(weights)
            if batch.masks is not None:
                weights = np.where(batch.masks[:, start : start + k], weights, -1.0)
            rows[:, i], start = weights.argmax(axis=1), start + k
        low, high = spec.bounds
        for j in range(len(low)):
            rows[:, len(spec.choices) + j] = low[j] + (high[j] - low[j]) * dice(batch.keys, 100 + j)
        actions = rows.reshape(n, *spec.row).astype(spec.dtype)
        return Decision(actions, dice(batch.keys, 999).astype(np.float32))

    return policy


def acts(seats: Sequence[SeatSpec], step: VectorStep, seeds: NDArray[np.uint64], ticks: NDArray[np.int64]) -> list[Any]:
    """Everybody's random actions for a batch."""
    return [
        at_random(seat)(Batch(step.observations[i], step.masks[i], noise_keys(seeds, ticks, i))).actions
        for i, seat in enumerate(seats)
    ]


class Walk:
    """A batch that plays at random, with the bookkeeping of seeds and ticks done from outside."""

    def __init__(self, game: VectorMDP, seeds: NDArray[np.uint64]) -> None:
        self.game, self.base = game, seeds
        self.seeds, self.ticks = seeds.copy(), np.zeros(len(seeds), np.int64)
        self.episodes = np.zeros(len(seeds), np.int64)
        self.now = game.reset(seeds)

    def step(self) -> VectorStep:
        self.now = self.game.step(acts(self.game.spec.seats, self.now, self.seeds, self.ticks))
        self.ticks += 1
        if self.now.ended is not None:
            over = self.now.ended.battles
            self.ticks[over], self.episodes[over] = 0, self.episodes[over] + 1
            self.seeds[over] = episode_seeds(self.base[over], self.episodes[over])
        return self.now


def snapshot(step: VectorStep) -> list[NDArray[Any]]:
    """Copies of everything a step says about each battle, battles first."""
    found = [a for seen in step.observations for a in seen.values()]
    found += [m for m in step.masks if m is not None]
    return [np.array(a) for a in (*found, step.rewards, step.terminated, step.truncated, step.alive)]


def by_arrays(game: VectorMDP, seeds: NDArray[np.uint64], rounds: int, length: int) -> list[list[Trajectory]]:
    """The fragments of each seat's streams, recorded from arrays."""
    walk = Walk(game, seeds)
    recorders = [Recorder(seat, len(seeds), length) for seat in game.spec.seats]
    for i, recorder in enumerate(recorders):
        recorder.begin(walk.now.observations[i], walk.now.masks[i])
    found: list[list[Trajectory]] = [[] for _ in recorders]
    for _ in range(rounds):
        before, seen, masks = walk.now.alive.copy(), walk.now.observations, walk.now.masks
        keys = [noise_keys(walk.seeds, walk.ticks, i) for i in range(len(recorders))]
        seats = game.spec.seats
        decisions = [at_random(s)(Batch(seen[i], masks[i], keys[i])) for i, s in enumerate(seats)]
        step = walk.step()
        for i, recorder in enumerate(recorders):
            ends = seat_ends(before, step, i)
            ended = step.ended
            finals = None if ended is None else (ended.battles, ended.observations[i], ended.masks[i])
            if step.cut is not None and (cut := np.flatnonzero(step.cut[:, i])).size:
                assert finals is None, "a limit of a seat's own and the end of another battle in one step"
                mask = step.masks[i]
                last = {name: array[cut] for name, array in step.observations[i].items()}
                finals = cut, last, None if mask is None else mask[cut]
            fragment = recorder.step(
                decisions[i], 0, step.rewards[:, i, : len(seats[i].rewards)], ends.terminated, ends.truncated,
                step.observations[i], step.masks[i], finals=finals, valid=ends.valid,
            )  # fmt: skip
            if fragment is not None:
                found[i].append(fragment)
    return found


def by_coroutines(mdp: MDP, seeds: NDArray[np.uint64], rounds: int, length: int) -> list[list[list[Trajectory]]]:
    """The fragments of each seat and each battle, recorded by training coroutines."""
    seats = mdp.spec.seats
    found: list[list[list[Trajectory]]] = [[[] for _ in seeds] for _ in seats]
    agents = [Agent(at_random(seat), seat) for seat in seats]
    trainees = [
        [Trainee(agents[i], seat, length, found[i][b].append) for b in range(len(seeds))]
        for i, seat in enumerate(seats)
    ]

    def role(seat: int) -> Any:
        return lambda controller, slot: trainees[seat][slot.place].train(controller, slot)

    driver = Driver(mdp, seeds, {i: role(i) for i in range(len(seats))})
    for _ in range(rounds + 1):
        driver.round()
    driver.close()
    return found


def flat(fragments: Sequence[Trajectory], stream: int) -> dict[str, NDArray[Any]]:
    """Every transition of a stream that counts, end to end, whatever fragments it came in."""
    columns: dict[str, list[NDArray[Any]]] = {}
    for t in fragments:
        valid = np.ones(t.length, np.bool_) if t.valid is None else t.valid[:, stream]
        arrays = {f"observation {name}": a[:-1, stream] for name, a in t.observations.items()}
        arrays |= {name: getattr(t, name)[:, stream] for name in FIELDS}
        if t.masks is not None:
            arrays["masks"] = t.masks[:-1, stream]
        for name, array in arrays.items():
            columns.setdefault(name, []).append(array[valid])
        for name, array in t.final_observations.items():
            columns.setdefault(f"final {name}", []).append(array[t.final_index[:, 1] == stream])
    return {name: np.concatenate(parts) for name, parts in columns.items()}


FIELDS = ("actions", "log_probs", "rewards", "terminated", "truncated", "versions")


class VectorContract:
    """Every promise of ``VectorMDP``. Subclasses say how it is made, and as an ``MDP`` too where it can be."""

    battles = 6
    rounds = 300
    """Enough for several episodes of every battle."""

    def make(self) -> VectorMDP:
        raise NotImplementedError("say how the game is made")

    def mdp(self) -> MDP | None:
        """The same game as coroutines; all its seats are played from outside."""
        return None

    def seeds(self, n: int | None = None) -> NDArray[np.uint64]:
        return combine64(11, np.arange(n or self.battles, dtype=np.uint64))

    def test_every_step_is_what_the_description_says(self) -> None:
        game = self.make()
        walk = Walk(game, self.seeds())
        check_batch("reset", game.spec, self.battles, walk.now)
        assert walk.now.ended is None
        assert not walk.now.rewards.any()
        for _ in range(self.rounds):
            check_batch("step", game.spec, self.battles, walk.step())
        assert (walk.episodes > 0).any(), "the walk is too short to see an end"
        game.close()

    def test_a_battle_does_not_depend_on_its_batch(self) -> None:
        whole, seeds = Walk(self.make(), self.seeds()), self.seeds()
        order = np.random.default_rng(3).permutation(self.battles)
        parts = [(part, Walk(self.make(), seeds[part])) for part in np.array_split(order, 2)]
        for _ in range(self.rounds // 3):
            seen = snapshot(whole.step())
            for part, walk in parts:
                for a, b in zip(seen, snapshot(walk.step()), strict=True):
                    np.testing.assert_array_equal(a[part], b)
        for walk in (whole, *(walk for _, walk in parts)):
            walk.game.close()

    def test_reset_begins_the_same_battles_again(self) -> None:
        game = self.make()
        first = Walk(game, self.seeds())
        played = [snapshot(first.step()) for _ in range(30)]
        again = Walk(game, self.seeds())
        for seen in played:
            for a, b in zip(seen, snapshot(again.step()), strict=True):
                np.testing.assert_array_equal(a, b)
        game.close()

    def test_episodes_that_ended_come_with_their_seed_length_return_and_result(self) -> None:
        game = self.make()
        walk = Walk(game, self.seeds())
        n, seats = self.battles, len(game.spec.seats)
        returns, lengths, ends = np.zeros((n, seats, game.spec.rewards)), np.zeros(n, np.int64), 0
        for _ in range(self.rounds):
            played = walk.seeds.copy()
            step = walk.step()
            returns, lengths = returns + step.rewards, lengths + 1
            if step.ended is not None:
                over = step.ended.battles
                np.testing.assert_array_equal(step.ended.seeds, played[over])
                np.testing.assert_array_equal(step.ended.lengths, lengths[over])
                np.testing.assert_allclose(step.ended.returns, returns[over], atol=1e-9)
                assert step.ended.score.shape == step.ended.win.shape == (len(over), seats)
                returns[over], lengths[over], ends = 0.0, 0, ends + len(over)
        assert ends
        game.close()

    def test_wrong_actions_are_refused_with_their_seat(self) -> None:
        game = self.make()
        step = game.reset(self.seeds())
        right = acts(game.spec.seats, step, self.seeds(), np.zeros(self.battles, np.int64))
        with pytest.raises(ConfigError, match="seat 0: the actions are"):
            game.step([right[0][:-1], *right[1:]])
        if game.spec.seats[0].action.choices:
            wrong = right[0].copy()
            wrong.reshape(self.battles, -1)[1, 0] = 99
            with pytest.raises(ConfigError, match="seat 0: the actions have choice 99 in row 1"):
                game.step([wrong, *right[1:]])
        if right[0].dtype == np.float32:
            wrong = right[0].copy()
            wrong.reshape(self.battles, -1)[1, -1] = np.nan
            with pytest.raises(ConfigError, match="seat 0: the actions h"):
                game.step([wrong, *right[1:]])
        game.close()

    def test_arrays_and_coroutines_give_the_same_trajectories(self) -> None:
        mdp = self.mdp()
        if mdp is None:
            return
        length, rounds, seeds = 20, self.rounds // 2, self.seeds(3)
        game = self.make()
        arrays, coroutines = by_arrays(game, seeds, rounds, length), by_coroutines(mdp, seeds, rounds, length)
        game.close()
        for seat, fragments in enumerate(arrays):
            assert len(fragments) == rounds // length
            for b in range(len(seeds)):
                one, other = flat(fragments, b), flat(coroutines[seat][b], 0)
                assert one.keys() == other.keys()
                assert len(other["actions"]) >= length
                for name in one:
                    n = min(len(one[name]), len(other[name]))
                    np.testing.assert_array_equal(one[name][:n], other[name][:n], err_msg=f"seat {seat} {name}")

    def test_coroutines_made_into_arrays_are_the_same_game(self) -> None:
        mdp = self.mdp()
        if mdp is None:
            return
        one, other = Walk(self.make(), self.seeds(3)), Walk(VectorFromMDP(mdp), self.seeds(3))
        for _ in range(self.rounds // 2):
            a, b = one.step(), other.step()
            for x, y in zip(snapshot(a), snapshot(b), strict=True):
                np.testing.assert_array_equal(x, y)
            assert (a.ended is None) == (b.ended is None)
            if a.ended is not None and b.ended is not None:
                for field in ("battles", "seeds", "lengths", "returns", "win", "score", "signals"):
                    np.testing.assert_allclose(getattr(a.ended, field), getattr(b.ended, field), err_msg=field)
        one.game.close()
        other.game.close()
