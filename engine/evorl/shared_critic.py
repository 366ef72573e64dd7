"""What all methods have in common whose individuals play for one replay, from which a critic learns: AES-RL, CEM-RL
and their like. It asks for work, counts every decision, keeps the replay and the critics, and says when a round of the
study is over.

Before anything is learned, episodes played by chance fill the replay. Rounds are decisions, not individuals. The final
centre, and that of some rounds once it has moved, is examined on fresh episodes, which are counted apart: nobody uses
them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, pack, unpack
from engine.columns import Arrays
from engine.config.aesrl import AESRLConfig
from engine.errors import ConfigError, EvaluationError
from engine.evolution.algorithm import Parts, Progress, generator_state, load_generator
from engine.evorl.individuals import CRITIC, LEARNT, PLAYED
from engine.means import range_of
from engine.problem import UNCOUNTED, Evaluation, IndividualContext, Request, of_kind
from engine.rl.networks import Network
from engine.rl.replay import ReplayBuffer
from engine.rng import generator
from engine.store import Artifacts

F32 = NDArray[np.float32]
INDIVIDUALS = ("start", "es", "rl", "centre", "measure")
"""Roles that play decisions that are counted."""
EXAMINED = UNCOUNTED
"""Added to a round's number for the id of its examination."""
LAST = 1_000_000
"""The first seed of the last examination; those during training never reach it."""
_FAILURES = 20
"""Individuals in a row that may fail before the study does."""


class SharedCritic(ABC):
    """``theta``: the centre's first weights; ``workers``: how many there are; ``store``: where
    answers leave what they made; ``replay``: what it writes into.

    ``waiting``: answers are looked at once all have come, in the order of their requests. ``steps``: decisions by role;
    ``critic``: store hash of the critics (empty: as they begin), after ``learned`` minibatches; ``ready``: requests
    that wait for their turn; ``late``: the time is up. A state is that of the moment or, where one waits for all, of
    the last time when nothing was outstanding. ``ends``: between what a return lies, where the game's rules say so."""

    ends: tuple[float, float] = (-np.inf, np.inf)

    def __init__(self, config: AESRLConfig, theta: F32, workers: int, store: Artifacts, replay: ReplayBuffer) -> None:
        self.config, self.workers, self.store, self.replay = config, workers, store, replay
        self.first = theta
        self.rng = generator(config.seed, "shared critic")
        self.steps = dict.fromkeys(INDIVIDUALS, 0)
        self.examined = self.learned = self.tick = self.next_id = self.failures = 0
        self.examining = 0
        self.critic, self.begun, self.due, self.done = "", False, False, False
        self.late = False
        self.outstanding: dict[int, Request] = {}
        self.unasked: list[Request] = []
        self.ready: list[Request] = []
        self.held: list[tuple[Request, Evaluation]] = []
        self.returns: dict[str, list[float]] = {}
        self.worst = np.inf
        self.exams: list[list[float]] = []
        self.latest: dict[str, float] = {}
        self.made: list[str] = []
        self._calm: Parts = {}

    @classmethod
    def of(
        cls, config: AESRLConfig, theta: F32, workers: int, store: Artifacts, replay: ReplayBuffer, network: Network
    ) -> SharedCritic:  # fmt: skip
        """The method of a study, whose policies have this network."""
        return cls(config, theta, workers, store, replay)

    @property
    @abstractmethod
    def waiting(self) -> bool:
        """Whether answers are looked at once all have come."""

    @property
    @abstractmethod
    def centre(self) -> F32:
        """The weights that are the result so far."""

    @property
    def behind(self) -> bool:
        """Whether nobody begins to play until the critic has caught up."""
        return False

    @property
    def idle(self) -> int:
        """Individuals that would play now, and wait for the critic."""
        return max(0, self.together - self._playing) if self.behind and self.begun and not self.over else 0

    @abstractmethod
    def _next(self) -> Iterator[Request]:
        """What to ask for now; where one waits for all, nothing is outstanding."""

    @abstractmethod
    def _take(self, request: Request, answer: Evaluation) -> None:
        """Learn from an individual (``es``, ``rl``, ``centre``, ``measure``) or an agent."""

    @property
    def played(self) -> int:
        """Decisions, without examinations."""
        return sum(self.steps.values())

    @property
    def over(self) -> bool:
        """Whether all decisions are played, or the time is up."""
        return self.late or self.played >= self.config.steps

    def ask(self, room: int) -> list[Request]:
        """What to do next; ``room`` has no effect, for what no worker is free for waits in the pool."""
        found, self.unasked = self.unasked, []
        fresh = [] if found or self.done else list(self._wanted())
        self.outstanding |= {request.id: request for request in fresh}
        return found + fresh

    def _wanted(self) -> Iterator[Request]:
        if self._uneasy:
            return
        if self.waiting:
            self._calm = self._state()
        if (not self.outstanding and (self.begun or self.late)) if self.over else self.due:
            self.due, self.examining, first = False, self.played, LAST if self.over else 0
            yield self._request("examine", self.centre, EXAMINED + self.tick, self.config.episodes, first)
        if self.over:
            if not (self.begun or self.late):
                why = f"all {self.played:,} decisions were played by chance, so nobody has learned: give more"
                raise ConfigError([("steps", why)])
            return
        if self._starting():
            yield from self._started_by_chance()
        else:
            yield from self._next()

    @property
    def _uneasy(self) -> bool:
        """Whether one waits for all, and some have not come."""
        return self.waiting and bool(self.outstanding or self.ready or self.held)

    def _starting(self) -> bool:
        """Whether decisions are still played by chance."""
        if not self.begun and self._chance_is_over:
            self.begun = True
            self._begin()
        return not self.begun

    @property
    def _chance_is_over(self) -> bool:
        """Whether enough decisions by chance are played."""
        return self.steps["start"] >= self.config.by_chance

    def _begin(self) -> None:  # noqa: B027 - most have nothing to do
        """Called once, when enough decisions by chance are played. Raises ConfigError."""

    def _started_by_chance(self) -> Iterator[Request]:
        if self.steps["start"] < self.config.by_chance:
            for _ in range(self.together - self._playing):
                yield self._request("start", self.first)

    @property
    def together(self) -> int:
        """Individuals that are asked for at once: where nobody waits, as many as there are workers on which no critic
        learns."""
        return self.config.method.population if self.waiting else max(1, self.workers - self.teaching)

    @property
    def teaching(self) -> bool:
        """Whether the critic has minibatches to learn from that are not back yet."""
        return any(self.role(request) == "critic" for request in self.outstanding.values())

    @property
    def _playing(self) -> int:
        """Individuals that are outstanding."""
        return sum(self.role(request) in INDIVIDUALS for request in self.outstanding.values())

    @property
    def owed(self) -> int:
        """Minibatches that the critics may learn from: no more than decisions came."""
        under_way = sum(minibatches(r) for r in self.outstanding.values() if self.role(r) in ("critic", "agent"))
        return int(self.config.learner.updates * self.played) - self.learned - under_way

    @staticmethod
    def role(request: Request) -> str:
        """What is done with an individual."""
        return of_kind(request.context, IndividualContext).role

    def _request(
        self, role: str, theta: NDArray[Any], i: int = -1, episodes: int = 1, first: int = 0, minibatches: int = 0
    ) -> Request:
        """A request, with the next id if none is given."""
        if i < 0:
            i, self.next_id = self.next_id, self.next_id + 1
        context = IndividualContext(role=role, critic=self.critic, minibatches=minibatches)
        return Request(i, np.asarray(theta, np.float32), first, first + episodes, self.config.seed, context)

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Take an answer. Raises EvaluationError for work that cannot go on, or where too many individuals failed in a
        row; ConfigError from ``_begin``."""
        request = self.outstanding.pop(evaluation.id)
        if self.at_once(request):
            self._answered(request, evaluation)
        else:
            self.held.append((request, evaluation))
        if not (self.waiting and (self.outstanding or self.ready)):
            held, self.held = sorted(self.held, key=lambda pair: pair[0].id), []
            for each in held:
                self._answered(*each)
        self._tidy()
        return self._progress()

    def at_once(self, request: Request) -> bool:
        """Whether this answer is looked at before the others have come."""
        return self.role(request) == "examine"

    def _answered(self, request: Request, answer: Evaluation) -> None:
        role, artifacts = self.role(request), answer.context.artifacts
        failed = self._failed(role, answer)
        if role == "examine":  # what was learned is the result, whether or not it could be examined
            self.done = request.first >= LAST
        if failed:
            self._gone(request)
            return
        if role == "examine":
            self._examined(answer)
        if role in INDIVIDUALS:
            self.steps[role] += answer.cost
            self.returns.setdefault(role, []).append(float(answer.objectives[0]))
        if PLAYED in artifacts:
            self.replay.add(unpack(self.store.get(artifacts[PLAYED])).arrays)
            self.store.discard([artifacts[PLAYED]])
        if CRITIC in artifacts:
            self.critic, self.learned = artifacts[CRITIC], self.learned + minibatches(request)
            self.made.append(self.critic)
            self.latest |= {"critic_loss": float(answer.metrics[3]), "q": float(answer.metrics[4])}
        if role == "start":
            self.worst = min(self.worst, float(answer.objectives[0]))
        elif role not in ("examine", "critic"):
            self._take(request, answer)

    def _failed(self, role: str, answer: Evaluation) -> bool:
        if answer.status == "ok":
            self.failures = 0
            return False
        if role == "examine":
            return True
        self.failures += 1
        if role not in INDIVIDUALS or self.failures >= _FAILURES:
            raise EvaluationError(answer.reason)
        return True

    def _gone(self, request: Request) -> None:  # noqa: B027 - most need not know
        """An individual failed."""

    def _learnt(self, request: Request, answer: Evaluation) -> F32:
        """An individual's weights as it played, after it learned."""
        digest = answer.context.artifacts.get(LEARNT)
        if digest is None:
            return np.asarray(request.genome)
        theta = np.array(unpack(self.store.get(digest)).arrays["theta"])
        self.store.discard([digest])
        return theta

    def _examined(self, answer: Evaluation) -> None:
        assert answer.values is not None
        ends = range_of(answer.values[:, 0], *self.ends)
        self.exams.append([float(self.examining), float(answer.objectives[0]), ends.low, ends.high])
        self.examined += answer.cost

    def _progress(self) -> list[Progress]:
        if self._uneasy:
            return []
        tick = min(self.played // self.config.every, self.config.ticks)
        last = self.config.ticks if self.played >= self.config.steps else tick + 1  # which time cut off
        tick = last if self.done else min(tick, self.config.ticks - 1)
        if tick <= self.tick:
            return []
        every, before = self.config.evaluate_every, self.tick
        self.tick = tick
        crossed = every > 0 and tick // every > before // every
        self.due = crossed and not self.done and not np.array_equal(self.centre, self.first)
        return [Progress(tick)]

    def metrics(self) -> dict[str, float]:
        """What the round that is over says in numbers."""
        found = {f"return_{role}": float(np.mean(values)) for role, values in self.returns.items() if values}
        self.returns = {}
        found |= {f"steps_{role}": float(count) for role, count in self.steps.items() if count}
        found["examined"] = float(self.examined)
        if self.exams:
            names = ("evaluation_steps", "evaluation_return", "evaluation_return_low", "evaluation_return_high")
            found |= {name: x for name, x in zip(names, self.exams[-1], strict=True) if np.isfinite(x)}
        if np.isfinite(self.worst):
            found["worst_by_chance"] = float(self.worst)
        if (own := self.played - self.steps["start"]) > 0:  # as ``least_lessons`` counts
            found["critic_steps_a_decision"] = self.learned / own
        return found | self.latest | {"critic_steps": float(self.learned)}

    def _tidy(self) -> None:
        """Remove critics that nothing which is asked for, and no state, is made from."""
        to_come = [*self.outstanding.values(), *self.ready]
        needed = {of_kind(r.context, IndividualContext).critic for r in to_come} | {self.critic}
        needed |= {self._calm["course"].meta["critic"]} if self._calm else set()
        self.store.discard([digest for digest in self.made if digest not in needed])
        self.made = [digest for digest in self.made if digest in needed]

    def state(self) -> Parts:
        """Everything needed to go on, the replay and the critics included."""
        parts = self._calm if self._uneasy else self._state()
        rows, at = self.replay.state()
        critic = parts["course"].meta["critic"]
        learned = unpack(self.store.get(critic)).arrays if critic else {}
        return parts | {"replay": Bundle(at, rows), "critic": Bundle({}, dict(learned))}

    def _state(self) -> Parts:
        asked = list(self.outstanding.values())
        contexts = [of_kind(r.context, IndividualContext) for r in asked]
        meta = {
            "rng": generator_state(self.rng), "steps": dict(self.steps), "examined": self.examined,
            "learned": self.learned, "tick": self.tick, "next_id": self.next_id, "critic": self.critic,
            "begun": self.begun, "due": self.due, "done": self.done, "worst": float(self.worst),
            "exams": [list(row) for row in self.exams], "returns": {k: list(v) for k, v in self.returns.items()},
            "latest": dict(self.latest), "examining": self.examining,
            "outstanding": [
                [r.id, r.first, r.last, c.role, c.minibatches] for r, c in zip(asked, contexts, strict=True)
            ],
        }  # fmt: skip
        arrays: Arrays = {"outstanding": np.stack([r.genome for r in asked])} if asked else {}
        return {"course": Bundle(meta, arrays), **self._own()}

    @abstractmethod
    def _own(self) -> Parts:
        """The parts of a method's own, copies."""

    @abstractmethod
    def _take_own(self, parts: Parts) -> None:
        """The inverse of ``_own``."""

    def load(self, parts: Parts) -> None:
        """Continue from a state; what was outstanding is asked for again, with the newest critics."""
        meta, arrays = parts["course"]
        names = (
            "steps", "examined", "learned", "tick", "next_id", "begun", "due", "done", "worst", "exams", "returns",
            "latest", "examining",
        )  # fmt: skip
        for name in names:
            setattr(self, name, meta[name])
        self.rng = load_generator(meta["rng"])
        learned = parts["critic"].arrays
        self.critic = self.store.put(pack({}, learned)) if learned else ""
        self.made = [self.critic] if learned else []
        if parts["replay"].arrays:
            self.replay.load(parts["replay"].arrays, parts["replay"].meta)
        self.unasked = [
            self._request(role, arrays["outstanding"][k], i, last - first, first, count)
            for k, (i, first, last, role, count) in enumerate(meta["outstanding"])
        ]
        self.outstanding = {request.id: request for request in self.unasked}
        self._take_own(parts)


def minibatches(request: Request) -> int:
    """Those that a request is about."""
    return of_kind(request.context, IndividualContext).minibatches
