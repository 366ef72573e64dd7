"""Lineup battles whose two sides are commanded by the same player, behind the lineup simulator contract.

Both sides see the battle as if they stood on the left, and what a player draws its orders by is a hash of its own
side's random stream. So exchanging teams and streams exchanges the battle, bit for bit, and a battle depends neither on
others nor on the batch, as long as that holds for the player (``engine.mdp.stored_policy``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.config.limits import LimitsConfig
from engine.games.herobattle import kernel, layout
from engine.games.herobattle.commanders import battles as play
from engine.games.herobattle.commanders.battles import Rules
from engine.games.herobattle.commanders.game import ORDER
from engine.games.herobattle.layout import F64, I32, I64, U64
from engine.games.herobattle.replay import frames
from engine.games.herobattle.simulator import HeroBattle, only_full
from engine.games.herobattle.teams import roster
from engine.mdp.interface import Array, SeatSpec
from engine.mdp.limits import Hands
from engine.mdp.stored_policy import StoredPolicy
from engine.mdp.trajectory import Batch
from engine.rng import combine64
from engine.simulators.contract import Battles, Frame, GameSpec, Patch

TOGETHER = 512
"""Battles that are fought side by side."""
_DRAWS = 0x0C0AAD
"""What the keys of orders are made of, beside a side's stream: no unit of a battle draws by it."""


class CommandedBattles:
    """herobattle under one commander, who leads both sides and gives orders every ``every`` ticks. The game that it
    describes is the same one."""

    def __init__(self, game: HeroBattle, player: StoredPolicy, every: int, limits: LimitsConfig | None = None) -> None:
        self._game, self._player, self._every = game, player, every
        self._limits = limits or LimitsConfig()

    def describe(self) -> GameSpec:
        """As ``HeroBattle.describe``."""
        return self._game.describe()

    def battles(self, left: I32, right: I32, seeds: U64, patch: Patch, fidelity: str = "full") -> Battles:
        """As ``HeroBattle.battles``."""
        only_full(fidelity)
        first, second = kernel.streams(np.ascontiguousarray(seeds, dtype=np.uint64))
        return self.play(left, right, first, second, patch)

    def play(self, left: I32, right: I32, first: U64, second: U64, patch: Patch) -> Battles:
        """Battles with a random stream for each side, uint64[n] each. Raises SimulatorError."""
        left, right = self._game.checked(left, right, len(first))
        n, rules = len(left), self._rules(patch)
        result = Battles(np.empty((n, 2, 3)), np.empty((n, 1)), np.zeros(n, np.uint8))
        for a in range(0, n, TOGETHER):
            some = slice(a, a + TOGETHER)
            fought = _Fought(len(left[some]), self._limits, self._player.memory)
            fought.begin(left[some], right[some], first[some], second[some], rules)
            self._fight(fought, rules, kernel.NO_TRACE, kernel.NO_CASTS)
            result.side[some], result.battle[some, 0] = fought.results, fought.fields.ticks
        return result

    def replay(self, left: I32, right: I32, seed: int, patch: Patch) -> Sequence[Frame]:
        """As ``HeroBattle.replay``."""
        left, right = self._game.checked(np.reshape(left, (1, -1)), np.reshape(right, (1, -1)), 1)
        rules, fought = self._rules(patch), _Fought(1, self._limits, self._player.memory)
        first, second = kernel.streams(np.array([seed], dtype=np.uint64))
        fought.begin(left, right, first, second, rules)
        ticks = int(rules.parameters[layout.TIME_LIMIT])
        trace, casts = np.zeros((ticks + 1, layout.UNITS, 3)), np.zeros((ticks + 1, 2), np.uint8)
        self._fight(fought, rules, trace, casts)
        spec, lasted = self.describe().patched(patch), int(fought.fields.ticks[0])
        return frames(spec, left[0], right[0], trace, casts, lasted, fought.results[0])

    def _rules(self, patch: Patch) -> Rules:
        tables, drawn = self._game.tables(patch), roster()
        edges, pair, soldiers = self._game.hidden
        return Rules(*tables, edges, pair, soldiers, drawn.costs, drawn.groups, drawn.limits, False, False)

    def _fight(self, fought: _Fought, rules: Rules, trace: F64, casts: NDArray[np.uint8]) -> None:
        """Fight to the end of all battles."""
        going, decision = np.arange(len(fought.over)), 0
        while len(going):
            orders = self._decided(fought.seen(going, rules), fought, going, decision)
            fought.obey(going, orders)
            play.advance(
                fought.given, self._every, rules, fought.fields, _NO_KINDS, fought.rewards, fought.over,
                fought.results, trace, casts,
            )  # fmt: skip
            going, decision = going[~fought.over[going]], decision + 1

    def _decided(self, seen: Array, fought: _Fought, going: I64, decision: int) -> I64:
        """Orders int64[2 m, ORDERS] of both sides of the m battles that go on: the left ones first."""
        keys = combine64(combine64(fought.streams[:, going].ravel(), _DRAWS), decision)
        state = {name: kept[:, going].reshape(-1, *kept.shape[2:]) for name, kept in fought.state.items()}
        found = self._player(Batch({"battle": seen}, None, keys, state))
        for name, kept in found.state.items():
            fought.state[name][:, going] = kept.reshape(2, len(going), *kept.shape[1:])
        return np.asarray(found.actions, np.int64)


_NO_KINDS = np.zeros(0, np.int64)


class _Fought:
    """n battles that are fought side by side: ``over`` bool[n]; ``results`` float64[n, 2, 3] and ``given``
    int64[n, 2, ORDERS] as ``play.advance`` has them; ``streams`` uint64[2, n]; ``state``: the
    recurrent state of both sides [2, n, …], by name."""

    def __init__(self, n: int, limits: LimitsConfig, memory: Mapping[str, tuple[int, ...]]) -> None:
        self.fields, self.over = play.fields(n), np.zeros(n, np.bool_)
        self.given, self.results = np.zeros((n, 2, layout.ORDERS), np.int64), np.zeros((n, 2, 3))
        self.rewards = np.zeros((n, 2, 0), np.float32)
        self._seen = np.empty((2, n, play.OBSERVED), np.float32)
        self._wanted = np.zeros((2, n, layout.ORDERS), np.float32)
        self._hands = [Hands(ORDER, n, limits) for _ in range(2)] if limits.any else []
        self.state: dict[str, Array] = {name: np.zeros((2, n, *shape), np.float32) for name, shape in memory.items()}

    def begin(self, left: I32, right: I32, first: U64, second: U64, rules: Rules) -> None:
        """With these teams and random streams."""
        self.fields.rows[:, 0], self.fields.rows[:, 1] = left, right
        self.streams = np.stack([first, second])
        play.start_with(first, second, rules, self.fields)

    def seen(self, going: I64, rules: Rules) -> Array:
        """What both sides observe of the battles that go on: float32[2 m, OBSERVED], the left ones first."""
        for seat in (0, 1):
            play.observe(seat, going, rules, self.fields, self._seen[seat])
        return self._seen[:, going].reshape(-1, play.OBSERVED)

    def obey(self, going: I64, orders: I64) -> None:
        """Put orders int64[2 m, ORDERS] into force, as fast as hands are; no side of a battle that is over has any."""
        self._wanted[:, going] = orders.reshape(2, len(going), -1)
        done = self._wanted
        if self._hands:
            done = np.stack([hands.do(wanted) for hands, wanted in zip(self._hands, self._wanted, strict=True)])
        self.given[:] = 0
        self.given[going] = done[:, going].swapaxes(0, 1)


def commands(seat: SeatSpec) -> bool:
    """Whether a policy of this seat commands herobattle."""
    seen = [(each.name, each.shape) for each in seat.observations]
    return seen == [("battle", (play.OBSERVED,))] and seat.action == ORDER
