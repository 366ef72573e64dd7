"""Tanks for one or two teams of five seats as a ``VectorMDP``: with numbers as input, and with pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.config.agent_games import TanksSettings
from engine.config.base import parse
from engine.errors import ConfigError
from engine.games.tanks import kernel, picture, sight
from engine.games.tanks.kernel import SQUAD
from engine.mdp.interface import Array, ArraySpec, Continuous, MDPSpec, SeatSpec, action_problem
from engine.mdp.vector import Ended, VectorStep, episode_seeds

VERSION = "2"
REWARDS = {
    "score": kernel.SCORE_REWARD, "dealt": kernel.DEALT_REWARD, "friendly": kernel.FRIENDLY_REWARD,
    "neutral": kernel.NEUTRAL_REWARD, "taken": kernel.TAKEN_REWARD, "win": kernel.WIN_REWARD,
}  # fmt: skip
SIGNALS = ("dealt", "friendly", "neutral", "lost", "shots")
OPPONENTS = {"static": sight.STATIC, "random": sight.RANDOM, "passive": sight.PASSIVE, "aggressive": sight.AGGRESSIVE}
STEERING = Continuous((-1.0,) * 3, (1.0,) * 3, (3,))
"""Forwards or back; right or left; above a half: shoot."""
_BYSTANDERS = kernel.TANKS - kernel.FIGHTERS


class Tanks:
    """Five tanks against five, and two neutral ones (``engine.games.tanks.kernel``), one seat for each of the five.

    ``sides``: teams played from outside, 0 (red), 1 (blue) or both, five seats each; ``opponent`` leads the other one:
    static, random, passive or aggressive (``engine.games.tanks.sight``). A decision lasts ``frame_skip`` moments, an
    episode ``max_ticks`` decisions at most; it is over when a team is gone. ``rewards``, of each tank: any of "score",
    which is the paper's: ``reward`` × (damage to enemies + enemies killed) − ``penalty`` × (damage to friends, itself
    and neutral tanks + those killed + damage taken + 1 for its death), damage in lives; the parts "dealt", "friendly",
    "neutral" and "taken" as they are; "win" (1 when the other team is gone, −1 when its own is, 0 when both are;
    nothing when time is up). A dead tank is out of its battle. The winner is who has more life left. A result's score
    is (own − other's share of life + 1) / 2. Its signals are the team's: damage dealt, to friends, and to neutral
    tanks, and life lost, as shares of those teams' whole life, and shots a tank. Raises ConfigError for
    invalid settings.
    """

    drawing = "tanks"
    """What draws its battles."""
    _name = "tanks"

    def __init__(
        self, *, sides: Sequence[int] = (0,), opponent: str = "aggressive", penalty: float = 1.0, reward: float = 1.0,
        obstacles: int = 12, frame_skip: int = 6, max_ticks: int = 84, rewards: Sequence[str] = ("score",),
    ) -> None:  # fmt: skip
        settings = {
            "opponent": opponent, "penalty": penalty, "reward": reward, "obstacles": obstacles,
            "frame_skip": frame_skip, "max_ticks": max_ticks, "rewards": tuple(rewards),
        }  # fmt: skip
        if not sides or not set(sides) <= {0, 1} or len(set(sides)) < len(sides):
            raise ConfigError([("sides", f"tanks has sides 0 and 1; {list(sides)} was asked for")])
        parse(TanksSettings, settings)
        self._sides, self._opponent = tuple(sides), OPPONENTS[opponent]
        self._tanks_of = [side * SQUAD + i for side in sides for i in range(SQUAD)]
        self._good, self._bad, self._obstacles = float(reward), float(penalty), obstacles
        self._kinds = np.array([REWARDS[name] for name in rewards], np.int64)
        seat = SeatSpec((self._input(),), STEERING, tuple(rewards), SIGNALS)
        self.spec = MDPSpec(
            self._name, VERSION, (seat,) * len(self._tanks_of), max_ticks, frame_skip, squad=SQUAD
        )  # fmt: skip
        self.reset(np.empty(0, np.uint64))

    def _input(self) -> ArraySpec:
        """The spec of a tank's observation."""
        return ArraySpec("view", (sight.SEEN,), "float32", -3.0, 3.0)

    def _look(self, tank: int, battles: NDArray[np.int64], out: Array) -> None:
        """Write what a tank sees in these battles into their rows of ``out``."""
        sight.see_rows(tank, self.spec.max_ticks, battles, self._ticks, self._tanks, self._shells, self._stones, out)

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        n, seats = len(seeds), len(self._tanks_of)
        self._base = np.array(seeds, np.uint64)
        self._seeds, self._episodes = self._base.copy(), np.zeros(n, np.int64)
        self._tanks, self._shells = np.zeros((n, kernel.TANKS, 5)), np.zeros((n, kernel.FIGHTERS, 4))
        self._stones, self._ticks = np.zeros((n, self._obstacles, 3)), np.zeros(n, np.int64)
        self._tallies = np.zeros((n, kernel.FIGHTERS, kernel.TALLIES))
        self._orders = np.zeros((n, kernel.TANKS, 3), np.float32)
        self._living = np.ones((n, kernel.FIGHTERS), np.bool_)
        self._paid = np.zeros((n, kernel.FIGHTERS, len(self._kinds)), np.float32)
        self._returns = np.zeros((n, seats, len(self._kinds)))
        self._terminated, self._truncated = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self._last = np.zeros((n, 5 * kernel.TANKS + 3 * kernel.FIGHTERS + 3 * self._obstacles))
        seen = self._input()
        self._seen = tuple({seen.name: np.empty((n, *seen.shape), np.dtype(seen.dtype))} for _ in self._tanks_of)
        self._all = np.arange(n)
        self._begin(self._all)
        return self._step(None)

    def _begin(self, battles: NDArray[np.int64]) -> None:
        self._seeds[battles] = episode_seeds(self._base[battles], self._episodes[battles])
        kernel.restart(
            battles, self._seeds, self._tanks, self._shells, self._stones, self._tallies, self._ticks, self._living
        )
        self._returns[battles] = 0.0
        self._observe(battles)

    def _observe(self, battles: NDArray[np.int64]) -> None:
        for tank, seen in zip(self._tanks_of, self._seen, strict=True):
            for out in seen.values():
                self._look(tank, battles, out)

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        for seat, (tank, given) in enumerate(zip(self._tanks_of, actions, strict=True)):
            if problem := action_problem(STEERING, given, len(self._seeds)):
                raise ConfigError([(f"seat {seat}", f"the actions {problem}")])
            self._orders[:, tank] = given
        for side in {0, 1}.difference(self._sides):
            sight.command(
                self._opponent, side, self._seeds, self.spec.max_ticks, self._ticks, self._tanks, self._shells,
                self._stones, self._orders,
            )  # fmt: skip
        kernel.play(
            self._seeds, self._orders, self._ticks, self.spec.frame_skip, self._kinds, self._good, self._bad,
            self._tanks, self._shells, self._stones, self._tallies, self._living, self._paid,
            self._terminated,
        )  # fmt: skip
        self._truncated = ~self._terminated & (self._ticks >= self.spec.max_ticks)
        self._observe(self._all)
        self._returns += self._paid[:, self._tanks_of]
        over = self._terminated | self._truncated
        if not over.any():
            return self._step(None)
        battles = np.flatnonzero(over)
        ended = self._ended(battles)
        for battle in battles.tolist():
            self._last[battle] = self.positions(battle)
        self._episodes[battles] += 1
        self._begin(battles)
        return self._step(ended)

    def _step(self, ended: Ended | None) -> VectorStep:
        masks = (None,) * len(self._tanks_of)
        return VectorStep(
            self._seen, masks, self._paid[:, self._tanks_of], self._terminated, self._truncated,
            self._living[:, self._tanks_of], ended,
        )  # fmt: skip

    def _ended(self, battles: NDArray[np.int64]) -> Ended:
        health = np.maximum(self._tanks[battles, : kernel.FIGHTERS, kernel.HEALTH], 0.0)
        life = health.reshape(-1, 2, SQUAD).sum(axis=2) / (SQUAD * kernel.LIFE)
        gap = life - life[:, ::-1]
        sides = [tank // SQUAD for tank in self._tanks_of]
        signals = np.stack([self._signals(battles, life, side) for side in (0, 1)], axis=1)
        return Ended(
            battles, self._seeds[battles], self._ticks[battles], self._returns[battles],
            (np.sign(gap) * 0.5 + 0.5)[:, sides], (gap[:, sides] + 1.0) / 2.0, tuple(signals[:, s] for s in sides),
            tuple({name: array[battles] for name, array in seen.items()} for seen in self._seen),
            (None,) * len(self._tanks_of), ~self._living[battles][:, self._tanks_of],
        )  # fmt: skip

    def _signals(self, battles: NDArray[np.int64], life: NDArray[np.float64], side: int) -> NDArray[np.float64]:
        """A team's signals float64[m, S]."""
        own = self._tallies[battles, side * SQUAD : (side + 1) * SQUAD].sum(axis=1)
        whole = SQUAD * kernel.LIFE
        return np.stack(
            [
                own[:, kernel.DEALT] / whole, own[:, kernel.FRIENDLY] / whole,
                own[:, kernel.NEUTRAL] / (_BYSTANDERS * kernel.LIFE), 1.0 - life[:, side], own[:, kernel.SHOTS] / SQUAD,
            ],
            axis=1,
        )  # fmt: skip

    def positions(self, battle: int) -> NDArray[np.float64]:
        """What a drawing of a battle needs, float64[90 + 3 K], in metres: x, y, cosine and sine of its direction, and
        life of each tank; x, y and whether it flies of each shell; x, y and radius of each obstacle."""
        tanks, shells = self._tanks[battle], self._shells[battle]
        angle = tanks[:, kernel.ANGLE]
        bodies = np.stack([tanks[:, 0], tanks[:, 1], np.cos(angle), np.sin(angle), tanks[:, kernel.HEALTH]], axis=1)
        flying = np.stack([shells[:, 0], shells[:, 1], shells[:, kernel.LEFT] > 0], axis=1)
        return np.concatenate([bodies.ravel(), flying.ravel(), self._stones[battle].ravel()])

    def last_positions(self, battle: int) -> NDArray[np.float64]:
        """The same at the end of its last episode."""
        return np.array(self._last[battle])

    def close(self) -> None:
        """Nothing is held."""


class TanksPictures(Tanks):
    """The same with a map around the tank as input: uint8[4, 128, 128], ``engine.games.tanks.picture``."""

    _name = "image-tanks"

    def _input(self) -> ArraySpec:
        return ArraySpec("map", (picture.LAYERS, picture.SIZE, picture.SIZE), "uint8", 0, 255)

    def _look(self, tank: int, battles: NDArray[np.int64], out: Any) -> None:
        picture.draw_rows(tank, battles, self._tanks, self._shells, self._stones, out)
