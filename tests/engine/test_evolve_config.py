"""Evolution of players as data: ranges are genes wherever they stand, and what cannot be evolved is said in words."""

from __future__ import annotations

from typing import Any

import pytest

from engine.config import EvolveConfig, load
from engine.config.genes import genes
from engine.errors import ConfigError


def settings(**more: Any) -> dict[str, Any]:
    task = {"game": "cartpole", "learner": {"preset": "cartpole-ppo", "rate": [1e-4, 1e-2]}}
    return {"kind": "evolve", "task": task, **more}


def test_every_range_of_the_task_is_a_gene() -> None:
    learner = {"preset": "table3-vector-pong", "rewards": {"reward": {"weight": [0.0, 2.0]}}}
    config = load(settings(task={"game": "pong", "learner": learner}))
    assert isinstance(config, EvolveConfig)
    places = [gene.place for gene in genes(config.task)]
    assert places == ["learner.rate", "learner.rewards.reward.weight", "learner.critic_weight"]
    assert load(config.model_dump(mode="json")) == config


def test_population_based_training_is_what_is_taken_when_nothing_is_said() -> None:
    config = load(settings(algorithm={"population": 6}))
    assert isinstance(config, EvolveConfig)
    assert (config.algorithm.kind, config.algorithm.population) == ("pbt", 6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task": {"game": "pong", "learner": "pong-ppo"}}, "nothing to evolve"),
        ({"networks": "best"}, "population based training hands networks on"),
        ({"task": {**settings()["task"], "steps": 0}}, "0 steps"),
        ({"objectives": [{}, {}]}, "a measure of its own"),
        ({"behaviour": ["length", "length"]}, "twice"),
        ({"algorithm": {"kind": "map-elites"}}, "needs behaviour"),
        ({"objectives": []}, "objectives: must have at least 1"),
        ({"task": {"game": "pong", "learner": {"kind": "ppo", "rate": [0.1, 0.01]}}}, "task.learner.rate"),
        ({"task": {"game": "pong", "learner": "no-such"}}, "task.learner: there is no preset"),
        ({"episodes": 1}, "episodes: must be 2 or more"),
    ],
)
def test_what_cannot_be_evolved_is_said_in_words(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load(settings(**change))
