"""The tournament at the end of a course, as its study holds it: begun, played pair by pair, reported and stored."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from engine.arrays import Bundle
from engine.config.arena import ArenaConfig
from engine.config.roster import in_words
from engine.config.tournament import TournamentConfig
from engine.errors import Cancelled
from engine.mdp.vector import Game
from engine.means import range_of
from engine.problem import ShouldStop
from engine.rl.seats import Player
from engine.store import Store
from engine.study.tournament import BATCH, StoredTable, Tournament


class Result(NamedTuple):
    """How a pair's meetings went: as a sentence, and as metrics of an event."""

    sentence: str
    metrics: dict[str, float]


class CourseTournament:
    """A tournament that has begun or not, and its table as stored; a course without one has it all the same, empty."""

    def __init__(self, config: ArenaConfig, store: Store) -> None:
        self._config, self._seed = config.tournament or TournamentConfig(), config.seed
        self._table = StoredTable(store)
        self._played: Tournament | None = None

    @property
    def batch(self) -> int:
        """Battles that it plays at once."""
        return min(BATCH, self._config.meetings)

    @property
    def begun(self) -> bool:
        """Whether it is known who meets."""
        return self._played is not None

    @property
    def over(self) -> bool:
        """Whether all have met."""
        return self._played is not None and self._played.over

    @property
    def digest(self) -> str:
        """The hash of the stored table; empty where there is none."""
        return self._table.digest

    @property
    def roles(self) -> dict[str, str]:
        """The stored table as artifacts of an event."""
        return self._table.roles

    def begin(self, entrants: Sequence[str]) -> None:
        """Let these meet; one that has begun goes on."""
        self._played = self._played or Tournament(self._config, self._seed, entrants)

    def play(self, game: Game, players: Mapping[str, Player], stopped: Callable[[], bool]) -> Result:
        """Let the next pair meet. Raises Cancelled; then it meets again, with the same result."""
        played = self._begun
        first, second = (played.entrants[i] for i in played.play(game, players, stopped))
        shares = played.results[-1][1]
        ends = range_of(shares, 0.0, 1.0)
        result = f"{100 * shares.mean():.0f} % ({100 * ends.low:.0f} to {100 * ends.high:.0f} %)"
        metrics = {
            "share": float(shares.mean()), "low": ends.low, "high": ends.high, "pairs": float(len(played.results)),
            "pairs_in_all": float(self._config.pairs(len(played.entrants))),
        }  # fmt: skip
        return Result(f"Tournament: {in_words(first)} won {result} against {in_words(second)}.", metrics)

    def write(self) -> None:
        """Store the table of all pairs that have met."""
        self._table.write(self._begun)

    def write_if_due(self, stopped: ShouldStop) -> None:
        """Store the table if all have met, or if the last one is old; unless a command comes meanwhile."""
        if self.over or self._table.due:
            with contextlib.suppress(Cancelled):
                self._table.write(self._begun, stopped)

    @property
    def _begun(self) -> Tournament:
        assert self._played is not None, "a tournament is played after begin()"
        return self._played

    def parts(self) -> dict[str, Bundle]:
        """As a part of a checkpoint, once it has begun."""
        return {"tournament": self._played.part()} if self._played is not None else {}

    def load(self, parts: dict[str, Bundle], digest: str) -> None:
        """Continue from the parts of a checkpoint, out of which it takes its own, with this table stored."""
        self._table.digest = digest
        part = parts.pop("tournament", None)
        if part is not None:
            self._played = Tournament(self._config, self._seed, part.meta["entrants"])
            self._played.load(part)
