"""Atari's Pong as a ``VectorMDP``: the console's own emulator (ALE), the agent on the right side against its player."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from ale_py import ALEInterface, LoggerMode, roms
from numpy.typing import NDArray

from engine.config.agent_games import AtariPongSettings
from engine.config.base import parse
from engine.errors import ConfigError, SimulatorError
from engine.games.atari_pong.memory import POINTS, STICK, placed
from engine.mdp.episodes import Episodes
from engine.mdp.interface import Array, ArraySpec, Discrete, MDPSpec, SeatSpec, action_problem
from engine.mdp.vector import Ended, VectorStep
from engine.rng import combine64

VERSION = "1"
REWARDS = {"score": 0, "moved": 1, "stayed": 2}
SIGNALS = ("moved", "stayed")
MEMORY, SIDE, FRAMES, IDLE = 128, 80, 4, 30
TOP, HEIGHT = 34, 160
"""Rows of the picture that are the field."""
_BEGINNING = 0xA7A1


class Consoles:
    """n consoles with Pong, of which one emulator plays a moment after the other. ``points`` int64[n, 2]: those of the
    console's player and of the agent."""

    def __init__(self) -> None:
        ALEInterface.setLoggerMode(LoggerMode.Error)
        self._ale = ALEInterface()
        self._ale.setFloat("repeat_action_probability", 0.0)  # drawn from the seeds of battles instead
        cartridge = roms.get_rom_path("pong")
        if cartridge is None:
            raise SimulatorError("Pong’s cartridge is not among those that ale_py brought along.", permanent=True)
        self._ale.loadROM(cartridge)
        self._buttons = self._ale.getMinimalActionSet()
        self._new = self._ale.cloneState()
        self._states: list[Any] = []

    def room(self, n: int) -> None:
        """Switch n consoles on."""
        self._states = [self._new] * n
        self.memory = np.zeros((n, MEMORY), np.uint8)
        self.picture = np.zeros((n, HEIGHT // 2, SIDE), np.uint8)
        self.over = np.zeros(n, np.bool_)

    def off_and_on(self, console: int, idle: int) -> None:
        """Begin anew, and let so many moments pass."""
        self._states[console] = self._new
        self.play(console, [0] * max(1, idle))

    def play(self, console: int, buttons: Sequence[int]) -> int:
        """One moment for each of the buttons; the points that the agent won less those that it lost."""
        ale = self._ale
        ale.restoreState(self._states[console])
        won = 0
        for button in buttons:
            won += int(ale.act(self._buttons[button]))
        self._states[console] = ale.cloneState()
        self.memory[console] = ale.getRAM()
        self.over[console] = ale.game_over()
        return won

    def look(self, console: int) -> None:
        """Take the picture of what was played last on this console: every second row and column of the field."""
        self.picture[console] = self._ale.getScreenGrayscale()[TOP : TOP + HEIGHT : 2, ::2]

    @property
    def points(self) -> NDArray[np.int64]:
        """Of the console's player and of the agent."""
        return self.memory[:, list(POINTS)].astype(np.int64)


class AtariPongBase(ABC):
    """Battles against the console's own player, first to 21; the base of both kinds of input.

    ``frame_skip``: moments that a decision lasts; ``sticky``: the probability that the console repeats what was done in
    the moment before (Machado et al. 2018, "Revisiting the Arcade Learning Environment", section 5), without which
    everybody who takes the likeliest action would play some 30 different episodes; ``rewards``: any of "score" (points
    won minus points lost), "moved" and "stayed" (1 for a decision that pushes the stick, or does not). An episode is
    truncated after ``max_ticks`` decisions, and begins with up to 30 moments of rest. All luck is drawn from a battle's
    seed. A result's score is (own − other's points + 21) / 42, from 0 to 1, and its signals are the shares of decisions
    that moved and that stayed: move(a) of Lamarckian's equations 2 to 4. Raises ConfigError for invalid settings.
    """

    def __init__(
        self, *, frame_skip: int = 4, sticky: float = 0.25, max_ticks: int = 27_000, rewards: Sequence[str] = ("score",)
    ) -> None:  # fmt: skip
        settings = {"frame_skip": frame_skip, "sticky": sticky, "max_ticks": max_ticks, "rewards": tuple(rewards)}
        parse(AtariPongSettings, settings)
        self._skip, self._sticky = frame_skip, sticky
        self._kinds = np.array([REWARDS[name] for name in rewards], np.int64)
        seat = SeatSpec((self._input(),), Discrete(len(STICK)), tuple(rewards), SIGNALS)
        self.spec = MDPSpec(self._name(), VERSION, (seat,), max_ticks, frame_skip)
        self._consoles = Consoles()
        self.reset(np.empty(0, np.uint64))

    @abstractmethod
    def _name(self) -> str:
        """The game's name."""

    @abstractmethod
    def _input(self) -> ArraySpec:
        """The spec of the observation."""

    @abstractmethod
    def _look(self, battle: int, first: bool) -> None:
        """Write what is seen of a battle that was played last into its row of ``_seen``; ``first``: it has begun."""

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        n, spec = len(seeds), self.spec.seats[0].observations[0]
        self._episodes = Episodes(self.spec, seeds)
        self._consoles.room(n)
        self._seen = np.zeros((n, *spec.shape), spec.dtype)
        self._held, self._moved = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._last = np.zeros((n, len(placed(np.zeros(MEMORY, np.uint8)))))
        self._rewards = np.zeros((n, 1, len(self._kinds)), np.float32)
        self._terminated, self._truncated = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self._alive = np.ones((n, 1), np.bool_)
        for battle in range(n):
            self._begin(battle)
        return self._step(None)

    def _begin(self, battle: int) -> None:
        idle = int(combine64(self._episodes.seeds[battle : battle + 1], _BEGINNING)[0] % np.uint64(IDLE + 1))
        self._consoles.off_and_on(battle, idle)
        self._held[battle] = self._moved[battle] = 0
        self._look(battle, True)

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        chosen = actions[0]
        if problem := action_problem(self.spec.seats[0].action, chosen, len(self._alive)):
            raise ConfigError([("seat 0", f"the actions {problem}")])
        won = np.zeros(len(chosen))
        for battle, buttons in enumerate(self._pressed(chosen)):
            won[battle] = self._consoles.play(battle, buttons.tolist())
            self._look(battle, False)
        pushed = STICK[chosen] != 0
        self._moved += pushed
        self._rewards[:, 0] = np.stack([won, pushed, ~pushed], axis=1)[:, self._kinds]
        self._episodes.add(self._rewards)
        self._terminated = self._consoles.over.copy()
        self._truncated = ~self._terminated & (self._episodes.lengths >= self.spec.max_ticks)
        over = np.flatnonzero(self._terminated | self._truncated)
        return self._step(self._ended(over) if len(over) else None)

    def _pressed(self, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """What each console does in every moment of a decision [n, ``frame_skip``]."""
        lengths = self._episodes.lengths.astype(np.uint64)
        keys = combine64(combine64(self._episodes.seeds, lengths)[:, None], np.arange(self._skip, dtype=np.uint64))
        repeats = (keys >> np.uint64(11)) / 2.0**53 < self._sticky
        found = np.zeros((len(chosen), self._skip), np.int64)
        for moment in range(self._skip):
            self._held = np.where(repeats[:, moment], self._held, chosen)
            found[:, moment] = self._held
        return found

    def _step(self, ended: Ended | None) -> VectorStep:
        seen = {self.spec.seats[0].observations[0].name: self._seen}
        return VectorStep((seen,), (None,), self._rewards, self._terminated, self._truncated, self._alive, ended)

    def _ended(self, battles: NDArray[np.int64]) -> Ended:
        others, own = self._consoles.points[battles].T
        lead, moved = (own - others)[:, None], self._moved[battles]
        last = {self.spec.seats[0].observations[0].name: self._seen[battles]}
        self._last[battles] = [placed(self._consoles.memory[battle]) for battle in battles]
        totals = self._episodes.end(battles)
        share = moved / totals.lengths
        for battle in battles:
            self._begin(int(battle))
        return Ended(
            battles, *totals, (np.sign(lead) + 1) / 2, (lead + 21) / 42, (np.stack([share, 1 - share], axis=1),),
            (last,), (None,),
        )  # fmt: skip

    def close(self) -> None:  # noqa: B027 - of the contract
        """Nothing is held."""


class AtariPong(AtariPongBase):
    """What is seen: the console's memory, 128 bytes as numbers from 0 to 1."""

    drawing = "atari-pong"
    """What draws its battles."""

    def _name(self) -> str:
        return "atari-pong"

    def _input(self) -> ArraySpec:
        return ArraySpec("memory", (MEMORY,), "float32", 0.0, 1.0)

    def _look(self, battle: int, first: bool) -> None:
        self._seen[battle] = self._consoles.memory[battle] / np.float32(255)

    def positions(self, battle: int) -> NDArray[np.float64]:
        """What a drawing of a battle needs (``memory.placed``)."""
        return placed(self._consoles.memory[battle])

    def last_positions(self, battle: int) -> NDArray[np.float64]:
        """The same at the end of its last episode."""
        return np.array(self._last[battle])


class AtariPongPictures(AtariPongBase):
    """What is seen: the field in the last four moments of decisions, oldest first; every second row and column."""

    def _name(self) -> str:
        return "atari-pong-pictures"

    def _input(self) -> ArraySpec:
        return ArraySpec("screen", (FRAMES, HEIGHT // 2, SIDE), "uint8")

    def _look(self, battle: int, first: bool) -> None:
        self._consoles.look(battle)
        seen = self._seen[battle]
        seen[:-1] = self._consoles.picture[battle] if first else seen[1:].copy()
        seen[-1] = self._consoles.picture[battle]
