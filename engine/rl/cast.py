"""The cast of an episode: the policy on each seat, as a pure function of data that every process has.

``cast(battle, episode, snapshots)`` hashes the battle's seed (itself a hash of the study's seed, the sampler and the
battle's number) with the episode's number, and draws each seat's policy from the seat's candidates in proportion to
their shares. If no learning policy was drawn for any seat, one takes a seat that is open to it, so that no episode is
wasted. Seats that draw ``together`` get the same one of their candidates, as a squad that one policy plays. A candidate
may stand for earlier snapshots of a learning policy: then one of the snapshots that came with its
weights is drawn uniformly, or the policy itself while there are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.config.policies import expected_seats
from engine.errors import ConfigError
from engine.rng import combine64

U64 = NDArray[np.uint64]
Snapshots = Mapping[str, Sequence[str]]
"""By learning policy: store hashes of its snapshots at the ends of earlier rounds, oldest first."""
_CAST = 0xCA57
_SEAT, _LEARNER, _SNAPSHOT = 0, 1, 2


class Candidate(NamedTuple):
    """A policy that may sit on a seat, its share among the seat's candidates, and whether it learns; ``of``: the
    learning policy whose snapshots it stands for."""

    policy: str
    share: float = 1.0
    learns: bool = False
    of: str = ""


class Cast:
    """``seats``: each seat's candidates; ``together``: by seat a number that seats with the same draw have in common,
    and with it their candidates; left out: each draws for itself. Raises ConfigError for a seat without candidates,
    and when no policy learns."""

    def __init__(self, seats: Sequence[Sequence[Candidate]], together: Sequence[int] = ()) -> None:
        self.seats = tuple(map(tuple, seats))
        self._draws = tuple(together) or tuple(range(len(self.seats)))
        if empty := [seat for seat, candidates in enumerate(self.seats) if not candidates]:
            raise ConfigError([("policies", f"nobody sits on seat {seat}: name a policy for it") for seat in empty])
        self._all = tuple(dict.fromkeys(candidate for candidates in self.seats for candidate in candidates))
        self._open = [seat for seat, candidates in enumerate(self.seats) if any(c.learns for c in candidates)]
        if not self._open:
            raise ConfigError([("policies", "none of the policies learns")])
        self.learning = tuple(dict.fromkeys(c.policy for c in self._all if c.learns))
        self.fixed = all(len(candidates) == 1 and not candidates[0].of for candidates in self.seats)

    def places(self, policy: str) -> tuple[int, ...]:
        """The seats that a policy may sit on; all of them for one that the cast does not name (a snapshot)."""
        found = [
            seat for seat, candidates in enumerate(self.seats) if any(policy in (c.policy, c.of) for c in candidates)
        ]
        return tuple(found) or tuple(range(len(self.seats)))

    def expected(self, policy: str) -> float:
        """The expected number of seats of a learning policy in an episode."""
        return expected_seats([[(c.policy, c.share, c.learns) for c in seat] for seat in self.seats], policy)

    def facing(self, policy: str, seat: int) -> Cast:
        """The same cast with ``policy`` fixed on one seat."""
        mine = (Candidate(policy, learns=True),)
        return Cast([mine if i == seat else candidates for i, candidates in enumerate(self.seats)], self._draws)

    def names(self, snapshots: Snapshots) -> tuple[str, ...]:
        """All policies that may be drawn: the candidates, then the snapshots."""
        past = [f"{of}@{digest}" for of in self._past for digest in snapshots.get(of, ())]
        return (*(c.of or c.policy for c in self._all), *past)

    @property
    def _past(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(c.of for c in self._all if c.of))

    def __call__(self, battle: int, episode: int, snapshots: Snapshots) -> tuple[str, ...]:
        """The policy on each seat of the ``episode``-th episode of the battle with this seed."""
        (drawn,) = self.draw(np.array([battle], np.uint64), np.array([episode]), snapshots)
        names = self.names(snapshots)
        return tuple(names[i] for i in drawn.tolist())

    def draw(self, battles: U64, episodes: NDArray[np.int64], snapshots: Snapshots) -> NDArray[np.int64]:
        """The same for n episodes: indices into ``names(snapshots)``, int64[n, seats]."""
        keys = combine64(combine64(battles, _CAST), episodes.astype(np.uint64))
        marks = [uniform(keys, _SEAT, number) for number in self._draws]
        drawn = np.stack([self._drawn(seat, marks[seat], False) for seat in range(len(self.seats))], 1)
        learns = np.array([candidate.learns for candidate in self._all])
        if (nobody := np.flatnonzero(~learns[drawn].any(axis=1))).size:
            taken = (uniform(keys[nobody], _LEARNER, 0) * len(self._open)).astype(np.int64)
            for i, seat in enumerate(self._open):
                rows = nobody[taken == i]
                drawn[rows, seat] = self._drawn(seat, uniform(keys[rows], _LEARNER, 1), True)
        first = len(self._all)
        for of in self._past:
            if count := len(snapshots.get(of, ())):
                self._recall(drawn, keys, of, first, count)
                first += count
        return drawn

    def _drawn(self, seat: int, marks: NDArray[np.float64], learning: bool) -> NDArray[np.int64]:
        """One of a seat's candidates (``learning``: of those that learn) for each mark in [0, 1)."""
        found = [c for c in self.seats[seat] if c.learns or not learning]
        ends = np.cumsum([c.share for c in found])
        chosen = np.minimum(np.searchsorted(ends, marks * ends[-1], side="right"), len(found) - 1)
        return np.asarray(np.array([self._all.index(c) for c in found], np.int64)[chosen])

    def _recall(self, drawn: NDArray[np.int64], keys: U64, of: str, first: int, count: int) -> None:
        """Replace candidates that stand for snapshots by snapshots."""
        past = [i for i, candidate in enumerate(self._all) if candidate.of == of]
        for seat in range(len(self.seats)):
            rows = np.flatnonzero(np.isin(drawn[:, seat], past))
            marks = uniform(keys[rows], _SNAPSHOT, self._draws[seat])
            drawn[rows, seat] = first + (marks * count).astype(np.int64)


def uniform(keys: U64, purpose: int, number: int) -> NDArray[np.float64]:
    """A number in [0, 1) for each key."""
    return np.asarray((combine64(combine64(keys, purpose), number) >> np.uint64(11)) * 2.0**-53, np.float64)


def everywhere(policy: str, seats: int) -> Cast:
    """One learning policy on every seat."""
    return Cast([[Candidate(policy, learns=True)]] * seats)
