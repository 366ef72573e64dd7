"""The settings of the built-in games for agents as data, so that errors are reported before a game is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, StrictBool, model_validator
from pydantic_core import core_schema

from engine.config.base import Config, parse, refuse
from engine.errors import ConfigError
from engine.text import figures

Reward = Literal["score", "moved", "stayed", "hit"]
AtariPongReward = Literal["score", "moved", "stayed"]
MazeReward = Literal["score", "win", "moved", "bumped", "ground", "explored"]
TanksReward = Literal["score", "dealt", "friendly", "neutral", "taken", "win"]
NavigationReward = Literal["score", "own", "shared", "moved"]
HalfFieldReward = Literal["score", "shaped", "approached", "reached", "advanced"]
CommanderReward = Literal[
    "score", "win", "dealt", "taken", "walked", "idle", "ground", "waited", "waiting", "explored", "forward"
]
NumberChange = Annotated[str, Field(pattern=r"^[^=\s]{1,200}=-?\d{1,30}(\.\d{1,30})?(e[+-]?\d{1,2})?$")]
"""A number of a game's data and what it is changed to, such as ``battle.field=14``."""
LONGEST_OPENING = 6
"""Moves of Connect Four within which nobody can have won."""


class Count(NamedTuple):
    """Bounds of a count, ends included."""

    low: int
    high: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self.checked, core_schema.int_schema(strict=True))

    def checked(self, count: int) -> int:
        """The count. Raises PydanticCustomError outside the bounds."""
        if not self.low <= count <= self.high:
            raise ValueError(f"must be {self.low} to {self.high:,}, not {figures(count)}")
        return count


class PongSettings(Config):
    """Settings of Pong in a study. A decision cannot be interrupted, so it must not take long; nor may an episode last
    for ever."""

    points: Annotated[int, Count(1, 1000)] = 11
    frame_skip: Annotated[int, Count(1, 100)] = 1
    max_ticks: Annotated[int, Count(1, 1_000_000)] = 6000
    rewards: tuple[Reward, ...] = Field(("score",), min_length=1, max_length=4)
    mirror: StrictBool = False


class ImagePongSettings(PongSettings):
    """The same for Pong in pictures."""

    frames: Annotated[int, Count(1, 16)] = 4


class AtariPongSettings(Config):
    """Settings of Atari's Pong in a study."""

    frame_skip: Annotated[int, Count(1, 100)] = 4
    sticky: Annotated[float, Field(strict=True, ge=0.0, le=1.0)] = 0.25
    max_ticks: Annotated[int, Count(1, 1_000_000)] = 27_000
    rewards: tuple[AtariPongReward, ...] = Field(("score",), min_length=1, max_length=3)


class ConnectFourSettings(Config):
    """Settings of Connect Four in a study."""

    opening: Annotated[int, Count(0, LONGEST_OPENING)] = 2


class CommanderSettings(Config):
    """Settings of herobattle with commanders in a study."""

    every: Annotated[int, Count(1, 100)] = 4
    rewards: tuple[CommanderReward, ...] = Field(("score", "win"), min_length=1, max_length=11)
    changes: tuple[NumberChange, ...] = Field((), max_length=2000)
    same_teams: StrictBool = False
    mirror: StrictBool = False


def _odd(size: int) -> int:
    if size % 2 == 0:
        raise ValueError(f"must be odd, because every second cell is a wall; {size:,} is even")
    return size


class MazeSettings(Config):
    """Settings of the maze in a study."""

    size: Annotated[int, Count(9, 101), AfterValidator(_odd)] = 31
    layout: Annotated[int, Count(0, 1_000_000)] = 1
    max_ticks: Annotated[int, Count(10, 100_000)] = 300
    rewards: tuple[MazeReward, ...] = Field(("score", "win"), min_length=1, max_length=6)
    planted: StrictBool = True


class NavigationSettings(Config):
    """Settings of cooperative navigation in a study. Targets do not overlap, so that more of them are hard to place."""

    entities: Annotated[int, Count(2, 6)] = 3
    hard: StrictBool = False
    max_ticks: Annotated[int, Count(1, 100_000)] = 300
    rewards: tuple[NavigationReward, ...] = Field(("score",), min_length=1, max_length=4)


class TanksSettings(Config):
    """Settings of tanks in a study. ``penalty`` and ``reward`` weigh the parts of the reward ``score``."""

    opponent: Literal["static", "random", "passive", "aggressive"] = "aggressive"
    penalty: Annotated[float, Field(strict=True, ge=0.0, le=100.0)] = 1.0
    reward: Annotated[float, Field(strict=True, ge=0.0, le=100.0)] = 1.0
    obstacles: Annotated[int, Count(0, 40)] = 12
    frame_skip: Annotated[int, Count(1, 6)] = 6
    max_ticks: Annotated[int, Count(1, 100_000)] = 84
    rewards: tuple[TanksReward, ...] = Field(("score",), min_length=1, max_length=6)


class PlatformSettings(Config):
    """Settings of Platform in a study."""

    first: Annotated[int, Count(1, 3)] = 1
    max_ticks: Annotated[int, Count(1, 100_000)] = 200


class _Starts(Config):
    """Settings of which some are ends of ``ranges`` where an episode begins: ``x_min`` and ``x_max`` of ``x``."""

    ranges: ClassVar[tuple[str, ...]]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        refuse(
            (f"{name}_max", f"must be {name}_min or more, or no episode can begin")
            for name in self.ranges
            if getattr(self, f"{name}_max") < getattr(self, f"{name}_min")
        )
        return self


class GoalSettings(_Starts):
    """Settings of Goal in a study: where the player begins, in metres. From 11 m on no shot passes the keeper, and
    from 12 m on it has the ball at once, whatever the player does."""

    ranges = ("x", "y")
    x_min: Annotated[float, Field(strict=True, ge=0.0, le=12.0)] = 0.0
    x_max: Annotated[float, Field(strict=True, ge=0.0, le=12.0)] = 0.0
    y_min: Annotated[float, Field(strict=True, ge=-15.0, le=15.0)] = -15.0
    y_max: Annotated[float, Field(strict=True, ge=-15.0, le=15.0)] = 15.0


class HalfFieldSettings(_Starts):
    """Settings of half-field offence in a study. Where the ball begins: along as a share of the way from the halfway
    line to the goal, across as a share of half the width, both as in HFO. ``apart``: how far from it the player begins,
    as a share of HFO's usual distance. ``of_seat``: what decides what an agent does and is rewarded with."""

    ranges = ("ball_x", "ball_y")
    of_seat: ClassVar[tuple[str, ...]] = ("tackle", "rewards")
    ball_x_min: Annotated[float, Field(strict=True, ge=0.0, le=0.98)] = 0.0
    ball_x_max: Annotated[float, Field(strict=True, ge=0.0, le=0.98)] = 0.2
    ball_y_min: Annotated[float, Field(strict=True, ge=-0.98, le=0.98)] = -0.8
    ball_y_max: Annotated[float, Field(strict=True, ge=-0.98, le=0.98)] = 0.8
    apart: Annotated[float, Field(strict=True, ge=0.0, le=1.0)] = 1.0
    max_ticks: Annotated[int, Count(1, 100_000)] = 500
    untouched: Annotated[int, Count(1, 100_000)] = 100
    tackle: StrictBool = False
    rewards: tuple[HalfFieldReward, ...] = Field(("score",), min_length=1, max_length=5)


SETTINGS: dict[str, type[Config]] = {
    "pong": PongSettings,
    "pong-two-seats": PongSettings,
    "vector-pong": PongSettings,
    "image-pong": ImagePongSettings,
    "atari-pong": AtariPongSettings,
    "atari-pong-pictures": AtariPongSettings,
    "connect-four": ConnectFourSettings,
    "commanders": CommanderSettings,
    "maze": MazeSettings,
    "commanders-two-seats": CommanderSettings,
    "navigation": NavigationSettings,
    "navigation-choices": NavigationSettings,
    "tanks": TanksSettings,
    "tanks-two-teams": TanksSettings,
    "image-tanks": TanksSettings,
    "image-tanks-two-teams": TanksSettings,
    "platform": PlatformSettings,
    "goal": GoalSettings,
    "half-field": HalfFieldSettings,
    "half-field-keeper": HalfFieldSettings,
}
"""Settings by the names of games in studies, with or without ``builtin:``."""


def of_seat(game: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a built-in game in which studies say where episodes begin that decide what an agent sees, does
    and is rewarded with: as they are there, by name. Raises ConfigError where they cannot be."""
    model = SETTINGS.get(game.strip().removeprefix("builtin:"))
    names: tuple[str, ...] = getattr(model, "of_seat", ())
    if model is None or not names:
        return {}
    made = parse(model, {name: value for name, value in settings.items() if name in names})
    return {name: getattr(made, name) for name in names}


def whole(game: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a game and, of a built-in one, those that are left out as they usually are."""
    model = SETTINGS.get(game.strip().removeprefix("builtin:"))
    fields = {} if model is None else model.model_fields
    return {name: field.get_default(call_default_factory=True) for name, field in fields.items()} | dict(settings)


def problems(game: str, settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(setting, sentence) for each setting of a built-in game with a wrong type or outside its range. Unknown settings
    are reported when the game is made."""
    model = SETTINGS.get(game.strip().removeprefix("builtin:"))
    if model is None:
        return
    try:
        parse(model, {name: value for name, value in settings.items() if name in model.model_fields})
    except ConfigError as error:
        yield from ((problem.place, problem.message) for problem in error.problems)
