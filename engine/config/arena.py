"""Courses as data: many policies learn from one another in the same battles, lesson by lesson (AI Arena, Staley et al.
2021). A roster says who there is, a match list who plays whom, and a course is a list of lessons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from engine.config.base import Config, Shown, Study, refuse
from engine.config.genes import genes
from engine.config.learners import Learner
from engine.config.matches import Match
from engine.config.policies import ONE_NUMBER
from engine.config.rl import AnyLearner, PPOConfig
from engine.config.roster import Member, MemberName, PupilConfig, misnamed
from engine.config.tournament import TournamentConfig
from engine.config.train import Game, RarelyMinutes, Setting, TrainPool

Measure = Literal["win", "score", "return"]
MOST_LESSONS = 1000
PARTS = 10
"""Checkpoints in a lesson where nothing else is said."""


class UntilConfig(Config):
    """A condition that ends a lesson early."""

    policy: MemberName = Field(title="Which policy")
    measure: Measure = Field("win", title="Measure", description="win: share of wins, a draw as half")
    reaches: float = Field(0.7, ge=-1e12, le=1e12, title="Reaches")
    of: int = Field(100, ge=1, le=100_000, title="Of its last episodes", description="fewer do not count")


class BestConfig(Config):
    """The best of several policies takes the place of the others (App. A.1.1 of the paper)."""

    among: tuple[MemberName, ...] = Field(min_length=2, max_length=100, title="Among which policies")
    measure: Measure = Field("return", title="Measure")
    of: int = Field(100, ge=1, le=100_000, title="Of their last episodes", description="at most; without any: last")


class AfterwardsConfig(Config):
    """What happens to policies once a lesson is over; those that nothing is said of are kept as they are."""

    best: BestConfig | None = Field(None, title="The best replaces the others")
    fork: dict[MemberName, MemberName] = Field(
        default_factory=dict, max_length=100, title="Copies", description="a policy, and whose copy it becomes"
    )
    pool: tuple[MemberName, ...] = Field(
        (), max_length=100, title="Into the pool", description="policies whose present selves are played against later"
    )

    @property
    def named(self) -> Iterator[tuple[str, str]]:
        """(place, name) of every policy in it."""
        yield from ((f"best.among.{i}", name) for i, name in enumerate(self.best.among if self.best else ()))
        for new, old in self.fork.items():
            yield from ((f"fork.{new}", new), (f"fork.{new}", old))
        yield from ((f"pool.{i}", name) for i, name in enumerate(self.pool))


class LessonConfig(Config):
    """One lesson: a match list, the variant of the game, how long it lasts, and what happens at its end."""

    title: str = Field("", max_length=120, title="Name")
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
        for place, name in (*((f"frozen.{i}", n) for i, n in enumerate(self.frozen)), *self._afterwards()):
            if name not in roster or not roster[name].learns:
                yield place, f"there is no policy {name!r} that learns"

    def _afterwards(self) -> Iterator[tuple[str, str]]:
        return ((f"after.{place}", name) for place, name in self.after.named)


class ArenaConfig(Study):
    """Train many policies in the same battles, lesson by lesson."""

    no_ranges = "this is one training; a study of kind evolve searches the settings of its task"
    kind: Literal["arena"] = "arena"
    name: Shown = Field("course", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    game: Game
    learner: Learner = Field(default_factory=PPOConfig, title="Learner", description="of policies without their own")
    roster: dict[MemberName, Member] = Field(
        min_length=1, max_length=200, title="Roster", description="policies by name; a number is a name, too"
    )
    lessons: tuple[LessonConfig, ...] = Field(min_length=1, max_length=MOST_LESSONS, title="Lessons")
    fragment: int = Field(
        32, ge=1, le=100_000, title="Decisions in a fragment", description="of each entity, for all learners alike"
    )
    copies: int = Field(
        1, ge=1, le=4096, title="Copies of every match", description="each on a processor of its own (scale)"
    )
    environments: int = Field(8, ge=1, le=100_000, title="Battles of a match that a copy plays together")
    sampling: Literal["synchronous", "asynchronous"] = Field(
        "synchronous", title="Sampling",
        description="synchronous: copies wait for each update, reproducible; asynchronous: nobody waits, faster.",
    )  # fmt: skip
    max_staleness: int = Field(
        8, ge=0, le=10**6, title="Oldest data learned from", description="updates behind; 0: any; synchronous: 1"
    )
    checkpoint_every: int = Field(
        0, ge=0, le=10**12, title="Decisions between checkpoints", description="0: a tenth of the lesson"
    )
    minutes: RarelyMinutes = 0
    threads: int = Field(1, ge=1, le=256, title="Processor threads of the learners")
    tournament: TournamentConfig | None = Field(
        None, title="Tournament", description="at the end: everybody against everybody, or a Swiss one"
    )
    pool: TrainPool = Field(default_factory=TrainPool)

    @field_validator("game", "learner")
    @classmethod
    def _settled(cls, given: Config) -> Config:
        refuse((gene.place, ONE_NUMBER) for gene in genes(given))
        return given

    @field_validator("roster")
    @classmethod
    def _named(cls, roster: Mapping[str, Any]) -> Mapping[str, Any]:
        refuse(misnamed(roster))
        return roster

    @model_validator(mode="after")
    def _fits(self) -> Self:
        refuse(self._misfits())
        return self

    def _misfits(self) -> Iterator[tuple[str, str]]:
        for name, member in self.roster.items():
            yield from ((f"roster.{name}.{place}", why) for place, why in member.misfits(self.roster))
        for i, lesson in enumerate(self.lessons):
            yield from ((f"lessons.{i}.{place}", why) for place, why in lesson.misfits(self.roster))
        cast = {name for lesson in self.lessons for match in lesson.matches for name in match.policies}
        cast |= {old for name in cast if name in self.roster for old in self.roster[name].recalls}
        for name in self.roster:
            if name not in cast:
                yield f"roster.{name}", "it plays in no match of any lesson: leave it out, or name it in a match"
        if self.count > MOST_LESSONS:
            yield "lessons", f"these are {self.count:,} lessons: at most {MOST_LESSONS:,} in all"

    @property
    def learners(self) -> dict[str, AnyLearner]:
        """The learner of each policy that learns, by name, with the fragments of the course."""
        pupils = {name: one for name, one in self.roster.items() if isinstance(one, PupilConfig)}
        more = {"fragment": self.fragment}
        return {name: (one.learner or self.learner).model_copy(update=more) for name, one in pupils.items()}

    @property
    def starts(self) -> dict[str, tuple[str, str]]:
        """(place, store hash) of the policies that begin with a trained one, by name."""
        given = {name: one.start for name, one in self.roster.items() if isinstance(one, PupilConfig)}
        return {name: (f"roster.{name}.start", start) for name, start in given.items() if start}

    def place_of(self, policy: str) -> str:
        """The place of a policy's learner."""
        own = self.roster[policy]
        return f"roster.{policy}.learner" if isinstance(own, PupilConfig) and own.learner else "learner"

    @property
    def count(self) -> int:
        """Lessons, repeated ones counted."""
        return sum(lesson.times for lesson in self.lessons)

    def lesson(self, number: int) -> tuple[int, LessonConfig]:
        """The lesson that is the ``number``-th to be held, from 0, and its place in the list."""
        for i, lesson in enumerate(self.lessons):
            if number < lesson.times:
                return i, lesson
            number -= lesson.times
        raise IndexError(number)

    @property
    def steps(self) -> int:
        """Decisions of all lessons at most."""
        return sum(lesson.times * lesson.most for lesson in self.lessons)
