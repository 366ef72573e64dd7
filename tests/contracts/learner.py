"""What every learner promises; each learner's test class inherits these tests and says how it is configured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.arrays import pack, unpack
from engine.catalog import LEARNERS
from engine.channel import Weights
from engine.config.rl import AnyLearner, RewardConfig, TrainingConfig
from engine.errors import ConfigError, EngineError
from engine.mdp.interface import ActionSpec, Continuous, Discrete, Hybrid, Parameterised
from engine.mdp.trajectory import Trajectory
from engine.rl.factory import learner_class
from engine.rl.learner import Learner
from engine.rl.policy import Policy
from engine.rl.training import Training, Updated
from tests.engine.rl_game import K, Signals

STEPS = 3000


def learner(config: AnyLearner, game: Signals, seed: int = 1, steps: int = STEPS) -> Learner:
    """A learner for a game's seat, made as the engine makes it."""
    made: Learner = LEARNERS[config.kind].load()(game.spec.seats[0], config, seed, steps)
    return made


def training(
    config: AnyLearner, game: Callable[[], Signals], seed: int = 1, steps: int = STEPS, every: int = 0
) -> Training:
    """A run on 8 battles."""
    plan = TrainingConfig(
        algorithm=config, steps=steps, environments=8, seed=seed, checkpoint_every=every, episodes=200
    )
    return Training(plan, game(), learner(config, game(), seed, steps), examined=game)


def fingerprint(run: Training) -> bytes:
    """The whole state as bytes: equal only when everything is equal."""
    return pack(*reversed(run.state()))


def written(made: Learner) -> list[bytes]:
    """All of a learner's state."""
    return [pack(part.meta, part.arrays) for part in made.state().values()]


def curve(run: Training) -> list[Any]:
    """What a run says while it trains."""
    return told(run.run())


def told(updates: Iterable[Updated]) -> list[Any]:
    """What they say, to be compared."""
    return [(u.steps, u.version, u.metrics, [e.seed for e in u.episodes]) for u in updates]


class LearnerContract(ABC):
    """Inherit, and say how the learner is configured."""

    action: ClassVar[ActionSpec] = Discrete(K)
    """One that the learner can do."""

    @abstractmethod
    def config(self, **changes: Any) -> AnyLearner:
        """Settings that learn ``Signals`` within 3,000 steps."""

    def game(self, *, masked: bool = False, image: bool = False) -> Signals:
        """A game in which it can act."""
        return Signals(self.action, masked=masked, image=image)

    def trajectory(self, config: AnyLearner, game: Signals | None = None) -> Trajectory:
        run = training(config, lambda: game or self.game())
        run.sampler.load(Weights("agent", 0, 0, 0, run.learner.publish()))
        return run.sampler.sample()["agent"]

    def test_it_learns_to_do_what_the_signal_says(self) -> None:
        *_, last = training(self.config(), self.game).run()
        assert last.examination is not None
        found = last.examination
        assert found.returns[:, 0].sum() / found.lengths.sum() > 0.9

    def test_the_same_seed_trains_bit_for_bit_the_same(self) -> None:
        one, two = (training(self.config(), self.game, seed=5, steps=600) for _ in range(2))
        assert curve(one) == curve(two)
        assert fingerprint(one) == fingerprint(two)

    def test_another_seed_trains_something_else(self) -> None:
        one, two = (training(self.config(), self.game, seed=seed, steps=500) for seed in (1, 2))
        curve(one), curve(two)
        assert not np.array_equal(one.learner.weights(), two.learner.weights())

    def test_a_run_that_goes_on_from_a_checkpoint_is_the_run_that_was_never_interrupted(self) -> None:
        every, steps = 400, 1000
        config = self.config(normalise_observations=True, schedule="linear")
        whole = training(config, self.game, steps=steps, every=every)
        updates = whole.run()
        begun = next(update for update in updates if whole.beginning == 1)
        saved = unpack(pack(*reversed(whole.state())))
        expected = told(updates)
        resumed = training(config, self.game, steps=steps, every=every)
        resumed.load(saved.arrays, saved.meta)
        assert begun.steps < steps
        assert curve(resumed) == expected
        assert fingerprint(resumed) == fingerprint(whole)

    def test_synchronous_training_has_a_staleness_of_exactly_one(self) -> None:
        for update in training(self.config(), self.game, steps=600).run():
            assert update.metrics["staleness_mean"] == update.metrics["staleness_max"] == 1.0

    def test_it_publishes_the_vectors_that_it_names_and_samplers_play_with_the_first(self) -> None:
        config = self.config()
        made, named = learner(config, self.game()), learner_class(config).vectors
        made.update(self.trajectory(config))
        found = made.publish()
        assert tuple(found) == named
        assert named[0] == "actor"
        np.testing.assert_array_equal(found["actor"], made.weights())
        found["actor"] += 1
        assert not np.array_equal(found["actor"], made.weights()), "they are copies"

    def test_where_a_head_explores_by_a_number_it_travels_with_the_weights(self) -> None:
        config = self.config()
        made: Any = learner(config, self.game())
        made.update(self.trajectory(config))
        n = made.model.network.size + made.model.scaling.size
        assert [*made.weights()[n:]] == ([np.float32(made.epsilon)] if made.model.head.explores else [])

    def test_staleness_is_how_many_versions_lie_between_acting_and_learning(self) -> None:
        config = self.config()
        made, seen = learner(config, self.game()), self.trajectory(config)
        made.update(seen)
        metrics = made.update(seen)
        assert metrics["staleness_mean"] == 2.0
        assert made.version == 2
        assert made.steps == 2 * seen.steps

    def test_what_came_over_the_wire_teaches_the_same(self) -> None:
        config = self.config()
        seen = self.trajectory(config, self.game(masked=True))
        one, two = learner(config, self.game(masked=True)), learner(config, self.game(masked=True))
        one.update(seen)
        two.update(Trajectory.decode([bytes(frame) for frame in seen.encode()])[0])
        np.testing.assert_array_equal(one.weights(), two.weights())

    def test_the_policy_on_disk_plays_as_the_learner_s(self) -> None:
        run = training(self.config(normalise_observations=True), self.game, steps=500)
        curve(run)
        policy = run.learner.policy()
        again = Policy.unpack(*policy.pack())
        np.testing.assert_array_equal(again.weights, run.learner.weights())
        assert again.spec == policy.spec
        assert again.version == run.learner.version

    def test_masks_and_several_inputs_are_learned_from(self) -> None:
        config = self.config()

        def seeing() -> Signals:
            return self.game(masked=True, image=True)

        run = training(config, seeing, steps=500)
        for update in run.run():
            assert np.isfinite(list(update.metrics.values())).all()

    def test_every_kind_of_action_is_learned_from_or_refused(self) -> None:
        line, able = Continuous((-2.0,), (2.0,), (1,)), self.config().actions
        for action in (Discrete(K), line, Hybrid((Discrete(K), line)), Parameterised((1, 0, 2))):
            game = Signals(action)
            if action.kind not in able:
                with pytest.raises(ConfigError, match=r"kind: .* needs .* as action, and here it is"):
                    learner(self.config(), game)
                continue
            made = learner(self.config(), game)
            metrics = made.update(self.trajectory(self.config(), game))
            assert np.isfinite(list(metrics.values())).all()

    def test_transitions_of_seats_that_are_out_are_not_learned_from(self) -> None:
        config = self.config()
        seen = self.trajectory(config)
        valid = np.ones(seen.rewards.shape[:2], np.bool_)
        valid[:, 0] = False
        rewards = seen.rewards.copy()
        rewards[:, 0] = 1000.0
        one, two = learner(config, self.game()), learner(config, self.game())
        one.update(seen._replace(valid=valid))
        two.update(seen._replace(valid=valid, rewards=rewards))
        np.testing.assert_array_equal(one.weights(), two.weights())
        assert one.steps == seen.steps - len(valid)

    @given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.0, 0.02, 0.3, 0.9, 1.0]), streams=st.booleans())
    @settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
    def test_whichever_decisions_count_the_numbers_stay_finite(self, seed: int, share: float, streams: bool) -> None:
        replayed = "transitions" in learner_class(self.config()).takes
        config = self.config() if replayed else self.config(scale_rewards=True, normalise_observations=True)
        made, seen = learner(config, self.game()), self.trajectory(config)
        rng = np.random.default_rng(seed)
        for _ in range(3):
            drawn = rng.random(seen.rewards.shape[1] if streams else seen.rewards.shape[:2]) < share
            valid = np.broadcast_to(drawn, seen.rewards.shape[:2]).copy()
            metrics = made.update(seen._replace(valid=valid, log_probs=np.where(valid, seen.log_probs, -200)))
            assert np.isfinite(list(metrics.values())).all()
            arrays = [array for part in made.state().values() for array in part.arrays.values()]
            assert all(np.isfinite(array).all() for array in arrays if array.dtype.kind == "f")

    def test_a_batch_in_which_no_decision_counts_changes_nothing_but_the_version(self) -> None:
        config = self.config()
        one, two, seen = learner(config, self.game()), learner(config, self.game()), self.trajectory(config)
        nothing = seen._replace(valid=np.zeros(seen.rewards.shape[:2], np.bool_))
        for made in (one, two):
            made.update(seen)
        metrics = one.update(nothing)
        assert np.isfinite(list(metrics.values())).all()
        assert (one.version, one.steps) == (2, two.steps)
        one.version = two.version
        assert written(one) == written(two)
        one.update(seen)
        two.update(seen)
        np.testing.assert_array_equal(one.weights(), two.weights())

    def test_a_gradient_that_is_not_finite_ends_training_and_leaves_the_weights(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        config = self.config()
        run = training(config, self.game)
        made: Any = run.learner
        original = made.descend

        def broken(loss: Any, *of: Any) -> Any:
            found = original(loss, *of)
            found[0] = float("inf")
            return found

        monkeypatch.setattr(made, "descend", broken)
        before = made.weights()
        with pytest.raises(EngineError, match="gradient is not a number"):
            curve(run)
        np.testing.assert_array_equal(made.weights()[:-1], before[:-1])

    def test_a_reward_the_game_does_not_give_is_an_error_at_its_place(self) -> None:
        with pytest.raises(ConfigError, match=r"rewards\.gold"):
            learner(self.config(rewards={"gold": RewardConfig()}), self.game())

    def test_a_setting_left_to_evolution_must_be_settled_first(self) -> None:
        with pytest.raises(ConfigError, match=r"rate.*range"):
            learner(self.config(rate=(0.0, 0.1)), self.game())

    def test_numbers_that_are_no_longer_finite_end_training_with_words(self) -> None:
        config = self.config()
        seen = self.trajectory(config)
        rewards = seen.rewards.copy()
        rewards[0, 0] = np.nan
        made = learner(config, self.game())
        with pytest.raises(EngineError, match="smaller learning rate"):
            self._repeat(made, seen._replace(rewards=rewards))

    @staticmethod
    def _repeat(made: Learner, seen: Trajectory) -> None:
        for _ in range(60):
            made.update(seen)
