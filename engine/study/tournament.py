"""The tournament at the end of a course: its policies meet in pairs, and the table says who beats whom.

A round is one pair. Its seeds are a hash of the course's seed, its number and the meeting's; each is played twice, once
with exchanged sides, and a meeting's result is the first one's share of both wins. The table is that of a round robin
(``engine.metagame.table``): Elo and Nash shares with their ranges, and the match-ups. Elo points are of those
between whom shares went both ways, directly or in a chain, and around their mean: whoever only won or only lost against
all of them is arbitrarily far away, has no points, and would leave nobody's range with an end. Of several such groups
the largest one has points, of equally large ones the one that won more.

A Swiss tournament takes turns. In each, those meet who stand alike: the list by points is paired from the top, the
nearest below whom one has not met yet. Two who are left over and have met change opponents with the nearest pair above
that lets all four meet somebody new; where there is none, they meet again. There is one as long as everybody has met
fewer than half of the others, and of up to twelve players every choice is tried. Of an odd number the last one who did
not pause yet pauses, and gets one point.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from engine.arrays import Bundle, pack
from engine.columns import Arrays
from engine.config.tournament import TournamentConfig
from engine.mdp.vector import Game
from engine.means import range_of
from engine.metagame.ladder import Ladder, Meetings
from engine.metagame.matchups import Pairs, pairs_of
from engine.metagame.split import ELO
from engine.metagame.table import read
from engine.problem import ShouldStop
from engine.rl.seats import Player
from engine.rng import battle_seeds, combine64
from engine.standings import OWN
from engine.store import Store
from engine.study.meetings import meet

Floats = NDArray[np.float64]
Pair = tuple[int, int]
TOURNAMENT = 0xE7A7
"""First match key of tournaments, so that no training has their seeds."""
FEW = 12
"""Players of whom every choice can be tried."""
MEETING = 4
"""How often the time of a table passes before the next one, while pairs meet: with many players a table takes longer
than the battles of a pair."""
BATCH = 100
"""Seeds played at once; a command is heard in between."""


class Tournament:
    """``entrants``: names, in order; ``results``: of the pairs that have met, the first one's share in each meeting;
    ``moves``: decisions."""

    def __init__(self, config: TournamentConfig, seed: int, entrants: Sequence[str]) -> None:
        self.config, self.seed, self.entrants = config, seed, tuple(entrants)
        self.meetings = config.meetings
        self.results: list[tuple[Pair, Floats]] = []
        self.moves = 0
        self._turn: tuple[int, list[Pair]] = (-1, [])

    @property
    def over(self) -> bool:
        """Whether all have met."""
        return len(self.results) >= self.config.pairs(len(self.entrants))

    def due(self) -> Pair:
        """The pair that meets next."""
        at = len(self.results)
        if self.config.kind == "round-robin":
            return list(combinations(range(len(self.entrants)), 2))[at]
        each = len(self.entrants) // 2
        turn = at // each
        if self._turn[0] != turn:
            before = [[pair for pair, _ in self.results[k * each : (k + 1) * each]] for k in range(turn)]
            self._turn = turn, paired(len(self.entrants), before, self._points(turn * each))
        return self._turn[1][at % each]

    def _points(self, played: int) -> Floats:
        """Points after so many pairs, pauses left out."""
        points = np.zeros(len(self.entrants))
        for (a, b), shares in self.results[:played]:
            points[a] += shares.mean()
            points[b] += 1 - shares.mean()
        return points

    def play(self, game: Game, players: Mapping[str, Player], stopped: Callable[[], bool]) -> Pair:
        """Let the next pair meet. Raises Cancelled; then it meets again, with the same result."""
        first, second = self.due()
        names = self.entrants[first], self.entrants[second]
        key = np.array([combine64(TOURNAMENT, len(self.results))])
        seeds = battle_seeds(self.seed, key, 0, self.meetings)[0]
        found, moves = np.empty((2, self.meetings)), 0
        for at in range(0, self.meetings, BATCH):
            for i, seated in enumerate((names, names[::-1])):
                won, moved = meet(game, seated, players, seeds[at : at + BATCH], stopped)
                found[i, at : at + BATCH] = won[:, i]
                moves += moved
        self.results.append(((first, second), found.mean(axis=0)))
        self.moves += moves
        return first, second

    def table(self, stopped: ShouldStop = lambda: False) -> tuple[dict[str, Any], Arrays]:
        """Meta and columns of all that was played (``engine.metagame.table.read``). While pairs have not met, nobody
        knows how much of all is cyclic. Raises Cancelled once ``stopped()``."""
        n = len(self.entrants)
        rows: dict[Pair, list[Floats]] = {pair: [] for pair in combinations(range(n), 2)}
        for (a, b), shares in self.results:
            rows[min(a, b), max(a, b)].append(shares if a < b else 1 - shares)
        most = max(sum(map(len, parts)) for parts in rows.values())
        results = np.full((len(rows), most), np.nan)
        for i, parts in enumerate(rows.values()):
            flat = np.concatenate(parts) if parts else np.empty(0)
            results[i, : len(flat)] = flat
        meta, columns = read(n, results, self.seed, _rated(n, results), stopped)
        if meta["missing"]:
            meta["cyclic"] = {"share": None, "low": 0.0, "high": 1.0}
        columns |= dict(zip(OWN, self._own(), strict=True))
        teams = [{"name": name, "parts": "", "cost": 0.0} for name in self.entrants]
        return {"teams": teams, "battles": self.config.episodes, **meta}, columns

    def _own(self) -> Floats:
        """Each player's share of wins in its own meetings, and the ends of its range, float64[3, n]; NaN for whoever
        has met nobody."""
        found = np.full((3, len(self.entrants)), np.nan)
        for i in range(len(self.entrants)):
            parts = [shares if i == a else 1 - shares for (a, b), shares in self.results if i in (a, b)]
            if parts:
                own = np.concatenate(parts)
                found[:, i] = own.mean(), *range_of(own, 0.0, 1.0)
        return found

    def part(self) -> Bundle:
        """As a part of a checkpoint."""
        pairs = np.array([pair for pair, _ in self.results], np.int64).reshape(-1, 2)
        shares = np.array([shares for _, shares in self.results]).reshape(-1, self.meetings)
        return Bundle({"moves": self.moves, "entrants": list(self.entrants)}, {"pairs": pairs, "shares": shares})

    def load(self, part: Bundle) -> None:
        """Continue from a part."""
        pairs = [(int(a), int(b)) for a, b in part.arrays["pairs"]]
        self.results = list(zip(pairs, part.arrays["shares"], strict=True))
        self._turn = (-1, [])
        self.moves = int(part.meta["moves"])


def _rated(players: int, results: Floats) -> Arrays:
    """Elo points and the ends of their ranges, NaN for those who cannot be compared; ``results`` as ``matchups``."""
    pairs, played = pairs_of(players), ~np.isnan(results)
    wins, many = np.where(played, results, 0.0), played.sum(axis=1)
    took = np.zeros((players, players), np.bool_)
    took[pairs.first, pairs.second], took[pairs.second, pairs.first] = wins.sum(axis=1) > 0, wins.sum(axis=1) < many
    label = connected_components(took, connection="strong")[1]
    within = label == np.lexsort((_won(label, pairs, wins.sum(axis=1), many), np.bincount(label)))[-1]
    found = {name: np.full(players, np.nan) for name in ("rating", "rating_low", "rating_high")}
    if within.sum() < 2:
        return found
    place, here = np.cumsum(within) - 1, within[pairs.first] & within[pairs.second]
    among = Pairs(place[pairs.first[here]], place[pairs.second[here]])
    met = Meetings(among, many[here].astype(float), wins[here].sum(axis=1), (wins[here] ** 2).sum(axis=1))
    ladder = Ladder(int(within.sum()), met, np.ones(int(within.sum()), np.bool_))
    for name, column in zip(found, (ladder.ratings, ladder.low, ladder.high), strict=True):
        found[name][within] = ELO * column
    return found


def _won(label: NDArray[np.int32], pairs: Pairs, wins: Floats, many: NDArray[np.int64]) -> Floats:
    """The share of its meetings that each group of players won: ``wins`` of the first of each pair, of so ``many``."""
    both = np.concatenate([label[pairs.first], label[pairs.second]])
    met = np.bincount(both, np.tile(many, 2), label.max() + 1)
    return np.bincount(both, np.concatenate([wins, many - wins]), label.max() + 1) / np.maximum(met, 1)


def paired(count: int, before: Sequence[Sequence[Pair]], points: Floats) -> list[Pair]:
    """The pairs of a Swiss turn; ``before``: those of each earlier one, ``points`` float64[count] in these."""
    met = {frozenset(pair) for turn in before for pair in turn}
    paused = [player for turn in before for player in range(count) if all(player not in pair for pair in turn)]
    standing = points + np.bincount(np.array(paused, np.int64), minlength=count)
    order = sorted(range(count), key=lambda player: (-standing[player], player))
    if count % 2:
        fewest = min(paused.count(player) for player in order)
        order.remove(next(player for player in reversed(order) if paused.count(player) == fewest))
    every = _matched(order, met) if count <= FEW else None
    return every or _nearest(order, met)


def _nearest(order: list[int], met: set[frozenset[int]]) -> list[Pair]:
    """Pairs from the top, each with the nearest below whom one has not met; who is left over changes with a pair above.

    In a graph in which everybody may meet at least half of all, two who are left over may meet at least as many as
    there are players, more than two of each pair: so there is a pair with which they can change."""
    left, pairs, over = list(order), list[Pair](), list[int]()
    while left:
        first = left.pop(0)
        second = next((other for other in left if frozenset((first, other)) not in met), None)
        if second is None:
            over.append(first)
        else:
            left.remove(second)
            pairs.append((first, second))
    for a, b in zip(over[::2], over[1::2], strict=True):
        for i in range(len(pairs) - 1, -1, -1):
            c, d = pairs[i]
            swaps = (((a, c), (b, d)), ((a, d), (b, c)))
            new = next((two for two in swaps if not met & set(map(frozenset, two))), None)
            if new is not None:
                pairs[i : i + 1] = new
                break
        else:
            pairs.append((a, b))
    return pairs


def _matched(order: list[int], met: set[frozenset[int]]) -> list[Pair] | None:
    """Pairs of players who have not met; None where there are none."""
    if not order:
        return []
    first, *others = order
    for other in others:
        if frozenset((first, other)) not in met:
            rest = _matched([player for player in others if player != other], met)
            if rest is not None:
                return [(first, other), *rest]
    return None


class StoredTable:
    """The table of the pairs that have met, as it was stored last: ``digest``, empty where it never was."""

    def __init__(self, store: Store) -> None:
        self._store, self.digest = store, ""
        self._pairs, self._due = 0, 0.0

    @property
    def due(self) -> bool:
        """Whether pairs have met for much longer than the last table took."""
        return time.monotonic() >= self._due

    @property
    def roles(self) -> dict[str, str]:
        """As artifacts of an event."""
        return {"table": self.digest} if self.digest else {}

    def write(self, whole: Tournament, should_stop: ShouldStop = lambda: False) -> None:
        """Store the table of all pairs that have met, where there are new ones. Raises Cancelled."""
        if len(whole.results) == self._pairs:
            return
        began = time.monotonic()
        meta, columns = whole.table(should_stop)
        self.digest, self._pairs = self._store.put(pack(meta, columns)), len(whole.results)
        ended = time.monotonic()
        self._due = ended + MEETING * (ended - began)
