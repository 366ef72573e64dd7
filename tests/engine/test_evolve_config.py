"""Evolution of players as data: ranges are genes wherever they stand, and what cannot be evolved is said in words."""

from __future__ import annotations

from typing import Any

import pytest

from engine.config import EvolveConfig, load
from engine.config.genes import express, genes
from engine.errors import ConfigError


def settings(**more: Any) -> dict[str, Any]:
    task = {"game": "cartpole", "learner": {"preset": "cartpole-ppo", "rate": [1e-4, 1e-2]}}
    return {"kind": "evolve", "task": task, **more}


WIDE = {"kind": "ppo", "network": {"policy": [[8, 64]], "critic": [[8, 64]]}}


def test_every_range_of_the_task_is_a_gene() -> None:
    learner = {"preset": "table3-vector-pong", "rewards": {"reward": {"weight": [0.0, 2.0]}}}
    config = load(settings(task={"game": "pong", "learner": learner}))
    assert isinstance(config, EvolveConfig)
    places = [gene.place for gene in genes(config.task)]
    assert places == ["learner.rate", "learner.rewards.reward.weight", "learner.critic_weight"]
    assert load(config.model_dump(mode="json")) == config


def test_layers_are_genes_and_what_critic_and_policy_share_is_one() -> None:
    network = {"policy": [[8, 64], 32], "critic": [[8, 64], 32, [4, 16, "log"]], "lstm": [0, 8], "log_std": [-2, 0]}
    conv = [{"channels": [8, 32], "kernel": [2, 4], "stride": 2}]
    learner = {"kind": "ppo", "network": {**network, "conv": conv}}
    config = load(settings(task={"game": "image-pong", "learner": learner}, algorithm={"kind": "ga"}))
    assert isinstance(config, EvolveConfig)
    found = {gene.place.removeprefix("learner.network."): gene for gene in genes(config.task)}
    assert list(found) == ["conv.0.channels", "conv.0.kernel", "policy.0", "critic.2", "lstm", "log_std"]
    assert load(config.model_dump(mode="json")) == config
    values = {gene.place: gene.high for gene in found.values()}
    made = express(config.task, values).learner.network
    assert (made.policy, made.critic, made.lstm, made.log_std) == ((64, 32), (64, 32, 16), 8, 0)
    assert (made.conv[0].channels, made.conv[0].kernel, made.conv[0].stride) == (32, 4, 2)
    apart = {**network, "sharing": "separate", "lstm": 0}
    alone = load(settings(task={"game": "pong", "learner": {**learner, "network": apart}}, algorithm={"kind": "ga"}))
    assert isinstance(alone, EvolveConfig)
    assert sum(gene.path[2] in ("policy", "critic") for gene in genes(alone.task)) == 3


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
        ({"task": {"game": "pong", "learner": WIDE}}, "task.learner.network.policy.0: candidates hand this on"),
        (
            {"task": {"game": "pong", "learner": WIDE}, "algorithm": {"kind": "ga"}, "networks": "best"},
            "task.learner.network.policy.0: .* set networks to fresh",
        ),
        ({"task": {"game": "pong", "learner": {"kind": "dqn", "capacity": [9, 99]}}}, "task.learner.capacity: cand"),
        ({"task": {**settings()["task"], "game": {"name": "pong", "settings": {"points": [1, 5]}}}}, "game's own"),
    ],
)
def test_what_cannot_be_evolved_is_said_in_words(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load(settings(**change))
