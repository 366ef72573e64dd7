"""What a course's page tells: who plays whom as a table of entities, and lessons as a timeline."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator

from engine.catalog import LEARNERS, PLAYERS
from engine.config import parse
from engine.config.arena import ArenaConfig
from engine.config.arena_plan import counted
from engine.config.lessons import LessonConfig
from engine.config.matches import MatchConfig
from webapp.arena.entities import entity_name
from webapp.arena.selves import Selves
from webapp.lib.figures import share_with_ends
from webapp.lib.words import number, percent, plural
from webapp.studies.models import Job
from webapp.studies.rounds import Columns
from webapp.training.games import OFFERS, Offer, named

MOST_MATCHES = 12
"""Columns of the table of entities; of more, each can be watched."""
PORTION = 100
"""Lessons that the page shows at once."""
LISTED = 6
"""Matches of a lesson that the timeline names unfolded."""


class RosterPlayer(NamedTuple):
    """One of the roster, and what it does."""

    name: str
    does: str
    learns: bool


class ListedMatch(NamedTuple):
    """A match of a lesson: its ``place`` there, from 0, and whether it can be watched."""

    place: int
    words: str
    watchable: bool


class Held(NamedTuple):
    """A lesson on the timeline. ``state``: over, now, ahead or, where the course ended within it, partly; ``where``:
    which of those of its kind is under way, or how many were held; ``numbers``: its own or, of one that is held several
    times, the first and the last; ``ended``: by what one with a condition ended; ``over``: the numbers of those that
    are over; ``matches``: the first of them, and ``further``: the others, which the page folds."""

    numbers: str
    title: str
    state: str
    where: str
    length: str
    until: str
    ended: str
    over: range
    matches: list[ListedMatch]
    further: list[ListedMatch]
    notes: list[str]


class Steering(NamedTuple):
    """Who steers an entity in a match, empty for nobody; ``together``: as one of a group; ``who``: whom a pool of
    earlier selves stands for."""

    policy: str
    together: bool = False
    who: str = ""


class Seat(NamedTuple):
    """An entity of the game, and who steers it in each match."""

    name: str
    cells: list[Steering]


def course_of(job: Job) -> ArenaConfig:
    """A job's course. It is read once for each time that the job is loaded: that takes a while where it is long."""
    config, course = vars(job).get(_READ, (None, None))
    if config is not job.config:
        course = parse(ArenaConfig, job.config)
        vars(job)[_READ] = job.config, course
    assert isinstance(course, ArenaConfig)
    return course


_READ = "_course"


class CourseReading:
    """A job's course as its page shows it."""

    def __init__(self, job: Job) -> None:
        self.job, self.config = job, course_of(job)
        self.offer = OFFERS[named(self.config.game.name, job.project)[0]]
        done = int(job.metrics.get("lesson", 0) or 0)
        next_begun = bool(job.metrics.get("lesson_over")) and not job.terminal and done < self.config.count
        self.number = max(1, done + next_begun) if job.tick else 1
        self.over, self.begun = job.terminal, bool(job.tick) or job.status == "running"
        self.met, self.meetings = (int(job.metrics.get(name, 0) or 0) for name in ("pairs", "pairs_in_all"))
        self.complete = done if job.metrics.get("lesson_over") or self.met else max(0, done - 1)

    @property
    def players(self) -> list[RosterPlayer]:
        """The roster."""
        return [RosterPlayer(name, _does(member), member.learns) for name, member in self.config.roster.items()]

    def portion(self, asked: str | None = None) -> Page:
        """The lessons that the page shows at once, in order; those that are held several times once. Without a number
        of a portion it is the one of the lesson that is under way, or of the last that was."""
        lessons = self.config.lessons
        before = [0, *accumulate(lesson.times for lesson in lessons)]
        page: Page = Paginator(range(len(lessons)), PORTION).get_page(asked or 1 + self._place // PORTION)
        page.object_list = [self._held(i, lessons[i], before[i]) for i in page.object_list]
        return page

    def _held(self, i: int, lesson: LessonConfig, before: int) -> Held:
        state, where = self._state(lesson.times, before)
        until = lesson.until
        condition = "" if until is None else _until(until.policy, until.measure, until.reaches, until.of)
        length = plural(self.config.pace(lesson).decisions, "decision")
        length += f", {plural(lesson.times, 'time')}" if lesson.times > 1 else ""
        numbers = str(before + 1) if lesson.times == 1 else f"{before + 1} to {before + lesson.times}"
        over = range(before + 1, before + 1 + max(0, min(self.complete - before, lesson.times)))
        matches, ended = self.listed(lesson), self._ended(lesson, over)
        first, further = matches[:LISTED], matches[LISTED:]
        notes = list(_notes(lesson))
        return Held(numbers, lesson.title, state, where, length, condition, ended, over, first, further, notes)

    def _ended(self, lesson: LessonConfig, over: range) -> str:
        """By what a lesson with a condition ended; of one that was held several times, how often by its condition."""
        ends = [self._ends[place] for place in over if place in self._ends] if lesson.until else []
        reached = sum(metrics["lesson_reached"] for metrics in ends)
        if len(ends) > 1:
            return f"The condition came true in {number(reached)} of {number(len(ends))}."
        for metrics in ends:
            stands = metrics.get("lesson_stands")
            won = lesson.until is not None and lesson.until.measure == "win"
            mean = "too few battles over to tell" if stands is None else percent(stands) if won else number(stands, 2)
            how = "The condition came true" if reached else "It ended at its limit"
            return f"{how} after {number(metrics['lesson_decisions'])} decisions: {mean}."
        return ""

    @cached_property
    def _ends(self) -> dict[int, dict[str, float]]:
        """What was told at the end of each lesson with a condition, by its number from 1."""
        ends = self.job.events.filter(kind="progressed", body__metrics__has_key="lesson_reached")
        return {int(metrics["lesson"]): metrics for metrics in ends.values_list("body__metrics", flat=True)}

    def listed(self, lesson: LessonConfig) -> list[ListedMatch]:
        """Its matches in words."""
        return [
            ListedMatch(place, match_words(match, self.offer), watchable(match, self.offer))
            for place, match in enumerate(lesson.matches)
        ]

    def _state(self, times: int, before: int) -> tuple[str, str]:
        here = self.begun and before < self.number <= before + times
        if here and not (self.over or self.met):
            return "now", f"{self.number - before} of {times}" if times > 1 else ""
        held = min(self.complete - before, times)
        if self.begun and held == times:
            return "over", ""
        if not here:
            return "ahead", ""
        return "partly", f"{held} of {times} held" if times > 1 else "not to its end"

    @property
    def number_now(self) -> int:
        """The number of the lesson that is under way, or of the last one."""
        return min(self.number, self.config.count)

    @property
    def now(self) -> LessonConfig:
        """The lesson that is under way, or the last one."""
        return self.config.lessons[self._place]

    @property
    def _place(self) -> int:
        return self.config.lesson(self.number_now - 1)[0]

    @property
    def heads(self) -> list[str]:
        """Its matches, by number."""
        return [f"Match {i + 1}" for i in range(len(self.now.matches[:MOST_MATCHES]))]

    @property
    def seats(self) -> list[Seat]:
        """A row for each entity: who steers it in each match of the lesson that is under way."""
        shown = self.now.matches[:MOST_MATCHES]
        pools, selves = {name for name, one in self.config.roster.items() if one.recalls}, Selves(self.config, {})
        whom = {name: selves.words(name, self.number_now) for name in pools}
        steered = [
            {entity: Steering(one.policy, one.together, whom.get(one.policy, ""))
             for one in match.seated for entity in one.entities}
            for match in shown
        ]  # fmt: skip
        nobody, count = Steering(""), max(match.count for match in shown)
        return [
            Seat(entity_name(k, self.offer), [steering.get(k, nobody) for steering in steered]) for k in range(count)
        ]

    @property
    def paper(self) -> str:
        """The paper's count of processes, for specialists."""
        most = max((counted(lesson.matches, self.config.copies) for lesson in self.config.lessons),
                   key=lambda how: how.processes)  # fmt: skip
        return f"{most.processes}: {plural(most.environments, 'environment')}, {plural(most.workers, 'worker')}"


def _does(member: Any) -> str:
    if member.learns:
        return f"Learns by {LEARNERS[member.learner.kind].label}" if member.learner else "Learns"
    if member.recalls:
        most = ", the hardest most often" if member.choice == "hardest" else ""
        return f"Earlier selves of {', '.join(member.recalls)}{most}"
    player = getattr(member, "player", "")
    return f"Script: {PLAYERS[player].label}" if player in PLAYERS else "A saved agent, which stays as it is"


def _until(policy: str, measure: str, reaches: float, of: int) -> str:
    if measure == "win":
        return f"until {policy} wins {percent(reaches)} of its last {number(of)} battles"
    return f"until {policy} has a {measure} of {number(reaches, 2)} over its last {number(of)} battles"


def _notes(lesson: LessonConfig) -> Iterator[str]:
    """What its end does, and who only plays."""
    if lesson.frozen:
        yield f"{', '.join(lesson.frozen)} only {'plays' if len(lesson.frozen) == 1 else 'play'}"
    after = lesson.after
    if after.pool:
        yield f"then {', '.join(after.pool)} {'joins' if len(after.pool) == 1 else 'join'} the earlier selves"
    if after.best:
        yield f"then the best of {', '.join(after.best.among)} goes on in place of the others"
    for new, old in after.fork.items():
        yield f"then {new} goes on as a copy of {old}"


def match_words(match: MatchConfig, offer: Offer) -> str:
    """A match in a line: who plays whom, and settings of its own."""
    sides = [" and ".join(names) for names in sides_of(match, offer)]
    settings = ", ".join(f"{name} {_plain(value)}" for name, value in match.settings.items())
    return " against ".join(sides) + (f" ({settings})" if settings else "")


def sides_of(match: MatchConfig, offer: Offer) -> list[list[str]]:
    """Who is on each side, each once."""
    steering = {entity: one.policy for one in match.seated for entity in one.entities}
    sides: dict[int, dict[str, None]] = {}
    for entity in sorted(steering):
        sides.setdefault(entity // offer.squad, {})[steering[entity]] = None
    return [list(names) for names in sides.values()]


def watchable(match: MatchConfig, offer: Offer) -> bool:
    """Whether all sides play, and every group is of one side, its entities in the game's order."""
    groups = [one.entities for one in match.seated if one.together]
    ordered = all(list(each) == sorted(each) and each[0] // offer.squad == each[-1] // offer.squad for each in groups)
    return ordered and len(sides_of(match, offer)) == max(1, len(offer.sides))


def _plain(value: Any) -> str:
    return number(value, 2) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def latest(columns: Columns, player: RosterPlayer) -> str:
    """How a policy played in the last round that has figures of it, and which that was where others followed."""
    rounds = columns.get("tick", [])
    learned = [i for i, pairs in enumerate(columns.get("pairs", [None] * len(rounds))) if pairs is None]
    for what, words in (("win", "wins {}"), ("return", "return {}")):
        values, low, high = (columns.get(f"{player.name}/{what}{end}", []) for end in ("", "_low", "_high"))
        known = [(i, value) for i, value in enumerate(values) if value is not None]
        if known:
            at, value = known[-1]
            least, most = (column[at] if at < len(column) else None for column in (low, high))
            ends = None if least is None or most is None else (least, most)
            old = "" if at >= learned[-1] else f" in round {number(rounds[at])}; no battle of its own ended since"
            return words.format(_with_ends(what, value, ends)) + old
    return ""


def _with_ends(what: str, value: float, ends: tuple[float, float] | None) -> str:
    """A mean with its range, where that is known: wins in per cent."""
    if what == "win":
        return percent(value) if ends is None else share_with_ends(value, *ends)
    return number(value, 2) if ends is None else f"{number(value, 2)} ({number(ends[0], 2)} to {number(ends[1], 2)})"
