"""Settings of learners: what the presets say, ranges for evolution, and what is refused where."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from engine.catalog import LEARNERS
from engine.config import TrainConfig
from engine.config.base import Config, parse
from engine.config.genes import Evolvable, express, genes
from engine.config.rl import (
    PRESETS,
    AnyLearner,
    ConvConfig,
    DQNConfig,
    NetworkConfig,
    PPOConfig,
    RewardConfig,
    TrainingConfig,
)
from engine.errors import ConfigError
from engine.studies import load

# Benchmark, discount, clip, learning rate, batch, reuse, loss weights, layers of the policy and of the critic.
TABLE_3: list[tuple[Any, ...]] = [
    ("pendulum", 0.99, 0.2, 0.01, 8192, 1, (1, 0.5, 0.01), (256, 128), (256, 128, 128, 64)),
    ("image-pong", 0.99, 0.2, 0.01, 8192, 1, (1, 0.5, 0.01), (256,), (256,)),
    ("vector-pong", 0.99, 0.2, (0, 0.1), 8192, 1, (1, (0, 1), 0.01), (256, 128), (256, 128)),
    ("gfootball", 0.993, 0.2, 0.0005, 32768, 2, (1, 0.5, 0.01), (512, 256, 128), (512, 256, 128, 128, 64)),
]


@pytest.mark.parametrize("line", TABLE_3, ids=lambda line: line[0])
def test_table_three_of_the_paper_is_a_preset_with_exactly_its_numbers(line: tuple[Any, ...]) -> None:
    name, discount, clip, rate, batch, reuse, weights, policy, critic = line
    found = PRESETS[f"table3-{name}"]
    assert isinstance(found, PPOConfig)
    assert (found.discount, found.clip, found.rate, found.batch, found.reuse) == (discount, clip, rate, batch, reuse)
    assert (found.policy_weight, found.critic_weight, found.entropy_weight) == weights
    assert (found.network.policy, found.network.critic) == (policy, critic)
    assert found.network.sharing == "top"
    assert found.network.activation == "leaky_relu"
    assert found.normalise_advantages
    assert found.target_kl == 0
    assert found.asynchronous
    convolutions = [(layer.kernel, layer.stride) for layer in found.network.conv]
    assert convolutions == ([(4, 2)] * 4 if name == "image-pong" else [])


def test_only_the_ranges_of_the_table_are_left_to_evolution() -> None:
    ranges = {name: {g.place: (g.low, g.high) for g in genes(preset)} for name, preset in PRESETS.items()}
    assert ranges.pop("table3-vector-pong") == {"rate": (0.0, 0.1), "critic_weight": (0.0, 1.0)}
    assert not any(ranges.values())


def test_a_range_is_settled_by_a_number_inside_its_bounds() -> None:
    preset = PRESETS["table3-vector-pong"]
    found = express(preset, {"rate": 0.002, "critic_weight": 0.5})
    assert isinstance(found, PPOConfig)
    assert (found.rate, found.critic_weight) == (0.002, 0.5)
    nested = PPOConfig(rewards={"gold": RewardConfig(weight=(-1.0, 1.0))})
    assert express(nested, {"rewards.gold.weight": 0.25}).rewards["gold"].weight == 0.25
    for values, place in (({"rate": 0.002}, "critic_weight"), ({"rate": 1, "critic_weight": 1, "clip": 1}, "clip"),
                          ({"rate": 7.0, "critic_weight": 0.5}, "rate")):  # fmt: skip
        with pytest.raises(ConfigError, match=place):
            express(preset, values)


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"algorithm": {"kind": "ppo", "clipp": 0.2}}, "algorithm.clipp"),
        ({"algorithm": {"kind": "ppo", "discount": 1.5}}, "algorithm.discount"),
        ({"algorithm": {"kind": "ppo", "rate": 0}}, "algorithm.rate"),
        ({"algorithm": {"kind": "ppo", "rate": [0.1, 0.01]}}, "algorithm.rate"),
        ({"algorithm": {"kind": "ppo", "rate": float("nan")}}, "algorithm.rate"),
        ({"algorithm": {"kind": "dqn", "clip": 0.2}}, "algorithm.clip"),
        ({"algorithm": {"kind": "sarsa"}}, "algorithm"),
        ({"algorithm": {"kind": "ppo", "network": {"policy": [64], "critic": [32]}}}, "algorithm.network"),
        ({"steps": 0}, "steps"),
        ({"environments": 0}, "environments"),
    ],
)
def test_what_cannot_be_is_an_error_at_its_place(settings: dict[str, Any], place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(TrainingConfig, settings)
    assert any(problem.place.startswith(place) for problem in caught.value.problems), caught.value.problems


@pytest.mark.parametrize(
    "model", [*(entry.config for entry in LEARNERS.values()), NetworkConfig, ConvConfig, RewardConfig]
)
def test_every_number_of_a_learner_may_be_a_range(model: type[Config]) -> None:
    for name, field in model.model_fields.items():
        if field.annotation in (int, float, int | None, float | None):
            assert any(isinstance(mark, Evolvable) for mark in field.metadata), name
            assert genes(parse(model, {name: [0.5, 0.9] if field.annotation is not int else [1, 2]})), name


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_survive_json_and_belong_to_a_learner(preset: str) -> None:
    config: AnyLearner = PRESETS[preset]
    found = TrainingConfig.model_validate_json(TrainingConfig(algorithm=config).model_dump_json())
    assert found.algorithm == config
    assert LEARNERS[config.kind].config is type(config)
    TrainingConfig.model_json_schema()


def test_every_learner_has_words_and_a_class() -> None:
    for kind, entry in LEARNERS.items():
        assert entry.config.model_fields["kind"].default == kind
        assert entry.load().__name__ == entry.config.__name__.removesuffix("Config")
        assert entry.label
        assert entry.explanation.endswith(".")


def test_settings_of_learners_load_no_torch() -> None:
    code = "import sys, engine.config.rl, engine.catalog; print('torch' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
    assert DQNConfig().network.policy == (256, 256)


def test_what_stands_beside_a_preset_changes_that_alone() -> None:
    """As it does on the forms: the other settings of the network stay the preset's."""
    asked = {"kind": "train", "game": "pendulum", "learner": {"preset": "cartpole-ppo", "network": {"log_std": -1}}}
    found = load(asked)
    assert isinstance(found, TrainConfig)
    assert found.learner.network == PRESETS["cartpole-ppo"].network.model_copy(update={"log_std": -1})


@pytest.mark.parametrize(
    ("learner", "place"),
    [
        ({"rewards": {"hit": {"discount": 0.5}}}, "learner.rewards.hit.discount"),
        ({"rewards": {"hit": {"trace": 0.5}}}, "learner.rewards.hit.trace"),
        ({"scale_rewards": True}, "learner.scale_rewards"),
        ({"warmup": 1000}, "learner.warmup"),
        ({"capacity": 100, "fragment": 8}, "learner.capacity"),
    ],
)
def test_what_dqn_would_not_use_or_could_not_keep_is_refused(learner: dict[str, Any], place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load({"kind": "train", "game": "pong", "steps": 1000, "learner": {"kind": "dqn", "warmup": 100, **learner}})
    assert [problem.place for problem in caught.value.problems] == [place]


def test_an_unknown_kind_of_study_is_said_at_its_kind() -> None:
    with pytest.raises(ConfigError, match="kind: its kind must be one of search"):
        load({"kind": "trian"})
