"""The battles of a lesson: which variant of the game each match is, who sits where, and the sampler of all matches.

A match's seats are the entities of its game in the game's order, a group in the place of its first entity. One copy of
the match list is one sampler, which plays all matches in turn and joins what a policy does in them, so that every
learner gets the same from each copy. Settings reach their own match alone: each has a game of its own, made for it.
(Reference code: matches are duplicated as m1, m1, m2, m2 and their settings as k1, k2, k1, k2.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from engine.catalog import SAMPLERS
from engine.channel import Weights
from engine.config.arena import ArenaConfig
from engine.config.base import parse
from engine.config.lesson_pace import LessonPace
from engine.config.lessons import LessonConfig
from engine.config.matches import MatchConfig, Seated
from engine.config.rl import AnyLearner
from engine.config.train import TrainGame, TrainPool
from engine.errors import below
from engine.evorl.opponents import Faced, shares, together
from engine.mdp.groups import Group, grouped
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Trajectory, join
from engine.mdp.vector import Game, in_turns
from engine.problem import ShouldStop
from engine.rl.cast import Candidate, Cast
from engine.rl.collector import Collector, Producer
from engine.rl.factory import gives_gradients, gradient_worker, policy_spec
from engine.rl.policy import Actor, Policy
from engine.rl.sampler import Episode, Sampler
from engine.rl.seats import Player, Players, slowed
from engine.rl.turns import TurnSampler
from engine.simulators import references
from engine.store import Store
from engine.stores import open_store
from engine.study.casting import MAKERS, PLAYERS_KEPT
from engine.study.policy_training import Portion
from engine.study.sampler_pool import LIVES, LocalSamplers, SamplerPool, remote

KINDS = "~"
"""Before the number of another kind of seat that a policy without learning sits on, in the policy's name in a cast."""


class Seating(NamedTuple):
    """Who sits on each seat of a match, in the order of seats, and the groups that these are."""

    who: tuple[Seated, ...]
    groups: tuple[Group, ...]

    @property
    def together(self) -> bool:
        """Whether some entities are steered as one."""
        return any(one.together for one in self.who)


class Known(NamedTuple):
    """What is settled for a whole lesson: store hashes of the descriptions of policies that learn in the course, as
    they are at its beginning, and of their earlier selves that are played against; ``faced``: by policy that learns and
    earlier self (NAME@HASH) what is known from earlier lessons."""

    present: dict[str, str]
    past: dict[str, tuple[str, ...]]
    faced: Mapping[str, Faced] = {}


class LessonOrder(msgspec.Struct, frozen=True):
    """The payload for an actor."""

    config: dict[str, Any]
    store: str
    number: int
    beginning: int
    lesson: int
    present: dict[str, str]
    past: dict[str, tuple[str, ...]]
    faced: Mapping[str, Faced]


class Lesson:
    """A lesson under way, as its samplers need to know it. ``number``: how many were held before."""

    def __init__(self, config: ArenaConfig, number: int, known: Known) -> None:
        self.config, self.number, self.known = config, number, known
        self.place, self.settings = config.lesson(number)
        self.pace: LessonPace = config.pace(self.settings)
        self.sampling, self.samplers, self.max_staleness = config.sampling, config.copies, config.max_staleness
        self.fragments = self.pace.fragments
        self.learners: Mapping[str, AnyLearner] = {n: config.learners[n] for n in self.pace.workers}
        self.minutes = config.minutes

    @property
    def pool(self) -> TrainPool:
        """Where its samplers run."""
        return self.config.pool

    def portion(self, name: str) -> Portion:
        """What a policy learns from at a time: in step, all that copies play for an update; otherwise as many of the
        fragments that arrive as it needs at least."""
        learner, waiting = self.learners[name], self.sampling == "synchronous"
        gradients = gives_gradients(learner, self.sampling)
        if waiting:
            need = self.samplers * self.fragments
        else:
            usual = 1 if gradients else max(1, -(-learner.least_batch // self.pace.fragment[name]))
            need = min(usual, self.pace.fragments)
        return Portion(need, waiting, gradients, 0 if learner.replays else self.max_staleness)


def seating(match: MatchConfig, config: ArenaConfig) -> Seating:
    """The seats of a match. A group whose members are rewarded apart is so in its earlier selves, too."""
    who = tuple(sorted(match.seated, key=lambda one: min(one.entities)))
    apart = {name for name, learner in config.learners.items() if learner.apart}
    apart |= {name for name, member in config.roster.items() if member.recalls and apart.issuperset(member.recalls)}
    return Seating(who, tuple(Group(one.entities, one.policy in apart) for one in who))


def variant(config: ArenaConfig, lesson: LessonConfig, match: MatchConfig) -> TrainGame:
    """The game of a match. Raises ConfigError below ``settings``."""
    game = config.game.model_dump(mode="json")
    return parse(TrainGame, {**game, "settings": {**game["settings"], **lesson.settings, **match.settings}})


def played(game: Game, seats: Seating) -> Game:
    """The game with the seats of a match. Raises ConfigError as ``grouped``."""
    return grouped(game, seats.groups)


def cast_of(config: ArenaConfig, lesson: LessonConfig, seats: Seating, specs: Sequence[SeatSpec], known: Known) -> Cast:
    """The cast of a match on seats with these descriptions."""
    learning = {s.policy for s in seats.who if config.roster[s.policy].learns and s.policy not in lesson.frozen}
    kinds: dict[str, list[SeatSpec]] = {}
    found: list[list[Candidate]] = []
    first: dict[str, int] = {}
    draws: list[int] = []
    for place, (one, spec) in enumerate(zip(seats.who, specs, strict=True)):
        member = config.roster[one.policy]
        draws.append(first.setdefault(one.policy, place) if member.recalls else place)
        if member.recalls:
            found.append(_earlier(one.policy, member, learning, known))
            continue
        sat = kinds.setdefault(one.policy, [])
        if spec not in sat:
            sat.append(spec)
        k, learns = sat.index(spec), one.policy in learning
        found.append([Candidate(f"{one.policy}{KINDS}{k}" if k and not member.learns else one.policy, learns=learns)])
    return Cast(found, draws)


def _earlier(policy: str, pool: Any, learning: Collection[str], known: Known) -> list[Candidate]:
    """Earlier selves on a seat, for those who learn in the match: all seats of a pool have the same one. While there
    are none, they as they are at the beginning of the lesson; nobody learns on such a seat."""
    names = [f"{old}@{digest}" for old in pool.recalls for digest in known.past.get(old, ())]
    if not names:
        names = [f"{old}@{known.present[old]}" for old in pool.recalls if old in known.present]
        return [Candidate(name) for name in names] or [Candidate(policy, of=old) for old in pool.recalls]
    if pool.choice == "uniform":
        return [Candidate(name) for name in dict.fromkeys(names)]
    faced = together(known.faced.get(name, {}) for name in learning)
    drawn = shares(pool.choice, [], names, faced)
    return [Candidate(name, share) for name, share in drawn.items() if share > 0]


def players_of(config: ArenaConfig, specs: Sequence[SeatSpec], cast: Cast, store: Store, known: Known) -> Players:
    """The players of all policies of a match that do not learn in it. Raises ConfigError for one that cannot be
    made."""

    @lru_cache(PLAYERS_KEPT)
    def player(name: str) -> Player:
        policy = name.partition(KINDS)[0]
        if "@" in name:
            return Policy.stored(store, name.partition("@")[2]).actor()
        if policy in known.present:
            return Policy.stored(store, known.present[policy]).actor()
        member: Any = config.roster[policy]
        with below(f"roster.{policy}"):
            made = MAKERS[member.kind](member, specs[cast.places(name)[0]], store, True)
            return slowed(made, member.limits, config.game.limits)

    return player


class Matches:
    """All matches of a copy as one sampler (``engine.rl.sampler.Sampler``): streams of a policy's trajectory are those
    of the first match, then those of the next."""

    def __init__(self, matches: Sequence[Sampler | TurnSampler]) -> None:
        self._matches = tuple(matches)
        self.actors: dict[str, Actor] = {}
        for match in self._matches:
            self.actors |= match.actors

    @property
    def policies(self) -> tuple[str, ...]:
        """Those that learn."""
        return tuple(self.actors)

    def load(self, weights: Weights) -> None:
        """As ``Sampler.load``."""
        for match in self._matches:
            if weights.policy in match.actors:
                match.load(weights)

    def begin(self, beginning: int = 0) -> None:
        """As ``Sampler.begin``."""
        for match in self._matches:
            match.begin(beginning)

    def sample(self, before: Callable[[], None] | None = None) -> dict[str, Trajectory]:
        """As ``Sampler.sample``, of each match in turn."""
        found: dict[str, list[Trajectory]] = {}
        for match in self._matches:
            for policy, fragment in match.sample(before).items():
                found.setdefault(policy, []).append(fragment)
        return {policy: join(fragments) for policy, fragments in found.items()}

    def finished(self) -> list[Episode]:
        """As ``Sampler.finished``; those of all matches are spread evenly, so that the last ones are of all of them."""
        ended = [match.finished() for match in self._matches]
        spread = [((i + 0.5) / len(own), k, i) for k, own in enumerate(ended) for i in range(len(own))]
        return [ended[k][i] for _, k, i in sorted(spread)]

    def close(self) -> None:
        """Close all games."""
        for match in self._matches:
            match.close()


def match_sampler(
    lesson: Lesson, store: Store, place: int, number: int, should_stop: ShouldStop = lambda: False
) -> Sampler | TurnSampler:
    """Plays the match at this place of a lesson; ``number``: its own among all copies of all matches."""
    config, match = lesson.config, lesson.settings.matches[place]
    seats = seating(match, config)
    game = references.make(variant(config, lesson.settings, match), config.environments, should_stop)
    whole = played(game, seats)
    specs = whole.spec.seats
    cast = cast_of(config, lesson.settings, seats, specs, lesson.known)
    learning = {name: policy_spec(config.learners[name], specs[cast.places(name)[0]]).model() for name in cast.learning}
    given: dict[str, Any] = {
        "learning": learning, "battles": config.environments, "length": config.fragment, "seed": config.seed,
        "cast": cast, "players": players_of(config, specs, cast, store, lesson.known), "number": number,
        "sides": [one.entities[0] // game.spec.squad for one in seats.who],
    }  # fmt: skip
    entities = [one.entities[0] for one in seats.who]
    made = TurnSampler(whole, **given) if in_turns(whole) else Sampler(whole, **given, entities=entities)
    made.recall({name: past for name, past in lesson.known.past.items() if name not in learning})
    return made


def sampler(lesson: Lesson, store: Store, number: int, should_stop: ShouldStop = lambda: False) -> Producer:
    """Copy ``number`` of a lesson's matches. Raises as ``engine.study.sampler_factory.sampler``."""
    count = len(lesson.settings.matches)
    made: list[Sampler | TurnSampler] = []
    try:
        for place in range(count):
            made.append(match_sampler(lesson, store, place, number * count + place, should_stop))
    except BaseException:
        for one in made:
            one.close()
        raise
    whole = Matches(made)
    differentiated = {n: one for n, one in lesson.learners.items() if gives_gradients(one, lesson.sampling)}
    return gradient_worker(whole, differentiated) if differentiated else whole


def build(payload: bytes) -> Collector:
    """The sampler of an actor."""
    order = msgspec.json.decode(payload, type=LessonOrder)
    lesson = Lesson(parse(ArenaConfig, order.config), order.lesson, Known(order.present, order.past, order.faced))
    made = sampler(lesson, open_store(order.store), order.number)
    return Collector(
        made, fragments=lesson.fragments if lesson.sampling == "synchronous" else 0, beginning=order.beginning
    )


def open_lesson(lesson: Lesson, store: Store, tick: int, should_stop: ShouldStop = lambda: False) -> SamplerPool:
    """The samplers of a lesson, from round ``tick`` on. Raises as ``engine.study.sampler_pool.open_samplers``."""
    if lesson.pool.kind == "local":
        return LocalSamplers(lesson, store, tick * LIVES, should_stop, sampler)
    settled, known = lesson.config.model_dump(mode="json"), lesson.known

    def payload(number: int, life: int) -> bytes:
        beginning = tick * LIVES + life
        return msgspec.json.encode(LessonOrder(settled, store.address, number, beginning, lesson.number, *known))

    return remote(lesson, SAMPLERS["arena"], payload, should_stop, together=lesson.sampling == "synchronous")
