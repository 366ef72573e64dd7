"""Which task to learn from next: the scheduler of DPCER (Li & Ji 2021, "Parallel Curriculum Experience Replay in
Distributed Reinforcement Learning", section 4.2, Algorithm 3), and the orders of its baselines (section 5.2).

Of N tasks, iteration t learns from the replay of task i with probability p(i):

    uniform   p(i) = 1/N                                            (3)
    EXP3      p(i) = (1 − γ) w_t(i) / Σ_j w_t(j) + γ/N              (4a)
              w_{t+1}(i) = w_t(i) exp(γ signal(i) / (p(i) N))       (4b)
              signal(i) = r(i) step(i), step(i) = 1 if i was chosen (4c)

Departures from the paper:

1. r(i) may be the mean return R, as in the paper, progress (8), or |TD error|, the mean |δ| of the minibatch. With
   returns the weight of the easiest task, which pays first, leads for ever, also when nothing is left to learn from it;
   the paper's own Fig. 7 shows a shift that returns cannot give. Errors stay with a task whose outcome is in part
   chance, since nobody can learn that away; only progress leaves both.
2. The paper gives no scale of r(i), and EXP3 (Auer et al. 2002) needs r(i) in [0, 1]. R is the success of episodes, as
   ``engine.rl.task_learner`` has it: on the half field it is the paper's return, and where a later start can gain less
   than an earlier one, returns would say that it is never mastered. |δ| is scaled by the largest mean |δ| seen, which
   fades by 0.1 % an iteration and at most doubles in one, so that a single outlier does not outweigh thousands of
   iterations.
3. ln w is kept, less its largest: the same p, and no weight overflows.
4. Algorithm 3 updates all weights in a loop of its own. Here, as (4c) says, the chosen task's weight changes after each
   iteration, with the newest r(i), and with the p(i) by which it was chosen. A task that has not told of an episode has
   r(i) = 0.
5. γ is not given in the paper; it is 0.1 here.
6. Tasks are numbered from the easiest to the hardest, as in section 4.1; the target is the last. (Fig. 2 and section
   5.6 number them the other way.)
7. Where the baselines go on to the next task is not given: here when R̄(i) of the present task reaches ``bar``, of 50
   episodes of its stage at least, and after T/N iterations at the latest. They too have a replay a task: DBC learns
   from the present task's only, DRC from that and, uniformly, from those of all easier tasks.
8. Progress is how surely R changes: r(i) = (|R⁺(i) − R⁻(i)| / σ(i) − 2) / 2 within [0, 1], where R⁺ and R⁻ are moving
   averages of R, a fast and a slow one, and σ² = q (1 − q) Σ_k (a_k − b_k)² / n_k is the variance of their difference
   if nothing changes: a_k and b_k are their weights of report k, of n_k episodes, and q = (n R⁻ + ½) / (n + 1). What
   lies in [0, 1] with mean q has no larger variance than q (1 − q). The change alone, |R − R̄|, is largely chance where
   learning is slow, and the largest where a task is stuck at a half, which then had up to 95 % of the diet.
9. With progress, weights are shared as in EXP3.S (Auer et al. 2002, section 8): to (4b) comes (e α / N) Σ_j w_t(j),
   with α = 0.001. Where nothing changes, all tasks are practised equally often again after about a thousand iterations.
   Without this a task that has been learned leads for as long again as that took. And r(i) fades by 0.1 % an iteration
   until the next report: where none comes any more, a change of long ago does not pay for ever.
10. A task may have no decisions, as its first ones are on their way or were lost. It waits, and the others share p: of
   those that have some, each is chosen with p(i) / Σ_j p(j), which is also the p(i) of (4b). Where that leaves a stage
   of the baselines nothing, it goes on with the newest stage before it that has some.

What progress does not do: where R changes by less than chance between two averages (learning over many reports, or
reports of few episodes), it tells nothing, and tasks are practised about equally often. A task in which nothing has
succeeded yet draws nobody; its share is then that of the others that stand still.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from math import e, exp, log, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Signal = Literal["return", "progress", "td"]
_FADE = 0.999  # of what was told, each iteration
_ALPHA = 0.1  # of R̄
_FAST, _SLOW = 0.3, 0.03  # of R⁺ and R⁻
_SURE = 2.0  # in σ: from here on a change is more than chance, and at twice as much r is 1
_SHARED = 0.001  # α
ENOUGH = 50
"""Episodes of a stage after which R̄ may end it: the few of a first report can all succeed by luck."""


class Scheduler:
    """Of ``N`` tasks, the easiest first, the target last; draws with its owner's ``rng``."""

    def __init__(self, N: int, rng: np.random.Generator) -> None:
        self.N, self.rng = N, rng
        self.t = 0
        self.R: list[float | None] = [None] * N
        """R̄(i) in [0, 1]; None before the first episode."""
        self.shared = 1.0
        """Σ_j p(j) of the tasks among which the last one was chosen."""

    @property
    def p(self) -> NDArray[np.float64]:
        """The probability of each task, float64[N]: uniform, (3)."""
        return np.full(self.N, 1 / self.N)

    @property
    def active(self) -> tuple[bool, ...]:
        """Whether actors play each task at present."""
        return (True,) * self.N

    def among(self, there: Sequence[bool]) -> NDArray[np.float64]:
        """p(i) of the tasks that are ``there``, of others 0: float64[N]."""
        return np.where(there, self.p, 0.0)

    def choose(self, there: Sequence[bool] = ()) -> int:
        """Task i with probability p(i); ``there``: which have decisions, if not all. One of those in ``among`` at
        least must have some."""
        p = self.p if all(there) else self.among(there)
        self.shared = 1.0 if all(there) else float(p.sum())
        i = bisect_right(list(accumulate(p.tolist())), self.shared * self.rng.random())
        return min(i, int(np.flatnonzero(p)[-1]))

    def played(self, i: int, R: float, n: int = 1) -> None:
        """Actors of task i tell the mean success of their newest ``n`` episodes, within [0, 1]."""
        before = self.R[i]
        self.reported(i, R, n)
        self.R[i] = R if before is None else before + _ALPHA * (R - before)

    def reported(self, i: int, R: float, n: int) -> None:
        """What more ``played`` does."""

    def learned(self, i: int, td: float) -> None:
        """An iteration on task i is done; ``td``: the minibatch's mean |δ|."""
        self.t += 1

    def state(self) -> dict[str, Any]:
        """All but the generator, as JSON."""
        return {"t": self.t, "R": list(self.R)}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        self.t, self.R = int(state["t"]), list(state["R"])


class Change:
    """Whether what a task pays changes. ``R``: R⁺ and R⁻ (None before the first report); ``squares``: the sums over
    reports of a² / n, b² / n and a b / n, of their weights a and b."""

    def __init__(self) -> None:
        self.R: tuple[float, float] | None = None
        self.squares = (0.0, 0.0, 0.0)

    def reported(self, R: float, n: int) -> float:
        """A report of n episodes; returns r, in [0, 1]."""
        if self.R is None:
            self.R, self.squares = (R, R), (1 / n, 1 / n, 1 / n)
            return 0.0
        fast, slow = (before + alpha * (R - before) for before, alpha in zip(self.R, (_FAST, _SLOW), strict=True))
        rates = ((_FAST, _FAST), (_SLOW, _SLOW), (_FAST, _SLOW))
        kept = zip(self.squares, rates, strict=True)
        aa, bb, ab = ((1 - x) * (1 - y) * before + x * y / n for before, (x, y) in kept)
        self.R, self.squares = (fast, slow), (aa, bb, ab)
        q = (n * slow + 0.5) / (n + 1)
        sigma = sqrt(q * (1 - q) * (aa + bb - 2 * ab))
        return min(1.0, max(0.0, (abs(fast - slow) / sigma - _SURE) / _SURE))

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {"R": self.R, "squares": self.squares}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        self.R = None if state["R"] is None else (state["R"][0], state["R"][1])
        self.squares = (state["squares"][0], state["squares"][1], state["squares"][2])


class Exp3(Scheduler):
    """EXP3 over the tasks, (4a) to (4c); ``signal``: what r(i) is."""

    def __init__(
        self, N: int, rng: np.random.Generator, *,
        signal: Signal = "progress", gamma: float = 0.1,
    ) -> None:  # fmt: skip
        super().__init__(N, rng)
        self.signal, self.gamma = signal, gamma
        self.ln_w = [0.0] * N
        self.r = [0.0] * N
        self.changes = [Change() for _ in range(N)]
        self.largest = 0.0

    @property
    def p(self) -> NDArray[np.float64]:
        """(4a)."""
        return np.array(self._p())

    def _p(self) -> list[float]:
        top = max(self.ln_w)
        w = [exp(each - top) for each in self.ln_w]
        share, floor = (1 - self.gamma) / sum(w), self.gamma / self.N
        return [share * each + floor for each in w]

    def reported(self, i: int, R: float, n: int) -> None:
        """r(i) of the signals that actors tell."""
        if self.signal != "td":
            self.r[i] = R if self.signal == "return" else self.changes[i].reported(R, n)

    def learned(self, i: int, td: float) -> None:
        """(4b) for the task that was chosen."""
        super().learned(i, td)
        if self.signal == "td":
            most = 2 * self.largest if self.largest > 0 else td
            self.largest = max(min(td, most), _FADE * self.largest)
            self.r[i] = min(1.0, td / self.largest) if self.largest > 0 else 0.0
        shared = e * _SHARED / self.N * sum(map(exp, self.ln_w)) if self.signal == "progress" else 0.0
        self.ln_w[i] += self.gamma * self.r[i] * self.shared / (self._p()[i] * self.N)
        if self.signal == "progress":
            self.ln_w = [log(exp(each) + shared) for each in self.ln_w]
            self.r = [_FADE * each for each in self.r]
        top = max(self.ln_w)
        self.ln_w = [each - top for each in self.ln_w]

    def state(self) -> dict[str, Any]:
        """With weights and signals."""
        mine = {"ln_w": list(self.ln_w), "r": list(self.r), "largest": self.largest}
        return super().state() | mine | {"changes": [change.state() for change in self.changes]}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        super().load(state)
        self.ln_w, self.r, self.largest = list(state["ln_w"]), list(state["r"]), float(state["largest"])
        for change, known in zip(self.changes, state.get("changes", ()), strict=False):  # earlier ones had none
            change.load(known)


class Staged(Scheduler):
    """Tasks in an order, one stage each: the next begins when R̄ of the present one reaches ``bar``, or after an equal
    share of the ``T`` iterations. ``learns``: from stage and task, whether that task is learned in that stage.
    ``ended``: episodes of the stage's own task that were reported since it began."""

    def __init__(
        self, N: int, rng: np.random.Generator, *,
        T: int, learns: Callable[[int, int], bool], bar: float = 0.9, stage: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(N, rng)
        self.T, self.learns, self.bar, self.stage, self.since, self.ended = T, learns, bar, stage, 0, 0

    @property
    def active(self) -> tuple[bool, ...]:
        """Only tasks that are learned are played."""
        return tuple(self.learns(self.stage, i) for i in range(self.N))

    @property
    def p(self) -> NDArray[np.float64]:
        """Uniform over the stage's tasks."""
        active = np.array(self.active, np.float64)
        return np.asarray(active / active.sum())

    def among(self, there: Sequence[bool]) -> NDArray[np.float64]:
        """Those of the newest stage, up to the present one, that has any."""
        for stage in range(self.stage, -1, -1):
            learned = np.array([there[i] and self.learns(stage, i) for i in range(self.N)], np.float64)
            if learned.any():
                return np.asarray(learned / learned.sum())
        return np.zeros(self.N)

    def reported(self, i: int, R: float, n: int) -> None:
        """Count those of the stage's own task."""
        self.ended += n * (i == self.stage)

    def learned(self, i: int, td: float) -> None:
        """Perhaps the next stage begins."""
        super().learned(i, td)
        mastered = self.ended >= ENOUGH and (self.R[self.stage] or 0.0) >= self.bar
        if self.stage < self.N - 1 and (mastered or self.t - self.since >= self.T / self.N):
            self.stage, self.since, self.ended = self.stage + 1, self.t, 0

    def state(self) -> dict[str, Any]:
        """With the stage and the iteration that began it."""
        return super().state() | {"stage": self.stage, "since": self.since, "ended": self.ended}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        super().load(state)
        self.stage, self.since = int(state["stage"]), int(state["since"])
        self.ended = int(state.get("ended", 0))  # earlier ones had none


Method = Literal["uniform", "exp3", "db", "dbc", "drc"]


def scheduler(
    method: Method, N: int, rng: np.random.Generator, *,
    T: int, signal: Signal = "progress", gamma: float = 0.1, bar: float = 0.9,
) -> Scheduler:  # fmt: skip
    """The scheduler of a method: ``uniform`` and ``exp3`` are DPCER's; of the baselines ``db`` learns the target only,
    ``dbc`` one task after the other, ``drc`` each with all easier ones. ``T``: iterations of the whole training."""
    if method == "uniform":
        return Scheduler(N, rng)
    if method == "exp3":
        return Exp3(N, rng, signal=signal, gamma=gamma)
    if method == "db":
        return Staged(N, rng, T=T, learns=lambda k, i: i == k, stage=N - 1)
    learns = (lambda k, i: i == k) if method == "dbc" else (lambda k, i: i <= k)
    return Staged(N, rng, T=T, learns=learns, bar=bar)
