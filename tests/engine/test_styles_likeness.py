"""Whether two agents play one style, on simulated agents: nothing that is called sure is wrong too often."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from engine.means import range_of
from engine.styles.likeness import ALIKE, Likeness, likeness

EPISODES, AGENTS, SEARCHES = 60, 40, 100
MISSES = 12
"""Of a hundred searches, in which something sure may be wrong: 5 are expected at most, and more than 12 come up once in
a thousand times."""
Rng = np.random.Generator
Draw = Callable[[Rng, float, int], np.ndarray]


def even(rng: Rng, mean: float, n: int) -> np.ndarray:
    return np.clip(rng.normal(mean, 0.1, n), 0, 1)


def heavy(rng: Rng, mean: float, n: int) -> np.ndarray:
    """Mostly next to nothing, rarely all that there can be; its mean is exact."""
    least = 0.01
    return np.where(rng.random(n) < (mean - least) / (1 - least), 1.0, least)


def tied(rng: Rng, mean: float, n: int) -> np.ndarray:
    """Whole tenths, most of them equal."""
    whole = np.floor(10 * mean)
    return (whole + (rng.random(n) < 10 * mean - whole)) / 10


def constant(rng: Rng, mean: float, n: int) -> np.ndarray:
    return np.full(n, mean)


DRAWS: tuple[Draw, ...] = (even, heavy, tied, constant)


def measured(rng: Rng, draw: Draw, means: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means and ranges of agents, as a search has them: of a behaviour between 0 and 1."""
    values = [draw(rng, mean, EPISODES) for mean in means.tolist()]
    ends = [range_of(each, 0.0, 1.0) for each in values]
    columns = ([each.mean() for each in values], [each.low for each in ends], [each.high for each in ends])
    mean, low, high = (np.array(column)[:, None] for column in columns)
    return mean, low, high


def verdicts(found: list[Likeness]) -> list[str]:
    return [each.verdict for each in found]


@pytest.mark.parametrize("draw", DRAWS)
def test_agents_of_one_true_style_are_hardly_ever_called_another(draw: Draw) -> None:
    """Compared by their means alone, chance would make others of most of them."""
    rng, missed, alike = np.random.default_rng(1), 0, []
    for _ in range(SEARCHES):
        mean, low, high = measured(rng, draw, np.full(AGENTS, 0.03))
        missed += any("another" in verdicts(likeness(mean, low, high, row)) for row in range(0, AGENTS, 4))
        alike.append(np.mean(np.abs(mean - mean[0]) <= ALIKE * np.ptp(mean)))
    assert missed <= MISSES
    if draw is not constant:
        assert np.mean(alike) < 0.6


@pytest.mark.parametrize("draw", DRAWS)
def test_agents_of_styles_that_truly_differ_are_hardly_ever_called_the_same(draw: Draw) -> None:
    """Each differs from the first by a little more than the limit: by the means alone, some would look the same."""
    rng, missed, looked = np.random.default_rng(2), 0, 0
    true = np.array([0.5, *[0.5 + 1.02 * ALIKE] * (AGENTS - 3), 0.0, 1.0])
    for _ in range(SEARCHES):
        mean, low, high = measured(rng, draw, true[:-2])
        ends = np.array([[0.0], [1.0]])
        columns = (np.concatenate([each, ends]) for each in (mean, low, high))
        found = likeness(*columns, 0)
        missed += "same" in verdicts(found[1:-2])
        looked += any(each.by <= ALIKE + 1e-9 for each in found[1:-2])
    assert missed <= MISSES
    if draw is not constant:
        assert looked > SEARCHES / 2


def test_with_episodes_enough_it_is_told_who_plays_the_same_style_and_who_does_not() -> None:
    mean = np.array([0.3, 0.32, 0.39, 0.5, 0.9])[:, None]
    found = likeness(mean, mean - 0.004, mean + 0.004, 0)
    assert verdicts(found) == ["same", "same", "another", "another", "another"]
    assert found[1].by == pytest.approx(0.02 / 0.6)
    assert found[1].low < found[1].by < found[1].high
    wide = likeness(mean, mean - 0.1, mean + 0.1, 0)
    assert verdicts(wide) == ["same", "open", "open", "open", "another"]


def test_agents_play_one_style_only_if_all_that_they_do_is_alike() -> None:
    mean = np.array([[0.3, 0.3], [0.3, 0.9], [0.9, 0.3], [0.3, 0.31]])
    assert verdicts(likeness(mean, mean - 0.001, mean + 0.001, 0)) == ["same", "another", "another", "same"]


def test_behaviours_in_which_all_do_the_same_or_that_nobody_knows_tell_nothing() -> None:
    same = np.full((3, 1), 0.2)
    assert verdicts(likeness(same, same, same, 0)) == ["same"] * 3
    assert verdicts(likeness(same, same - 0.1, same + 0.1, 0)) == ["same", "open", "open"], "it may be rarely done"
    mean = np.array([[0.2, 0.3], [0.2, 0.3], [0.2, 0.9]])
    assert verdicts(likeness(mean, mean - 0.001, mean + 0.001, 0)) == ["same", "same", "another"]
    rounded = np.array([[0.3], [0.1 + 0.2], [0.3]])
    assert verdicts(likeness(rounded, rounded, rounded, 0)) == ["same"] * 3, "rounding is no behaviour"
    unknown = np.array([[0.2], [0.9], [np.nan]])
    found = likeness(unknown, np.full((3, 1), -np.inf), np.full((3, 1), np.inf), 0)
    assert verdicts(found) == ["same", "open", "open"]
    assert found[2].by == np.inf, "it stands behind all others"
