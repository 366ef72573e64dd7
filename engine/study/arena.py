"""Courses: many policies learn from one another in the same battles, lesson by lesson (``engine.config.arena``).

A lesson has samplers of its own, which begin its battles afresh; its rounds are those of ``engine.study.learning``. At
its end policies are kept, copied, replaced by the best of them, or put into the pool, and then the checkpoint is
written: whoever goes on from it begins the next lesson. In step a course that was killed anywhere ends with the same
policies as one that never was.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Generator, Iterator, Mapping
from typing import Any

from engine.arrays import Bundle
from engine.config import arena_plan
from engine.config.arena import ArenaConfig
from engine.config.rl import AnyLearner
from engine.errors import Cancelled, ConfigError, EngineError
from engine.events import AnyEvent, Counters, Finished, Logged, Paused, Progressed, Started, Stopped
from engine.evolution.algorithm import Parts
from engine.rl.devices import on_threads
from engine.rl.learner import State
from engine.rl.reward_terms import called
from engine.simulators import references
from engine.store import Store
from engine.study import checkpoint
from engine.study.control import Command, Control
from engine.study.course import Course, CourseCurve, PupilCurve, Rung, beginner, copied
from engine.study.course_artifacts import CourseArtifacts, entrants, twins
from engine.study.course_checks import Checked, check
from engine.study.course_tournament import CourseTournament, Result
from engine.study.course_words import announced, ended_by, happened, no_episode_ended, stopped_in
from engine.study.failures import not_begun, with_failure
from engine.study.learner_factory import begin_with
from engine.study.learning import Learning, long_enough
from engine.study.lessons import Known, Lesson, open_lesson
from engine.study.policy_training import PolicyTraining, Portion


def arena(config: ArenaConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a course."""
    return with_failure(_Arena(config, store, control).events(resume))


class _Arena(Learning):
    """``task``: the lesson under way; ``began``: decisions that the active policies had learned from when it began;
    ``present``: by name what the course's policies were then (store hashes of their descriptions), empty while no
    lesson is under way; ``seen``: episodes of the round that the course has taken note of; ``ending``: the tournament
    after the lessons, and ``learners``: the policies with all that they learn from, stored once when it begins, as
    nobody learns in it."""

    task: Lesson
    curve: CourseCurve

    def __init__(self, config: ArenaConfig, store: Store, control: Control) -> None:
        super().__init__(store, control, waiting=config.sampling == "synchronous")
        self.config, self.course = config, Course(config)
        self.active: dict[str, PolicyTraining] = {}
        self.began, self.late, self.warned = 0, False, False
        self.present: dict[str, str] = {}
        self.seen: dict[str, int] = {}
        self.ending = CourseTournament(config, store)
        self.learners = ""

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config, command = self.config, ""
        try:
            self._prepare(begun=bool(resume))
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        if resume:
            self.restore(resume)
        with on_threads(config.threads):
            processes = config.pool.processes(config.copies)
            yield self.say(Started, workers=processes, pool=config.pool.kind, ticks=config.ticks,
                            battles=0, resumed=bool(resume))  # fmt: skip
            self.saved = self.saved or self.checkpoint()
            while not (self.course.over or self.late or command):
                command = yield from self._lesson()
            if config.tournament is not None and not command:
                command = yield from self._meet(self.ending)
        if command == "pause":
            yield self.say(Paused, artifacts=self._goes_on_with)
            return
        kind, more = (Stopped, {"reason": "Stopped by request."}) if command else (Finished, {})
        yield self.say(kind, artifacts=self._results(), summary=self.curve.summary(self.steps), **more)

    def _prepare(self, *, begun: bool) -> None:
        """All policies as they begin. Raises ConfigError, SimulatorError, Cancelled."""
        config = self.config
        checked = check(config, self.store, begun=begun, should_stop=self.stopped)
        self.policies = {name: self._pupil(name, learner, checked) for name, learner in config.learners.items()}
        for name, (place, start) in ({} if begun else config.starts).items():
            begin_with(self.policies[name].learner, place, start, self.store)
        self.curve = CourseCurve({name: policy.curve for name, policy in self.policies.items()})
        self.left, self.longest = CourseArtifacts(self.policies, self.store), checked.longest

    def _pupil(self, name: str, chosen: AnyLearner, checked: Checked) -> PolicyTraining:
        seat, config = checked.seats[name], self.config
        learner = beginner(config, name, seat)
        weights = [chosen.rewards[r].weight if r in chosen.rewards else 1.0 for r in called(seat)]
        curve = PupilCurve(seat.rewards, weights, seat.signals, config.game.least_return)
        return PolicyTraining(name, Portion(0, self.waiting, False, 0), learner, curve)

    def _lesson(self) -> Generator[AnyEvent, None, Command]:
        """Hold one lesson. Returns the command that ended it early."""
        goes_on = bool(self.present)
        lesson = self._begun()
        if not goes_on:
            message = announced(self.config, self.course.number)
            yield self.say(Logged, message=message, artifacts=self.left.present(self.policies))
        try:
            opened = open_lesson(lesson, self.store, self.tick, self.stopped)
        except Cancelled:
            return self.control()
        with opened as samplers:
            try:
                command = yield from self.drive(samplers)
            except EngineError:
                yield from self.troubles(samplers)
                raise
        if command:
            yield from self.keep(command)
        return command

    def keep(self, command: Command) -> Iterator[AnyEvent]:
        if command == "stop":
            yield self.say(Logged, message=stopped_in(self.config, self.course.number, self.learned))
        yield from super().keep(command)

    def _meet(self, ending: CourseTournament) -> Generator[AnyEvent, None, Command]:
        """Hold the tournament. Returns the command that ended it early."""
        try:
            made = references.make(self.config.game, ending.batch, self.stopped)
        except Cancelled:
            return self.control()
        with contextlib.closing(made) as game:
            if not ending.begun and (left_out := arena_plan.without_groups(self.config)):
                yield self.say(Logged, message=left_out)
            for name, other in twins(self.config, self.policies).items() if not ending.begun else ():
                yield self.say(Logged, message=f"{name} has the same network as {other}, which alone enters.")
            players = entrants(self.config, self.policies, self.course.rungs, game, self.store)
            ending.begin(list(players))
            self.learners = self.learners or checkpoint.write(self.config, self.tick, self._learners(), self.store)
            command: Command = ""
            while not (ending.over or (command := self.control())):
                try:
                    result = ending.play(game, players, self.stopped)
                except Cancelled:
                    continue
                yield from self._met(ending, result)
            if command != "pause":
                ending.write()
        return command

    def _met(self, ending: CourseTournament, result: Result) -> Iterator[AnyEvent]:
        """Report a pair, and write the checkpoint and, once in a while, the table."""
        self.tick += 1
        yield self.say(Logged, message=result.sentence)
        ending.write_if_due(self.stopped)
        self.saved = self.checkpoint()
        metrics = result.metrics | {"lesson": float(self.course.number)}
        yield self.say(Progressed, metrics=metrics, artifacts=ending.roles | self._goes_on_with)

    def _begun(self) -> Lesson:
        """The lesson that is next, or that goes on, with its policies active."""
        goes_on = bool(self.present)
        self.present = self.present or self._as_they_are()
        past = {name: tuple(policy.snapshots) for name, policy in self.policies.items()}
        self.task = lesson = Lesson(self.config, self.course.number, Known(self.present, past, self.course.faced))
        self.active = {name: self.policies[name] for name in lesson.learners}
        self.began = self.began if goes_on else self._played
        self.curve.active = tuple(self.active)
        for name, policy in self.active.items():
            policy.portion, policy.held = lesson.portion(name), []
        self.over, self.losses, self.seen = False, 0, {}
        self.kept = self.steps  # a lesson begins, or goes on, from a checkpoint
        return lesson

    def _as_they_are(self) -> dict[str, str]:
        return {name: self.left.stored(policy)[1] for name, policy in self.policies.items()}

    @property
    def _played(self) -> int:
        """Decisions that the active policies have learned from, in all their lives."""
        return sum(policy.learner.steps for policy in self.active.values())

    @property
    def learned(self) -> int:
        """Decisions learned from in the lesson under way."""
        return self._played - self.began if self.active else 0

    @property
    def steps(self) -> int:
        return self.course.before + self.learned

    def done(self) -> bool:
        for name, policy in self.active.items():
            new = policy.curve.episodes[self.seen.get(name, 0) :]
            self.course.note(name, new, policy.curve.weights)
            self.seen[name] = len(policy.curve.episodes)
        return self._full or self.course.reached()

    @property
    def _full(self) -> bool:
        """Whether another update might be more than the lesson plans. Updates may have been of fewer decisions."""
        pace = self.task.pace
        due = {name: policy.portion.need * pace.fragment[name] for name, policy in self.active.items()}
        update = pace.update if self.waiting else max(due.values())
        return bool(self.learned) and self.learned + update > pace.decisions

    @property
    def least(self) -> int:
        """As of a training: battles begin afresh at the end of a round, and lessons are short."""
        if not self.waiting or self.config.checkpoint_every:
            return 1
        return long_enough(
            self.curve, self.config.copies * self.config.environments * sum(self.task.pace.workers.values())
        )

    def due(self) -> int:
        return self.course.base + self.learned // self.task.pace.every

    def progressed(self, before: int) -> Iterator[AnyEvent]:
        if self.waiting and not (self.curve.ended or self.warned):
            self.warned = True
            battles = self.config.copies * self.config.environments
            each = self.curve.steps // (battles * sum(self.task.pace.workers.values()))
            yield self.say(Logged, message=no_episode_ended(battles, each, self.longest))
        metrics = self.curve.metrics() | {"lesson": float(self.course.number + 1)}
        cut = self.over and not (self._full or self.course.reached())  # by the clock: it was not held to its end
        metrics |= {"lesson_over": float(self.over and not cut)}
        metrics |= self._by_condition() if self.over and not cut else {}
        metrics |= {f"{name}/learned": float(policy.learner.steps) for name, policy in self.active.items()}
        self.curve.restart()
        self.losses, self.seen = 0, {}
        artifacts = self.left.present(self.active)
        said: list[str] = []
        if self.over:
            said, climbed = self._ended()
            artifacts |= climbed
        self.saved = artifacts["checkpoint"] = self.checkpoint()
        yield self.say(Progressed, metrics=metrics, artifacts=artifacts)
        for message in said:
            yield self.say(Logged, message=message)
        self.throttle.restart()

    def _ended(self) -> tuple[list[str], dict[str, str]]:
        """What the lesson's end does to policies: in sentences, and the policies as they were before, with those that
        came into the pool: stores keep only what an event names."""
        number, lesson = self.course.number, self.course.lesson
        climbed: dict[str, str] = {}
        for name, policy in self.active.items():
            rung = Rung(number + 1, name, *self.left.stored(policy))
            self.course.rungs.append(rung)
            climbed |= rung.roles
        for name in lesson.after.pool:
            present = Rung(number + 1, name, *self.left.stored(self.policies[name]))
            self.policies[name].snapshots.append(present.description)
            climbed |= present.opponent_roles
        self.late = not (self._full or self.course.reached())
        ended = () if self.late else self._ended_by()
        learned, chosen = self.learned, self._replaced()
        copies = {new: copied(self.policies[old].learner) for new, old in lesson.after.fork.items()}
        for new, state in copies.items():
            self._goes_on_from(new, state)
        compared = [name for name in lesson.after.best.among if name in self.active] if lesson.after.best else []
        self.course.end(learned, self.tick)
        self.active, self.present, self.began = {}, {}, 0
        late = [f"Time is up in lesson {number + 1} of {self.config.count}."] if self.late else []
        return [*ended, *happened(chosen, compared, lesson), *late], climbed

    def _goes_on_from(self, name: str, state: State) -> None:
        """Let a policy go on from what another one keeps. What it was to learn from is still ahead of it: schedules
        that fall over a training end with that, and not where those of the other one did."""
        learner = self.policies[name].learner
        ahead = learner.total - learner.steps
        learner.load(state)
        learner.total = max(1, learner.steps + ahead)

    def _ended_by(self) -> list[str]:
        """By what the lesson under way ended, where that may be a condition."""
        course = self.course
        return [*ended_by(self.config, course.number, self.learned, course.stands(), reached=course.reached())]

    def _by_condition(self) -> dict[str, float]:
        """Of a lesson with a condition that ends now: whether that came true, after how many decisions, and where its
        measure stands, unless too few episodes ended."""
        if self.course.lesson.until is None:
            return {}
        found = {"lesson_reached": float(self.course.reached()), "lesson_decisions": float(self.learned)}
        stands = self.course.stands()
        return found | ({} if math.isnan(stands) else {"lesson_stands": stands})

    def _replaced(self) -> list[str]:
        """Let the best take the place of all that learned in the lesson and did less well; who was best, or nobody."""
        best = self.course.lesson.after.best
        if best is None:
            return []
        chosen = self.course.best(best)
        for name in best.among if chosen else ():
            if name in self.active and name not in chosen:
                self._goes_on_from(name, copied(self.policies[chosen[0]].learner))
        return chosen

    def _results(self) -> dict[str, str]:
        """What the course leaves."""
        return self.left.all(self.course.rungs) | self._goes_on_with | self.ending.roles

    @property
    def _goes_on_with(self) -> dict[str, str]:
        """What the course goes on from, as artifacts of an event."""
        return {"checkpoint": self.saved} | ({"learners": self.learners} if self.learners else {})

    def _learners(self) -> Parts:
        return {name: part for policy in self.policies.values() for name, part in policy.parts().items()}

    def checkpoint(self) -> str:
        self.kept = self.steps
        meta = self.curve.state() | {
            "began": self.began, "present": self.present, "late": self.late, "table": self.ending.digest,
            "totals": {name: policy.learner.total for name, policy in self.policies.items()}, "learners": self.learners,
        }  # fmt: skip
        parts = {"round": Bundle(meta, {}), "course": self.course.part(), **self.ending.parts()}
        parts |= {} if self.learners else self._learners()
        return checkpoint.write(self.config, self.tick, parts, self.store)

    def restore(self, digest: str) -> None:
        self.tick, parts = checkpoint.read(self.config, digest, self.store)
        meta: dict[str, Any] = parts.pop("round").meta
        self.course.load(parts.pop("course"))
        self.ending.load(parts, meta["table"])
        self.learners = meta.get("learners", "")
        parts |= checkpoint.read(self.config, self.learners, self.store).parts if self.learners else {}
        for name, policy in self.policies.items():
            policy.load({key: parts.pop(key) for key in list(parts) if key.endswith(f"/{name}")})
            policy.learner.total = meta.get("totals", {}).get(name, policy.learner.total)
        if parts:
            why = f"this checkpoint has parts that this study does not know: {', '.join(sorted(parts))}; start it anew"
            raise ConfigError([("resume", why)])
        self.curve.load(meta)
        self._go_on(meta)
        self.late, self.saved = meta["late"], digest
        self.over, self.seen, self.kept = False, {}, self.steps

    def _go_on(self, meta: Mapping[str, Any]) -> None:
        """With the lesson that was under way, if one was: it may have learned before the end of its first round."""
        present = meta["present"] if "present" in meta else self._as_in_earlier_versions()
        if present:
            learning = self.config.pace(self.course.lesson).workers
            self.active, self.present = {name: self.policies[name] for name in learning}, present
        self.began = meta["began"] if present else self._played

    def _as_in_earlier_versions(self) -> dict[str, str]:
        """``present``, of a checkpoint that does not tell it."""
        return self._as_they_are() if self.tick > self.course.base else {}

    def reached(self) -> tuple[int, Counters]:
        return self.tick, self.curve.counters(self.steps)
