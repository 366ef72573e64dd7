"""Decisions that a training takes: what is said of it before is what the learner counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.config.whole_updates import learned, most_learned, update_of
from engine.errors import ConfigError
from engine.evorl.evaluator import PlayerEvaluator
from engine.evorl.trainings import opened
from engine.problem import Request
from engine.store import FolderStore
from engine.studies import load
from tests.engine.test_hunt import settings as hunt
from tests.engine.test_styles import settings as styles
from tests.engine.test_styles import task

NETWORK = {"policy": [8], "critic": [8]}
PPO: dict[str, Any] = {"kind": "ppo", "batch": 100, "fragment": 8, "minibatch": 16, "network": NETWORK}
DQN: dict[str, Any] = {"kind": "dqn", "fragment": 8, "warmup": 10, "capacity": 1000, "minibatch": 8,
                       "network": NETWORK}  # fmt: skip


@pytest.mark.parametrize(
    ("learner", "more"),
    [
        (PPO, {"steps": 130, "environments": 4}),
        (PPO, {"steps": 130, "environments": [2, 9]}),
        ({**PPO, "batch": [40, 100], "fragment": [3, 9]}, {"steps": [100, 300], "environments": [2, 9]}),
        (DQN, {"steps": 70, "environments": 4}),
    ],
)
def test_it_is_what_the_learner_counts(learner: dict[str, Any], more: dict[str, Any], tmp_path: Path) -> None:
    config: Any = load({"kind": "evolve", "task": {"game": {"name": "pong", "settings": {"points": 1}},
                        "learner": {**learner, "rate": [0.001, 0.002]}, **more}, "episodes": 2})  # fmt: skip
    players = PlayerEvaluator(config, opened(FolderStore(tmp_path), "study"))
    lengths = players.problem.metrics.index("length")
    for i in range(3):
        genome = players.initialize(np.random.default_rng(i))
        values = dict(zip((g.place for g in players.space.genes), players.space.gene_values(genome), strict=True))
        (answer,) = players.evaluate([Request(i, genome, 0, 2, 3)], lambda: False)
        counted = answer.cost - round(answer.metrics[lengths] * 2)
        assert counted == learned(config.task, values)
        assert counted <= most_learned(config.task)
    players.close()


@pytest.mark.parametrize("more", [{"steps": 130, "environments": 4}, {"steps": 128, "environments": 4}])
def test_a_training_takes_whole_updates(more: dict[str, Any]) -> None:
    plain: Any = load({**styles(), "task": task(**more)})
    assert learned(plain.task) % update_of(plain.task) == 0
    assert 0 <= learned(plain.task) - plain.task.steps < update_of(plain.task)


def test_a_number_that_matters_must_be_known() -> None:
    plain = load({**styles(), "task": task(environments=[2, 4])})
    with pytest.raises(KeyError):
        learned(plain.task)  # type: ignore[attr-defined]
    assert learned(plain.task, {"environments": 2.0}) > 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("study", [styles(), hunt()], ids=["styles", "hunt"])
def test_more_battles_than_a_training_has_decisions_for_are_refused_with_what_to_give(study: dict[str, Any]) -> None:
    many = {**study, "task": {**study["task"], "environments": 100_000}}
    with pytest.raises(ConfigError, match=r"task\.steps: 100,000 battles.*give [\d,]+ or more, or at most \d+ battles"):
        load(many, new=True)
    assert load(many), "what was saved earlier is read as it is"


def test_the_sentence_names_fragments_where_fewer_battles_do_not_help_and_ranges_count_by_their_ends() -> None:
    long = task(steps=64, environments=2, learner={**PPO, "batch": 8, "fragment": 100})
    with pytest.raises(ConfigError, match="fragments of at most 32 decisions"):
        load({**styles(), "task": long}, new=True)
    wide = task(steps=64, environments=[2, 16], learner={**PPO, "batch": 8})
    with pytest.raises(ConfigError, match="16 battles"):
        load({**styles(), "task": wide}, new=True)
    assert load({**styles(), "task": task(steps=64, environments=8, learner={**PPO, "batch": 8})}, new=True)
