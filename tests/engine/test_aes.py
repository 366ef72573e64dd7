"""AES-RL's search distribution: its rules by hand, and what they hold to over thousands of individuals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from engine.config.aes_rules import (
    AbsoluteConfig,
    AdaptiveConfig,
    ConstantConfig,
    ElitesConfig,
    FixedConfig,
    FullMoveConfig,
    LinearConfig,
    OldestConfig,
    RelativeConfig,
    SigmoidConfig,
    SuccessConfig,
)
from engine.evorl.aes import AES, RATIOS, Running, p_rl

RULES: dict[str, Any] = {
    "linear": LinearConfig(range=2000),
    "sigmoid": SigmoidConfig(range=2000),
    "sigmoid of the code": SigmoidConfig(range=2000, reading="code"),
    "absolute": AbsoluteConfig(baseline=-2000),
    "relative": RelativeConfig(baseline=2000),
    "full move": FullMoveConfig(),
}
F_Z = (4000, 5000, 6000, 7000, 8000, 12000)
TABLE = {
    "linear": (0, 0, 0, 0.5, 1, 1),
    "sigmoid": (0, 0, 0, 0.622, 0.731, 0.953),
    "sigmoid of the code": (0.269, 0.378, 0.5, 0.622, 0.731, 0.953),
    "absolute": (0.429, 0.467, 0.5, 0.529, 0.556, 0.636),
    "relative": (0, 0.333, 0.5, 0.6, 0.667, 0.8),
    "full move": (0, 0, 0, 1, 1, 1),
}
"""p for f(μ) = 6000 and r = |f_b| = 2000, worked by hand."""


def ratio(rule: Any, f_z: float, f_mu: float) -> float:
    return RATIOS[type(rule)](rule, f_z, f_mu)


@pytest.mark.parametrize("rule", TABLE)
def test_a_rule_moves_the_mean_as_far_as_by_hand(rule: str) -> None:
    assert_allclose([ratio(RULES[rule], f_z, 6000) for f_z in F_Z], TABLE[rule], atol=5e-4)


def test_a_mean_may_step_back_from_what_is_worse() -> None:
    assert ratio(LinearConfig(range=2000, backward=0.5), 5000, 6000) == -0.25
    assert ratio(LinearConfig(range=2000, backward=0.5), -9000, 6000) == -0.5
    assert ratio(RelativeConfig(baseline=2000, backward=0.5), 3500, 6000) == pytest.approx(0.5 * -500 / 1500)
    assert ratio(RelativeConfig(baseline=2000, backward=0.5), 1999, 6000) == 0  # beyond the paper's cut


def test_a_sigmoid_that_does_not_leave_out_what_is_worse_steps_to_it() -> None:
    assert ratio(SigmoidConfig(range=2000), 5000, 6000) == 0
    assert ratio(SigmoidConfig(range=2000, backward=1.0), 5000, 6000) == pytest.approx(1 / (1 + math.exp(0.5)))


def test_below_an_absolute_baseline_an_individual_counts_for_nothing_and_a_mean_gives_way() -> None:
    rule = AbsoluteConfig(baseline=-100)
    assert ratio(rule, -150, 50) == 0
    assert ratio(rule, -50, -150) == 1
    assert ratio(rule, -150, -150) == 0


def test_no_score_is_too_low_for_the_sigmoid() -> None:
    assert ratio(SigmoidConfig(range=1e-3, reading="code"), -1e9, 1e9) == pytest.approx(0, abs=1e-300)


def test_the_newest_individual_replaces_the_oldest_and_the_better_half_draws_the_mean_by_one_nth() -> None:
    search = AES(np.zeros(1), 1.0, OldestConfig(), ConstantConfig(), n=4)
    for z, f in ((1.0, 5.0), (2.0, 1.0), (3.0, 3.0), (4.0, 2.0)):
        search.update(np.array([z]), f, 0.0)
    mu = float(search.mu[0])
    p = search.update(np.array([5.0]), 4.0, 0.0)  # the best one, 1, is the oldest and leaves
    first, second = np.log(3) / np.log(4.5), np.log(1.5) / np.log(4.5)  # λ of 2 elites: log 3/1 and log 3/2, normed
    assert_allclose(search.mu, mu + (first * 5 + second * 3 - mu) / 4)
    assert p == pytest.approx(first / 4)
    assert search.update(np.array([6.0]), -1.0, 0.0) == 0  # not among the better half


def test_a_mean_that_follows_the_oldest_does_not_shrink_to_the_origin() -> None:
    search, z = AES(np.full(3, 7.0), 1.0, OldestConfig(), ConstantConfig()), np.full(3, 7.0)
    for _ in range(50):
        search.update(z, 1.0, 1.0)
    assert_allclose(search.mu, 7.0)


def test_online_variances_are_those_by_hand() -> None:
    z = np.array([3.0, 0.0])
    fixed = AES(np.array([1.0, 1.0]), 2.0, LinearConfig(range=4), FixedConfig(n=10, epsilon=0))
    assert fixed.update(z, 1.0, 0.0) == 0.25  # μ' = (1.5, 0.75), (z − μ)(z − μ') = (3, 0.75)
    assert_allclose(fixed.sigma2, [2 + (3 - 2) / 10, 2 + (0.75 - 2) / 10])
    adaptive = AES(np.array([1.0, 1.0]), 2.0, LinearConfig(range=4), AdaptiveConfig(epsilon=0))
    adaptive.update(z, 1.0, 0.0)  # n = .75 / .25 = 3
    assert_allclose(adaptive.sigma2, [2 + (3 - 2) / 3, 2 + (0.75 - 2) / 3])
    adaptive.update(z, -1.0, 0.0)  # p = 0: it stays
    assert_allclose(adaptive.sigma2, [2 + (3 - 2) / 3, 2 + (0.75 - 2) / 3])
    replaced = AES(np.array([1.0, 1.0]), 2.0, FullMoveConfig(), AdaptiveConfig(epsilon=0.5, least=1))
    replaced.update(z, 1.0, 0.0)  # n = 1, and μ' = z leaves nothing but ε
    assert_allclose(replaced.sigma2, 0.5)
    halved = AES(np.array([1.0, 1.0]), 2.0, FullMoveConfig(), AdaptiveConfig(epsilon=0.5))
    halved.update(z, 1.0, 0.0)  # n = 2
    assert_allclose(halved.sigma2, 1.5)


def test_one_success_in_five_keeps_the_variance() -> None:
    search = AES(np.zeros(2), 1.0, FullMoveConfig(), SuccessConfig(history=5, factor=0.5))
    found = []
    for success in (True, False, False, False, False, True, True, False, False, False, False):
        search.update(np.zeros(2), float(success), 0.5)
        found.append(float(search.sigma2[0]))
    #  full after five: 1 in 5, 1, 2, 2, 2, 2, 1
    assert found == [1, 1, 1, 1, 1, 1, 2, 4, 8, 16, 16]


def test_failures_narrow_the_variance_to_its_floor_and_one_success_in_five_leaves_it() -> None:
    search = AES(np.zeros(2), 1e-3, FullMoveConfig(), SuccessConfig())
    for _ in range(109):
        search.update(np.ones(2), 0.0, 1.0)
    assert_allclose(search.sigma2, 1e-3 * 0.99**100)
    for _ in range(1000):
        search.update(np.ones(2), 0.0, 1.0)
    assert_allclose(search.sigma2, 1e-5, rtol=0)
    same = AES(np.zeros(2), 1e-3, FullMoveConfig(), SuccessConfig())
    for i in range(2000):
        same.update(np.zeros(2), float(i % 5 == 0), 0.5)
    assert_allclose(same.sigma2, 1e-3, rtol=0)


def test_the_variance_of_elites_moves_to_their_squares_by_one_nth() -> None:
    search = AES(np.zeros(1), 1.0, OldestConfig(), ElitesConfig(epsilon=0), n=4)
    search.update(np.array([3.0]), 1.0, 0.0)
    assert_allclose(search.sigma2, 1 + (9 - 1) / 4)


def sphere(
    variance: Any, individuals: int, mean: Any = None, d: int = 100, luck: float = 0.05
) -> tuple[AES, float, NDArray[np.float64]]:
    """A search on a noisy sphere in ``d`` dimensions, its least variance meanwhile, and variances [k, d] of its second
    half."""
    rng, kept = np.random.default_rng(1), []
    search, least = AES(np.full(d, 0.3), 1e-3, mean or RelativeConfig(baseline=0.1), variance), math.inf
    for i in range(individuals):
        z = search.sample(rng)
        f_z, f_mu = (-float(x @ x) + luck * rng.standard_normal() for x in (z, search.mu))
        search.update(z, f_z, f_mu)
        least = min(least, float(search.sigma2.min()))
        if 2 * i >= individuals and i % 10 == 0:
            kept.append(search.sigma2)
    return search, least, np.array(kept)


def test_a_first_variance_below_the_floor_is_on_it_from_the_beginning() -> None:
    search = AES(np.zeros(4), 1e-9, RelativeConfig(baseline=10.0), SuccessConfig(floor=1e-5), 10)
    assert (search.sigma2 == 1e-5).all()
    search.update(np.ones(4), 1.0, 0.0)
    assert (search.sigma2 >= 1e-5).all()
    assert (AES(np.zeros(4), 1e-9, RelativeConfig(baseline=10.0), ConstantConfig(), 10).sigma2 == 1e-9).all()


@pytest.mark.parametrize("variance", [AdaptiveConfig(epsilon=0), FixedConfig(epsilon=0, n=2)])
def test_ten_thousand_updates_leave_no_variance_below_the_floor_that_nothing_else_keeps_up(variance: Any) -> None:
    search, least, _ = sphere(variance, 10_000)
    assert least == 1e-5
    assert (search.sigma2 <= 100).all()


@pytest.mark.parametrize(
    ("mean", "variance"),
    [(FullMoveConfig(), SuccessConfig(factor=0.8)), (LinearConfig(range=0.1, backward=1.0), FixedConfig(n=2))],
    ids=["successes", "fixed"],
)
def test_where_nothing_is_selected_no_variance_grows_beyond_what_weights_can_have(mean: Any, variance: Any) -> None:
    search, rng = AES(np.zeros(50), 1e-3, mean, variance), np.random.default_rng(2)
    for _ in range(10_000):
        search.update(search.sample(rng), float(rng.standard_normal()), 0.0)
    assert search.sigma2.max() <= 100
    assert np.isfinite(search.mu).all()


def test_ten_thousand_updates_leave_few_variances_on_the_least_that_what_is_added_keeps() -> None:
    search, least, kept = sphere(AdaptiveConfig(), 10_000)
    assert least >= 1e-5
    assert (kept <= 1.1 * search.least).mean() < 0.1
    assert -(search.mu @ search.mu) > -5  # it began at -9


MEANS = (
    RelativeConfig(baseline=0.1), LinearConfig(range=0.1), SigmoidConfig(range=0.1),
    SigmoidConfig(range=0.1, reading="code"), AbsoluteConfig(baseline=-20.0),
)  # fmt: skip


@pytest.mark.parametrize("d", [5, 300])
@pytest.mark.parametrize("variance", [AdaptiveConfig(), FixedConfig()], ids=lambda rule: rule.kind)
@pytest.mark.parametrize("mean", MEANS, ids=lambda rule: f"{rule.kind}-{getattr(rule, 'reading', '')}")
def test_few_variances_sit_on_their_least_whatever_the_rule_of_the_mean(mean: Any, variance: Any, d: int) -> None:
    search, least, kept = sphere(variance, 2000, mean, d)
    assert least >= 1e-5
    assert (kept <= 1.1 * search.least).mean() < 0.1


def test_without_what_is_added_most_variances_end_on_the_floor() -> None:
    search, least, _ = sphere(AdaptiveConfig(epsilon=0, least=1), 1000)
    assert least == 1e-5
    assert (search.sigma2 <= 1.001e-5).mean() > 0.5


@pytest.mark.parametrize("desired", [0.1, 0.5, 0.9])
def test_the_share_of_learning_individuals_is_kept(desired: float) -> None:
    rng, n = np.random.default_rng(7), [0, 0]
    for _ in range(200):
        n[rng.random() < p_rl(n[1], n[0], desired, 50)] += 1
    assert abs(n[1] / 200 - desired) < 0.02


def test_the_controller_is_equation_3() -> None:
    assert p_rl(0, 0, 0.3, 50) == 0.5
    assert p_rl(51, 49, 0.5, 50) == pytest.approx(0)
    assert p_rl(501, 499, 0.5, 50) == pytest.approx(0.45)
    assert p_rl(40, 60, 0.5, 50) == 1


def test_the_running_estimate_is_a_mean_at_first_moves_with_the_mean_and_then_forgets() -> None:
    f = Running()
    for value in (3.0, 3.0, 3.0):
        f.returned(value)
    f.moved(0.5, 5.0, 5.0)  # no luck has shown in episodes of the mean: the difference is real
    assert f.f == pytest.approx(4.0)
    for value in (4.0, 4.0, 9.0):
        f.returned(value)
    assert f.f == pytest.approx(5.0)
    g = Running()
    for value in (1.0, 2.0, 6.0):
        g.returned(value)
    assert g.f == pytest.approx(3.0)
    assert g.noise == pytest.approx((1 / 2 * 1 + 2 / 3 * 4.5**2) / 2)
    again = Running()
    again.load(g.state())
    again.moved(1.0, 4.0, 9.0)
    g.moved(1.0, 4.0, 9.0)
    assert again.f == g.f == pytest.approx(3 + (1 - g.noise / 36))


LUCK: dict[str, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "heavy": lambda rng, n: rng.standard_t(3, n) / math.sqrt(3),
    "one in 20 pays": lambda rng, n: paid(rng, n, 0.05),
    "3 in 1,000 pay": lambda rng, n: paid(rng, n, 0.003),
    "one in 20 costs": lambda rng, n: -paid(rng, n, 0.05),
}
"""Returns of mean 0 and variance 1."""
BACK = (LinearConfig(range=3.0, backward=1.0), RelativeConfig(baseline=3.0, backward=1.0))
EVERY_RULE = (FullMoveConfig(), *MEANS, AbsoluteConfig(baseline=-5.0), OldestConfig())


def paid(rng: np.random.Generator, n: int, share: float) -> NDArray[np.float64]:
    """As much to ``share`` of the episodes, nothing to others."""
    return np.asarray(((rng.random(n) < share) - share) / math.sqrt(share * (1 - share)))


def followed(rule: Any, mine: NDArray[np.float64], theirs: NDArray[np.float64], f_mu: NDArray[np.float64]) -> float:
    """How far the running estimate is above f(μ), which changes as given, on average: of five episodes the first is of
    the mean, with luck as in ``mine``, the others are of individuals, with luck as in ``theirs``."""
    search, f, above = AES(np.zeros(1), 1.0, rule, ConstantConfig()), Running(), []
    for i, (own, other, now) in enumerate(zip(mine.tolist(), theirs.tolist(), f_mu.tolist(), strict=True)):
        if i < 5 or i % 5 == 0:
            f.returned(now + own)
        else:
            search.update(np.zeros(1), now + other, f.f)
            f.moved(*search.towards, now + other)
        above.append(f.f - now)
    return float(np.mean(above))


@pytest.mark.parametrize("luck", LUCK)
@pytest.mark.parametrize("rule", EVERY_RULE, ids=lambda rule: f"{rule.kind}-{getattr(rule, 'baseline', '')}")
def test_where_all_are_equally_good_the_luck_of_individuals_hardly_raises_the_estimate(rule: Any, luck: str) -> None:
    drawn = LUCK[luck](np.random.default_rng(3), 20_000)
    assert -0.1 < followed(rule, drawn, drawn, np.zeros(20_000)) < 0.65, "1 to 1.3 if every difference were real"


@pytest.mark.parametrize("rule", BACK, ids=lambda rule: rule.kind)
def test_a_mean_that_also_steps_away_from_what_is_worse_has_an_estimate_that_stays_one(rule: Any) -> None:
    drawn = np.random.default_rng(4).standard_normal((2, 20_000))
    assert -0.5 < followed(rule, drawn[0], drawn[1], np.zeros(20_000)) < 1


@pytest.mark.parametrize("rule", [FullMoveConfig(), RelativeConfig(baseline=3.0)], ids=lambda rule: rule.kind)
def test_where_individuals_scatter_twice_as_much_or_the_mean_improves_the_estimate_is_off_as_its_docstring_says(
    rule: Any,
) -> None:
    drawn, still = np.random.default_rng(3).standard_normal(20_000), np.zeros(20_000)
    assert 0.8 < followed(rule, drawn, 2 * drawn, still) < 1.75
    assert -4 < followed(rule, drawn, drawn, 0.2 * np.arange(20_000)) < -2.5


def test_with_the_oldest_rule_the_estimate_moves_as_the_mean_does() -> None:
    search = AES(np.zeros(1), 1.0, OldestConfig(), ConstantConfig(), n=4)
    for z, f in ((1.0, 4.0), (2.0, 8.0), (3.0, 1.0)):
        search.update(np.array([z]), f, 0.0)
    assert search.towards == (0.25, pytest.approx(8.0)), "of three the best one; the newest is none"
    search.update(np.array([4.0]), 2.0, 0.0)
    first, second = math.log(3), math.log(1.5)
    assert search.towards == (0.25, pytest.approx((8 * first + 4 * second) / (first + second)))


def test_a_search_goes_on_from_its_state() -> None:
    rng = np.random.default_rng(3)
    made = [AES(np.zeros(4), 0.1, OldestConfig(), rule, n=4) for rule in (ElitesConfig(), ElitesConfig())]
    for i in range(12):
        if i == 6:
            made[1] = AES(np.zeros(4), 0.1, OldestConfig(), ElitesConfig(), n=4)
            made[1].load(made[0].state())
        z, f = rng.standard_normal(4), float(rng.standard_normal())
        assert len({search.update(z, f, 0.0) for search in made}) == 1
    assert_allclose(made[0].sigma2, made[1].sigma2, rtol=0)


@pytest.mark.parametrize("rule", [AbsoluteConfig(baseline=-5.0), RelativeConfig(baseline=2.0), LinearConfig(range=2.0)])
def test_scores_at_the_ends_of_what_a_number_can_be_move_the_mean_by_a_number(rule: Any) -> None:
    ratio = RATIOS[type(rule)]
    for f_z, f_mu in ((1e308, -1e308), (-1e308, 1e308), (1e308, 1e308), (1e308, 0.0)):
        assert 0 <= ratio(rule, f_z, f_mu) <= 1, (f_z, f_mu)
    assert ratio(rule, 1e308, -1e308) == 1
    assert ratio(rule, -1e308, 1e308) == 0
