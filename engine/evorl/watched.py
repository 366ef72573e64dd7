"""A game that is watched while it is played: which places are entered, and what goes wrong.

Four oracles look at every decision, as Wuji's do. ``crash``: the game says that it crashed, or ends by an error.
``assertion``: what the game says must hold does not. ``stuck``: for ``stuck_after`` decisions the place did not change;
it counts only where nothing else that is tried there changes it either. ``imbalance``: an episode is won in fewer
decisions, or ends with a higher score, than should be possible. A bug is told by its oracle, what it says, and the
place. It is reported only if the same seed and moves show it again in a game of its own (``engine.evorl.replays``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.config.hunt import LONGEST
from engine.evorl.findings import Bug, Findings, Kind
from engine.evorl.revived import Revived
from engine.mdp.interface import Array, MDPSpec
from engine.mdp.places import Fault, Faulty, Look
from engine.mdp.vector import Ended, VectorMDP, VectorStep, episode_seeds

PLACES = "places"
"""The signal that a watched game has beside its own: different places of an episode."""
CRASHES = 3
"""Crashes of a program with the same message that are looked at, where none of them shows again."""
Shown = Callable[[Bug, Findings], bool]
"""Whether a bug shows again; what that cost is counted in the findings."""


class Oracles(NamedTuple):
    """``soonest``: decisions that a win takes at least; ``most``: the highest score. None: as the game says, by
    attributes of these names."""

    stuck_after: int
    soonest: int | None = None
    most: float | None = None


class Watched:
    """A game for one seat that is watched. ``found``: what was seen so far; ``shown``: None reports every bug as it
    is; ``ticks``: decisions that each battle made since the last reset."""

    def __init__(self, game: VectorMDP, oracles: Oracles, found: Findings, shown: Shown | None = None) -> None:
        self.game, self.found, self._shown = game, found, shown
        soonest = getattr(game, "soonest", 0) if oracles.soonest is None else oracles.soonest
        most = getattr(game, "most", np.inf) if oracles.most is None else oracles.most
        self.oracles = Oracles(oracles.stuck_after, soonest, most)
        seat = game.spec.seats[0]
        seat = msgspec.structs.replace(seat, signals=(*seat.signals, PLACES))
        self.spec: MDPSpec = msgspec.structs.replace(game.spec, seats=(seat,))
        self._faulty = game if isinstance(game, Faulty) else None
        self._look = Look(game)

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        n = len(seeds)
        self._base, self._episodes = seeds.copy(), np.zeros(n, np.int64)
        self._moves: list[Array] = []
        self._dropped = self.ticks = 0
        self._begun, self._still = np.zeros(n, np.int64), np.zeros(n, np.int64)
        step = self.game.reset(seeds)
        self._at = self._look.now(step)
        self._been = [{place} for place in self._at.tolist()]
        return step

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        self._moves.append(np.array(actions[0]))
        self.ticks += 1
        step = self.game.step(actions)
        now = self._look.now(step)
        there = now.copy()
        if step.ended is not None:
            there[step.ended.battles] = self._look.last(step)
        places = there.tolist()
        self.found.visit(places)
        for been, place in zip(self._been, places, strict=True):
            been.add(place)
        self._still = np.where(there == self._at, self._still + 1, 0)
        self._judge(step, there)
        self._at = now
        if step.ended is None:
            self._forget(self.ticks - LONGEST)
            return step
        return step._replace(ended=self._over(step.ended))

    def _judge(self, step: VectorStep, there: NDArray[np.int64]) -> None:
        if self._faulty is not None:
            codes = self._faulty.broken()
            broken = np.flatnonzero(codes >= 0).tolist()
            if broken and isinstance(self.game, Revived):
                self._judge_crash(self._faulty.faults[codes[broken[0]]], there.tolist())
                broken = []
            for b in broken:
                fault = self._faulty.faults[codes[b]]
                self._report(fault.kind, fault.what, b, int(there[b]))
        for b in np.flatnonzero(self._still == self.oracles.stuck_after).tolist():
            self._report("stuck", "Nothing that is tried here leads anywhere else.", b, int(there[b]))
        if step.ended is not None:
            self._judge_ended(step.ended, there)

    def _judge_crash(self, fault: Fault, there: Sequence[int]) -> None:
        """A program crashed, and which battle it was nobody knows: they are tried one after the other until one shows
        it again. After ``CRASHES`` of the same message that none showed, it is not looked at any more."""
        keys = [(fault.kind, fault.what, place) for place in there]
        known = next((self.found.bugs[key] for key in keys if key in self.found.bugs), None)
        if known is not None:
            known.seen += 1
            return
        if self.found.crashes[fault.what] == CRASHES:
            return
        for b, key in enumerate(keys):
            bug = self._bug(fault.kind, fault.what, b, there[b])
            if bug is not None and (self._shown is None or self._shown(bug, self.found)):
                self.found.bugs[key] = bug
                return
            if key in self.found.untried:
                return
        self.found.crashes[fault.what] += 1
        self.found.unshown += 1

    def _judge_ended(self, ended: Ended, there: NDArray[np.int64]) -> None:
        """What won too soon is told by the place before the end, for the goal is the same each time."""
        soonest, most = self.oracles.soonest or 0, np.inf if self.oracles.most is None else self.oracles.most
        for i, b in enumerate(ended.battles.tolist()):
            if ended.win[i, 0] == 1 and ended.lengths[i] < soonest:
                self._report("imbalance", f"It is won in fewer than {soonest} decisions.", b, int(self._at[b]))
            if ended.score[i, 0] > most:
                self._report("imbalance", f"The score is above {most:g}.", b, int(there[b]))

    def _report(self, kind: Kind, what: str, battle: int, place: int) -> None:
        key = kind, what, place
        known = self.found.bugs.get(key)
        if known is not None:
            known.seen += 1
        if known is not None or key in self.found.refused:
            return
        bug = self._bug(kind, what, battle, place)
        if bug is not None and (self._shown is None or self._shown(bug, self.found)):
            self.found.bugs[key] = bug
        else:
            self.found.refused.add(key)

    def _bug(self, kind: Kind, what: str, battle: int, place: int) -> Bug | None:
        """A bug that the present moment of a battle shows; None where its episode is too long to be shown again."""
        first = int(self._begun[battle])
        if self.ticks - first > LONGEST:
            return None
        seed = episode_seeds(self._base[[battle]], self._episodes[[battle]])[0]
        moves = [row[battle].tolist() for row in self._moves[first - self._dropped :]]
        return Bug(kind=kind, what=what, place=place, seed=int(seed), moves=moves)

    def _over(self, ended: Ended) -> Ended:
        """The episodes that ended, with the number of their places; new ones have begun."""
        b = ended.battles
        many = np.array([[len(self._been[i])] for i in b.tolist()], np.float64)
        self._episodes[b] += 1
        self._begun[b], self._still[b] = self.ticks, 0
        for i in b.tolist():
            self._been[i] = {int(self._at[i])}
        self._forget(max(int(self._begun.min()), self.ticks - LONGEST))
        if isinstance(self.game, Revived) and self.game.anew is not None:
            self._base, self._episodes = self.game.anew, np.zeros_like(self._episodes)
        return ended._replace(signals=(np.concatenate([ended.signals[0], many], axis=1),))

    def _forget(self, tick: int) -> None:
        """Moves before a tick are not needed any more."""
        if tick > self._dropped:
            del self._moves[: tick - self._dropped]
            self._dropped = tick

    def close(self) -> None:
        """Release the game's resources."""
        self.game.close()
