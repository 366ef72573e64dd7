"""The benchmark of choices with numbers of their own: as many episodes as it says, with the settings of presets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.bench import kept, platform
from engine.config.rl import PRESETS
from engine.errors import EngineError
from engine.games.goal import Goal, kernel
from engine.rl.factory import make_learner
from engine.rl.mixed import MixedReturns


@pytest.mark.parametrize("kind", ["pdqn", "mpdqn"])
def test_a_preset_of_goal_begins_with_a_kick_ahead_of_the_ball_and_shots_a_metre_inside_the_posts(kind: str) -> None:
    game = Goal(x_max=10.0)
    step = game.reset(np.arange(50, dtype=np.uint64))
    made = make_learner(PRESETS[f"goal-{kind}"], game.spec.seats[0], 1, 1000)
    assert isinstance(made, MixedReturns)
    made.theta.data[: made.layer.inner.size] = 0  # what is learned adds nothing
    (name,) = step.observations[0]
    seen = made.model.scaling(made.scales(), {name: torch.from_numpy(step.observations[0][name])})
    unit = made.layer.policy_of(made.theta[: made.layer.size], seen).policy[:, -4:].detach().numpy()
    low, high = game.spec.seats[0].action.bounds
    numbers = (low + high) / 2 + unit * (high - low) / 2
    x, y = game._states[:, kernel.BALL], game._states[:, kernel.BALL + 1]
    np.testing.assert_allclose(numbers[:, 0], x + 2.5, atol=1e-4)
    np.testing.assert_allclose(numbers[:, 1], y * 5 / 6, atol=1e-4)
    np.testing.assert_allclose(numbers[:, 2:], [[kernel.POST - 1, 1 - kernel.POST]] * 50, atol=1e-4)


@pytest.mark.parametrize("case", platform.CASES)
def test_training_goes_on_until_all_episodes_are_over_however_long_they_are(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "FRESH", 20)
    monkeypatch.setattr(platform, "MEAN", {case: 0.1})
    found = platform.trained(case, "mpdqn", 1, 40)
    assert found["episodes"] >= 40
    assert found["steps"] > 4, "more than was planned"


def test_fewer_episodes_than_were_asked_for_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform.Training, "run", lambda training: iter(()))
    with pytest.raises(EngineError, match="Of 40 episodes of goal only 0 were over after 4,000 decisions"):
        platform.trained("goal", "mpdqn", 1, 40)


def test_a_row_says_how_many_episodes_were_played(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kept, "FOLDER", tmp_path)
    played = {"value": 0.5, "low": 0.4, "high": 0.6, "steps": 64_000, "episodes": 20_003, "seconds": 9.0}
    monkeypatch.setattr(platform, "trained", lambda *_: played)
    told: dict[str, Any] = platform._row("goal", "mpdqn", 0.789, (1, 2), 20_000)
    assert "1: 0.5000 (0.400 to 0.600; 20,003 episodes, 64,000 decisions, 9 s)" in told["detail"]
    assert "20,000" not in told["detail"]
