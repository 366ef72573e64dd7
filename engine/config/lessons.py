"""Lessons of a course as data: match lists, how long they last, and what becomes of policies at their end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from engine.config.base import Config, newly_written, refuse
from engine.config.evaluate import Title
from engine.config.matches import Match
from engine.config.roster import Member, MemberName
from engine.config.train import Setting
from engine.text import figures

Measure = Literal["win", "score", "return"]
MOST_LESSONS = 1000
NOBODY_WINS = "in this game all are on one side, so nobody wins: take score or return"
PARTS = 10
"""Checkpoints in a lesson where nothing else is said."""


class UntilConfig(Config):
    """A condition that ends a lesson early."""

    policy: MemberName = Field(title="Which policy")
    measure: Measure = Field("win", title="Measure", description="win: share of wins, a draw as half")
    reaches: float = Field(0.7, ge=-1e12, le=1e12, title="Reaches")
    of: int = Field(100, ge=1, le=100_000, title="Of its last episodes", description="fewer do not count")

    @model_validator(mode="after")
    def _can_hold(self, info: ValidationInfo) -> Self:
        if newly_written(info) and self.measure == "win" and not 0 <= self.reaches <= 1:
            refuse([("reaches", f"nobody wins {figures(100 * self.reaches)} % of episodes: give a share from 0 to 1")])
        return self


def _twice(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(place, sentence) of each name that stood there before."""
    yield from ((str(i), f"{name!r} is named twice") for i, name in enumerate(names) if name in names[:i])


class BestConfig(Config):
    """The best of several policies takes the place of the others (App. A.1.1 of the paper)."""

    among: tuple[MemberName, ...] = Field(min_length=2, max_length=100, title="Among which policies")
    measure: Measure = Field("return", title="Measure")
    of: int = Field(100, ge=1, le=100_000, title="Of their last episodes", description="at most; without any: last")

    @field_validator("among")
    @classmethod
    def _each_once(cls, among: tuple[str, ...]) -> tuple[str, ...]:
        refuse(_twice(among))
        return among


class AfterwardsConfig(Config):
    """What happens to policies once a lesson is over; those that nothing is said of are kept as they are."""

    best: BestConfig | None = Field(None, title="The best replaces the others")
    fork: dict[MemberName, MemberName] = Field(
        default_factory=dict, max_length=100, title="Copies", description="a policy, and whose copy it becomes"
    )
    pool: tuple[MemberName, ...] = Field(
        (), max_length=100, title="Into the pool",
        description="policies that are played against later, as they are before the best or a copy replaces them",
    )  # fmt: skip

    @field_validator("pool")
    @classmethod
    def _each_once(cls, pool: tuple[str, ...]) -> tuple[str, ...]:
        refuse(_twice(pool))
        return pool

    @property
    def named(self) -> Iterator[tuple[str, str]]:
        """(place, name) of every policy in it."""
        yield from ((f"best.among.{i}", name) for i, name in enumerate(self.best.among if self.best else ()))
        for new, old in self.fork.items():
            yield from ((f"fork.{new}", new), (f"fork.{new}", old))
        yield from ((f"pool.{i}", name) for i, name in enumerate(self.pool))

    @property
    def goes_on(self) -> Iterator[tuple[str, str, str]]:
        """(place, policy, another) of every policy that goes on, or may go on, from another one's network."""
        names = () if self.best is None else self.best.among
        yield from ((f"best.among.{i}", name, names[0]) for i, name in enumerate(names))
        yield from ((f"fork.{new}", new, old) for new, old in self.fork.items())


class LessonConfig(Config):
    """One lesson: a match list, the variant of the game, how long it lasts, and what happens at its end."""

    title: Title = Field("", title="Name")
    matches: tuple[Match, ...] = Field(min_length=1, max_length=200, title="Matches")
    settings: dict[str, Setting] = Field(
        default_factory=dict, title="Settings of the game", description="in all its matches"
    )
    steps: int | None = Field(None, ge=1, le=10**12, title="Decisions", description="to learn from, of all policies")
    until: UntilConfig | None = Field(None, title="Or until", description="whichever comes first")
    frozen: tuple[MemberName, ...] = Field(
        (), max_length=200, title="Frozen", description="policies that only play in this lesson"
    )
    after: AfterwardsConfig = Field(default_factory=AfterwardsConfig, title="Afterwards")
    times: int = Field(1, ge=1, le=MOST_LESSONS, title="How often", description="the same lesson, one after the other")

    @property
    def most(self) -> int:
        """Decisions after which it ends at the latest."""
        return self.steps or 0

    @property
    def counts_wins(self) -> Iterator[str]:
        """The places that measure wins, which a game without winners has none of."""
        if self.until is not None and self.until.measure == "win":
            yield "until.measure"
        if self.after.best is not None and self.after.best.measure == "win":
            yield "after.best.measure"

    def learns(self, roster: Mapping[str, Member]) -> tuple[str, ...]:
        """The policies that learn in it."""
        playing = dict.fromkeys(name for match in self.matches for name in match.policies)
        return tuple(n for n in playing if n in roster and roster[n].learns and n not in self.frozen)

    def misfits(self, roster: Mapping[str, Member]) -> Iterator[tuple[str, str]]:
        """(place, sentence) of everything that is wrong without knowing the game."""
        for i, match in enumerate(self.matches):
            yield from ((f"matches.{i}.{place}", why) for place, why in match.misfits(roster))
        learning = self.learns(roster)
        for i, match in enumerate(self.matches):
            if not set(match.policies) & set(learning):
                yield f"matches.{i}.who", "nobody learns in this match: name a policy that learns and is not frozen"
        if self.steps is None:
            never = " A condition may never come true: without a limit it would go on for ever" if self.until else ""
            yield "steps", f"say how many decisions it lasts{' at most.' if never else ''}{never}"
        if self.until and self.until.policy not in learning:
            yield "until.policy", f"{self.until.policy!r} does not learn in this lesson"
        yield from (
            (f"after.fork.{new}", f"{new!r} cannot become a copy of itself")
            for new, old in self.after.fork.items()
            if new == old
        )
        for place, name in (*((f"frozen.{i}", n) for i, n in enumerate(self.frozen)), *self._afterwards()):
            if name not in roster or not roster[name].learns:
                yield place, f"there is no policy {name!r} that learns"

    def not_compared(self, roster: Mapping[str, Member]) -> Iterator[tuple[str, str]]:
        """(place, sentence) of policies that the best would replace though they do not learn in the lesson."""
        learning = self.learns(roster)
        for i, name in enumerate(self.after.best.among if self.after.best else ()):
            if name not in learning:
                yield (
                    f"after.best.among.{i}",
                    f"{name!r} does not learn in this lesson, so nobody knows how well it does",
                )

    def _afterwards(self) -> Iterator[tuple[str, str]]:
        return ((f"after.{place}", name) for place, name in self.after.named)
