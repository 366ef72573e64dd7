"""herobattle as a game for agents: a commander on each side orders his team, which otherwise fights as in a lineup."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.config.agent_games import CommanderSettings
from engine.errors import ConfigError, SimulatorError
from engine.games import two_seats
from engine.games.herobattle import layout
from engine.games.herobattle.commanders import battles as play
from engine.games.herobattle.commanders import moments
from engine.games.herobattle.kernel import NO_CASTS, NO_TRACE
from engine.games.herobattle.simulator import HeroBattle, Tables
from engine.games.herobattle.teams import roster
from engine.mdp.interface import Array, ArraySpec, Discrete, Hybrid, MDPSpec, SeatSpec, action_problem
from engine.mdp.vector import Ended, VectorStep, episode_seeds

VERSION = "1"
REWARDS = {
    "score": play.SCORE, "win": play.WIN, "dealt": play.DEALT, "taken": play.TAKEN,
    "walked": play.WALKED, "idle": play.IDLE, "ground": play.GROUND, "waited": play.WAITED,
    "waiting": play.WAITING, "explored": play.EXPLORED, "forward": play.FORWARD,
}  # fmt: skip
SIGNALS = ("dealt", "taken", "walked", "idle", "paces", "first_blow", "ground", "first_attack", "explored", "forward")
ORDER = Hybrid(
    tuple(Discrete(k) for k in (layout.FOCUSES, layout.STANCES, layout.STANCES, layout.STANCES, layout.SKILL_USES))
)
"""Whom the team attacks; a stance for the hero, the first and the second kind of soldiers; when the skill is used
(``layout.FOCUS`` and the words below it). All zeros is what the game does by itself."""


class HeroBattleCommanders:
    """Battles of random teams under the game's rules, with a commander on each side.

    ``seats``: those played from outside; the other one gives no orders, so its team fights as in a lineup. An order is
    given every ``every`` ticks. ``same_teams``: both sides lead the same team. ``mirror`` exchanges teams and luck, so
    that the same commanders with exchanged seats fight the same battle, exchanged. ``changes``: numbers of the game's
    data that are others, each as ``PATH=VALUE``. ``rewards``: any of ``REWARDS``:
    "score" (change of own minus the other's share of life), "win" (1, 0 or -1 at the end), "dealt" and "taken" (shares
    of a team's life), "walked" and "idle" (shares of the units' time), "ground" (squares of two paces entered for the
    first time), "waited" (ticks before the first own blow), "waiting" (the same as a share of the decision's),
    "explored" (squares entered for the first time, as a share of the field's) and "forward" (how far forward the units
    stand: 0 where they began, 1 in the middle of the field). A result's score is (own - other's share
    of life + 1) / 2. Raises ConfigError for invalid settings.
    """

    drawing = "commanders"
    """What draws its battles."""

    def __init__(
        self,
        *,
        seats: Sequence[int] = (0,),
        every: int = 4,
        rewards: Sequence[str] = ("score", "win"),
        changes: Sequence[str] = (),
        same_teams: bool = False,
        mirror: bool = False,
    ) -> None:
        settings = {"every": every, "rewards": tuple(rewards), "changes": tuple(changes), "same_teams": same_teams,
                "mirror": mirror}  # fmt: skip
        two_seats.check("herobattle", CommanderSettings, seats, settings)
        self._seats, self._every = tuple(seats), every
        self._kinds = np.array([REWARDS[name] for name in rewards], np.int64)
        game = HeroBattle()
        patch = _patch(changes)
        tables = _tables(game, patch)
        edges, pair, soldiers = game.hidden
        spec = game.describe().patched(patch)
        self._names, able = [piece.name for piece in spec.pieces], roster(spec)
        self._rules = play.Rules(
            tables.pieces, tables.parameters, edges, pair, soldiers, able.costs, able.groups, able.limits, same_teams,
            mirror,
        )  # fmt: skip
        seat = SeatSpec((ArraySpec("battle", (play.OBSERVED,)),), ORDER, tuple(rewards), SIGNALS)
        limit = int(tables.parameters[layout.TIME_LIMIT])
        longest = -(-limit // every)
        self.ends = {"first_blow": (0.0, float(limit))}
        self.spec = MDPSpec("herobattle-commanders", VERSION, (seat,) * len(self._seats), longest, every)
        self.reset(np.empty(0, np.uint64))

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        n = len(seeds)
        self._base = np.array(seeds, np.uint64)
        self._seeds, self._episodes = self._base.copy(), np.zeros(n, np.int64)
        self._fields, self._given = play.fields(n), np.zeros((n, 2, layout.ORDERS), np.int64)
        self._both = np.zeros((n, 2, len(self._kinds)), np.float32)
        self._lengths = np.zeros(n, np.int64)
        self._results, self._returns = np.zeros((n, 2, 3)), np.zeros((n, len(self._seats), len(self._kinds)))
        self._terminated, self._truncated = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self._alive = np.ones((n, len(self._seats)), np.bool_)
        self._seen = tuple({"battle": np.empty((n, play.OBSERVED), np.float32)} for _ in self._seats)
        self._all = np.arange(n)
        self._watched, self._last = False, np.zeros((n, moments.ROW))
        self._begin(self._all)
        return self._step(None)

    def begin_with(self, left: NDArray[np.int32], right: NDArray[np.int32], seeds: NDArray[np.uint64]) -> VectorStep:
        """``reset`` with these teams int32[n, 8], valid ones, instead of drawn ones in every battle's first episode."""
        self.reset(seeds)
        self._fields.rows[:, 0], self._fields.rows[:, 1] = left, right
        play.start(self._all, self._seeds, self._rules, self._fields)
        self._observe(self._all)
        return self._step(None)

    @property
    def teams(self) -> NDArray[np.int32]:
        """The teams of the current episodes int32[n, 2, 8]."""
        return self._fields.rows

    def _begin(self, battles: NDArray[np.int64]) -> None:
        self._seeds[battles] = episode_seeds(self._base[battles], self._episodes[battles])
        play.draw_rows(battles, self._seeds, self._rules, self._fields.rows)
        play.start(battles, self._seeds, self._rules, self._fields)
        self._lengths[battles], self._returns[battles] = 0, 0.0
        self._observe(battles)

    def _observe(self, battles: NDArray[np.int64]) -> None:
        for seat, seen in zip(self._seats, self._seen, strict=True):
            play.observe(seat, battles, self._rules, self._fields, seen["battle"])

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        for i, (seat, given) in enumerate(zip(self._seats, actions, strict=True)):
            if problem := action_problem(ORDER, given, len(self._seeds)):
                raise ConfigError([(f"seat {i}", f"the actions {problem}")])
            self._given[:, seat] = given
        play.advance(
            self._given, self._every, self._rules, self._fields, self._kinds, self._both, self._terminated,
            self._results, NO_TRACE, NO_CASTS,
        )  # fmt: skip
        self._lengths += 1
        self._returns += self._rewards()
        self._observe(self._all)
        battles = np.flatnonzero(self._terminated)
        if not len(battles):
            return self._step(None)
        ended = self._ended(battles)
        if self._watched:
            self._last[battles] = [moments.moment(self._fields, battle) for battle in battles.tolist()]
        self._episodes[battles] += 1
        self._begin(battles)
        return self._step(ended)

    def _rewards(self) -> NDArray[np.float32]:
        return self._both if self._seats == (0, 1) else self._both[:, self._seats]

    def _step(self, ended: Ended | None) -> VectorStep:
        masks = (None,) * len(self._seats)
        return VectorStep(self._seen, masks, self._rewards(), self._terminated, self._truncated, self._alive, ended)

    def _ended(self, battles: NDArray[np.int64]) -> Ended:
        results, signals = self._results[battles], []
        for seat in self._seats:
            signals.append(np.empty((len(battles), play.SIGNALS)))
            play.signals(battles, seat, self._rules, self._fields, self._results, signals[-1])
        own, others = results[:, self._seats], results[:, [1 - seat for seat in self._seats]]
        last = tuple({name: array[battles] for name, array in seen.items()} for seen in self._seen)
        return Ended(
            battles, self._seeds[battles], self._lengths[battles], self._returns[battles], own[..., 2],
            (own[..., 0] - others[..., 0]) / 200.0 + 0.5, tuple(signals), last, (None,) * len(self._seats),
        )  # fmt: skip

    def labels(self, battle: int) -> list[str]:
        """Names of what is in a battle (``moments.labels``)."""
        return moments.labels(self._names, self._fields.rows[battle])

    def positions(self, battle: int) -> NDArray[np.float64]:
        """What a drawing of a battle needs (``moments.moment``). ``last_positions`` are kept from the first call on:
        training needs none."""
        self._watched = True
        return moments.moment(self._fields, battle)

    def last_positions(self, battle: int) -> NDArray[np.float64]:
        """The same at the end of its last episode."""
        return np.array(self._last[battle])

    def close(self) -> None:
        """Nothing is held."""


def _tables(game: HeroBattle, patch: dict[str, float]) -> Tables:
    """Raises ConfigError at ``changes``."""
    try:
        return game.tables(patch)
    except SimulatorError as error:
        raise ConfigError([("changes", str(error))]) from error


def _patch(changes: Sequence[str]) -> dict[str, float]:
    """Changed numbers by their paths."""
    pairs = (change.partition("=") for change in changes)
    return {path: float(value) for path, _, value in pairs}
