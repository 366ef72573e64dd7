"""The tasks of a study, each made once before anything starts: all that does not fit is said at its place."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from engine.catalog import built_in
from engine.config.starts import StartsConfig
from engine.errors import ConfigError
from engine.mdp.interface import SeatSpec
from engine.mdp.vector import Game
from engine.problem import ShouldStop
from engine.simulators import references
from engine.study.sampler_factory import seated

Fault = tuple[str, str]


def seat_of_all(config: StartsConfig, *, begun: bool, should_stop: ShouldStop) -> tuple[SeatSpec, int]:
    """The seat of all tasks, and the decisions of their longest episode (0: not known); an episode of each begins,
    unless the study has ``begun``. Raises ConfigError with all that does not fit, SimulatorError, and Cancelled."""
    checks = _Checks(config, begun, should_stop)
    wrong = [fault for i in range(len(config.tasks)) for fault in checks.task(i)]
    if wrong:
        raise ConfigError(dict.fromkeys(wrong))
    assert checks.first is not None
    return checks.first, checks.longest


class _Checks:
    def __init__(self, config: StartsConfig, begun: bool, should_stop: ShouldStop) -> None:
        self.config, self.begun, self.should_stop = config, begun, should_stop
        self.first: SeatSpec | None = None
        self.longest = 0

    def task(self, i: int) -> Iterator[Fault]:
        """What is wrong with a task, by its place in the list."""
        known, task = built_in(self.config.game.name), self.config.tasks[i]
        if known is not None and not known.starts:
            yield "game.name", f"nothing says where an episode of {known.label} begins, so it has no easier starts"
            return
        at = self.config.ordered.index(task)
        training = self.config.training(at)
        try:
            game = references.make(training.game, 1, self.should_stop)
        except ConfigError as error:
            yield from ((self._place(i, p.place), p.message) for p in error.problems)
            return
        with contextlib.closing(game):
            program = references.program_of(game)
            if program is not None and not program.spec.starts:
                yield "game.name", f"{program.label} does not say where an episode begins, so it has no easier starts"
                return
            whole = seated(training, game)
            self.longest = max(self.longest, whole.spec.max_ticks)
            yield from self._shape(i, whole.spec.seats[0])
            if not self.begun:
                yield from self._begins(i, game)

    def _begins(self, i: int, game: Game) -> Iterator[Fault]:
        try:
            references.begin(game, self.config.seed)
        except ConfigError as error:
            yield f"tasks.{i}", f"no episode can begin here: {error.problems[0].message}"

    def _shape(self, i: int, seat: SeatSpec) -> Iterator[Fault]:
        """All tasks are one agent's: it sees, does and is rewarded alike in them."""
        if self.first is None:
            self.first = seat
            return
        parts = {"observations": "sees", "action": "does", "rewards": "is rewarded with", "signals": "is told"}
        differs = [words for part, words in parts.items() if getattr(seat, part) != getattr(self.first, part)]
        if differs:
            first = self.config.tasks[0].name
            yield f"tasks.{i}.settings", f"the agent {' and '.join(differs)} something else here than in “{first}”"

    def _place(self, i: int, place: str) -> str:
        setting = place.removeprefix("game.settings.")
        own = setting != place and setting in self.config.tasks[i].settings
        return f"tasks.{i}.settings.{setting}" if own else place
