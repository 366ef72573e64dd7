"""Population based training by self-play: the evolution of players whose opponents are one another, and a ladder of all
of them by strength."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.arrays import pack
from engine.columns import Arrays
from engine.config.self_play import SelfPlayConfig
from engine.errors import below
from engine.events import AnyEvent
from engine.evolution.algorithm import Individual
from engine.evorl.record import trained
from engine.evorl.self_play import SelfPlay
from engine.mdp.vector import VectorMDP
from engine.metagame.ladder import Ladder, Meetings
from engine.metagame.matchups import Pairs
from engine.metagame.split import ELO
from engine.rl.policy import Policy
from engine.runtime.pool import Pool
from engine.store import Store
from engine.study.casting import check_limits, player_of
from engine.study.checkpoint import Checkpoint
from engine.study.control import Control
from engine.study.drive import FRESH
from engine.study.evolve import Evolve, together
from engine.study.failures import with_failure


def self_play(config: SelfPlayConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a study that trains a population against itself."""
    return with_failure(_SelfPlay(config, store, control).events(resume))


class _SelfPlay(Evolve):
    evaluator = "self-play"

    config: SelfPlayConfig
    search: SelfPlay

    @property
    def method(self) -> Callable[..., Any]:
        return partial(SelfPlay, opponents=self.config.opponents)

    def fit(self, game: VectorMDP) -> None:
        """Saved agents and scripts can play."""
        with below("opponents"):
            for name, other in self.config.opponents.outside.items():
                player_of(name, other, game.spec.seats[0], self.store, place="others")
                check_limits(game, other, (0, 1), f"others.{name}", self.config.seed)

    def prepare(self, saved: Checkpoint | None) -> None:
        """Also puts saved agents where workers find them."""
        super().prepare(saved)
        for other in self.config.opponents.outside.values():
            if other.policy:
                self.trainings.lease.put(self.store.get(other.policy))
                self.trainings.lease.put(Policy.stored(self.store, other.policy).pack()[1])

    def extras(self, front: Sequence[Individual]) -> tuple[dict[str, float], dict[str, str]]:
        """Adds the ladder, and the size of the pool."""
        metrics, artifacts = super().extras(front)
        if not self.search.pool:
            return metrics, artifacts
        return metrics | {"pool": float(len(self.search.pool))}, artifacts | self._ladder()

    def _ladder(self) -> dict[str, str]:
        meta = {"outside": list(self.config.opponents.outside)}
        return {"table": self.store.put(pack(meta, ladder_of(self.search)))} if self.search.pool else {}

    def _fresh(self, pool: Pool) -> Generator[AnyEvent, None, dict[str, str]]:
        """The members meet one another, too."""
        found = yield from super()._fresh(pool)
        asked = self.search.round_robin(FRESH, self.config.episodes) if self.config.fresh and not self.control() else []
        if len(asked) > 1 or (asked and self.config.opponents.outside):
            what = f"The {len(self.search.present)} members meet one another, about {self.config.episodes} times each."
            answers = yield from self._measured(pool, asked, what, last=False)
            self.search.meet(each.evaluation for each in answers)
        return found

    def leader(self, front: Sequence[Individual]) -> Individual:
        """Who stands highest on the ladder of the members as they are now."""
        ladder = ladder_of(self.search)
        rated = dict(zip(ladder["id"].tolist(), ladder["rating"].tolist(), strict=True))
        members = [i for i in self.search.latest.values() if self.trainings.lease.has(trained(i.evaluation))]
        able = [i for i in members if math.isfinite(rated.get(i.evaluation.id, math.nan))]
        return max(able, key=lambda i: rated[i.evaluation.id], default=None) or super().leader(front)

    def results(self) -> dict[str, str]:
        """Adds the policies of the pool, and the ladder with the last meetings."""
        found, pool = super().results() | self._ladder(), self.search.pool
        policies = [Policy(self.space.spec, self.trainings.weights(version.digest)) for version in pool]
        return found | ({"pool": self.store.put(together([v.id for v in pool], policies))} if pool else {})


def ladder_of(search: SelfPlay) -> Arrays:
    """Everybody who is kept, those outside first: ``id`` of a version (-1: outside), its ``member`` and ``step`` (-1),
    whether it is ``present``; its ``rating`` in Elo points around the mean of the members as they are now, with the
    ends of its 95 % range ``rating_low`` and ``rating_high`` (infinite: the meetings do not bound it; all NaN: no chain
    of meetings runs to them); ``beside``: 1 for members as they are now and players outside that are surely stronger
    than the strongest of these members, -1 for those that are surely weaker, 0 for the rest and where nobody knows;
    ``meetings`` and the ``share`` of wins in them; ``faced``: its opponents in the next step, as a share of that step's
    battles over all members."""
    names, pairs, counts = search.meetings()
    meetings, wins, squares = counts.T
    outside = len(search.opponents.outside)
    present = {version.id for version in search.present.values()}
    rows = np.array([(v.id, v.member, v.step, v.id in present) for v in search.pool], np.int64)
    columns = np.concatenate([np.tile([-1, -1, -1, 0], (outside, 1)), rows])
    here = columns[:, 3] > 0
    found = Ladder(len(names), Meetings(Pairs(pairs[:, 0], pairs[:, 1]), meetings, wins, squares), here)
    return {
        **dict(zip(("id", "member", "step", "present"), columns.T, strict=True)),
        "rating": ELO * found.ratings,
        "rating_low": ELO * found.low,
        "rating_high": ELO * found.high,
        "beside": _beside(found, here, columns[:, 0] < 0),
        **_played(len(names), pairs, meetings, wins),
        "faced": _faced(search, names),
    }


def _beside(found: Ladder, here: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """Who of those ``here`` and ``outside`` is surely above (1) or below (-1) the strongest of those ``here``."""
    sure = np.zeros(len(here), np.int8)
    known = np.isfinite(found.ratings)
    if not (here & known).any():
        return sure
    leader = int(np.argmax(np.where(here & known, found.ratings, -np.inf)))
    standing = np.flatnonzero((here | outside) & known).tolist()
    others = [player for player in standing if player != leader]
    sure[others] -= found.surely_above(leader, others, len(standing))
    for player in others:
        sure[player] += found.surely_above(player, [leader], len(standing))[0]
    return sure


def _played(players: int, pairs: np.ndarray, meetings: np.ndarray, wins: np.ndarray) -> Arrays:
    """Meetings and share of wins of each player, from either side."""
    count, won = np.zeros(players), np.zeros(players)
    for side, mine in ((0, wins), (1, meetings - wins)):
        np.add.at(count, pairs[:, side], meetings)
        np.add.at(won, pairs[:, side], mine)
    with np.errstate(invalid="ignore"):
        return {"meetings": count.astype(np.int64), "share": won / count}


def _faced(search: SelfPlay, names: Sequence[str]) -> np.ndarray:
    asked = list(search.asked.values())
    return np.array([sum(each[name][1] for each in asked if name in each) / max(len(asked), 1) for name in names])
