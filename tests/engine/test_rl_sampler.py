"""Samplers, examinations, and what learners make of fragments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from engine.channel import Weights
from engine.config.rl import NetworkConfig, PPOConfig, TrainingConfig
from engine.errors import ConfigError, EngineError
from engine.games.pong import VectorPong
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.agent import Agent
from engine.mdp.driver import Driver
from engine.mdp.roles import Trainee
from engine.mdp.trajectory import Batch, Trajectory, join
from engine.mdp.vector import noise_keys
from engine.rl.actor_critic import ActorCritic, forward_all, tensors_of
from engine.rl.cast import Candidate, Cast
from engine.rl.examine import examine
from engine.rl.networks import Recurrent
from engine.rl.policy import Actor, Policy, PolicySpec
from engine.rl.ppo import PPO
from engine.rl.sampler import Sampler
from engine.rl.seats import Keys
from engine.rl.training import Training
from engine.rng import battle_seeds
from tests.engine.rl_game import Signals
from tests.engine.sample_games import Fallers, fallers

SMALL = NetworkConfig(policy=(16,), critic=(16,))
MEMORY = NetworkConfig(policy=(8,), critic=(8,), lstm=4)


class One(Sampler):
    """A sampler with one learning policy."""

    def one(self) -> Trajectory:
        """The next fragment of the policy."""
        return self.sample()["agent"]

    @property
    def actor(self) -> Actor:
        return self.actors["agent"]


def weights(numbers: np.ndarray, version: int) -> Weights:
    return Weights("agent", 0, 0, version, {"actor": numbers})


def sampler(game: Any, network: NetworkConfig = SMALL, battles: int = 4, length: int = 10, **more: Any) -> One:
    model = PolicySpec(game.spec.seats[0], network).model()
    made = One(game, {"agent": model}, battles, length, seed=3, **more)
    made.load(weights(model.initial(np.random.default_rng(1)), 5))
    return made


def same(a: Trajectory, b: Trajectory) -> None:
    for field in ("actions", "log_probs", "rewards", "terminated", "truncated", "final_index"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field), field)


def test_fragments_have_exactly_their_length_and_carry_the_version_that_acted() -> None:
    made = sampler(Signals(image=True, masked=True), MEMORY)
    first, second = made.one(), made.one()
    for fragment in (first, second):
        assert fragment.length == 10
        assert fragment.streams == 4
        assert (fragment.versions == 5).all()
    np.testing.assert_array_equal(first.observations["signal"][-1], second.observations["signal"][0])


def test_weights_that_arrive_in_the_middle_act_from_then_on() -> None:
    made = sampler(Signals())
    made.begin()
    for _ in range(4):
        assert not made._advance()
    made.load(weights(made.actor.model.initial(np.random.default_rng(2)), 6))
    assert made.one().versions[:, 0].tolist() == [5] * 4 + [6] * 6


def test_a_battle_plays_the_same_whatever_plays_beside_it() -> None:
    alone, many = sampler(Signals(masked=True), battles=1), sampler(Signals(masked=True), battles=6)
    for _ in range(3):
        one, all_of_them = alone.one(), many.one()
        np.testing.assert_array_equal(one.actions[:, 0], all_of_them.actions[:, 0])
        np.testing.assert_allclose(one.log_probs[:, 0], all_of_them.log_probs[:, 0], rtol=1e-5)


def test_a_beginning_depends_on_its_number_alone() -> None:
    one, two = sampler(Signals()), sampler(Signals())
    one.begin(0), one.one(), one.begin(2)
    two.begin(2)
    same(one.one(), two.one())
    two.begin(3)
    assert not np.array_equal(one.one().actions, two.one().actions)


def test_samplers_of_different_numbers_play_different_battles() -> None:
    one, two = (sampler(Signals(), number=i).one() for i in (0, 1))
    assert not np.array_equal(one.observations["signal"], two.observations["signal"])


def test_the_keys_of_noise_are_those_of_the_other_path() -> None:
    game = Signals()
    seeds = np.arange(4, dtype=np.uint64) * 7
    game.reset(seeds)
    keys, now = Keys(seeds, 1), seeds.copy()
    ticks = np.zeros(4, np.int64)
    for _ in range(30):
        np.testing.assert_array_equal(keys.now(), noise_keys(now, ticks, 1))
        step = game.step([np.zeros(4, np.int64)])
        keys.move(step.ended)
        ticks += 1
        if step.ended is not None:
            np.testing.assert_array_equal(step.ended.seeds, now[step.ended.battles])
            ticks[step.ended.battles] = 0
            now = game._seeds.copy()


def test_an_actor_answers_the_driver_s_questions_as_it_answers_the_sampler_s() -> None:
    made = sampler(Signals(), MEMORY)
    agent = Agent(made.actor, made.actor.model.spec.seat, memory=made.actor.memory)
    assert agent.initial().keys() == {"h", "c"}


def test_memory_of_a_fragment_is_where_the_last_one_left_it_and_zero_after_an_end() -> None:
    made = sampler(Signals(), MEMORY, battles=8)
    first, second = made.one(), made.one()
    over = (first.terminated | first.truncated)[-1]
    assert not first.initial_state["h"].any()
    assert not second.initial_state["h"][over].any()
    assert second.initial_state["h"][~over].any()


def test_learners_recompute_what_samplers_said() -> None:
    """Log-probabilities of the same weights, through the whole batch: ends of episodes and memory included."""
    for network in (SMALL, MEMORY):
        game = Signals(masked=True)
        made = sampler(game, network, battles=8, length=12)
        learner = PPO(game.spec.seats[0], PPOConfig(network=network), 1, 100)
        learner.start_from(made.actor.model.initial(np.random.default_rng(1)))
        made.one()
        seen = join([made.one(), made.one()])
        batch = learner.batch(seen)
        parts = learner.model.network.parts(learner.theta)
        found = forward_all(learner.model, parts, batch)
        log_pi = learner.model.distribution.log_prob(found.policy, None, batch.actions, batch.masks)
        np.testing.assert_allclose(log_pi.detach().numpy(), seen.log_probs.ravel(), rtol=1e-4, atol=1e-5)


def test_images_lie_as_convolutions_learn_fastest_in_every_minibatch() -> None:
    seen = sampler(Signals(image=True)).one()
    coloured = {"picture": np.repeat(seen.observations["picture"], 3, axis=2)}
    last = {"picture": np.repeat(seen.final_observations["picture"], 3, axis=1)}
    found = tensors_of(seen._replace(observations=coloured, final_observations=last), {}, torch.device("cpu"))
    rows = found.observations["picture"]
    np.testing.assert_array_equal(rows[:44].view(11, 4, 3, 8, 8), coloured["picture"])
    for some_of_them in (rows, rows[torch.tensor([3, 0, 5])], rows[2:4], rows.to(torch.float32)):
        assert some_of_them.stride()[1] == 1


def test_a_truncated_episode_is_valued_by_what_it_saw_last_with_the_memory_it_had() -> None:
    game = Signals(limit=5, chance=0.0)
    made = sampler(game, MEMORY, battles=3, length=12)
    learner = PPO(game.spec.seats[0], PPOConfig(network=MEMORY), 1, 100)
    learner.start_from(made.actor.model.initial(np.random.default_rng(1)))
    seen = made.one()
    assert seen.final_index[:, 0].tolist() == [4, 4, 4, 9, 9, 9]
    parts = learner.model.network.parts(learner.theta)
    found = forward_all(learner.model, parts, learner.batch(seen))
    state = Recurrent(torch.zeros(3, 4), torch.zeros(3, 4))
    for t in range(5):
        step = learner.model.network(parts, {"signal": torch.from_numpy(seen.observations["signal"][t])}, state)
        assert step.state is not None
        state = step.state
    last = learner.model.network(parts, {"signal": torch.from_numpy(seen.final_observations["signal"][:3])}, state)
    torch.testing.assert_close(found.finals[:3], last.values)


def test_two_learning_seats_are_streams_side_by_side() -> None:
    game = VectorPong(seats=(0, 1))
    made = sampler(game, battles=3, length=20)
    fragment = made.one()
    assert fragment.streams == 6
    np.testing.assert_array_equal(fragment.rewards[:, :3], -fragment.rewards[:, 3:])


def test_a_seat_that_does_not_learn_is_played_by_another() -> None:
    game = VectorPong(seats=(0, 1))
    model = PolicySpec(game.spec.seats[1], SMALL).model()
    other = Policy(model.spec, model.initial(np.random.default_rng(9))).actor()
    cast = Cast([[Candidate("agent", learns=True)], [Candidate("other")]])
    fragment = sampler(game, battles=3, length=20, cast=cast, players={"other": other}.__getitem__).one()
    assert fragment.streams == 3
    assert (fragment.policy, fragment.others, fragment.against) == ("agent", (("other",),), None)
    with pytest.raises(ConfigError, match="not one for 1 seats"):
        sampler(Signals(), cast=cast)


def test_episodes_are_reported_once_with_their_seed_and_length() -> None:
    made = sampler(Signals(limit=5, chance=0.0), battles=3, length=12)
    made.one()
    found = made.finished()
    assert [e.length for e in found] == [5] * 6
    assert len({e.seed for e in found}) == 6
    assert all(e.score == e.returns[0] == e.signals[0] for e in found)
    assert made.finished() == []


def test_an_examination_counts_one_episode_a_seed_and_says_how_sure_it_is() -> None:
    game = Signals()
    model = PolicySpec(game.spec.seats[0], SMALL).model()
    policy = Policy(model.spec, model.initial(np.random.default_rng(1)))
    whole_one = examine({0: policy}, Signals(), 40, seed=5)[0]
    part = examine({0: policy}, Signals(), 10, seed=5, first=20)[0]
    np.testing.assert_array_equal(whole_one.returns[20:30], part.returns)
    assert (whole_one.returns[:, 0] == whole_one.score).all()
    mean, reach = whole_one.mean(whole_one.score)
    half = 2.0227 * whole_one.score.std(ddof=1) / np.sqrt(40)
    assert mean == pytest.approx(whole_one.score.mean())
    assert reach.low < mean - half < mean + half < reach.high, "it holds at every look, which Student's does not"


def test_examinations_are_on_seeds_that_training_never_used() -> None:
    config = TrainingConfig(algorithm=PPOConfig(network=SMALL, batch=64, fragment=8), steps=2000, seed=5, episodes=50)
    learner = PPO(Signals().spec.seats[0], config.algorithm, 5, 2000)  # type: ignore[arg-type]
    used: set[int] = set()
    for update in Training(config, Signals(), learner, examined=Signals).run():
        used |= {episode.seed for episode in update.episodes}
    seen: list[int] = []

    class Watched(Signals):
        def reset(self, seeds: Any) -> Any:
            seen.extend(int(s) for s in seeds)
            return super().reset(seeds)

    examine({0: learner.policy()}, Watched(), 50, seed=5)
    assert len(seen) == 50
    assert not used & set(seen)


def test_fragments_side_by_side_are_the_same_fragments() -> None:
    made = sampler(Signals(masked=True), MEMORY, battles=3, length=12)
    parts = [made.one(), made.one()]
    both = join(parts)
    assert both.streams == 6
    np.testing.assert_array_equal(both.rewards[:, 3:], parts[1].rewards)
    np.testing.assert_array_equal(both.initial_state["h"][3:], parts[1].initial_state["h"])
    for (t, b), last in zip(both.final_index, both.final_observations["signal"], strict=True):
        i, place = divmod(int(b), 3)
        k = np.flatnonzero((parts[i].final_index == (t, place)).all(axis=1))
        np.testing.assert_array_equal(parts[i].final_observations["signal"][k[0]], last)
    with pytest.raises(EngineError, match="cannot be joined"):
        join([parts[0], sampler(Signals(), length=5).one()])


def by_coroutines(made: Sampler, fragments: int) -> list[Trajectory]:
    """What training coroutines record of the same battles, seat by seat and battle by battle."""
    mdp, seats = fallers(), range(3)
    seeds = battle_seeds(made.seed, np.array([made.number], np.uint64), 0, made.battles)[0]
    found: dict[tuple[int, int], list[Trajectory]] = {(s, b): [] for s in seats for b in range(made.battles)}
    agent = Agent(made.actor, made.actor.model.spec.seat, memory=made.actor.memory)
    agent.version = made.actor.version
    trainees = {at: Trainee(agent, made.actor.model.spec.seat, made.length, kept.append) for at, kept in found.items()}

    def role(seat: int) -> Any:
        return lambda controller, slot: trainees[seat, slot.place].train(controller, slot)

    driver = Driver(mdp, seeds, {seat: role(seat) for seat in seats})
    while min(len(kept) for kept in found.values()) < fragments:
        driver.round()
    driver.close()
    return [join_in_time(kept) for kept in found.values()]


def join_in_time(fragments: list[Trajectory]) -> Trajectory:
    """One stream's fragments end to end, as far as what a seat decided and what came of it."""
    columns = {f: np.concatenate([getattr(t, f) for t in fragments]) for f in SAID}
    return fragments[0]._replace(**columns)


SAID = ("actions", "rewards", "terminated", "truncated")


@pytest.mark.parametrize("network", [SMALL, MEMORY])
def test_seats_that_die_at_different_ticks_end_there_on_both_paths(network: NetworkConfig) -> None:
    made = sampler(VectorFromMDP(fallers()), network, battles=4, length=5)
    fragments = [made.one() for _ in range(20)]
    fell = len(Fallers.fell)
    played = [np.ones((5, 12), np.bool_) if f.valid is None else f.valid for f in [*fragments, made.one()]]
    valid, after = np.concatenate(played[:-1]), np.concatenate(played)[1:101]
    whole = {name: np.concatenate([getattr(f, name) for f in fragments]) for name in SAID}
    died = whole["terminated"] & valid & ~after
    assert died.sum() == fell > 40
    assert died[4::5].any(), "somebody falls in the last step of a fragment"
    for stream, other in enumerate(by_coroutines(made, 8)):
        for name in SAID:
            mine = whole[name][valid[:, stream], stream]
            theirs = getattr(other, name)[:, 0]
            n = min(len(mine), len(theirs))
            assert n >= 40
            np.testing.assert_array_equal(mine[:n], theirs[:n], f"stream {stream}: {name}")


def test_memory_begins_afresh_after_a_battle_whose_seat_had_gone_out() -> None:
    """Or what a learner recomputes is not what acted."""
    made = sampler(VectorFromMDP(fallers()), MEMORY, battles=6, length=40)
    learner = PPO(made.actor.model.spec.seat, PPOConfig(network=MEMORY), 1, 100)
    learner.start_from(made.actor.model.initial(np.random.default_rng(1)))
    seen = made.one()
    assert seen.valid is not None
    batch, parts = learner.batch(seen), learner.model.network.parts(learner.theta)
    found = forward_all(learner.model, parts, batch)
    log_pi = learner.model.distribution.log_prob(found.policy, None, batch.actions, None)
    np.testing.assert_allclose(log_pi.detach().numpy(), seen.log_probs.ravel(), rtol=1e-4, atol=1e-5)


def test_rewards_are_scaled_by_the_spread_of_their_returns() -> None:
    game = Signals()
    made = sampler(game, battles=8, length=50)
    config = PPOConfig(network=SMALL, scale_rewards=True, discount=0.9, trace=1.0)
    found = []
    for factor in (1.0, 1000.0):
        learner = PPO(game.spec.seats[0], config, 1, 100)
        assert isinstance(learner, ActorCritic)
        made.begin(1)
        seen = made.one()
        seen = seen._replace(rewards=seen.rewards * np.float32(factor))
        answer = forward_all(learner.model, learner.model.network.parts(learner.theta * 0), learner.batch(seen))
        found.append(learner.rewards(seen, answer)[0])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)
    assert 0.05 < found[0].max() < 10


def test_observations_are_scaled_after_learning_so_the_first_ratio_stays_one() -> None:
    game = Signals()
    learner = PPO(game.spec.seats[0], PPOConfig(network=SMALL, batch=400, normalise_observations=True), 1, 10_000)
    made = One(game, {"agent": learner.model}, 8, 50, seed=3)
    made.load(weights(learner.weights(), 0))
    first = made.one()
    learner.update(first)
    signal = first.observations["signal"][:-1].reshape(-1, 3)
    found = learner.scales()["signal"]
    np.testing.assert_allclose(found[0].numpy(), signal.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(found[1].numpy(), signal.std(axis=0), rtol=1e-5)


def test_an_actor_s_decision_is_one_for_each_row() -> None:
    made = sampler(Signals(), MEMORY)
    n = 3
    batch = Batch({"signal": np.zeros((n, 3), np.float32)}, None, np.arange(n, dtype=np.uint64),
                  {"h": np.zeros((n, 4), np.float32), "c": np.zeros((n, 4), np.float32)})  # fmt: skip
    decision = made.actor(batch)
    assert decision.actions.shape == (n,)
    assert decision.log_probs is not None
    assert decision.state["h"].shape == (n, 4)
