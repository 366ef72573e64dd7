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
from engine.evorl.findings import Bug, Findings, Key, Kind
from engine.evorl.revived import Revived
from engine.mdp.interface import Array, MDPSpec
from engine.mdp.places import Fault, Faulty, Look
from engine.mdp.vector import Ended, VectorMDP, VectorStep, episode_seeds

PLACES = "places"
"""The signal that a watched game has beside its own: different places of an episode."""
CRASHES = 3
"""Crashes of a program with the same message whose battles at one place are tried, where none of them shows again."""
SELDOM = 2
"""From then on battles there are tried after one crash in so many: some may be due to chance, others to a bug."""
MOST_TRIED = 256
"""Battles that are tried after a crash, at most."""
Shown = Callable[[Bug, Findings], bool | None]
"""Whether a bug shows again; None where too few decisions are left to try it. What it cost is counted in the
findings."""


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
                self._judge_crash(self._faulty.faults[codes[broken[0]]], there.tolist(), self.game.named)
                broken = []
            for b in broken:
                fault = self._faulty.faults[codes[b]]
                self._report(fault.kind, fault.what, b, int(there[b]))
        for b in np.flatnonzero(self._still == self.oracles.stuck_after).tolist():
            self._report("stuck", "Nothing that is tried here leads anywhere else.", b, int(there[b]))
        if step.ended is not None:
            self._judge_ended(step.ended, there)

    def _judge_crash(self, fault: Fault, there: Sequence[int], named: int | None) -> None:
        """A program crashed, perhaps by the battle that it ``named``: battles are tried one after the other until one
        shows it again. A crash that none shows is lost, and that is counted. All battles began anew after the crash
        before, so trying each of them once takes no more decisions than were made since."""
        keys, tried = [(fault.kind, fault.what, place) for place in there], list[int]()
        rest = {there[b] for b, key in enumerate(keys) if not self._is_due(key)}
        for b in self._suspects(keys, named):
            sure = b == named or len(there) == 1
            shown = self._tries(fault.kind, fault.what, b, there[b], sure=sure)
            if shown or (sure and shown is None and (keys[b] in self.found.bugs or keys[b] in self.found.untried)):
                return
            if shown is False:
                tried.append(there[b])
        self.found.vain.update((fault.what, place) for place in rest.union(tried))
        self.found.lost[fault.what] += 1
        self.found.partial[fault.what] += len(tried) < len(there)

    def _suspects(self, keys: Sequence[Key], named: int | None) -> list[int]:
        """Battles that may have crashed a program, in the order in which they are tried: the one that it named, those
        at places with a bug that is known, which most crashes are due to, and others. Those of known bugs leave half of
        all tries to the others."""
        known = [b for b, key in enumerate(keys) if key in self.found.bugs]
        others = [b for b, key in enumerate(keys) if key not in self.found.bugs and self._is_due(key)]
        half, first = MOST_TRIED // 2, [] if named is None else [named]
        return [*dict.fromkeys([*first, *known[:half], *others, *known[half:]])][:MOST_TRIED]

    def _is_due(self, key: Key) -> bool:
        """Whether battles at a place are tried that has no bug so far, and that no message names."""
        vain = self.found.vain[key[1:]]
        return vain < CRASHES or vain % SELDOM == 0

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
        shown = self._tries(kind, what, battle, place, sure=kind != "stuck")
        if not shown:
            self.found.refused.add(key)
            self.found.unshown += shown is False and kind != "stuck"

    def _tries(self, kind: Kind, what: str, battle: int, place: int, *, sure: bool) -> bool | None:
        """Whether a bug shows again, which is then reported, or seen once more; None where that is not tried. If only
        decisions are missing, it is kept for another agent, which may show it sooner; not, unless it is ``sure``:
        agents may merely not have wanted to leave, and another battle may have crashed the program."""
        bug = self._bug(kind, what, battle, place)
        if bug is None:
            return None
        shown = self._shown is None or self._shown(bug, self.found)
        if bug.key in self.found.bugs:
            self.found.bugs[bug.key].seen += bool(shown or (sure and shown is None))
        elif shown:
            self.found.bugs[bug.key] = bug
        elif shown is None and sure:
            self.found.untried[bug.key] = bug
        return shown

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
