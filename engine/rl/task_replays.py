"""One replay a task, filled from what actors send (DPCER: Li & Ji 2021, Algorithm 2, ``RBL``).

Departure: the learner fills them between its iterations, not in a thread for each, so the same parcels at the same
moments give the same training.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.experience import Parcel
from engine.rl.replay import ReplayBuffer


class TaskReplays:
    """A replay for each task."""

    def __init__(self, replays: Sequence[ReplayBuffer]) -> None:
        self._replays = replays

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Transitions kept of each task."""
        return np.array([replay.size for replay in self._replays], np.int64)

    @property
    def written(self) -> NDArray[np.int64]:
        """Transitions of each task that ever arrived."""
        return np.array([replay.written for replay in self._replays], np.int64)

    def of(self, task: int) -> ReplayBuffer:
        """That of one task."""
        return self._replays[task]

    def fill(self, parcels: Iterable[Parcel]) -> None:
        """Put in what has arrived, of a longer parcel its newest transitions."""
        for parcel in parcels:
            replay = self._replays[parcel.task]
            replay.add({name: column[-replay.capacity :] for name, column in parcel.columns.items()})

    def state(self) -> dict[str, Bundle]:
        """All transitions, and the position of each task's next one, by task; the owner saves the generator."""
        states = [replay.state() for replay in self._replays]
        return {str(task): Bundle(meta, arrays) for task, (arrays, meta) in enumerate(states)}

    def load(self, state: Mapping[str, Bundle]) -> None:
        """Continue from ``state``."""
        for task, replay in enumerate(self._replays):
            meta, arrays = state[str(task)]
            replay.load(arrays, meta)


def rings(tasks: int, capacity: int, rng: np.random.Generator) -> TaskReplays:
    """A ring of ``capacity`` transitions for each task, sampled uniformly with one generator."""
    return TaskReplays([ReplayBuffer(capacity, rng) for _ in range(tasks)])
