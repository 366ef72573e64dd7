"""Courses as data: many policies learn from one another in the same battles, lesson by lesson (AI Arena, Staley et al.
2021). A roster says who there is, a match list who plays whom, and a course is a list of lessons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from engine.config import agent_games
from engine.config.base import Config, Shown, Study, refuse
from engine.config.genes import genes
from engine.config.learners import Learner
from engine.config.lesson_pace import LessonPace, Sampled, pace
from engine.config.lessons import MOST_LESSONS, LessonConfig
from engine.config.policies import ONE_NUMBER
from engine.config.rl import AnyLearner, PPOConfig
from engine.config.roster import Member, MemberName, PupilConfig, misnamed
from engine.config.tournament import TournamentConfig
from engine.config.train import Game, RarelyMinutes, TrainPool

MOST_ENTRANTS = 100
"""Players of a tournament, earlier selves counted."""
ALONE = (
    "the only player of a whole side meets nobody: leave the tournament out, or let scripts or earlier selves play, too"
)
CROWD = f"{{:,}} players would meet, and its table has room for {MOST_ENTRANTS}: leave earlier selves out"


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

    @field_validator("roster", mode="before")
    @classmethod
    def _names_differ(cls, roster: Any) -> Any:
        """A number and the same digits as text are one name, and the latter would take the place of the former."""
        names = [str(name) for name in roster if type(name) is int] if isinstance(roster, Mapping) else []
        refuse((name, "it stands twice in the roster: leave one of the two out") for name in names if name in roster)
        return roster

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
            yield from ((f"lessons.{i}.{place}", why) for place, why in self._ill_set(lesson))
        cast = {name for lesson in self.lessons for match in lesson.matches for name in match.policies}
        cast |= {old for name in cast if name in self.roster for old in self.roster[name].recalls}
        for name in self.roster:
            if name not in cast:
                yield f"roster.{name}", "it plays in no match of any lesson: leave it out, or name it in a match"
        if self.tournament is not None and not 2 <= self.entrants <= MOST_ENTRANTS:
            yield "tournament", ALONE if self.entrants < 2 else CROWD.format(self.entrants)
        if self.tournament is not None and self.tournament.turns and self.tournament.kind == "round-robin":
            yield "tournament.turns", "everybody meets everybody, without turns: leave this out"
        if self.count > MOST_LESSONS:
            yield "lessons", f"these are {self.count:,} lessons: at most {MOST_LESSONS:,} in all"

    def wrong_if_new(self) -> Iterator[tuple[str, str]]:
        """Of the best of a lesson those that do not learn in it."""
        for i, lesson in enumerate(self.lessons):
            yield from ((f"lessons.{i}.{place}", why) for place, why in lesson.not_compared(self.roster))

    def _ill_set(self, lesson: LessonConfig) -> Iterator[tuple[str, str]]:
        """(place, sentence) of settings that the game refuses, of a lesson and of each of its matches."""
        whole = self.game.settings | lesson.settings
        wrong = dict(agent_games.problems(self.game.name, whole)) if lesson.settings else {}
        yield from ((f"settings.{name}", why) for name, why in wrong.items())
        for k, match in enumerate(lesson.matches):
            for name, why in agent_games.problems(self.game.name, whole | match.settings) if match.settings else ():
                if wrong.get(name) != why:
                    yield f"matches.{k}.settings.{name}", why

    @property
    def repeats(self) -> bool:
        """As for every study, if copies wait for each update."""
        return super().repeats and self.sampling == "synchronous"

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
        """Decisions of all lessons: so many where they are in step and without conditions, otherwise at most."""
        return sum(lesson.times * pace.decisions for lesson, pace in self.lesson_plans)

    @property
    def exact(self) -> bool:
        """Whether it is known how many decisions will be learned from."""
        return self.sampling == "synchronous" and not any(lesson.until for lesson in self.lessons)

    def pace(self, lesson: LessonConfig) -> LessonPace:
        """How a lesson is learned."""
        return pace(lesson, self.learners, self._sampled, self.checkpoint_every)

    @property
    def lesson_plans(self) -> Iterator[tuple[LessonConfig, LessonPace]]:
        """All lessons of the list, each with how it is learned."""
        learners, how = self.learners, self._sampled
        return ((lesson, pace(lesson, learners, how, self.checkpoint_every)) for lesson in self.lessons)

    @property
    def _sampled(self) -> Sampled:
        waiting = self.sampling == "synchronous"
        return Sampled(self.environments * self.fragment, self.copies if waiting else 1, waiting)

    @property
    def ticks(self) -> int:
        """Rounds of the whole course, at most; a pair of its tournament is one."""
        lessons = sum(lesson.times * pace.ticks for lesson, pace in self.lesson_plans)
        return lessons + self.pairs

    @property
    def pairs(self) -> int:
        """Pairs that meet in its tournament; without one, none."""
        return self.tournament.pairs(self.entrants) if self.tournament else 0

    @property
    def left_out(self) -> frozenset[str]:
        """Policies that enter no tournament, in which everybody plays a whole side: those that steer a smaller group in
        some match, or one in another order than the game's, and players of one's own that steer any."""
        seated = ((one, match.count // 2) for each in self.lessons for match in each.matches for one in match.seated)
        own = {name for name, member in self.roster.items() if member.own_code}
        return frozenset(
            one.policy for one, side in seated if one.together and (one.policy in own or not one.steers_side(side))
        )

    @property
    def entrants(self) -> int:
        """How many enter its tournament, at most."""
        left_out = self.left_out
        players = sum(not member.recalls for name, member in self.roster.items() if name not in left_out)
        earlier = sum(lesson.times * len({*lesson.learns(self.roster)} - left_out) for lesson in self.lessons)
        return players + (earlier if self.tournament is not None and self.tournament.rungs else 0)
