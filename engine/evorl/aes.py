"""The search distribution of AES-RL (Lee, Lee, Shin, Kweon, NeurIPS 2020, "An efficient asynchronous method for
integrating evolutionary and gradient-based policy search"), in the paper's symbols.

Individuals z ~ N(μ, diag σ²) come back one at a time with their fitness f(z), and each moves the distribution at once.

=================  ================================================================================  ==========
rule of the mean   update ratio p in μ' = (1 − p) μ + p z (eq. 4)
=================  ================================================================================  ==========
full move          1 if f(μ) < f(z), else 0: the (1+1)-ES                                            eq. 5
linear             p_sg clip((f(z) − f(μ)) / r, −1, 1)                                               eq. 6, 7
sigmoid            p_sg / (1 + exp(−(f(z) − f(μ)) / r))                                              eq. 8
absolute baseline  (f(z) − f_b) / [(f(μ) − f_b) + (f(z) − f_b)], within 0 and 1                      eq. 9
relative baseline  p_sg clip((f(z) − f_rb) / (f_b + f(z) − f_rb), −1, 1), f_rb = f(μ) − f_b          eq. 10
oldest             μ' = μ + (Σ_i λ_i z_i − μ) / n over the elites of the n newest individuals        eq. 1, 13
=================  ================================================================================  ==========

p_sg is 1 for what is better and p_negative, usually 0, for what is worse (eq. 7). Both baseline rules move half the way
to an individual that is exactly as good as the mean.

σ²' = σ² + [(z − μ)(z − μ') − σ²] / n, elementwise (eq. 11), with n fixed, or n = max((1 − p) / p, 1) (eq. 12); or σ² by
Rechenberg's rule of successes (section 3.4), by the elites of the newest (eq. 2), or constant.

Departures:

1. Equation 13 is printed as μ' = (1/n) Σ λ_i z_i, which draws μ to the origin; what is meant moves it by one n-th.
2. Worse individuals: ``sigmoid`` has the paper's p_sg or, as ``code``, none (the released code: the mean also moves to
   what is worse, by less than a half). The paper cuts the relative baseline at f(z) < f_rb − f_b, where p has fallen to
   −1; with p_negative = 0 that is the released code's cut at f_rb.
3. Where the mean itself is below the absolute baseline, it counts as being on it: the quotient would change its sign.
4. With eq. 12, σ² stays where p < 10⁻³ (the released code, which skips these with n fixed, too). With n fixed every
   individual counts, as eq. 11 says; where nothing is selected, σ² of a weight wanders, the further the less they move
   the mean: with a range of 6, 20 or 50 standard deviations of a return the largest of 5,000 weights came from 10⁻³ to
   0.2, 2 and 4 in a thousand individuals (to 0.005, 0.3 and 0.8 with ε = 0, departure 5).
5. Averages of squares end with + ε I, as those of CEM do (eq. 1), and at a floor (the released code has the floor
   alone), and with eq. 12 n is 2 at least. In the paper one sample replaces σ² where p ≥ ½: its logarithm then falls by
   1.96 on average, and by more for a larger p, even where nothing is selected, and three in four coordinates end on
   the floor. ε = 10⁻⁵ is what CEM-RL adds in the end. It is added at each update, so with n fixed, or where the mean
   goes most of the way to who is better (n is 2 then), σ² keeps n ε. Where individuals move it a little, eq. 12 takes
   one n-th of σ² back and ε widens it: from 10⁻³ to 0.01 in a thousand individuals with p = 0.01.
6. The rule of successes multiplies σ² by a factor for every individual once its history is full (the paper names no
   factor; the released code: 0.99 and ten individuals).
7. While fewer than n individuals have come, ``oldest`` takes the better half of those that have.
8. By the elites, σ² moves one n-th of the way to their mean square for every individual, as the mean does by them;
   eq. 2 replaces it, once a generation.
9. σ² is 100 at most. Where nothing is selected, the rule of successes and eq. 11 let it wander without end, until
   weights are no numbers any more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.config.aes_rules import (
    AbsoluteConfig,
    AdaptiveConfig,
    ConstantConfig,
    ElitesConfig,
    FixedConfig,
    FullMoveConfig,
    LinearConfig,
    MeanRule,
    OldestConfig,
    RelativeConfig,
    SigmoidConfig,
    SuccessConfig,
    VarianceRule,
)

F64 = NDArray[np.float64]
LEAST_P = 1e-3
"""Below this eq. 12 leaves σ² as it is."""

WIDEST = 100.0
"""The largest σ², which is also the largest one to begin with."""
LARGEST = 1e150
"""Scores are as far from 0 at most, so that their squares are numbers; differences beyond it move as far as it does."""


def p_rl(n_rl: int, n_es: int, p_desired: float, K_rl: float) -> float:
    """The chance that the next individual is an RL individual (eq. 3). Departure: nobody counts before the first (the
    released code: one of each)."""
    share = n_rl / (n_rl + n_es) if n_rl + n_es else p_desired
    return min(max(-K_rl * (share - p_desired) + 0.5, 0.0), 1.0)


def full_move(rule: FullMoveConfig, f_z: float, f_mu: float) -> float:
    """Eq. 5."""
    return 1.0 if f_mu < f_z else 0.0


def linear(rule: LinearConfig, f_z: float, f_mu: float) -> float:
    """Eq. 6, 7."""
    return _sign(f_mu < f_z, rule.backward) * min(max((f_z - f_mu) / _given(rule.range), -1.0), 1.0)


def sigmoid(rule: SigmoidConfig, f_z: float, f_mu: float) -> float:
    """Eq. 8, in either reading."""
    p_sg = 1.0 if rule.reading == "code" else _sign(f_mu < f_z, rule.backward)
    return p_sg / (1 + math.exp(min(-(f_z - f_mu) / _given(rule.range), 700.0)))


def absolute(rule: AbsoluteConfig, f_z: float, f_mu: float) -> float:
    """Eq. 9."""
    above, mine = (min(max(f - rule.baseline, 0.0), LARGEST) for f in (f_z, f_mu))
    return above / (above + mine) if above else 0.0


def relative(rule: RelativeConfig, f_z: float, f_mu: float) -> float:
    """Eq. 10."""
    f_b = _given(rule.baseline)
    above = min(f_z - (f_mu - f_b), LARGEST)
    if above <= -f_b:
        return 0.0
    return _sign(above >= 0, rule.backward) * min(max(above / (f_b + above), -1.0), 1.0)


def _sign(better: bool, backward: float) -> float:
    """p_sg (eq. 7), with p_positive = 1."""
    return 1.0 if better else backward


def _given(number: float | None) -> float:
    assert number is not None  # the study's configuration has put one there
    return number


RATIOS: dict[type, Callable[[Any, float, float], float]] = {
    FullMoveConfig: full_move, LinearConfig: linear, SigmoidConfig: sigmoid, AbsoluteConfig: absolute,
    RelativeConfig: relative,
}  # fmt: skip


def weights(K_e: int) -> F64:
    """λ of K_e elites, the best first: log((K_e + 1) / i), summing to 1."""
    found = np.log((K_e + 1) / np.arange(1, K_e + 1))
    return np.asarray(found / found.sum())


class AES:
    """N(μ, diag σ²) and its rules. ``n``: individuals that ``oldest`` keeps; ``newest`` float64[k, d] and ``fitness``:
    these, the oldest first; ``successes``: of the newest individuals, whether each was better than the mean;
    ``towards``: by which share the mean moved last, and the fitness of what it moved to."""

    def __init__(self, mu: NDArray[Any], sigma2: float, mean: MeanRule, variance: VarianceRule, n: int = 10) -> None:
        self.mu = np.array(mu, np.float64)
        self.sigma2 = np.full(len(mu), max(sigma2, getattr(variance, "floor", 0.0)))
        self.mean, self.variance, self.n = mean, variance, n
        self.newest, self.fitness = np.empty((0, len(mu))), list[float]()
        self.successes: list[bool] = []
        self.towards = (0.0, math.nan)

    def sample(self, rng: np.random.Generator) -> F64:
        """z ~ N(μ, diag σ²)."""
        return np.asarray(self.mu + np.sqrt(self.sigma2) * rng.standard_normal(len(self.mu)))

    def update(self, z: NDArray[Any], f_z: float, f_mu: float) -> float:
        """Move for an individual with this fitness, f(μ) being ``f_mu``. Returns its p: with ``oldest``, its weight in
        the move."""
        before = self.mu
        if isinstance(self.mean, OldestConfig):
            p = self._follow_elites(z, f_z)
        else:
            p = RATIOS[type(self.mean)](self.mean, f_z, f_mu)
            self.mu, self.towards = (1 - p) * self.mu + p * z, (p, f_z)
        if not isinstance(self.variance, ConstantConfig):
            new = self._spread(z, before, p, f_mu < f_z)
            if new is not None:
                self.sigma2 = np.clip(new, self.variance.floor, WIDEST)
        return p

    @property
    def least(self) -> float:
        """What σ² falls to in the end where the mean goes most of the way to who is better: its floor, or what ε keeps;
        0 where σ² is constant."""
        return self.variance.least_variance(self.n)

    def _follow_elites(self, z: NDArray[Any], f_z: float) -> float:
        """The rule ``oldest``: the newest individual takes the oldest one's place."""
        self.newest = np.concatenate([self.newest, z[None]])[-self.n :]
        self.fitness = [*self.fitness, f_z][-self.n :]
        elites = self._elites()
        lambda_ = weights(len(elites))
        self.mu = self.mu + (lambda_ @ self.newest[elites] - self.mu) / self.n
        self.towards = 1 / self.n, float(lambda_ @ np.array(self.fitness)[elites])
        places = np.flatnonzero(elites == len(self.newest) - 1)
        return float(lambda_[places].sum() / self.n)

    def _elites(self) -> NDArray[np.int64]:
        """The better half of the newest, the best first; of equals the newer ones."""
        order = np.lexsort((-np.arange(len(self.fitness)), -np.array(self.fitness)))
        return order[: max(1, len(order) // 2)]

    def _spread(self, z: NDArray[Any], before: F64, p: float, better: bool) -> F64 | None:
        """The new σ², before its floor; None: it stays. ``before``: the mean before its move."""
        match self.variance:
            case AdaptiveConfig(least=least, epsilon=epsilon):
                return None if p < LEAST_P else self._online(z, before, max((1 - p) / p, least)) + epsilon
            case FixedConfig(n=n, epsilon=epsilon):
                return self._online(z, before, n) + epsilon
            case SuccessConfig(share=p_th, history=history, factor=factor):
                self.successes = [*self.successes, better][-history:]
                p_s = sum(self.successes) / history
                return None if len(self.successes) < history else self._by_success(p_s, p_th, factor)
            case ElitesConfig(epsilon=epsilon):
                elites = self._elites()
                squares = weights(len(elites)) @ (self.newest[elites] - before) ** 2
                return np.asarray(self.sigma2 + (squares - self.sigma2) / self.n + epsilon)
        return None

    def _by_success(self, p_s: float, p_th: float, factor: float) -> F64:
        return self.sigma2 if p_s == p_th else self.sigma2 * (1 / factor if p_s > p_th else factor)

    def _online(self, z: NDArray[Any], before: F64, n: float) -> F64:
        """Eq. 11."""
        return np.asarray(self.sigma2 + ((z - before) * (z - self.mu) - self.sigma2) / n)

    def state(self) -> Bundle:
        """Everything that moves."""
        meta = {"fitness": self.fitness, "successes": self.successes}
        return Bundle(meta, {"mu": self.mu, "sigma2": self.sigma2, "newest": self.newest})

    def load(self, state: Bundle) -> None:
        """Continue from a state."""
        self.fitness, self.successes = list(state.meta["fitness"]), list(state.meta["successes"])
        self.mu, self.sigma2, self.newest = (np.array(state.arrays[name]) for name in ("mu", "sigma2", "newest"))


class Running:
    """An estimate of f(μ) that costs little: it moves with μ, f(μ') ≈ (1 − p) f(μ) + p f(z), and episodes of the mean
    itself, now and then, draw it to what they return, each by a fifth (the first four by more: it is then their mean).

    The mean moves furthest to whoever was luckiest, so what individuals returned would draw the estimate above f(μ). Of
    how far they are from it only that share counts that luck does not explain, κ = 1 − ``noise`` / ``spread``: mean
    squares of how far episodes of the mean, and of individuals, were from the estimate. Where all are equally good, the
    estimate is still too high by up to 0.4 standard deviations of an episode (1.3 without κ), most after full moves; by
    up to 0.6 where a fifth of the episodes or less pay all that is paid; by up to 1.7 where episodes of individuals
    scatter twice as much as those of the mean, as they do with noise in their actions; by 1 where half of the
    individuals are far worse and the others as good. ``noise`` takes progress for luck, too: where the mean gets better
    by 0.2 standard deviations with each individual, the estimate lags 3 to 4.5 behind (without κ at most 0.1), so
    individuals count for more. Where it gets worse as fast, the estimate stays 3 to 4 too high, so those that would
    bring it back count for less, or with full moves and linear rules for nothing, until episodes of the mean say so.

    The paper plays five episodes of the mean after every individual and does not count their steps. ``f``: NaN before
    the first; ``measured``: episodes of the mean, and ``seen``: individuals."""

    WINDOW, MEMORY = 5, 50

    def __init__(self) -> None:
        self.f, self.measured, self.seen = math.nan, 0, 0
        self.noise = self.spread = 0.0

    def moved(self, p: float, f_to: float, f_z: float) -> None:
        """An individual returned ``f_z``, and the mean moved by p to what has the fitness ``f_to``. Where it moved away
        from what is worse, nothing says how good the mean is there."""
        self.seen += 1
        self.spread += ((f_z - self.f) ** 2 - self.spread) / min(self.seen, self.MEMORY)
        kappa = max(0.0, 1 - self.noise / self.spread) if self.spread else 0.0
        self.f += max(p, 0.0) * kappa * (f_to - self.f)

    def returned(self, f: float) -> None:
        """An episode of the mean returned this."""
        self.measured += 1
        share = 1 / min(self.measured, self.WINDOW)
        if self.measured == 1:
            self.f = f
            return
        own = 1 - share if self.measured <= self.WINDOW else 1 - share / 2  # the estimate has a variance of its own
        self.noise += (own * (f - self.f) ** 2 - self.noise) / min(self.measured - 1, self.MEMORY)
        self.f += (f - self.f) * share

    def state(self) -> list[float]:
        """Everything that moves."""
        return [self.f if self.measured else 0.0, self.measured, self.seen, self.noise, self.spread]

    def load(self, state: list[float]) -> None:
        """Continue from a state."""
        f, measured, seen, self.noise, self.spread = state
        self.measured, self.seen = int(measured), int(seen)
        self.f = f if measured else math.nan
