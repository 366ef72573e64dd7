"""Experience on its way from actors to a learner, and the newest network on its way back (DPCER: Li & Ji 2021,
Algorithms 1 and 2): each task has a queue of its own, and a bound.

``engine.runtime.redis_experience`` carries both between processes, ``ExperienceHere`` within one.

An actor numbers its transitions from 0 on and says with each parcel how many it could not deliver, and why. So a
learner knows what is missing, whatever happened on the way: ``Lost``. What an actor loses after its last parcel,
``close`` says in another one; of an actor that was killed its file says it (``engine.actor_counts``). What it was still
playing is no experience yet.

Departures from the paper: episodes travel with their transitions, so that no signal arrives apart from them; a queue
has a bound.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.actor_counts import ActorCounts, left
from engine.arrays import pack, unpack
from engine.channel import Frame
from engine.errors import StoreError
from engine.text import printable

Columns = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]
BOUND = 1024
"""Parcels of a task that may wait; of more, the oldest are given up."""
LARGEST = 2**53
"""A number in a parcel beyond this is a fault, not a count."""
SAID = 200
"""Characters of what Redis says."""
NO_EPISODES = np.empty((0, 0))
_EPISODES = ".told"  # no column is named so


class Network(NamedTuple):
    """The learner's network, as one frame, and its version beside it."""

    version: int
    frame: Frame


class Parcel(NamedTuple):
    """Transitions of ``task``, columns [n, …], that the network of ``version`` made; ``returns`` float64[m]: of the
    episodes that ended with them, and ``episodes`` float64[m, k]: what else is told of each. ``actor``: who sent them;
    ``first``: their number there. ``unsent``, ``refused``: transitions that this actor could not deliver before,
    because nobody answered, or because Redis refused them, and ``why``: in its own words, empty for want of room."""

    task: int
    columns: dict[str, NDArray[Any]]
    returns: NDArray[np.float64]
    version: int
    actor: str
    first: int
    unsent: int = 0
    refused: int = 0
    episodes: NDArray[np.float64] = NO_EPISODES
    why: str = ""

    @property
    def size(self) -> int:
        """Transitions in it."""
        return len(next(iter(self.columns.values()), ()))

    @property
    def oldest(self) -> int:
        """The version of the network that made them."""
        return self.version

    def encode(self, meta: Mapping[str, Any]) -> list[Frame]:
        """As one frame, which needs no ``meta``."""
        return [encode(self)]


Fits = Callable[[Parcel], bool]
"""Whether a learner can learn from a parcel."""


def anything(parcel: Parcel) -> bool:
    """Every parcel fits."""
    return True


_NO_ROOM = "were refused because Redis had no room"


class Lost(NamedTuple):
    """Transitions that were made and never arrived: ``unsent``, as nobody answered; ``refused``, as there was no room,
    or for another reason (``why``: the newest such, in Redis's own words); ``gone``, delivered and given up or lost
    before the learner took them. Beside them ``strange``: parcels that were taken and left out, as they cannot be read
    or do not fit the learner, so nobody knows of how many transitions; and ``uncounted``: actors that were killed on
    other machines, of which nobody knows what they sent last."""

    unsent: int = 0
    refused: int = 0
    gone: int = 0
    why: str = ""
    strange: int = 0
    uncounted: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """How many, by the reason."""
        names = ("unsent", "refused", "gone", "strange", "uncounted")
        return {name: getattr(self, name) for name in names}

    @property
    def all(self) -> int:
        """All of them, without what is strange."""
        return self.unsent + self.refused + self.gone

    def exceeds(self, other: Lost) -> bool:
        """Whether something is lost, strange or uncounted that was not yet in ``other``."""
        return self.all > other.all or self.strange > other.strange or self.uncounted > other.uncounted

    def __str__(self) -> str:
        """A sentence for people; empty where nothing is lost."""
        why = (
            (self.unsent, "could not be sent because Redis did not answer"),
            (self.refused, f"Redis refused, and says “{self.why}”" if self.why else _NO_ROOM),
            (self.gone, "were sent and were no longer there when the learner came for them"),
        )
        reasons = [f"{count:,} {reason}" for count, reason in why if count]
        found = [f"{self.all:,} decisions never reached the learner: {'; '.join(reasons)}."] if reasons else []
        if self.strange:
            found.append(f"{self.strange:,} of the messages that arrived are no experience of this study: left out.")
        if self.uncounted:
            several = f"{self.uncounted:,} actors sent last that ended on other machines"
            who = several if self.uncounted > 1 else "an actor sent last that ended on another machine"
            found.append(f"What {who} is not counted.")
        return " ".join(found)


NOTHING = Lost()


class ActorEnd(Protocol):
    """An actor's end; used by one thread. None of its methods raises because the way is interrupted."""

    def add(
        self, columns: Columns, returns: Sequence[float] = (), version: int = 0, episodes: Floats = NO_EPISODES
    ) -> bool:
        """Send transitions of the actor's task; False if they are lost. Whole episodes, or several, make good parcels:
        each costs a round trip."""
        ...

    def newest(self, *, ask: bool = False) -> Network | None:
        """The newest network, unless it was returned before; ``ask``: even if ``add`` has seen no newer one."""
        ...

    def close(self) -> None:
        """Say what was lost since the last parcel, and close. Safe to call twice."""
        ...


class LearnerEnd(Protocol):
    """The learner's end; used by one thread. None of its methods raises because the way is interrupted."""

    def take(self) -> list[Parcel]:
        """What has arrived, each task's in the order it was sent in; never waits for more."""
        ...

    def publish(self, frame: Frame, version: int) -> None:
        """Replace the network; the frame must not change any more."""
        ...

    @property
    def lost(self) -> Lost:
        """What is missing by now."""
        ...

    def close(self) -> None:
        """Close, and leave nothing behind. Safe to call twice."""
        ...


def encode(parcel: Parcel) -> bytes:
    """The parcel as bytes, without pickle (``engine.arrays``)."""
    meta = {name: getattr(parcel, name) for name in ("task", "version", "actor", "first", "unsent", "refused", "why")}
    return pack(meta | {"returns": list(parcel.returns)}, {**parcel.columns, _EPISODES: parcel.episodes})


def decode(data: bytes) -> Parcel:
    """The parcel; its columns are read-only views of ``data``. Raises StoreError for a damaged one."""
    meta, columns = unpack(data)
    episodes = columns.pop(_EPISODES, NO_EPISODES)
    try:
        parcel = Parcel(
            columns=columns,
            returns=np.array(meta["returns"], np.float64),
            actor=str(meta["actor"]),
            episodes=episodes,
            why=printable(str(meta["why"]), SAID),
            **{name: meta[name] for name in ("task", "version", "first", "unsent", "refused")},
        )
        _check(parcel)
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise StoreError(f"This is not a parcel of experience: {error}.") from error
    return parcel


def _check(parcel: Parcel) -> None:
    """Raises ValueError where a parcel contradicts itself or counts what nobody could have made."""
    columns, episodes = parcel.columns.values(), parcel.episodes
    for count in (parcel.task, parcel.version, parcel.first, parcel.unsent, parcel.refused):
        if type(count) is not int or not 0 <= count < LARGEST:
            raise ValueError("it has a count that is none")
    if parcel.unsent + parcel.refused > parcel.first:
        raise ValueError("more was lost before it than was made")
    if any(column.ndim == 0 for column in columns) or len({len(column) for column in columns}) > 1:
        raise ValueError("its columns differ in length")
    if parcel.returns.ndim != 1 or episodes.ndim != 2 or episodes.dtype != np.float64:
        raise ValueError("what is told of its episodes is no table of numbers")
    if len(episodes) not in (0, len(parcel.returns)):
        raise ValueError("it has more episodes or fewer than returns of them")


class Numbering:
    """An actor's count of its transitions on ``task``; ``file``: where it is kept, too."""

    def __init__(self, task: int, file: str = "") -> None:
        self.task, self.counts = task, ActorCounts(file)
        self.why = ""
        self.reported = NOTHING
        """What the last parcel that was delivered said."""

    def parcel(
        self, columns: Columns, returns: Sequence[float], version: int, episodes: Floats = NO_EPISODES
    ) -> Parcel:
        """These transitions with their numbers."""
        counts = self.counts
        parcel = Parcel(self.task, dict(columns), np.array(returns, np.float64), version, counts.name, counts.made,
                        counts.unsent, counts.refused, episodes, self.why)  # fmt: skip
        counts.made += parcel.size
        return parcel

    def delivered(self, parcel: Parcel) -> None:
        """It has left."""
        self.reported = Lost(parcel.unsent, parcel.refused)

    def unanswered(self, parcel: Parcel) -> None:
        """Nobody answered when it was sent."""
        self.counts.unsent += parcel.size

    def refuse(self, parcel: Parcel, why: str) -> None:
        """Redis did not take it; ``why``: in its own words, empty for want of room."""
        self.counts.refused += parcel.size
        self.why = why or self.why

    @property
    def owes(self) -> bool:
        """Whether something is lost that no parcel has told."""
        return self.reported != Lost(self.counts.unsent, self.counts.refused)


class Arrivals:
    """What a learner knows of each actor's transitions. ``before``: what was lost earlier in its training."""

    def __init__(self, before: Lost = NOTHING) -> None:
        self._before, self._why, self._strange = before, before.why, before.strange
        self._uncounted = before.uncounted
        self._next: dict[str, int] = {}
        self._made: dict[str, int] = {}
        self._came: dict[str, int] = {}
        self._reported: dict[str, tuple[int, int]] = {}
        self._ended: list[tuple[int, str]] = []

    def admit(self, parcel: Parcel) -> bool:
        """Count a parcel; False if it has arrived before, or says nothing new."""
        actor, end = parcel.actor, parcel.first + parcel.size
        if parcel.first < self._next.get(actor, 0):
            return False
        self._next[actor] = end
        self._came[actor] = self._came.get(actor, 0) + parcel.size
        self._made_by(actor, end, parcel.unsent, parcel.refused)
        self._why = parcel.why or self._why
        return parcel.size > 0

    def _made_by(self, actor: str, made: int, unsent: int, refused: int) -> None:
        """What is known of an actor by now; what it sent last may arrive after its file was read."""
        before = self._reported.get(actor, (0, 0))
        self._made[actor] = max(made, self._made.get(actor, 0))
        self._reported[actor] = max(unsent, before[0]), max(refused, before[1])

    def ended(self, task: int, file: str) -> None:
        """An actor of a task was killed; ``file``: what it left. What it sent may still be on its way."""
        self._ended.append((task, file))

    def taken(self, tasks: Collection[int]) -> None:
        """All is taken that was on its way from actors of these tasks. What those that were killed made beyond is
        lost."""
        for task, file in self._ended:
            if task not in tasks:
                continue
            found, actor = left(file), Path(file).name
            self._uncounted += not found.known and actor in self._came
            if found.known:
                self._came.setdefault(actor, 0)
                self._made_by(actor, found.made, found.unsent, found.refused)
        self._ended = [one for one in self._ended if one[0] not in tasks]

    def leave_out(self) -> None:
        """Count a parcel that cannot be read or does not fit."""
        self._strange += 1

    @property
    def arrived(self) -> int:
        """Transitions that have arrived."""
        return sum(self._came.values())

    @property
    def lost(self) -> Lost:
        """Made and not arrived. Transitions that an actor took for lost and that arrived all the same are not lost."""
        unsent, refused, gone = self._before[:3]
        for actor, made in self._made.items():
            missing = made - self._came[actor]
            full = min(missing, self._reported[actor][1])
            away = min(missing - full, self._reported[actor][0])
            unsent, refused, gone = unsent + away, refused + full, gone + missing - full - away
        return Lost(unsent, refused, gone, self._why, self._strange, self._uncounted)


class ExperienceHere:
    """The learner's end within a process, with an end for each actor; ``bound``: parcels of a task that may wait."""

    def __init__(self, tasks: int, bound: int = BOUND, before: Lost = NOTHING) -> None:
        self._queues: list[deque[Parcel]] = [deque(maxlen=bound) for _ in range(tasks)]
        self._arrivals = Arrivals(before)
        self.network: Network | None = None

    def actor(self, task: int) -> ActorHere:
        """An end for an actor of a task."""
        return ActorHere(self, task, self._queues[task])

    def take(self) -> list[Parcel]:
        """What has arrived."""
        found = [queue.popleft() for queue in self._queues for _ in range(len(queue))]
        return [parcel for parcel in found if self._arrivals.admit(parcel)]

    def publish(self, frame: Frame, version: int) -> None:
        """Replace the network."""
        self.network = Network(version, frame)

    @property
    def lost(self) -> Lost:
        """What is missing by now."""
        return self._arrivals.lost

    def close(self) -> None:
        """Leave nothing behind."""
        for queue in self._queues:
            queue.clear()
        self.network = None


class ActorHere:
    """An actor's end within the learner's process."""

    def __init__(self, experience: ExperienceHere, task: int, queue: deque[Parcel]) -> None:
        self._experience, self._queue, self._numbering = experience, queue, Numbering(task)
        self._version = -1

    def add(
        self, columns: Columns, returns: Sequence[float] = (), version: int = 0, episodes: Floats = NO_EPISODES
    ) -> bool:
        """Send transitions; they must not change any more."""
        self._queue.append(self._numbering.parcel(columns, returns, version, episodes))
        return True

    def newest(self, *, ask: bool = False) -> Network | None:
        """The newest network, unless it was returned before."""
        network = self._experience.network
        if network is None or network.version == self._version:
            return None
        self._version = network.version
        return network

    def close(self) -> None:
        """Nothing to close."""
