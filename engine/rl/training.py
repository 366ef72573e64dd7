"""Training in one process: sample, learn, sample. Synchronous training by actors must reproduce its results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from engine.arrays import Bundle
from engine.channel import Weights
from engine.config.policies import AGENT
from engine.config.rl import TrainingConfig
from engine.config.whole_episodes import enough_ended
from engine.config.whole_updates import fragments
from engine.mdp.trajectory import join
from engine.mdp.vector import VectorMDP
from engine.rl.cast import Cast
from engine.rl.devices import on_threads
from engine.rl.examine import Examination, examine
from engine.rl.learner import Arrays, Learner, Metrics
from engine.rl.sampler import Episode, Sampler
from engine.rl.seats import Players, nobody_else


class Updated(NamedTuple):
    """One update: decisions learned from so far, the new version, the learner's metrics (``staleness_mean`` and
    ``staleness_max`` are exactly 1 here), the episodes that ended while sampling, and an examination if one was due."""

    steps: int
    version: int
    metrics: Metrics
    episodes: list[Episode]
    examination: Examination | None


class Training:
    """A sampler and a learner that wait for each other. Bit-reproducible on one thread.

    Battles restart after every ``checkpoint_every`` steps, so a run that continues from a checkpoint taken there equals
    one that was never interrupted. ``patient``: they do so only once enough episodes have ended. ``examined``: makes
    the game for examinations (a new one each time). ``cast``: who sits where (default: the learner on every seat), with
    the ``players`` that do not learn; ``met``: by other player, episodes against it and the wins in them, a draw as
    half.
    """

    def __init__(
        self, config: TrainingConfig, mdp: VectorMDP, learner: Learner, *,
        examined: Callable[[], VectorMDP] | None = None, cast: Cast | None = None, players: Players = nobody_else,
        patient: bool = False,
    ) -> None:  # fmt: skip
        self.patient, self.ended = patient, 0
        self.config, self.learner, self.examined = config, learner, examined
        learning = {AGENT: learner.policy().spec.model()}
        self.sampler = Sampler(
            mdp, learning, config.environments, config.algorithm.fragment, config.seed, cast=cast, players=players
        )
        self.met: dict[str, list[float]] = {}
        self.fragments = fragments(config.algorithm.least_batch, config.environments * config.algorithm.fragment)
        self.beginning = 0
        self._next_examination = config.examine_every

    @property
    def done(self) -> bool:
        """Whether all steps are learned from."""
        return self.learner.steps >= self.config.steps

    def run(self) -> Iterator[Updated]:
        """Train to the end, one update at a time, with one thread of torch."""
        with on_threads(1):
            self.sampler.begin(self.beginning)
            while not self.done:
                yield self._update()

    def _update(self) -> Updated:
        self.sampler.load(Weights(AGENT, 0, self.beginning, self.learner.version, self.learner.publish()))
        trajectory = join([self.sampler.sample()[AGENT] for _ in range(self.fragments)])
        metrics = self.learner.update(trajectory)
        episodes = self.sampler.finished()
        self._count(episodes)
        if self._may_restart() and self._tick > self.beginning:
            self.beginning, self.ended = self._tick, 0
            self.sampler.begin(self.beginning)
        return Updated(self.learner.steps, self.learner.version, metrics, episodes, self._examination())

    @property
    def _tick(self) -> int:
        every = self.config.checkpoint_every
        return self.learner.steps // every if every else 0

    def _may_restart(self) -> bool:
        return not self.patient or enough_ended(self.ended, self.config.environments)

    def begin_anew(self) -> None:
        """Play no battle again that an earlier training may have played, whose state this one continues."""
        self.beginning = max(self.beginning, self._tick) + 1

    def _count(self, episodes: Sequence[Episode]) -> None:
        self.ended += len(episodes)
        for episode in episodes:
            for other in episode.others:
                if other != AGENT and not math.isnan(episode.win):
                    games, wins = self.met.get(other, (0.0, 0.0))
                    self.met[other] = [games + 1.0, wins + episode.win]

    def _examination(self) -> Examination | None:
        every, steps = self.config.examine_every, self.learner.steps
        due = self.done or (every and steps >= self._next_examination)
        if not due or self.examined is None or not self.config.episodes:
            return None
        self._next_examination = (steps // every + 1) * every if every else 0
        mdp = self.examined()
        try:
            return examine({0: self.learner.policy()}, mdp, self.config.episodes, self.config.seed)[0]
        finally:
            mdp.close()

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Everything needed to continue; exact when taken where battles restart. Arrays of the learner have their own
        names, those of its other parts ``part:name``."""
        parts = self.learner.state()
        learner = parts.pop("learner")
        others = {f"{name}:{key}": array for name, part in parts.items() for key, array in part.arrays.items()}
        meta = {"learner": learner.meta, "parts": {name: part.meta for name, part in parts.items()}}
        return learner.arrays | others, meta | {
            "beginning": self.beginning, "examination": self._next_examination,
            **({"met": self.met} if self.met else {}),
        }  # fmt: skip

    def load(self, arrays: Arrays, meta: Mapping[str, Any]) -> None:
        """Continue from a state."""
        parts = {name: Bundle(part, {}) for name, part in {"learner": meta["learner"], **meta["parts"]}.items()}
        for place, array in arrays.items():
            name, _, key = place.rpartition(":")
            parts[name or "learner"].arrays[key] = array
        self.learner.load(parts)
        self.ended = 0
        self.beginning, self._next_examination = int(meta["beginning"]), int(meta["examination"])
        self.met = {name: list(numbers) for name, numbers in meta.get("met", {}).items()}
