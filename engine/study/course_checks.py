"""Whether a course fits its games: every match is made once, before anything starts, and all that does not fit is said
at its entry."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from engine.catalog import LEARNERS, built_in
from engine.config.arena import ArenaConfig
from engine.config.arena_plan import misfits
from engine.config.lessons import NOBODY_WINS, LessonConfig
from engine.config.matches import MatchConfig, Seated
from engine.config.rl import ACTIONS
from engine.errors import ConfigError
from engine.mdp.groups import Group, grouped
from engine.mdp.interface import SeatSpec, members_of
from engine.mdp.trajectory import Batch
from engine.mdp.vector import Game, in_turns
from engine.problem import ShouldStop
from engine.rl.cast import Cast
from engine.rl.seats import Players
from engine.simulators import references
from engine.store import Store
from engine.study.casting import check_limits
from engine.study.lessons import KINDS, Known, Seating, cast_of, played, players_of, seating, variant
from engine.study.meetings import two_sides

Fault = tuple[str, str]
TURNS = "in this game entities take turns, and a group needs entities that act at once: leave the inner brackets out"


class Checked(NamedTuple):
    """What is known once a course fits: the seat of each policy that learns, and decisions of the longest episode
    (0: nobody knows)."""

    seats: dict[str, SeatSpec]
    longest: int


def check(
    config: ArenaConfig, store: Store, *, begun: bool = False, should_stop: ShouldStop = lambda: False
) -> Checked:
    """Make every match once; of a course that has ``begun``, without playing. Raises ConfigError with everything that
    does not fit, SimulatorError, and Cancelled once ``should_stop()``."""
    checks = _Checks(config, store, begun, should_stop)
    wrong = list(misfits(config))
    for i, lesson in enumerate(config.lessons):
        for k, match in enumerate(lesson.matches):
            for at, why in checks.match(lesson, match):
                whose = _said_at(at, lesson, match)
                where = {"game": "game.", "lesson": f"lessons.{i}.", "match": f"lessons.{i}.matches.{k}.", "course": ""}
                wrong.append((f"{where[whose]}{at}".rstrip("."), why))
    for i, lesson in enumerate(config.lessons):
        wrong += [(f"lessons.{i}.{at}", why) for at, why in checks.measures(lesson)]
        wrong += [(f"lessons.{i}.after.{at}", why) for at, why in checks.afterwards(lesson)]
    wrong += checks.tournament()
    if wrong:
        raise ConfigError(dict.fromkeys(wrong))
    return Checked(checks.seats, checks.longest)


class _Checks:
    def __init__(self, config: ArenaConfig, store: Store, begun: bool, should_stop: ShouldStop) -> None:
        self.config, self.store, self.begun, self.should_stop = config, store, begun, should_stop
        self.seats: dict[str, SeatSpec] = {}
        self.steers: dict[str, int] = {}
        """Entities of the group that a policy that learns steers; 0: entities one by one."""
        self.longest = 0
        self.without_wins = False
        """Whether all entities of the game are on one side, and nobody else is."""
        self._seen: set[str] = set()

    def match(self, lesson: LessonConfig, match: MatchConfig) -> Iterator[Fault]:
        """What is wrong with a match; one that was seen before is not made again."""
        key = f"{match.model_dump_json()} {lesson.settings} {lesson.frozen}"
        if key in self._seen:
            return
        self._seen.add(key)
        try:
            game = references.make(variant(self.config, lesson, match), 1, self.should_stop)
        except ConfigError as error:
            yield from ((p.place.removeprefix("game."), p.message) for p in error.problems)
            return
        with contextlib.closing(game):
            yield from self._seated(lesson, match, game)

    def _seated(self, lesson: LessonConfig, match: MatchConfig, game: Game) -> Iterator[Fault]:
        spec = game.spec
        wrong = list(match.miscounted(len(spec.seats), spec.name))
        if spec.squad > 1:  # otherwise the game does not say who is on whose side
            wrong += match.across(spec.squad)
        if wrong:
            yield from wrong
            return
        seats = seating(match, self.config)
        if seats.together and in_turns(game):
            yield from ((one.place, TURNS) for one in seats.who if one.together)
            return
        try:
            whole = played(game, seats)
            specs = whole.spec.seats
            cast = cast_of(self.config, lesson, seats, specs, Known({}, {}))
        except ConfigError as error:
            yield _wrong_group(game, seats), error.problems[0].message
            return
        self.longest = max(self.longest, game.spec.max_ticks)
        known = built_in(self.config.game.name)  # of another game nobody knows whether it plays against its entities
        one_side = 1 < len(game.spec.seats) == game.spec.squad
        self.without_wins |= one_side if known is None else known.without_wins
        said: set[str] = set()  # what is wrong with a policy on several entities is wrong once
        for one, seat in zip(seats.who, specs, strict=True):
            wrong = [(place, why) for place, why in self._sits(one, seat) if why not in said]
            said |= {why for _, why in wrong}
            yield from wrong
        players = players_of(self.config, specs, cast, self.store, Known({}, {}))
        wrong = [*self._seatable(cast, players, game, seats)]
        yield from wrong
        if not self.begun:
            references.begin(game, self.config.seed)
            yield from () if wrong else self._decides(cast, players, whole)

    def _seatable(self, cast: Cast, players: Players, game: Game, seats: Seating) -> Iterator[Fault]:
        entries: dict[str, str] = {}
        for one, candidates in zip(seats.who, cast.seats, strict=True):
            for candidate in candidates:
                entries.setdefault(candidate.policy, one.place)
        for name, entry in entries.items():
            yield from self._plays(name, entry, players, game)

    def _decides(self, cast: Cast, players: Players, game: Game) -> Iterator[Fault]:
        """Whether players of one's own can decide in a first state."""
        own = {
            c.policy: seat
            for seat, candidates in enumerate(cast.seats)
            for c in candidates
            if not c.of and self.config.roster[c.policy.partition(KINDS)[0].partition("@")[0]].own_code
        }
        if not own or in_turns(game):  # there it is told once it has its turn
            return
        first = game.reset(np.array([self.config.seed], np.uint64))
        for name, seat in own.items():
            player = players(name)
            state = {each: np.zeros((1, *shape), np.float32) for each, shape in player.memory.items()}
            batch = Batch(first.observations[seat], first.masks[seat], np.zeros(1, np.uint64), state)
            try:
                player(batch)
            except ConfigError as error:
                yield from ((f"roster.{name.partition(KINDS)[0]}.{p.place}", p.message) for p in error.problems)

    def _plays(self, name: str, entry: str, players: Players, game: Game) -> Iterator[Fault]:
        """Whether a policy that never learns, and sits at this entry first, can play."""
        policy = name.partition(KINDS)[0]
        member = self.config.roster[policy]
        if member.learns or member.recalls:
            return
        try:
            players(name)
            if not self.begun:
                check_limits(game, member, range(len(game.spec.seats)), f"roster.{policy}", self.config.seed)
        except ConfigError as error:
            place, why = error.problems[0]
            yield (place, why) if member.own_code else (entry, f"{place}: {why}")  # it may fit elsewhere

    def _sits(self, one: Seated, spec: SeatSpec) -> Iterator[Fault]:
        """Whether who learns can learn here, as everywhere else."""
        steers = len(one.entities) if one.together else 0
        for name in self.config.roster[one.policy].recalls or (one.policy,):
            if not self.config.roster[name].learns:
                continue
            learner = self.config.learners[name]
            if spec.action.kind not in learner.actions:
                able = " or ".join(ACTIONS[kind] for kind in sorted(learner.actions))
                label, does = LEARNERS[learner.kind].label, ACTIONS[spec.action.kind]
                yield one.place, f"{name!r} learns by {label}, whose actions are {able}; here they are {does}"
            elif learner.together and spec.pictures:
                label = LEARNERS[learner.kind].label
                yield one.place, f"{name!r} learns by {label}, which looks at numbers; here are pictures"
            elif self.seats.setdefault(name, spec) != spec or self.steers.setdefault(name, steers) != steers:
                yield one.place, _otherwise(name, steers, self.steers[name])
            self.steers.setdefault(name, steers)

    def tournament(self) -> Iterator[Fault]:
        """Whether all can meet in the game."""
        if self.config.tournament is None:
            return
        try:
            game = references.make(self.config.game, 1, self.should_stop)
        except ConfigError:
            return  # said where it is played
        with contextlib.closing(game):
            try:
                two_sides(game.spec)
            except ConfigError as error:
                yield "tournament", error.problems[0].message
                return
            seat = game.spec.seats[0]
        left_out = self.config.left_out
        for name, own in self.seats.items():
            whose = () if name in left_out else members_of(own)
            if any((each.observations, each.action) != (seat.observations, seat.action) for each in whose):
                yield (
                    "tournament",
                    f"{name!r} sees or does other things than the game's first player: they cannot meet",
                )

    def measures(self, lesson: LessonConfig) -> Iterator[Fault]:
        """Whether somebody can win, where that is measured."""
        yield from ((place, NOBODY_WINS) for place in lesson.counts_wins if self.without_wins)

    def afterwards(self, lesson: LessonConfig) -> Iterator[Fault]:
        """Whether policies can go on from one another's networks."""
        for place, new, old in lesson.after.goes_on:
            if self.seats.get(new) != self.seats.get(old):
                yield place, f"{new!r} cannot go on from {old!r}: they see or do different things"


def _said_at(at: str, lesson: LessonConfig, match: MatchConfig) -> str:
    """Whose a place is that a match complains of: the settings of the "match" alone, of its "lesson" or of the "game",
    or the roster's, of the "course"."""
    first, _, rest = at.partition(".")
    if first == "roster":
        return "course"
    name = rest.partition(".")[0]
    if first != "settings" or name in match.settings:
        return "match"
    return "lesson" if name in lesson.settings else "game"


def _otherwise(name: str, steers: int, first: int) -> str:
    """Why a policy cannot sit where it sees something else than where it was named first."""
    if steers == first:
        return f"{name!r} sees, does or is rewarded otherwise here than where it was named first: take another policy"
    here, there = (f"a group of {many}" if many else "single entities" for many in (steers, first))
    return f"{name!r} steers {here} here, and {there} where it was named first: take another policy for one of the two"


def _wrong_group(game: Game, seats: Seating) -> str:
    """The entry of the first group that cannot be; without one, the list."""
    for one, group in zip(seats.who, seats.groups, strict=True):
        alone = [Group((i,)) for i in range(len(game.spec.seats)) if i not in group.seats]
        try:
            grouped(game, [group, *alone])
        except ConfigError:
            return one.place
    return "who"
