"""The MDP of a game, and the asynchronous interface to it (Lamarckian, III-C, Fig. 4b).

A battle has seats. The player of a seat is a coroutine of its own with a ``Controller``: it reads states, awaits
actions and asks for rewards at any time. ``engine.mdp.vector`` is the same interface over arrays.

An action is one row of numbers, and the actions of n battles are one array per seat:

=================  ==========================  ==============================================================  =========
kind               array                       a row                                                           mask
=================  ==========================  ==============================================================  =========
Discrete(k)        int64[n]                    the choice                                                      bool[n, k]
Continuous         float32[n, d]               the parameters, flattened in C order                            none
Hybrid             float32[n, choices + d]     each discrete part's choice, then every part's parameters       bool[n, sum of k]
Parameterised      float32[n, 1 + d]           the choice, then the parameters of choice 0, of choice 1, …     bool[n, k]
=================  ==========================  ==============================================================  =========

In a Parameterised row only the chosen choice's parameters count. A mask is True where a choice is legal. A parameter
outside its bounds is played as the nearest one inside.
"""  # noqa: E501 (a table)

from __future__ import annotations

import math
from collections.abc import Awaitable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.starting import StartSetting
from engine.text import written

MOST_PARAMETERS = 100_000
"""Of a parameterised action, all choices together."""
Array = NDArray[Any]
Observations = dict[str, Array]


class ArraySpec(msgspec.Struct, frozen=True):
    """One named array that a seat observes: the shape of one observation, its type and the range of its numbers."""

    name: str
    shape: tuple[int, ...]
    dtype: Literal["float32", "uint8"] = "float32"
    low: float | None = None
    high: float | None = None


class _Action(msgspec.Struct, frozen=True, tag_field="kind"):
    """Base of the kinds of action, which define choices and bounds of parameters."""

    @property
    def kind(self) -> str:
        """``discrete``, ``continuous``, ``hybrid`` or ``parameterised``."""
        return str(self.__struct_config__.tag)

    @property
    def choices(self) -> tuple[int, ...]:
        """The number of alternatives of each discrete choice; a mask has their sum as columns."""
        return ()

    @property
    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Lowest and highest value float32[d] of each parameter, in the order of a row."""
        return np.empty(0, np.float32), np.empty(0, np.float32)

    @property
    def row(self) -> tuple[int, ...]:
        """The shape of one action: () for a plain choice."""
        return (len(self.choices) + len(self.bounds[0]),)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of an array of actions."""
        return np.dtype(np.float32)

    @property
    def legal(self) -> int:
        """The number of columns of a mask; 0: everything is always legal."""
        return sum(self.choices)

    def idle(self, n: int = 1) -> Array:
        """The actions of n idle seats: the first choices, and the parameters nearest to zero."""
        low, high = self.bounds
        row = np.concatenate([np.zeros(len(self.choices), np.float32), np.clip(np.float32(0), low, high)])
        return np.tile(row, (n, 1))


class Discrete(_Action, frozen=True, tag="discrete"):
    """One of n choices."""

    n: int

    @property
    def choices(self) -> tuple[int, ...]:
        """The one choice."""
        return (self.n,)

    @property
    def row(self) -> tuple[int, ...]:
        """A number, not a row."""
        return ()

    @property
    def dtype(self) -> np.dtype[Any]:
        """Integers."""
        return np.dtype(np.int64)

    def idle(self, n: int = 1) -> Array:
        """Choice 0, n times."""
        return np.zeros(n, np.int64)


class Continuous(_Action, frozen=True, tag="continuous"):
    """``shape`` numbers, each with finite bounds; ``low`` and ``high`` are flattened in C order."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    shape: tuple[int, ...]

    @property
    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """As given."""
        return np.array(self.low, np.float32), np.array(self.high, np.float32)


class Hybrid(_Action, frozen=True, tag="hybrid"):
    """Several actions at once: every part's choice and every part's parameters apply."""

    parts: tuple[Discrete | Continuous, ...]

    @property
    def choices(self) -> tuple[int, ...]:
        """Choices of the discrete parts, in order."""
        return tuple(k for part in self.parts for k in part.choices)

    @property
    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Bounds of the continuous parts, in order."""
        lows, highs = zip(*(part.bounds for part in self.parts), strict=True)
        return np.concatenate(lows), np.concatenate(highs)


class Parameterised(_Action, frozen=True, tag="parameterised"):
    """One choice among ``len(sizes)``, and for choice i its own vector of ``sizes[i]`` parameters (Masson et al. 2016).
    ``low`` and ``high`` are concatenated over all choices; if empty they are -1 and 1. Raises ValueError for sizes
    below 0, or of more than ``MOST_PARAMETERS`` in all."""

    sizes: tuple[int, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Sizes are multiplied out into arrays, and may come from a file."""
        if min(self.sizes, default=0) < 0 or sum(self.sizes) > MOST_PARAMETERS:
            raise ValueError(f"an action has 0 to {MOST_PARAMETERS:,} parameters")

    @property
    def choices(self) -> tuple[int, ...]:
        """The one choice."""
        return (len(self.sizes),)

    @property
    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Bounds of all choices' parameters, concatenated."""
        total = sum(self.sizes)
        return np.array(self.low or (-1.0,) * total, np.float32), np.array(self.high or (1.0,) * total, np.float32)


ActionSpec = Discrete | Continuous | Hybrid | Parameterised


class SeatSpec(msgspec.Struct, frozen=True):
    """A seat's observations and action, and the names of the entries of its reward vector and of the signals in its
    result (numbers of a whole episode, such as the share of ticks in which it moved)."""

    observations: tuple[ArraySpec, ...]
    action: ActionSpec
    rewards: tuple[str, ...] = ("score",)
    signals: tuple[str, ...] = ()

    @property
    def pictures(self) -> tuple[str, ...]:
        """The observations that are images [channels, height, width], by name."""
        return tuple(each.name for each in self.observations if len(each.shape) == 3)


class GroupSpec(SeatSpec, frozen=True):
    """A seat from which one player steers several entities together (``engine.mdp.groups``). ``members``: each
    entity's own seat. The observation "view 2" is what the second of them calls "view"; the action is all members'
    numbers, one member after the other."""

    members: tuple[SeatSpec, ...] = ()


def members_of(seat: SeatSpec) -> tuple[SeatSpec, ...]:
    """The entities that are steered from a seat: those of a group, else the seat itself."""
    return seat.members if isinstance(seat, GroupSpec) else (seat,)


class MDPSpec(msgspec.Struct, frozen=True):
    """A game as a decision process. ``max_ticks``: decisions after which an episode is over or truncated (0: never);
    ``frame_skip``: moments of the game per decision; ``in_turns``: its seats act at different moments, so it is played
    as an ``MDP`` and has no form over arrays; ``squad``: so many seats, one after the other, are one side's, and one
    player takes them all where sides meet; ``starts``: settings of a program that say where its episodes begin."""

    name: str
    version: str
    seats: tuple[SeatSpec, ...]
    max_ticks: int = 0
    frame_skip: int = 1
    in_turns: bool = False
    squad: int = 1
    starts: tuple[StartSetting, ...] = ()

    @property
    def rewards(self) -> int:
        """The width R of an array of rewards: that of the seat with the most entries; shorter ones end in zeros."""
        return max(len(seat.rewards) for seat in self.seats)


class State(msgspec.Struct, gc=False):
    """A seat's current state: its observations by name and its legal mask bool[k] (None: everything is legal).

    ``state["inputs"]`` and ``state["legal"]`` are the names in the paper's Fig. 4b.
    """

    observations: Observations
    mask: NDArray[np.bool_] | None = None

    def __getitem__(self, key: str) -> Any:
        if key == "inputs":
            return tuple(self.observations.values())
        if key == "legal":
            return self.mask
        raise KeyError(key)


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """The outcome of an action: whether the episode ended by the game's rules (``terminated``) or was cut short
    (``truncated``), and whether the action was ``ignored`` because it was not the seat's turn."""

    terminated: bool = False
    truncated: bool = False
    ignored: bool = False

    @property
    def done(self) -> bool:
        """The episode is over for this seat."""
        return self.terminated or self.truncated

    def __getitem__(self, key: str) -> bool:
        if key not in ("done", "terminated", "truncated", "ignored"):
            raise KeyError(key)
        return bool(getattr(self, key))


class Result(NamedTuple):
    """A seat's result in an episode: ``win`` 1, 0.5 or 0; the game's ``score``; its named signals."""

    win: float
    score: float
    signals: dict[str, float]


class Controller(Protocol):
    """The interface of a player to one seat of a battle."""

    @property
    def seat(self) -> int:
        """The seat's index."""
        ...

    @property
    def spec(self) -> SeatSpec:
        """The seat's specification."""
        ...

    @property
    def acting(self) -> bool:
        """Whether the next action counts: False while others have their turn, and once the seat is out."""
        ...

    def get_state(self) -> State:
        """The seat's current state. The next tick overwrites its arrays: copy what you keep."""
        ...

    def __call__(self, action: Any = None, *, discrete: Any = None, continuous: Any = None) -> Awaitable[Outcome]:
        """Act and wait until it is the seat's turn again. A list or tuple is a scripted sequence of actions, which ends
        early if the episode does. ``discrete`` and ``continuous`` are the names in Fig. 4b."""
        ...

    def turn(self) -> Awaitable[Outcome]:
        """Wait, without acting, until it is the seat's turn (at once when it already is) or the episode is over."""
        ...

    def get_reward(self) -> NDArray[np.float32]:
        """The reward vector float32[R] summed over the ticks since the last call."""
        ...

    def get_result(self) -> Result:
        """How the episode ended. Raises EngineError while it still runs."""
        ...

    def leave(self) -> None:
        """Go off line: no tick waits for this seat any more. A later action brings it back."""
        ...


class Battle(Protocol):
    """One episode: await ``ticks`` beside the coroutines that play the seats."""

    @property
    def controllers(self) -> Sequence[Controller]:
        """A controller for each requested seat, in the order of the request."""
        ...

    @property
    def ticks(self) -> Awaitable[None]:
        """The game itself: advances until the episode ends, whichever players are there."""
        ...

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        ...

    def close(self) -> None:
        """End the battle and release its resources."""
        ...


class MDP(Protocol):
    """A game that can be played, a battle at a time."""

    @property
    def spec(self) -> MDPSpec:
        """The game; the same for the life of the object."""
        ...

    def reset(self, *seats: int, seed: int | None = None) -> Battle:
        """A new episode with controllers for these seats; the game's own players take the others. The same seed and
        actions give the same battle; without a seed the next one of the object's own sequence is used."""
        ...

    def close(self) -> None:
        """Release the game's resources; callers of ``reset`` close their battles."""
        ...


def action_problem(spec: ActionSpec, actions: Array, n: int) -> str:
    """The first problem of the actions of n battles; an empty string if there is none."""
    need = (n, *spec.row)
    if actions.shape != need or actions.dtype != spec.dtype:
        return f"are {actions.dtype}{list(actions.shape)}; they must be {spec.dtype}{list(need)}"
    columns = actions.reshape(n, -1)
    for i, k in enumerate(spec.choices):
        bad = ~((columns[:, i] >= 0) & (columns[:, i] < k))  # also true for NaN
        if bad.any():
            row = int(np.argmax(bad))
            return f"have choice {written(columns[row, i], 'g')} in row {row}; the choices are 0 to {k - 1}"
    if columns.dtype != np.int64 and not math.isfinite(float(columns.sum(dtype=np.float64))):
        row = int(np.argmin(np.isfinite(columns).all(axis=1)))
        return f"hold a number that is not finite in row {row}"
    return ""
