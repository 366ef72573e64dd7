"""AES-RL (Lee, Lee, Shin, Kweon, NeurIPS 2020, algorithm 1): evolving and learning individuals around one critic, and
none waits for another. ACEM-RL is the same with the rules by rank (appendix E).

Whoever is free takes a new individual z ~ N(μ, diag σ²): an RL individual with probability p_rl, which first climbs
along the critic's gradient, else an ES individual. What it returns moves the distribution at once
(``engine.evorl.aes``). One critic learns all the while, at most as many minibatches as decisions came.

Departures:

1. The paper plays five episodes of the mean after every individual, and counts their decisions nowhere. Here they are
   counted, and the default is an estimate that one individual in five serves, which is the mean itself
   (``engine.evorl.aes.Running``). An answer about the mean counts for the mean as it is by then.
2. Individuals count from when the decisions by chance are over, and the first episode of the mean is back; the
   released code moves μ by returns that chance played.
3. The critic learns in chunks, and whoever is free takes the next one up from where the last one ended, so that it
   survives whoever held it. The targets' policy is μ; targets follow after every minibatch, as in CEM-RL's code.
4. ``waiting``: rounds of n individuals, the mean among them where it serves its estimate, from one distribution, which
   they move in the order in which they were drawn; the critic learns beside them. So nothing depends on who was faster,
   and the end is the same bit for bit. Five episodes of the mean, where they are played, come once a round.
5. ``least_lessons``: where the critic has a whole chunk to go until it has learned from so many minibatches for each
   decision that was not played by chance, nobody begins to play until that chunk is back; their processors are then
   the critic's. In the paper nobody waits for it: with more workers than processors, or a game that costs less than a
   minibatch, decisions run away from it, and RL individuals climb along a critic that knows nothing. 0 is the paper.
6. Where individuals wait, workers hand what was played to the study, which alone writes into the shared replay, in the
   order of its requests: so the end does not depend on who was faster. Where nobody waits, workers write into it
   themselves; what one had written that was killed before it answered stays, uncounted, and is played again.
7. Where rules compare individuals with one another only (``oldest``, without the rule of successes), as in ACEM-RL, the
   mean is not played.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.arrays import Bundle
from engine.config.aes_rules import AbsoluteConfig, compared
from engine.config.aesrl import ACEMRLMethod, AESRLMethod
from engine.errors import ConfigError
from engine.evolution.algorithm import Parts
from engine.evorl.aes import AES, LARGEST, Running, p_rl
from engine.evorl.shared_critic import F32, SharedCritic
from engine.problem import Evaluation, Request

EPISODES = 5
"""Of the mean, after each individual."""
_LENGTHS = 10
"""An RL individual learns from as many minibatches as the last so many episodes had decisions (the released code)."""


class AESRL(SharedCritic):
    """``search``: the distribution; ``f``: the estimate of f(μ); ``n``: individuals begun, and ``p``: update ratios
    summed, by role; ``lengths``: decisions of the latest episodes; ``turn``: individuals begun, the mean included;
    ``moved``: individuals that came since the mean was last measured."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        method = self.config.method
        assert isinstance(method, AESRLMethod | ACEMRLMethod)
        self.method = method
        rule = self.config.mean_rule(method.mean)
        self.compared = compared(rule, method.variance)
        self.search = AES(self.first, method.variance_at_first, rule, method.variance, method.population)
        self.f, self.turn, self.moved = Running(), 0, 0
        self.n, self.p = {"es": 0, "rl": 0}, {"es": 0.0, "rl": 0.0}
        self.lengths: list[int] = []

    @property
    def waiting(self) -> bool:
        return self.method.waiting

    @property
    def centre(self) -> F32:
        return self.search.mu.astype(np.float32)

    @property
    def behind(self) -> bool:
        method, learner = self.method, self.config.learner
        least = min(method.least_lessons, learner.updates) * bool(method.learning_share)
        owed = least * (self.played - self.steps["start"]) - self.learned
        return not self.waiting and owed >= self.config.chunk

    @property
    def _chance_is_over(self) -> bool:
        """An absolute baseline must lie below all that chance got, so the last of that has to be back."""
        fixed = isinstance(self.method.mean, AbsoluteConfig)
        return super()._chance_is_over and not (fixed and self._playing)

    def _begin(self) -> None:
        rule = self.method.mean
        if isinstance(rule, AbsoluteConfig) and (why := rule.too_high(self.worst)):
            raise ConfigError([("method.mean.baseline", why)])

    def _next(self) -> Iterator[Request]:
        wanted = self.owed if self.waiting else min(self.owed, self.config.chunk)
        if self.method.learning_share and not self.teaching and wanted >= (1 if self.waiting else self.config.chunk):
            yield self._request("critic", self.centre, minibatches=wanted)
        if self.behind:
            return
        free = self.together - self._playing
        centres = sum(self.role(request) == "centre" for request in self.outstanding.values())
        missing = max(0, EPISODES - self.f.measured - centres) if self.compared else 0
        for _ in range(missing):
            yield self._request("centre", self.centre)
        if not (self.waiting and missing):
            for _ in range(free - missing):
                yield self._individual()

    def _individual(self) -> Request:
        if self.compared and self.method.centre == "episodes" and self.moved:
            self.moved = 0 if self.waiting else self.moved - 1
            return self._request("measure", self.centre, episodes=EPISODES)
        self.turn += 1
        if self.compared and self.method.centre == "running" and self.turn % EPISODES == 0:
            return self._request("centre", self.centre)
        z = self.search.sample(self.rng)
        chance = p_rl(self.n["rl"], self.n["es"], self.method.learning_share, self.method.gain)
        if self.rng.random() < chance and self.critic and self.method.learning_share:
            self.n["rl"] += 1
            return self._request("rl", z, minibatches=max(1, sum(self.lengths)))
        self.n["es"] += 1
        return self._request("es", z)

    def _take(self, request: Request, answer: Evaluation) -> None:
        role, f_z = self.role(request), float(np.clip(answer.objectives[0], -LARGEST, LARGEST))
        if role == "measure":
            self.f.f = f_z
            return
        self.lengths = [*self.lengths, answer.cost][-_LENGTHS:]
        if role == "centre":
            self.f.returned(f_z)
            return
        if self.compared and not self.f.measured:
            return
        p = self.search.update(self._learnt(request, answer), f_z, self.f.f)
        self.p[role] += p
        self.moved += 1
        if self.compared and self.method.centre == "running":
            self.f.moved(*self.search.towards, f_z)

    def metrics(self) -> dict[str, float]:
        found, n = super().metrics(), self.n
        if self.compared:
            found["return_estimate"] = self.f.f
        return found | {
            "individuals_es": float(n["es"]), "individuals_rl": float(n["rl"]),
            "p_es": self.p["es"], "p_rl": self.p["rl"],
            "chance_rl": p_rl(n["rl"], n["es"], self.method.learning_share, self.method.gain),
            "sigma": float(np.sqrt(self.search.sigma2).mean()),
            "floor": float((self.search.sigma2 <= 1.1 * self.search.least).mean()),
        }  # fmt: skip

    def _own(self) -> Parts:
        meta, arrays = self.search.state()
        mine = {
            "f": self.f.state(), "turn": self.turn, "n": dict(self.n),
            "p": dict(self.p), "lengths": list(self.lengths), "moved": self.moved,
        }  # fmt: skip
        return {"distribution": Bundle(meta, {k: v.copy() for k, v in arrays.items()}), "aes-rl": Bundle(mine, {})}

    def _take_own(self, parts: Parts) -> None:
        self.search.load(parts["distribution"])
        mine = parts["aes-rl"].meta
        self.f.load(mine["f"])
        self.turn, self.n, self.p = mine["turn"], dict(mine["n"]), dict(mine["p"])
        self.lengths, self.moved = list(mine["lengths"]), int(mine["moved"])
