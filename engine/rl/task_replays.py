"""One replay a task, filled from what actors send (DPCER: Li & Ji 2021, Algorithm 2, ``RBL``).

Departure: the learner fills them between its iterations, not in a thread for each, so the same parcels at the same
moments give the same training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.experience import LearnerEnd, Parcel
from engine.rl.replay import Arrays, Minibatch, ReplayBuffer


class TaskReplays:
    """A ring of ``capacity`` transitions for each of ``tasks``, sampled uniformly with one generator."""

    def __init__(self, experience: LearnerEnd, tasks: int, capacity: int, rng: np.random.Generator) -> None:
        self._experience = experience
        self._replays = [ReplayBuffer(capacity, rng) for _ in range(tasks)]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Transitions kept of each task."""
        return np.array([replay.size for replay in self._replays], np.int64)

    @property
    def written(self) -> NDArray[np.int64]:
        """Transitions of each task that ever arrived."""
        return np.array([replay.written for replay in self._replays], np.int64)

    def fill(self) -> Sequence[Parcel]:
        """Put in what has arrived, of a longer parcel its newest transitions; the parcels, for their returns."""
        parcels = self._experience.take()
        for parcel in parcels:
            replay = self._replays[parcel.task]
            replay.add({name: column[-replay.capacity :] for name, column in parcel.columns.items()})
        return parcels

    def sample(self, task: int, n: int) -> Minibatch:
        """n transitions of a task that has some, uniformly with replacement."""
        return self._replays[task].sample(n)

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """All transitions, and the position of each task's next one; the owner saves the generator."""
        states = [replay.state() for replay in self._replays]
        arrays = {f"{task}/{name}": column for task, (own, _) in enumerate(states) for name, column in own.items()}
        return arrays, {"tasks": [meta for _, meta in states]}

    def load(self, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        for task, (replay, told) in enumerate(zip(self._replays, meta["tasks"], strict=True)):
            start = f"{task}/"
            own = {name.removeprefix(start): column for name, column in arrays.items() if name.startswith(start)}
            replay.load(own, told)
